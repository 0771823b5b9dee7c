//! Tests of linking.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::capture::LinkKind;
use crate::frontend::{BodyKey, FunctionDef};
use crate::ir::{FunctionHolder, Mention, Method, SymbolName};

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

fn def(name: SymbolName, file: &str, line: u32, body: u8, callees: &[SymbolName]) -> FunctionDef {
    FunctionDef {
        name,
        file: file.into(),
        line,
        own: file.ends_with(".c"),
        announced: false,
        weak: false,
        body: Ok(BodyKey([body; 16])),
        callees: callees
            .iter()
            .map(|name| Mention {
                name: name.clone(),
                called: true,
                taken: false,
            })
            .collect(),
        calls_indirectly: false,
        holders_called: Vec::new(),
        methods: Vec::new(),
        enumerated: Vec::new(),
        pointer_size: 8,
        small: false,
        returns_record: false,
        objects: Vec::new(),
        statics: Vec::new(),
        results: Vec::new(),
    }
}

fn unit(source: &str, functions: Vec<FunctionDef>) -> UnitIndex {
    UnitIndex {
        methods: Vec::new(),
        stored: Vec::new(),
        enumerated: Vec::new(),
        objects_defined: Vec::new(),
        objects_needed: Vec::new(),
        objects: Vec::new(),
        objects_taken: Vec::new(),
        declared_outside: Vec::new(),
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
    assert!(program.ambiguous.is_empty());
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
    let told: Vec<String> = program.ambiguous.iter().map(Ambiguity::to_string).collect();
    assert_eq!(
        told,
        ["nothing tells which `usage` is linked with z.c; x.c:1 was taken, y.c:1 lies as near"]
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

const NAMES: usize = 4;

/// A program's parts: for each library unit the names that it defines, and what each of those calls; then the programs: what `main`
/// calls, and the library units in the order in which they are linked.
#[derive(Clone, Debug)]
struct Parts {
    libraries: Vec<BTreeMap<usize, [usize; 2]>>,
    programs: Vec<([usize; 2], Vec<usize>)>,
}

fn parts() -> impl Strategy<Value = Parts> {
    let calls = [0..NAMES, 0..NAMES];
    let library = prop::collection::btree_map(0..NAMES, calls.clone(), 1..=NAMES);
    let order = Just((0..4).collect::<Vec<usize>>()).prop_shuffle();
    let order = (order, 1usize..=4).prop_map(|(order, count)| order[..count].to_vec());
    let program = (calls, order);
    let parts = (
        prop::collection::vec(library, 4),
        prop::collection::vec(program, 1..5),
    );
    parts.prop_map(|(libraries, programs)| Parts {
        libraries,
        programs,
    })
}

fn name_of(number: usize) -> SymbolName {
    external(&format!("f{number}"))
}

impl Parts {
    fn objects(&self) -> Objects {
        let calls = |calls: &[usize; 2]| calls.map(name_of);
        let mut objects = Objects::default();
        for (at, library) in self.libraries.iter().enumerate() {
            let file = format!("lib{at}/l.c");
            let functions = library.iter().map(|(name, callees)| {
                let line = *name as u32 + 1;
                def(name_of(*name), &file, line, at as u8, &calls(callees))
            });
            objects.units.push(unit(&file, functions.collect()));
        }
        for (at, (callees, libraries)) in self.programs.iter().enumerate() {
            let file = format!("p{at}/main.c");
            let main = def(external("main"), &file, 1, 100, &calls(callees));
            let inputs = libraries.iter().map(|at| LinkInput::Unit(*at));
            objects.links.push(Link {
                kind: LinkKind::Program,
                name: format!("p{at}"),
                inputs: [LinkInput::Unit(objects.units.len())]
                    .into_iter()
                    .chain(inputs)
                    .collect(),
            });
            objects.units.push(unit(&file, vec![main]));
        }
        objects
    }

    /// The library unit whose definition of a name a unit of a program means.
    fn meant(&self, program: usize, library: Option<usize>, name: usize) -> Option<usize> {
        let defines = |at: &usize| self.libraries[*at].contains_key(&name);
        let mut linked = self.programs[program].1.iter().copied();
        library.filter(defines).or_else(|| linked.find(defines))
    }

    /// Checks all calls below a function of a program, to a depth.
    fn check(
        &self,
        linked: &Program,
        function: &Function,
        (program, library): (usize, Option<usize>),
        depth: usize,
    ) {
        for callee in &function.callees {
            let name: usize = callee.name.name[1..].parse().unwrap();
            let Some(expected) = self.meant(program, library, name) else {
                continue;
            };
            let meant = linked.function(callee.function.unwrap());
            assert_eq!(
                meant.file,
                format!("lib{expected}/l.c"),
                "{} in p{program}",
                function.name
            );
            if depth > 0 {
                self.check(linked, meant, (program, Some(expected)), depth - 1);
            }
        }
    }
}

proptest! {
    #[test]
    fn every_call_means_what_is_linked_with_it_however_many_programs_share_the_caller(parts in parts()) {
        let linked = super::link(parts.objects());
        for (function, program) in linked
            .functions
            .iter()
            .filter(|function| function.name.name == "main")
            .zip(0..)
        {
            parts.check(&linked, function, (program, None), 5);
        }
        // No more functions than there are programs to tell apart.
        let most = linked.functions.iter().filter_map(|function| function.variant).max();
        prop_assert!(most.is_none_or(|most| (most as usize) <= parts.programs.len()));
    }

    #[test]
    fn the_order_of_units_and_of_links_parts_does_not_matter(
        parts in parts(),
        order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(),
        recorded: bool,
    ) {
        let mut objects = parts.objects();
        if !recorded {
            objects.links.clear();
        }
        let count = objects.units.len();
        let order: Vec<usize> = order.into_iter().filter(|at| *at < count).collect();
        let mut shuffled = Objects {
            units: order.iter().map(|at| objects.units[*at].clone()).collect(),
            links: objects.links.clone(),
            ..Objects::default()
        };
        for input in shuffled.links.iter_mut().flat_map(|link| &mut link.inputs) {
            if let LinkInput::Unit(unit) = input {
                *unit = order.iter().position(|at| at == unit).unwrap();
            }
        }
        prop_assert_eq!(super::link(objects), super::link(shuffled));
    }
}

#[test]
fn a_definition_has_no_more_variants_than_the_limit() {
    let mut units = vec![unit(
        "lib/l.c",
        vec![def(external("run"), "lib/l.c", 1, 1, &[external("hook")])],
    )];
    for program in 0..20u8 {
        let file = format!("p{program:02}/main.c");
        let main = def(external("main"), &file, 1, 50 + program, &[external("run")]);
        let hook = def(external("hook"), &file, 2, 100 + program, &[]);
        units.push(unit(&file, vec![main, hook]));
    }
    let program = link(units);
    let runs = program.functions.iter().filter(|f| f.name.name == "run");
    assert_eq!(runs.count(), MAX_VARIANTS as usize);
    assert_eq!(program.shared_variants, 1);
    assert_eq!(program.images.len(), 20);
}

#[test]
fn a_link_of_itself_ends() {
    let main = def(external("main"), "main.c", 1, 1, &[external("f")]);
    let f = def(external("f"), "f.c", 1, 2, &[]);
    let made_of = |kind, name: &str, inputs: &[LinkInput]| Link {
        kind,
        name: name.into(),
        inputs: inputs.to_vec(),
    };
    let every = [
        LinkInput::Link(0),
        LinkInput::Link(1),
        LinkInput::Link(2),
        LinkInput::Link(2),
    ];
    let mut program = every.to_vec();
    program.insert(0, LinkInput::Unit(0));
    let mut archive = every.to_vec();
    archive.push(LinkInput::Unit(1));
    let program = super::link(Objects {
        units: vec![unit("main.c", vec![main]), unit("f.c", vec![f])],
        links: vec![
            made_of(LinkKind::Program, "p", &program),
            made_of(LinkKind::Archive, "a", &archive),
            made_of(LinkKind::Relocatable, "r", &every),
        ],
        ..Objects::default()
    });
    assert_eq!(
        target(&program, "main", &external("f")).unwrap().file,
        "f.c"
    );
    assert_eq!(program.images, ["p"]);
}

/// The file of what a call means in the function of this file.
fn meant_in<'p>(program: &'p Program, file: &str, callee: &str) -> Option<&'p str> {
    let caller = program.functions.iter().find(|f| f.file == file)?;
    let callee = caller.callee(&external(callee))?.function?;
    Some(&program.function(callee).file)
}

#[test]
fn without_a_record_a_program_takes_what_can_be_linked_with_the_rest() {
    // A server's assertion prints the server's state; the client and its library have a plain one.
    let calls = |names: &[&str]| names.iter().map(|name| external(name)).collect::<Vec<_>>();
    let function = |name: &str, file: &str, body, callees: &[&str]| {
        def(external(name), file, 1, body, &calls(callees))
    };
    let program = link(vec![
        unit(
            "server.c",
            vec![
                function("main", "server.c", 1, &["list", "command"]),
                function("state", "server.c", 2, &[]),
            ],
        ),
        unit("client.c", vec![function("main", "client.c", 3, &["list"])]),
        unit("list.c", vec![function("list", "list.c", 4, &["fail"])]),
        unit(
            "debug.c",
            vec![
                function("fail", "debug.c", 5, &["state"]),
                function("command", "debug.c", 6, &[]),
            ],
        ),
        unit("plain.c", vec![function("fail", "plain.c", 7, &[])]),
    ]);
    assert!(program.ambiguous.is_empty(), "{:?}", program.ambiguous);
    let list = |image: &str| {
        let image = program
            .images
            .iter()
            .position(|name| name == image)
            .unwrap();
        let of = |f: &&Function| match &program.sets[f.images.0 as usize] {
            ImageSet::Of(images) => f.file == "list.c" && images.contains(&(image as u32)),
            ImageSet::Any => false,
        };
        let function = program.functions.iter().find(of).unwrap();
        let meant = function.callee(&external("fail")).unwrap().function;
        program.function(meant.unwrap()).file.as_str()
    };
    assert_eq!(list("server.c"), "debug.c");
    assert_eq!(list("client.c"), "plain.c");
}

#[test]
fn without_a_record_a_program_has_one_definition_of_each_name() {
    // What defines `one` a second time is not what the program takes `two` from.
    let program = link(vec![
        unit(
            "main.c",
            vec![
                def(external("main"), "main.c", 1, 1, &[external("two")]),
                def(external("one"), "main.c", 2, 2, &[]),
            ],
        ),
        unit(
            "a.c",
            vec![
                def(external("one"), "a.c", 1, 3, &[]),
                def(external("two"), "a.c", 2, 4, &[]),
            ],
        ),
        unit("b.c", vec![def(external("two"), "b.c", 1, 5, &[])]),
    ]);
    assert_eq!(meant_in(&program, "main.c", "two"), Some("b.c"));
}

#[test]
fn a_call_through_a_member_means_what_any_program_stores_there() {
    let on_end = FunctionHolder::Member(("handler".into(), "on_end".into()));
    // The library gives the member no function; two programs each give it one of their own.
    let mut parse = def(external("parse"), "parse.c", 1, 1, &[]);
    parse.holders_called = vec![on_end.clone()];
    let program_of = |file: &str, body| {
        let ends = internal(file, "ends");
        let mut main = def(external("main"), file, 9, body, &[external("parse")]);
        main.methods = vec![Method {
            holder: on_end.clone(),
            function: Some(ends.clone()),
        }];
        unit(file, vec![main, def(ends, file, 1, body + 1, &[])])
    };
    let linked = |name: &str, unit| Link {
        kind: LinkKind::Program,
        name: name.into(),
        inputs: vec![LinkInput::Unit(unit), LinkInput::Unit(2)],
    };
    let program = super::link(Objects {
        units: vec![
            program_of("a.c", 2),
            program_of("b.c", 4),
            unit("parse.c", vec![parse]),
        ],
        links: vec![linked("a", 0), linked("b", 1)],
        ..Objects::default()
    });
    let named_parse = |f: &&Function| f.name == external("parse");
    let parse: Vec<&Function> = program.functions.iter().filter(named_parse).collect();
    let [parse] = parse[..] else {
        panic!("{} variants", parse.len());
    };
    let both = ["a.c", "b.c"].map(|file| internal(file, "ends"));
    assert_eq!(parse.methods[&on_end].functions, both);
    assert!(
        both.iter()
            .all(|ends| target(&program, "parse", ends).is_some())
    );
}
