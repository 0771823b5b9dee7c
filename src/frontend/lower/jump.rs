//! Jumps: `break`, `continue`, `goto` and computed `goto`, through the cleanups of the scopes they leave.
//!
//! In: syntax. Out: edges, drawn last for labels that may follow.

use lang_c::ast::Statement;
use lang_c::span::Node;

use super::{Jump, LabelAt, Lowerer, PendingGoto};
use crate::frontend::declare::{Lower, lost};
use crate::ir::TermKind;

impl Lowerer<'_> {
    pub fn jump(&mut self, node: &Node<Statement>, on: bool) -> Lower<()> {
        self.at(node.span);
        let wanted = |jump: &&Jump| !on || jump.to_continue.is_some();
        let Some(jump) = self.jumps.iter().rev().find(wanted).cloned() else {
            return lost("break or continue outside a loop");
        };
        let cleanups = self.cleanups_beyond(jump.scopes);
        self.clean_up(&cleanups)?;
        let target = if on { jump.to_continue } else { jump.to_break };
        if let Some(target) = target {
            self.b.goto(target);
        }
        Ok(())
    }

    pub fn goto_label(&mut self, label: &str) {
        if self.b.dead() {
            return;
        }
        let frames = self
            .scopes
            .iter()
            .map(|scope| (scope.number, scope.cleanups.clone()))
            .collect();
        self.gotos.push(PendingGoto {
            from: self.b.current(),
            label: label.to_owned(),
            frames,
            pos: self.b.pos,
        });
        // The edge is drawn by `finish_jumps`; until then the block stays open.
        let next = self.b.block();
        self.b.switch_to(next);
    }

    /// `goto *e`: to any label whose address is taken.
    pub fn computed_goto(&mut self) {
        if !self.b.dead() {
            self.computed.push(self.b.current());
            let next = self.b.block();
            self.b.switch_to(next);
        }
    }

    /// `&&label`
    pub fn take_label(&mut self, label: &str) {
        if !self.addressed.iter().any(|known| known == label) {
            self.addressed.push(label.to_owned());
        }
    }

    /// Draws the edges of `goto`s, through the cleanups of the scopes that they leave.
    pub fn finish_jumps(&mut self) -> Lower<()> {
        for goto in std::mem::take(&mut self.gotos) {
            let Some(LabelAt { block, frames }) = self.nearest_label(&goto) else {
                return lost(format!("label {} is not defined", goto.label));
            };
            self.b.switch_to(goto.from);
            self.b.pos = goto.pos;
            for (depth, (number, cleanups)) in goto.frames.iter().enumerate().rev() {
                let kept = match frames.get(depth) {
                    Some((same, count)) if same == number => *count,
                    _ => 0,
                };
                self.clean_up(cleanups.get(kept..).unwrap_or(&[]))?;
            }
            self.b.goto(block);
        }
        let mut targets = Vec::new();
        for label in std::mem::take(&mut self.addressed) {
            let defined = self.labels.get(&label);
            targets.extend(defined.into_iter().flatten().map(|at| at.block));
        }
        for from in std::mem::take(&mut self.computed) {
            let kind = match targets.as_slice() {
                [] => TermKind::Unreachable,
                _ => TermKind::Nondet(targets.clone()),
            };
            self.b.terminate_block(from, kind);
        }
        Ok(())
    }

    /// The definition of a label that shares most scopes with a `goto` to it.
    fn nearest_label(&self, goto: &PendingGoto) -> Option<LabelAt> {
        let shared = |at: &&LabelAt| {
            let both = at.frames.iter().zip(&goto.frames);
            both.take_while(|(label, goto)| label.0 == goto.0).count()
        };
        self.labels
            .get(&goto.label)?
            .iter()
            .max_by_key(shared)
            .cloned()
    }
}
