//! The whole program: every function that the analysis needs, and which function each call names.
//!
//! In: the [`UnitIndex`]es of all translation units. Out: a [`Program`], whose functions stand in the
//! order of their places in the source, whatever the order in which units were read.
//!
//! An external function is linked by name, a static one by name and file. A tree may hold several
//! programs, and a file may be compiled twice with different flags; then one name has several
//! definitions, all of which are kept. A call means the definition in its own translation unit if
//! there is one, else the first that is compiled for pointers as wide.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::methods::{self, Tables};
use crate::frontend::{BodyKey, FunctionDef, Loss, LossReason, Stage, UnitIndex};
use crate::ir::{MemberName, SymbolName};

/// A function of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct FunctionId(pub u32);

impl FunctionId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function that a call site names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CalleeRef {
    pub name: SymbolName,
    /// Its definition, if the program has one.
    pub function: Option<FunctionId>,
    /// See [`Mention`].
    pub called: bool,
    pub taken: bool,
    /// Named by no call, but stored in a member that a call goes through.
    pub method: bool,
}

/// One definition of a function, as one or more units lower it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Function {
    pub name: SymbolName,
    /// File and 1-based line of the definition.
    pub file: String,
    pub line: u32,
    /// Defined in one of the tree's own files.
    pub own: bool,
    /// See [`FunctionDef::announced`].
    pub announced: bool,
    pub body: Result<BodyKey, LossReason>,
    /// See [`FunctionDef::small`].
    pub small: bool,
    /// Functions called directly or mentioned otherwise, sorted by name, each once.
    pub callees: Vec<CalleeRef>,
    /// The functions that calls through members of records may mean; they are among the callees.
    pub methods: BTreeMap<MemberName, Vec<SymbolName>>,
    /// The tree stores it in an object or a member of a record, for whoever calls through that.
    pub stored: bool,
}

impl Function {
    pub fn callee(&self, name: &SymbolName) -> Option<&CalleeRef> {
        self.callees
            .binary_search_by(|callee| callee.name.cmp(name))
            .ok()
            .map(|index| &self.callees[index])
    }

    /// Whether the function's text was read, though it may not have been understood.
    pub fn parsed(&self) -> bool {
        match &self.body {
            Ok(_) => true,
            Err(reason) => reason.stage == Stage::Lower,
        }
    }
}

/// What is told of a translation unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unit {
    pub source: String,
    pub declarations: u64,
    pub function_definitions: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Program {
    pub functions: Vec<Function>,
    pub units: Vec<Unit>,
    /// Units that could not be read at all.
    pub failed: Vec<Loss>,
    /// Declarations lost, sorted by place, each once however many units it was lost in.
    pub losses: Vec<Loss>,
    /// External functions of the tree's own files with several definitions: the name and their
    /// `file:line`s.
    pub duplicates: Vec<(String, Vec<String>)>,
}

/// What makes two units' definitions the same function.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'a> {
    name: &'a SymbolName,
    file: &'a str,
    body: Option<BodyKey>,
}

impl<'a> Identity<'a> {
    fn new(def: &'a FunctionDef) -> Self {
        Identity {
            name: &def.name,
            file: &def.file,
            body: def.body.as_ref().ok().copied(),
        }
    }
}

impl Program {
    /// Links the units; `failed` are those of which nothing is known.
    pub fn link(mut units: Vec<UnitIndex>, mut failed: Vec<Loss>) -> Program {
        failed.sort_by(|a, b| a.file.cmp(&b.file));
        units.sort_by(|a, b| a.source.cmp(&b.source));
        let (definitions, members) = distinct_definitions(&units);
        let by_name = candidates(&definitions);
        let mut functions: Vec<Function> = definitions
            .iter()
            .map(|definition| Function {
                name: definition.def.name.clone(),
                file: definition.def.file.clone(),
                line: definition.def.line,
                own: definition.def.own,
                announced: definition.def.announced,
                body: definition.def.body.clone(),
                small: definition.def.small,
                callees: Vec::new(),
                methods: BTreeMap::new(),
                stored: false,
            })
            .collect();
        let mut tables = Tables::default();
        let mut stored: Vec<FunctionId> = Vec::new();
        for (unit, members) in members.iter().enumerate() {
            let here: FxHashSet<FunctionId> = members.iter().copied().collect();
            let pointer_size = units[unit].pointer_size;
            let meant = |name: &SymbolName| {
                let ids = by_name.get(name)?;
                let local = ids.iter().find(|id| here.contains(id));
                let fits =
                    |id: &&FunctionId| definitions[id.index()].def.pointer_size == pointer_size;
                local.or_else(|| ids.iter().find(fits)).copied()
            };
            tables.add(&units[unit].methods, &meant);
            stored.extend(units[unit].stored.iter().filter_map(meant));
            for &id in members {
                let definition = &definitions[id.index()];
                if definition.unit != unit {
                    continue;
                }
                tables.add(&definition.def.methods, &meant);
                let mut callees: Vec<CalleeRef> = definition
                    .def
                    .callees
                    .iter()
                    .map(|mention| CalleeRef {
                        name: mention.name.clone(),
                        function: meant(&mention.name),
                        called: mention.called,
                        taken: mention.taken,
                        method: false,
                    })
                    .collect();
                callees.sort_by(|a, b| a.name.cmp(&b.name));
                callees.dedup_by(|a, b| a.name == b.name);
                functions[id.index()].callees = callees;
            }
        }
        for (function, definition) in functions.iter_mut().zip(&definitions) {
            tables.resolve(function, &definition.def.members_called);
        }
        for id in tables.functions().chain(stored) {
            functions[id.index()].stored = true;
        }
        methods::drop_circular(&mut functions);
        let duplicates = duplicates(&functions);
        let losses = losses(&units);
        Program {
            functions,
            units: units
                .into_iter()
                .map(|unit| Unit {
                    source: unit.source,
                    declarations: unit.declarations,
                    function_definitions: unit.function_definitions,
                    bytes: unit.bytes,
                })
                .collect(),
            failed,
            losses,
            duplicates,
        }
    }

    /// For each function the functions that it calls or mentions.
    pub fn edges(&self) -> Vec<Vec<u32>> {
        edges(&self.functions)
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    pub fn ids(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.functions.len() as u32).map(FunctionId)
    }
}

/// For each function the functions that it calls or mentions.
pub(super) fn edges(functions: &[Function]) -> Vec<Vec<u32>> {
    let callees = functions.iter().map(|function| &function.callees);
    callees
        .map(|callees| callees.iter().filter_map(|c| Some(c.function?.0)).collect())
        .collect()
}

/// A function as one of its units gives it.
#[derive(Clone, Copy)]
struct Definition<'a> {
    def: &'a FunctionDef,
    /// The first unit that has it.
    unit: usize,
}

impl<'a> Definition<'a> {
    fn identity(&self) -> Identity<'a> {
        Identity::new(self.def)
    }

    fn place(&self) -> (&'a str, u32, &'a SymbolName, usize, Option<BodyKey>) {
        let FunctionDef {
            name, file, line, ..
        } = self.def;
        (file, *line, name, self.unit, self.identity().body)
    }
}

/// All different definitions in the order of their places, and for each unit the ones it has.
fn distinct_definitions(units: &[UnitIndex]) -> (Vec<Definition<'_>>, Vec<Vec<FunctionId>>) {
    // Units share most definitions: those are looked at once.
    let address = |def: &Arc<FunctionDef>| Arc::as_ptr(def).addr();
    let mut seen = FxHashSet::default();
    let mut shared: Vec<(&Arc<FunctionDef>, Definition<'_>)> = Vec::new();
    for (unit, index) in units.iter().enumerate() {
        let new = index
            .functions
            .iter()
            .filter(|def| seen.insert(address(def)));
        shared.extend(new.map(|def| (def, Definition { def, unit })));
    }
    // A definition that some unit lowers is not also counted as lost where another unit fails.
    let mut lowered: FxHashMap<(&SymbolName, &str), bool> = FxHashMap::default();
    for (def, _) in &shared {
        *lowered.entry((&def.name, &def.file)).or_default() |= def.body.is_ok();
    }
    shared.retain(|(def, _)| def.body.is_ok() || !lowered[&(&def.name, def.file.as_str())]);
    let mut first: FxHashMap<Identity<'_>, Definition<'_>> = FxHashMap::default();
    for (def, definition) in &shared {
        first.entry(Identity::new(def)).or_insert(*definition);
    }
    let mut definitions: Vec<Definition<'_>> = first.into_values().collect();
    definitions.sort_by(|a, b| a.place().cmp(&b.place()));
    let ids: FxHashMap<Identity<'_>, FunctionId> = definitions
        .iter()
        .zip(0..)
        .map(|(definition, id)| (definition.identity(), FunctionId(id)))
        .collect();
    let by_address: FxHashMap<usize, FunctionId> = shared
        .iter()
        .filter_map(|(def, definition)| Some((address(def), *ids.get(&definition.identity())?)))
        .collect();
    let members = units
        .iter()
        .map(|unit| {
            let definitions = unit.functions.iter();
            definitions
                .filter_map(|def| by_address.get(&address(def)).copied())
                .collect()
        })
        .collect();
    (definitions, members)
}

/// The definitions of each name, the one to take first: of an own file, with a body.
fn candidates<'a>(definitions: &[Definition<'a>]) -> FxHashMap<&'a SymbolName, Vec<FunctionId>> {
    let mut by_name: FxHashMap<&SymbolName, Vec<FunctionId>> = FxHashMap::default();
    for (definition, id) in definitions.iter().zip(0..) {
        by_name
            .entry(&definition.def.name)
            .or_default()
            .push(FunctionId(id));
    }
    for ids in by_name.values_mut() {
        ids.sort_by_key(|id| {
            let def = definitions[id.index()].def;
            (!def.own, def.body.is_err(), *id)
        });
    }
    by_name
}

fn duplicates(functions: &[Function]) -> Vec<(String, Vec<String>)> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for function in functions {
        if function.own && function.name.file.is_none() {
            let place = format!("{}:{}", function.file, function.line);
            let places = places.entry(&function.name.name).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| (name.to_owned(), places))
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Mention;

    fn link(units: Vec<UnitIndex>) -> Program {
        Program::link(units, Vec::new())
    }

    fn external(name: &str) -> SymbolName {
        SymbolName {
            name: name.into(),
            file: None,
        }
    }

    fn internal(file: &str, name: &str) -> SymbolName {
        SymbolName {
            name: name.into(),
            file: Some(file.into()),
        }
    }

    fn def(
        name: SymbolName,
        file: &str,
        line: u32,
        body: u8,
        callees: &[SymbolName],
    ) -> FunctionDef {
        FunctionDef {
            name,
            file: file.into(),
            line,
            own: file.ends_with(".c"),
            announced: false,
            body: Ok(BodyKey([body; 16])),
            callees: callees
                .iter()
                .map(|name| Mention {
                    name: name.clone(),
                    called: true,
                    taken: false,
                })
                .collect(),
            members_called: Vec::new(),
            methods: Vec::new(),
            pointer_size: 8,
            small: false,
        }
    }

    fn unit(source: &str, functions: Vec<FunctionDef>) -> UnitIndex {
        UnitIndex {
            methods: Vec::new(),
            stored: Vec::new(),
            source: source.into(),
            functions: functions.into_iter().map(Arc::new).collect(),
            pointer_size: 8,
            declarations: 1,
            function_definitions: 1,
            bytes: 1,
            losses: Vec::new(),
        }
    }

    fn target<'p>(program: &'p Program, caller: &str, callee: &SymbolName) -> Option<&'p Function> {
        let caller = program
            .functions
            .iter()
            .find(|f| f.name.to_string() == caller)?;
        caller
            .callee(callee)?
            .function
            .map(|id| program.function(id))
    }

    #[test]
    fn a_static_function_of_one_name_in_two_files_is_two_functions() {
        let program = link(vec![
            unit(
                "b.c",
                vec![
                    def(external("g"), "b.c", 9, 1, &[internal("b.c", "probe")]),
                    def(internal("b.c", "probe"), "b.c", 1, 2, &[]),
                ],
            ),
            unit(
                "a.c",
                vec![
                    def(external("f"), "a.c", 9, 3, &[internal("a.c", "probe")]),
                    def(internal("a.c", "probe"), "a.c", 1, 4, &[]),
                ],
            ),
        ]);
        assert_eq!(
            target(&program, "f", &internal("a.c", "probe"))
                .unwrap()
                .file,
            "a.c"
        );
        assert_eq!(
            target(&program, "g", &internal("b.c", "probe"))
                .unwrap()
                .file,
            "b.c"
        );
        assert!(program.duplicates.is_empty());
    }

    #[test]
    fn a_call_prefers_the_definition_of_its_own_unit() {
        let main = |file: &str, body| {
            vec![
                def(external("main"), file, 5, body, &[external("usage")]),
                def(external("usage"), file, 1, body + 1, &[]),
            ]
        };
        let program = link(vec![
            unit("x.c", main("x.c", 1)),
            unit("y.c", main("y.c", 3)),
            unit(
                "z.c",
                vec![def(external("z"), "z.c", 1, 7, &[external("usage")])],
            ),
        ]);
        let mains: Vec<_> = program
            .functions
            .iter()
            .filter(|f| f.name.name == "main")
            .map(|f| {
                program
                    .function(f.callees[0].function.unwrap())
                    .file
                    .as_str()
            })
            .collect();
        assert_eq!(mains, ["x.c", "y.c"]);
        assert_eq!(
            target(&program, "z", &external("usage")).unwrap().file,
            "x.c"
        );
        assert_eq!(
            program.duplicates[1],
            ("usage".into(), vec!["x.c:1".into(), "y.c:1".into()])
        );
    }

    #[test]
    fn a_headers_inline_function_is_one_function() {
        let inline = |body| def(internal("h.h", "get"), "h.h", 3, body, &[]);
        let caller = |name: &str, file: &str, body| {
            def(external(name), file, 1, body, &[internal("h.h", "get")])
        };
        let program = link(vec![
            unit("a.c", vec![caller("a", "a.c", 1), inline(9)]),
            unit("b.c", vec![caller("b", "b.c", 2), inline(9)]),
            // Other flags: the same text lowers to another body.
            unit("c.c", vec![caller("c", "c.c", 3), inline(8)]),
        ]);
        assert_eq!(program.functions.len(), 5);
        let get = internal("h.h", "get");
        assert_eq!(
            target(&program, "b", &get).unwrap().body,
            Ok(BodyKey([9; 16]))
        );
        assert_eq!(
            target(&program, "c", &get).unwrap().body,
            Ok(BodyKey([8; 16]))
        );
    }

    #[test]
    fn the_order_of_units_does_not_matter() {
        let a = unit(
            "a.c",
            vec![def(external("f"), "a.c", 1, 1, &[external("g")])],
        );
        let b = unit(
            "b.c",
            vec![def(external("g"), "b.c", 1, 2, &[external("h")])],
        );
        assert_eq!(link(vec![a.clone(), b.clone()]), link(vec![b, a]));
    }

    #[test]
    fn a_call_means_no_function_whose_pointers_have_another_width() {
        let wide = def(external("g"), "a.c", 1, 1, &[]);
        let narrow = FunctionDef {
            pointer_size: 4,
            ..def(external("g"), "b.c", 1, 2, &[])
        };
        let caller = FunctionDef {
            pointer_size: 4,
            ..def(external("f"), "c.c", 1, 3, &[external("g"), external("h")])
        };
        let other = def(external("h"), "d.c", 1, 4, &[]);
        let boot = UnitIndex {
            pointer_size: 4,
            ..unit("c.c", vec![caller])
        };
        let program = link(vec![
            unit("a.c", vec![wide, other]),
            unit("b.c", vec![narrow]),
            boot,
        ]);
        let meant = target(&program, "f", &external("g"));
        assert_eq!(meant.map(|function| function.file.as_str()), Some("b.c"));
        assert!(target(&program, "f", &external("h")).is_none());
    }

    #[test]
    fn a_function_lost_in_one_unit_and_lowered_in_another_is_not_lost() {
        let ok = def(internal("h.h", "f"), "h.h", 3, 1, &[]);
        let lost = FunctionDef {
            body: Err(LossReason {
                stage: Stage::Parse,
                message: "syntax error".into(),
            }),
            ..ok.clone()
        };
        let program = link(vec![unit("a.c", vec![lost]), unit("b.c", vec![ok])]);
        assert_eq!(program.functions.len(), 1);
        assert!(program.functions[0].body.is_ok());
    }
}
