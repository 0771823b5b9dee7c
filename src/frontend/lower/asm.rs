//! Inline assembly, of which nothing is known but its operands.
//!
//! In: `asm` statements. Out: outputs that become unknown, inputs that may be found anywhere afterwards, and where an `asm goto` goes.

use lang_c::ast;
use lang_c::span::Node;

use super::Lowerer;
use super::size::Class;
use super::value::{Operand, Place, Repr, Value};
use crate::frontend::declare::Lower;
use crate::ir::{BlockId, ExprId, Says, StmtKind, TermKind, Ty};

/// The section in which Linux lists the places of its assertions.
const BUG_TABLE: &str = "__bug_table";

/// What decides where assembly goes.
pub struct AsmChoice {
    function: String,
    inputs: Vec<ExprId>,
}

/// What is known of assembly from its template and qualifiers.
struct Asm {
    template: String,
    /// It only hides from the compiler that its outputs are its inputs.
    empty: bool,
    /// It gives the same outputs for the same inputs.
    pure: bool,
    /// Where it goes depends on its inputs, and is the same each time.
    steady: bool,
}

impl Asm {
    fn of(asm: &ast::GnuExtendedAsmStatement) -> Asm {
        let template = asm.template.node.concat();
        let changes = |clobber: &Node<ast::StringLiteral>| {
            clobber.node.iter().any(|text| text.contains("memory"))
        };
        let jumps = template.contains("%l");
        Asm {
            // String literals keep their quotes.
            empty: template.chars().all(|c| c == '"' || c.is_whitespace()),
            pure: asm.qualifier.is_none(),
            steady: jumps && asm.outputs.is_empty() && !asm.clobbers.iter().any(changes),
            template,
        }
    }
}

/// The inputs of assembly.
#[derive(Default)]
struct Inputs {
    seen: Vec<ExprId>,
    /// By the number of the output whose place they share.
    tied: rustc_hash::FxHashMap<usize, Value>,
}

impl Lowerer<'_> {
    /// Inline assembly: its outputs become unknown. One without `volatile` gives the same outputs for
    /// the same inputs; an empty one hides from the compiler that its outputs are its inputs. One that
    /// enters a failed assertion ends the path. Where one goes that changes nothing (a static key) depends on
    /// its inputs, and is the same each time.
    pub(super) fn asm(&mut self, asm: &ast::AsmStatement) -> Lower<()> {
        let ast::AsmStatement::GnuExtended(asm) = asm else {
            return Ok(());
        };
        let what = Asm::of(asm);
        let mut inputs = self.asm_inputs(&what, &asm.inputs)?;
        self.asm_choice = what.steady.then(|| AsmChoice {
            function: format!("asm goto {}", what.template),
            inputs: inputs.seen.clone(),
        });
        let outputs = self.asm_outputs(&what, &asm.outputs, &mut inputs)?;
        for (index, place) in &outputs {
            self.asm_output(&what, &inputs, (*index, place))?;
        }
        // A kernel's BUG and WARN: the condition under which they are reached is not meant to hold. Execution goes on after
        // WARN; after BUG the source says itself that it does not.
        if what.template.contains(BUG_TABLE) && self.dry_runs == 0 {
            let never = self.b.int(0, Ty::INT);
            self.b.stmt(StmtKind::Assert(never));
        }
        Ok(())
    }

    fn asm_inputs(&mut self, what: &Asm, operands: &[Node<ast::GnuAsmOperand>]) -> Lower<Inputs> {
        let mut inputs = Inputs::default();
        for input in operands {
            let operand = self.operand(&input.node.variable_name)?;
            let constraints = input.node.constraints.node.concat();
            let constraints = constraints.trim_matches('"');
            if what.pure || what.empty || what.steady {
                let value = self.rvalue(operand.clone())?;
                if let Ok(output) = constraints.parse::<usize>() {
                    inputs.tied.insert(output, value.clone());
                }
                inputs.seen.extend(seen(&value));
            }
            if !what.empty && !what.steady {
                self.expose(operand, constraints)?;
            }
        }
        Ok(inputs)
    }

    /// An input of assembly that does something may be found anywhere afterwards.
    fn expose(&mut self, operand: Operand, constraints: &str) -> Lower<()> {
        let immediate = constraints.chars().all(|c| c == 'i');
        let exposed = match operand {
            Operand::Place(place) if constraints == "m" => Some((place.addr, true)),
            _ if immediate => None,
            operand => match self.rvalue(operand)?.repr {
                Repr::Scalar(value) => Some((value, false)),
                Repr::Memory(addr) => Some((addr, true)),
                Repr::Void => None,
            },
        };
        if let Some((value, in_memory)) = exposed {
            self.b.stmt(StmtKind::Expose { value, in_memory });
        }
        Ok(())
    }

    /// The places of the outputs, with their numbers.
    fn asm_outputs(
        &mut self,
        what: &Asm,
        operands: &[Node<ast::GnuAsmOperand>],
        inputs: &mut Inputs,
    ) -> Lower<Vec<(usize, Place)>> {
        let mut outputs = Vec::new();
        for (index, output) in operands.iter().enumerate() {
            let expr = &output.node.variable_name;
            self.at(expr.span);
            let Operand::Place(place) = self.operand(expr)? else {
                continue;
            };
            let updated = output.node.constraints.node.concat().contains('+');
            if what.empty && updated {
                continue;
            }
            if what.pure && updated {
                let value = self.rvalue(Operand::Place(place.clone()))?;
                inputs.seen.extend(seen(&value));
            }
            if updated && place.bits.is_none() {
                let (value, in_memory) = (place.addr, true);
                self.b.stmt(StmtKind::Expose { value, in_memory });
            }
            outputs.push((index, place));
        }
        Ok(outputs)
    }

    fn asm_output(
        &mut self,
        what: &Asm,
        inputs: &Inputs,
        (index, place): (usize, &Place),
    ) -> Lower<()> {
        match self.class(&place.ty)? {
            Class::Scalar(_) if what.empty && inputs.tied.contains_key(&index) => {
                let value = self.converted(&inputs.tied[&index], &place.ty)?;
                self.write(place, &value)?;
            }
            // Not just any byte is a truth value.
            Class::Scalar(_) if place.bits.is_some() || self.is_bool(&place.ty)? => {
                let value = self.unknown_int();
                self.write(place, &value)?;
            }
            Class::Scalar(ty) if what.pure => {
                let function = format!("asm {} {index}", what.template);
                let expr = self.b.opaque(&function, inputs.seen.clone(), ty);
                self.write(place, &Value::scalar_of(expr, place.ty.clone()))?;
            }
            Class::Scalar(ty) => {
                let size = ty.size(self.model.pointer);
                let dst = place.addr;
                self.b.stmt(StmtKind::Havoc { dst, size });
            }
            _ => {
                if let Ok(size) = self.size_of(&place.ty) {
                    let dst = place.addr;
                    self.b.stmt(StmtKind::Havoc { dst, size });
                }
            }
        }
        Ok(())
    }

    /// Control goes on to `then` or `els`, as the assembly before decides. Nobody knows how.
    pub fn any_of(&mut self, then: BlockId, els: BlockId) {
        let Some(choice) = &mut self.asm_choice else {
            self.b.terminate(TermKind::Nondet(vec![then, els]));
            return;
        };
        let inputs = choice.inputs.clone();
        // The next label is another choice.
        choice.function.push('\'');
        let function = choice.function.clone();
        let cond = self.b.opaque(&function, inputs, Ty::INT);
        let says = Says::default();
        self.b.terminate(TermKind::Branch {
            cond,
            then,
            els,
            says,
        });
    }
}

/// What assembly gets to see of a value: a scalar, or where a record lies.
fn seen(value: &Value) -> Option<ExprId> {
    match value.repr {
        Repr::Void => None,
        Repr::Scalar(expr) | Repr::Memory(expr) => Some(expr),
    }
}
