//! Where a compiler looks for headers.
//!
//! In: what gcc and clang say under `-v`. Out: the folders of the search path, those included that
//! are not there, and the other messages.

use std::ffi::OsString;
use std::path::PathBuf;

/// Begins the name of a folder that is not there.
const MISSING: &str = "ignoring nonexistent directory \"";
const BEGIN: &str = " search starts here:";
const END: &str = "End of search list.";
/// Lines that gcc ends with under `-v`.
const EPILOGUE: &[&str] = &["COMPILER_PATH=", "LIBRARY_PATH=", "COLLECT_GCC_OPTIONS="];

/// The folders that headers are looked for in, as the compiler spells them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    pub folders: Vec<PathBuf>,
}

impl Search {
    /// Takes the search path out of a compiler's messages; `None` if it does not tell one.
    pub(super) fn take(messages: &str) -> (Option<Search>, String) {
        let mut search = Search::default();
        let mut rest = String::new();
        let mut inside = false;
        let mut complete = false;
        for line in messages.lines() {
            if let Some(folder) = line.strip_prefix(MISSING) {
                let folder = folder.strip_suffix('"').unwrap_or(folder);
                search.folders.push(folder.into());
            } else if line.starts_with("#include ") && line.ends_with(BEGIN) {
                inside = true;
            } else if line == END {
                // What a compiler says of itself comes before, and so may errors.
                rest = rest
                    .lines()
                    .filter(|line| line.contains("error: "))
                    .flat_map(|line| [line, "\n"])
                    .collect();
                inside = false;
                complete = true;
            } else if inside && let Some(folder) = line.strip_prefix(' ') {
                let folder = folder.strip_suffix(" (framework directory)");
                let folder = folder.unwrap_or(line.trim_start());
                search.folders.push(OsString::from(folder).into());
            } else if !EPILOGUE.iter().any(|start| line.starts_with(start)) {
                rest.push_str(line);
                rest.push('\n');
            }
        }
        (complete.then_some(search), rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_path_is_taken_out_of_the_messages() {
        let messages = "Using built-in specs.\nCOLLECT_GCC=gcc\n\
            ignoring nonexistent directory \"/usr/local/include/x\"\n\
            #include \"...\" search starts here:\n q\n#include <...> search starts here:\n .\n /usr/include\n\
            End of search list.\na.c:1:10: fatal error: g.h: No such file or directory\n\
            compilation terminated.\nCOMPILER_PATH=/usr/lib/\n";
        let (search, rest) = Search::take(messages);
        let folders = ["/usr/local/include/x", "q", ".", "/usr/include"];
        assert_eq!(search.unwrap().folders, folders.map(PathBuf::from));
        assert_eq!(
            rest,
            "a.c:1:10: fatal error: g.h: No such file or directory\ncompilation terminated.\n"
        );
    }

    #[test]
    fn what_is_no_search_path_stays() {
        let (search, rest) = Search::take("gcc: error: unrecognized command-line option '-q'\n");
        assert_eq!(search, None);
        assert_eq!(rest, "gcc: error: unrecognized command-line option '-q'\n");
    }
}
