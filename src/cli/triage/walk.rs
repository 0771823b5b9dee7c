//! `cassini triage next`: the findings without a verdict, one after the other.
//!
//! In: the database and keys. Out: verdicts, each kept as soon as its key is pressed.

use std::path::Path;

use super::keys::Keys;
use super::{output, report};
use crate::finding::Level;
use crate::query::findings::{Wanted, by_rank};
use crate::report::{Places, text};
use crate::store::query::Reader;
use crate::store::verdicts::Verdicts;
use crate::triage::{Entry, Judged, Verdict};

const KEYS: &str = "b bug, f false positive, i intended, l later (B, F, I, L: with a note), s skip, u back, q quit";

/// What a key asks for.
enum Wish {
    Judge(Verdict, bool),
    Skip,
    Back,
    Quit,
    Help,
}

fn wish(key: Option<char>) -> Wish {
    let Some(key) = key else { return Wish::Quit };
    let verdict = match key.to_ascii_lowercase() {
        'b' => Verdict::Bug,
        'f' => Verdict::FalsePositive,
        'i' => Verdict::Intended,
        'l' => Verdict::Later,
        's' | 'n' => return Wish::Skip,
        'u' => return Wish::Back,
        'q' => return Wish::Quit,
        _ => return Wish::Help,
    };
    Wish::Judge(verdict, key.is_ascii_uppercase())
}

/// Asks for a verdict on each finding that has none.
pub(super) fn walk(folder: &Path, level: Option<Level>) -> anyhow::Result<()> {
    let reader = Reader::open(folder)?;
    let root = crate::query::root(&reader, folder)?;
    let level = report::level(level, &root)?;
    let mut entries = reader.entries()?;
    drop(reader);
    entries.retain(|entry| entry.finding.level <= level && Wanted::Open.is(entry));
    entries.sort_by(by_rank);
    let mut verdicts = Verdicts::open(folder)?;
    let judged = ask(&entries, &root, &mut verdicts);
    // Whatever went wrong, what was judged until then stays.
    verdicts.close()?;
    let judged = judged?;
    let left = entries.len() - judged;
    anstream::eprintln!("{judged} judged, {left} without a verdict");
    Ok(())
}

/// Answers how many were judged.
fn ask(entries: &[Entry], root: &Path, verdicts: &mut Verdicts) -> anyhow::Result<usize> {
    let places = Places::here(root);
    let mut keys = Keys::new()?;
    let mut judged = vec![false; entries.len()];
    let mut at = 0;
    let mut show = true;
    while let Some(entry) = entries.get(at) {
        if show {
            output::write(None, |out| {
                writeln!(out, "{} of {}", at + 1, entries.len())?;
                text::write(out, &[entry], root, &places)?;
                writeln!(out, "{KEYS}")
            })?;
        }
        show = true;
        match wish(keys.next()?) {
            Wish::Judge(verdict, with_note) => {
                let mut one = Judged::of(&entry.finding, verdict);
                if with_note {
                    output::write(None, |out| write!(out, "{}, because: ", verdict.name()))?;
                    one.note = keys.line()?;
                }
                verdicts.put(&[one])?;
                output::write(None, |out| writeln!(out, "{}\n", verdict.name()))?;
                judged[at] = true;
                at += 1;
            }
            Wish::Skip => at += 1,
            Wish::Back => {
                at = at.saturating_sub(1);
                let before = &entries[at].finding.fingerprint;
                verdicts.remove(before)?;
                judged[at] = false;
            }
            Wish::Quit => break,
            Wish::Help => {
                output::write(None, |out| writeln!(out, "{KEYS}"))?;
                show = false;
            }
        }
    }
    Ok(judged.into_iter().filter(|&judged| judged).count())
}
