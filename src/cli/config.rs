//! `cassini.toml`: what a tree always wants of `check`. The command line goes before it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

/// The name looked for in the tree.
const FILE_NAME: &str = "cassini.toml";

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
}

impl Config {
    /// The file that was asked for, or the tree's own if it has one.
    pub fn load(asked: Option<&Path>, tree: &Path) -> anyhow::Result<Config> {
        let file = asked.map_or_else(|| tree.join(FILE_NAME), Path::to_owned);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            // A tree that is a single file has none either.
            Err(error) if asked.is_none() && absent(error.kind()) => return Ok(Config::default()),
            Err(error) => bail!("cannot read {}: {error}", file.display()),
        };
        let mut config: Config =
            toml::from_str(&text).with_context(|| file.display().to_string())?;
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
        Ok(config)
    }
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
        let load = || Config::load(None, folder.path());
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
            error.contains("line 2") && error.contains("unrol"),
            "{error}"
        );
        assert!(Config::load(Some(&folder.path().join("other")), folder.path()).is_err());
    }
}
