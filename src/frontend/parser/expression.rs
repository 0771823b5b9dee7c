//! Expressions and initialisers (C11 6.5, 6.7.9).

use lang_c::ast::{
    AlignOf, BinaryOperator, BinaryOperatorExpression, CallExpression, CastExpression,
    CompoundLiteral, ConditionalExpression, Constant, Designator, Expression, GenericAssociation,
    GenericAssociationType, GenericSelection, Initializer, InitializerListItem, MemberExpression,
    MemberOperator, OffsetDesignator, OffsetMember, OffsetOfExpression, RangeDesignator, SizeOfTy,
    SizeOfVal, StringLiteral, UnaryOperator, UnaryOperatorExpression, VaArgExpression,
};
use lang_c::span::{Node, Span};

use super::number::number;
use super::token::Tag;
use super::{Parsed, Parser};

type Expr = Node<Expression>;

impl Parser<'_> {
    /// With commas.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let first = self.assignment()?;
        if self.tag() != Tag::Comma {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take(Tag::Comma) {
            all.push(self.assignment()?);
        }
        Ok(self.node(start, Expression::Comma(Box::new(all))))
    }

    /// Without commas.
    pub(super) fn assignment(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let lhs = self.conditional()?;
        let operator = match self.tag() {
            Tag::Assign => BinaryOperator::Assign,
            Tag::StarAssign => BinaryOperator::AssignMultiply,
            Tag::SlashAssign => BinaryOperator::AssignDivide,
            Tag::PercentAssign => BinaryOperator::AssignModulo,
            Tag::PlusAssign => BinaryOperator::AssignPlus,
            Tag::MinusAssign => BinaryOperator::AssignMinus,
            Tag::ShiftLeftAssign => BinaryOperator::AssignShiftLeft,
            Tag::ShiftRightAssign => BinaryOperator::AssignShiftRight,
            Tag::AndAssign => BinaryOperator::AssignBitwiseAnd,
            Tag::XorAssign => BinaryOperator::AssignBitwiseXor,
            Tag::OrAssign => BinaryOperator::AssignBitwiseOr,
            _ => return Ok(lhs),
        };
        let operator = self.this(operator);
        let rhs = self.assignment()?;
        Ok(binary(operator, lhs, rhs, self.span(start)))
    }

    /// A constant expression, too.
    pub(super) fn conditional(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let condition = self.operators(1)?;
        if !self.take(Tag::Question) {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(Tag::Colon)?;
        let other = self.conditional()?;
        let conditional = self.node(
            start,
            ConditionalExpression {
                condition: Box::new(condition),
                then_expression: Box::new(then),
                else_expression: Box::new(other),
            },
        );
        Ok(self.node(start, Expression::Conditional(Box::new(conditional))))
    }

    /// Binary operators that bind as strongly as `least` or more so.
    fn operators(&mut self, least: u8) -> Parsed<Expr> {
        let start = self.start();
        let mut lhs = self.cast()?;
        while let Some((strength, operator)) = infix(self.tag())
            && strength >= least
        {
            let operator = self.this(operator);
            let rhs = self.operators(strength + 1)?;
            lhs = binary(operator, lhs, rhs, self.span(start));
        }
        Ok(lhs)
    }

    fn cast(&mut self) -> Parsed<Expr> {
        if self.tag() != Tag::RoundOpen || !self.starts_type(1) {
            return self.unary();
        }
        let start = self.start();
        self.advance();
        let type_name = self.type_name()?;
        self.expect(Tag::RoundClose)?;
        if self.tag() == Tag::BraceOpen {
            let initializer_list = self.initializer_list()?;
            let literal = self.node(
                start,
                CompoundLiteral {
                    type_name,
                    initializer_list,
                },
            );
            let literal = self.node(start, Expression::CompoundLiteral(Box::new(literal)));
            return self.postfix(literal);
        }
        let expression = Box::new(self.cast()?);
        let cast = self.node(
            start,
            CastExpression {
                type_name,
                expression,
            },
        );
        Ok(self.node(start, Expression::Cast(Box::new(cast))))
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let operator = match self.tag() {
            Tag::Increment => UnaryOperator::PreIncrement,
            Tag::Decrement => UnaryOperator::PreDecrement,
            Tag::And => UnaryOperator::Address,
            Tag::Star => UnaryOperator::Indirection,
            Tag::Plus => UnaryOperator::Plus,
            Tag::Minus => UnaryOperator::Minus,
            Tag::Tilde => UnaryOperator::Complement,
            Tag::Not => UnaryOperator::Negate,
            Tag::Sizeof => return self.sizeof(),
            Tag::Alignof => {
                self.advance();
                self.expect(Tag::RoundOpen)?;
                let type_name = self.type_name()?;
                self.expect(Tag::RoundClose)?;
                let alignof = self.node(start, AlignOf(Box::new(type_name)));
                return Ok(self.node(start, Expression::AlignOf(Box::new(alignof))));
            }
            _ => {
                let primary = self.primary()?;
                return self.postfix(primary);
            }
        };
        let operator = self.this(operator);
        let operand = Box::new(self.cast()?);
        let unary = self.node(start, UnaryOperatorExpression { operator, operand });
        Ok(self.node(start, Expression::UnaryOperator(Box::new(unary))))
    }

    fn sizeof(&mut self) -> Parsed<Expr> {
        let start = self.start();
        self.advance();
        if self.tag() == Tag::RoundOpen && self.starts_type(1) {
            self.advance();
            let type_name = self.type_name()?;
            self.expect(Tag::RoundClose)?;
            let sizeof = self.node(start, SizeOfTy(type_name));
            return Ok(self.node(start, Expression::SizeOfTy(Box::new(sizeof))));
        }
        let operand = Box::new(self.unary()?);
        let sizeof = self.node(start, SizeOfVal(operand));
        Ok(self.node(start, Expression::SizeOfVal(Box::new(sizeof))))
    }

    /// What follows a primary expression: members, calls, indices, increments.
    fn postfix(&mut self, primary: Expr) -> Parsed<Expr> {
        let start = primary.span.start;
        let mut expression = primary;
        loop {
            let node = match self.tag() {
                Tag::SquareOpen => {
                    let at = self.start();
                    self.advance();
                    let index = self.expression()?;
                    self.expect(Tag::SquareClose)?;
                    let operator = self.node(at, BinaryOperator::Index);
                    expression = binary(operator, expression, index, self.span(start));
                    continue;
                }
                Tag::RoundOpen => {
                    self.advance();
                    let arguments = match self.tag() {
                        Tag::RoundClose => Vec::new(),
                        _ => self.list(Self::assignment)?,
                    };
                    self.expect(Tag::RoundClose)?;
                    let callee = Box::new(expression);
                    let call = CallExpression { callee, arguments };
                    Expression::Call(Box::new(self.node(start, call)))
                }
                tag @ (Tag::Dot | Tag::Arrow) => {
                    let operator = self.this(match tag {
                        Tag::Dot => MemberOperator::Direct,
                        _ => MemberOperator::Indirect,
                    });
                    let identifier = self.identifier()?;
                    let member = MemberExpression {
                        operator,
                        expression: Box::new(expression),
                        identifier,
                    };
                    Expression::Member(Box::new(self.node(start, member)))
                }
                tag @ (Tag::Increment | Tag::Decrement) => {
                    let operator = self.this(match tag {
                        Tag::Increment => UnaryOperator::PostIncrement,
                        _ => UnaryOperator::PostDecrement,
                    });
                    let operand = Box::new(expression);
                    let unary = UnaryOperatorExpression { operator, operand };
                    Expression::UnaryOperator(Box::new(self.node(start, unary)))
                }
                _ => return Ok(expression),
            };
            expression = self.node(start, node);
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let node = match self.tag() {
            Tag::Identifier => Expression::Identifier(Box::new(self.identifier()?)),
            Tag::Number => match number(self.spelling(0)) {
                Some(constant) => Expression::Constant(Box::new(self.this(constant))),
                None => return self.unexpected(),
            },
            Tag::Character => {
                let constant = Constant::Character(self.spelling(0).to_owned());
                Expression::Constant(Box::new(self.this(constant)))
            }
            Tag::String => Expression::StringLiteral(Box::new(self.string()?)),
            Tag::RoundOpen if self.token(1).tag == Tag::BraceOpen => {
                self.advance();
                let statement = self.scoped(Self::compound)?;
                self.expect(Tag::RoundClose)?;
                Expression::Statement(Box::new(statement))
            }
            Tag::RoundOpen => {
                self.advance();
                let inner = self.expression()?;
                self.expect(Tag::RoundClose)?;
                inner.node
            }
            Tag::Generic => self.generic()?,
            Tag::Offsetof => self.offsetof()?,
            Tag::VaArg => {
                self.advance();
                self.expect(Tag::RoundOpen)?;
                let va_list = Box::new(self.assignment()?);
                self.expect(Tag::Comma)?;
                let type_name = self.type_name()?;
                self.expect(Tag::RoundClose)?;
                let va_arg = VaArgExpression { va_list, type_name };
                Expression::VaArg(Box::new(self.node(start, va_arg)))
            }
            _ => return self.unexpected(),
        };
        Ok(self.node(start, node))
    }

    /// One or more string literals.
    pub(super) fn string(&mut self) -> Parsed<Node<StringLiteral>> {
        let start = self.start();
        let mut parts = Vec::new();
        while self.tag() == Tag::String {
            parts.push(self.spelling(0).to_owned());
            self.advance();
        }
        match parts.is_empty() {
            true => self.unexpected(),
            false => Ok(self.node(start, parts)),
        }
    }

    fn generic(&mut self) -> Parsed<Expression> {
        let start = self.start();
        self.advance();
        self.expect(Tag::RoundOpen)?;
        let expression = Box::new(self.assignment()?);
        self.expect(Tag::Comma)?;
        let associations = self.list(|parser| {
            let start = parser.start();
            if parser.take(Tag::Default) {
                parser.expect(Tag::Colon)?;
                let value = Box::new(parser.assignment()?);
                return Ok(parser.node(start, GenericAssociation::Default(value)));
            }
            let type_name = parser.type_name()?;
            parser.expect(Tag::Colon)?;
            let expression = Box::new(parser.assignment()?);
            let of_type = GenericAssociationType {
                type_name,
                expression,
            };
            let of_type = parser.node(start, of_type);
            Ok(parser.node(start, GenericAssociation::Type(of_type)))
        })?;
        self.expect(Tag::RoundClose)?;
        let selection = GenericSelection {
            expression,
            associations,
        };
        let selection = self.node(start, selection);
        Ok(Expression::GenericSelection(Box::new(selection)))
    }

    fn offsetof(&mut self) -> Parsed<Expression> {
        let start = self.start();
        self.advance();
        self.expect(Tag::RoundOpen)?;
        let type_name = self.type_name()?;
        self.expect(Tag::Comma)?;
        let at = self.start();
        let base = self.identifier()?;
        let mut members = Vec::new();
        loop {
            let at = self.start();
            let member = match self.tag() {
                Tag::Dot => {
                    self.advance();
                    OffsetMember::Member(self.identifier()?)
                }
                Tag::Arrow => {
                    self.advance();
                    OffsetMember::IndirectMember(self.identifier()?)
                }
                Tag::SquareOpen => {
                    self.advance();
                    let index = self.expression()?;
                    self.expect(Tag::SquareClose)?;
                    OffsetMember::Index(index)
                }
                _ => break,
            };
            members.push(self.node(at, member));
        }
        let designator = self.node(at, OffsetDesignator { base, members });
        self.expect(Tag::RoundClose)?;
        let offsetof = OffsetOfExpression {
            type_name,
            designator,
        };
        Ok(Expression::OffsetOf(Box::new(self.node(start, offsetof))))
    }

    pub(super) fn initializer(&mut self) -> Parsed<Node<Initializer>> {
        let start = self.start();
        let initializer = match self.tag() {
            Tag::BraceOpen => Initializer::List(self.initializer_list()?),
            _ => Initializer::Expression(Box::new(self.assignment()?)),
        };
        Ok(self.node(start, initializer))
    }

    /// With its braces.
    fn initializer_list(&mut self) -> Parsed<Vec<Node<InitializerListItem>>> {
        self.expect(Tag::BraceOpen)?;
        let mut items = Vec::new();
        while self.tag() != Tag::BraceClose {
            let start = self.start();
            let designation = self.designation()?;
            let initializer = Box::new(self.initializer()?);
            let item = InitializerListItem {
                designation,
                initializer,
            };
            items.push(self.node(start, item));
            if !self.take(Tag::Comma) {
                break;
            }
        }
        self.expect(Tag::BraceClose)?;
        Ok(items)
    }

    /// `.a[1] =`, and the older `a:` and `[1]`.
    fn designation(&mut self) -> Parsed<Vec<Node<Designator>>> {
        let start = self.start();
        if self.tag() == Tag::Identifier && self.token(1).tag == Tag::Colon {
            let member = self.identifier()?;
            self.advance();
            return Ok(vec![self.node(start, Designator::Member(member))]);
        }
        let mut designators = Vec::new();
        loop {
            let start = self.start();
            let designator = match self.tag() {
                Tag::Dot => {
                    self.advance();
                    Designator::Member(self.identifier()?)
                }
                Tag::SquareOpen => {
                    self.advance();
                    let at = self.start();
                    let from = self.conditional()?;
                    let designator = if self.take(Tag::Ellipsis) {
                        let to = self.conditional()?;
                        Designator::Range(self.node(at, RangeDesignator { from, to }))
                    } else {
                        Designator::Index(from)
                    };
                    self.expect(Tag::SquareClose)?;
                    designator
                }
                _ => break,
            };
            designators.push(self.node(start, designator));
        }
        let old_style = matches!(
            designators.as_slice(),
            [Node {
                node: Designator::Index(_) | Designator::Range(_),
                ..
            }]
        );
        if !designators.is_empty() && !self.take(Tag::Assign) && !old_style {
            return self.unexpected();
        }
        Ok(designators)
    }
}

fn binary(operator: Node<BinaryOperator>, lhs: Expr, rhs: Expr, span: Span) -> Expr {
    let binary = BinaryOperatorExpression {
        operator,
        lhs: Box::new(lhs),
        rhs: Box::new(rhs),
    };
    let binary = Box::new(Node::new(binary, span));
    Node::new(Expression::BinaryOperator(binary), span)
}

/// How strongly a binary operator binds.
fn infix(tag: Tag) -> Option<(u8, BinaryOperator)> {
    Some(match tag {
        Tag::OrOr => (1, BinaryOperator::LogicalOr),
        Tag::AndAnd => (2, BinaryOperator::LogicalAnd),
        Tag::Or => (3, BinaryOperator::BitwiseOr),
        Tag::Xor => (4, BinaryOperator::BitwiseXor),
        Tag::And => (5, BinaryOperator::BitwiseAnd),
        Tag::EqualEqual => (6, BinaryOperator::Equals),
        Tag::NotEqual => (6, BinaryOperator::NotEquals),
        Tag::Less => (7, BinaryOperator::Less),
        Tag::Greater => (7, BinaryOperator::Greater),
        Tag::LessEqual => (7, BinaryOperator::LessOrEqual),
        Tag::GreaterEqual => (7, BinaryOperator::GreaterOrEqual),
        Tag::ShiftLeft => (8, BinaryOperator::ShiftLeft),
        Tag::ShiftRight => (8, BinaryOperator::ShiftRight),
        Tag::Plus => (9, BinaryOperator::Plus),
        Tag::Minus => (9, BinaryOperator::Minus),
        Tag::Star => (10, BinaryOperator::Multiply),
        Tag::Slash => (10, BinaryOperator::Divide),
        Tag::Percent => (10, BinaryOperator::Modulo),
        _ => return None,
    })
}
