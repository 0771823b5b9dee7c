use std::process::Command;

use super::testing::{last_function, look_ups, program};
use crate::ir::eval::Machine;
use crate::ir::print::print;

/// The output of a C program compiled and run, or `None` where there is no compiler.
fn compiled(source: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (file, program) = (folder.path().join("t.c"), folder.path().join("t"));
    std::fs::write(&file, source).expect("writes");
    let cc = Command::new("cc")
        .args(["-std=gnu11", "-w", "-O0", "-o"])
        .arg(&program)
        .arg(&file)
        .output();
    let Ok(cc) = cc else {
        eprintln!("no C compiler: not compared");
        return None;
    };
    assert!(
        cc.status.success(),
        "{}",
        String::from_utf8_lossy(&cc.stderr)
    );
    let output = Command::new(&program).output().expect("runs");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Without lines of comment, as the preprocessor leaves it.
fn uncommented(source: &str) -> String {
    let code = source.lines().filter(|line| !line.starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

#[test]
fn programs_compute_what_the_compiler_makes_them_compute() {
    let source = uncommented(include_str!("../../../testdata/lower/programs.c"));
    let super::testing::Program { functions, objects } = program(&source).expect("lowers");
    let tests: Vec<&str> = functions
        .iter()
        .map(|body| body.name.name.as_str())
        .filter(|name| name.starts_with("test_"))
        .collect();
    let calls = tests
        .iter()
        .map(|name| format!("printf(\"{name} %ld\\n\", {name}());"));
    let main = format!(
        "int main(void) {{ {} return 0; }}",
        calls.collect::<String>()
    );
    let Some(expected) = compiled(&format!("{source}\n{main}\n")) else {
        return;
    };
    let mut machine = Machine::new(&functions, &objects);
    let mut wrong = String::new();
    for line in expected.lines() {
        let (name, value) = line.split_once(' ').expect("name and value");
        let value: i64 = value.parse().expect("number");
        let run = std::panic::AssertUnwindSafe(|| machine.call(name, &[]) as u64 as i64);
        let ours = std::panic::catch_unwind(run).ok();
        if ours != Some(value) {
            let body = functions.iter().find(|body| body.name.name == name);
            let text = body.map(print).unwrap_or_default();
            wrong += &format!("{name}: {ours:?}, not {value}\n{text}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(tests.len() > 30);
}

/// The printed body of `f`, without its first line and the line numbers.
fn dump(source: &str) -> String {
    let body = last_function(source).expect("lowers");
    let text = print(&body);
    let lines = text.lines().skip(1);
    let cut = |line: &str| match line.get(..6) {
        Some(number) if number.trim().parse::<u32>().is_ok() => line[8..].to_owned(),
        _ => line.trim().to_owned(),
    };
    lines.map(cut).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_branch_on_a_conjunction_is_two_branches() {
    let text = dump("int f(int *p, int n) { if (p && n > 3) return *p; return 0; }");
    assert_eq!(
        text,
        "b0:\nif p goto b1 else b3\nb1:\nif n > 3 goto b2 else b3\nb2:\nreturn *p\nb3:\nreturn 0"
    );
}

#[test]
fn what_constants_exclude_is_not_lowered() {
    let text = dump(
        "void bad(void);
         int f(int n) {
           if (0) bad();
           if (sizeof(long) == 4 && n) bad();
           switch (sizeof(n)) { case 8: bad(); break; case 4: n++; break; default: bad(); }
           do { if (!(1)) bad(); } while (0);
           return __builtin_constant_p(n) ? 1 : n;
         }",
    );
    assert_eq!(text, "b0:\nn = n + 1\nreturn n");
}

#[test]
fn cleanups_run_last_declared_first_at_every_exit() {
    let text = dump(
        "void put(int *p);
         int f(int n) {
           int a __attribute__((cleanup(put))) = 1;
           while (n) {
             int b __attribute__((cleanup(put))) = 2;
             if (n == 5) break;
             if (n == 6) goto out;
             if (n == 7) return b;
             n--;
           }
         out:
           return a;
         }",
    );
    let calls = |from: &str| {
        let at = text
            .find(from)
            .unwrap_or_else(|| panic!("{from} in {text}"));
        let block = &text[at..];
        let end = block[2..].find("\nb").map_or(block.len(), |end| end + 2);
        block[..end].matches("call put").count()
    };
    assert_eq!(text.matches("call put(&b)").count(), 4, "{text}");
    assert_eq!(text.matches("call put(&a)").count(), 2, "{text}");
    assert!(calls("%") > 0 || calls("b0") == 0);
}

#[test]
fn a_call_through_a_member_names_record_and_member() {
    let source = "struct ops { int (*open)(int); int (*many[4])(void); };
         int f(struct ops *ops, int i) { return ops->open(i) + (*ops->many[i])(); }";
    let text = dump(source);
    assert!(text.contains("(*ops->open)<ops.open>(i)"), "{text}");
    assert!(text.contains("<ops.many>()"), "{text}");
}

#[test]
fn a_macro_that_tests_for_constants_takes_the_plain_way() {
    let text = dump(
        "int f(int a, int b) {
           return __builtin_choose_expr(
             (sizeof(int) == sizeof(*(8 ? ((void *)((long)(a) * 0l)) : (int *)8))),
             a, ({ __auto_type x = (a); __auto_type y = (b); x < y ? x : y; }));
         }",
    );
    assert!(text.ends_with("return x < y ? x : y"), "{text}");
}

#[test]
fn gotos_that_asm_may_take_are_any_of_its_labels() {
    let text = dump(
        "int f(int n) {
           asm goto (\"\" : \"+r\" (n) : : \"memory\" : out);
           return n;
         out: return -1;
         }",
    );
    assert_eq!(
        text,
        "b0:\nhavoc &n, 4\ngoto any of b1, b2\nb1:\nreturn n\nb2:\nreturn -1"
    );
}

#[test]
fn nothing_follows_a_call_that_does_not_return() {
    let text = dump(
        "void die(void) __attribute__((noreturn));
         int f(int n) { if (n) die(); return 1; }",
    );
    assert_eq!(
        text,
        "b0:\nif n goto b1 else b2\nb1:\ncall noreturn die()\nunreachable\nb2:\nreturn 1"
    );
}

#[test]
fn a_static_local_is_a_global_of_the_file() {
    let source = "int f(void) { static int seen; return seen++; }";
    let body = last_function(source).expect("lowers");
    assert_eq!(body.symbols[0].name.to_string(), "test.c::f.seen");
}

#[test]
fn an_old_style_definition_has_its_parameters() {
    let text = dump("int f(a, p) char a; int *p; { return a + *p; }");
    assert_eq!(text, "b0:\nreturn (i32)a + *p");
}

#[test]
fn a_function_that_cannot_be_lowered_says_why() {
    let source = "struct s; int f(struct s *p) { return p->x; }";
    let reason = last_function(source).expect_err("incomplete");
    assert_eq!(reason.message, "incomplete type struct s");
}

#[test]
fn a_cached_layout_looks_up_what_it_looked_up_before() {
    let source = "enum { N = 3 }; typedef int word; struct in { word w[N]; };
         struct s { struct in in; struct other *p; };
         long f(struct s *s) { return sizeof *s + s->in.w[1]; }";
    let cold = look_ups(source, false);
    assert_eq!(cold, look_ups(source, true));
    // f, s, in, word, N; not `other`, which is only pointed to.
    assert_eq!(cold.len(), 5, "{cold:?}");
}

#[test]
fn sizes_and_offsets_are_the_compilers() {
    let source = uncommented(include_str!("../../../testdata/lower/layouts.c"));
    let bodies = program(&source).expect("lowers").functions;
    let body = bodies.first().expect("numbers");
    let machine_readable = print(body);
    let mut asserts = String::new();
    for (i, stmt) in body.blocks[0].stmts.iter().enumerate() {
        // Every store of the function keeps one number: `n[i] = <constant>`.
        let crate::ir::StmtKind::Store { value, .. } = stmt.kind else {
            panic!("{machine_readable}");
        };
        let crate::ir::ExprKind::Const(number) = body.expr(value).kind else {
            panic!("not constant: statement {i} of\n{machine_readable}");
        };
        asserts += &format!("if (n[{i}] != {number}ul) printf(\"%d \", {i});");
    }
    let main = format!(
        "int printf(const char *, ...);
         int main(void) {{ static unsigned long n[1000]; numbers(n); {asserts} return 0; }}"
    );
    let Some(wrong) = compiled(&format!("{source}\n{main}\n")) else {
        return;
    };
    assert_eq!(wrong, "", "{machine_readable}");
    assert!(body.blocks[0].stmts.len() > 100);
}
