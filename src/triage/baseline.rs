//! What an earlier report has: `--baseline`.
//!
//! In: the bytes of a report of `--format json` or `sarif`. Out: the findings that it has, and of the findings of now which are new,
//! which are unchanged, and which are fixed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{Entry, identity_of};
use crate::finding::identity::{Identity, recognise};

/// How a finding compares with an earlier report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum State {
    New,
    Unchanged,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::New => "new",
            State::Unchanged => "unchanged",
        }
    }
}

/// A finding of an earlier report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Known {
    pub file: String,
    #[serde(default)]
    pub line: u32,
    pub rule: String,
    #[serde(default)]
    pub message: String,
    #[serde(default)]
    pub function: String,
    pub fingerprint: String,
}

/// The name under which SARIF reports have the fingerprint.
pub const SARIF_FINGERPRINT: &str = "cassiniFingerprint/v1";

#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("is no report of `cassini check --format json` or `--format sarif`: {0}")]
    Json(#[from] serde_json::Error),
    #[error("is a SARIF report of another tool: its results have no fingerprint of cassini's")]
    Foreign,
}

#[derive(Deserialize)]
struct JsonReport {
    findings: Vec<Known>,
}

#[derive(Deserialize)]
struct Sarif {
    runs: Vec<SarifRun>,
}

#[derive(Deserialize)]
struct SarifRun {
    #[serde(default)]
    results: Vec<SarifResult>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    #[serde(default)]
    rule_id: String,
    message: SarifMessage,
    #[serde(default)]
    locations: Vec<SarifLocation>,
    #[serde(default)]
    partial_fingerprints: BTreeMap<String, String>,
    #[serde(default)]
    baseline_state: String,
}

#[derive(Default, Deserialize)]
struct SarifMessage {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifLocation {
    physical_location: SarifPhysical,
    #[serde(default)]
    logical_locations: Vec<SarifLogical>,
}

#[derive(Deserialize)]
struct SarifLogical {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifPhysical {
    artifact_location: SarifArtifact,
    region: Option<SarifRegion>,
}

#[derive(Deserialize)]
struct SarifArtifact {
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifRegion {
    #[serde(default)]
    start_line: u32,
}

/// What a report has, in the order of its files and lines.
pub fn read(bytes: &[u8]) -> Result<Vec<Known>, Unreadable> {
    let mut known = match serde_json::from_slice::<Sarif>(bytes) {
        Ok(sarif) => of_sarif(sarif)?,
        Err(_) => serde_json::from_slice::<JsonReport>(bytes)?.findings,
    };
    known.sort();
    Ok(known)
}

fn of_sarif(sarif: Sarif) -> Result<Vec<Known>, Unreadable> {
    let results = sarif.runs.into_iter().flat_map(|run| run.results);
    // What was fixed then is not known any more.
    let results = results.filter(|result| result.baseline_state != "absent");
    let known = results.map(|mut result| {
        let fingerprint = result.partial_fingerprints.remove(SARIF_FINGERPRINT);
        let location = result.locations.into_iter().next();
        let (file, line, function) = match location {
            Some(location) => {
                let physical = location.physical_location;
                let function = location.logical_locations.into_iter().next();
                (
                    decode(&physical.artifact_location.uri),
                    physical.region.map_or(0, |region| region.start_line),
                    function.map_or_else(String::new, |function| function.name),
                )
            }
            None => Default::default(),
        };
        Ok(Known {
            file,
            line,
            rule: result.rule_id,
            message: result.message.text,
            function,
            fingerprint: fingerprint.ok_or(Unreadable::Foreign)?,
        })
    });
    known.collect()
}

/// A relative URI as a path.
fn decode(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.strip_prefix("file://").unwrap_or(uri).as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let value = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let (byte, further) = match (first, value) {
            (b'%', Some(value)) => (value, &after[2..]),
            _ => (first, after),
        };
        bytes.push(byte);
        rest = further;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Sets the state of each entry. Answers what is fixed: what the earlier report has and no finding is any more.
pub fn compare(
    entries: &mut [Entry],
    known: Vec<Known>,
    gone: &dyn Fn(&str) -> bool,
) -> Vec<Known> {
    let present: Vec<Identity<'_>> = entries.iter().map(|e| identity_of(&e.finding)).collect();
    let earlier: Vec<Identity<'_>> = known
        .iter()
        .map(|known| Identity {
            fingerprint: &known.fingerprint,
            file: &known.file,
        })
        .collect();
    let found = recognise(&present, &earlier, gone);
    let taken: BTreeSet<usize> = found.iter().flatten().copied().collect();
    let fixed = known.into_iter().enumerate();
    let fixed = fixed.filter(|(at, _)| !taken.contains(at));
    let fixed = fixed.map(|(_, known)| known).collect();
    for (entry, found) in entries.iter_mut().zip(found) {
        entry.state = Some(match found {
            Some(_) => State::Unchanged,
            None => State::New,
        });
    }
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_another_tool_is_refused() {
        let foreign = br#"{"runs":[{"results":[{"ruleId":"x","message":{"text":"m"}}]}]}"#;
        assert!(matches!(read(foreign), Err(Unreadable::Foreign)));
        assert!(matches!(read(b"{}"), Err(Unreadable::Json(_))));
        assert!(read(br#"{"runs":[{"results":[]}]}"#).unwrap().is_empty());
    }

    #[test]
    fn a_uri_is_read_as_the_path_that_it_was() {
        assert_eq!(decode("a%20b/%C3%A9.c"), "a b/é.c");
        assert_eq!(decode("100%.c%2"), "100%.c%2");
    }
}
