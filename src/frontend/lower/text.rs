//! Expressions as a person would write them, shortened: the text of calls in traces.
//!
//! In: syntax. Out: at most about the wanted number of columns, `...` for what is left out.

use lang_c::ast::{self, BinaryOperator, Expression, UnaryOperator};
use lang_c::span::Node;

/// A call in at most `limit` columns: its arguments are cut before its name is.
pub fn call(call: &ast::CallExpression, limit: usize) -> String {
    let mut out = Writer::new(limit);
    out.call(call);
    out.finish()
}

/// An expression in at most `limit` columns.
pub fn expression(expr: &Node<Expression>, limit: usize) -> String {
    let mut out = Writer::new(limit);
    out.expression(&expr.node, 0);
    out.finish()
}

struct Writer {
    text: String,
    limit: usize,
}

/// Binding strength of an operator, tighter is larger.
fn strength(operator: &BinaryOperator) -> (u8, &'static str) {
    use BinaryOperator::*;
    match operator {
        Index => (15, "["),
        Multiply => (13, "*"),
        Divide => (13, "/"),
        Modulo => (13, "%"),
        Plus => (12, "+"),
        Minus => (12, "-"),
        ShiftLeft => (11, "<<"),
        ShiftRight => (11, ">>"),
        Less => (10, "<"),
        Greater => (10, ">"),
        LessOrEqual => (10, "<="),
        GreaterOrEqual => (10, ">="),
        Equals => (9, "=="),
        NotEquals => (9, "!="),
        BitwiseAnd => (8, "&"),
        BitwiseXor => (7, "^"),
        BitwiseOr => (6, "|"),
        LogicalAnd => (5, "&&"),
        LogicalOr => (4, "||"),
        Assign => (2, "="),
        AssignMultiply => (2, "*="),
        AssignDivide => (2, "/="),
        AssignModulo => (2, "%="),
        AssignPlus => (2, "+="),
        AssignMinus => (2, "-="),
        AssignShiftLeft => (2, "<<="),
        AssignShiftRight => (2, ">>="),
        AssignBitwiseAnd => (2, "&="),
        AssignBitwiseXor => (2, "^="),
        AssignBitwiseOr => (2, "|="),
    }
}

impl Writer {
    fn new(limit: usize) -> Writer {
        Writer {
            text: String::new(),
            limit,
        }
    }

    fn full(&self) -> bool {
        self.text.len() > self.limit
    }

    fn put(&mut self, text: &str) {
        if !self.full() {
            self.text.push_str(text);
        }
    }

    fn finish(mut self) -> String {
        if self.text.len() > self.limit {
            let mut cut = self.limit.saturating_sub(3);
            while !self.text.is_char_boundary(cut) {
                cut -= 1;
            }
            self.text.truncate(cut);
            self.text.push_str("...");
        }
        self.text
    }

    fn call(&mut self, call: &ast::CallExpression) {
        self.expression(&call.callee.node, 15);
        self.put("(");
        for (i, argument) in call.arguments.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.expression(&argument.node, 2);
        }
        self.put(")");
    }

    fn grouped(&mut self, needed: bool, inside: impl FnOnce(&mut Writer)) {
        if needed {
            self.put("(");
        }
        inside(self);
        if needed {
            self.put(")");
        }
    }

    fn expression(&mut self, expr: &Expression, around: u8) {
        if self.full() {
            return;
        }
        match expr {
            Expression::Identifier(id) => self.put(&id.node.name),
            Expression::Constant(constant) => self.constant(&constant.node),
            Expression::StringLiteral(parts) => {
                for (i, part) in parts.node.iter().enumerate() {
                    if i > 0 {
                        self.put(" ");
                    }
                    self.put(part);
                }
            }
            Expression::Member(member) => {
                self.expression(&member.node.expression.node, 15);
                self.put(match member.node.operator.node {
                    ast::MemberOperator::Direct => ".",
                    ast::MemberOperator::Indirect => "->",
                });
                self.put(&member.node.identifier.node.name);
            }
            Expression::Call(call) => self.call(&call.node),
            Expression::UnaryOperator(unary) => self.unary(&unary.node, around),
            Expression::BinaryOperator(binary) => self.binary(&binary.node, around),
            Expression::Cast(cast) => self.grouped(around > 14, |out| {
                // The type says little in a trace.
                out.expression(&cast.node.expression.node, around.min(14));
            }),
            Expression::Conditional(node) => self.grouped(around > 3, |out| {
                out.expression(&node.node.condition.node, 4);
                if super::condition::is_elvis(&node.node.then_expression) {
                    out.put(" ?: ");
                } else {
                    out.put(" ? ");
                    out.expression(&node.node.then_expression.node, 3);
                    out.put(" : ");
                }
                out.expression(&node.node.else_expression.node, 3);
            }),
            Expression::Comma(list) => self.grouped(true, |out| {
                for (i, expr) in list.iter().enumerate() {
                    if i > 0 {
                        out.put(", ");
                    }
                    out.expression(&expr.node, 2);
                }
            }),
            Expression::SizeOfTy(of) => {
                self.put("sizeof(");
                self.type_name(&of.node.0.node);
                self.put(")");
            }
            Expression::SizeOfVal(of) => {
                self.put("sizeof(");
                self.expression(&of.node.0.node, 0);
                self.put(")");
            }
            Expression::AlignOf(_) => self.put("_Alignof(...)"),
            Expression::OffsetOf(_) => self.put("offsetof(...)"),
            Expression::VaArg(_) => self.put("va_arg(...)"),
            Expression::CompoundLiteral(_) => self.put("(...){...}"),
            Expression::GenericSelection(_) => self.put("_Generic(...)"),
            Expression::Statement(_) => self.put("({...})"),
        }
    }

    /// The words of a type name and its pointers; the rest shortened.
    fn type_name(&mut self, name: &ast::TypeName) {
        use ast::TypeSpecifier;
        let mut separator = "";
        for specifier in &name.specifiers {
            let ast::SpecifierQualifier::TypeSpecifier(specifier) = &specifier.node else {
                continue;
            };
            let word = match &specifier.node {
                TypeSpecifier::Void => "void",
                TypeSpecifier::Char => "char",
                TypeSpecifier::Short => "short",
                TypeSpecifier::Int => "int",
                TypeSpecifier::Long => "long",
                TypeSpecifier::Float => "float",
                TypeSpecifier::Double => "double",
                TypeSpecifier::Signed => "signed",
                TypeSpecifier::Unsigned => "unsigned",
                TypeSpecifier::Bool => "_Bool",
                TypeSpecifier::TypedefName(name) => &name.node.name,
                TypeSpecifier::Struct(record) => match &record.node.identifier {
                    Some(tag) => {
                        self.put(separator);
                        separator = " ";
                        self.put(match record.node.kind.node {
                            ast::StructKind::Struct => "struct",
                            ast::StructKind::Union => "union",
                        });
                        &tag.node.name
                    }
                    None => "struct {...}",
                },
                _ => "...",
            };
            self.put(separator);
            self.put(word);
            separator = " ";
        }
        let derived = name.declarator.iter().flat_map(|node| &node.node.derived);
        for part in derived {
            match part.node {
                ast::DerivedDeclarator::Pointer(_) => self.put(" *"),
                ast::DerivedDeclarator::Array(_) => self.put("[...]"),
                _ => self.put("(...)"),
            }
        }
    }

    fn unary(&mut self, unary: &ast::UnaryOperatorExpression, around: u8) {
        let (prefix, suffix) = match unary.operator.node {
            UnaryOperator::PostIncrement => ("", "++"),
            UnaryOperator::PostDecrement => ("", "--"),
            UnaryOperator::PreIncrement => ("++", ""),
            UnaryOperator::PreDecrement => ("--", ""),
            UnaryOperator::Address => ("&", ""),
            UnaryOperator::Indirection => ("*", ""),
            UnaryOperator::Plus => ("+", ""),
            UnaryOperator::Minus => ("-", ""),
            UnaryOperator::Complement => ("~", ""),
            UnaryOperator::Negate => ("!", ""),
        };
        self.grouped(around > 14 && suffix.is_empty(), |out| {
            out.put(prefix);
            out.expression(&unary.operand.node, if suffix.is_empty() { 14 } else { 15 });
            out.put(suffix);
        });
    }

    fn binary(&mut self, binary: &ast::BinaryOperatorExpression, around: u8) {
        let (own, sign) = strength(&binary.operator.node);
        if binary.operator.node == BinaryOperator::Index {
            self.expression(&binary.lhs.node, 15);
            self.put("[");
            self.expression(&binary.rhs.node, 0);
            self.put("]");
            return;
        }
        self.grouped(around > own, |out| {
            out.expression(&binary.lhs.node, own);
            out.put(" ");
            out.put(sign);
            out.put(" ");
            out.expression(&binary.rhs.node, own + 1);
        });
    }

    fn constant(&mut self, constant: &ast::Constant) {
        match constant {
            ast::Constant::Integer(integer) => {
                let digits: &str = &integer.number;
                let prefix = match integer.base {
                    ast::IntegerBase::Decimal => "",
                    ast::IntegerBase::Octal if digits.starts_with('0') || digits.is_empty() => "",
                    ast::IntegerBase::Octal => "0",
                    ast::IntegerBase::Hexadecimal => "0x",
                    ast::IntegerBase::Binary => "0b",
                };
                let bare = matches!(integer.base, ast::IntegerBase::Octal) && digits.is_empty();
                let digits = if bare { "0" } else { digits };
                self.put(prefix);
                self.put(digits);
            }
            ast::Constant::Float(float) => {
                let number: &str = &float.number;
                self.put(number);
            }
            ast::Constant::Character(raw) => self.put(raw),
        }
    }
}
