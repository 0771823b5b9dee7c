//! A failure as people read it: its interleaving, step by step and in columns, its input, and why it is one.
//!
//! In: a [`Found`] with the machine that found it. Out: a [`Finding`] and a drawing for the terminal.

use super::code::Step;
use super::differ::{Found, Sort};
use super::environment;
use super::failure::Kind;
use super::machine::Machine;
use super::memory::NULL_PAGE;
use super::state::{Birth, Event, State, What};
use super::values::Value;
use crate::finding::{Finding, Level, TraceStep};
use crate::ir::print::source_text;
use crate::ir::{Pos, StmtKind, SymbolName};

/// Addresses from here on are shown as such.
const ADDRESS: u64 = 1 << 26;
/// Widest column.
const COLUMN: usize = 44;

/// One line of an interleaving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub thread: usize,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub depth: usize,
    pub text: String,
}

/// A failure's whole story.
pub struct Story {
    /// What each thread is called.
    pub threads: Vec<String>,
    pub lines: Vec<Line>,
    pub input: Option<String>,
    pub why: String,
    pub rule: &'static str,
    pub level: Level,
    pub message: String,
}

impl Sort {
    pub fn rule(self) -> &'static str {
        match self {
            Sort::Interleaved => "race/interleaved",
            Sort::Deadlock => "race/deadlock",
            Sort::Sequential => "race/sequential",
        }
    }
}

/// Puts a failure in words.
pub fn story(machine: &mut Machine<'_>, found: &Found) -> Story {
    let mut lines: Vec<Line> = Vec::new();
    let is_harness = |event: &Event| machine.program.open && event.thread == 0;
    let mut events = found.state.events();
    events.retain(|event| !is_harness(event));
    for event in events {
        let text = words(machine, found, &event);
        lines.push(line(
            machine,
            event.thread,
            event.code,
            event.pos,
            event.depth,
            text,
        ));
    }
    let threads = found.state.threads.iter().enumerate();
    let names = threads.map(|(number, thread)| match thread.birth {
        Birth::Main => "main".to_owned(),
        _ => format!("{number}: {}", machine.program.functions[thread.entry].name),
    });
    let threads: Vec<String> = names.collect();
    let failure = &found.failure;
    match failure.kind {
        Kind::Deadlock => lines.extend(blocked(machine, &found.state)),
        _ => {
            let depth = found.state.thread(failure.thread).frames.len();
            let text = failure.kind.message();
            lines.push(line(
                machine,
                failure.thread,
                failure.code,
                failure.pos,
                depth,
                text,
            ));
        }
    }
    let message = failure.kind.message();
    Story {
        threads,
        lines,
        // Unknown words of memory say nothing to a person.
        input: input(found).filter(|_| !machine.program.open),
        why: why(machine, found),
        rule: found.sort.rule(),
        level: match found.sort {
            // That two threads run these functions on one object is a guess.
            Sort::Interleaved if machine.program.open => Level::Warning,
            Sort::Interleaved | Sort::Deadlock => Level::Error,
            Sort::Sequential => Level::Warning,
        },
        message: match found.sort {
            Sort::Interleaved if machine.program.open => {
                let functions: Vec<&str> = found.state.threads[1..]
                    .iter()
                    .map(|thread| machine.program.functions[thread.entry].name.as_str())
                    .collect();
                let functions = functions.join(" and ");
                format!("{message} when {functions} run at a time")
            }
            Sort::Interleaved => format!("{message} when threads interleave"),
            Sort::Deadlock => "deadlock: no thread can go on".to_owned(),
            Sort::Sequential => format!("{message} even if threads run one after another"),
        },
    }
}

fn why(machine: &Machine<'_>, found: &Found) -> String {
    let filter = found.filter.name();
    match found.sort {
        Sort::Deadlock => "each thread waits for what another one has to do first".to_owned(),
        Sort::Sequential => format!("a sequential order of the threads fails, too ({filter})"),
        Sort::Interleaved if machine.program.open => {
            "neither order of running the two one after the other fails like this".to_owned()
        }
        Sort::Interleaved if found.certain => {
            format!("no sequential order of the threads fails on this input ({filter})")
        }
        Sort::Interleaved => format!(
            "no sequential order of the threads that was tried fails on this input ({filter}, not all were tried)"
        ),
    }
}

fn input(found: &Found) -> Option<String> {
    if found.inputs.is_empty() {
        return None;
    }
    let values = found.inputs.iter().enumerate().map(|(at, (drawn, value))| {
        let shift = 128 - u32::from(drawn.width.clamp(1, 128));
        let number = (value << shift).cast_signed() >> shift;
        format!("#{} = {number}", at + 1)
    });
    let values: Vec<String> = values.collect();
    Some(format!("input: {}", values.join(", ")))
}

fn line(
    machine: &Machine<'_>,
    thread: usize,
    code: usize,
    pos: Pos,
    depth: usize,
    text: String,
) -> Line {
    let body = machine.program.code[code].code.body;
    Line {
        thread,
        file: body.file(pos).to_owned(),
        line: pos.line,
        function: body.name.name.clone(),
        depth,
        text,
    }
}

/// Where each thread of a deadlock waits.
fn blocked(machine: &Machine<'_>, state: &State) -> Vec<Line> {
    let threads = (0..state.threads.len()).filter(|thread| !state.thread(*thread).finished);
    let lines = threads.map(|thread| {
        let (code, pos) = machine.place(state, thread);
        let depth = state.thread(thread).frames.len();
        let text = match machine.call_text(state, thread) {
            Some(call) => format!("waits in {call}"),
            None => "waits".to_owned(),
        };
        line(machine, thread, code, pos, depth, text)
    });
    lines.collect()
}

fn words(machine: &mut Machine<'_>, found: &Found, event: &Event) -> String {
    match &event.what {
        What::Read { addr, size, value } => {
            let value = shown(machine, found, *value, *size);
            format!("reads {}: {value}", place(machine, event, *addr))
        }
        What::Write { addr, size, value } => {
            let value = shown(machine, found, *value, *size);
            format!("writes {} = {value}", place(machine, event, *addr))
        }
        What::Created(thread) => {
            let entry = found.state.thread(*thread).entry;
            let function = &machine.program.functions[entry].name;
            format!("starts thread {thread}: {function}")
        }
        What::Call(text) => text.clone(),
        What::Exit => "ends".to_owned(),
    }
}

/// What an event reads or writes: a global object by its name, anything else as the source has it.
fn place(machine: &Machine<'_>, event: &Event, addr: u64) -> String {
    let code = &machine.program.code[event.code].code;
    let accessed = match code.steps.get(event.step as usize) {
        _ if machine.program.global_at(addr).is_some() => None,
        Some((Step::Fetch(read), _)) => source_text(code.body, *read),
        Some((Step::Statement(StmtKind::Store { addr, .. }), _)) => {
            let text = source_text(code.body, *addr);
            text.map(|text| match text.strip_prefix('&') {
                Some(place) => place.to_owned(),
                None => format!("*{text}"),
            })
        }
        _ => None,
    };
    accessed.unwrap_or_else(|| name(machine, addr))
}

/// A place in memory, as far as it has a name.
fn name(machine: &Machine<'_>, addr: u64) -> String {
    match machine.program.global_at(addr) {
        Some((global, 0)) => global.name.name.clone(),
        Some((global, offset)) => format!("{}+{offset}", global.name.name),
        None => format!("memory at {addr:#x}"),
    }
}

fn shown(machine: &Machine<'_>, found: &Found, value: Value, size: u64) -> String {
    let bits = match value {
        Value::Bits(bits) => bits,
        Value::Term(term) => found.model.eval(&machine.values.formula, term),
    };
    let address = u64::try_from(bits).unwrap_or(0);
    if size == 8 && address >= NULL_PAGE && machine.program.global_at(address).is_some() {
        return format!("&{}", name(machine, address));
    }
    if environment::is_object(address, machine.program.pointer) {
        return "a pointer".to_owned();
    }
    if size == 8 && (ADDRESS..1 << 60).contains(&address) {
        return format!("{address:#x}");
    }
    let shift = 128 - u32::try_from(size.clamp(1, 16) * 8).unwrap_or(64);
    ((bits << shift).cast_signed() >> shift).to_string()
}

impl Story {
    pub fn finding(&self) -> Finding {
        let last = self.lines.last();
        let step = |line: &Line| TraceStep {
            file: line.file.clone(),
            line: line.line,
            column: 0,
            function: line.function.clone(),
            depth: 0,
            message: format!("{}: {}", self.threads[line.thread], line.text),
        };
        let mut trace: Vec<TraceStep> = self.lines.iter().map(step).collect();
        if let (Some(last), Some(line)) = (trace.last_mut(), last) {
            let input = self.input.as_ref().map(|input| format!("; {input}"));
            let text = &line.text;
            let thread = &self.threads[line.thread];
            last.message = format!(
                "{thread}: {text}; {}{}",
                self.why,
                input.unwrap_or_default()
            );
        }
        let (file, number, function) = match last {
            Some(line) => (line.file.clone(), line.line, line.function.clone()),
            None => (String::new(), 0, String::new()),
        };
        let object = String::new();
        let name = SymbolName {
            name: function.clone(),
            file: None,
        };
        let fingerprint = crate::finding::fingerprint(self.rule, &name, &object, &trace);
        Finding {
            rule: self.rule.to_owned(),
            level: self.level,
            message: self.message.clone(),
            file,
            line: number,
            column: 0,
            function,
            object,
            fingerprint,
            explanations: Vec::new(),
            retold: None,
            trace,
            filtered: None,
            programs: Vec::new(),
        }
    }

    /// The interleaving, a column for each thread.
    pub fn columns(&self) -> String {
        let cells: Vec<String> = self
            .lines
            .iter()
            .map(|line| format!("{:>4}  {}", line.line, cut(&line.text)))
            .collect();
        let used: Vec<usize> = (0..self.threads.len())
            .filter(|thread| self.lines.iter().any(|line| line.thread == *thread))
            .collect();
        let widths: Vec<usize> = used
            .iter()
            .map(|thread| {
                let own = self
                    .lines
                    .iter()
                    .zip(&cells)
                    .filter(|(line, _)| line.thread == *thread);
                let widest = own.map(|(_, cell)| cell.chars().count()).max().unwrap_or(0);
                widest.max(self.threads[*thread].chars().count())
            })
            .collect();
        let mut out = String::new();
        let mut row = |cell: &dyn Fn(usize) -> String| {
            let mut text = String::from("  ");
            for (at, width) in widths.iter().enumerate() {
                text.push_str(&format!("| {:<width$} ", cell(at)));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        };
        row(&|at| self.threads[used[at]].clone());
        row(&|at| "-".repeat(widths[at]));
        for (line, cell) in self.lines.iter().zip(&cells) {
            row(&|at| match used[at] == line.thread {
                true => cell.clone(),
                false => String::new(),
            });
        }
        out
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= COLUMN {
        return text.to_owned();
    }
    let kept: String = text.chars().take(COLUMN - 3).collect();
    format!("{kept}...")
}
