use super::*;
use crate::property::{StateId, Target};
use crate::summary::{NullResult, Offset, Root, Told, When};
use crate::symbolic::term::Op;

fn built_in() -> Seeds {
    let (property, _) = Property::load(&[]);
    let (seeds, errors) = Seeds::load(&property, &[]);
    assert_eq!(errors, []);
    seeds
}

fn load(text: &str) -> (Seeds, Vec<String>) {
    let (property, _) = Property::load(&[]);
    let (seeds, errors) = Seeds::load(&property, &[SourceFile::new("my.toml", text)]);
    let errors = errors.iter().map(ToString::to_string).collect();
    (seeds, errors)
}

#[test]
fn a_primitive_is_what_seed_data_tells_and_no_summary_without_traces() {
    let seeds = built_in();
    let lock = &seeds.get("spin_lock").unwrap().summary;
    assert!(lock.is_primitive());
    // What an execution found, but could not settle.
    let mut inferred = Summary::clone(lock);
    inferred.given = false;
    inferred.rows.iter_mut().for_each(|row| row.doubtful = true);
    assert!(!inferred.is_primitive());
}

/// R in the notation of Figure 8: `unlocked,true -> locked`.
fn rows(seeds: &Seeds, name: &str) -> Vec<String> {
    let (property, _) = Property::load(&[]);
    let summary = &seeds.get(name).expect(name).summary;
    let machine = property.machine(&summary.objects[0].machine).unwrap();
    let mut lines = Vec::new();
    for row in &summary.rows {
        let outcond: Vec<_> = row
            .outcond
            .iter()
            .map(|value| value.map_or("_".to_owned(), |value| value.to_string()))
            .collect();
        let to = match &row.to {
            Target::State(state) => machine.state_name(*state),
            Target::Error(rule) => rule.as_deref().unwrap_or("error"),
        };
        let from = machine.state_name(row.from);
        lines.push(format!("{from},{} -> {to}", outcond.join(",")));
    }
    lines
}

#[test]
fn spin_lock_and_spin_trylock_are_as_in_figure_8() {
    let seeds = built_in();
    assert_eq!(
        rows(&seeds, "spin_lock"),
        ["unlocked, -> locked", "locked, -> lock/double-lock"]
    );
    assert_eq!(
        rows(&seeds, "spin_trylock"),
        [
            "unlocked,true -> locked",
            "unlocked,false -> unlocked",
            "locked,_ -> error"
        ]
    );
    let trylock = &seeds.get("spin_trylock").unwrap().summary;
    let ret = IExpr::Value {
        object: IObj {
            root: Root::Return,
            path: vec![],
        },
        width: 32,
        when: When::Exit,
        narrow: false,
        pointer: Told(false),
    };
    let zero = IExpr::Const {
        value: 0,
        width: 32,
    };
    let is_zero = IExpr::Op {
        op: Op::Eq,
        width: 1,
        args: vec![ret, zero],
    };
    let lifted = IExpr::Op {
        op: Op::Not,
        width: 1,
        args: vec![is_zero],
    };
    assert_eq!(trylock.outputs, [lifted]);
    let modified: Vec<_> = trylock.modified.iter().map(|m| &m.object.root).collect();
    assert_eq!(modified, [&Root::Param(0), &Root::Return]);
}

#[test]
fn zero_means_success_for_down_trylock_and_pthread_but_not_for_mutex_trylock() {
    let seeds = built_in();
    for name in ["down_trylock", "pthread_mutex_trylock", "mtx_trylock"] {
        assert_eq!(rows(&seeds, name)[0], "unlocked,false -> locked", "{name}");
    }
    for name in ["mutex_trylock", "down_read_trylock", "_atomic_dec_and_lock"] {
        let first = &rows(&seeds, name)[0];
        assert!(first.starts_with("unlocked,true -> "), "{name}: {first}");
    }
}

#[test]
fn a_query_tells_the_state_and_changes_nothing() {
    let seeds = built_in();
    assert_eq!(
        rows(&seeds, "mutex_is_locked"),
        ["unlocked,false -> unlocked", "locked,true -> locked"]
    );
    let (_, errors) = load(
        "[[function]]\nnames = [\"f\"]\nobject = \"*param0\"\nmachine = \"mutex\"\n\
         operation = \"query\"\n",
    );
    assert_eq!(
        errors,
        ["my.toml:5:13: a query tells the state by its result: `when` is missing"]
    );
}

#[test]
fn a_posix_lock_always_succeeds() {
    let seeds = built_in();
    let lock = &seeds.get("pthread_mutex_lock").unwrap().summary;
    assert_eq!(
        lock.result,
        Some(IExpr::Const {
            value: 0,
            width: 32
        })
    );
    assert!(lock.outputs.is_empty());
}

#[test]
fn the_counter_comes_before_the_lock_in_atomic_dec_and_lock() {
    let seeds = built_in();
    let seed = seeds.get("refcount_dec_and_lock").unwrap();
    assert_eq!(seed.summary.objects[0].object.root, Root::Param(1));
    let applies = |types: [&str; 2]| {
        let params = &types.map(str::to_owned);
        let hosted = false;
        seed.applies(Some(Defined { params, hosted }))
    };
    assert!(applies(["refcount_t", "spinlock_t"]));
    assert!(!applies(["spinlock_t", "refcount_t"]));
}

#[test]
fn a_seed_gives_way_to_a_look_alike_but_not_to_the_primitive_itself() {
    let seeds = built_in();
    let down = SymbolName {
        name: "down".into(),
        file: Some("game.c".into()),
    };
    let hosted = false;
    let applies = |params: Option<&[String]>| {
        let defined = params.map(|params| Defined { params, hosted });
        seeds.summary(&down, defined).is_some()
    };
    assert!(applies(None));
    assert!(applies(Some(&["struct semaphore".into()])));
    assert!(applies(Some(&["volatile struct semaphore".into()])));
    assert!(!applies(Some(&["int".into()])));
    assert!(!applies(Some(&[])));
    // No types: any definition wins.
    let none = Defined {
        params: &[],
        hosted,
    };
    assert!(!seeds.get("rtnl_lock").unwrap().applies(Some(none)));
}

#[test]
fn every_form_that_linux_shows_after_preprocessing_is_known() {
    let seeds = built_in();
    for name in [
        "_raw_spin_lock_irqsave",
        "_raw_spin_lock_nest_lock",
        "__raw_spin_unlock_irqrestore",
        "_raw_read_unlock_bh",
        "_raw_write_lock_irqsave",
        "do_raw_spin_trylock",
        "queued_spin_lock",
        "rt_spin_lock_nested",
        "mutex_lock_killable_nested",
        "_mutex_lock_nest_lock",
        "_rt_mutex_lock_nest_lock",
        "down_write_killable_nested",
        "_down_write_nest_lock",
        "percpu_down_read_trylock",
        "downgrade_write",
        "down_timeout",
        "__bit_spin_unlock",
        "ww_mutex_lock_slow",
    ] {
        let seed = seeds.get(name).unwrap_or_else(|| panic!("{name}"));
        assert!(!seed.summary.is_noop(), "{name}");
    }
}

#[test]
fn the_bits_of_a_word_are_different_locks() {
    let seeds = built_in();
    let object = &seeds.get("bit_spin_lock").unwrap().summary.objects[0].object;
    assert_eq!(object.root, Root::Param(1));
    assert_eq!(object.path[0].constant, 0);
    assert_eq!(object.path[0].terms.len(), 1);
}

#[test]
fn objects_are_read_as_written() {
    let offset = Offset::bytes;
    for (text, root, path) in [
        ("*param0", Root::Param(0), vec![offset(0)]),
        ("*(param12 + 8)", Root::Param(12), vec![offset(8)]),
        ("**ret", Root::Return, vec![offset(0), offset(0)]),
        (
            "*(*(param1+8) + 16)",
            Root::Param(1),
            vec![offset(8), offset(16)],
        ),
    ] {
        assert_eq!(syntax::object(text), Ok(IObj { root, path }), "{text}");
    }
    for text in [
        "param0",
        "*",
        "*arg0",
        "*(param0 + x)",
        "*param0 + 8",
        "*(param0 + 8",
        "global 1x",
        "",
    ] {
        assert!(syntax::object(text).is_err(), "{text}");
    }
}

#[test]
fn what_names_an_object_by_its_value_is_read_as_written() {
    let left = |bytes| {
        Root::Exit(Box::new(IObj {
            root: Root::Param(3),
            path: vec![Offset::bytes(bytes)],
        }))
    };
    for (text, root) in [
        ("ret", Root::Return),
        ("param1", Root::Param(1)),
        ("out3", left(0)),
        ("out3 + 4", left(4)),
    ] {
        let path = Vec::new();
        assert_eq!(syntax::number(text), Ok(IObj { root, path }), "{text}");
    }
    for text in ["*param0", "out", "ret + 4", "out0 + x", "param", ""] {
        assert!(syntax::number(text).is_err(), "{text}");
    }
}

#[test]
fn conditions_on_the_result_are_read_with_their_polarity() {
    let polarity = |text: &str| match syntax::when(text, 64) {
        Ok(syntax::When::If(condition)) => Some(condition.holds),
        _ => None,
    };
    for (text, holds) in [
        ("ret != 0", true),
        ("ret == 0", false),
        ("ret == -1", true),
        ("ret < 0", true),
        ("ret >= 0", false),
        ("ret > 0", true),
        ("ret <= 0", false),
    ] {
        assert_eq!(polarity(text), Some(holds), "{text}");
    }
    // ret >= 0 and ret < 0 are one predicate with two values, and so are == and !=.
    for (one, other) in [("ret < 0", "ret >= 0"), ("ret == 3", "ret != 3")] {
        let predicate = |text| match syntax::when(text, 32) {
            Ok(syntax::When::If(condition)) => Some(condition.predicate),
            _ => None,
        };
        assert_eq!(predicate(one), predicate(other));
    }
    assert_eq!(syntax::when("always", 32), Ok(syntax::When::Always));
    for text in ["ret", "ret = 0", "ret == x", "param0 == 0", ""] {
        assert!(syntax::when(text, 32).is_err(), "{text}");
    }
}

#[test]
fn a_bad_row_is_reported_at_its_place_and_the_others_count() {
    let text = "\
[[function]]
names = [\"grab\"]
object = \"*param0\"
machine = \"mutx\"
operation = \"lock\"

[[function]]
names = [\"take\", \"2take\"]
object = \"*param1\"
machine = \"mutex\"
operation = \"lock\"

[[function]]
names = [\"drop\"]
object = \"*param1\"
machine = \"mutex\"
operation = \"release\"

[[function]]
names = [\"drop\"]
objects = \"*param1\"
operation = \"none\"
";
    let (seeds, errors) = load(text);
    assert_eq!(
        errors,
        [
            "my.toml:4:11: no machine `mutx`; expected one of file, descriptor, heap, mapping, mutex, spinlock, \
             thread_mutex, bitlock, rwlock, rwspinlock, semaphore, interrupts",
            "my.toml:8:18: `2take` is no C function name",
            "my.toml:17:13: machine `mutex` has no operation `release`; expected one of lock, \
             trylock, unlock",
            "my.toml:21:1: in this function: unknown field `objects`, expected one of `names`, \
             `object`, `machine`, `operation`, `when`, `if`, `result`, `returns`, `types`, `optional`, `leads_back`, `replaces`, `saves`, `restores`",
        ]
    );
    assert!(seeds.get("take").is_some());
    assert!(seeds.get("drop").is_none());
}

#[test]
fn rows_for_machines_of_several_checkers_add_up() {
    let text = r#"
        name = "mine"

        [[machine]]
        name = "counter"
        states = ["low", "high"]
        operations.raise = { low = "high", high = "high" }

        [[function]]
        names = ["spin_lock"]
        object = "*param0"
        machine = "counter"
        operation = "raise"
    "#;
    let file = SourceFile::new("my.toml", text);
    let (property, errors) = Property::load(std::slice::from_ref(&file));
    assert_eq!(errors, []);
    let (seeds, errors) = Seeds::load(&property, &[file]);
    assert_eq!(errors, []);
    let seed = seeds.get("spin_lock").unwrap();
    let machines: Vec<&str> = seed
        .summary
        .objects
        .iter()
        .map(|o| o.machine.as_str())
        .collect();
    assert_eq!(machines.last(), Some(&"counter"));
    assert_eq!(
        seed.summary.objects[0],
        built_in().get("spin_lock").unwrap().summary.objects[0]
    );
    let raised = seed
        .summary
        .rows
        .iter()
        .filter(|row| row.object as usize + 1 == machines.len());
    assert_eq!(raised.count(), 2);
}

#[test]
fn a_user_row_replaces_a_built_in_one_and_may_name_two_objects() {
    let text = r#"
        [[function]]
        names = ["spin_lock"]
        object = "*param0"
        machine = "semaphore"
        operation = "down"
        when = "ret == 1"

        [[function]]
        names = ["spin_lock"]
        object = "*param1"
        machine = "mutex"
        operation = "lock"
    "#;
    let (seeds, errors) = load(text);
    assert_eq!(errors, [] as [&str; 0]);
    let summary = &seeds.get("spin_lock").unwrap().summary;
    assert_eq!(summary.objects.len(), 2);
    let states: Vec<_> = summary
        .rows
        .iter()
        .map(|row| (row.object, row.from, row.outcond.clone()))
        .collect();
    assert_eq!(
        states,
        [
            (0, StateId(0), vec![Some(true)]),
            (0, StateId(0), vec![Some(false)]),
            (0, StateId(1), vec![None]),
            (1, StateId(0), vec![None]),
            (1, StateId(1), vec![None]),
        ]
    );
}

#[test]
fn the_same_object_twice_is_a_mistake() {
    let row = "[[function]]\nnames = [\"f\"]\nobject = \"*param0\"\nmachine = \"mutex\"\n\
               operation = \"lock\"\n";
    let (_, errors) = load(&format!("{row}{row}"));
    assert_eq!(
        errors,
        ["my.toml:7:10: `f` already has an operation on this object"]
    );
}

#[test]
fn flags_keep_the_state_that_irqsave_found_and_irqrestore_leads_back_to() {
    let (property, _) = Property::load(&[]);
    let seeds = built_in();
    let machine = property.machine("interrupts").unwrap();
    let save = &seeds.get("_raw_spin_lock_irqsave").unwrap().summary;
    let kept = save.result.as_ref().expect("flags are known");
    let mut told = Vec::new();
    kept.each(&mut |part| {
        if let IExpr::InState { machine, state, .. } = part {
            told.push((machine.clone(), state.0));
        }
    });
    assert_eq!(told, [("interrupts".to_owned(), 1)]);
    let restore = &seeds.get("_raw_spin_unlock_irqrestore").unwrap().summary;
    let from_off: Vec<(Vec<Option<bool>>, &Target)> = restore
        .rows
        .iter()
        .filter(|row| row.object == 1 && row.from == machine.state("off").unwrap())
        .map(|row| (row.incond.clone(), &row.to))
        .collect();
    let (on, off) = (Target::State(StateId(0)), Target::State(StateId(1)));
    assert_eq!(
        from_off,
        [
            (vec![Some(true), None], &on),
            (vec![None, Some(true)], &off),
            (vec![Some(false), Some(false)], &off),
        ]
    );
}

#[test]
fn only_a_machine_that_says_how_keeps_states_in_values() {
    let row = |rest: &str| {
        format!(
            "[[function]]\nnames = [\"f\"]\nobject = \"*param0\"\nmachine = \"mutex\"\n{rest}\n"
        )
    };
    let (_, errors) = load(&row("operation = \"lock\"\nsaves = \"ret\""));
    assert_eq!(
        errors,
        ["my.toml:6:9: the machine does not say how its states are `saved`"]
    );
    let text = row("operation = \"restore\"\nrestores = \"param1\"\nwhen = \"ret != 0\"")
        .replace("mutex", "interrupts");
    assert_eq!(
        load(&text).1,
        ["my.toml:6:12: a state is restored always, or never"]
    );
}

#[test]
fn a_row_may_stand_for_any_definition() {
    let seeds = built_in();
    let none = Defined {
        params: &[],
        hosted: false,
    };
    let save = seeds.get("arch_local_irq_save").unwrap();
    assert!(save.applies(Some(none)));
}

#[test]
fn an_allocation_sleeps_by_its_flags_and_a_mutex_always() {
    let seeds = built_in();
    let sleeps = |name: &str| {
        let summary = &seeds.get(name).unwrap().summary;
        let conditions: Vec<_> = summary.sleeps.iter().map(|s| s.incond.clone()).collect();
        (conditions, summary.inputs.len(), summary.opaque)
    };
    assert_eq!(sleeps("__kmalloc"), (vec![vec![Some(true)]], 1, true));
    assert_eq!(sleeps("mutex_lock"), (vec![vec![]], 0, false));
    assert_eq!(sleeps("mutex_trylock"), (vec![], 0, false));
    let (_, errors) = load("[[sleep]]\nnames = [\"f\"]\nwhen = \"param1 == 3\"\n");
    assert_eq!(
        errors,
        [
            "my.toml:3:8: `param1 == 3` is no condition on an argument; expected something like \
             `param1 & 0x400`"
        ]
    );
}

#[test]
fn rows_say_which_numbers_make_an_object_recursive() {
    let seeds = built_in();
    let init = &seeds.get("pthread_mutex_init").unwrap().summary;
    let [initialisation] = &init.initialises[..] else {
        panic!("{init:?}");
    };
    let attribute = IObj {
        root: Root::Param(1),
        path: vec![Offset::bytes(0)],
    };
    assert_eq!(initialisation.kept_in, Some(attribute));
    assert!(init.is_noop());
    let settype = &seeds.get("pthread_mutexattr_settype").unwrap().summary;
    assert_eq!(settype.initialises.len(), 1);
    assert_eq!(settype.modified.len(), 1);
    assert_eq!(settype.modified[0].size, 4);
    assert!(settype.modified[0].value.is_some());
    assert!(seeds.means_recursive("PTHREAD_MUTEX_RECURSIVE_NP"));
    assert!(!seeds.means_recursive("PTHREAD_MUTEX_ERRORCHECK_NP"));
}

#[test]
fn what_a_row_of_initialisations_lacks_is_told() {
    let row = |kind: &str, more: &str| {
        format!("[[initialise]]\nnames = [\"f\"]\nobject = \"*param0\"\nkind = \"{kind}\"\n{more}")
    };
    let (_, errors) = load(&row("param1", ""));
    assert_eq!(
        errors,
        [
            "my.toml:4:8: which numbers mean a recursive object? `recursive` or `recursive_bits` is missing"
        ]
    );
    let (_, errors) = load(&row("ret", "recursive = [1]\n"));
    assert_eq!(
        errors,
        ["my.toml:4:8: what an object is initialised as is known before the call"]
    );
    let write = "[[write]]\nnames = [\"f\"]\nobject = \"*param0\"\nvalue = \"*param1\"\n";
    let (_, errors) = load(write);
    assert_eq!(
        errors,
        ["my.toml:4:9: `*param1` is no value; expected something like `param1` or `0`"]
    );
}

#[test]
fn the_rows_of_libraries_load_without_errors() {
    let (property, _) = Property::load(&[]);
    let (seeds, errors) = Seeds::load_with_libraries(&property, &[]);
    assert_eq!(errors, []);
    let malloc = &seeds.get("malloc").unwrap().summary;
    assert_eq!(malloc.null_result, NullResult::May);
    assert_eq!(malloc.objects[0].machine, "heap");
    assert_eq!(seeds.get("strcpy").unwrap().summary.uses.len(), 2);
    // What is said of locks besides does not hide it.
    let kfree = &seeds.get("kfree").unwrap().summary;
    assert_eq!(kfree.objects[0].machine, "heap");
    let kmalloc = &seeds.get("__kmalloc").unwrap();
    assert!(kmalloc.summary.null_when.is_some());
    // A program that runs under an operating system may have a function of that name.
    let params = &["unsigned long".to_owned()];
    let applies = |hosted| kmalloc.applies(Some(Defined { params, hosted }));
    assert!(applies(false) && !applies(true));
    let (alone, _) = Seeds::load(&property, &[]);
    assert!(alone.get("malloc").is_none());
}

#[test]
fn what_a_row_of_a_library_cannot_say_is_told() {
    let (_, errors) = load("[[library]]\nnames = [\"f\"]\nclears = [\"param0\"]\n");
    assert_eq!(
        errors,
        [
            "my.toml:3:11: `param0` is no object; expected something like *param0, *(param0 + 8), *ret or global name"
        ]
    );
    let (_, errors) = load("[[library]]\nnames = [\"f\"]\nnull_when = \"param0 < 1\"\n");
    assert_eq!(
        errors,
        [
            "my.toml:3:13: `param0 < 1` is no condition on an argument; expected something like \
             `param1 & 0x400`"
        ]
    );
}
