//! Statements: control flow, labels, `switch`, statement expressions, scopes and cleanups.
//!
//! In: statement syntax. Out: blocks and edges. Statements that nothing leads to and that hold no
//! label are not lowered at all: macros are full of them.

use lang_c::ast::{self, Expression, Statement};
use lang_c::span::Node;

use super::condition::Branched;
use super::size::Class;
use super::value::{Repr, Value};
use super::{Cleanup, Jump, LabelAt, Lowerer};
use crate::frontend::declare::{Lower, lost};
use crate::frontend::types::Type;
use crate::ir::{Arg, BlockId, StmtKind, TermKind, Ty};

impl Lowerer<'_> {
    pub fn statement(&mut self, node: &Node<Statement>) -> Lower<()> {
        if self.b.dead() && !has_label(&node.node) {
            return Ok(());
        }
        match &node.node {
            Statement::Labeled(labeled) => self.labeled(&labeled.node),
            Statement::Compound(items) => {
                self.open_scope();
                for item in items {
                    self.block_item(item)?;
                }
                self.close_scope()
            }
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(expr)) => {
                self.at(expr.span);
                self.effect(expr)
            }
            Statement::If(node) => self.if_statement(&node.node),
            Statement::Switch(node) => self.switch_statement(&node.node),
            Statement::While(node) => self.while_loop(&node.node.expression, &node.node.statement),
            Statement::DoWhile(node) => self.do_while(&node.node),
            Statement::For(node) => self.for_loop(&node.node),
            Statement::Goto(label) => {
                self.at(node.span);
                self.goto_label(&label.node.name);
                Ok(())
            }
            Statement::Break => self.jump(node, false),
            Statement::Continue => self.jump(node, true),
            Statement::Return(expr) => self.return_statement(node, expr.as_deref()),
            Statement::Asm(asm) => self.asm(&asm.node),
        }
    }

    pub fn block_item(&mut self, item: &Node<ast::BlockItem>) -> Lower<()> {
        match &item.node {
            ast::BlockItem::Declaration(declaration) => self.local_declaration(&declaration.node),
            ast::BlockItem::StaticAssert(_) => Ok(()),
            ast::BlockItem::Statement(statement) => self.statement(statement),
        }
    }

    // ---- scopes ----

    /// Leaves the innermost scope at its end: its cleanups.
    pub fn close_scope(&mut self) -> Lower<()> {
        let Some(scope) = self.scopes.last() else {
            return Ok(());
        };
        let cleanups = scope.cleanups.clone();
        if !self.b.dead() {
            self.clean_up(&cleanups)?;
        }
        self.scopes.pop();
        Ok(())
    }

    /// Whether leaving the innermost scope calls cleanup functions.
    fn scope_cleans_up(&self) -> bool {
        let innermost = self.scopes.last();
        innermost.is_some_and(|scope| !scope.cleanups.is_empty())
    }

    /// Calls cleanup functions, last declared first.
    pub(super) fn clean_up(&mut self, cleanups: &[Cleanup]) -> Lower<()> {
        for cleanup in cleanups.iter().rev() {
            let addr = self.b.addr_local(cleanup.local);
            let arg = Value::scalar_of(addr, Type::pointer(cleanup.ty.clone()));
            self.call_by_name(&cleanup.function, &[arg])?;
        }
        Ok(())
    }

    /// The cleanups of the scopes beyond the outermost `keep`, outermost first.
    pub(super) fn cleanups_beyond(&self, keep: usize) -> Vec<Cleanup> {
        self.scopes
            .iter()
            .skip(keep)
            .flat_map(|scope| scope.cleanups.iter().cloned())
            .collect()
    }

    fn return_statement(
        &mut self,
        node: &Node<Statement>,
        expr: Option<&Node<Expression>>,
    ) -> Lower<()> {
        self.at(node.span);
        let cleanups = self.cleanups_beyond(0);
        let ret = self.ret.clone();
        let value = match (expr, self.class(&ret)?) {
            (Some(expr), Class::Void) => {
                self.effect(expr)?;
                None
            }
            (Some(expr), Class::Memory(size)) => {
                let value = self.value(expr)?;
                let addr = self.memory_address(&value, &ret, size)?;
                let addr = if cleanups.is_empty() {
                    addr
                } else {
                    self.copied(addr, &ret, size)
                };
                Some(Arg::Record { addr, size })
            }
            (Some(expr), _) => {
                let value = self.value(expr)?;
                let mut value = self.convert(&value, &ret)?;
                if !cleanups.is_empty() {
                    value = self.b.spill(value);
                }
                Some(Arg::Scalar(value))
            }
            (None, Class::Scalar(ty)) => Some(Arg::Scalar(self.b.unknown(ty))),
            (None, _) => None,
        };
        self.at(node.span);
        self.clean_up(&cleanups)?;
        self.b.terminate(TermKind::Return(value));
        Ok(())
    }

    /// A copy of a record in a new local.
    fn copied(&mut self, src: crate::ir::ExprId, ty: &Type, size: u64) -> crate::ir::ExprId {
        let name = self.spelling(ty);
        let local = self.b.temporary_memory(size, name);
        let dst = self.b.addr_local(local);
        self.b.stmt(StmtKind::Copy { dst, src, size });
        dst
    }

    // ---- labels and switch ----

    fn labeled(&mut self, labeled: &ast::LabeledStatement) -> Lower<()> {
        match &labeled.label.node {
            ast::Label::Identifier(id) => {
                let block = self.b.block();
                let frames = self
                    .scopes
                    .iter()
                    .map(|scope| (scope.number, scope.cleanups.len()))
                    .collect();
                let defined = self.labels.entry(id.node.name.clone()).or_default();
                defined.push(LabelAt { block, frames });
                self.b.goto(block);
                // Gotos draw their edges last; a label counts as reached.
                self.b.enter(block);
                self.b.switch_to(block);
            }
            ast::Label::Case(expr) => match self.integer_constant(expr) {
                Ok(value) => self.case(value, value)?,
                Err(_) => self.unknown_case()?,
            },
            ast::Label::CaseRange(range) => {
                let low = self.integer_constant(&range.node.low)?;
                let high = self.integer_constant(&range.node.high)?;
                self.case(low, high)?;
            }
            ast::Label::Default => {
                let Some(switch) = self.switches.last() else {
                    return lost("default outside switch");
                };
                let taken = match switch.constant {
                    Some((_, matched)) => !matched,
                    None => true,
                };
                if taken {
                    let live = switch.live;
                    let block = self.switch_target(live);
                    if let Some(switch) = self.switches.last_mut() {
                        switch.default = Some(block);
                    }
                }
            }
        }
        self.statement(&labeled.statement)
    }

    // ---- if and loops ----

    fn if_statement(&mut self, node: &ast::IfStatement) -> Lower<()> {
        self.at(node.condition.span);
        let (then, els) = (self.b.block(), self.b.block());
        let join = self.b.block();
        match self.branch_on(&node.condition, then, els)? {
            Branched::Always(true) => {
                self.statement(&node.then_statement)?;
                self.b.goto(join);
                self.b.switch_to(els);
            }
            Branched::Always(false) => {
                self.b.goto(els);
                self.b.switch_to(then);
                self.statement(&node.then_statement)?;
                self.b.goto(join);
                self.b.switch_to(els);
            }
            Branched::Split(_) => {
                self.b.switch_to(then);
                self.statement(&node.then_statement)?;
                self.b.goto(join);
                self.b.switch_to(els);
            }
        }
        if let Some(statement) = &node.else_statement {
            self.statement(statement)?;
        }
        self.b.goto(join);
        self.b.switch_to(join);
        Ok(())
    }

    fn loop_body(
        &mut self,
        body: &Node<Statement>,
        to_break: BlockId,
        to_continue: BlockId,
    ) -> Lower<()> {
        self.jumps.push(Jump {
            to_break: Some(to_break),
            to_continue: Some(to_continue),
            scopes: self.scopes.len(),
        });
        let result = self.statement(body);
        self.jumps.pop();
        result
    }

    fn while_loop(&mut self, cond: &Node<Expression>, body: &Node<Statement>) -> Lower<()> {
        let (head, inside, end) = (self.b.block(), self.b.block(), self.b.block());
        self.b.goto(head);
        self.b.switch_to(head);
        self.at(cond.span);
        self.branch_to(cond, inside, end)?;
        self.b.switch_to(inside);
        self.loop_body(body, end, head)?;
        self.b.goto(head);
        self.b.switch_to(end);
        Ok(())
    }

    fn do_while(&mut self, node: &ast::DoWhileStatement) -> Lower<()> {
        let (head, test, end) = (self.b.block(), self.b.block(), self.b.block());
        self.b.goto(head);
        self.b.switch_to(head);
        self.loop_body(&node.statement, end, test)?;
        self.b.goto(test);
        self.b.switch_to(test);
        if !self.b.dead() {
            self.at(node.expression.span);
            self.branch_to(&node.expression, head, end)?;
        }
        self.b.switch_to(end);
        Ok(())
    }

    fn for_loop(&mut self, node: &ast::ForStatement) -> Lower<()> {
        self.open_scope();
        match &node.initializer.node {
            ast::ForInitializer::Empty | ast::ForInitializer::StaticAssert(_) => {}
            ast::ForInitializer::Expression(expr) => {
                self.at(expr.span);
                self.effect(expr)?;
            }
            ast::ForInitializer::Declaration(declaration) => {
                self.local_declaration(&declaration.node)?;
            }
        }
        let (head, inside) = (self.b.block(), self.b.block());
        let (step, end) = (self.b.block(), self.b.block());
        self.b.goto(head);
        self.b.switch_to(head);
        match &node.condition {
            Some(cond) => {
                self.at(cond.span);
                self.branch_to(cond, inside, end)?;
            }
            None => self.b.goto(inside),
        }
        self.b.switch_to(inside);
        self.loop_body(&node.statement, end, step)?;
        self.b.goto(step);
        self.b.switch_to(step);
        if let Some(expr) = &node.step
            && !self.b.dead()
        {
            self.at(expr.span);
            self.effect(expr)?;
        }
        self.b.goto(head);
        self.b.switch_to(end);
        self.close_scope()
    }

    // ---- statement expressions and asm ----

    /// `({ … })`: the value of the last expression statement.
    pub fn statement_expression(&mut self, node: &Statement, used: bool) -> Lower<Value> {
        let Statement::Compound(items) = node else {
            return lost("statement expression without a block");
        };
        self.open_scope();
        let mut value = Value::void();
        for (i, item) in items.iter().enumerate() {
            let last = i + 1 == items.len();
            if last
                && used
                && let ast::BlockItem::Statement(statement) = &item.node
                && let Some(expr) = self.last_expression(statement)?
            {
                self.at(expr.span);
                value = self.value(expr)?;
                continue;
            }
            self.block_item(item)?;
        }
        if used && self.scope_cleans_up() {
            value = self.kept(value)?;
        }
        self.close_scope()?;
        Ok(value)
    }

    /// The expression of an expression statement.
    fn last_expression<'s>(
        &mut self,
        statement: &'s Node<Statement>,
    ) -> Lower<Option<&'s Node<Expression>>> {
        match &statement.node {
            Statement::Expression(Some(expr)) => Ok(Some(expr)),
            _ => Ok(None),
        }
    }

    /// A value that outlives the scope it was computed in.
    fn kept(&mut self, value: Value) -> Lower<Value> {
        let repr = match value.repr {
            Repr::Void => Repr::Void,
            Repr::Scalar(expr) => Repr::Scalar(self.b.spill(expr)),
            Repr::Memory(addr) => {
                let size = self.size_of(&value.ty)?;
                Repr::Memory(self.copied(addr, &value.ty, size))
            }
        };
        Ok(Value { repr, ..value })
    }

    pub(super) fn is_bool(&mut self, ty: &Type) -> Lower<bool> {
        use crate::frontend::types::{IntKind, Kind};
        Ok(matches!(self.resolve(ty)?.kind, Kind::Int(IntKind::Bool)))
    }

    /// An unknown `int`, where control or a value depends on what is not modelled.
    pub fn unknown_int(&mut self) -> Value {
        let expr = self.b.unknown(Ty::INT);
        Value::scalar_of(expr, Type::int(crate::frontend::types::IntKind::Int))
    }
}

/// Whether control can enter a statement other than at its start.
fn has_label(statement: &Statement) -> bool {
    match statement {
        Statement::Labeled(_) => true,
        Statement::Compound(items) => items.iter().any(|item| match &item.node {
            ast::BlockItem::Statement(statement) => has_label(&statement.node),
            _ => false,
        }),
        Statement::If(node) => {
            let els = node.node.else_statement.as_ref();
            has_label(&node.node.then_statement.node) || els.is_some_and(|els| has_label(&els.node))
        }
        Statement::Switch(node) => has_label(&node.node.statement.node),
        Statement::While(node) => has_label(&node.node.statement.node),
        Statement::DoWhile(node) => has_label(&node.node.statement.node),
        Statement::For(node) => has_label(&node.node.statement.node),
        _ => false,
    }
}
