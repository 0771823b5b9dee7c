//! Statements and blocks (C11 6.8).

use lang_c::ast::{
    AsmStatement, BlockItem, CaseRange, DoWhileStatement, Expression, ForInitializer, ForStatement,
    GnuAsmOperand, GnuExtendedAsmStatement, IfStatement, Label, LabeledStatement, Statement,
    SwitchStatement, WhileStatement,
};
use lang_c::span::Node;

use super::token::Tag;
use super::{Parsed, Parser};

impl Parser<'_> {
    /// Parses what has a scope of its own.
    pub(super) fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let mark = self.names.enter();
        let result = inner(self);
        self.names.leave(mark);
        result
    }

    /// A block with its braces.
    pub(super) fn compound(&mut self) -> Parsed<Node<Statement>> {
        let start = self.start();
        self.expect(Tag::BraceOpen)?;
        let mut items = Vec::new();
        while !self.take(Tag::BraceClose) {
            let at = self.start();
            let item = match self.starts_declaration() {
                true => BlockItem::Declaration(self.declaration()?),
                false => BlockItem::Statement(self.statement()?),
            };
            items.push(self.node(at, item));
        }
        Ok(self.node(start, Statement::Compound(items)))
    }

    pub(super) fn statement(&mut self) -> Parsed<Node<Statement>> {
        let start = self.start();
        let statement = match self.tag() {
            Tag::Case | Tag::Default => self.labeled()?,
            Tag::Identifier if self.token(1).tag == Tag::Colon => self.labeled()?,
            Tag::BraceOpen => return self.scoped(Self::compound),
            Tag::If => self.scoped(Self::if_statement)?,
            Tag::Switch => self.scoped(|parser| {
                parser.advance();
                let expression = Box::new(parser.condition()?);
                let statement = Box::new(parser.statement()?);
                let switch = SwitchStatement {
                    expression,
                    statement,
                };
                Ok(Statement::Switch(parser.node(start, switch)))
            })?,
            Tag::While => self.scoped(|parser| {
                parser.advance();
                let expression = Box::new(parser.condition()?);
                let statement = Box::new(parser.statement()?);
                let repeated = WhileStatement {
                    expression,
                    statement,
                };
                Ok(Statement::While(parser.node(start, repeated)))
            })?,
            Tag::Do => self.scoped(|parser| {
                parser.advance();
                let statement = Box::new(parser.statement()?);
                parser.expect(Tag::While)?;
                let expression = Box::new(parser.condition()?);
                parser.expect(Tag::Semicolon)?;
                let repeated = DoWhileStatement {
                    statement,
                    expression,
                };
                Ok(Statement::DoWhile(parser.node(start, repeated)))
            })?,
            Tag::For => self.scoped(Self::for_statement)?,
            Tag::Goto => {
                self.advance();
                let label = self.identifier()?;
                self.expect(Tag::Semicolon)?;
                Statement::Goto(label)
            }
            Tag::Continue => {
                self.advance();
                self.expect(Tag::Semicolon)?;
                Statement::Continue
            }
            Tag::Break => {
                self.advance();
                self.expect(Tag::Semicolon)?;
                Statement::Break
            }
            Tag::Return => {
                self.advance();
                Statement::Return(self.expression_before(Tag::Semicolon)?)
            }
            Tag::Asm => {
                let asm = self.asm()?;
                Statement::Asm(self.node(start, asm))
            }
            _ => Statement::Expression(self.expression_before(Tag::Semicolon)?),
        };
        Ok(self.node(start, statement))
    }

    /// An expression that may be missing, and what ends it.
    fn expression_before(&mut self, end: Tag) -> Parsed<Option<Box<Node<Expression>>>> {
        if self.take(end) {
            return Ok(None);
        }
        let expression = self.expression()?;
        self.expect(end)?;
        Ok(Some(Box::new(expression)))
    }

    /// An expression in brackets.
    fn condition(&mut self) -> Parsed<Node<Expression>> {
        self.expect(Tag::RoundOpen)?;
        let condition = self.expression()?;
        self.expect(Tag::RoundClose)?;
        Ok(condition)
    }

    fn labeled(&mut self) -> Parsed<Statement> {
        let start = self.start();
        let label = match self.tag() {
            Tag::Case => {
                self.advance();
                let at = self.start();
                let low = Box::new(self.conditional()?);
                if self.take(Tag::Ellipsis) {
                    let high = Box::new(self.conditional()?);
                    Label::CaseRange(self.node(at, CaseRange { low, high }))
                } else {
                    Label::Case(low)
                }
            }
            Tag::Default => {
                self.advance();
                Label::Default
            }
            _ => Label::Identifier(self.identifier()?),
        };
        let label = self.node(start, label);
        self.expect(Tag::Colon)?;
        let statement = Box::new(self.statement()?);
        let labeled = self.node(start, LabeledStatement { label, statement });
        Ok(Statement::Labeled(labeled))
    }

    fn if_statement(&mut self) -> Parsed<Statement> {
        let start = self.start();
        self.advance();
        let condition = Box::new(self.condition()?);
        let then_statement = Box::new(self.statement()?);
        let else_statement = match self.take(Tag::Else) {
            true => Some(Box::new(self.statement()?)),
            false => None,
        };
        let statement = IfStatement {
            condition,
            then_statement,
            else_statement,
        };
        Ok(Statement::If(self.node(start, statement)))
    }

    fn for_statement(&mut self) -> Parsed<Statement> {
        let start = self.start();
        self.advance();
        self.expect(Tag::RoundOpen)?;
        let at = self.start();
        let initializer = if self.starts_declaration() {
            ForInitializer::Declaration(self.declaration()?)
        } else {
            match self.expression_before(Tag::Semicolon)? {
                Some(expression) => ForInitializer::Expression(expression),
                None => ForInitializer::Empty,
            }
        };
        let initializer = self.node(at, initializer);
        let condition = self.expression_before(Tag::Semicolon)?;
        let step = self.expression_before(Tag::RoundClose)?;
        let statement = Box::new(self.statement()?);
        let repeated = ForStatement {
            initializer,
            condition,
            step,
            statement,
        };
        Ok(Statement::For(self.node(start, repeated)))
    }

    /// GNU C's `asm`, its clobbers and labels left out.
    fn asm(&mut self) -> Parsed<AsmStatement> {
        self.advance();
        let qualifier = self.qualifier();
        self.expect(Tag::RoundOpen)?;
        let template = self.string()?;
        let mut sections = [Vec::new(), Vec::new()];
        let mut extended = false;
        for section in &mut sections {
            if !self.take(Tag::Colon) {
                break;
            }
            extended = true;
            if !matches!(self.tag(), Tag::Colon | Tag::RoundClose) {
                *section = self.list(Self::operand)?;
            }
        }
        self.expect(Tag::RoundClose)?;
        self.expect(Tag::Semicolon)?;
        let [outputs, inputs] = sections;
        Ok(match extended {
            true => AsmStatement::GnuExtended(GnuExtendedAsmStatement {
                qualifier,
                template,
                outputs,
                inputs,
                clobbers: Vec::new(),
            }),
            false => AsmStatement::GnuBasic(template),
        })
    }

    fn operand(&mut self) -> Parsed<Node<GnuAsmOperand>> {
        let start = self.start();
        let symbolic_name = match self.take(Tag::SquareOpen) {
            true => {
                let name = self.identifier()?;
                self.expect(Tag::SquareClose)?;
                Some(name)
            }
            false => None,
        };
        let constraints = self.string()?;
        let variable_name = self.condition()?;
        let operand = GnuAsmOperand {
            symbolic_name,
            constraints,
            variable_name,
        };
        Ok(self.node(start, operand))
    }
}
