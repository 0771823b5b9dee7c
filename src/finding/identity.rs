//! What a finding is known by in other runs.
//!
//! In: findings, with what the stage that found each made of its rule, function, object and trace: its shape. Out: fingerprints, each
//! of one finding, and which findings of one run are those of another. A fingerprint is `SHAPE.FILE`, or `SHAPE.FILE.1of2` if the
//! file has several findings of that shape; it holds no line.

use std::collections::BTreeMap;

use super::{Finding, TraceStep};
use crate::ir::SymbolName;

/// Hexadecimal digits of a shape, and of what stands for a file.
const SHAPE: usize = 16;
const FILE: usize = 6;
/// Digits of a fingerprint that a person is shown, if they tell it from the others.
const SHORT: usize = 8;

/// The shape of a finding: stable under edits elsewhere, reformatting, and new names of its file.
pub fn fingerprint(rule: &str, function: &SymbolName, object: &str, trace: &[TraceStep]) -> String {
    let mut hash = blake3::Hasher::new();
    let mut part = |text: &str| {
        hash.update(text.as_bytes());
        hash.update(b"\0");
    };
    part(rule);
    part(&function.name);
    part(object);
    for step in trace {
        part(&step.function);
        part(&step.message);
    }
    hash.finalize().to_hex()[..SHAPE].to_string()
}

/// Makes fingerprints of shapes. Findings that are alike stay as many as their places are; of those in one place the first is
/// kept, and takes in the programs of the others. The findings are in the order of their places.
pub fn distinguish(findings: Vec<Finding>) -> Vec<Finding> {
    let mut alike: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for mut finding in findings {
        finding.retell();
        let key = (finding.fingerprint.clone(), finding.file.clone());
        let known = alike.entry(key).or_default();
        let here = |&&at: &&usize| {
            let known: &Finding = &kept[at];
            (known.line, known.column) == (finding.line, finding.column)
        };
        match known.iter().find(here).copied() {
            // A function compiled in two ways has its findings twice.
            Some(at) => also_in(&mut kept[at].programs, finding.programs),
            None => {
                known.push(kept.len());
                kept.push(finding);
            }
        }
    }
    for ((shape, file), places) in alike {
        let file = &blake3::hash(file.as_bytes()).to_hex()[..FILE];
        let count = places.len();
        for (number, at) in (1..).zip(places) {
            kept[at].fingerprint = match count {
                1 => format!("{shape}.{file}"),
                // With one more of them, or one fewer, none of them is known for sure to be what it was.
                _ => format!("{shape}.{file}.{number}of{count}"),
            };
        }
    }
    kept
}

/// Adds the programs that a finding is in, too: if either is in all, it is in all.
fn also_in(programs: &mut Vec<String>, others: Vec<String>) {
    if others.is_empty() {
        programs.clear();
    } else if !programs.is_empty() {
        programs.extend(others);
        programs.sort_unstable();
        programs.dedup();
    }
}

/// What a finding is known by, and the file that it lies in.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    pub fingerprint: &'a str,
    pub file: &'a str,
}

impl<'a> Identity<'a> {
    /// A fingerprint without its file.
    fn without_file(self) -> (&'a str, &'a str) {
        let mut parts = self.fingerprint.splitn(3, '.');
        let shape = parts.next().unwrap_or_default();
        (shape, parts.nth(1).unwrap_or_default())
    }

    fn file_name(self) -> &'a str {
        self.file.rsplit('/').next().unwrap_or_default()
    }
}

/// For each finding that is present the one of those known earlier that it is: of the same fingerprint, or else one of the same shape in
/// a file that is `gone`, that is, renamed. Of several such files one of the same name in another folder is taken; where two remain,
/// none is.
pub fn recognise(
    present: &[Identity<'_>],
    known: &[Identity<'_>],
    gone: &dyn Fn(&str) -> bool,
) -> Vec<Option<usize>> {
    let mut by_fingerprint: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, one) in known.iter().enumerate() {
        by_fingerprint.entry(one.fingerprint).or_insert(at);
    }
    let mut found: Vec<Option<usize>> = present
        .iter()
        .map(|one| by_fingerprint.get(one.fingerprint).copied())
        .collect();
    let taken: std::collections::BTreeSet<usize> = found.iter().flatten().copied().collect();
    let mut renamed: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, one) in known.iter().enumerate() {
        if !taken.contains(&at) && gone(one.file) {
            renamed.entry(one.without_file()).or_default().push(at);
        }
    }
    for same_name in [true, false] {
        let mut open: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (at, one) in present.iter().enumerate() {
            if found[at].is_none() {
                open.entry(one.without_file()).or_default().push(at);
            }
        }
        for (key, candidates) in &mut renamed {
            let Some(places) = open.get(key) else {
                continue;
            };
            let is_meant = |place: usize, candidate: usize| {
                !same_name || present[place].file_name() == known[candidate].file_name()
            };
            for &place in places {
                let mut meant = candidates.iter().filter(|&&one| is_meant(place, one));
                let (Some(&only), None) = (meant.next(), meant.next()) else {
                    continue;
                };
                if places.iter().filter(|&&p| is_meant(p, only)).count() == 1 {
                    found[place] = Some(only);
                }
            }
            candidates.retain(|one| !found.contains(&Some(*one)));
        }
    }
    found
}

/// The shortest beginning of each fingerprint, of eight digits at least, that no other begins with.
pub fn short<'a>(fingerprints: &[&'a str]) -> Vec<&'a str> {
    let mut sorted: Vec<&str> = fingerprints.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let of = |one: &&'a str| {
        let at = sorted.partition_point(|other| other < one);
        let before = at.checked_sub(1).map(|at| shared(sorted[at], one));
        let after = sorted.get(at + 1).map(|other| shared(other, one));
        let needed = before.max(after).unwrap_or(0) + 1;
        let length = needed.max(SHORT);
        // The parts behind the shape are told whole, and always of those of which there are several.
        let whole = length > SHAPE || one.split('.').count() > 2;
        let length = if whole { one.len() } else { length };
        one.get(..length).unwrap_or(one)
    };
    fingerprints.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(fingerprint: &'a str, file: &'a str) -> Identity<'a> {
        Identity { fingerprint, file }
    }

    #[test]
    fn a_finding_is_recognised_in_its_own_file_or_in_a_renamed_one() {
        let known = [of("s.a", "a.c"), of("s.b", "b.c"), of("t.a", "a.c")];
        let gone = |file: &str| file == "b.c";
        let present = [of("s.a", "a.c"), of("s.c", "c.c"), of("t.d", "d.c")];
        let found = recognise(&present, &known, &gone);
        // `t` was in a file that is still there: it is another one now.
        assert_eq!(found, [Some(0), Some(1), None]);
        assert_eq!(recognise(&present, &known, &|_| false)[1], None);
    }

    #[test]
    fn a_folder_that_moves_takes_each_file_along_and_a_choice_is_none() {
        let known = [of("s.1", "x/a.c"), of("s.2", "x/b.c")];
        let moved = [of("s.3", "y/b.c"), of("s.4", "y/a.c")];
        assert_eq!(recognise(&moved, &known, &|_| true), [Some(1), Some(0)]);
        let renamed = [of("s.5", "y/c.c"), of("s.6", "y/d.c")];
        assert_eq!(recognise(&renamed, &known, &|_| true), [None, None]);
        let twins = [of("s.7.1of2", "y/e.c"), of("s.7.2of2", "y/e.c")];
        let known = [of("s.1.1of2", "x/a.c"), of("s.1.2of2", "x/a.c")];
        assert_eq!(recognise(&twins, &known, &|_| true), [Some(0), Some(1)]);
    }

    #[test]
    fn a_short_form_is_that_of_one_finding() {
        let all = ["0123456789abcdef.aaaaaa", "0123456799abcdef.aaaaaa", "f"];
        assert_eq!(short(&all), ["012345678", "012345679", "f"]);
        let twins = [
            "0123456789abcdef.aaaaaa.1of2",
            "0123456789abcdef.aaaaaa.2of2",
        ];
        assert_eq!(short(&twins), twins);
    }
}
