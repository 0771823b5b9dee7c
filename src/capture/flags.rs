//! Which words of a compiler's command line are needed to preprocess, and which of those can do no harm.
//!
//! In: one flag. Out: its [`Class`]. A compile command is data of a tree that may come from anywhere, so the
//! flags that reach a compiler are listed: those of gcc and clang that define macros, find headers or choose
//! the language or the target. No listed flag names a program, a plugin, a file to be written, or a file
//! with more flags.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::command::{begins, has};

/// What becomes of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Preprocessing needs it, and it does no harm.
    Kept,
    /// Preprocessing does without.
    Left,
    /// Not known to do no harm: kept only of a tree that is trusted.
    Doubtful,
}

/// What a flag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub fate: Fate,
    /// Its value is the next word.
    pub takes_value: bool,
}

/// Flags whose value is the next word, or follows in the same word, and which preprocessing needs.
const KEPT_WITH_VALUE: &[&str] = &[
    "-D",
    "-U",
    "-I",
    "-include",
    "-imacros",
    "-iquote",
    "-isystem",
    "-idirafter",
    "-iprefix",
    "-iwithprefixbefore",
    "-iwithprefix",
    "-iwithsysroot",
    "-isysroot",
    "-imultilib",
    "-iframework",
    "-cxx-isystem",
];

/// Long flags whose value is the next word or follows a `=`, and which preprocessing needs.
const LONG_WITH_VALUE: &[&str] = &[
    "--sysroot",
    "--include",
    "--imacros",
    "--define-macro",
    "--undefine-macro",
    "--include-directory",
];

/// The same, of flags whose value is a name and never a path: clang looks for a configuration file by the
/// name of the target.
const NAME_WITH_VALUE: &[&str] = &["-arch", "-target", "--target"];

/// Flags whose value is the next word, and which may do harm: they name programs, plugins, or more flags.
const DOUBTFUL_WITH_VALUE: &[&str] = &[
    "-B",
    "-wrapper",
    "-Xclang",
    "-Xpreprocessor",
    "-include-pch",
    "-ivfsoverlay",
    "-isystem-after",
    "-imultiarch",
    "--config",
];

/// Flags whose value is the next word, and which preprocessing does without.
const LEFT_WITH_VALUE: &[&str] = &[
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-Xanalyzer",
    "-T",
    "-u",
    "-z",
    "-L",
    "-l",
    "-e",
    "-aux-info",
    "-dumpdir",
    "-dumpbase",
    "-dumpbase-ext",
    "--param",
    "-mllvm",
    "-framework",
    "-install_name",
    "-index-store-path",
    "-current_version",
    "-compatibility_version",
    "-A",
    "--output",
];

/// Flags without a value that preprocessing needs.
const KEPT: &[&str] = &[
    "-ansi",
    "-undef",
    "-trigraphs",
    "-traditional",
    "-traditional-cpp",
    "-remap",
    "-pthread",
    "-nostdinc",
    "-nostdinc++",
    "-nostdlib",
    "-nostdlibinc",
    "-nobuiltininc",
    "-ibuiltininc",
    "-EL",
    "-EB",
];

/// Beginnings of flags whose value follows in the same word, is a name, and is needed.
const KEPT_NAMES: &[&str] = &["-std=", "--std=", "--target=", "-target="];

/// Flags without a value that preprocessing does without.
const LEFT: &[&str] = &[
    "-c",
    "-S",
    "-E",
    "-P",
    "-C",
    "-CC",
    "-H",
    "-Q",
    "-p",
    "-pg",
    "-s",
    "-r",
    "-n",
    "-N",
    "-t",
    "-v",
    "-w",
    "-pipe",
    "-shared",
    "-static",
    "-pie",
    "-no-pie",
    "-static-pie",
    "-rdynamic",
    "-symbolic",
    "-dynamic",
    "-dynamiclib",
    "-bundle",
    "-nostartfiles",
    "-nodefaultlibs",
    "-nolibc",
    "-pass-exit-codes",
    "-no-canonical-prefixes",
    "-canonical-prefixes",
    "-no-integrated-cpp",
    "-no-integrated-as",
    "-integrated-as",
    "-Qunused-arguments",
    "-Qn",
    "-Qy",
    "-time",
    "-ObjC",
    "-###",
    "--coverage",
    "--compile",
    "--assemble",
    "--preprocess",
    "--verbose",
    "--static",
    "--shared",
    "--pipe",
    "--save-temps",
    "--no-warnings",
    "--debug",
    "--optimize",
    "--pedantic",
    "--pedantic-errors",
    "--all-warnings",
    "--extra-warnings",
    "--profile",
];

/// Beginnings of flags that preprocessing does without: warnings, debugging, dependency files, linking,
/// compiler passes, dumps; those that would change the shape of the text, write files or need some that
/// may not be there.
const LEFT_BEGINNINGS: &[&str] = &[
    "-W",
    "-g",
    "-M",
    "-d",
    "-l",
    "-L",
    "-o",
    "-T",
    "-z",
    "-u",
    "-A",
    "-R",
    "-pedantic",
    "-save-temps",
    "-static-lib",
    "-shared-lib",
    "-stdlib=",
    "-rtlib=",
    "-unwindlib=",
    "-mllvm",
    "-resource-dir",
    "--param=",
    "--warn-",
    "--gcc-toolchain=",
    "--gcc-install-dir=",
    "--ld-path=",
    "--rtlib=",
    "--unwindlib=",
    "--dyld-prefix=",
    "--print-",
    "-print-",
    "--serialize-diagnostics",
    "--analyze",
    "-fplugin-arg-",
    "-fdump",
    "-fdiagnostics",
    "-fmessage-length",
    "-fmax-errors",
    "-ferror-limit",
    "-fprofile",
    "-fno-profile",
    "-fauto-profile",
    "-fcs-profile",
    "-fbranch-probabilities",
    "-ftest-coverage",
    "-fcolor",
    "-fno-color",
    "-fno-caret",
    "-fansi-escape",
    "-fno-diagnostics",
    "-fshow-",
    "-fno-show-",
    "-fspell",
    "-fno-spell",
    "-fpch",
    "-fno-pch",
    "-fdirectives-only",
    "-fpreprocessed",
    "-fmodule",
    "-fno-module",
    "-fimplicit-module",
    "-fno-implicit-module",
    "-fprebuilt",
    "-fsave",
    "-fno-save",
    "-frandom-seed",
    "-ftrack-macro",
    "-fworking-directory",
    "-fno-working-directory",
    "-flto",
    "-fno-lto",
    "-fthin",
    "-fsplit-dwarf",
    "-fdebug",
    "-fno-debug",
    "-fsyntax-only",
    "-fverbose-asm",
    "-fno-verbose-asm",
    "-fuse-ld",
    "-fcallgraph",
    "-foffload",
    "-fno-offload",
    "-fopenmp-targets",
    "-fcoverage",
    "-fno-coverage",
    "-fcrash",
    "-fno-crash",
    "-fstack-usage",
    "-fno-stack-usage",
    "-fanalyzer",
    "-fno-analyzer",
    "-fopt-info",
    "-foptimization-record",
    "-fcompare-debug",
    "-fchecking",
    "-fno-checking",
    "-fbuild-session",
    "-fbasic-block",
    "-fxray",
    "-fno-xray",
    "-ftime-",
    "-fmem-report",
    "-fmemory-profile",
    "-fno-memory-profile",
    "-freport-bug",
    "-fsanitize-blacklist",
    "-fsanitize-ignorelist",
    "-fno-sanitize-blacklist",
    "-fno-sanitize-ignorelist",
    "-fsanitize-system",
    "-fsanitize-coverage",
    "-fno-sanitize-coverage",
    "-fsanitize-undefined-strip",
    "-finstrument-functions-exclude",
    "-fpatchable-function-entry-section",
    "-fembed",
    "-fobjc",
    "-fno-objc",
    "-fc++",
    "-fcuda",
    "-fgpu",
    "-fconcepts",
    "-fcontracts",
    "-ftemplate-",
    "-fconstexpr-",
    "-fpermissive",
    "-ffat-lto",
    "-fno-fat-lto",
    "-fira-verbose",
    "-fsched-verbose",
    "-ftree-vectorizer-verbose",
];

/// What follows `-f` or `-fno-` in the flags that are kept, without a `=` and a value. All that gcc 12 and
/// clang 14 have and that [`LEFT_BEGINNINGS`] does not hold, and some of later versions. Few define
/// macros, but which do differs from version to version.
const FEATURES: &str = "\
    PIC PIE aapcs-bitfield-load aapcs-bitfield-width abi-version access-control addrsig \
    aggressive-loop-optimizations aligned-allocation allocation-dce allow-parameterless-variadic-functions \
    allow-store-data-races altivec-src-compat apple-kext apple-link-rtlib apple-pragma-pack \
    application-extension approx-func argument-alias argument-noalias argument-noalias-anything \
    argument-noalias-global asan-shadow-offset asm associative-math assume-sane-operator-new \
    async-exceptions asynchronous-unwind-tables auto-inc-dec bit-tests blocks borland-extensions \
    branch-count-reg branch-target-load-optimize branch-target-load-optimize2 btr-bb-exclusive \
    building-libgcc builtin caller-saves canonical-system-headers cf-protection char8_t check-data-deps check-new \
    check-pointer-bounds clang-abi-compat code-hoisting combine-stack-adjustments common compare-elim \
    complete-member-pointers cond-mismatch conserve-stack constant-cfstrings convergent-functions \
    coroutines-ts cprop-registers crossjumping cse-follow-jumps cse-skip-blocks cx-fortran-rules \
    cx-limited-range data-sections dce declspec defer-pop delayed-branch delayed-template-parsing \
    delete-dead-exceptions delete-null-pointer-checks devirtualize devirtualize-at-ltrans \
    devirtualize-speculatively digraphs direct-access-external-data discard-value-names \
    dollars-in-identifiers double-square-bracket-attributes dse dwarf-exceptions dwarf2-cfi-asm \
    early-inlining elide-constructors elide-type eliminate-dwarf2-dups eliminate-unused-debug-symbols \
    eliminate-unused-debug-types embed-bitcode emit-all-decls emit-class-debug-always \
    emit-struct-debug-baseonly emit-struct-debug-detailed emit-struct-debug-reduced emulated-tls exceptions \
    excess-precision exec-charset expensive-optimizations ext-numeric-literals extend-arguments \
    extended-identifiers fast-math fat-lto-objects file-prefix-map fine-grained-bitfield-accesses \
    finite-loops finite-math-only float-store fold-mem-offsets fold-simple-inlines force-addr \
    force-dwarf-frame force-emit-vtables force-enable-int128 forward-propagate fp-contract \
    fp-exception-behavior fp-int-builtin-inexact fp-model freestanding function-cse function-sections gcse \
    gcse-after-reload gcse-las gcse-lm gcse-sm global-isel gnat-encodings gnu-inline-asm gnu-keywords gnu-tm \
    gnu-unique gnu89-inline gnuc-version graphite graphite-identity guess-branch-probability \
    handle-exceptions hardened hoist-adjacent-loads hosted ident if-conversion if-conversion2 \
    ignore-exceptions indirect-inlining inhibit-size-directive inline inline-atomics inline-functions \
    inline-functions-called-once inline-hint-functions inline-limit inline-small-functions inline-stringops \
    input-charset instrument-function-entry-bare instrument-functions instrument-functions-after-inlining \
    integrated-as integrated-cc1 isolate-erroneous-paths-attribute isolate-erroneous-paths-dereference \
    ivopts jump-tables keep-gc-roots-live keep-inline-functions keep-static-consts keep-static-functions \
    large-source-files lax-vector-conversions leading-underscore lifetime-dse limit-function-alignment \
    live-patching live-range-shrinkage lra-remat macro-prefix-map math-errno max-include-depth \
    max-type-align merge-all-constants merge-constants merge-debug-strings min-function-alignment \
    modulo-sched modulo-sched-allow-regmoves move-loop-invariants move-loop-stores ms-compatibility \
    ms-compatibility-version ms-extensions ms-hotpatch msc-version new-alignment new-infallible \
    non-call-exceptions nothrow-opt omit-frame-pointer openacc openacc-dim openmp openmp-enable-irbuilder \
    openmp-extensions openmp-implicit-rpath openmp-new-driver openmp-simd openmp-target-debug \
    openmp-target-new-runtime openmp-version operator-names optimize-register-move optimize-sibling-calls \
    optimize-strlen pack-struct partial-inlining pascal-strings patchable-function-entry pcc-struct-return \
    peel-loops peephole peephole2 permitted-flt-eval-methods pic pie plan9-extensions plt pointer-tbaa \
    predictive-commoning prefetch-loop-arrays printf-return-value protect-parens pseudo-probe-for-profiling \
    reciprocal-math record-gcc-switches ree reg-struct-return register-global-dtors-with-atexit regmove \
    relaxed-template-template-args rename-registers reorder-blocks reorder-blocks-algorithm \
    reorder-blocks-and-partition reorder-functions reroll-loops rerun-cse-after-loop rerun-loop-opt \
    reschedule-modulo-scheduled-loops ropi rounding-math rtti rtti-data rwpi sanitize schedule-fusion schedule-insns \
    schedule-insns2 section-anchors see seh-exceptions sel-sched-pipelining sel-sched-pipelining-outer-loops \
    sel-sched-reschedule-pipelined selective-scheduling selective-scheduling2 semantic-interposition \
    short-enums short-wchar shrink-wrap shrink-wrap-separate signaling-nans signed-bitfields signed-char \
    signed-zeros simd-cost-model single-precision-constant sized-deallocation sjlj-exceptions slp-vectorize \
    split-dwarf-inlining split-ivs-in-unroller split-loops split-lto-unit split-machine-functions \
    split-paths split-stack split-wide-types split-wide-types-early ssa-backprop ssa-phiopt sso-struct \
    stack-check stack-clash-protection stack-limit stack-limit-register stack-limit-symbol stack-reuse \
    stack-size-section standalone-debug stdarg-opt store-merging strength-reduce strict-aliasing \
    strict-enums strict-flex-arrays strict-float-cast-overflow strict-overflow strict-return \
    strict-volatile-bitfields strict-vtable-pointers sync-libcalls tabstop thread-jumps threadsafe-statics \
    tls-model toplevel-reorder tracer trampolines trap-function trapping-math trapv trapv-handler trigraphs \
    trivial-auto-var-init trivial-auto-var-init-stop-after unconstrained-commons \
    unique-basic-block-section-names unique-internal-linkage-names unique-section-names unit-at-a-time \
    unroll-all-loops unroll-completely-grow-size unroll-loops unsafe-loop-optimizations \
    unsafe-math-optimizations unsigned-bitfields unsigned-char unswitch-loops unwind-tables use-cxa-atexit \
    use-init-array use-linker-plugin var-tracking var-tracking-assignments var-tracking-assignments-toggle \
    var-tracking-uninit variable-expansion-in-unroller veclib vect-cost-model vectorize \
    virtual-function-elimination visibility visibility-dllexport visibility-externs-dllimport \
    visibility-externs-nodllstorageclass visibility-from-dllstorageclass visibility-global-new-delete-hidden \
    visibility-inlines-hidden visibility-inlines-hidden-static-local-var visibility-ms-compat \
    visibility-nodllstorageclass vpt wasm-exceptions web whole-program whole-program-vtables \
    wide-exec-charset wrapv wrapv-pointer writable-strings xl-pragma-pack zee zero-call-used-regs \
    zero-init-padding-bits zero-initialized-in-bss zvector";

static LISTED: LazyLock<FxHashSet<&[u8]>> = LazyLock::new(|| {
    FEATURES
        .split_ascii_whitespace()
        .map(str::as_bytes)
        .collect()
});

/// Beginnings of more such.
const FEATURE_FAMILIES: &[&str] = &[
    "builtin-",
    "sanitize-",
    "tree-",
    "ipa-",
    "ira-",
    "sched-",
    "sched2-",
    "call-saved-",
    "call-used-",
    "fixed-",
    "align-",
    "stack-protector",
    "inline-limit-",
    "loop-",
    "harden-",
];

/// Beginnings of `-m` flags that are not for the target.
const NOT_OF_TARGET: &[&str] = &["-mdump", "-mlink-", "-mmlir", "-mllvm"];

pub(super) fn class(flag: &[u8]) -> Class {
    let class = |fate, takes_value| Class { fate, takes_value };
    if takes_value(flag) {
        let kept = [KEPT_WITH_VALUE, LONG_WITH_VALUE, NAME_WITH_VALUE];
        if kept.iter().any(|list| has(list, flag)) {
            class(Fate::Kept, true)
        } else if has(DOUBTFUL_WITH_VALUE, flag) {
            class(Fate::Doubtful, true)
        } else {
            class(Fate::Left, true)
        }
    } else {
        class(alone(flag), false)
    }
}

/// What becomes of a flag that is one word.
fn alone(flag: &[u8]) -> Fate {
    let mut named = KEPT_NAMES.iter();
    if let Some(value) = named.find_map(|start| flag.strip_prefix(start.as_bytes())) {
        return kept_if(is_name(value));
    }
    if begins(DOUBTFUL_WITH_VALUE, flag) {
        return Fate::Doubtful;
    }
    let is_long = |long: &&str| {
        let rest = flag.strip_prefix(long.as_bytes());
        rest.is_some_and(|value| value.starts_with(b"="))
    };
    if has(KEPT, flag) || begins(KEPT_WITH_VALUE, flag) || LONG_WITH_VALUE.iter().any(is_long) {
        return Fate::Kept;
    }
    if has(LEFT, flag) || begins(LEFT_BEGINNINGS, flag) {
        return Fate::Left;
    }
    match flag {
        [b'-', b'O', level @ ..] => kept_if(level.iter().all(u8::is_ascii_alphanumeric)),
        // A target has flags of its own, which name no files.
        [b'-', b'm', ..] => kept_if(is_name(&flag[2..]) && !begins(NOT_OF_TARGET, flag)),
        [b'-', b'f', feature @ ..] => kept_if(is_feature(feature)),
        _ => Fate::Doubtful,
    }
}

fn kept_if(harmless: bool) -> Fate {
    match harmless {
        true => Fate::Kept,
        false => Fate::Doubtful,
    }
}

/// Whether what follows `-f` is listed.
fn is_feature(feature: &[u8]) -> bool {
    // Two prefixes of paths, of which only the text changes.
    if begins(&["file-prefix-map=", "macro-prefix-map="], feature) {
        return true;
    }
    let feature = feature.strip_prefix(b"no-").unwrap_or(feature);
    let equals = feature.iter().position(|&byte| byte == b'=');
    let (name, value) = feature.split_at(equals.unwrap_or(feature.len()));
    let listed = LISTED.contains(name);
    (listed || begins(FEATURE_FAMILIES, name)) && is_name(name) && is_name(value)
}

/// No path, so that whatever looks for a file of this name looks where the compiler was installed.
pub(super) fn is_name(value: &[u8]) -> bool {
    value
        .iter()
        .all(|&byte| byte.is_ascii_alphanumeric() || b"_.,:;+=-".contains(&byte))
}

/// Whether the value of a flag, as the next word, is what the flag would have. Another word may be taken
/// for a flag by a compiler that does not know this one, and a response file is looked for everywhere.
pub(super) fn is_value(flag: &[u8], value: &[u8]) -> bool {
    !value.starts_with(b"-")
        && !value.starts_with(b"@")
        && (!has(NAME_WITH_VALUE, flag) || is_name(value))
}

/// Whether the next word is this flag's value.
pub(in crate::capture) fn takes_value(flag: &[u8]) -> bool {
    flag == b"-x"
        || [
            KEPT_WITH_VALUE,
            LONG_WITH_VALUE,
            NAME_WITH_VALUE,
            DOUBTFUL_WITH_VALUE,
            LEFT_WITH_VALUE,
        ]
        .iter()
        .any(|list| has(list, flag))
}

/// Whether a doubtful flag is kept of a tree that is trusted.
pub(super) fn bears_on_preprocessing(flag: &[u8]) -> bool {
    begins(
        &[
            "-B",
            "-Xpreprocessor",
            "-specs",
            "--specs",
            "-f",
            "-i",
            "-m",
            "-std",
            "--std",
            "-target",
            "--target",
            "-O",
        ],
        flag,
    ) && !begins(
        &["-fplugin", "-fpass-plugin", "-include-pch", "-mllvm"],
        flag,
    )
}

/// A doubtful flag without what differs from command to command, for people.
pub(super) fn shown(flag: &[u8]) -> String {
    let known = DOUBTFUL_WITH_VALUE
        .iter()
        .find(|known| flag.starts_with(known.as_bytes()));
    let end = flag.iter().position(|&byte| byte == b'=');
    let name = match known {
        Some(known) => known.as_bytes(),
        None => &flag[..end.unwrap_or(flag.len())],
    };
    String::from_utf8_lossy(name).into_owned()
}
