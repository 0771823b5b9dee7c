//! The small languages inside a seed row: interface objects and conditions on the result.

use crate::ir::{POINTER_BITS, SymbolName};
use crate::summary::interface;
use crate::summary::{IExpr, IObj, Offset, Root, Told};
use crate::symbolic::term::Op;

/// When an operation happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    If(Condition),
}

/// `predicate == holds`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// Of width 1.
    pub predicate: IExpr,
    pub holds: bool,
}

/// Whether C could name a function so.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Reads `*param0`, `*(param0 + 8)`, `*(*(param0 + 8) + 16)`, `*(param1 + param0)` (an `int`
/// parameter as a byte offset), `*ret`, `*out0` (what the function leaves a pointer to where parameter 0 leads), `*out(param0 + 8)` (8 bytes
/// further on) or `global name`.
pub(super) fn object(text: &str) -> Result<IObj, String> {
    if let Some(name) = text.strip_prefix("global ") {
        let name = name.trim();
        if !is_identifier(name) {
            return Err(format!("`{name}` is no C object name"));
        }
        return Ok(IObj {
            root: Root::Global(SymbolName {
                name: name.to_owned(),
                file: None,
            }),
            path: vec![Offset::bytes(0)],
        });
    }
    if let Some(place) = text.strip_prefix("*out") {
        let Some(pointer) = left_pointer(place) else {
            return Err(format!(
                "`{place}` is no number of a parameter, and no place like (param0 + 8)"
            ));
        };
        return Ok(IObj {
            root: Root::Exit(Box::new(pointer)),
            path: vec![Offset::bytes(0)],
        });
    }
    let mut parser = ObjectParser { rest: text };
    let pointer = parser.operand().filter(|_| parser.rest.is_empty());
    match pointer {
        Some(Pointer { root, path, offset }) if !path.is_empty() && offset == Offset::default() => {
            Ok(IObj { root, path })
        }
        _ => Err(format!(
            "`{text}` is no object; expected something like *param0, *(param0 + 8), *ret or global name"
        )),
    }
}

/// Reads what follows `*out`: where the function leaves a pointer.
fn left_pointer(place: &str) -> Option<IObj> {
    if let Ok(number) = place.parse() {
        return Some(IObj {
            root: Root::Param(number),
            path: vec![Offset::bytes(0)],
        });
    }
    let mut parser = ObjectParser {
        rest: place.strip_prefix('(').map(|_| place)?,
    };
    let Pointer {
        root,
        mut path,
        offset,
    } = parser.operand().filter(|_| parser.rest.is_empty())?;
    path.push(offset);
    Some(IObj { root, path })
}

/// What the function leaves so many bytes further than where a parameter leads.
fn left_at(param: &str, bytes: i64) -> Result<Root, String> {
    let Ok(param) = param.parse() else {
        return Err(format!("`{param}` is no number of a parameter"));
    };
    Ok(Root::Exit(Box::new(IObj {
        root: Root::Param(param),
        path: vec![Offset::bytes(bytes)],
    })))
}

/// Reads what names an object by its value: `ret`, `param0`, `out0` (what the function leaves where parameter 0 leads) or `out0 + 4`.
pub(super) fn number(text: &str) -> Result<IObj, String> {
    let words: Vec<_> = text.split_whitespace().collect();
    let (word, bytes) = match words.as_slice() {
        [word] => (*word, Some(0)),
        [word, "+", bytes] => (*word, bytes.parse().ok()),
        _ => (text, None),
    };
    let root = match (word, word.strip_prefix("out"), bytes) {
        (_, Some(place), Some(bytes)) => left_at(place, bytes)?,
        ("ret", None, Some(0)) => Root::Return,
        (word, None, Some(0)) if param(word).is_some() => Root::Param(param(word).unwrap_or(0)),
        _ => {
            return Err(format!(
                "`{text}` is no value; expected something like ret, param0, out0 or out0 + 4"
            ));
        }
    };
    let path = Vec::new();
    Ok(IObj { root, path })
}

/// Reads `param1 & 0x400` or `param1 & 0x400 == 0`: some or none of those bits of an `int` argument are set.
pub(super) fn bits(text: &str) -> Result<IExpr, String> {
    let words: Vec<_> = text.split_whitespace().collect();
    let (words, none) = match words.as_slice() {
        [words @ .., "==", "0"] => (words, true),
        words => (words, false),
    };
    let parsed = match words {
        [name, "&", number] => {
            let bits = match number.strip_prefix("0x") {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok(),
                None => number.parse().ok(),
            };
            param(name).zip(bits)
        }
        _ => None,
    };
    let Some((param, bits)) = parsed else {
        return Err(format!(
            "`{text}` is no condition on an argument; expected something like `param1 & 0x400`"
        ));
    };
    let width = 32;
    let constant = |value: u32| IExpr::Const {
        value: u128::from(value),
        width,
    };
    let value = passed(param, width);
    let op = |op, width, args| IExpr::Op { op, width, args };
    let set = op(Op::And, width, vec![value, constant(bits)]);
    let clear = op(Op::Eq, 1, vec![set, constant(0)]);
    match none {
        true => Ok(clear),
        false => Ok(op(Op::Not, 1, vec![clear])),
    }
}

/// An object's name in reports: a global's own name, else the text.
pub(super) fn name(text: &str) -> &str {
    text.strip_prefix("global ").map_or(text, str::trim)
}

/// Reads where a value is: `ret`, `param0`, or an object.
pub(super) fn place(text: &str) -> Result<IObj, String> {
    let root = match text.trim() {
        "ret" => Some(Root::Return),
        text => param(text).map(Root::Param),
    };
    match root {
        Some(root) => Ok(IObj {
            root,
            path: Vec::new(),
        }),
        None => object(text),
    }
}

/// A pointer value: what `path` reads from `root`, plus `offset`.
struct Pointer {
    root: Root,
    path: Vec<Offset>,
    offset: Offset,
}

/// operand := `*` operand | `(` operand { `+` term } `)` | `paramN` | `ret`; term := integer | `paramN`.
struct ObjectParser<'a> {
    rest: &'a str,
}

impl<'a> ObjectParser<'a> {
    fn eat(&mut self, token: char) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'a str {
        let text = self.rest.trim_start();
        let end = text
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        word
    }

    fn operand(&mut self) -> Option<Pointer> {
        if self.eat('*') {
            let mut pointer = self.operand()?;
            pointer.path.push(std::mem::take(&mut pointer.offset));
            return Some(pointer);
        }
        if self.eat('(') {
            let mut pointer = self.operand()?;
            while self.eat('+') {
                self.term(&mut pointer.offset)?;
            }
            return self.eat(')').then_some(pointer);
        }
        let root = match self.word() {
            "ret" => Root::Return,
            word => Root::Param(param(word)?),
        };
        Some(Pointer {
            root,
            path: Vec::new(),
            offset: Offset::default(),
        })
    }

    fn term(&mut self, offset: &mut Offset) -> Option<()> {
        let word = self.word();
        if let Ok(bytes) = word.parse::<u32>() {
            offset.constant += i64::from(bytes);
            return Some(());
        }
        let value = IExpr::Value {
            object: IObj {
                root: Root::Param(param(word)?),
                path: Vec::new(),
            },
            width: 32,
            when: interface::When::Entry,
            narrow: false,
            pointer: Told(false),
        };
        let value = IExpr::Op {
            op: Op::Sext,
            width: 64,
            args: vec![value],
        };
        offset.terms.push((1, value));
        offset.terms.sort();
        Some(())
    }
}

/// N of `paramN`.
fn param(word: &str) -> Option<u32> {
    word.strip_prefix("param")?.parse().ok()
}

/// The value that a function returns.
pub(super) fn returned(width: u16) -> IExpr {
    IExpr::Value {
        object: IObj {
            root: Root::Return,
            path: Vec::new(),
        },
        width,
        when: interface::When::Exit,
        narrow: false,
        pointer: Told(false),
    }
}

/// What a parameter is on entry: a pointer or a number.
pub(super) fn passed(param: u32, width: u16) -> IExpr {
    IExpr::Value {
        object: IObj {
            root: Root::Param(param),
            path: Vec::new(),
        },
        width,
        when: interface::When::Entry,
        narrow: false,
        pointer: Told(width == POINTER_BITS),
    }
}

/// Reads a condition on an argument: `param1 == null`, `param1 == -1` of an `int`, or what [`bits`] reads. A condition of width 1 and
/// whether it is to hold.
pub(super) fn argument(text: &str) -> Result<Condition, String> {
    let words: Vec<_> = text.split_whitespace().collect();
    let compared = match words.as_slice() {
        [name, operator @ ("==" | "!="), "null"] => Some((name, operator, 0, POINTER_BITS)),
        [name, operator @ ("==" | "!="), number] => {
            let number = number.parse::<i32>().ok();
            number.map(|number| (name, operator, number, INT_BITS))
        }
        _ => None,
    };
    let Some((name, operator, number, width)) = compared else {
        return bits(text).map(|predicate| Condition {
            predicate,
            holds: true,
        });
    };
    let Some(param) = param(name) else {
        return Err(format!("`{name}` is no argument"));
    };
    let argument = passed(param, width);
    // What is not 0 is told as in inferred summaries.
    Ok(match number {
        0 => Condition {
            predicate: IExpr::is_nonzero(argument, width),
            holds: *operator == "!=",
        },
        _ => Condition {
            predicate: IExpr::Op {
                op: Op::Eq,
                width: 1,
                args: vec![
                    argument,
                    IExpr::Const {
                        value: u128::from(number.cast_unsigned()),
                        width,
                    },
                ],
            },
            holds: *operator == "==",
        },
    })
}

/// Bits of an `int`.
pub(super) const INT_BITS: u16 = 32;

/// The numbers from here on are errors where a pointer should be (`IS_ERR`).
const FIRST_ERROR: i64 = -4095;

/// Reads `always`, a comparison of `ret`, of `width` bits, with a number, or `IS_ERR(ret)` and `!IS_ERR(ret)`. The predicates are
/// lift_c(ret), that is `ret != 0`, where they can be, as in inferred summaries.
pub(super) fn when(text: &str, width: u16) -> Result<When, String> {
    if text == "always" {
        return Ok(When::Always);
    }
    let words: Vec<_> = text.split_whitespace().collect();
    let (operator, number) = match words.as_slice() {
        ["ret", operator, number] => (*operator, *number),
        ["IS_ERR(ret)"] => (">=u", ""),
        ["!IS_ERR(ret)"] => ("<u", ""),
        _ => {
            return Err(format!(
                "`{text}` is no condition; expected `always` or something like `ret == 0`"
            ));
        }
    };
    let number: i64 = match number {
        "" => FIRST_ERROR,
        number => number
            .parse()
            .map_err(|_| format!("`{number}` is no number"))?,
    };
    let ret = returned(width);
    let constant = IExpr::Const {
        value: number as u128 & (u128::MAX >> (128 - u32::from(width))),
        width,
    };
    let compare = |op, left, right| IExpr::Op {
        op,
        width: 1,
        args: vec![left, right],
    };
    let (predicate, holds) = match operator {
        "==" | "!=" if number == 0 => {
            let zero = compare(Op::Eq, ret, constant);
            let lifted = IExpr::Op {
                op: Op::Not,
                width: 1,
                args: vec![zero],
            };
            (lifted, operator == "!=")
        }
        "==" | "!=" => (compare(Op::Eq, ret, constant), operator == "=="),
        "<" | ">=" => (compare(Op::Slt, ret, constant), operator == "<"),
        ">" | "<=" => (compare(Op::Slt, constant, ret), operator == ">"),
        "<u" | ">=u" => (compare(Op::Ult, ret, constant), operator == "<u"),
        _ => {
            return Err(format!(
                "`{operator}` is no comparison; expected one of ==, !=, <, <=, >, >="
            ));
        }
    };
    Ok(When::If(Condition { predicate, holds }))
}
