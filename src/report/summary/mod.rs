//! A function's summary for a person: what it does to which object, when, in words of the function's own source.
//!
//! In: a [`Summary`] and the machines that it speaks of. Out: for each object the ways from state to state (R of the paper's
//! Figure 8), each with as few of the conditions of P_in and P_out as tell it from the others; then the result, what the
//! function changes (M), and what else its callers are to know.

pub mod constants;
mod cubes;
mod effects;
mod lifetimes;
mod literals;
#[cfg(test)]
mod tests;
mod transitions;
mod words;

pub use transitions::{Transition, transitions};

use std::io::{self, Write};

use crate::property::{Machine, Property, StateId, Target};
use crate::summary::{Cube, IExpr, Root, Row, Summary, SummaryObject, When};
use crate::symbolic::naming::is_clear;
use crate::symbolic::term::Op;
use constants::Constants;
pub(super) use constants::NO_CONSTANTS;
use effects::Effects;
use transitions::Known;
pub(super) use words::Words;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Long values are cut, and long lists.
    Short,
    Full,
}

/// A longer condition is cut, in short.
const MAX_CONDITION: usize = 130;
/// Tables of one function in short.
const MAX_TABLES: usize = 8;

/// Writes what the passes' summaries of a function say, each line indented by two blanks or more. What two say alike is told once. In short, an
/// object that is allocated and freed has a line for each of that and no table, one that is as it was in any case is only named, and one without
/// a name in the source is only counted.
pub fn write(
    out: &mut dyn Write,
    summaries: &[&Summary],
    (property, constants): (&Property, &Constants),
    extent: Extent,
) -> io::Result<()> {
    let mut lines = Vec::new();
    let mut effects = Effects::new(summaries, extent);
    let (mut tables, mut hidden) = (0, 0);
    for summary in summaries {
        let words = Words {
            summary,
            property,
            constants,
        };
        let conditions = Conditions::of(summary);
        for (index, object) in summary.objects.iter().enumerate() {
            if extent == Extent::Full {
                object_lines(&words, &conditions, index, extent, &mut lines);
                continue;
            }
            let name = words.object(&object.object);
            let mut ends = ends(&conditions, summary, index).into_iter();
            if let Some(ways) = lifetimes::of(&words, &conditions, index) {
                effects.add_lifetimes(ways);
            } else if ends.all(|(end, _)| *end.to == Target::State(end.from)) {
                effects.add_use(name);
            } else if is_clear(&name) && tables < MAX_TABLES {
                tables += 1;
                object_lines(&words, &conditions, index, extent, &mut lines);
            } else {
                hidden += 1;
            }
        }
        effects.add(&words, &conditions);
    }
    match hidden {
        0 => {}
        1 => lines.push("… and one more object (--full)".to_owned()),
        _ => lines.push(format!("… and {hidden} more objects (--full)")),
    }
    lines.extend(effects.lines());
    if lines.is_empty() {
        lines.push("nothing that its callers see".to_owned());
    }
    lines.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

/// What summaries say besides their objects' ways from state to state: a word such as `sets`, and what is said under it; long values whole.
pub fn effects(
    summaries: &[&Summary],
    (property, constants): (&Property, &Constants),
) -> Vec<(String, String)> {
    let mut effects = Effects::new(summaries, Extent::Full);
    for summary in summaries {
        let words = Words {
            summary,
            property,
            constants,
        };
        effects.add(&words, &Conditions::of(summary));
    }
    effects.told()
}

/// The conditions of P_in and P_out, each once: one that is another's negation is that one, turned round.
struct Conditions<'s> {
    known: Vec<(&'s IExpr, When)>,
    /// For each condition of P_in, then of P_out, which of the known ones it is, and what that is where it holds.
    columns: Vec<(usize, bool)>,
    inputs: usize,
    /// Those about the result, if it is a pointer.
    pointer: Option<PointerResult>,
}

/// Which of the known conditions say something of a result that is a pointer.
#[derive(Clone, Copy)]
struct PointerResult {
    null: usize,
    negative: Option<usize>,
    positive: Option<usize>,
    error: Option<usize>,
}

impl PointerResult {
    fn of(known: &[(&IExpr, When)]) -> Option<PointerResult> {
        let position = |of: &dyn Fn(&IExpr) -> bool| known.iter().position(|(expr, _)| of(expr));
        let said = |expr: &IExpr, holds| transitions::known(expr, holds);
        Some(PointerResult {
            null: position(&|expr| said(expr, true) == Some(Known::Null))?,
            negative: position(&|expr| said(expr, true) == Some(Known::Negative)),
            positive: position(&|expr| said(expr, true) == Some(Known::Positive)),
            error: position(&|expr| said(expr, true) == Some(Known::Error)),
        })
    }

    /// Says of a pointer only whether it is null, or an error: no reader asks for its sign.
    fn simplify(self, cube: &mut Cube) {
        let mut sign = |at: Option<usize>| at.and_then(|at| cube[at].take());
        let (negative, positive) = (sign(self.negative), sign(self.positive));
        if negative == Some(true) || positive == Some(true) {
            cube[self.null] = Some(false);
        }
        if negative == Some(false) && positive == Some(false) {
            cube[self.null] = Some(true);
        }
        if let Some(error) = self.error {
            match (cube[self.null], cube[error]) {
                (Some(true), _) => cube[error] = None,
                (_, Some(true)) => cube[self.null] = None,
                _ => {}
            }
        }
    }
}

impl<'s> Conditions<'s> {
    fn of(summary: &'s Summary) -> Self {
        let mut conditions = Conditions {
            known: Vec::new(),
            columns: Vec::new(),
            inputs: summary.inputs.len(),
            pointer: None,
        };
        let inputs = summary.inputs.iter().map(|input| (input, When::Entry));
        let outputs = summary.outputs.iter().map(|output| (output, When::Exit));
        for (mut expr, when) in inputs.chain(outputs) {
            let mut holds = true;
            while let IExpr::Op {
                op: Op::Not,
                args,
                width: 1,
            } = expr
                && let [inner] = args.as_slice()
            {
                (expr, holds) = (inner, !holds);
            }
            let condition = (expr, when);
            let known = conditions
                .known
                .iter()
                .position(|known| *known == condition);
            let at = known.unwrap_or_else(|| {
                conditions.known.push(condition);
                conditions.known.len() - 1
            });
            conditions.columns.push((at, holds));
        }
        conditions.pointer = PointerResult::of(&conditions.known);
        conditions
    }

    /// Values for P_in and P_out as values of the known conditions; `None` if they contradict each other.
    fn cube(&self, incond: &Cube, outcond: &Cube) -> Option<Cube> {
        let mut cube: Cube = vec![None; self.known.len()];
        let inputs = incond.iter().zip(&self.columns);
        let outputs = outcond.iter().zip(self.columns.get(self.inputs..)?);
        for (wanted, &(at, holds)) in inputs.chain(outputs) {
            let wanted = wanted.map(|wanted| wanted == holds);
            if wanted.is_some() && cube[at].is_some() && wanted != cube[at] {
                return None;
            }
            cube[at] = wanted.or(cube[at]);
        }
        if let Some(pointer) = self.pointer {
            pointer.simplify(&mut cube);
        }
        Some(cube)
    }

    /// What a combination asks for, `if` before it; nothing if it asks for nothing.
    fn text(&self, words: &Words<'_>, cube: &Cube) -> String {
        let side = |side: When| {
            let wanted = self.known.iter().zip(cube);
            let literals = wanted.filter_map(|(&(expr, when), wanted)| {
                (when == side).then_some(())?;
                Some((expr, (*wanted)?))
            });
            literals::texts(words, &literals.collect::<Vec<_>>(), side).join(" and ")
        };
        let mut wanted = self.known.iter().zip(cube);
        let changed =
            wanted.any(|((expr, _), wanted)| wanted.is_some() && is_of_place_on_exit(expr));
        match (&*side(When::Entry), &*side(When::Exit)) {
            ("", "") => String::new(),
            (entry, "") => format!("if {entry}"),
            ("", exit) if changed => format!("if afterwards {exit}"),
            ("", exit) => format!("if {exit}"),
            (entry, exit) => format!("if {entry}, and then {exit}"),
        }
    }

    /// Combinations of conditions over entry values, as few as say the same.
    fn inputs(&self, words: &Words<'_>, inconds: &[&Cube]) -> Vec<String> {
        let cubes = inconds
            .iter()
            .filter_map(|incond| self.cube(incond, &Vec::new()));
        let mut cubes = vec![cubes.collect::<Vec<Cube>>()];
        // Whatever none of them says is the other case.
        if !cubes[0].iter().any(|cube| cube.iter().all(Option::is_none)) {
            cubes.push(vec![vec![None; self.known.len()]]);
        }
        let minimised = cubes::minimise(&cubes);
        minimised[0]
            .iter()
            .map(|cube| self.text(words, cube))
            .collect()
    }
}

/// Whether a condition is about what a place holds when the function returns.
fn is_of_place_on_exit(condition: &IExpr) -> bool {
    let mut found = false;
    condition.each(&mut |part| {
        if let IExpr::Value { object, when, .. } = part {
            let result = object.root == Root::Return && object.path.is_empty();
            found |= *when == When::Exit && !result;
        }
    });
    found
}

/// What becomes of an object in one state on entry.
#[derive(Clone)]
struct End<'s> {
    from: StateId,
    to: &'s Target,
    /// What is to be said of it besides.
    note: &'static str,
    cubes: Vec<Cube>,
}

/// An object, and the ways from state to state below it.
fn object_lines(
    words: &Words<'_>,
    conditions: &Conditions<'_>,
    index: usize,
    extent: Extent,
    lines: &mut Vec<String>,
) {
    let summary = words.summary;
    let object = &summary.objects[index];
    let machine = words.property.machine(&object.machine);
    lines.push(heading(words, object));
    let mut table: Vec<Way> = Vec::new();
    for (end, cube) in ends(conditions, summary, index) {
        let condition = conditions.text(words, &cube);
        let condition = match extent {
            Extent::Short => cut(condition),
            Extent::Full => condition,
        };
        let way = Way {
            from: vec![state_name(machine, end.from)],
            to: target_name(machine, &end),
            when: format!("{condition}{}", end.note).trim_start().to_owned(),
        };
        way.add_to(&mut table);
    }
    lines.extend(Way::lines(&table));
}

/// The ways of an object from state to state, each with one combination of conditions; as few as say the same.
fn ends<'s>(
    conditions: &Conditions<'_>,
    summary: &'s Summary,
    index: usize,
) -> Vec<(End<'s>, Cube)> {
    let rows = summary
        .rows
        .iter()
        .filter(|row| row.object as usize == index);
    let mut ends: Vec<End<'_>> = Vec::new();
    for row in rows {
        let Some(cube) = conditions.cube(&row.incond, &row.outcond) else {
            continue;
        };
        let note = note(row);
        let same = |end: &&mut End<'_>| (end.from, end.to, end.note) == (row.from, &row.to, note);
        match ends.iter_mut().find(same) {
            Some(end) => end.cubes.push(cube),
            None => ends.push(End {
                from: row.from,
                to: &row.to,
                note,
                cubes: vec![cube],
            }),
        }
    }
    ends.sort_by_key(|end| end.from);
    let mut found = Vec::new();
    for ends in ends.chunk_by(|one, other| one.from == other.from) {
        let cubes: Vec<Vec<Cube>> = ends.iter().map(|end| end.cubes.clone()).collect();
        for (end, cubes) in ends.iter().zip(cubes::minimise(&cubes)) {
            found.extend(cubes.into_iter().map(|cube| (end.clone(), cube)));
        }
    }
    found
}

/// The first parts of a long condition.
fn cut(condition: String) -> String {
    if condition.chars().count() <= MAX_CONDITION {
        return condition;
    }
    let mut short = String::new();
    for part in condition.split(" and ") {
        if !short.is_empty() && short.chars().count() + part.chars().count() > MAX_CONDITION {
            break;
        }
        let and = if short.is_empty() { "" } else { " and " };
        short += &format!("{and}{part}");
    }
    format!("{short} and …")
}

/// A line of the table: from some states to another one, or to the one that it was.
struct Way {
    from: Vec<String>,
    to: Option<String>,
    when: String,
}

impl Way {
    /// Adds a line, or its state to the line that says the same of other states.
    fn add_to(self, table: &mut Vec<Way>) {
        let same = |known: &&mut Way| (&known.to, &known.when) == (&self.to, &self.when);
        match table.iter_mut().find(same) {
            Some(known) => known.from.extend(self.from),
            None => table.push(self),
        }
    }

    fn lines(table: &[Way]) -> Vec<String> {
        let cells = table.iter().map(|way| {
            let to = match (&way.to, &*way.from) {
                (Some(to), _) => to.clone(),
                (None, [state]) => state.clone(),
                (None, _) => "unchanged".to_owned(),
            };
            [way.from.join(", "), to, way.when.clone()]
        });
        let cells: Vec<[String; 3]> = cells.collect();
        let width = |column: usize| {
            let widths = cells.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0)
        };
        let (from_width, to_width) = (width(0), width(1));
        let lines = cells.iter().map(|[from, to, when]| {
            let line = format!("  {from:<from_width$} → {to:<to_width$}  {when}");
            line.trim_end().to_owned()
        });
        lines.collect()
    }
}

fn heading(words: &Words<'_>, object: &SummaryObject) -> String {
    let name = words.object(&object.object);
    let machine = &object.machine;
    let mut heading = format!("{name} ({machine})");
    if object.optional {
        heading += ", where there is one";
    }
    if object.open {
        heading += "; a callee may leave it otherwise";
    }
    heading
}

/// What is to be said of a row besides where it leads.
fn note(row: &Row) -> &'static str {
    match (&row.to, row.reported, row.doubtful) {
        (Target::State(_), true, _) => " (reported as a mistake)",
        (_, false, true) => " (perhaps)",
        _ => "",
    }
}

/// Where a way leads; `None` if the object stays as it is.
fn target_name(machine: Option<&Machine>, end: &End<'_>) -> Option<String> {
    match end.to {
        Target::State(to) if *to == end.from => None,
        Target::State(to) => Some(state_name(machine, *to)),
        Target::Error(Some(rule)) => Some(format!("error {rule}")),
        Target::Error(None) => Some("error".to_owned()),
    }
}

fn state_name(machine: Option<&Machine>, id: StateId) -> String {
    let state = machine.and_then(|machine| machine.states.get(usize::from(id.0)));
    state.map_or_else(|| format!("state {}", id.0), |state| state.text.clone())
}
