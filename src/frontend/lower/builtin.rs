//! Compiler built-ins: those with a meaning of their own instead of a call.
//!
//! In: a call by name. Out: its value, or `None` for an ordinary call.

use lang_c::ast::{self, Expression};
use lang_c::span::Node;

use super::Lowerer;
use super::names::Class;
use super::value::{Repr, Value};
use crate::frontend::declare::{Lower, lost};
use crate::frontend::types::{FloatKind, IntKind, Kind, Type};
use crate::ir::{BinOp, CmpOp, ExprKind, StmtKind, TermKind, Ty, UnOp};

type Args<'a> = &'a [Node<Expression>];

/// The C library's functions that have a built-in of the same meaning.
const LIBRARY: &[&str] = &[
    "abort",
    "bcmp",
    "bcopy",
    "bzero",
    "calloc",
    "exit",
    "free",
    "fprintf",
    "fputs",
    "fwrite",
    "index",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "printf",
    "putchar",
    "puts",
    "realloc",
    "rindex",
    "snprintf",
    "sprintf",
    "stpcpy",
    "strcasecmp",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strcspn",
    "strdup",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strndup",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "vfprintf",
    "vprintf",
    "vsnprintf",
    "vsprintf",
];

/// The result type of a function that is not declared.
pub fn result_type(name: &str) -> Type {
    let Some(name) = name.strip_prefix("__builtin_") else {
        return library_type(name).unwrap_or_else(|| Type::int(IntKind::Int));
    };
    if let Some(ty) = library_type(name) {
        return ty;
    }
    let double = |kind| Type::new(Kind::Float(kind));
    match name {
        "bswap16" => Type::int(IntKind::UShort),
        "bswap32" => Type::int(IntKind::UInt),
        "bswap64" => Type::int(IntKind::ULong),
        "bswap128" => Type::int(IntKind::UInt128),
        "return_address"
        | "frame_address"
        | "extract_return_addr"
        | "frob_return_addr"
        | "alloca"
        | "alloca_with_align"
        | "thread_pointer"
        | "apply"
        | "apply_args" => Type::pointer(Type::void()),
        "inf" | "huge_val" | "nan" | "nans" | "fabs" | "sqrt" | "floor" | "ceil" | "pow"
        | "copysign" | "fmin" | "fmax" | "trunc" | "round" | "rint" | "fma" => {
            double(FloatKind::Double)
        }
        "inff" | "huge_valf" | "nanf" | "fabsf" | "sqrtf" | "floorf" | "ceilf" | "powf"
        | "copysignf" | "fminf" | "fmaxf" | "truncf" | "roundf" => double(FloatKind::Float),
        "infl" | "huge_vall" | "nanl" | "fabsl" | "copysignl" => double(FloatKind::LongDouble),
        "ia32_rdtsc" | "ia32_rdpmc" | "readcyclecounter" | "ia32_readeflags_u64" => {
            Type::int(IntKind::ULong)
        }
        _ => Type::int(IntKind::Int),
    }
}

fn library_type(name: &str) -> Option<Type> {
    Some(match name {
        "strlen" | "strnlen" | "strspn" | "strcspn" | "fwrite" => Type::int(IntKind::ULong),
        "malloc" | "calloc" | "realloc" | "memchr" | "memcpy" | "memmove" | "mempcpy"
        | "memset" => Type::pointer(Type::void()),
        "index" | "rindex" | "stpcpy" | "strcat" | "strchr" | "strcpy" | "strdup" | "strncat"
        | "strncpy" | "strndup" | "strpbrk" | "strrchr" | "strstr" => {
            Type::pointer(Type::int(IntKind::Char))
        }
        _ => return None,
    })
}

impl Lowerer<'_> {
    fn int_value(&mut self, value: i128) -> Value {
        let expr = self.b.int(value, Ty::INT);
        Value::scalar_of(expr, Type::int(IntKind::Int))
    }

    fn size_of_value(&mut self, value: u128) -> Value {
        let expr = self.b.bits(value, Ty::SIZE);
        Value::scalar_of(expr, Type::int(IntKind::ULong))
    }

    /// The argument whose truth `__builtin_expect` has.
    pub fn expected<'e>(&self, call: &'e ast::CallExpression) -> Option<&'e Node<Expression>> {
        match self.plain_callee(call)? {
            "__builtin_expect" | "__builtin_expect_with_probability" => call.arguments.first(),
            _ => None,
        }
    }

    /// The expression that stands for a whole call: `__builtin_choose_expr`.
    pub fn chosen<'e>(&mut self, call: &'e ast::CallExpression) -> Option<&'e Node<Expression>> {
        if self.plain_callee(call)? != "__builtin_choose_expr" {
            return None;
        }
        let [cond, then, els] = call.arguments.as_slice() else {
            return None;
        };
        let cond = self.fold_constant(cond).ok().flatten();
        match cond.and_then(|cond| self.b.truth(cond)) {
            Some(true) => Some(then),
            _ => Some(els),
        }
    }

    /// A built-in's value; `None` if the name is to be called.
    pub fn builtin(
        &mut self,
        name: &str,
        call: &ast::CallExpression,
        used: bool,
    ) -> Lower<Option<Value>> {
        let args: Args = &call.arguments;
        if let Some(value) = self.memory_builtin(name, args)? {
            return Ok(Some(value));
        }
        if let Some(rest) = name.strip_prefix("__cassini_") {
            return self.encoded(rest, args);
        }
        if let Some(rest) = name.strip_prefix("__sync_") {
            return self.sync(rest, args);
        }
        if let Some(rest) = name
            .strip_prefix("__atomic_")
            .or_else(|| name.strip_prefix("__c11_atomic_"))
        {
            return self.atomic(rest, args);
        }
        let Some(rest) = name.strip_prefix("__builtin_") else {
            return Ok(None);
        };
        if let Some(value) = self.overflow(rest, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.bit_count(rest, args)? {
            return Ok(Some(value));
        }
        Ok(Some(match (rest, args) {
            ("expect" | "expect_with_probability", [value, ..]) => {
                let value = self.value(value)?;
                self.converted(&value, &Type::int(IntKind::Long))?
            }
            ("constant_p", [value]) => {
                let folded = self.fold_constant(value)?;
                let known = folded.is_some_and(|expr| {
                    matches!(
                        self.b.kind(expr),
                        ExprKind::Const(_) | ExprKind::AddrString(_)
                    )
                });
                self.int_value(i128::from(known))
            }
            ("unreachable" | "trap" | "abort", _) => {
                if self.dry_runs == 0 {
                    self.b.terminate(TermKind::Unreachable);
                }
                Value::void()
            }
            ("assume", [cond]) => {
                let cond = self.value(cond)?;
                let cond = self.truth_of(&cond);
                self.b.stmt(StmtKind::Assume(cond));
                Value::void()
            }
            ("object_size" | "dynamic_object_size", [_, kind]) => {
                let kind = self.integer_constant(kind).unwrap_or(0);
                let most = if kind & 2 == 0 { u128::MAX } else { 0 };
                self.size_of_value(most)
            }
            (
                "assume_aligned" | "launder" | "speculation_safe_value" | "unpredictable",
                [p, ..],
            ) => self.value(p)?,
            ("prefetch" | "clear_padding" | "cpu_init" | "__clear_cache" | "ia32_pause", args) => {
                for arg in args {
                    self.effect(arg)?;
                }
                Value::void()
            }
            ("classify_type" | "is_constant_evaluated" | "LINE", _) => self.int_value(0),
            ("FUNCTION", []) => {
                let spelling = format!("\"{}\"", self.function);
                let place = self.string_place(&[spelling]);
                self.rvalue(place.into())?
            }
            ("va_start" | "c23_va_start", [list, ..]) => {
                let list = self.value(list)?;
                let dst = self.pointer_argument(&list)?;
                self.b.stmt(StmtKind::Havoc { dst, size: 24 });
                Value::void()
            }
            ("va_copy", [to, from]) => {
                let (to, from) = (self.value(to)?, self.value(from)?);
                let dst = self.pointer_argument(&to)?;
                let src = self.pointer_argument(&from)?;
                self.b.stmt(StmtKind::Copy { dst, src, size: 24 });
                Value::void()
            }
            ("va_end", [list]) => {
                self.effect(list)?;
                Value::void()
            }
            ("strlen", [string]) => {
                let value = self.value(string)?;
                let known = match value.repr {
                    Repr::Scalar(expr) => self.string_length_of(expr),
                    _ => None,
                };
                match known {
                    Some(len) => self.size_of_value(len),
                    None => self.call_values("strlen", &[value], call, used)?,
                }
            }
            ("shuffle" | "shufflevector", [first, ..]) => {
                let value = self.value(first)?;
                self.unknown_value(&value.ty)?
            }
            ("complex", [real, ..]) => {
                let value = self.value(real)?;
                let ty = Type::new(Kind::Complex(std::sync::Arc::new(value.ty)));
                self.unknown_value(&ty)?
            }
            ("alloca" | "alloca_with_align" | "alloca_with_align_and_max", [size, ..]) => {
                let size = self.value(size)?;
                let size = self.converted(&size, &Type::int(IntKind::ULong))?;
                self.call_values("__builtin_alloca", &[size], call, used)?
            }
            (library, args) if LIBRARY.contains(&library) => {
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.value(arg)?);
                }
                self.call_values(library, &values, call, used)?
            }
            _ => return Ok(None),
        }))
    }

    /// An ordinary call to a function by another name, shown as written.
    fn call_values(
        &mut self,
        name: &str,
        values: &[Value],
        call: &ast::CallExpression,
        used: bool,
    ) -> Lower<Value> {
        let (callee, signature) = self.named_callee(name)?;
        let text = super::text::call(call, 60);
        self.emit_call(callee, &signature, values, used, text)
    }

    /// The length of a string literal at an address.
    fn string_length_of(&self, addr: crate::ir::ExprId) -> Option<u128> {
        let ExprKind::AddrString(id) = self.b.kind(addr) else {
            return None;
        };
        let bytes = self.b.strings.get(id.index())?;
        bytes
            .iter()
            .position(|byte| *byte == 0)
            .map(|len| len as u128)
    }

    /// The names that the normaliser puts in place of what lang-c cannot read.
    fn encoded(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        Ok(Some(match (name, args) {
            ("types_compatible", [a, b]) => {
                let (a, b) = (self.measured_type(a)?, self.measured_type(b)?);
                let same = self.compatible(&a, &b)?;
                self.int_value(i128::from(same))
            }
            ("goto", [target]) => {
                self.effect(target)?;
                self.computed_goto();
                Value::void()
            }
            ("label", [label]) => {
                if let Expression::StringLiteral(parts) = &label.node {
                    let (mut bytes, _) = super::literal::string(&parts.node);
                    bytes.pop();
                    self.take_label(&String::from_utf8_lossy(&bytes));
                }
                let expr = self.b.unknown(Ty::Ptr);
                Value::scalar_of(expr, Type::pointer(Type::void()))
            }
            ("convertvector", [value, measured]) => {
                self.effect(value)?;
                let ty = self.measured_type(measured)?;
                self.unknown_value(&ty)?
            }
            ("real" | "imag", [value]) => {
                let value = self.value(value)?;
                let ty = match self.resolve(&value.ty)?.kind {
                    Kind::Complex(of) => of.as_ref().clone(),
                    _ => value.ty,
                };
                self.unknown_value(&ty)?
            }
            _ => return Ok(None),
        }))
    }

    /// The type inside a `sizeof` that only carries it.
    fn measured_type(&mut self, expr: &Node<Expression>) -> Lower<Type> {
        match &expr.node {
            Expression::SizeOfTy(of) => crate::frontend::declare::type_name(self, &of.node.0.node),
            Expression::SizeOfVal(of) => self.type_of_expression(&of.node.0),
            _ => lost("types_compatible without types"),
        }
    }

    /// `memcpy` and its kin with constant sizes.
    fn memory_builtin(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        let [first, second, third, ..] = args else {
            return Ok(None);
        };
        let copies = matches!(
            plain,
            "memcpy"
                | "memmove"
                | "__memcpy"
                | "__memmove"
                | "__memcpy_chk"
                | "__memmove_chk"
                | "___memcpy_chk"
                | "___memmove_chk"
        );
        let sets = matches!(
            plain,
            "memset" | "__memset" | "__memset_chk" | "___memset_chk"
        );
        if !copies && !sets {
            return Ok(None);
        }
        let size = self.fold_constant(third)?;
        let Some(size) = size.and_then(|size| self.b.constant(size)) else {
            return Ok(None);
        };
        let Ok(size) = u64::try_from(size) else {
            return Ok(None);
        };
        let to = self.value(first)?;
        let with = self.value(second)?;
        let dst = self.pointer_argument(&to)?;
        let dst = self.b.stable(dst);
        if copies {
            let src = self.pointer_argument(&with)?;
            if size > 0 {
                self.b.stmt(StmtKind::Copy { dst, src, size });
            }
        } else {
            let byte = self.scalar(&with)?;
            let zero = self.b.constant(byte) == Some(0);
            if size > 0 {
                self.b.stmt(if zero {
                    StmtKind::Zero { dst, size }
                } else {
                    StmtKind::Havoc { dst, size }
                });
            }
        }
        Ok(Some(Value::scalar_of(dst, Type::pointer(Type::void()))))
    }

    /// `__builtin_{add,sub,mul}_overflow` and their typed forms.
    fn overflow(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        let Some(stem) = name
            .strip_suffix("_overflow")
            .or_else(|| name.strip_suffix("_overflow_p"))
        else {
            return Ok(None);
        };
        let op = if stem.contains("add") {
            BinOp::Add
        } else if stem.contains("sub") {
            BinOp::Sub
        } else if stem.contains("mul") {
            BinOp::Mul
        } else {
            return Ok(None);
        };
        let [a, b, result] = args else {
            return Ok(None);
        };
        let (a, b) = (self.value(a)?, self.value(b)?);
        let result = self.value(result)?;
        let place = if name.ends_with("_p") {
            None
        } else {
            Some(self.dereference(&result)?)
        };
        let target = match &place {
            Some(place) => place.ty.clone(),
            None => result.ty.clone(),
        };
        let kinds = (
            self.resolve(&a.ty)?.kind,
            self.resolve(&b.ty)?.kind,
            self.resolve(&target)?.kind,
        );
        let (Kind::Int(x), Kind::Int(y), Kind::Int(to)) = kinds else {
            return lost("overflow built-in on what is no integer");
        };
        let unsigned = !x.signed() && !y.signed() && op == BinOp::Mul;
        let wide = if unsigned {
            IntKind::UInt128
        } else {
            IntKind::Int128
        };
        let narrow = [x, y, to].iter().all(|kind| kind.bits() <= 64);
        let wide = Type::int(wide);
        let (l, r) = (self.convert(&a, &wide)?, self.convert(&b, &wide)?);
        let exact = self.b.binary(op, l, r);
        let exact = self.b.spill(exact);
        let stored = self.b.cast(exact, to.ty());
        let flag = if narrow {
            let again = self.b.cast(stored, self.b.ty(exact));
            self.b.compare(CmpOp::Ne, again, exact)
        } else {
            let unknown = self.b.unknown(Ty::INT);
            self.b.spill(unknown)
        };
        if let Some(place) = place {
            let value = Value::scalar_of(stored, Type::int(to));
            self.write(&place, &value)?;
        }
        Ok(Some(Value::scalar_of(flag, Type::int(IntKind::Int))))
    }

    /// Bit counting and byte swapping of constants.
    fn bit_count(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        let stem = name.trim_end_matches('l');
        let counted = matches!(
            stem,
            "ffs" | "clz" | "ctz" | "popcount" | "parity" | "clrsb"
        );
        let swapped = matches!(name, "bswap16" | "bswap32" | "bswap64");
        let [arg] = args else {
            return Ok(None);
        };
        if !counted && !swapped {
            return Ok(None);
        }
        let bits: u16 = match name {
            "bswap16" => 16,
            "bswap32" => 32,
            "bswap64" => 64,
            _ if name.len() > stem.len() => 64,
            _ => 32,
        };
        let Some(expr) = self.fold_constant(arg)? else {
            return Ok(None);
        };
        let Some(value) = self.b.constant(expr) else {
            return Ok(None);
        };
        let ty = Ty::Int {
            bits,
            signed: false,
        };
        let value = super::fold::truncate(value.cast_unsigned(), ty);
        let width = u32::from(bits);
        let unused = 128 - width;
        let result = match stem {
            "ffs" if value == 0 => 0,
            "ffs" => u128::from(value.trailing_zeros() + 1),
            // Undefined for zero.
            "clz" | "ctz" if value == 0 => return Ok(None),
            "clz" => u128::from(value.leading_zeros() - unused),
            "ctz" => u128::from(value.trailing_zeros()),
            "popcount" => u128::from(value.count_ones()),
            "parity" => u128::from(value.count_ones() % 2),
            "clrsb" => return Ok(None),
            _ => {
                let swapped = value.swap_bytes() >> unused;
                let ty = result_type(&format!("__builtin_{name}"));
                let expr = self.b.bits(
                    swapped,
                    Ty::Int {
                        bits,
                        signed: false,
                    },
                );
                return Ok(Some(Value::scalar_of(expr, ty)));
            }
        };
        Ok(Some(self.int_value(result.cast_signed())))
    }

    // ---- atomics, in their sequential meaning ----

    fn operation(name: &str) -> Option<&'static str> {
        ["add", "sub", "and", "or", "xor", "nand"]
            .into_iter()
            .find(|op| *op == name)
    }

    /// Reads, combines and writes: the old or the new value.
    fn fetch_op(&mut self, op: &str, pointer: &Value, with: &Value, new: bool) -> Lower<Value> {
        let mut place = self.pointee(pointer)?;
        place.addr = self.b.stable(place.addr);
        let old = self.rvalue(place.clone().into())?;
        let expr = self.scalar(&old)?;
        let old = Value::scalar_of(self.b.spill(expr), old.ty);
        let resolved = self.resolve(&place.ty)?;
        // Pointers move by bytes.
        let arithmetic = match resolved.kind {
            Kind::Pointer(_) => Type::int(IntKind::Long),
            _ => resolved,
        };
        let left = self.converted(&old, &arithmetic)?;
        let right = self.converted(with, &arithmetic)?;
        let combined = match op {
            "add" => self.arithmetic(BinOp::Add, &left, &right)?,
            "sub" => self.arithmetic(BinOp::Sub, &left, &right)?,
            "and" => self.arithmetic(BinOp::And, &left, &right)?,
            "or" => self.arithmetic(BinOp::Or, &left, &right)?,
            "xor" => self.arithmetic(BinOp::Xor, &left, &right)?,
            _ => {
                let both = self.arithmetic(BinOp::And, &left, &right)?;
                let expr = self.scalar(&both)?;
                Value::scalar_of(self.b.unary(UnOp::Not, expr), both.ty)
            }
        };
        let stored = self.converted(&combined, &place.ty)?;
        self.write(&place, &stored)?;
        Ok(if new { stored } else { old })
    }

    /// Writes `desired` if the place holds `expected`: the flag and the old value.
    fn compare_exchange(
        &mut self,
        pointer: &Value,
        expected: &Value,
        desired: &Value,
    ) -> Lower<(Value, Value)> {
        let mut place = self.pointee(pointer)?;
        place.addr = self.b.stable(place.addr);
        let old = self.rvalue(place.clone().into())?;
        let expr = self.scalar(&old)?;
        let old = Value::scalar_of(self.b.spill(expr), old.ty);
        let expected = self.converted(expected, &place.ty)?;
        let flag = self.comparison(CmpOp::Eq, &old, &expected)?;
        let flag_expr = self.scalar(&flag)?;
        let flag_expr = self.b.spill(flag_expr);
        let (write, join) = (self.b.block(), self.b.block());
        self.b.branch(flag_expr, write, join);
        if self.b.reached(write) || self.b.truth(flag_expr).is_none() {
            self.b.switch_to(write);
            self.write(&place, desired)?;
            self.b.goto(join);
        }
        self.b.switch_to(join);
        let flag = Value::scalar_of(flag_expr, Type::int(IntKind::Int));
        Ok((flag, old))
    }

    fn values(&mut self, args: Args) -> Lower<Vec<Value>> {
        args.iter().map(|arg| self.value(arg)).collect()
    }

    fn exchange(&mut self, pointer: &Value, with: &Value) -> Lower<Value> {
        let mut place = self.pointee(pointer)?;
        place.addr = self.b.stable(place.addr);
        let old = self.rvalue(place.clone().into())?;
        let old = match old.repr {
            Repr::Scalar(expr) => Value::scalar_of(self.b.spill(expr), old.ty),
            _ => old,
        };
        self.write(&place, with)?;
        Ok(old)
    }

    fn sync(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        // Sized forms: `__sync_fetch_and_add_4`.
        let name = name
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .trim_end_matches('_');
        if name == "synchronize" {
            return Ok(Some(Value::void()));
        }
        let values = self.values(args)?;
        let fetch = name.strip_prefix("fetch_and_").and_then(Self::operation);
        let then = name.strip_suffix("_and_fetch").and_then(Self::operation);
        Ok(Some(match (name, values.as_slice()) {
            (_, [pointer, with, ..]) if fetch.or(then).is_some() => {
                let op = fetch.or(then).unwrap_or("add");
                self.fetch_op(op, pointer, with, then.is_some())?
            }
            ("bool_compare_and_swap", [pointer, expected, desired, ..]) => {
                self.compare_exchange(pointer, expected, desired)?.0
            }
            ("val_compare_and_swap", [pointer, expected, desired, ..]) => {
                self.compare_exchange(pointer, expected, desired)?.1
            }
            ("lock_test_and_set", [pointer, with, ..]) => self.exchange(pointer, with)?,
            ("lock_release", [pointer, ..]) => {
                let zero = self.int_value(0);
                let place = self.pointee(pointer)?;
                self.write(&place, &zero)?;
                Value::void()
            }
            _ => return Ok(None),
        }))
    }

    fn atomic(&mut self, name: &str, args: Args) -> Lower<Option<Value>> {
        if matches!(name, "thread_fence" | "signal_fence") {
            return Ok(Some(Value::void()));
        }
        if matches!(name, "is_lock_free" | "always_lock_free") {
            return Ok(Some(self.int_value(1)));
        }
        let values = self.values(args)?;
        let fetch = name.strip_prefix("fetch_").and_then(Self::operation);
        let then = name.strip_suffix("_fetch").and_then(Self::operation);
        Ok(Some(match (name, values.as_slice()) {
            (_, [pointer, with, ..]) if fetch.or(then).is_some() => {
                let op = fetch.or(then).unwrap_or("add");
                self.fetch_op(op, pointer, with, then.is_some())?
            }
            ("load_n", [pointer, ..]) => {
                let place = self.pointee(pointer)?;
                let value = self.rvalue(place.into())?;
                self.held(value)
            }
            ("load", [pointer, result, _]) => {
                let place = self.pointee(pointer)?;
                let value = self.rvalue(place.into())?;
                let result = self.pointee(result)?;
                self.write(&result, &value)?;
                Value::void()
            }
            ("store_n", [pointer, value, ..]) => {
                let place = self.pointee(pointer)?;
                self.write(&place, value)?;
                Value::void()
            }
            ("store", [pointer, value, ..]) => {
                let value = self.pointee(value)?;
                let value = self.rvalue(value.into())?;
                let place = self.pointee(pointer)?;
                self.write(&place, &value)?;
                Value::void()
            }
            ("exchange_n", [pointer, with, ..]) => self.exchange(pointer, with)?,
            ("exchange", [pointer, with, result, ..]) => {
                let with = self.pointee(with)?;
                let with = self.rvalue(with.into())?;
                let old = self.exchange(pointer, &with)?;
                let result = self.pointee(result)?;
                self.write(&result, &old)?;
                Value::void()
            }
            ("compare_exchange_n" | "compare_exchange", [pointer, expected, desired, ..]) => {
                let seen = self.pointee(expected)?;
                let wanted = self.rvalue(seen.clone().into())?;
                let desired = if name == "compare_exchange" {
                    let place = self.pointee(desired)?;
                    self.rvalue(place.into())?
                } else {
                    desired.clone()
                };
                if !matches!(self.class(&seen.ty)?, Class::Scalar(_)) {
                    let place = self.pointee(pointer)?;
                    self.write(&place, &desired)?;
                    return Ok(Some(self.unknown_int()));
                }
                let (flag, old) = self.compare_exchange(pointer, &wanted, &desired)?;
                // Where it fails, the caller learns what it found.
                self.write(&seen, &old)?;
                flag
            }
            ("test_and_set", [pointer, ..]) => {
                let one = self.int_value(1);
                let old = self.exchange(pointer, &one)?;
                let flag = self.truth_of(&old);
                Value::scalar_of(flag, Type::int(IntKind::Int))
            }
            ("clear", [pointer, ..]) => {
                let zero = self.int_value(0);
                let place = self.pointee(pointer)?;
                self.write(&place, &zero)?;
                Value::void()
            }
            _ => return Ok(None),
        }))
    }

    fn held(&mut self, value: Value) -> Value {
        match value.repr {
            Repr::Scalar(expr) => Value::scalar_of(self.b.spill(expr), value.ty),
            _ => value,
        }
    }
}
