//! `switch`: its cases, their ranges, and which of them a constant takes.
//!
//! In: syntax. Out: blocks for the cases and one [`TermKind::Switch`].

use lang_c::ast::{self, Expression, Statement};
use lang_c::span::Node;

use super::{Jump, Lowerer, Switch};
use crate::frontend::declare::{Lower, lost};
use crate::ir::{BlockId, TermKind};

impl Lowerer<'_> {
    /// A block that the innermost `switch` goes to, entered by falling through as well.
    pub fn switch_target(&mut self, live: bool) -> BlockId {
        let block = self.b.block();
        self.b.goto(block);
        if live {
            self.b.enter(block);
        }
        self.b.switch_to(block);
        block
    }

    /// A case that any value may take.
    pub fn unknown_case(&mut self) -> Lower<()> {
        let Some(live) = self.switches.last().map(|switch| switch.live) else {
            return lost("case outside switch");
        };
        let block = self.switch_target(live);
        if let Some(switch) = self.switches.last_mut() {
            switch.unknown.push(block);
        }
        Ok(())
    }

    pub fn case(&mut self, low: i128, high: i128) -> Lower<()> {
        let Some(switch) = self.switches.last() else {
            return lost("case outside switch");
        };
        let (ty, live) = (switch.ty, switch.live);
        let convert = |value: i128| {
            crate::ir::fold::value(crate::ir::fold::truncate(value.cast_unsigned(), ty), ty)
        };
        let (low, high) = (convert(low), convert(high));
        if low > high {
            return Ok(());
        }
        if let Some((value, _)) = switch.constant {
            if (low..=high).contains(&value) {
                let block = self.switch_target(live);
                if let Some(switch) = self.switches.last_mut() {
                    switch.cases.push((low, high, block));
                }
            }
            return Ok(());
        }
        let block = self.switch_target(live);
        if let Some(switch) = self.switches.last_mut() {
            switch.cases.push((low, high, block));
        }
        Ok(())
    }

    pub fn switch_statement(&mut self, node: &ast::SwitchStatement) -> Lower<()> {
        self.at(node.expression.span);
        let value = self.value(&node.expression)?;
        let value = self.promote(&value)?;
        let crate::frontend::types::Kind::Int(kind) = self.resolve(&value.ty)?.kind else {
            return lost("switch on a value that is no integer");
        };
        let expr = self.scalar(&value)?;
        let from = self.b.current();
        let end = self.b.block();
        let constant = match self.b.constant(expr) {
            Some(value) => {
                let mut labels = Vec::new();
                case_labels(&node.statement.node, &mut labels);
                let mut matched = false;
                for (low, high) in labels {
                    let Ok(low) = self.integer_constant(low) else {
                        continue;
                    };
                    let high = match high {
                        Some(high) => self.integer_constant(high)?,
                        None => low,
                    };
                    matched |= (low..=high).contains(&value);
                }
                Some((value, matched))
            }
            None => None,
        };
        self.switches.push(Switch {
            ty: kind.ty(),
            cases: Vec::new(),
            unknown: Vec::new(),
            default: None,
            constant,
            live: !self.b.dead(),
        });
        self.jumps.push(Jump {
            to_break: Some(end),
            to_continue: None,
            scopes: self.scopes.len(),
        });
        let body = self.b.block();
        self.b.switch_to(body);
        let pos = self.b.pos;
        let result = self.statement(&node.statement);
        self.jumps.pop();
        let switch = self.switches.pop();
        result?;
        self.b.goto(end);
        let Some(mut switch) = switch else {
            return lost("switch nesting");
        };
        let mut default = switch.default.unwrap_or(end);
        self.b.pos = pos;
        if !switch.unknown.is_empty() {
            let any = self.b.block();
            if switch.live {
                self.b.enter(any);
            }
            switch.unknown.push(default);
            self.b
                .terminate_block(any, TermKind::Nondet(std::mem::take(&mut switch.unknown)));
            default = any;
        }
        let term = if constant.is_some() {
            TermKind::Goto(switch.cases.first().map_or(default, |case| case.2))
        } else {
            disjoint(&mut switch.cases);
            TermKind::Switch {
                value: expr,
                cases: switch.cases,
                default,
            }
        };
        self.b.terminate_block(from, term);
        self.b.switch_to(end);
        Ok(())
    }
}

/// Sorts ranges and drops what an earlier range covers.
fn disjoint(cases: &mut Vec<(i128, i128, BlockId)>) {
    cases.sort_by_key(|case| case.0);
    let mut next = i128::MIN;
    cases.retain_mut(|(low, high, _)| {
        *low = (*low).max(next);
        if *low > *high {
            return false;
        }
        next = high.saturating_add(1);
        true
    });
}

type CaseLabel<'a> = (&'a Node<Expression>, Option<&'a Node<Expression>>);

/// The case labels of a `switch` body, those of inner switches left out.
fn case_labels<'a>(statement: &'a Statement, out: &mut Vec<CaseLabel<'a>>) {
    match statement {
        Statement::Labeled(labeled) => {
            match &labeled.node.label.node {
                ast::Label::Case(expr) => out.push((expr, None)),
                ast::Label::CaseRange(range) => {
                    out.push((&range.node.low, Some(&range.node.high)));
                }
                _ => {}
            }
            case_labels(&labeled.node.statement.node, out);
        }
        Statement::Compound(items) => {
            for item in items {
                if let ast::BlockItem::Statement(statement) = &item.node {
                    case_labels(&statement.node, out);
                }
            }
        }
        Statement::If(node) => {
            case_labels(&node.node.then_statement.node, out);
            if let Some(els) = &node.node.else_statement {
                case_labels(&els.node, out);
            }
        }
        Statement::While(node) => case_labels(&node.node.statement.node, out),
        Statement::DoWhile(node) => case_labels(&node.node.statement.node, out),
        Statement::For(node) => case_labels(&node.node.statement.node, out),
        _ => {}
    }
}
