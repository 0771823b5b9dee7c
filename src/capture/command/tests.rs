//! Command lines of real builds, and hostile ones.

use super::*;

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn parsed(line: &str) -> Parsed {
    parse(words(line), Path::new("/w"), Path::new("a.c"), false).unwrap()
}

#[test]
fn keeps_what_preprocessing_needs_and_drops_the_rest() {
    let parsed = parsed(
        "gcc -Wp,-MMD,./.a.o.d -Wp,-D_FORTIFY_SOURCE=2 -nostdinc -I inc -Iinc2 -isystem /s -include k.h \
         -DA=1 -D B -UC -std=gnu11 -O2 -g3 -Wall -Werror=return-type -pedantic-errors -fPIC -m64 \
         -fplugin=./p.so -fsyntax-only -MD -MF a.d -MT a.o -save-temps -pipe -pthread -c -o a.o -lfoo x.o a.c",
    );
    assert_eq!(
        parsed.arguments,
        words(
            "-D_FORTIFY_SOURCE=2 -nostdinc -I inc -Iinc2 -isystem /s -include k.h -DA=1 -D B -UC \
             -std=gnu11 -O2 -fPIC -m64 -pthread"
        )
    );
    assert_eq!(parsed.spelling.as_deref(), Some(OsStr::new("a.c")));
}

#[test]
fn what_might_do_harm_is_left_out_and_told() {
    let line = "gcc -B./evil -B evil -specs=e --specs=nano.specs -wrapper ./w -fplugin=./p.so \
                -fplugin-arg-p-x=y -Xclang -load -Xclang ./p.so -no-integrated-cpp -iplugindir=. --config c.cfg \
                -fpass-plugin=p -femit-odd=1 -fexec-charset=../x -mcmodel=../x -mllvm -load \
                -Xpreprocessor -fplugin=./p.so -Xpreprocessor -MD -Xpreprocessor out.d -Xpreprocessor -o \
                -Xpreprocessor out -Xpreprocessor -DA -Wp,-fplugin=p.so,-include,@x,-DB,-MD,out.d \
                -target -fplugin=p.so --target=../../x -D -Ix -I ./i --include=k.h -m32 -O3 -Ofast/x a.c";
    let parsed = parsed(line);
    assert_eq!(
        parsed.arguments,
        words("-DA -DB -I ./i --include=k.h -m32 -O3")
    );
    let doubtful = [
        "-B",
        "-specs",
        "--specs",
        "-wrapper",
        "-fplugin",
        "-Xclang",
        "-iplugindir",
        "--config",
        "-fpass-plugin",
        "-femit-odd",
        "-fexec-charset",
        "-mcmodel",
        "-include",
        "-target",
        "--target",
        "-D",
        "-Ofast/x",
    ];
    assert_eq!(parsed.doubtful, doubtful);
}

#[test]
fn of_a_trusted_tree_all_is_kept_that_bears_on_preprocessing() {
    let line = "gcc -B. -specs=e -Xpreprocessor -DA -fodd=1 -fplugin=./p.so -Wall -I @gone a.c";
    let trusted = parse(words(line), Path::new("/w"), Path::new("a.c"), true).unwrap();
    assert_eq!(
        trusted.arguments,
        words("-B. -specs=e -Xpreprocessor -DA -fodd=1 -I a.c")
    );
}

#[test]
fn every_word_kept_is_a_flag_or_the_value_of_one() {
    // The words that a hostile command may be made of, in all orders of three.
    let evil = [
        "-D",
        "-I",
        "-include",
        "-target",
        "-arch",
        "-Xpreprocessor",
        "-Wp,-include,-fplugin=p,@x",
        "-Wp,@x",
        "@x",
        "-fplugin=p",
        "-B.",
        "-",
        "--",
        "-x",
        "-o",
        "-imultilib",
        "--sysroot",
        "x",
    ];
    for first in evil {
        for second in evil {
            for third in evil {
                let line = format!("gcc -c a.c {first} {second} {third}");
                let Ok(parsed) = parse(words(&line), Path::new("/w"), Path::new("a.c"), false)
                else {
                    continue;
                };
                let mut kept = parsed.arguments.iter();
                while let Some(word) = kept.next() {
                    let flag = word.as_bytes();
                    let class = flags::class(flag);
                    assert!(
                        class.fate == Fate::Kept || flag == b"-x",
                        "{line}: {word:?}"
                    );
                    if class.takes_value {
                        let value = kept.next().unwrap().as_bytes();
                        assert!(flags::is_value(flag, value), "{line}: {word:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn flags_of_real_builds_are_kept_or_known_not_to_matter() {
    // Linux 6.1, Debian's hardening, a cross build, clang.
    let line = "gcc -Wp,-MMD,kernel/.fork.o.d -nostdinc -I./arch/x86/include -I./include -include ./include/linux/kconfig.h \
        -D__KERNEL__ -fmacro-prefix-map=./= -Wall -Wundef -fshort-wchar -fno-PIE -std=gnu11 -mno-sse -mno-avx -fcf-protection=none \
        -m64 -falign-jumps=1 -falign-loops=1 -mno-80387 -mpreferred-stack-boundary=3 -mskip-rax-setup -mtune=generic -mno-red-zone \
        -mcmodel=kernel -mindirect-branch=thunk-extern -mfunction-return=thunk-extern -fno-jump-tables -fno-delete-null-pointer-checks \
        -O2 -fno-allow-store-data-races -fstack-protector-strong -ftrivial-auto-var-init=zero -fno-stack-clash-protection -pg \
        -mrecord-mcount -mfentry -fzero-call-used-regs=used-gpr -fno-strict-overflow -fno-stack-check -fconserve-stack \
        -fsanitize=kernel-address -fasan-shadow-offset=0xdffffc0000000000 --param asan-globals=1 --param=allow-store-data-races=0 \
        -fpatchable-function-entry=16,16 -ffile-prefix-map=/build/x=. -fPIC -fPIE -fvisibility=hidden -pthread -fopenmp -fwrapv \
        -fno-asynchronous-unwind-tables -fno-omit-frame-pointer -mbranch-protection=standard -march=armv8-a+crc -mabi=lp64 -mthumb \
        -mfloat-abi=hard --target=aarch64-linux-gnu --sysroot=/opt/s -integrated-as -Qunused-arguments -fintegrated-as -gdwarf-4 \
        -fno-semantic-interposition -fexceptions -fstack-clash-protection -flto=auto -ffat-lto-objects -MT a.o -Wl,-z,relro -specs a.c";
    assert_eq!(parsed(line).doubtful, ["-specs"]);
}

#[test]
fn finds_the_compiler_behind_launchers() {
    for line in [
        "ccache gcc -c a.c",
        "env CCACHE_DIR=/x ccache distcc gcc -c a.c",
        "env -i -u CPATH A=b nice -n 5 gcc -c a.c",
        "env A=b /bin/sh ./libtool --silent --mode=compile --tag=CC ccache gcc -c a.c",
        "/bin/sh ../libtool --tag=CC --mode=compile gcc -c a.c",
        "LC_ALL=C gcc -c a.c",
    ] {
        assert_eq!(parsed(line).compiler, "gcc", "{line}");
    }
    assert_eq!(
        parse(words("ccache"), Path::new("/"), Path::new("a.c"), false),
        Err(Refused::NoCompiler)
    );
}

#[test]
fn only_c_is_c() {
    let kind = |line: &str, file: &str| {
        parse(words(line), Path::new("/w"), Path::new(file), false).map(|_| ())
    };
    assert_eq!(kind("gcc -c a.cc", "a.cc"), Err(Refused::NotC));
    assert_eq!(kind("gcc -c a.S", "a.S"), Err(Refused::NotC));
    assert_eq!(kind("g++ -c a.c", "a.c"), Err(Refused::NotC));
    assert_eq!(kind("gcc -x c++ -c a.c", "a.c"), Err(Refused::NotC));
    assert_eq!(kind("gcc -c a.c -x c++", "a.c"), Ok(()));
    assert_eq!(kind("g++ -x c -c a.inc", "a.inc"), Ok(()));
    assert_eq!(kind("gcc -xc -c a.inc", "a.inc"), Ok(()));
    assert_eq!(kind("gcc -c a.i", "a.i"), Ok(()));
}

#[test]
fn the_source_is_found_however_it_is_spelled() {
    for spelled in ["a.c", "./a.c", "../w/a.c", "/w/a.c"] {
        let parsed = parsed(&format!("gcc -c {spelled} b.c"));
        assert_eq!(parsed.spelling.as_deref(), Some(OsStr::new(spelled)));
    }
}

#[test]
fn the_target_is_told_by_few_flags() {
    let flags = words("-m32 -I -m64 -O2 -fshort-enums -fPIC -target arm-linux -DA=-m64");
    assert_eq!(
        target_flags(&flags),
        words("-m32 -fshort-enums -target arm-linux")
    );
}

#[test]
fn a_foreign_compiler_gets_only_what_any_compiler_knows() {
    let flags =
        words("-mabi=lp64 --target=x -target y -fno-common -I a -DX -m32 -std=c99 -funsigned-char");
    assert_eq!(
        portable(&flags),
        words("-I a -DX -m32 -std=c99 -funsigned-char")
    );
}
