//! `cassini explain`: a rule's manual page.

use anyhow::bail;

use super::{CLEAN, output};
use crate::run::load_property;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The rule, `lock/double-lock`; without one all rules are listed
    rule: Option<String>,
    /// TOML files that define further checkers
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    checkers: Vec<String>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (property, _, _) = load_property(&arguments.checkers)?;
    let Some(id) = &arguments.rule else {
        output::write(None, |out| {
            for rule in property.rules() {
                writeln!(out, "{}", rule.id)?;
            }
            Ok(())
        })?;
        return Ok(CLEAN);
    };
    let Some(rule) = property.rule(id) else {
        let mut rules: Vec<&str> = property.rules().map(|rule| rule.id.as_str()).collect();
        rules.sort_by(|a, b| {
            strsim::jaro_winkler(id, b)
                .total_cmp(&strsim::jaro_winkler(id, a))
                .then(a.cmp(b))
        });
        bail!("there is no rule `{id}`; there are: {}", rules.join(", "));
    };
    output::write(None, |out| writeln!(out, "{}", rule.explanation.trim()))?;
    Ok(CLEAN)
}
