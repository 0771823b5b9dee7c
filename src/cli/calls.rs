//! Says why no function touches a lock, or that calls of lock functions are left out.

use super::output::{NOTE_LABEL, WARNING_LABEL};
use crate::capture::Place;
use crate::capture::hidden::{Calls, Group, Sites};
use crate::report::Places;
use crate::source::inert;

/// Groups told of.
const SHOWN: usize = 4;

/// Tells what became of a tree's calls of lock functions. `touching` functions touch a lock; `command` is
/// how to check the tree again, without its last arguments.
pub fn tell(calls: &Calls, touching: u64, places: &Places, command: &str) {
    if calls.all == 0 {
        anstream::eprintln!(
            "{NOTE_LABEL}: no function touches a lock: the files have no call of a lock function that \
             Cassini knows (--checkers FILE teaches it more)"
        );
        return;
    }
    let groups = calls.left_out.iter().map(|group| group.sites.count);
    let others = calls.others.iter().map(|(_, sites)| sites.count);
    let left_out: usize = groups.chain(others).sum();
    // A few that are meant for another system are usual.
    if touching > 0 && left_out * 10 < calls.all {
        return;
    }
    let all = calls.all;
    match touching {
        0 => anstream::eprintln!(
            "{WARNING_LABEL}: no function touches a lock, though the files have {all} calls of lock functions:"
        ),
        _ => anstream::eprintln!(
            "{NOTE_LABEL}: of the files' {all} calls of lock functions the preprocessor leaves out {left_out}:"
        ),
    }
    for group in calls.left_out.iter().take(SHOWN) {
        let arguments = group.arguments.join(" ");
        let arguments = inert(&arguments);
        let first = shown(&group.sites, places);
        let what = match group.helps {
            true => "the preprocessor leaves out; they come in with",
            false => "the preprocessor leaves out; needed is at least",
        };
        anstream::eprintln!("  {} {what} {arguments} ({first})", group.sites.count);
    }
    for (branch, sites) in calls.others.iter().take(SHOWN) {
        let first = shown(sites, places);
        match branch.is_empty() {
            true => anstream::eprintln!("  {} are macros of the tree's own ({first})", sites.count),
            false => {
                anstream::eprintln!(
                    "  {} are left out under `{}` ({first})",
                    sites.count,
                    inert(branch)
                );
            }
        }
    }
    if touching == 0 && left_out < all {
        anstream::eprintln!(
            "  {} are in code that was not read, or in macros and headers that nothing uses",
            all - left_out
        );
    }
    let helps = |group: &&Group| group.helps;
    if let Some(group) = calls.left_out.iter().find(helps) {
        let more = group.arguments.join(" ");
        anstream::eprintln!("try: {} {}", inert(command), inert(&more));
    }
}

fn shown(sites: &Sites, places: &Places) -> String {
    let file = places.name(&sites.first.file).into_owned();
    let place = Place {
        file,
        ..sites.first.clone()
    };
    let place = place.to_string();
    let place = inert(&place);
    match sites.count {
        1 => place.into_owned(),
        _ => format!("{place} is the first"),
    }
}
