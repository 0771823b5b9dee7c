//! What a configure script would make of a header's template.
//!
//! In: the text of a `config.h.in` of autoheader, CMake or meson, and the words of the system's headers
//! ([`System`]), and what the build files define. Out: a header. Each macro is decided as the script would decide it on this machine, as far as its
//! name and the comment before it tell; what stays open is not defined. A macro that turns threads on is defined:
//! without it no lock would be seen.

use rustc_hash::FxHashSet;

use super::builds::Macros;

/// What the system's headers declare.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// All names in them.
    words: FxHashSet<String>,
    /// Names that an opening parenthesis follows.
    functions: FxHashSet<String>,
}

impl System {
    /// Of the preprocessed text of headers, with its `#define`s.
    pub(super) fn of(text: &[u8]) -> System {
        let mut system = System::default();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let mut rest = text;
        while let Some(start) = rest.iter().position(is_word) {
            rest = &rest[start..];
            let length = rest.iter().position(|b| !is_word(b)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            rest = after;
            let Ok(word) = std::str::from_utf8(word) else {
                continue;
            };
            if !system.words.contains(word) {
                system.words.insert(word.to_owned());
            }
            let called = after.trim_ascii_start().first() == Some(&b'(');
            if called && !system.functions.contains(word) {
                system.functions.insert(word.to_owned());
            }
        }
        system
    }

    /// The same for the same headers.
    pub(super) fn hash(&self) -> blake3::Hash {
        let mut words: Vec<(&str, bool)> = self
            .words
            .iter()
            .map(|word| (word.as_str(), self.functions.contains(word)))
            .collect();
        words.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        for (word, is_function) in words {
            hasher.update(word.as_bytes());
            hasher.update(&[0, u8::from(is_function)]);
        }
        hasher.finalize()
    }
}

/// What a macro is decided to be.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Decision {
    Undefined,
    Defined(String),
    /// 1 where one of these headers is there.
    IfHeader(Vec<String>),
}

/// Makes a header of its template. `settled` is what the build files define whatever the system.
pub(super) fn fill(template: &str, system: &System, settled: &Macros) -> String {
    let mut out = String::with_capacity(template.len() * 2);
    let mut comment = String::new();
    for line in template.lines() {
        let trimmed = line.trim_start();
        if let Some(text) = trimmed.strip_prefix("/*") {
            comment = text.to_owned();
        } else if !trimmed.starts_with('#') {
            comment.push(' ');
            comment.push_str(trimmed);
        }
        let directive = trimmed.strip_prefix('#').map_or("", str::trim_start);
        let (word, rest) = directive
            .split_once(char::is_whitespace)
            .unwrap_or((directive, ""));
        let (name, rest) = rest
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((rest.trim(), ""));
        match word {
            "undef" | "mesondefine" | "cmakedefine" | "cmakedefine01" if is_name(name) => {
                let decision = match settled.get(name) {
                    Some(value) => Decision::Defined(value.clone().unwrap_or_default()),
                    None => decide(name, &comment, system),
                };
                let value = match word == "cmakedefine" && !rest.trim().is_empty() {
                    // A value that the template has is what is defined.
                    true => Some(substitute(rest.trim(), None, system)),
                    false => None,
                };
                let zero = word == "cmakedefine01" || name.contains("HAVE_DECL_");
                out.push_str(&definition(name, decision, value, zero));
            }
            // A type or a keyword that stays open is better left to the system than made a number.
            "define" if is_placeholder(rest) && name.contains(|c: char| c.is_ascii_lowercase()) => {
                match decide(name, &comment, system) {
                    Decision::Undefined => out.push_str(&format!("/* {name} */")),
                    _ => out.push_str(&substitute(line, None, system)),
                }
            }
            "include" => out.push_str(&substitute(line, Some(""), system)),
            _ => out.push_str(&substitute(line, None, system)),
        }
        out.push('\n');
    }
    out
}

/// A template for a header that has none: the names are to be decided on.
pub(super) fn of_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("#undef {name}\n")).collect()
}

/// The lines that define a macro as it was decided. `zero`: it is 0 if it is not 1.
fn definition(name: &str, decision: Decision, value: Option<String>, zero: bool) -> String {
    let undefined = match zero {
        true => format!("#define {name} 0"),
        false => format!("/* {name} */"),
    };
    match decision {
        Decision::Undefined => undefined,
        Decision::Defined(decided) => format!("#define {name} {}", value.unwrap_or(decided)),
        Decision::IfHeader(headers) => {
            let there: Vec<String> = headers
                .iter()
                .map(|header| format!("__has_include(<{header}>)"))
                .collect();
            let value = value.unwrap_or_else(|| "1".to_owned());
            let there = there.join(" || ");
            format!("#if {there}\n#define {name} {value}\n#else\n{undefined}\n#endif")
        }
    }
}

/// What a configure script would make of a macro. `comment` is what the template says of it.
fn decide(name: &str, comment: &str, system: &System) -> Decision {
    let is = |value: &str| Decision::Defined(value.to_owned());
    let if_there = |there: bool| match there {
        true => Decision::Defined("1".to_owned()),
        false => Decision::Undefined,
    };
    // A type or keyword that the compiler might lack.
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Decision::Undefined;
    }
    if turns_threads_on(name) {
        return is("1");
    }
    if names_this_system(name) {
        return is("1");
    }
    if let Some(fixed) = fixed(name) {
        return is(fixed);
    }
    if let Some(kind) = after(name, "SIZEOF_") {
        return size(kind).map_or(Decision::Undefined, is);
    }
    let Some(what) = after(name, "HAVE_") else {
        return Decision::Undefined;
    };
    let lower = what.to_lowercase();
    let said = Said::of(comment);
    if let Some(stem) = what.strip_suffix("_H") {
        let named = said.header.filter(|_| said.is_about(what));
        let stem = stem.to_lowercase();
        return Decision::IfHeader(match named {
            Some(header) => vec![header.to_owned()],
            None => vec![
                format!("{stem}.h"),
                format!("{}.h", stem.replacen('_', "/", 1)),
                format!("{}.h", stem.replace('_', "/")),
            ],
        });
    }
    if let Some(symbol) = what.strip_prefix("DECL_") {
        let lower = symbol.to_lowercase();
        return if_there(system.words.contains(symbol) || system.words.contains(&lower));
    }
    if let Some(member) = what.strip_prefix("STRUCT_") {
        return if_there(is_member(&member.to_lowercase(), system));
    }
    if let Some(library) = what.strip_prefix("LIB") {
        const LIBC: &[&str] = &["PTHREAD", "M", "C", "DL", "RT", "UTIL", "RESOLV"];
        return if_there(LIBC.contains(&library));
    }
    let quoted = said.quoted.filter(|_| said.is_about(what));
    let function = quoted.unwrap_or(&lower);
    let is_type = what.ends_with("_T") && system.words.contains(&lower);
    if_there(is_type || system.functions.contains(function) || system.functions.contains(&lower))
}

/// What a comment of autoheader names.
struct Said<'a> {
    /// In angle brackets.
    header: Option<&'a str>,
    /// In quotes.
    quoted: Option<&'a str>,
}

impl<'a> Said<'a> {
    fn of(comment: &'a str) -> Said<'a> {
        let between = |open: &[char], close: char| {
            let start = comment.find(open)? + 1;
            let length = comment[start..].find(close)?;
            Some(&comment[start..start + length])
        };
        Said {
            header: between(&['<'], '>'),
            quoted: between(&['`', '\''], '\''),
        }
    }

    /// Whether it speaks of the macro: a comment may belong to another one before it.
    fn is_about(&self, what: &str) -> bool {
        let alike = |text: &str| {
            let letters = text.bytes().map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => byte.to_ascii_uppercase(),
                _ => b'_',
            });
            letters.eq(what.bytes())
        };
        self.header.is_some_and(alike) || self.quoted.is_some_and(alike)
    }
}

/// The rest of a name after a word that may have the project's prefix before it.
fn after<'a>(name: &'a str, word: &str) -> Option<&'a str> {
    let at = name.find(word)?;
    let before = &name[..at];
    let negated = ["NO_", "NOT_", "DONT_"]
        .iter()
        .any(|no| before.ends_with(no));
    (before.is_empty() || before.ends_with('_') && !negated).then_some(&name[at + word.len()..])
}

/// Whether `stat_st_mtim` is a structure of the system's and a member of it.
fn is_member(name: &str, system: &System) -> bool {
    let splits = name.match_indices('_');
    splits.into_iter().any(|(at, _)| {
        let (tag, member) = (&name[..at], &name[at + 1..]);
        system.words.contains(tag) && system.words.contains(member)
    })
}

/// Whether the macro says that the program is built for this kind of system: `LINUX`, `DBUS_UNIX`.
pub(super) fn names_this_system(name: &str) -> bool {
    const NOT: &[&str] = &["NO", "NOT", "HAVE", "USE", "WITH", "ENABLE", "AF", "PF"];
    let mut words = name.rsplit('_').filter(|word| !word.is_empty());
    let last = words.next();
    matches!(last, Some("UNIX" | "LINUX")) && !words.next().is_some_and(|word| NOT.contains(&word))
}

/// The type for a name that a script puts a type in place of, by its size.
fn integer(name: &str) -> &'static str {
    let sizes = [("64", "long"), ("16", "short"), ("INT8", "char")];
    let found = sizes
        .iter()
        .find(|(size, _)| name.to_uppercase().contains(size));
    found.map_or("int", |(_, kind)| kind)
}

/// Whether the macro stands for a program with threads: `USE_THREADS`, `HAVE_PTHREAD`, `X_WITH_THREADING`.
pub(super) fn turns_threads_on(name: &str) -> bool {
    const THREADS: &[&str] = &[
        "THREAD",
        "THREADS",
        "PTHREAD",
        "PTHREADS",
        "THREADING",
        "THREADED",
        "THREADSAFE",
        "MULTITHREAD",
        "MULTITHREADED",
        "MULTITHREADING",
        "LIBPTHREAD",
    ];
    const USE: &[&str] = &["USE", "ENABLE", "WITH", "HAVE", "SUPPORT", "CONFIG"];
    const AFTER: &[&str] = &[
        "SUPPORT",
        "SUPPORTED",
        "ENABLED",
        "SAFE",
        "SAFETY",
        "LOCKS",
        "MUTEX",
        "MUTEXES",
    ];
    let uppercase = name.to_uppercase();
    let mut words: Vec<&str> = uppercase
        .split('_')
        .filter(|word| !word.is_empty())
        .collect();
    if words == ["REENTRANT"] {
        return true;
    }
    while words.last().is_some_and(|word| AFTER.contains(word)) {
        words.pop();
    }
    let Some((last, before)) = words.split_last() else {
        return false;
    };
    if !THREADS.contains(last) {
        return false;
    }
    // Of a project's own words before it, only the last may say what is meant.
    match before.split_last() {
        None => true,
        Some((verb, project)) if USE.contains(verb) => !project
            .iter()
            .any(|word| ["NO", "NOT", "DONT"].contains(word)),
        Some((kind, _)) => ["MULTI", "POSIX"].contains(kind),
    }
}

/// Macros that are the same wherever this program runs.
fn fixed(name: &str) -> Option<&'static str> {
    Some(match name {
        "STDC_HEADERS"
        | "TIME_WITH_SYS_TIME"
        | "_GNU_SOURCE"
        | "_ALL_SOURCE"
        | "__EXTENSIONS__"
        | "_POSIX_PTHREAD_SEMANTICS"
        | "_TANDEM_SOURCE"
        | "HAVE_STDBOOL"
        | "HAVE__BOOL"
        | "HAVE_LONG_LONG"
        | "HAVE_LONG_LONG_INT"
        | "HAVE_UNSIGNED_LONG_LONG_INT"
        | "HAVE_VA_COPY"
        | "HAVE___VA_COPY"
        | "HAVE_VARIADIC_MACROS"
        | "HAVE_IPV6"
        | "HAVE_IPV4"
        | "HAVE_INLINE"
        | "HAVE_C99_VSNPRINTF"
        | "HAVE_WORKING_FORK"
        | "HAVE_WORKING_VFORK"
        | "HAVE_ALLOCA" => "1",
        "PACKAGE" | "VERSION" | "PACKAGE_NAME" | "PACKAGE_VERSION" | "PACKAGE_STRING"
        | "PACKAGE_TARNAME" | "PACKAGE_BUGREPORT" | "PACKAGE_URL" => "\"\"",
        _ => return None,
    })
}

/// The size of a type on an LP64 system.
fn size(kind: &str) -> Option<&'static str> {
    Some(match kind.trim_matches('_') {
        "CHAR" | "INT8_T" | "BOOL" => "1",
        "SHORT" | "SHORT_INT" | "INT16_T" | "UNSIGNED_SHORT" => "2",
        "INT" | "FLOAT" | "WCHAR_T" | "INT32_T" | "UNSIGNED_INT" | "UNSIGNED" | "PID_T"
        | "UID_T" => "4",
        "LONG" | "LONG_INT" | "LONG_LONG" | "LONG_LONG_INT" | "SIZE_T" | "SSIZE_T" | "VOID_P"
        | "VOIDP" | "VOID" | "OFF_T" | "TIME_T" | "DOUBLE" | "INT64_T" | "UNSIGNED_LONG"
        | "UNSIGNED_LONG_LONG" | "PTHREAD_T" | "UINTPTR_T" | "INTPTR_T" | "PTRDIFF_T"
        | "CHAR_P" | "INT_P" | "PTR" => "8",
        _ => return None,
    })
}

/// `@NAME@` and `${NAME}` become `value`; else, outside string literals, what is decided of the name or 0.
fn substitute(line: &str, value: Option<&str>, system: &System) -> String {
    let mut out = String::with_capacity(line.len());
    let mut quoted = false;
    let mut rest = line;
    while let Some(at) = rest.find(['@', '"', '$']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (open, close) = match rest.starts_with('$') {
            true => ("${", '}'),
            false => ("@", '@'),
        };
        let name = rest.strip_prefix(open);
        let name = name.and_then(|tail| Some(&tail[..tail.find(close)?]));
        let Some(name) = name.filter(|name| is_name(name)) else {
            quoted ^= rest.starts_with('"');
            out.push_str(&rest[..1]);
            rest = &rest[1..];
            continue;
        };
        let (whole, after) = rest.split_at(open.len() + name.len() + 1);
        match (value, quoted) {
            (Some(value), _) => out.push_str(value),
            (None, true) => out.push_str(whole),
            // `typedef @INT64_TYPE@ int64;`
            (None, false) if line.trim_start().starts_with("typedef ") => {
                out.push_str(integer(name))
            }
            (None, false) => match decide(name, "", system) {
                Decision::Defined(value) => out.push_str(&value),
                _ => out.push('0'),
            },
        }
        rest = after;
    }
    out + rest
}

/// Whether a macro's text is nothing but what a configure script fills in.
fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let between = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    [between("@", "@"), between("${", "}")]
        .into_iter()
        .flatten()
        .any(is_name)
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> System {
        System::of(
            b"extern char *strdup (const char *s);\ntypedef long ssize_t;\nstruct stat { long st_size; int st_mtim; };\n\
              #define major(x) (x)\n#define O_CLOEXEC 1\n",
        )
    }

    fn lines(template: &str) -> Vec<String> {
        fill(template, &system(), &Macros::new())
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn a_type_that_is_not_decided_is_left_to_the_system() {
        let filled = lines("#define ev_ssize_t @ev_ssize_t@\n#define EV_LEVEL @EV_LEVEL@\n");
        assert_eq!(filled, ["/* ev_ssize_t */", "#define EV_LEVEL 0"]);
    }

    #[test]
    fn what_autoheader_leaves_open_is_decided_by_the_system() {
        let text = "/* Define if. */\n#undef HAVE_STRDUP\n#undef HAVE_STRLCPY\n#undef HAVE_SSIZE_T\n\
             #undef HAVE_STRUCT_STAT_ST_MTIM\n#undef HAVE_STRUCT_STAT_ST_GEN\n#undef HAVE_DECL_O_CLOEXEC\n\
             #undef HAVE_DECL_STRLCPY\n#undef HAVE_MAJOR\n#undef inline\n#  undef PACKAGE\n#undef SIZEOF_LONG\n";
        assert_eq!(
            lines(text)[1..],
            [
                "#define HAVE_STRDUP 1",
                "/* HAVE_STRLCPY */",
                "#define HAVE_SSIZE_T 1",
                "#define HAVE_STRUCT_STAT_ST_MTIM 1",
                "/* HAVE_STRUCT_STAT_ST_GEN */",
                "#define HAVE_DECL_O_CLOEXEC 1",
                "#define HAVE_DECL_STRLCPY 0",
                "#define HAVE_MAJOR 1",
                "/* inline */",
                "#define PACKAGE \"\"",
                "#define SIZEOF_LONG 8",
            ]
        );
    }

    #[test]
    fn a_header_is_asked_for_by_the_name_that_the_comment_has() {
        let text = "/* Define to 1 if you have the <a_b/c.h> header file. */\n#undef HAVE_A_B_C_H\n#undef HAVE_SYS_TYPES_H\n";
        let text = fill(text, &system(), &Macros::new());
        assert!(
            text.contains("#if __has_include(<a_b/c.h>)\n#define HAVE_A_B_C_H 1\n"),
            "{text}"
        );
        assert!(text.contains("__has_include(<sys/types.h>)"), "{text}");
    }

    #[test]
    fn cmakes_and_mesons_templates_are_read_too() {
        let text = "#cmakedefine HAVE_STRDUP\n#cmakedefine01 HAVE_STRDUP\n#cmakedefine01 HAVE_NOTHING\n\
             #cmakedefine X_HAVE_STRDUP @YES@ more\n#mesondefine HAVE_STRDUP\n#define N @N@\n\
             #define L ${SIZEOF_LONG}\n#define V \"@V@\" /* a@b */\n#include \"x@S@.h\"\n#cmakedefine OTHER \"@O@\"";
        assert_eq!(
            lines(text),
            [
                "#define HAVE_STRDUP 1",
                "#define HAVE_STRDUP 1",
                "#define HAVE_NOTHING 0",
                "#define X_HAVE_STRDUP 0 more",
                "#define HAVE_STRDUP 1",
                "#define N 0",
                "#define L 8",
                "#define V \"@V@\" /* a@b */",
                "#include \"x.h\"",
                "/* OTHER */",
            ]
        );
    }

    #[test]
    fn types_and_systems_are_put_in() {
        let text = "typedef @X_INT64_TYPE@ a;\ntypedef unsigned @INT16@ b;\n#undef DBUS_UNIX\n#undef HAVE_LINUX\n#undef LINUX\n";
        assert_eq!(
            lines(text),
            [
                "typedef long a;",
                "typedef unsigned short b;",
                "#define DBUS_UNIX 1",
                "/* HAVE_LINUX */",
                "#define LINUX 1",
            ]
        );
    }

    #[test]
    fn threads_are_turned_on() {
        for name in [
            "HAVE_PTHREAD",
            "USE_THREADS",
            "WITH_THREADING",
            "THREADS",
            "_REENTRANT",
            "ENABLE_THREAD_SUPPORT",
            "MBEDTLS_HAVE_PTHREADS",
            "THREAD_SAFE",
            "CONFIG_MULTITHREADED",
            "MULTI_THREADED",
        ] {
            assert!(turns_threads_on(name), "{name}");
        }
        for name in [
            "NO_THREADS",
            "DISABLE_THREADS",
            "X_NO_USE_THREADS",
            "WIN32_THREADS",
            "HAVE_PTHREAD_CREATE",
            "SOLARIS_THREADS",
            "MAX_THREADS",
            "HAVE_THREADS_H",
            "EVENT__DISABLE_THREAD_SUPPORT",
        ] {
            assert!(!turns_threads_on(name), "{name}");
        }
    }
}
