//! A failure as a C program that fails when it is run: the program's steps with its schedule forced by semaphores.
//!
//! In: a [`Found`]. Out: the text of one C file, without headers of the program. It is printed from the IR, in which each access is
//! a statement, since a schedule may switch threads within a C statement (`count++`). A failure that a processor does
//! not notice (freed memory used, a lock misused) ends in `abort` at its step.

mod library;
mod print;

use std::fmt::Write as _;

use self::print::Printer;
use super::differ::Found;
use super::failure::Kind;
use super::machine::Machine;
use super::values::Value;

const RUNTIME: &str = include_str!("runtime.c");

/// The program that fails as `found` does, beginning with the function `entry`.
pub fn replay(machine: &Machine<'_>, found: &Found, entry: usize) -> String {
    let mut printer = Printer {
        program: machine.program,
        out: RUNTIME.replace("@TABLES@", &tables(machine, found)),
    };
    printer.program();
    let params = machine.program.code[entry].code.body.params;
    let arguments = if params >= 2 { "1, (P)arguments" } else { "" };
    _ = write!(
        printer.out,
        "\nint main(void)\n{{\n\tstatic char *arguments[] = {{ \"program\", NULL }};\n\t(void)arguments;\n\
         \tfor (int i = 0; i <= EVENTS; i++)\n\t\tsem_init(&turns[i], 0, i == 0);\n\
         \tsignal(SIGALRM, no_way_on);\n\tquiet = 1;\n\tinitialise();\n\tthread_locals();\n\tquiet = 0;\n\tf{entry}({arguments});\n\tcomplete();\n\
         \tif (FAILING != 0 || DEADLOCK)\n\t\tfor (;;)\n\t\t\tpause();\n\
         \tfputs(\"replay: the program did not fail\\n\", stderr);\n\treturn 0;\n}}\n"
    );
    printer.out
}

fn tables(machine: &Machine<'_>, found: &Found) -> String {
    let state = &found.state;
    let order = state.order();
    let events: Vec<String> = order
        .iter()
        .map(|(thread, step)| format!("{{ {thread}, {step} }}, "))
        .collect();
    let mut out = String::new();
    _ = writeln!(out, "#define EVENTS {}", events.len());
    let deadlock = u8::from(found.failure.kind == Kind::Deadlock);
    _ = writeln!(out, "#define DEADLOCK {deadlock}");
    _ = writeln!(out, "#define FAILING {}", found.failure.thread);
    let unseen = matches!(
        found.failure.kind,
        Kind::UseAfterFree
            | Kind::DoubleFree
            | Kind::BadFree
            | Kind::WildAccess(_)
            | Kind::Misuse(_)
    );
    _ = writeln!(out, "#define ABORTS {}", u8::from(unseen));
    let message = found
        .failure
        .kind
        .message()
        .replace(['"', '\\', '\n', '%'], " ");
    _ = writeln!(out, "#define MESSAGE \"{message}\"");
    _ = writeln!(
        out,
        "static const struct event schedule[] = {{ {}{{ -1, 0 }} }};",
        events.concat()
    );
    let totals: Vec<String> = state
        .threads
        .iter()
        .map(|thread| thread.counted.to_string())
        .collect();
    _ = writeln!(
        out,
        "static const long totals[] = {{ {} }};",
        totals.join(", ")
    );
    let mut draws = Vec::new();
    for (number, thread) in state.threads.iter().enumerate() {
        let values = thread.given.iter().map(|value| match value {
            Value::Bits(bits) => *bits,
            Value::Term(term) => found.model.eval(&machine.values.formula, *term),
        });
        let values: Vec<String> = values
            .map(|value| format!("{}ull", value & u128::from(u64::MAX)))
            .collect();
        _ = writeln!(
            out,
            "static const uint64_t draws{number}[] = {{ {} }};",
            if values.is_empty() {
                "0".to_owned()
            } else {
                values.join(", ")
            }
        );
        draws.push(format!("{{ draws{number}, {} }}", values.len()));
    }
    _ = writeln!(
        out,
        "static const struct {{ const uint64_t *values; long count; }} draws[] = {{ {} }};",
        draws.join(", ")
    );
    out.trim_end().to_owned()
}
