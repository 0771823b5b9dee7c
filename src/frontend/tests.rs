//! Whole units: what parses, what normalised text looks like; [`pieces`]: what splits; [`hostile`]: what is refused.

mod hostile;
mod pieces;

use super::dialect::Dialect;
use super::model::Model;
use super::outline::Form;
use super::scope::{DeclId, Scope, TagKind, UnitScope};
use super::share::Share;
use super::split::{Pieces, SourceFile, Tree, split};

struct OneTree;

impl Tree for OneTree {
    fn file(&self, marker: &str) -> SourceFile {
        SourceFile {
            name: marker.to_owned(),
            own: !marker.starts_with('/'),
        }
    }
}

fn pieces(text: &str) -> Pieces<'static> {
    split(text.as_bytes(), "main.c", &OneTree)
}

/// The texts that a unit splits into.
fn parts(text: &str) -> Vec<&str> {
    pieces(text)
        .pieces
        .iter()
        .map(|piece| &text[piece.start as usize..piece.end as usize])
        .collect()
}

fn with_scope<T>(text: &[u8], run: impl FnOnce(&UnitScope<'_>) -> T) -> T {
    let share = Share::new();
    let scope = UnitScope::new(&share, text, split(text, "main.c", &OneTree));
    run(&scope)
}

/// Parses everything in the unit, function definitions also as prototypes; the reasons of what fails.
fn failures(text: &[u8]) -> Vec<String> {
    with_scope(text, |scope| {
        let mut failures: Vec<String> = scope
            .pieces()
            .losses
            .iter()
            .map(|loss| loss.2.message.clone())
            .collect();
        for id in scope.ids() {
            let form = scope.outline(id).map(|outline| outline.form);
            if form == Some(Form::Inert) {
                continue;
            }
            if let Err(reason) = scope.declaration(id) {
                failures.push(reason.message);
            }
            if form == Some(Form::Function)
                && let Err(reason) = scope.definition(id)
            {
                failures.push(reason.message);
            }
        }
        failures
    })
}

#[track_caller]
fn parses(text: &str) {
    assert_eq!(failures(text.as_bytes()), Vec::<String>::new(), "{text}");
}

/// The text that the parser reads for the last declaration of the unit.
fn rewritten(text: &str) -> String {
    with_scope(text.as_bytes(), |scope| {
        let last = scope.ids().last().expect("a declaration");
        let normalised = scope.normalised(last).expect("normalises");
        normalised.text.trim_end().to_owned()
    })
}

#[track_caller]
fn rewrites(text: &str, expected: &str) {
    parses(text);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&rewritten(text)), words(expected));
}

#[test]
fn gnu_expressions() {
    rewrites("int x = a ?: b;", "int x = a ? __cassini_elvis : b ;");
    rewrites(
        "int f(void) { void *p = &&out; goto *p; out: ; }",
        "int f ( void ) { void * p = __cassini_label ( \"out\" ) ; __cassini_goto ( p ) ; out : ; }",
    );
    rewrites(
        "int f(void) { return a && b && (c) && d; }",
        "int f ( void ) { return a && b && ( c ) && d ; }",
    );
    rewrites(
        "int x = __builtin_types_compatible_p(struct { int a; }, typeof(y) *);",
        "int x = __cassini_types_compatible ( sizeof ( struct { int a ; } ) , sizeof ( __typeof ( y ) * ) ) ;",
    );
    rewrites(
        "int x = __alignof__(int) + __alignof__(y) + __alignof__ y[1].z + 1;",
        "int x = _Alignof ( int ) + __cassini_alignof ( ( y ) ) + __cassini_alignof ( y [ 1 ] . z ) + 1 ;",
    );
    rewrites(
        "int x = __real__ z.c + 1;",
        "int x = __cassini_real ( z . c ) + 1 ;",
    );
    parses("int x = sizeof (int[]){1, 2}; int y = ({ int a = 1; a; });");
}

#[test]
fn gnu_types() {
    rewrites("unsigned __int128 a;", "__cassini_uint128 a ;");
    rewrites(
        "static const __int128 unsigned a;",
        "static const __cassini_uint128 a ;",
    );
    rewrites("__int128 a;", "__cassini_int128 a ;");
    rewrites("unsigned _BitInt(7) a;", "unsigned char a ;");
    rewrites("_BitInt(33) a;", "long long a ;");
    rewrites(
        "void f(void) { __auto_type x = 1; }",
        "void f ( void ) { __cassini_auto x = 1 ; }",
    );
    rewrites(
        "void f(void) { auto x = 1; auto int y; }",
        "void f ( void ) { __cassini_auto x = 1 ; auto int y ; }",
    );
    rewrites(
        "typedef int T; extern typeof(T[3]) x;",
        "extern __typeof ( T [ 3 ] ) x ;",
    );
    parses("_Float16 a; __float128 b; __bf16 c; _Complex double d; __thread int e;");
    parses("typedef int T; T (*f)(T T, int); void g(T T) { T = 1; }");
}

#[test]
fn asm() {
    rewrites(
        "void f(void) { if (x) asm goto(\"jmp %l0\" : : \"r\"(x) : \"memory\" : out, in); else y(); out: in: ; }",
        "void f ( void ) { if ( x ) { __asm__ volatile ( \"jmp %l0\" : : \"r\" ( x ) ) ; \
         if ( __cassini_nondet ) goto out ; if ( __cassini_nondet ) goto in ; } else y ( ) ; out : in : ; }",
    );
    rewrites(
        "void f(void) { __asm__ __volatile__(\"\" : [o] \"=r\"(x), \"+m\"(y) :: \"cc\"); }",
        "void f ( void ) { __asm__ volatile ( \"\" : [ o ] \"=r\" ( x ) , \"+m\" ( y ) : ) ; }",
    );
    parses(
        "int f(void) asm(\"g\"); void h(void) { register int x asm(\"rax\") = 1; asm(\"nop\"); }",
    );
    parses("asm(\".globl x\"); int y;");
}

#[test]
fn initialisers() {
    rewrites(
        "struct s a = { .x = {}, y: 1, [2] 3, [4 ... 5] = 6 };",
        "struct s a = { . x = { __cassini_empty } , y : 1 , [ 2 ] 3 , [ 4 ... 5 ] = 6 } ;",
    );
    rewrites(
        "void f(void) { struct s a = {}, *b = &(struct s){}; while (1) {} if (a) {} else {} }",
        "void f ( void ) { struct s a = { __cassini_empty } , * b = & ( struct s ) { __cassini_empty } ; \
         while ( 1 ) { } if ( a ) { } else { } }",
    );
    parses("struct s {}; struct t { ; int a;; struct {}; };");
}

#[test]
fn attributes_that_matter_stay_where_they_are_read() {
    rewrites(
        "struct __attribute__((__packed__, deprecated)) s { int a __attribute__((aligned(sizeof(long)))); };",
        "struct s { int a __attribute__(( aligned ( sizeof ( long ) ) )) ; } __attribute__(( packed )) ;",
    );
    rewrites(
        "struct s { int a; } __attribute__((packed)) x;",
        "struct s { int a ; } __attribute__(( packed )) x ;",
    );
    rewrites(
        "static void __attribute__((cold)) __attribute__((__noreturn__)) f(void) { }",
        "static void __attribute__(( noreturn )) f ( void ) { }",
    );
    rewrites(
        "[[noreturn]] void f(void);",
        "__attribute__(( noreturn )) void f ( void ) ;",
    );
    rewrites(
        "void f(void) { g_t x __attribute__((cleanup(done))) = g(); }"
            .replace("g_t", "int")
            .as_str(),
        "void f ( void ) { int x __attribute__(( cleanup ( done ) )) = g ( ) ; }",
    );
    rewrites(
        "void f(void) { switch (x) { case 1: __attribute__((fallthrough)); case 2 ... 3: default: } }",
        "void f ( void ) { switch ( x ) { case 1 : ; case 2 ... 3 : default : ; } }",
    );
    rewrites(
        "void f(int x) __attribute__((nonnull(1)));",
        "void f ( int x ) __attribute__(( nonnull ( 1 ) )) ;",
    );
    rewrites(
        "__declspec(dllexport) int __cdecl f(void);",
        "int f ( void ) ;",
    );
    rewrites(
        "#pragma pack(push, 1)\nstruct s { char c; int i; };\n#pragma pack(pop)\n",
        "struct s { char c ; int i ; } __attribute__(( __cassini_pack(1) )) ;",
    );
}

#[test]
fn local_labels_are_told_apart() {
    rewrites(
        "void f(void) { { __label__ l; goto l; l: ; } ({ __label__ l; void *p = &&l; l: ; }); l: goto l; }",
        "void f ( void ) { { goto l__0 ; l__0 : ; } ( { void * p = __cassini_label ( \"l__1\" ) ; l__1 : ; } ) ; \
         l : goto l ; }",
    );
}

#[test]
fn types_and_macros_of_missing_headers_are_guessed() {
    parses(
        "static GtkWidget *make(const GString *s, guint n, GError **error) { GList *l; guint i = 0; \
        for (l = s->list; l; l = l->next) i += (guint) n * sizeof(GList *); return (GtkWidget *) l; }",
    );
    parses(
        "int API f(void); API void g(void) { } static int __init h(void __user *p) { return 0; }",
    );
    parses("void f(struct list *l) { list_for_each(p, l) { use(p); } for_all(x) if (x) use(x); }");
    rewrites(
        "void f(void) { each (x) { g(x); } }",
        "void f ( void ) { while ( each ( x ) ) { g ( x ) ; } }",
    );
    parses("void f(GtkMenu *menu UNUSED, gint *x, gboolean y UNUSED) { g(menu, x, y); }");
    parses("struct s { PyObject_HEAD dict_T *dict; int x MARK; }; typedef int dict_T;");
    parses("typedef int dict_T; struct s { PyObject_HEAD dict_T *dict; int x MARK; };");
    parses("LRESULT CALLBACK run(HWND w, int n) { return n; } int g(void) MARK(1, 2);");
    parses("extern int accept(int, struct a *, SOCKET_SIZE, T *); int f PROTO((int a, char *b));");
    parses("typedef BOOL (WINAPI *call)(int); typedef T *(*next)(void **);");
    parses("void f(void) { g(ROOT \"/a\" DIR(1) \"b\"); }");
    parses("int f(int n MARK, HWND w __attribute__((unused)));");
    parses("int run(Obj *CONST v[], int n) { BEGIN if (n) v = (T)(void *)0; lock(); END }");
    parses(
        "void f(int n) { struct s *p = new(struct s, n); p = renew(unsigned long *, p, n); g(n, int); }",
    );
    parses(
        "int PRINTF(1, 2) log(const char *s, ...); static __thread Poll *all; API(1) static int h(void);",
    );
    parses(
        "void f(void) { AUTO(Guard) guard UNUSED = lock(); AUTO(T) t; use(t); for (AUTO(T) u = 0; u;) ; }",
    );
    parses(
        "typedef int T; HINT(nonnull) T *f(T *p) { return p; } static HINT(1) Z x; HINT(2) U g(void);",
    );
    parses("int HINT(1) f(int n) { return n; } int HINT(pure) g(void);");
    parses("int log(char *s, ...) MARK(1, 2); int run(void) { return log(0); }");
    // A table keeps what it has.
    parses("struct d t[] = { { (fn_T) run, FLAG }, { (fn_T) go, ALSO } };");
    // A statement that would be a product is a declaration, but for the product of variables.
    types_are(
        "void f(void) { FILE *in; FILE **all = 0; use(in, all); }",
        &["FILE"],
    );
    types_are(
        "void f(int a, int *b) { int c; a * c; b * c; d * c; d = 1; }",
        &[],
    );
    // What is no C stays lost.
    assert_eq!(
        failures(b"int f(void) { return 1 +; }"),
        ["syntax error before `;`"]
    );
}

fn types_are(text: &str, expected: &[&str]) {
    parses(text);
    with_scope(text.as_bytes(), |scope| {
        let normalised = scope.normalised(DeclId(0)).expect("normalises");
        assert_eq!(normalised.types, expected);
    });
}

#[test]
fn parameters_hide_typedef_names() {
    let text = "typedef int len; typedef char u8; int f(u8 *p, int len) { p[0] = (len) * 2; return (len) + 1; }";
    parses(text);
    with_scope(text.as_bytes(), |scope| {
        let normalised = scope.normalised(DeclId(2)).expect("normalises");
        assert_eq!(normalised.types, ["u8"]);
    });
    parses("typedef int T; int f(T T, int x) { return T + x; }");
}

#[test]
fn macro_calls_left_before_a_definition_are_passed_over() {
    let text = "G_DEFINE(A, b)\nX(\"(\")\n  static int f(void) { return 0; }\nint main(a) int a; { return a; }";
    assert_eq!(
        parts(text),
        [
            "static int f(void) { return 0; }",
            "int main(a) int a; { return a; }"
        ]
    );
    let piece = pieces(text).pieces[0];
    assert_eq!((piece.line, piece.column), (3, 3));
    parses(text);
}

#[test]
fn names_with_letters_beyond_ascii() {
    with_scope("int größe; int a$b;".as_bytes(), |scope| {
        assert!(scope.ordinary("größe").is_some());
        assert!(
            scope
                .ordinary(&super::normalise::identifier("größe".as_bytes()))
                .is_some()
        );
        assert!(scope.ordinary("a_x24b").is_some());
    });
    parses("int größe = 1; int f(void) { return größe; }");
}

#[test]
fn c23() {
    rewrites(
        "constexpr int a = 1;",
        "const __attribute__((__cassini_constexpr)) int a = 1 ;",
    );
    rewrites(
        "bool f(bool a, int n) { return a ? true : nullptr; }",
        "_Bool f ( _Bool a , int n ) { return a ? true : ( ( void * ) 0 ) ; }",
    );
    rewrites(
        "void f(void) { l: int x = 0; static_assert(1); m: }",
        "void f ( void ) { l : ; int x = 0 ; ; m : ; }",
    );
    rewrites(
        "enum e : unsigned char { A, B };",
        "enum e { A , B } __attribute__((__cassini_underlying(sizeof( unsigned char )))) ;",
    );
    rewrites("int f(...);", "int f ( ) ;");
    parses("void f(void) { alignas(16) thread_local static int x; typeof_unqual(x) y = 0b101; }");
    rewrites(
        "struct s { _Alignas(8) _Alignas(long) char c; };",
        "struct s { __attribute__((aligned( ( 8 ) ))) __attribute__((aligned( _Alignof ( long ) ))) char c ; } ;",
    );
    parses("[[nodiscard(\"x\")]] int f(void); struct [[gnu::packed]] s { int a; };");
    parses("typedef _Bool bool; bool g(bool x) { bool y = x; return y; }");
}

#[test]
fn kept_meanings_of_ordinary_c() {
    rewrites(
        "int f(int c) { return c ? 1 : 2; }",
        "int f ( int c ) { return c ? 1 : 2 ; }",
    );
    rewrites("int x<:2:> = <% 1, 2 %>;", "int x [ 2 ] = { 1 , 2 } ;");
    rewrites(
        "void f(void) { __label__ l; __extension__ int x; l: x = __extension__ 1; }",
        "void f ( void ) { int x ; l__0 : x = 1 ; }",
    );
    rewrites(
        "struct s { int x; _Static_assert(1, \"\"); };",
        "struct s { int x ; } ;",
    );
    parses("char *s = \"\\e[0m\" \"\\u00e9\" \"\\%\"; int c = '\\e'; int d = L'x'; int g$h;");
    parses("int f(int n, int a[static n][*]); void g(int a[const]); _Noreturn void h(void);");
    parses(
        "int v = _Generic(x, int: 1, default: 2); int o = __builtin_offsetof(struct s, a[1].b);",
    );
    parses(
        "void f(__builtin_va_list ap) { int x = __builtin_va_arg(ap, int); for (int i = 0; ; ) { do x++; while (0); } }",
    );
}

#[test]
fn nested_functions_are_declared_under_names_of_their_own() {
    rewrites(
        "int f(void) { int g(int x) { return x; } { g(1); } return s.g; }",
        "int f ( void ) { int g__nested_0 ( int x ) ; { g__nested_0 ( 1 ) ; } return s . g ; }",
    );
}

#[test]
fn a_keyword_of_c23_can_be_a_tag() {
    parses(
        "struct thread_local { int x; }; static struct thread_local *f(struct thread_local y) { return &y; }",
    );
    rewrites("struct thread_local *x;", "struct thread_local * x ;");
    with_scope(b"struct thread_local { int x; };", |scope| {
        assert!(scope.tag(TagKind::Struct, "thread_local").is_some());
    });
}

/// A tree whose units are compiled in a dialect.
struct In(Dialect);

impl Tree for In {
    fn file(&self, marker: &str) -> SourceFile {
        OneTree.file(marker)
    }

    fn dialect(&self) -> Dialect {
        self.0
    }
}

#[test]
fn a_dialect_is_written_out() {
    let tree = In(Dialect {
        model: Model {
            unsigned_char: true,
            short_enums: true,
            ..Model::I386
        },
        packed: true,
    });
    let share = Share::new();
    for (text, expected) in [
        (
            "char c, f(const char *, signed char, char unsigned);",
            "unsigned char c , f ( const unsigned char * , signed char , char unsigned ) ;",
        ),
        ("enum e { A } x; enum e y;", "enum e y ;"),
        (
            "typedef enum { A } e;",
            "typedef enum { A } __attribute__(( packed )) e ;",
        ),
        (
            "typedef struct { char c; } r;",
            "typedef struct { unsigned char c ; } __attribute__(( packed )) r ;",
        ),
        (
            "int x = _Alignof(long long) + __alignof__(long long) + __alignof__(y);",
            "int x = __cassini_least_alignof ( sizeof ( long long ) ) + _Alignof ( long long ) + __cassini_alignof ( ( y ) ) ;",
        ),
    ] {
        let scope = UnitScope::new(
            &share,
            text.as_bytes(),
            split(text.as_bytes(), "main.c", &tree),
        );
        let last = scope.ids().last().expect("a declaration");
        let normalised = scope.normalised(last).expect("normalises");
        assert_eq!(normalised.text.trim_end(), expected);
    }
    let raw = |tree: &dyn Tree| split(b"char c;", "main.c", tree).pieces[0].raw;
    assert_ne!(raw(&tree), raw(&OneTree), "not shared between dialects");
}
