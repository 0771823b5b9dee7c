//! Definitions for the configuration header in a `configure.ac`, and in a `meson.build`.

use super::{Macros, definition, definitions};

/// `AC_DEFINE`s that stand by themselves: within no other macro's argument and no shell condition.
pub(super) fn autoconf(text: &str) -> Macros {
    let mut macros = Macros::new();
    let (mut brackets, mut conditions) = (0i64, 0i64);
    for line in text.lines() {
        let line = line.split("dnl ").next().unwrap_or("").trim();
        if line.starts_with('#') {
            continue;
        }
        let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let mut words = words.filter(|word| !word.is_empty());
        let first = words.clone().next();
        conditions += i64::from(matches!(first, Some("if" | "case")));
        conditions -= i64::from(matches!(words.next_back(), Some("fi" | "esac")));
        let outside = brackets <= 0 && conditions <= 0;
        if let Some(arguments) = line.strip_prefix("AC_DEFINE(").filter(|_| outside) {
            let mut arguments = arguments.split(',').map(|argument| {
                let argument = argument.trim().trim_end_matches(')');
                argument.trim_start_matches('[').trim_end_matches(']')
            });
            let name = arguments.next().unwrap_or("");
            let value = arguments.next().unwrap_or("1");
            let value = if value.is_empty() { "1" } else { value };
            macros.extend(definition(&format!("{name}={value}")));
        }
        let count = |c: char| line.matches(c).count() as i64;
        // The patterns of a shell's `case` have no opening parenthesis.
        brackets = (brackets + count('(') + count('[') - count(')') - count(']')).max(0);
    }
    macros
}

/// What is set outside `if` and `foreach`: for the compiler, and for the configuration header.
pub(super) fn meson(text: &str) -> (Macros, Macros) {
    let (mut flags, mut configuration) = (Macros::new(), Macros::new());
    let mut conditions = 0i64;
    // A call's arguments may take several lines.
    let mut call = String::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or("").trim();
        let word = line.split(|c: char| !c.is_alphanumeric()).next();
        conditions += match word {
            Some("if" | "foreach") => 1,
            Some("endif" | "endforeach") => -1,
            _ => 0,
        };
        if conditions > 0 {
            continue;
        }
        call.push_str(line);
        let open = call.matches('(').count() > call.matches(')').count();
        if open && call.len() < 4096 {
            call.push(' ');
            continue;
        }
        let call = std::mem::take(&mut call);
        if call.starts_with("add_project_arguments(") || call.starts_with("add_global_arguments(") {
            flags.extend(definitions(call.split('\'')));
        }
        configuration.extend(set(&call));
    }
    (flags, configuration)
}

/// What `conf.set('NAME', 1)` and `conf.set10('NAME', true)` set.
fn set(call: &str) -> Option<(String, Option<String>)> {
    let (_, arguments) = call
        .split_once(".set(")
        .or_else(|| call.split_once(".set10("))?;
    let (name, value) = arguments.strip_suffix(')')?.split_once(',')?;
    let name = name.trim().strip_prefix('\'')?.strip_suffix('\'')?;
    match value.trim() {
        "true" | "1" => definition(&format!("{name}=1")),
        value => {
            let value = value.trim_matches('\'');
            let number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            number.then(|| definition(&format!("{name}={value}")))?
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(macros: Macros) -> Vec<String> {
        macros.into_keys().collect()
    }

    #[test]
    fn only_what_autoconf_always_defines_is_taken() {
        let text = "AC_DEFINE([A], [1], [why (not)])\nAC_DEFINE(B)\nif test x = y; then\n  AC_DEFINE(C, 1, [c])\nfi\n\
            AC_ARG_ENABLE([d], [AS_HELP_STRING([--d], [d])],\n  [\n AC_DEFINE([D], 1)\n])\nAC_DEFINE([E], [$value])\ndnl AC_DEFINE(F)\n\
            AC_DEFINE([G],,[g])\n";
        assert_eq!(names(autoconf(text)), ["A", "B", "G"]);
    }

    #[test]
    fn only_what_meson_always_sets_is_taken() {
        let text = "add_project_arguments(\n  '-DA',\n  '-DB=1', language: 'c')\nconf.set('C', 1)\nconf.set10('D', true)\n\
            if cc.has_header('x.h')\n  conf.set('E', 1)\nendif\nconf.set('F', cc.has_function('f'))\nconf.set_quoted('G', 'g')\n";
        let (flags, configuration) = meson(text);
        assert_eq!(names(flags), ["A", "B"]);
        assert_eq!(names(configuration), ["C", "D"]);
    }
}
