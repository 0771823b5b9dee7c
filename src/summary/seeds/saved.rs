//! States that a program keeps in a value and goes back to: `local_irq_save(flags)` and
//! `local_irq_restore(flags)`.
//!
//! In: the keys `saves` and `restores` of a row. Out: the value that the state on entry makes, and rows
//! whose conditions on entry read the state from such a value.

use toml::Spanned;

use super::effect::{FunctionRow, Operation, modify};
use super::syntax;
use crate::property::document::Document;
use crate::property::{Machine, StateId, Target};
use crate::summary::{Cube, IExpr, IObj, Root, Row, Summary, Told, When};
use crate::symbolic::term::Op;

/// `unsigned long`.
const WIDTH: u16 = 64;

/// Reads the two keys; `None` if they make no sense, which is reported.
pub(super) fn places(
    row: &FunctionRow,
    operation: Operation<'_>,
    document: &mut Document,
) -> Option<(Option<IObj>, Option<IObj>)> {
    let mut sound = true;
    let mut place = |text: &Option<Spanned<String>>, document: &mut Document| {
        let text = text.as_ref()?;
        let kept =
            matches!(operation, Operation::Transition(machine, _) if machine.saved.is_some());
        let place = match kept {
            true => syntax::place(text.get_ref()),
            false => Err("the machine does not say how its states are `saved`".to_string()),
        };
        place
            .map_err(|message| {
                sound = false;
                document.error(text.span(), message);
            })
            .ok()
    };
    let places = (place(&row.saves, document), place(&row.restores, document));
    if let (Some(restores), Some(_)) = (&row.restores, &row.when) {
        document.error(restores.span(), "a state is restored always, or never");
        sound = false;
    }
    sound.then_some(places)
}

/// Lets the function put the object's state on entry into the place.
pub(super) fn save(summary: &mut Summary, machine: &Machine, object: &IObj, place: &IObj) {
    let constant = |value: u64| IExpr::Const {
        value: u128::from(value),
        width: WIDTH,
    };
    let mut states = machine.state_ids().zip(machine.saved.iter().flatten());
    let Some((_, &first)) = states.next() else {
        return;
    };
    let value = states.fold(constant(first), |rest, (state, &value)| {
        let here = IExpr::InState {
            object: object.clone(),
            machine: machine.name.clone(),
            state,
        };
        IExpr::either(here, [constant(value), rest])
    });
    let size = u64::from(WIDTH / 8);
    modify(summary, place.clone(), size);
    if place.root == Root::Return {
        summary.result = Some(value);
    } else if let Some(modified) = summary.modified.iter_mut().find(|m| m.object == *place) {
        modified.size = size;
        modified.value = Some(value);
    }
}

/// For each state the column of P_in that says that the value tells it, added.
pub(super) fn conditions(
    summary: &mut Summary,
    machine: &Machine,
    value: &IObj,
) -> Vec<(StateId, usize)> {
    let mut columns = Vec::new();
    for (state, &bits) in machine.state_ids().zip(machine.saved.iter().flatten()) {
        let value = IExpr::Value {
            object: value.clone(),
            width: WIDTH,
            when: When::Entry,
            narrow: false,
            pointer: Told(false),
        };
        let constant = |value: u64| IExpr::Const {
            value: u128::from(value),
            width: WIDTH,
        };
        let kept = IExpr::Op {
            op: Op::And,
            width: WIDTH,
            args: vec![value, constant(machine.saved_mask())],
        };
        let told = IExpr::Op {
            op: Op::Eq,
            width: 1,
            args: vec![kept, constant(bits)],
        };
        columns.push((state, summary.inputs.len()));
        summary.inputs.push(told);
    }
    columns
}

/// The row once for each state that the value may tell, and once for a value that tells none, which
/// leaves the object as it is. What is wrong then rests on the value.
pub(super) fn rows(row: &Row, initial: StateId, kept: &[(StateId, usize)]) -> Vec<Row> {
    let told = kept.iter().map(|&(state, _)| Some(state));
    told.chain([None])
        .map(|told| {
            let mut incond: Cube = Vec::new();
            for &(state, column) in kept {
                incond.resize(column + 1, None);
                incond[column] = match told {
                    Some(told) => (told == state).then_some(true),
                    None => Some(false),
                };
            }
            let to = match (&row.to, told) {
                (Target::Error(_), Some(_)) => row.to.clone(),
                (_, Some(state)) => Target::State(state),
                (_, None) => Target::State(row.from),
            };
            Row {
                incond,
                doubtful: told.is_none() || to != Target::State(initial),
                to,
                ..row.clone()
            }
        })
        .collect()
}
