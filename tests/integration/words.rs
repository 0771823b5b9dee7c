//! Runs the real program: its answers are in words that the source has, for numbers, places and null pointers.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

const HEADER: &str = "\
#define ITEM_LINKED 1
#define ITEM_CAS 2
#define ITEM_SLABBED (1 << 2)
#define DEFAULT_AGE 40
#ifdef OLD
#define WIDTH 8
#else
#define WIDTH 16
#endif
#define HAS_CAS(i) \\
	((i)->flags & \\
	 ITEM_CAS)
enum state { CLOSED, OPEN, FAILED = -1 };
struct mutex { int word; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct item { unsigned short flags; enum state state; int age, width, other; struct mutex lock; struct mutex gate; };
struct inode { int number; };
struct node { struct item *item; long spare; struct mutex lock; struct inode inode; int kept; };
struct table { int used; struct item *slots; };
";

const SOURCE: &str = "\
#include \"items.h\"
int link(struct item *it)
{
	if (it->state == OPEN)
		mutex_lock(&it->lock);
	if (HAS_CAS(it))
		mutex_lock(&it->gate);
	it->flags |= ITEM_LINKED | ITEM_SLABBED;
	it->age = DEFAULT_AGE;
	it->width = WIDTH;
	it->other = 40;
	if (it->age == 7)
		it->other = 2;
	return it->age ? FAILED : CLOSED;
}
int link_both(struct item *a) { return link(a); }

/* The members behind what is converted, and in elements that a callee finds. */
struct node *node_of(struct inode *inode)
{
	return (struct node *)((char *)inode - __builtin_offsetof(struct node, inode));
}
void by_function(struct inode *inode) { mutex_lock(&node_of(inode)->lock); }
void by_offset(struct inode *inode)
{
	struct node *node = (struct node *)((char *)inode - __builtin_offsetof(struct node, inode));
	mutex_lock(&node->lock);
}
struct table tables[4];
void age_slot(int id) { struct table *t = &tables[id]; t->slots = 0; t->used++; }
void age_all(int which) { age_slot(which); }
";

const KINDS: &str = "\
#define KIND_MASK 0xf0
#define KIND_DISK 0x80
#define BUSY 4
#define IS_DISK(kind) (((kind) & KIND_MASK) == KIND_DISK)
";

const DISK: &str = "\
#include <kinds.h>
struct mutex { int word; };
void mutex_lock(struct mutex *lock);
struct disk { struct mutex lock; int kind, flags; };
int disk_hold(struct disk *d)
{
	if (!IS_DISK(d->kind) || d->flags & BUSY)
		return -1;
	mutex_lock(&d->lock);
	return 0;
}
";

const NULLS: &str = "\
#include <stddef.h>
struct part { int a, b; };
void first(struct part *p, int *out);
void first(struct part *p, int *out)
{
	for (int i = 0; i < 9; i++)
		out[i] = p->b;
}
void none(int *out) { first(NULL, out); }
";

fn checked(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = Command::cargo_bin("cassini").unwrap();
    command.current_dir(folder.path());
    command.args(["check", ".", "-q", "--checkers", "lock,heap,null"]);
    command.assert().code(1);
    folder
}

fn told(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("cassini").unwrap();
    let assert = command.current_dir(folder).arg("query").args(arguments);
    String::from_utf8(assert.assert().code(0).get_output().stdout.clone()).unwrap()
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn numbers_have_the_names_that_stand_beside_the_place() {
    let folder = checked(&[("items.h", HEADER), ("items.c", SOURCE)]);
    let link = told(folder.path(), &["function", "link"]);
    has(
        &link,
        &[
            "if it->state == OPEN",
            "it->flags & ITEM_CAS",
            "it->flags = it->flags | (ITEM_LINKED | ITEM_SLABBED)",
            "it->age = DEFAULT_AGE",
            // Two definitions: which is in force is not known.
            "it->width = 16",
            // A number in the source is a number here, whatever names it has elsewhere.
            "it->other = 40",
            "returns   FAILED",
        ],
    );
    // The caller has them from its callee's text.
    let both = told(folder.path(), &["function", "link_both"]);
    has(
        &both,
        &[
            "if a->state == OPEN",
            "a->age = DEFAULT_AGE",
            "returns   FAILED",
        ],
    );
    let json = told(
        folder.path(),
        &["--format", "json", "function", "link_both"],
    );
    has(&json, &["a->state == OPEN"]);
    // A file that would never end is none.
    fs::remove_file(folder.path().join("items.h")).unwrap();
    let fifo = std::process::Command::new("mkfifo")
        .arg(folder.path().join("items.h"))
        .status();
    assert!(fifo.unwrap().success());
    has(
        &told(folder.path(), &["function", "link"]),
        &["it->state == OPEN", "it->age = 40"],
    );
    // Without the source they are numbers.
    fs::remove_file(folder.path().join("items.c")).unwrap();
    has(
        &told(folder.path(), &["function", "link"]),
        &["if it->state == 1"],
    );
}

#[test]
fn numbers_have_the_names_of_headers_wherever_the_database_lies() {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir(tree.path().join("include")).unwrap();
    fs::write(tree.path().join("include/kinds.h"), KINDS).unwrap();
    fs::write(tree.path().join("disk.c"), DISK).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = elsewhere.path().join("kept").display().to_string();
    for database in [&[][..], &["--db", &elsewhere]] {
        let mut command = Command::cargo_bin("cassini").unwrap();
        command.current_dir(tree.path());
        command.args(["check", ".", "-q"]).args(database);
        command.assert().code(0);
        let hold = told(
            tree.path(),
            &[&["function", "disk_hold"], database].concat(),
        );
        has(
            &hold,
            &["(d->kind & KIND_MASK) == KIND_DISK", "d->flags & BUSY"],
        );
    }
}

#[test]
fn places_have_the_names_of_their_members() {
    let folder = checked(&[("items.h", HEADER), ("items.c", SOURCE)]);
    has(
        &told(folder.path(), &["function", "by_function"]),
        &["node_of(inode)->lock (mutex)"],
    );
    has(
        &told(folder.path(), &["function", "by_offset"]),
        &["container_of(inode, struct node, inode)->lock (mutex)"],
    );
    let all = told(folder.path(), &["function", "age_all"]);
    has(&all, &["tables[which].slots = NULL", "tables[which].used"]);
    assert!(!all.contains("(char *)"), "{all}");
}

#[test]
fn a_null_constant_is_told_as_one() {
    let folder = checked(&[("nulls.c", NULLS)]);
    let why = told(folder.path(), &["why", "nulls.c:9"]);
    has(
        &why,
        &[
            "a null pointer is passed to `first(0, out)`, which follows it [null/dereference]",
            "first(0, out): follows the null pointer",
            "in first: it is accessed here",
        ],
    );
    let warning = "a null pointer is passed to";
    assert_eq!(why.matches(warning).count(), 1, "{why}");
    assert!(!why.contains("`NULL` may be null"), "{why}");
}
