use std::process::Command;

use super::testing::{last_function, look_ups, program, program_for};
use crate::frontend::model::Model;
use crate::frontend::whole::Program;
use crate::ir::eval::{Datum, Machine, Stop};
use crate::ir::fold;
use crate::ir::print::print;

/// The output of a C program compiled and run, or `None` where there is no compiler.
fn compiled(source: &str, standard: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (file, program) = (folder.path().join("t.c"), folder.path().join("t"));
    std::fs::write(&file, source).expect("writes");
    let cc = Command::new("cc")
        .arg(format!("-std={standard}"))
        .args(["-w", "-O0", "-o"])
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

/// Runs every `test_*` of a source on the IR and compares what it returns with the compiler's program.
fn compare_with_compiler(source: &str, standard: &str) {
    let source = uncommented(source);
    let Program {
        functions, objects, ..
    } = program(&source).expect("lowers");
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
    let Some(expected) = compiled(&format!("{source}\n{main}\n"), standard) else {
        return;
    };
    let mut machine = Machine::new(&functions, &objects, 10_000_000).expect("initialises");
    let mut wrong = String::new();
    for line in expected.lines() {
        let (name, value) = line.split_once(' ').expect("name and value");
        let value: i64 = value.parse().expect("number");
        let ours = returned(&mut machine, name);
        if ours != Ok(value.into()) {
            let body = functions.iter().find(|body| body.name.name == name);
            let text = body.map(print).unwrap_or_default();
            wrong += &format!("{name}: {ours:?}, not {value}\n{text}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(tests.len() > 20);
}

/// The integer that a function returns.
fn returned(machine: &mut Machine<'_>, name: &str) -> Result<i128, Stop> {
    match machine.call_named(name, Vec::new())? {
        Some(Datum::Scalar(bits, ty)) => Ok(fold::value(bits, ty)),
        _ => Err(Stop::Unknown("a result")),
    }
}

#[test]
fn programs_compute_what_the_compiler_makes_them_compute() {
    compare_with_compiler(include_str!("../../../testdata/lower/programs.c"), "gnu11");
}

#[test]
fn gnu_c_computes_what_the_compiler_makes_it_compute() {
    compare_with_compiler(include_str!("../../../testdata/lower/gnu.c"), "gnu2x");
}

/// What the function `f` of a text returns.
fn value_of_f(source: &str) -> i128 {
    let Program {
        functions, objects, ..
    } = program(source).expect("lowers");
    let mut machine = Machine::new(&functions, &objects, 10_000).expect("initialises");
    returned(&mut machine, "f").expect("returns")
}

#[test]
fn c23_that_compilers_are_still_learning_means_what_the_standard_says() {
    let source = "
        enum small : unsigned char { S0, S1 = 200 }; enum big : long { B = 1 };
        struct s { enum small a; enum small b : 4; enum big c; };
        constexpr int n = 3; static constexpr unsigned char wrapped = 255;
        int table[n] = { 1, 2, 3 };
        bool yes() { return true; }
        long f() {
            constexpr int m = n + 1; int local[m] = {}; auto x = 5L; const auto y = 2.5f; static auto z = 7;
            typeof_unqual(const volatile short) q = 1; volatile int v = 3; typeof_unqual(v) w = v;
            int *p = nullptr; switch (w) { case n: w = 10; }
            return sizeof(struct s) + 100 * sizeof table + 10000 * (sizeof local + sizeof x + sizeof y + z)
                + 1000000 * (S1 + wrapped + q + w) + (p == nullptr) + yes() + sizeof(S1);
        }";
    assert_eq!(value_of_f(source), 16 + 1200 + 350_000 + 466_000_000 + 3);
}

#[test]
fn what_was_lost_once_has_its_size() {
    for (source, value) in [
        // A flexible array has an alignment.
        (
            "struct s { char c; long d[]; }; int f() { struct s *p; return __alignof__(p->d); }",
            8,
        ),
        // A block names a type before it gives its members.
        (
            "int f() { typedef struct q q; struct q { int a, b; }; q x[2]; return sizeof x + sizeof(q); }",
            24,
        ),
        (
            "int f() { static char *const nullptr = 0; return !nullptr + sizeof(&nullptr); }",
            9,
        ),
        (
            "struct thread_local { int a[3]; }; int f() { struct thread_local x; return sizeof x; }",
            12,
        ),
        (
            "int f() { return sizeof(_BitInt(3)) + 10 * sizeof(unsigned _BitInt(17)) + 100 * sizeof(_BitInt(65)) + _Alignof(_BitInt(65)); }",
            1649,
        ),
        // Wider ones, and those whose width is computed, have at least their size.
        (
            "enum { N = 20 }; typedef unsigned _BitInt(200) w; struct s { char c; w x; _BitInt(N * 2) y; };
             int f() { w a = 1, b = a * 3; a += b; return sizeof(struct s) + _Alignof(w) * 100 + (a == b ? 0 : 0); }",
            848,
        ),
        (
            "typedef int v __attribute__((vector_size(16))); int f() { v x; return sizeof x + sizeof(_Complex double); }",
            32,
        ),
        (
            "int g(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); int x = __builtin_va_arg(l, int); __builtin_va_end(l); return sizeof x; } int f() { return g(1, 2); }",
            4,
        ),
    ] {
        assert_eq!(value_of_f(source), value, "{source}");
    }
}

#[test]
fn a_nested_function_costs_only_itself() {
    let text = dump(
        "int lock(int *); struct s { int inner; };
         int f(struct s *s, int n) {
           int inner(int k) { return k + n; }
           lock(&s->inner);
           return n ? inner(2) : 0;
         }",
    );
    assert!(text.contains("call lock(&s->inner)"), "{text}");
    assert!(text.contains("inner__nested_0(2)"), "{text}");
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
           return __builtin_constant_p(f) ? 1 : n;
         }",
    );
    assert_eq!(text, "b0:\nn = n + 1\nreturn n");
}

#[test]
fn whether_a_parameter_is_constant_depends_on_the_call() {
    let text = dump(
        "int f(int n, int *p) {
           int sum = n + 1;
           return __builtin_constant_p(n) + __builtin_constant_p(sum) + __builtin_constant_p(*p)
             + __builtin_constant_p(3) + __builtin_constant_p(p != 0);
         }",
    );
    assert_eq!(
        text,
        "local sum: i32\nb0:\nsum = n + 1\nreturn is_constant(n) + 1"
    );
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
           asm goto (\"jmp %l2\" : \"+r\" (n) : : \"memory\" : out);
           return n;
         out: return -1;
         }",
    );
    assert_eq!(
        text,
        "b0:\nexpose what is at &n\nhavoc &n, 4\ngoto any of b1, b2\nb1:\nreturn n\nb2:\nreturn -1"
    );
}

#[test]
fn where_asm_goes_that_changes_nothing_depends_on_its_inputs() {
    let text = dump(
        "int f(int *key) {
           asm goto (\"jmp %l[yes]\" : : \"i\" (key), \"i\" (2) : : yes);
           return 0;
         yes: return 1;
         }",
    );
    assert_eq!(
        text,
        "b0:\nif ⟦asm goto \"jmp %l[yes]\"'⟧(key, 2) goto b1 else b2\nb1:\nreturn 1\nb2:\nreturn 0"
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
fn a_store_at_address_0_ends_the_program_and_a_device_s_register_holds_anything() {
    let text = dump("int f(int n) { if (n) *(volatile int *)0 = 0; return 1; }");
    assert_eq!(
        text,
        "b0:\nif n goto b1 else b2\nb1:\nunreachable\nb2:\nreturn 1"
    );
    let text = dump("int f(void) { *(volatile char *)16 = 1; return *(volatile char *)16; }");
    assert_eq!(text, "b0:\nreturn (i32)unknown i8");
    let text = dump("unsigned long f(void) { return sizeof(*(int *)0 = 1); }");
    assert_eq!(text, "b0:\nreturn 4");
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
    let reason = last_function("int f(void) { goto nowhere; }").expect_err("no label");
    assert_eq!(reason.message, "label nowhere is not defined");
}

#[test]
fn what_a_missing_header_would_declare_is_guessed() {
    let text = dump(
        "struct dev; int lock(void *); int unlock(void *);
         int f(struct dev *dev, int cmd) {
           lock(&dev->mutex);
           switch (cmd) { case RESET_CMD: dev->ops->reset(dev); break; case 1: cmd = dev->queue[2].len; }
           unlock(&dev->mutex);
           return cmd;
         }",
    );
    assert!(text.contains("call lock(&dev->mutex)"), "{text}");
    assert!(text.contains("call unlock(&dev->mutex)"), "{text}");
    assert!(text.contains("goto any of"), "{text}");
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
    let Some(wrong) = compiled(&format!("{source}\n{main}\n"), "gnu11") else {
        return;
    };
    assert_eq!(wrong, "", "{machine_readable}");
    assert!(body.blocks[0].stmts.len() > 100);
}

#[test]
fn a_computed_goto_goes_to_any_label_whose_address_is_taken() {
    let text = dump(
        "int f(int n) {
           static const void *const to[] = { &&one, &&two };
           goto *to[n];
         one: n++;
         two: return n;
         three: return 0;
         }",
    );
    assert_eq!(
        text,
        "b0:\ngoto any of b1, b2\nb1:\nn = n + 1\ngoto b2\nb2:\nreturn n"
    );
}

#[test]
fn a_macros_own_label_is_the_nearest_of_its_name() {
    let text = dump(
        "int f(int n) {
           ({ __label__ out; if (n == 1) goto out; n += 10; out: n; });
           ({ __label__ out; if (n == 2) goto out; n += 20; out: n; });
           return n;
         }",
    );
    assert_eq!(
        text,
        "b0:\nif n == 1 goto b2 else b1\nb1:\nn = n + 10\ngoto b2\nb2:\n\
         if n == 2 goto b4 else b3\nb3:\nn = n + 20\ngoto b4\nb4:\nreturn n"
    );
}

#[test]
fn a_hint_about_a_branch_leaves_the_condition_as_it_is() {
    let text =
        dump("int f(int a, int b) { if (__builtin_expect(!!(a < b), 0)) return 1; return 0; }");
    assert!(text.starts_with("b0:\nif a < b goto"), "{text}");
}

#[test]
fn odd_but_legal_code_is_lowered() {
    let source = "
        typedef int v4 __attribute__((vector_size(16)));
        typedef union { int *i; long *l; } any __attribute__((transparent_union));
        int take(any p); struct s { int x : 3; struct { int y; }; } ;
        double _Complex cx(double _Complex a) { return a * a + 1.0i - __real__ a; }
        v4 vec(v4 a, v4 b, int i) { v4 c = a + b; c[i] = 1; return c > a ? c : -b; }
        int un(int *p) { return take(p); }
        long double wide(long double x, float y) { return x * y + 1.0L > 2 ? x : -y; }
        int attr(int n) { switch (n) { case 1: __attribute__((fallthrough)); case 2: n = 0; default: ; } return n; }
        int vararg(int n, ...) { __builtin_va_list ap; __builtin_va_start(ap, n); int x = __builtin_va_arg(ap, int);
          struct s y = __builtin_va_arg(ap, struct s); __builtin_va_end(ap); return x + y.x + y.y; }
        int dead(void) { return 1; again: goto again; }
        void forever(void) { for (;;) ; }
        void nothing(void) { while (0) { int x; x = 1; } do ; while (0); if (1) ; else { } }
        int undeclared(int n) { return missing_function(n, 1.5f) + MISSING_CONSTANT; }
        int unused_case(int n) { switch (n) n++; return n; }
        int sw(unsigned char c) { switch (c) { case 256: return 1; case 'a' ... 'z': return 2; case 'c': return 3; } return 0; }
        int *address(void) { static int cell; return &cell + 1 - 1; }
        int conditional_void(int n, void f(void)) { n ? f() : (void)0; return n ? n : ({ f(); 0; }); }
        int array_value(int n) { return (int[]){ 1, 2, 3 }[n] + \"abc\"[n] + ((struct s){ .y = n }).y; }
        _Noreturn void stop(void) { for (;;) __builtin_trap(); }
        int shadow(int shadow) { int *p = &shadow; { int shadow = *p; return shadow; } }
        int alloc(int n) { char *p = __builtin_alloca(n); p[0] = 1; return *p; }
        int label_last(int n) { if (n) goto end; n = 1; end: ; return n; }
        int comma(int n) { for (int i = 0, j = 9; i < j; i++, j--) n += i, n -= j; return n; }
        void (*signal(int n, void (*f)(int)))(int) { return f; }
        int proto(int (*f)(int a, int b[a]), int (*const g[2])(void)) { return f(1, 0) + g[1](); }
        int pointer_bool(int *p, _Bool *q) { *q = p; return !p == !*q; }
        int nest(int n) { while (n) { switch (n) { case 1: continue; case 2: break; default: goto out; } n--; } out: return n; }
        void volatile_store(volatile int *p) { *p; (void)*p; *p |= 1; (*p)++; }
        int bits(struct s *p) { p->x++; p->x = p->y, p->x ^= 1; return p->x--; }
        int empty_struct(void) { struct {} e = {}; return sizeof e; }
        unsigned long offsets(int i) { return __builtin_offsetof(struct { int a; char b[8]; }, b[i]); }
        int old() { return old(1, 2); }
        ";
    let bodies = program(source).expect("lowers").functions;
    assert_eq!(bodies.len(), 29);
    for body in &bodies {
        for block in &body.blocks {
            for next in block.term.successors() {
                assert!(next.index() < body.blocks.len(), "{}", print(body));
            }
        }
    }
}

#[test]
fn a_program_for_32_bits_runs_right() {
    let source = r#"
        struct node { char c; struct node *next; long long v; };
        static struct node a = {1, 0, 5}, b = {2, &a, 7};
        static int add(int n, ...)
        {
            __builtin_va_list list;
            __builtin_va_start(list, n);
            __builtin_va_end(list);
            return n;
        }
        static int (*table[2])(int, ...) = {add, 0};
        int main(void)
        {
            struct node *p = &b, *q[3];
            unsigned i = 1;
            char *s = "hello";
            void *error = (void *)-4095;
            q[0] = p;
            q[i] = p->next;
            q[i + 1] = 0;
            if (sizeof q != 12 || (char *)&q[1] - (char *)q != 4) return 1;
            if (q[1]->v != 5 || p->next->next) return 2;
            struct node copy = *p;
            if (copy.next != &a || copy.v != 7 || sizeof copy != 16) return 3;
            if ((unsigned long)error < 0xfffff001ul || (long)error != -4095) return 4;
            unsigned long number = (unsigned long)p;
            if (((struct node *)number)->v != 7) return 5;
            if (s[i] != 'e' || *(s + 4) != 'o' || s[i - 1] != 'h') return 6;
            if (table[0](9) != 9 || table[1]) return 7;
            i = -1;
            if (s[i + 1] != 'h' || *(s + 2 + i) != 'e') return 8;
            if (&q[2] - &q[0] != 2 || p + 1 - p != 1) return 9;
            return 0;
        }
    "#;
    let program = program_for(Model::I386, source).expect("lowers");
    let mut machine =
        Machine::new(&program.functions, &program.objects, 1000).expect("initialises");
    assert_eq!(machine.main(), Ok(0));
}
