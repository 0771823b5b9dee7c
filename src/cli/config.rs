//! `cassini.toml`: what a tree always wants of `check`. The command line goes before it.
//!
//! In: the file that the user names, or the one in the tree, which may come from anywhere. Out: a
//! [`Config`], and notices of what was not applied of the latter.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;

use super::asked::{JOBS, UNROLL};
use crate::capture::harmless;
use crate::finding::{Filter, Level};
use crate::source::read_regular;

/// The name looked for in the tree.
const FILE_NAME: &str = "cassini.toml";

/// A longer file is none of ours, in bytes.
const LIMIT: u64 = 1 << 20;

/// The file's keys. Paths are relative to the file's folder.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    pub compile_commands: Option<PathBuf>,
    pub db: Option<PathBuf>,
    #[serde(default)]
    pub checkers: Vec<String>,
    pub jobs: Option<u32>,
    pub unroll: Option<u32>,
    pub baseline: Option<PathBuf>,
    #[serde(default)]
    pub compiler_arguments: Vec<String>,
    pub filter: Option<Filter>,
    pub level: Option<Level>,
    #[serde(default)]
    pub exclude: Vec<String>,
}

impl Config {
    /// The file that was asked for, or the tree's own if it has one, and notices. What of the tree's own
    /// might do harm is left out, unless the tree is `trusted`.
    pub fn load(
        asked: Option<&Path>,
        tree: &Path,
        trusted: bool,
    ) -> anyhow::Result<(Config, Vec<String>)> {
        let file = asked.map_or_else(|| tree.join(FILE_NAME), Path::to_owned);
        let text = match asked {
            Some(_) => fs::read_to_string(&file),
            None => read_regular(&file, LIMIT)
                .and_then(|text| String::from_utf8(text).map_err(io::Error::other)),
        };
        let text = match text {
            Ok(text) => text,
            // A tree that is a single file has none either.
            Err(error) if asked.is_none() && absent(error.kind()) => return Ok(Default::default()),
            Err(error) => bail!("cannot read {}: {error}", file.display()),
        };
        let mut config: Config = toml::from_str(&text)
            .map_err(|error| anyhow!("{}{}", place(&file, &text, &error), error.message()))?;
        config.check().with_context(|| file.display().to_string())?;
        let folder = file.parent().unwrap_or(Path::new(""));
        for path in [
            &mut config.compile_commands,
            &mut config.db,
            &mut config.baseline,
        ] {
            *path = path.take().map(|path| folder.join(path));
        }
        for checker in &mut config.checkers {
            if checker.ends_with(".toml") {
                *checker = folder.join(&*checker).to_string_lossy().into_owned();
            }
        }
        let left_out = match asked.is_some() || trusted {
            true => Vec::new(),
            false => config.leave_out_harm(),
        };
        let notice = |what: String| {
            let file = file.display();
            format!("{file} came with the tree: {what}; --trust-tree or --config {file} applies it")
        };
        Ok((config, left_out.into_iter().map(notice).collect()))
    }

    /// What the command line does not take, a file does not say either.
    fn check(&self) -> anyhow::Result<()> {
        if self
            .jobs
            .is_some_and(|jobs| !JOBS.contains(&i64::from(jobs)))
        {
            bail!("jobs must be between {} and {}", JOBS.start(), JOBS.end());
        }
        if self
            .unroll
            .is_some_and(|unroll| !UNROLL.contains(&i64::from(unroll)))
        {
            bail!(
                "unroll must be between {} and {}",
                UNROLL.start(),
                UNROLL.end()
            );
        }
        Ok(())
    }

    /// Takes out what would write elsewhere, read what has no end, or hand the compiler more than
    /// harmless flags. Answers what that was.
    fn leave_out_harm(&mut self) -> Vec<String> {
        let mut left_out = Vec::new();
        if self.db.take().is_some() {
            left_out.push("`db` is not applied".to_owned());
        }
        let irregular = |path: &Path| path.exists() && !path.is_file();
        let paths = [
            ("compile-commands", &mut self.compile_commands),
            ("baseline", &mut self.baseline),
        ];
        for (key, path) in paths {
            if path.as_deref().is_some_and(irregular) {
                *path = None;
                left_out.push(format!("`{key}` is not applied: it names no regular file"));
            }
        }
        let before = self.checkers.len();
        self.checkers
            .retain(|checker| !(checker.ends_with(".toml") && irregular(Path::new(checker))));
        if self.checkers.len() < before {
            left_out.push("`checkers` is not applied: it names no regular file".to_owned());
        }
        let words: Vec<OsString> = self.compiler_arguments.iter().map(OsString::from).collect();
        let (kept, doubtful) = harmless(&words);
        let kept = kept.into_iter().filter_map(|word| word.into_string().ok());
        self.compiler_arguments = kept.collect();
        if !doubtful.is_empty() {
            let doubtful = doubtful.join(", ");
            left_out.push(format!(
                "{doubtful} of `compiler-arguments` is not known to be harmless and was left out"
            ));
        }
        left_out
    }
}

/// Where an error of the file is, as compilers say it.
fn place(file: &Path, text: &str, error: &toml::de::Error) -> String {
    let file = file.display();
    let before = error.span().and_then(|span| text.get(..span.start));
    let Some(before) = before else {
        return format!("{file}: ");
    };
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.chars().rev().take_while(|&c| c != '\n').count();
    format!("{file}:{line}:{column}: ")
}

fn absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trees_own_file_is_found_and_a_wrong_key_is_named_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let load = || Config::load(None, folder.path(), false).map(|(config, _)| config);
        assert_eq!(load().unwrap(), Config::default());
        let file = folder.path().join(FILE_NAME);
        fs::write(
            &file,
            "unroll = 3\nbaseline = \"old.json\"\ncheckers = [\"lock\", \"my.toml\"]\n",
        )
        .unwrap();
        let config = load().unwrap();
        assert_eq!(config.unroll, Some(3));
        assert_eq!(config.baseline, Some(folder.path().join("old.json")));
        assert_eq!(config.checkers[0], "lock");
        assert!(Path::new(&config.checkers[1]).is_absolute());
        fs::write(&file, "unroll = 3\nunrol = 3\n").unwrap();
        let error = format!("{:#}", load().unwrap_err());
        assert!(
            error.contains("cassini.toml:2:1: unknown field `unrol`"),
            "{error}"
        );
        fs::write(&file, "level = \"notes\"\n").unwrap();
        let error = format!("{:#}", load().unwrap_err());
        let expected =
            "cassini.toml:1:9: unknown variant `notes`, expected one of `error`, `warning`, `note`";
        assert!(error.contains(expected), "{error}");
        let other = folder.path().join("other");
        assert!(Config::load(Some(&other), folder.path(), false).is_err());
        for text in ["jobs = 0", "jobs = 1000000000", "unroll = 65"] {
            fs::write(&file, text).unwrap();
            let error = format!("{:#}", load().unwrap_err());
            assert!(error.contains("must be between 1 and "), "{error}");
        }
    }

    #[test]
    fn a_trees_own_file_does_no_harm_and_one_that_is_named_does_as_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        let text = "db = \"/elsewhere\"\nbaseline = \"/dev/zero\"\nunroll = 3\n\
                    compiler-arguments = [\"-DA\", \"-B.\", \"@flags\", \"-I\", \"inc\"]\n";
        fs::write(&file, text).unwrap();
        let (config, notices) = Config::load(None, folder.path(), false).unwrap();
        assert_eq!(
            (config.db, config.baseline, config.unroll),
            (None, None, Some(3))
        );
        assert_eq!(config.compiler_arguments, ["-DA", "-I", "inc"]);
        let told = ["`db`", "`baseline`", "-B, @flags of `compiler-arguments`"];
        assert_eq!(notices.len(), told.len(), "{notices:?}");
        for (notice, told) in notices.iter().zip(told) {
            assert!(
                notice.contains(told) && notice.contains("--trust-tree"),
                "{notice}"
            );
        }
        for (asked, trusted) in [(Some(file.as_path()), false), (None, true)] {
            let (config, notices) = Config::load(asked, folder.path(), trusted).unwrap();
            assert_eq!(config.db.as_deref(), Some(Path::new("/elsewhere")));
            assert_eq!((config.compiler_arguments.len(), notices.len()), (5, 0));
        }
    }
}
