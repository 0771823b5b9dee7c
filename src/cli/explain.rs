//! `cassini explain`: the manual page of a rule, or of an explanation.

use anyhow::bail;

use super::{CLEAN, output};
use crate::finding::ExplanationKind;
use crate::run::load_property;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The rule, `lock/double-lock`, or the kind of an explanation, `another-name`; without one all are listed
    rule: Option<String>,
    /// TOML files that define further checkers
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    checkers: Vec<String>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (property, _, _) = load_property(&arguments.checkers)?;
    let Some(id) = &arguments.rule else {
        output::write_plain(None, |out| {
            for rule in property.rules() {
                writeln!(out, "{}", rule.id)?;
            }
            for kind in ExplanationKind::ALL {
                writeln!(out, "{}", kind.name())?;
            }
            Ok(())
        })?;
        return Ok(CLEAN);
    };
    let mut kinds = ExplanationKind::ALL.into_iter();
    if let Some(kind) = kinds.find(|kind| kind.name() == *id) {
        output::write_plain(None, |out| writeln!(out, "# {}", kind.manual()))?;
        return Ok(CLEAN);
    }
    let Some(rule) = property.rule(id) else {
        let mut rules: Vec<&str> = property.rules().map(|rule| rule.id.as_str()).collect();
        rules.sort_by(|a, b| {
            strsim::jaro_winkler(id, b)
                .total_cmp(&strsim::jaro_winkler(id, a))
                .then(a.cmp(b))
        });
        bail!("there is no rule `{id}`; there are: {}", rules.join(", "));
    };
    output::write_plain(None, |out| writeln!(out, "{}", rule.explanation.trim()))?;
    Ok(CLEAN)
}
