use super::constants::NO_CONSTANTS;
use super::*;
use crate::property::StateId;
use crate::summary::seeds::Seeds;
use crate::summary::{IObj, Modified, Offset, Told};

fn shown(summary: &Summary, property: &Property) -> String {
    let mut out = Vec::new();
    write(
        &mut out,
        &[summary],
        (property, &NO_CONSTANTS),
        Extent::Short,
    )
    .unwrap();
    String::from_utf8(out).unwrap()
}

fn object(path: &[(i64, &str)]) -> IObj {
    let step = |&(constant, members): &(i64, &str)| Offset {
        members: Told((!members.is_empty()).then(|| members.into())),
        ..Offset::bytes(constant)
    };
    IObj {
        root: Root::Param(0),
        path: path.iter().map(step).collect(),
    }
}

fn value(object: IObj, width: u16, when: When) -> IExpr {
    IExpr::Value {
        object,
        width,
        when,
        narrow: false,
        pointer: Told(width == 64),
    }
}

fn number(value: u128, width: u16) -> IExpr {
    IExpr::Const { value, width }
}

fn op(op: Op, args: &[IExpr]) -> IExpr {
    IExpr::Op {
        op,
        width: 1,
        args: args.to_vec(),
    }
}

fn condition(expr: &IExpr, holds: bool, now: When) -> String {
    let summary = Summary {
        params: vec!["dev".into()],
        ..Summary::default()
    };
    let words = Words {
        summary: &summary,
        property: &Property::default(),
        constants: &NO_CONSTANTS,
    };
    words.condition(expr, holds, now)
}

#[test]
fn spin_trylock_reads_as_a_table_of_ways() {
    let (property, _) = Property::load(&[]);
    let (seeds, _) = Seeds::load(&property, &[]);
    let trylock = seeds.get("spin_trylock").unwrap();
    insta::assert_snapshot!(shown(&trylock.summary, &property), @r"
      *param0 (spinlock)
        unlocked → locked    if ret != 0
        unlocked → unlocked  if ret == 0
        locked   → error
      returns   0 or 1
      may set   *param0
    ");
}

#[test]
fn conditions_read_as_c() {
    let flags = || value(object(&[(8, "flags")]), 32, When::Entry);
    let port = || value(object(&[(16, "port")]), 64, When::Entry);
    let masked = IExpr::Op {
        op: Op::And,
        width: 32,
        args: vec![flags(), number(4, 32)],
    };
    let bit = IExpr::Op {
        op: Op::Extract { lo: 3 },
        width: 1,
        args: vec![flags()],
    };
    let cases = [
        (
            op(Op::Eq, &[port(), number(0, 64)]),
            true,
            "dev->port == NULL",
        ),
        (
            op(Op::Eq, &[port(), number(0, 64)]),
            false,
            "dev->port != NULL",
        ),
        (
            op(Op::Eq, &[masked.clone(), number(0, 32)]),
            false,
            "dev->flags & 4",
        ),
        (
            op(Op::Eq, &[masked, number(0, 32)]),
            true,
            "!(dev->flags & 4)",
        ),
        (bit.clone(), true, "dev->flags & 8"),
        (op(Op::Not, &[bit]), true, "!(dev->flags & 8)"),
        (
            op(Op::Slt, &[number(0, 32), flags()]),
            true,
            "dev->flags > 0",
        ),
        (
            op(Op::Slt, &[number(0, 32), flags()]),
            false,
            "dev->flags <= 0",
        ),
        (
            op(Op::Slt, &[flags(), number(0xffff_fff4, 32)]),
            false,
            "dev->flags >= -12",
        ),
        (
            op(Op::Ult, &[number(u128::from(u64::MAX) - 4095, 64), port()]),
            false,
            "dev->port is not an error pointer",
        ),
    ];
    for (expr, holds, expected) in cases {
        assert_eq!(condition(&expr, holds, When::Entry), expected);
    }
}

#[test]
fn what_has_no_name_is_an_offset_and_what_was_before_is_old() {
    let counter = |when| value(object(&[(8, ""), (0, "")]), 32, when);
    let less = IExpr::Linear {
        width: 32,
        constant: 0xffff_ffff,
        terms: vec![(1, counter(When::Entry))],
    };
    let taken = op(Op::Eq, &[counter(When::Exit), less]);
    let expected = "**(dev + 8) == old(**(dev + 8)) - 1";
    assert_eq!(condition(&taken, true, When::Exit), expected);
}

/// A lock that is taken if a pointer is not null and a flag is set, by conditions of which two are each other's negation.
fn summary() -> Summary {
    let port = || value(object(&[(16, "port")]), 64, When::Entry);
    let is_null = op(Op::Eq, &[port(), number(0, 64)]);
    let flag = op(
        Op::Slt,
        &[
            value(object(&[(8, "count")]), 32, When::Entry),
            number(0, 32),
        ],
    );
    let row = |incond: [Option<bool>; 3], from: u8, to: u8| Row {
        object: 0,
        incond: incond.to_vec(),
        from: StateId(from),
        outcond: Vec::new(),
        to: Target::State(StateId(to)),
        touched: true,
        doubtful: false,
        reported: false,
        contested: false,
        counted: false,
        answered: false,
        trace: Vec::new(),
    };
    let (yes, no) = (Some(true), Some(false));
    let lock = object(&[(0, "lock")]);
    Summary {
        params: vec!["dev".into()],
        inputs: vec![op(Op::Not, std::slice::from_ref(&is_null)), is_null, flag],
        objects: vec![SummaryObject {
            object: lock,
            name: "dev->lock".into(),
            class: None,
            machine: "mutex".into(),
            optional: false,
            open: false,
            shared: false,
            left_at: Vec::new(),
            exact: true,
            alone: true,
            only_if: Vec::new(),
            or_another: false,
            leads_back: false,
            found_in_blocks: false,
        }],
        rows: vec![
            row([yes, None, no], 0, 0),
            row([None, yes, no], 0, 0),
            row([no, yes, yes], 0, 0),
            row([yes, no, yes], 0, 1),
            row([None, None, None], 1, 1),
        ],
        modified: vec![Modified {
            object: object(&[(16, "port")]),
            size: 8,
            pointer: Told(true),
            null: Default::default(),
            null_with: None,
            only_if: Vec::new(),
            replaced: Default::default(),
            value: Some(IExpr::Op {
                op: Op::Ite,
                width: 64,
                args: vec![
                    op(
                        Op::Slt,
                        &[
                            value(object(&[(8, "count")]), 32, When::Entry),
                            number(0, 32),
                        ],
                    ),
                    value(object(&[]), 64, When::Entry),
                    port(),
                ],
            }),
        }],
        ..Summary::default()
    }
}

#[test]
fn each_condition_is_told_once_and_rows_are_merged() {
    let (property, _) = Property::load(&[]);
    insta::assert_snapshot!(shown(&summary(), &property), @r"
      dev->lock (mutex)
        unlocked → unlocked  if dev->count >= 0
        unlocked → unlocked  if dev->port == NULL
        unlocked → locked    if dev->port != NULL and dev->count < 0
        locked   → locked
      may set   dev->port = dev->count < 0 ? dev : dev->port
      keeps     dev in dev->port
    ");
}

#[test]
fn what_several_conditions_say_of_a_number_is_told_once() {
    let count = || value(object(&[(8, "count")]), 32, When::Exit);
    let zero = || op(Op::Eq, &[count(), number(0, 32)]);
    let negative = || op(Op::Slt, &[count(), number(0, 32)]);
    let positive = || op(Op::Slt, &[number(0, 32), count()]);
    let is = |literals: &[(IExpr, bool)]| {
        let summary = Summary {
            params: vec!["dev".into()],
            ..Summary::default()
        };
        let words = Words {
            summary: &summary,
            property: &Property::default(),
            constants: &NO_CONSTANTS,
        };
        let literals: Vec<(&IExpr, bool)> = literals.iter().map(|(one, is)| (one, *is)).collect();
        literals::texts(&words, &literals, When::Exit).join(" and ")
    };
    let cases = [
        (vec![(zero(), true), (negative(), false)], "dev->count == 0"),
        (vec![(zero(), false), (negative(), false)], "dev->count > 0"),
        (
            vec![(negative(), false), (positive(), false)],
            "dev->count == 0",
        ),
        (vec![(zero(), false), (negative(), true)], "dev->count < 0"),
        (vec![(zero(), false)], "dev->count != 0"),
        // It never happens, and is told as it is.
        (
            vec![(zero(), true), (negative(), true)],
            "dev->count == 0 and dev->count < 0",
        ),
    ];
    for (literals, expected) in cases {
        assert_eq!(is(&literals), expected);
    }
}
