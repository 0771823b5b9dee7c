//! A function's summary as a table in the terms of the paper's Figure 8.
//!
//! In: a [`Summary`] and the machines that it speaks of. Out: P_in, P_out, M and R with objects named
//! as the function's own source names them, `_` where a value does not matter.

use std::io::{self, Write};

use crate::property::{Property, StateId, Target};
use crate::summary::{Cube, IExpr, IObj, Offset, Root, Row, Summary, SummaryObject, When};
use crate::symbolic::term::Op;

/// Writes the summary, each line indented by two blanks.
pub fn write(out: &mut dyn Write, summary: &Summary, property: &Property) -> io::Result<()> {
    let names = Names { summary, property };
    let set = |items: Vec<String>| match items.is_empty() {
        true => "{}".to_owned(),
        false => format!("{{ {} }}", items.join(", ")),
    };
    let inputs = summary.inputs.iter().map(|p| names.expr(p, When::Entry));
    writeln!(out, "  P_in  = {}", set(inputs.collect()))?;
    let outputs = summary.outputs.iter().map(|p| names.expr(p, When::Exit));
    writeln!(out, "  P_out = {}", set(outputs.collect()))?;
    let modified = summary.modified.iter().map(|m| {
        let object = names.object(&m.object);
        match &m.value {
            Some(value) => format!("{object} = {}", names.expr(value, When::Entry)),
            None => object,
        }
    });
    writeln!(out, "  M     = {}", set(modified.collect()))?;
    if let Some(result) = &summary.result {
        writeln!(out, "  ret   = {}", names.expr(result, When::Entry))?;
    }
    if summary.noreturn {
        writeln!(out, "  does not return")?;
    }
    if summary.rows.is_empty() {
        return writeln!(out, "  R     = {{}}");
    }
    let mut table = vec![["object", "incond", "state", "outcond", "state'"].map(str::to_owned)];
    for row in &summary.rows {
        table.push(cells(row, summary, property));
    }
    write_table(out, &table)
}

fn cells(row: &Row, summary: &Summary, property: &Property) -> [String; 5] {
    let object = summary.objects.get(row.object as usize);
    let state = |id: StateId| state_name(object, id, property);
    [
        object.map_or_else(|| "?".to_owned(), |object| object.name.clone()),
        cube(&row.incond),
        state(row.from),
        cube(&row.outcond),
        match &row.to {
            Target::State(id) => state(*id),
            Target::Error(_) => "error".to_owned(),
        },
    ]
}

fn state_name(object: Option<&SummaryObject>, id: StateId, property: &Property) -> String {
    let machine = object.and_then(|object| property.machine(&object.machine));
    let state = machine.and_then(|machine| machine.states.get(usize::from(id.0)));
    state
        .map(|state| state.name.clone())
        .unwrap_or_else(|| format!("state {}", id.0))
}

/// One value per predicate, or a single `_` where none matters.
fn cube(cube: &Cube) -> String {
    if cube.iter().all(Option::is_none) {
        return "_".to_owned();
    }
    let values: Vec<&str> = cube
        .iter()
        .map(|value| match value {
            Some(true) => "true",
            Some(false) => "false",
            None => "_",
        })
        .collect();
    values.join(",")
}

fn write_table(out: &mut dyn Write, table: &[[String; 5]]) -> io::Result<()> {
    let width = |column: usize| {
        let cells = table.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: [usize; 5] = std::array::from_fn(width);
    for (index, row) in table.iter().enumerate() {
        let mut line = String::from(if index == 0 {
            "  R       "
        } else {
            "          "
        });
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Names things as the function's source would.
struct Names<'a> {
    summary: &'a Summary,
    property: &'a Property,
}

impl Names<'_> {
    /// The value's name in C. `now` is the moment that goes without saying.
    fn expr(&self, expr: &IExpr, now: When) -> String {
        self.operand(expr, now, false)
    }

    fn operand(&self, expr: &IExpr, now: When, nested: bool) -> String {
        let text = match expr {
            IExpr::Const { value, width } => return constant(*value, *width),
            IExpr::Unknown { .. } => "unknown".to_string(),
            IExpr::Value { object, when, .. } => {
                let name = self.object(object);
                return match (*when, now) {
                    (When::Entry, When::Exit) => format!("old({name})"),
                    (When::Exit, When::Entry) => format!("new({name})"),
                    _ => name,
                };
            }
            IExpr::InState {
                object,
                machine,
                state,
            } => {
                let machine = self.property.machine(machine);
                let state = machine.map_or("?", |machine| machine.state_name(*state));
                format!("{} is {state}", self.object(object))
            }
            IExpr::Address(object) => return format!("&{}", self.object(object)),
            IExpr::Op { op, args, width } => self.operation(*op, *width, args, now),
            IExpr::Linear {
                constant: c,
                terms,
                width,
            } => self.sum(*c, terms, *width, now),
        };
        if nested { format!("({text})") } else { text }
    }

    fn operation(&self, op: Op, width: u16, args: &[IExpr], now: When) -> String {
        let arg = |index: usize| {
            args.get(index)
                .map_or_else(|| "?".to_owned(), |arg| self.operand(arg, now, true))
        };
        if let (Op::Not, 1, [inner]) = (op, width, args) {
            return self.negation(inner, now);
        }
        match infix(op) {
            Some(symbol) if args.len() == 2 => format!("{} {symbol} {}", arg(0), arg(1)),
            _ => match op {
                Op::Not => format!("~{}", arg(0)),
                Op::Ite => format!("{} ? {} : {}", arg(0), arg(1), arg(2)),
                Op::Extract { lo: 0 } => format!("(int{width}){}", arg(0)),
                Op::Extract { lo } => format!("(int{width})({} >> {lo})", arg(0)),
                Op::Zext => format!("(uint{width}){}", arg(0)),
                Op::Sext => format!("(int{width}){}", arg(0)),
                Op::Concat => format!("{}:{}", arg(0), arg(1)),
                _ => {
                    let args: Vec<String> = (0..args.len()).map(arg).collect();
                    args.join(infix(op).unwrap_or(" ? "))
                }
            },
        }
    }

    /// A condition negated: the other comparison where there is one.
    fn negation(&self, inner: &IExpr, now: When) -> String {
        if let IExpr::Op { op, args, .. } = inner
            && let [left, right] = args.as_slice()
            && let Some(symbol) = match op {
                Op::Eq => Some("!="),
                Op::Ult | Op::Slt => Some(">="),
                Op::Ule | Op::Sle => Some(">"),
                _ => None,
            }
        {
            let (left, right) = (
                self.operand(left, now, true),
                self.operand(right, now, true),
            );
            return format!("{left} {symbol} {right}");
        }
        format!("!{}", self.operand(inner, now, true))
    }

    fn sum(&self, constant_term: u128, terms: &[(u128, IExpr)], width: u16, now: When) -> String {
        let mut text = String::new();
        for (coefficient, term) in terms {
            let name = self.operand(term, now, true);
            let negative = signed(*coefficient, width) < 0;
            let magnitude = signed(*coefficient, width).unsigned_abs();
            text.push_str(match (text.is_empty(), negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            });
            if magnitude != 1 {
                text.push_str(&format!("{magnitude}*"));
            }
            text.push_str(&name);
        }
        match signed(constant_term, width) {
            0 if !text.is_empty() => text,
            value if text.is_empty() => value.to_string(),
            value if value < 0 => format!("{text} - {}", value.unsigned_abs()),
            value => format!("{text} + {value}"),
        }
    }

    /// The object's name: as the analysis recorded it, else built from its path.
    fn object(&self, object: &IObj) -> String {
        let known = self.summary.objects.iter().find(|o| o.object == *object);
        if let Some(known) = known {
            return known.name.clone();
        }
        let Some((last, path)) = object.path.split_last() else {
            return self.root(&object.root);
        };
        let inner = IObj {
            root: object.root.clone(),
            path: path.to_vec(),
        };
        // A global's first offset is within its own storage.
        if path.is_empty() && matches!(object.root, Root::Global(_)) {
            let name = self.root(&object.root);
            return match self.offset(last) {
                Some(offset) => format!("{name}[{offset}]"),
                None => name,
            };
        }
        let base = self.object(&inner);
        match self.offset(last) {
            Some(offset) => format!("*({base} + {offset})"),
            None => format!("*{base}"),
        }
    }

    fn root(&self, root: &Root) -> String {
        match root {
            Root::Param(index) => match self.summary.params.get(*index as usize) {
                Some(name) if !name.is_empty() => name.clone(),
                _ => format!("param{index}"),
            },
            Root::Global(name) => name.name.clone(),
            Root::Return => "ret".to_owned(),
            Root::Exit(pointer) => format!("new({})", self.object(pointer)),
        }
    }

    /// The offset in bytes; `None` for 0.
    fn offset(&self, offset: &Offset) -> Option<String> {
        let mut parts: Vec<String> = offset
            .terms
            .iter()
            .map(|(coefficient, term)| {
                format!("{coefficient}*{}", self.operand(term, When::Entry, true))
            })
            .collect();
        if offset.constant != 0 {
            parts.push(offset.constant.to_string());
        }
        (!parts.is_empty()).then(|| parts.join(" + "))
    }
}

fn infix(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Shl => "<<",
        Op::Lshr | Op::Ashr => ">>",
        Op::Mul => "*",
        Op::Udiv | Op::Sdiv => "/",
        Op::Urem | Op::Srem => "%",
        Op::Eq => "==",
        Op::Ult | Op::Slt => "<",
        Op::Ule | Op::Sle => "<=",
        Op::Not | Op::Ite | Op::Concat | Op::Extract { .. } | Op::Zext | Op::Sext => return None,
    })
}

/// The value as two's complement.
fn signed(value: u128, width: u16) -> i128 {
    let unused = 128u32.saturating_sub(u32::from(width)).min(127);
    value.cast_signed() << unused >> unused
}

/// Small negative numbers are shown as such.
fn constant(value: u128, width: u16) -> String {
    let number = signed(value, width);
    if width > 1 && (-4096..0).contains(&number) {
        return number.to_string();
    }
    if value > 0xffff {
        format!("{value:#x}")
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::seeds::Seeds;

    fn table(summary: &Summary, property: &Property) -> String {
        let mut out = Vec::new();
        write(&mut out, summary, property).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn spin_trylock_reads_as_in_figure_8() {
        let (property, _) = Property::load(&[]);
        let (seeds, _) = Seeds::load(&property, &[]);
        let trylock = seeds.get("spin_trylock").unwrap();
        let expected = "  P_in  = {}
  P_out = { ret != 0 }
  M     = { *param0, ret }
  ret   = (unknown) ? 0 : 1
  R       object   incond  state     outcond  state'
          *param0  _       unlocked  true     locked
          *param0  _       unlocked  false    unlocked
          *param0  _       locked    _        error
";
        assert_eq!(table(&trylock.summary, &property), expected);
    }

    #[test]
    fn expressions_read_as_c() {
        let value = |path: &[i64], when| IExpr::Value {
            object: IObj {
                root: Root::Param(0),
                path: path.iter().map(|&bytes| Offset::bytes(bytes)).collect(),
            },
            width: 32,
            when,
            narrow: false,
        };
        let number = |value| IExpr::Const { value, width: 32 };
        let op = |op, width, args| IExpr::Op { op, width, args };
        let summary = Summary {
            params: vec!["dev".into()],
            inputs: vec![
                op(
                    Op::Not,
                    1,
                    vec![op(
                        Op::Slt,
                        1,
                        vec![value(&[8], When::Entry), number(0xffff_fff4)],
                    )],
                ),
                op(
                    Op::Eq,
                    1,
                    vec![
                        op(Op::And, 32, vec![value(&[], When::Entry), number(4)]),
                        number(0),
                    ],
                ),
            ],
            outputs: vec![op(
                Op::Eq,
                1,
                vec![
                    value(&[8, 0], When::Exit),
                    IExpr::Linear {
                        width: 32,
                        constant: 0xffff_ffff,
                        terms: vec![(1, value(&[8, 0], When::Entry))],
                    },
                ],
            )],
            ..Summary::default()
        };
        let text = table(&summary, &Property::default());
        assert!(
            text.contains("P_in  = { *(dev + 8) >= -12, (dev & 4) == 0 }"),
            "{text}"
        );
        assert!(
            text.contains("P_out = { **(dev + 8) == (old(**(dev + 8)) - 1) }"),
            "{text}"
        );
    }
}
