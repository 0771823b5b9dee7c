//! Definitions in a `CMakeLists.txt`.

use std::collections::HashMap;

use super::{Macros, definition, definitions};

/// Options and the like that are known to be on or off.
#[derive(Debug, Default)]
pub(super) struct Variables(HashMap<String, bool>);

impl Variables {
    /// What CMake itself sets on this system.
    pub(super) fn of_system() -> Variables {
        let on = [
            "UNIX",
            "LINUX",
            "CMAKE_COMPILER_IS_GNUCC",
            "Threads_FOUND",
            "THREADS_FOUND",
            "CMAKE_USE_PTHREADS_INIT",
        ];
        let off = [
            "WIN32",
            "APPLE",
            "MSVC",
            "MINGW",
            "CYGWIN",
            "ANDROID",
            "IOS",
            "HAIKU",
            "BEOS",
            "MSYS",
            "BORLAND",
            "WATCOM",
            "XCODE",
            "EMSCRIPTEN",
        ];
        let on = on.into_iter().map(|name| (name.to_owned(), true));
        let off = off.into_iter().map(|name| (name.to_owned(), false));
        Variables(on.chain(off).collect())
    }

    /// Whether a condition holds; `None` if that cannot be told.
    fn holds(&self, words: &[&str]) -> Option<bool> {
        if words.iter().any(|word| ["(", ")"].contains(word)) {
            return None;
        }
        // OR binds less than AND.
        if let Some(at) = words.iter().position(|word| *word == "OR") {
            let (left, right) = (self.holds(&words[..at]), self.holds(&words[at + 1..]));
            return match (left, right) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        if let Some(at) = words.iter().position(|word| *word == "AND") {
            let (left, right) = (self.holds(&words[..at]), self.holds(&words[at + 1..]));
            return match (left, right) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
        match words {
            ["NOT", rest @ ..] => self.holds(rest).map(|holds| !holds),
            [word] => truth(word).or_else(|| {
                let name = word.trim_start_matches("${").trim_end_matches('}');
                self.0.get(name).copied()
            }),
            _ => None,
        }
    }
}

fn truth(word: &str) -> Option<bool> {
    match word.to_uppercase().as_str() {
        "ON" | "YES" | "TRUE" | "Y" | "1" => Some(true),
        "OFF" | "NO" | "FALSE" | "N" | "0" | "" => Some(false),
        _ => None,
    }
}

/// The definitions for the compiler. `variables` are those of the folders above, and get the file's own.
pub(super) fn macros(text: &str, variables: &mut Variables) -> Macros {
    let mut macros = Macros::new();
    // For each `if`: whether its branch is read, and whether a branch before may have been.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut inside: u32 = 0;
    for (name, arguments) in commands(text) {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match name.as_str() {
            // What is only called, or repeated, is another thing each time.
            "function" | "macro" | "foreach" | "while" => inside += 1,
            "endfunction" | "endmacro" | "endforeach" | "endwhile" => {
                inside = inside.saturating_sub(1)
            }
            "if" => {
                let holds = variables.holds(&words);
                open.push((holds == Some(true), holds != Some(false)));
            }
            "elseif" => {
                if let Some((read, before)) = open.last_mut() {
                    let holds = variables.holds(&words);
                    *read = !*before && holds == Some(true);
                    *before |= holds != Some(false);
                }
            }
            "else" => {
                if let Some((read, before)) = open.last_mut() {
                    *read = !*before;
                }
            }
            "endif" => {
                open.pop();
            }
            _ if inside > 0 || open.iter().any(|(read, _)| !read) => {}
            "option" => {
                if let [name, _, default @ ..] = &*words {
                    let on = default
                        .first()
                        .map_or(Some(false), |default| truth(default));
                    variables.0.extend(on.map(|on| ((*name).to_owned(), on)));
                }
            }
            "set" => {
                if let [name, value, ..] = &*words {
                    match truth(value) {
                        Some(on) => variables.0.insert((*name).to_owned(), on),
                        None => variables.0.remove(*name),
                    };
                }
            }
            "add_definitions" => macros.extend(definitions(words.into_iter())),
            "add_compile_definitions" => {
                let plain = |word: &str| word.strip_prefix("-D").unwrap_or(word).to_owned();
                macros.extend(
                    words
                        .into_iter()
                        .map(plain)
                        .filter_map(|word| definition(&word)),
                );
            }
            "target_compile_definitions" => {
                const SCOPES: &[&str] = &["PRIVATE", "PUBLIC"];
                let after = words.iter().skip_while(|word| !SCOPES.contains(word));
                let own = after.filter(|word| !SCOPES.contains(word));
                let plain = own.map(|word| word.strip_prefix("-D").unwrap_or(word));
                macros.extend(plain.filter_map(definition));
            }
            _ => {}
        }
    }
    macros
}

/// The commands of a file, their names in lower case, and their arguments.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    let mut characters = text.chars().peekable();
    let mut word = String::new();
    // How many parentheses are open.
    let mut depth = 0u32;
    while let Some(c) = characters.next() {
        match c {
            '#' => while characters.next_if(|&c| c != '\n').is_some() {},
            '(' if depth == 0 => {
                commands.push((std::mem::take(&mut word).to_lowercase(), Vec::new()));
                depth = 1;
            }
            '"' if depth > 0 => {
                let mut quoted = std::mem::take(&mut word);
                while let Some(c) = characters.next() {
                    match c {
                        '"' => break,
                        '\\' => quoted.extend(characters.next()),
                        c => quoted.push(c),
                    }
                }
                if let Some((_, arguments)) = commands.last_mut() {
                    arguments.push(quoted);
                }
            }
            '(' | ')' | ' ' | '\t' | '\n' | '\r' | ';' => {
                let Some((_, arguments)) = commands.last_mut().filter(|_| depth > 0) else {
                    // A name may have blanks between it and its parenthesis.
                    if !matches!(c, ' ' | '\t') {
                        word.clear();
                    }
                    continue;
                };
                if !word.is_empty() {
                    arguments.push(std::mem::take(&mut word));
                }
                match c {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ => continue,
                }
                if depth > 0 {
                    arguments.push(c.to_string());
                }
            }
            '\\' if depth > 0 => word.extend(characters.next()),
            c => word.push(c),
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        macros(text, &mut Variables::of_system())
            .into_keys()
            .collect()
    }

    #[test]
    fn options_that_are_on_define_what_hangs_on_them() {
        let text = "option(WITH_THREADS \"Use (many) threads?\" ON) # on\noption(WITH_X \"x\")\nif (WITH_THREADS AND NOT WIN32)\n\
            add_definitions(\"-DTHREADS\")\nelse()\nadd_definitions(-DNONE)\nendif (WITH_THREADS AND NOT WIN32)\n\
            if(WITH_X)\nadd_definitions(-DX)\nelseif(UNIX)\n  target_compile_definitions(t PRIVATE A PUBLIC B=1)\nendif()\n\
            if(SOMETHING)\nadd_definitions(-DU)\nelse()\nadd_definitions(-DW)\nendif()\nfunction(f)\nadd_definitions(-DF)\nendfunction()\n\
            add_compile_definitions(C)\n";
        assert_eq!(names(text), ["A", "B", "C", "THREADS"]);
    }

    #[test]
    fn what_is_broken_defines_nothing_and_ends() {
        for text in [
            "add_definitions(-DA",
            ")))(",
            "if(\"",
            "endif()\nelse()\n\\",
        ] {
            assert!(names(text).len() <= 1, "{text}");
        }
    }
}
