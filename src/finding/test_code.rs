//! Which files are a program's own tests.
//!
//! In: a file's name, relative to the tree. Out: whether what is wrong in it is wrong in a test, and not in what the program's users run. Such findings
//! are as true as others, and less urgent: a test runs once, on input that is known, and may well leave its memory to the system. The rule
//! goes by names alone, those that C programs give their tests; what it takes for a test is read last, and never left out.

use std::path::{Component, Path};

/// Folders of tests, in small letters and without what divides words: `unit-tests` and `unit_tests` are `unittests`. Git and many programs of
/// Perl's world keep tests in `t`.
const FOLDERS: [&str; 14] = [
    "test",
    "tests",
    "testing",
    "testcases",
    "testsuite",
    "testsuites",
    "testprogs",
    "unittest",
    "unittests",
    "selftest",
    "selftests",
    "fuzz",
    "fuzzing",
    "t",
];

/// Words at either end of a file's name that make it a test: `test_list.c`, `list-test.c`, `list_kunit.c`.
const FIRST: [&str; 2] = ["test", "tests"];
const LAST: [&str; 5] = ["test", "tests", "unittest", "kunit", "fuzzer"];

/// Whether a file is one of the program's tests.
pub fn is_test(file: &str) -> bool {
    let path = Path::new(file);
    // The system's headers are nobody's tests, wherever they lie.
    if path.is_absolute() || file.starts_with('<') {
        return false;
    }
    let mut names = path
        .components()
        .rev()
        .filter_map(|component| match component {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
    let Some(name) = names.next() else {
        return false;
    };
    names.any(is_test_folder) || is_test_name(name)
}

fn is_test_folder(name: &str) -> bool {
    let plain = name.chars().filter(|c| !matches!(c, '-' | '_'));
    let plain: String = plain.flat_map(char::to_lowercase).collect();
    FOLDERS.contains(&&*plain)
}

/// A name of one word is a test's in a folder of tests only: `test.c` is the shell's command, too. What tests itself (`self_test.c`) is a part of
/// the program.
fn is_test_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = stem.split(['-', '_']).collect();
    let (Some(first), Some(last), true) = (words.first(), words.last(), words.len() > 1) else {
        return false;
    };
    FIRST.contains(first) || LAST.contains(last) && words[words.len() - 2] != "self"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_their_folder_or_their_name() {
        for file in [
            "testsuite/test-hash.c",
            "src/tests/a.c",
            "lib/Unit-Tests/deep/helper.h",
            "t/helper/test-date.c",
            "tools/testing/selftests/vm/a.c",
            "lib/test_printf.c",
            "src/list-test.c",
            "fs/ext4/inode_kunit.c",
            "src/url_parse_test.c",
        ] {
            assert!(is_test(file), "{file}");
        }
        for file in [
            "src/test.c",
            "coreutils/test.c",
            "src/contest.c",
            "src/latest/a.c",
            "fips/self_test.c",
            "providers/fips/rsa_self_test.c",
            "src/testament.c",
            "attest/a.c",
            "/usr/include/tests/a.h",
            "<missing>/tests/a.h",
            "",
        ] {
            assert!(!is_test(file), "{file}");
        }
    }
}
