//! Whose code a file is, by the tree's own list.
//!
//! In: `CODEOWNERS`, by GitHub's rules, where the last line that matches decides; or else Linux's `MAINTAINERS`, where the most exact pattern
//! does. Out: the owners of a file, as the list names them. The list is that of the tree, or of the repository that the tree is a part of.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::{GlobBuilder, GlobMatcher};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::source::read_regular;

/// Where GitHub and GitLab look for the list.
const CODEOWNERS: [&str; 4] = [
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab/CODEOWNERS",
];
const MAINTAINERS: &str = "MAINTAINERS";

/// A longer list is none, in bytes.
const LIMIT: u64 = 16 << 20;

/// The owners of a tree's files.
#[derive(Debug, Default)]
pub struct Owners {
    /// The tree, as it is named from the folder that the list is about.
    prefix: PathBuf,
    lines: Vec<Line>,
    sections: Sections,
}

/// A line of `CODEOWNERS`.
#[derive(Debug)]
struct Line {
    pattern: Gitignore,
    /// What is in a folder that matches is meant, too.
    deep: bool,
    owners: Vec<String>,
}

/// The sections of `MAINTAINERS`.
#[derive(Debug, Default)]
struct Sections {
    owners: Vec<Vec<String>>,
    /// Files and folders without wildcards, and the sections that have them.
    plain: HashMap<String, Vec<usize>>,
    globs: Vec<Pattern>,
    /// What sections leave out.
    except: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    section: usize,
    text: String,
    matcher: OnceLock<Option<GlobMatcher>>,
}

impl Owners {
    /// The list of a tree; none owns anything where there is no list.
    pub fn load(root: &Path) -> Owners {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        // Above the tree only as far as the repository reaches.
        let repository = root
            .ancestors()
            .position(|folder| folder.join(".git").exists());
        for folder in root.ancestors().take(repository.unwrap_or(0) + 1) {
            let prefix = root.strip_prefix(folder).unwrap_or(Path::new(""));
            let read = |name: &str| {
                let text = read_regular(&folder.join(name), LIMIT).ok()?;
                Some(String::from_utf8_lossy(&text).into_owned())
            };
            let found = match CODEOWNERS.into_iter().find_map(read) {
                Some(text) => Some(Owners::codeowners(&text)),
                None => read(MAINTAINERS).map(|text| Owners::maintainers(&text)),
            };
            if let Some(owners) = found.filter(Owners::has_any) {
                return Owners {
                    prefix: prefix.to_path_buf(),
                    ..owners
                };
            }
        }
        Owners::default()
    }

    /// Whether the list has anything in it.
    pub fn has_any(&self) -> bool {
        !self.lines.is_empty() || !self.sections.owners.is_empty()
    }

    fn codeowners(text: &str) -> Owners {
        let mut lines = Vec::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            // Titles of sections are GitLab's, and negated patterns nobody's.
            let pattern = words
                .next()
                .filter(|word| !word.starts_with(['#', '[', '^', '!']));
            let Some(text) = pattern else { continue };
            let mut pattern = GitignoreBuilder::new("");
            let added = pattern.add_line(None, text).is_ok();
            if let (true, Ok(pattern)) = (added, pattern.build()) {
                lines.push(Line {
                    pattern,
                    deep: !text.ends_with("/*"),
                    owners: words
                        .take_while(|word| !word.starts_with('#'))
                        .map(str::to_owned)
                        .collect(),
                });
            }
        }
        Owners {
            lines,
            ..Owners::default()
        }
    }

    fn maintainers(text: &str) -> Owners {
        let mut sections = Sections::default();
        let mut title = "";
        let mut open = false;
        for line in text.lines() {
            let field = line.split_once(':').filter(|(letter, _)| letter.len() == 1);
            match field {
                None => {
                    open = false;
                    if !line.trim().is_empty() {
                        title = line.trim();
                    }
                }
                Some((letter, value)) => {
                    if !open {
                        sections.owners.push(Vec::new());
                        open = true;
                    }
                    sections.add(letter, value.trim());
                }
            }
            // One that nobody maintains is known by its title.
            if let (true, Some(("F", _)), Some(owners)) = (open, field, sections.owners.last_mut())
                && owners.is_empty()
            {
                owners.push(title.to_owned());
            }
        }
        let is_list = !sections.plain.is_empty() || !sections.globs.is_empty();
        Owners {
            sections: if is_list {
                sections
            } else {
                Sections::default()
            },
            ..Owners::default()
        }
    }

    /// The owners of a file of the tree, by its name in it.
    pub fn of(&self, file: &str) -> &[String] {
        let path = Path::new(file);
        if path.is_absolute() || file.starts_with('<') {
            return &[];
        }
        let path = self.prefix.join(path);
        let last = self.lines.iter().rev().find(|line| match line.deep {
            true => line
                .pattern
                .matched_path_or_any_parents(&path, false)
                .is_ignore(),
            false => line.pattern.matched(&path, false).is_ignore(),
        });
        match last {
            Some(line) => &line.owners,
            None => path.to_str().map_or(&[], |path| self.sections.of(path)),
        }
    }
}

impl Sections {
    fn add(&mut self, letter: &str, value: &str) {
        let section = self.owners.len() - 1;
        let pattern = |text: &str| Pattern {
            section,
            text: text.to_owned(),
            matcher: OnceLock::new(),
        };
        match letter {
            "M" => self.owners[section].push(value.to_owned()),
            "X" => self.except.push(pattern(value)),
            "F" if value.contains(['*', '?', '[']) => self.globs.push(pattern(value)),
            "F" => {
                let name = value.trim_end_matches('/').to_owned();
                self.plain.entry(name).or_default().push(section);
            }
            _ => {}
        }
    }

    /// The owners by the pattern that names most folders; of several the first.
    fn of(&self, path: &str) -> &[String] {
        let excepted = |section: usize| {
            let mut except = self.except.iter();
            except.any(|one| one.section == section && one.matches(path))
        };
        let names = Path::new(path).ancestors().filter_map(Path::to_str);
        let plain = names.flat_map(|name| {
            let sections = self.plain.get(name).into_iter().flatten();
            sections.map(move |section| (depth(name), *section))
        });
        let globs = self.globs.iter().filter(|one| one.matches(path));
        let globs = globs.map(|one| (depth(&one.text), one.section));
        let meant = plain
            .chain(globs)
            .filter(|(_, section)| !excepted(*section));
        let best = meant.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        best.map_or(&[], |(_, section)| &self.owners[section])
    }
}

/// How many folders and files a pattern names; a wildcard names none.
fn depth(pattern: &str) -> usize {
    let names = pattern.split('/');
    names
        .filter(|name| !name.is_empty() && *name != "*")
        .count()
}

impl Pattern {
    /// `net/` is all in a folder, `net/*` what lies in it and not deeper.
    fn matches(&self, path: &str) -> bool {
        let plain = self.text.split(['*', '?', '[']).next().unwrap_or_default();
        if !path.starts_with(plain.trim_end_matches('/')) {
            return false;
        }
        let matcher = self.matcher.get_or_init(|| {
            let folder = self.text.trim_end_matches('/');
            let text = match folder.len() < self.text.len() || !folder.ends_with('*') {
                true => format!("{folder}{{,/**}}"),
                false => folder.to_owned(),
            };
            let glob = GlobBuilder::new(&text)
                .literal_separator(true)
                .empty_alternates(true)
                .build();
            glob.ok().map(|glob| glob.compile_matcher())
        });
        matcher
            .as_ref()
            .is_some_and(|matcher| matcher.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_codeowners_that_matches_decides() {
        let owners = Owners::codeowners(
            "# all\n*       @all\n*.js    @js # scripts\n/build/logs/ @logs\ndocs/*  docs@example.com\n\
             apps/   @apps @more\n/apps/github @github\n/apps/free\n**/deep @deep\n[Section]\n!no @nobody\n",
        );
        let of = |file: &str| owners.of(file).join(" ");
        for (file, expected) in [
            ("a.c", "@all"),
            ("lib/a.js", "@js"),
            ("build/logs/x/a.c", "@logs"),
            ("lib/build/logs/a.c", "@all"),
            ("docs/a.c", "docs@example.com"),
            ("docs/sub/a.c", "@all"),
            ("lib/apps/x/a.c", "@apps @more"),
            ("apps/github/x/a.c", "@github"),
            ("apps/free/a.c", ""),
            ("x/deep/y/a.c", "@deep"),
            ("/usr/include/stdio.h", ""),
            ("<built-in>", ""),
        ] {
            assert_eq!(of(file), expected, "{file}");
        }
    }

    #[test]
    fn the_most_exact_pattern_of_maintainers_decides() {
        let owners = Owners::maintainers(
            "List of maintainers\n\nNET DRIVERS\nM:\tA <a@x>\nM:\tB <b@x>\nS:\tMaintained\nF:\tdrivers/net/\nX:\tdrivers/net/wan/\n\n\
             ONE CARD\nM:\tC <c@x>\nF:\tdrivers/net/card.*\nF:\tinclude/linux/card.h\n\nFLAT\nM:\tD <d@x>\nF:\tdrivers/*\n\n\
             NOBODY'S\nS:\tOrphan\nF:\tdrivers/old/\n\nTHE REST\nM:\tL <l@x>\nF:\t*\nF:\t*/\n",
        );
        let of = |file: &str| owners.of(file).join(", ");
        for (file, expected) in [
            ("drivers/net/x.c", "A <a@x>, B <b@x>"),
            ("drivers/net/deep/x.c", "A <a@x>, B <b@x>"),
            ("drivers/net/wan/x.c", "L <l@x>"),
            ("drivers/net/card.c", "C <c@x>"),
            ("include/linux/card.h", "C <c@x>"),
            ("drivers/a.c", "D <d@x>"),
            ("drivers/old/a.c", "NOBODY'S"),
            ("kernel/a.c", "L <l@x>"),
            ("a.c", "L <l@x>"),
        ] {
            assert_eq!(of(file), expected, "{file}");
        }
        assert!(!Owners::maintainers("Jane Doe maintains this.\nA: b\n").has_any());
    }

    #[test]
    fn a_part_of_a_repository_has_its_owners() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("src/lib")).unwrap();
        std::fs::write(root.join("CODEOWNERS"), "/src/lib/ @lib\n").unwrap();
        assert!(!Owners::load(&root.join("src")).has_any());
        std::fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(Owners::load(&root.join("src")).of("lib/a.c"), ["@lib"]);
        assert_eq!(Owners::load(root).of("src/lib/a.c"), ["@lib"]);
        assert!(Owners::load(root).of("src/a.c").is_empty());
    }
}
