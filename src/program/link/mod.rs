//! Links units into a program: which function each call means, in each of the programs that a tree holds.
//!
//! In: [`Objects`]: the units' indexes, and what a build has linked of them, if that is known. Out: a [`Program`].
//!
//! A static function is linked by name and file. An external one is linked by name, within each *image* ([`images`]): a
//! program, a shared object, a kernel's module. What an image lacks is looked for in the whole tree, where the nearest
//! definition is taken ([`nearest`]); so are the callees of a library's functions that no program is linked with. A function
//! that calls different definitions of a name in different programs, or calls one that does, is analysed once for each
//! ([`variants`]); a call through a member means what it may mean in any of them.

mod code;
mod constants;
mod guess;
mod images;
mod nearest;
mod resolve;
mod symbols;
#[cfg(test)]
mod tests;
mod variants;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use self::code::{Code, DefId};
use self::constants::Constants;
use self::images::Images;
use self::resolve::{Answer, Linker};
use self::variants::Node;
use crate::capture::{Link, LinkInput};
use crate::frontend::{Loss, LossReason, Stage, UnitIndex};
use crate::ir::Enumerated;
use crate::program::call_graph::components;
use crate::program::{Ambiguity, CalleeRef, Function, FunctionId, ImageSet, Program, SetId, Unit};

/// A definition is analysed at most so many times; the programs beyond that share the last analysis.
pub const MAX_VARIANTS: u32 = 8;

/// What is to be linked.
#[derive(Default)]
pub struct Objects {
    pub units: Vec<UnitIndex>,
    /// For each unit a hash of the flags that it is compiled with; may be left empty.
    pub flags: Vec<u64>,
    /// What a build links; the units are numbered as in `units`.
    pub links: Vec<Link>,
    /// Units of which nothing is known.
    pub failed: Vec<Loss>,
}

/// Definitions that were taken though others are as near, by name.
#[derive(Default)]
struct Ambiguities(BTreeMap<String, Ambiguity>);

impl Objects {
    /// The same, with units in an order that does not depend on how they came.
    fn sorted(mut self) -> Objects {
        self.flags.resize(self.units.len(), 0);
        self.failed.sort_by(|a, b| a.file.cmp(&b.file));
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        let key = |at: &usize| (self.units[*at].source.as_str(), self.flags[*at]);
        order.sort_by(|a, b| key(a).cmp(&key(b)));
        let mut position = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            position[*old] = new;
        }
        let inputs = self.links.iter_mut().flat_map(|link| &mut link.inputs);
        for input in inputs {
            if let LinkInput::Unit(unit) = input {
                *unit = position[*unit];
            }
        }
        self.flags = order.iter().map(|at| self.flags[*at]).collect();
        let mut units: Vec<(usize, UnitIndex)> = position.into_iter().zip(self.units).collect();
        units.sort_by_key(|(position, _)| *position);
        self.units = units.into_iter().map(|(_, unit)| unit).collect();
        self
    }
}

/// Links everything.
pub fn link(objects: Objects) -> Program {
    let Objects {
        units,
        flags,
        links,
        failed,
    } = objects.sorted();
    let mut program = linked(&units, &flags, &links);
    program.losses = losses(&units);
    program.enumerated = enumerated(&units);
    program.failed = failed;
    program.units = units
        .into_iter()
        .map(|unit| Unit {
            source: unit.source,
            declarations: unit.declarations,
            function_definitions: unit.function_definitions,
            bytes: unit.bytes,
        })
        .collect();
    program
}

/// The program's functions and images.
fn linked(units: &[UnitIndex], flags: &[u64], links: &[Link]) -> Program {
    let code = Code::new(units, flags);
    let mut ambiguities = Ambiguities::default();
    let images = Images::new(&code, links, &mut ambiguities);
    let constants = constants::constants(&code);
    let linker = Linker::new(&code, &images, &constants, ambiguities);
    let places: Vec<Vec<u32>> = code.ids().map(|id| linker.places(id)).collect();
    let mut answers: Vec<Vec<Answer>> = code
        .ids()
        .zip(&places)
        .map(|(id, places)| linker.answers(id, places))
        .collect();
    let stored = linker.stored();
    drop_circular(&mut answers);
    let nodes: Vec<Node> = places
        .into_iter()
        .zip(&mut answers)
        .map(|(places, answers)| node(places, answers))
        .collect();
    let mut classes = variants::classes(&nodes);
    let mut capped = 0;
    for classes in &mut classes {
        capped += u64::from(classes.iter().any(|class| *class >= MAX_VARIANTS));
        for class in classes {
            *class = (*class).min(MAX_VARIANTS - 1);
        }
    }
    let mut variants = Variants {
        constants: &constants,
        code: &code,
        nodes: &nodes,
        classes: &classes,
        first: Vec::with_capacity(nodes.len()),
        in_programs_alone: images::in_programs_alone(links),
        rest: linker.rest(),
        sets: BTreeMap::new(),
    };
    let functions = variants.functions(&answers, &stored);
    let mut sets: Vec<(ImageSet, SetId)> = variants.sets.into_iter().collect();
    sets.sort_by_key(|(_, id)| *id);
    let ambiguous = linker.into_ambiguities().0.into_values().collect();
    Program {
        functions,
        constants,
        images: images.list.iter().map(|image| image.name.clone()).collect(),
        sets: sets.into_iter().map(|(set, _)| set).collect(),
        ambiguous,
        shared_variants: capped,
        images_left_out: images.left_out as u64,
        ..Program::default()
    }
}

/// A definition for the refinement. Of answers that are equal one is kept.
fn node(places: Vec<u32>, answers: &mut Vec<Answer>) -> Node {
    let mut direct = Vec::new();
    if answers.len() > 1 {
        let mut known: Vec<Answer> = Vec::new();
        for answer in std::mem::take(answers) {
            let at = known.iter().position(|other| *other == answer);
            direct.push(at.unwrap_or(known.len()) as u32);
            if at.is_none() {
                known.push(answer);
            }
        }
        *answers = known;
    }
    let callees = answers.iter().map(|answer| answer.functions().collect());
    Node {
        places,
        direct,
        answers: callees.collect(),
    }
}

/// Forgets the methods that can come back to their callers, whatever program they are linked into.
fn drop_circular(answers: &mut [Vec<Answer>]) {
    let edges: Vec<Vec<u32>> = answers
        .iter()
        .map(|answers| {
            let callees: BTreeSet<u32> = answers.iter().flat_map(Answer::functions).collect();
            callees.into_iter().collect()
        })
        .collect();
    let (_, component_of) = components(&edges);
    for (caller, answers) in answers.iter_mut().enumerate() {
        let circular = |callee: DefId| component_of[callee.index()] == component_of[caller];
        answers
            .iter_mut()
            .for_each(|answer| answer.drop_methods(&circular));
    }
}

/// Makes a function of each class of each definition.
struct Variants<'a> {
    code: &'a Code<'a>,
    nodes: &'a [Node],
    classes: &'a [Vec<u32>],
    /// The function of each definition's first class.
    first: Vec<FunctionId>,
    constants: &'a Constants,
    in_programs_alone: FxHashSet<u32>,
    rest: u32,
    sets: BTreeMap<ImageSet, SetId>,
}

impl Variants<'_> {
    fn functions(&mut self, answers: &[Vec<Answer>], stored: &[bool]) -> Vec<Function> {
        let mut count = 0;
        for classes in self.classes {
            self.first.push(FunctionId(count));
            count += 1 + classes.iter().copied().max().unwrap_or(0);
        }
        let mut functions = Vec::with_capacity(count as usize);
        for id in self.code.ids() {
            let (node, classes) = (&self.nodes[id.index()], &self.classes[id.index()]);
            let several = classes.iter().any(|class| *class > 0);
            let variants = 1 + classes.iter().copied().max().unwrap_or(0);
            for variant in 0..variants {
                let Some(at) = classes.iter().position(|class| *class == variant) else {
                    continue;
                };
                let answer = &answers[id.index()][node.answer(at)];
                let set = self.set(id, variant);
                functions.push(Function {
                    definition: id.0,
                    variant: several.then_some(variant),
                    images: set,
                    stored: stored[id.index()],
                    ..self.function(id, node.places[at], answer)
                });
            }
        }
        functions
    }

    fn function(&self, id: DefId, place: u32, answer: &Answer) -> Function {
        let def = self.code.def(id);
        let meant = |callee: DefId| {
            let at = self.nodes[callee.index()].at(place);
            FunctionId(self.first[callee.index()].0 + self.classes[callee.index()][at])
        };
        let callees = answer.callees.iter().map(|callee| CalleeRef {
            name: callee.name.clone(),
            function: callee.definition.map(meant),
            called: callee.called,
            taken: callee.taken,
            method: callee.method,
        });
        Function {
            name: def.name.clone(),
            file: def.file.clone(),
            line: def.line,
            own: def.own,
            announced: def.announced,
            body: def.body.clone(),
            small: def.small,
            returns_record: def.returns_record,
            results: def.results.clone(),
            constants: constants::named(def, self.constants),
            callees: callees.collect(),
            methods: answer.methods.clone(),
            closed: def.name.file.is_some() || self.is_in_programs_alone(id),
            stored: false,
            definition: id.0,
            variant: None,
            images: SetId::default(),
        }
    }

    fn is_in_programs_alone(&self, id: DefId) -> bool {
        let mut units = self.code.units_of[id.index()].iter();
        units.all(|unit| self.in_programs_alone.contains(unit))
    }

    /// The images of a variant.
    fn set(&mut self, id: DefId, variant: u32) -> SetId {
        let places = self.nodes[id.index()].places.iter();
        let places = places.zip(&self.classes[id.index()]);
        let places = places.filter(|(_, class)| **class == variant);
        let places: Vec<u32> = places.map(|(place, _)| *place).collect();
        let set = match places.contains(&self.rest) {
            true => ImageSet::Any,
            false => ImageSet::Of(places),
        };
        let next = SetId(self.sets.len() as u32);
        *self.sets.entry(set).or_insert(next)
    }
}

fn enumerated(units: &[UnitIndex]) -> Vec<Enumerated> {
    let of_objects = units.iter().flat_map(|unit| &unit.enumerated);
    let functions = units.iter().flat_map(|unit| &unit.functions);
    let of_functions = functions.flat_map(|function| &function.enumerated);
    let mut enumerated: Vec<Enumerated> = of_objects.chain(of_functions).cloned().collect();
    enumerated.sort();
    enumerated.dedup();
    enumerated
}

fn losses(units: &[UnitIndex]) -> Vec<Loss> {
    let mut losses: Vec<Loss> = units
        .iter()
        .flat_map(|unit| unit.losses.iter().cloned())
        .collect();
    fn place(loss: &Loss) -> (&str, u32, Stage, Option<&str>, &str) {
        let LossReason { stage, message } = &loss.reason;
        (&loss.file, loss.line, *stage, loss.name.as_deref(), message)
    }
    losses.sort_by(|a, b| place(a).cmp(&place(b)));
    losses.dedup();
    losses
}
