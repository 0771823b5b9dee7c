//! Comments in the source that silence a finding: `/* cassini: ignore lock/double-lock because the lock is recursive */`.
//!
//! In: the text of the tree's files and the findings of a run. Out: for each finding the reason of the comment that silences it, and which comments
//! do nothing. A comment that stands alone in its lines is about the line after it, another about its own line. It silences one
//! finding: what is new in that line is told. It needs a reason, and the name of a rule.

use std::collections::BTreeSet;

use crate::finding::Finding;

/// A comment that asks for silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub file: String,
    /// Where it begins; 1-based.
    pub line: u32,
    /// The line that it is about.
    pub about: u32,
    /// The rule and the reason, or what is wrong with it.
    pub request: Result<Request, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub rule: String,
    pub reason: String,
}

/// A comment that does not do what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub file: String,
    pub line: u32,
    pub message: String,
}

/// The word that makes a comment one of ours.
const MARK: &str = "cassini:";

/// The comments of a C file that ask for silence.
pub fn read(file: &str, text: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    // Few files have any.
    if memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
        return found;
    }
    let mut scan = Scan::new(text);
    while let Some((start, end)) = scan.next_comment() {
        let comment = &text[start..end];
        let words = comment
            .trim_start_matches(['/', '*', '!', '<'])
            .trim_start();
        let Some(words) = words.strip_prefix(MARK) else {
            continue;
        };
        let line = line_of(text, start);
        let last = line_of(text, end.saturating_sub(1).max(start));
        let before = text[..start].rsplit('\n').next().unwrap_or_default();
        let after = text[end..].lines().next().unwrap_or_default();
        let alone = before.trim().is_empty() && after.trim().is_empty();
        found.push(Comment {
            file: file.to_owned(),
            line,
            about: if alone { last + 1 } else { last },
            request: request(words),
        });
    }
    found
}

fn line_of(text: &str, at: usize) -> u32 {
    let lines = memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count();
    u32::try_from(lines + 1).unwrap_or(u32::MAX)
}

/// Reads what stands behind the mark.
fn request(words: &str) -> Result<Request, String> {
    let words = words.trim_end().trim_end_matches("*/");
    // A comment of several lines often has an asterisk before each.
    let lines = words
        .lines()
        .map(|line| line.trim().trim_start_matches('*').trim());
    let words = lines.collect::<Vec<_>>().join(" ");
    let mut words = words.split_whitespace();
    let form = "it must be `cassini: ignore RULE because REASON`";
    if words.next() != Some("ignore") {
        return Err(format!(
            "this comment asks for nothing that is known: {form}"
        ));
    }
    let Some(rule) = words.next() else {
        return Err(format!("this comment names no rule: {form}"));
    };
    let reason = match words.next() {
        Some("because") => words.collect::<Vec<_>>().join(" "),
        _ => String::new(),
    };
    if reason.is_empty() {
        return Err(format!(
            "this comment gives no reason, and silences nothing: {form}"
        ));
    }
    let rule = rule.to_owned();
    Ok(Request { rule, reason })
}

/// The reason for silence of each finding, if a comment gives one, and the comments that do nothing. Rules that are not `in_force`
/// may have no findings now.
pub fn apply(
    comments: &[Comment],
    findings: &[Finding],
    known: &BTreeSet<String>,
    in_force: &BTreeSet<String>,
) -> (Vec<Option<String>>, Vec<Complaint>) {
    let mut reasons: Vec<Option<String>> = vec![None; findings.len()];
    let mut complaints = Vec::new();
    for comment in comments {
        let mut complain = |message: String| {
            complaints.push(Complaint {
                file: comment.file.clone(),
                line: comment.line,
                message,
            });
        };
        let Request { rule, reason } = match &comment.request {
            Ok(request) => request,
            Err(mistake) => {
                complain(mistake.clone());
                continue;
            }
        };
        if !known.contains(rule) {
            let advice = nearest(rule, known);
            complain(format!(
                "there is no rule `{rule}`, so this comment silences nothing{advice}"
            ));
            continue;
        }
        let meant = |(at, finding): &(usize, &Finding)| {
            finding.rule == *rule
                && finding.file == comment.file
                && finding.line == comment.about
                && reasons[*at].is_none()
        };
        // The gravest first: what is less certain may not be asked for.
        let meant = findings.iter().enumerate().filter(meant);
        let silenced = meant.min_by_key(|(_, finding)| finding.level);
        match silenced.map(|(at, _)| at) {
            Some(at) => reasons[at] = Some(reason.clone()),
            None if in_force.contains(rule) => complain(format!(
                "this comment silences nothing: {rule} is not found in line {}",
                comment.about
            )),
            None => {}
        }
    }
    (reasons, complaints)
}

/// Which rule may be meant, as the end of a sentence.
fn nearest(rule: &str, known: &BTreeSet<String>) -> String {
    let likeness = |one: &&String| strsim::jaro_winkler(rule, one);
    let nearest = known
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest {
        Some(nearest) if likeness(&nearest) > 0.7 => format!("; did you mean {nearest}?"),
        _ => String::new(),
    }
}

/// Goes through a C text from comment to comment; what looks like one in a string is none.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Scan { text, at: 0 }
    }

    /// Where the next comment begins and ends.
    fn next_comment(&mut self) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let start = self.at;
            match (bytes[start], bytes.get(start + 1)) {
                (b'/', Some(b'*')) => {
                    let end = self.text[start + 2..].find("*/");
                    self.at = end.map_or(bytes.len(), |end| start + 2 + end + 2);
                    return Some((start, self.at));
                }
                (b'/', Some(b'/')) => {
                    let end = self.text[start..].find('\n');
                    self.at = end.map_or(bytes.len(), |end| start + end);
                    return Some((start, self.at));
                }
                (quote @ (b'"' | b'\''), _) => self.skip_literal(quote),
                _ => self.at += 1,
            }
        }
        None
    }

    /// A literal ends at its line's end at the latest: what looks like one may be an apostrophe in text that is left out.
    fn skip_literal(&mut self, quote: u8) {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(&byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' => return,
                byte if byte == quote => return,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Comment {
        let mut found = read("a.c", text);
        assert_eq!(found.len(), 1, "{text}");
        found.remove(0)
    }

    #[test]
    fn a_comment_is_about_its_line_or_the_one_after_it() {
        let comment = one("x;\nf(); /* cassini: ignore a/b because I say so */\ny;\n");
        assert_eq!((comment.line, comment.about), (2, 2));
        let request = comment.request.unwrap();
        assert_eq!((&*request.rule, &*request.reason), ("a/b", "I say so"));
        let comment = one("\t/* cassini: ignore a/b because it is\n\t * so */\nf();\n");
        assert_eq!((comment.line, comment.about), (1, 3));
        assert_eq!(comment.request.unwrap().reason, "it is so");
        assert_eq!(one("// cassini: ignore a/b because c\nf();").about, 2);
        assert_eq!(one("f(); // cassini: ignore a/b because c").about, 1);
        assert_eq!(one("/* cassini: ignore a/b because c */ f();").about, 1);
    }

    #[test]
    fn what_is_no_comment_of_ours_is_none() {
        for text in [
            "char *s = \"/* cassini: ignore a/b because c */\";",
            "/* about cassini: ignore a/b because c */",
            "int cassini:3;",
            "char *s = \"\\\"// cassini: ignore a/b because c\";",
        ] {
            assert_eq!(read("a.c", text), [], "{text}");
        }
        // An apostrophe in code that the preprocessor drops.
        one("#if 0\ndon't\n#endif\n// cassini: ignore a/b because c\n");
        one("/* cassini: ignore a/b because it never ends");
    }

    #[test]
    fn a_comment_needs_a_rule_and_a_reason() {
        for (text, expected) in [
            ("// cassini: ignore a/b", "gives no reason"),
            ("// cassini: ignore a/b because", "gives no reason"),
            ("// cassini: ignore a/b, it is fine", "gives no reason"),
            ("// cassini: ignore", "names no rule"),
            ("/* cassini: */", "asks for nothing that is known"),
        ] {
            let mistake = one(text).request.unwrap_err();
            assert!(mistake.contains(expected), "{text}: {mistake}");
        }
    }
}
