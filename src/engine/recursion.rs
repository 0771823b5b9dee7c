//! Objects that their own holder may take again: recursive mutexes.
//!
//! In: for each function what it initialises as what, and its findings about objects that are taken while they are held; the
//! initialisers of the program's objects. Out: which of those findings are none, and which may be none and why.
//!
//! A finding stands if all that the program initialises of the object's class is ordinary, and is none if all is recursive. It is a
//! note if there is both, or if it is not known as what some of it is initialised. Where nothing is known to initialise the class, the finding
//! stands, unless the program makes recursive objects of which nobody knows where they end up; or unless the object comes from
//! a function of which nothing is known and a callee takes it again, knowing perhaps more of it. In a program that initialises nothing as
//! recursive unknown initialisation says nothing.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::analysis::{Disposition, Record};
use super::findings::Findings;
use super::program::{FunctionId, Program};
use super::settlement::with_ids;
use crate::finding::{Finding, Level};
use crate::ir::{Enumerated, Step, SymbolName};
use crate::summary::Summary;
use crate::summary::convert::Converter;
use crate::summary::seeds::Seeds;
use crate::symbolic::class::Class;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::InitEvent;
use crate::symbolic::region::Loc;
use crate::symbolic::state::Object;

/// What an object is initialised as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    Plain,
    Recursive,
    /// As an attribute of one of these classes says.
    As(Vec<Class>),
    Unknown,
}

/// A function initialises an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Initialised {
    /// None for an object that is known by a variable only.
    pub classes: Vec<Class>,
    pub kind: Kind,
    /// The function's callers know more of it.
    pub handed_on: bool,
    /// File and line of the call.
    pub place: (String, u32),
}

/// A function's finding about an object that is taken while it is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    /// Index into the function's findings.
    pub finding: u32,
    pub classes: Vec<Class>,
    /// The object is the function's own, initialised as this.
    pub own: Option<BTreeSet<Initialised>>,
    /// It comes from a function of which nothing is known, and a callee takes it again.
    pub foreign: bool,
}

/// A function's part in the question which objects are recursive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recursion {
    pub initialised: BTreeSet<Initialised>,
    pub again: Vec<Again>,
}

impl Recursion {
    /// Whether callers know more of what the function initialises.
    pub fn hands_on(&self) -> bool {
        self.initialised.iter().any(|one| one.handed_on)
    }

    /// Of a function of which nothing is known but that it initialises objects.
    pub fn unknown(place: (String, u32)) -> Recursion {
        let initialised = Initialised {
            classes: Vec::new(),
            kind: Kind::Unknown,
            handed_on: false,
            place,
        };
        Recursion {
            initialised: BTreeSet::from([initialised]),
            again: Vec::new(),
        }
    }
}

/// Collects a function's part. `summary` is what its callers are told.
pub fn collect(
    exec: &mut Executor<'_>,
    mut converter: Converter,
    findings: &Findings<'_>,
    summary: &Summary,
) -> Recursion {
    let events = std::mem::take(&mut exec.log.initialised);
    let mut recursion = Recursion::default();
    for event in &events {
        if exec.regions.is_local(event.loc.region) {
            continue;
        }
        let object = converter.object(exec, event.loc);
        let mut handed_on = summary.initialises.iter().map(|other| Some(&other.object));
        let handed_on = object.is_some() && handed_on.any(|other| other == object.as_ref());
        let classes = converter.classes(exec, event.loc);
        recursion
            .initialised
            .extend(initialised(exec, &converter, event, classes, handed_on));
    }
    for (index, (finding, about)) in (0..).zip(findings.found.iter().zip(&findings.about)) {
        let object = about.object;
        if exec.machine_of(object).recursive.as_ref() != Some(&finding.rule) {
            continue;
        }
        let own = exec.regions.is_local(object.loc.region).then(|| {
            let own = events.iter().filter(|event| event.loc == object.loc);
            own.flat_map(|event| initialised(exec, &converter, event, Vec::new(), false))
                .collect()
        });
        recursion.again.push(Again {
            finding: index,
            classes: converter.classes(exec, object.loc),
            own,
            foreign: is_foreign(exec, object, finding),
        });
    }
    exec.log.initialised = events;
    recursion
}

/// What a call initialises an object as, which may be one thing or the other.
fn initialised(
    exec: &mut Executor<'_>,
    converter: &Converter,
    event: &InitEvent,
    classes: Vec<Class>,
    handed_on: bool,
) -> Vec<Initialised> {
    let site = event.stack.first();
    let place = site.map_or_else(Default::default, |site| (site.file.to_string(), site.line));
    let kinds = kinds(exec, converter, event).into_iter();
    kinds
        .map(|kind| Initialised {
            classes: classes.clone(),
            kind,
            handed_on,
            place: place.clone(),
        })
        .collect()
}

fn kinds(exec: &mut Executor<'_>, converter: &Converter, event: &InitEvent) -> BTreeSet<Kind> {
    let Some(recursive) = event.recursive else {
        return BTreeSet::from([Kind::Unknown]);
    };
    let mut kinds = BTreeSet::new();
    let mut rest = event.guard;
    for &(guard, loc) in &event.kept_in {
        if exec.formula.guards.excludes(rest, guard) {
            continue;
        }
        rest = exec.formula.guards.and_not(rest, guard);
        let classes = kept_by(exec, converter, loc);
        kinds.insert(match classes.is_empty() {
            true => Kind::Unknown,
            false => Kind::As(classes),
        });
    }
    let plain = exec.formula.guards.and_not(rest, recursive);
    let recursive = exec.formula.guards.and(rest, recursive);
    match (recursive != Guard::FALSE, plain != Guard::FALSE) {
        (true, true) => kinds.insert(Kind::Unknown),
        (true, false) => kinds.insert(Kind::Recursive),
        (false, true) => kinds.insert(Kind::Plain),
        (false, false) => false,
    };
    kinds
}

/// The classes of an attribute; none of one that is the function's own, of which an unknown function has written the number.
fn kept_by(exec: &mut Executor<'_>, converter: &Converter, loc: Loc) -> Vec<Class> {
    match exec.regions.is_local(loc.region) {
        true => Vec::new(),
        false => converter.classes(exec, loc),
    }
}

/// Whether an object is found by a pointer from a function of which nothing is known, and the finding is about a callee that takes it again.
fn is_foreign(exec: &Executor<'_>, object: Object, finding: &Finding) -> bool {
    let way = exec.way_to(object.loc.region);
    let mut bases = way.into_iter().filter_map(|(_, base)| base);
    let unknown = |base| {
        let mut calls = exec.log.unknown_calls.iter();
        calls.any(|call| call.result == Some(base))
    };
    let in_callee = finding.trace.last().is_some_and(|step| step.depth > 0);
    in_callee && bases.any(unknown)
}

/// What initialises an object: a call in a function, or the object's own initialiser.
#[derive(Clone, Copy)]
enum By<'r> {
    Function(FunctionId),
    Itself(&'r SymbolName),
}

/// Some initialisations.
type Known<'r> = Vec<(By<'r>, &'r Initialised)>;

/// What becomes of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is none: the object is recursive.
    None,
    /// It is none if the object is recursive, which it may be for this reason.
    Unless(String),
}

/// The verdicts on functions' findings, by their index; those that stand have none.
pub fn settle(
    program: &Program,
    records: &[Option<Record>],
    seeds: &Seeds,
) -> FxHashMap<(FunctionId, u32), Verdict> {
    let statics = statics(program, seeds);
    let initialisations = Initialisations::new(program, records, &statics);
    let mut verdicts = FxHashMap::default();
    for (id, record) in with_ids(records) {
        for again in &record.recursion.again {
            let found = record.findings.get(again.finding as usize);
            let verdict = initialisations.verdict(id, again);
            if let (Some(finding), Some(verdict)) = (found, verdict) {
                let verdict = match verdict {
                    Verdict::None => Verdict::None,
                    Verdict::Unless(why) => {
                        Verdict::Unless(format!("`{}` is recursive: {why}", finding.object))
                    }
                };
                verdicts.insert((id, again.finding), verdict);
            }
        }
    }
    verdicts
}

impl Verdict {
    /// The finding under this verdict.
    pub fn apply(&self, finding: Finding) -> Option<Finding> {
        match self {
            Verdict::None => None,
            Verdict::Unless(why) => Some(Finding {
                level: Level::Note,
                specification: Some(why.clone()),
                ..finding
            }),
        }
    }
}

/// All that the functions of a tree initialise.
struct Initialisations<'r> {
    program: &'r Program,
    by_class: BTreeMap<&'r Class, Known<'r>>,
    /// Objects without a class.
    stray: Known<'r>,
    recursive: Vec<By<'r>>,
}

impl<'r> Initialisations<'r> {
    fn new(
        program: &'r Program,
        records: &'r [Option<Record>],
        statics: &'r [(&'r SymbolName, Initialised)],
    ) -> Self {
        let told = told(program, records);
        let mut initialisations = Initialisations {
            program,
            by_class: BTreeMap::new(),
            stray: Vec::new(),
            recursive: Vec::new(),
        };
        for (id, record) in with_ids(records) {
            for one in &record.recursion.initialised {
                // Callers that are known have it, too.
                if !one.handed_on || told.get(id.index()) != Some(&true) {
                    initialisations.add(By::Function(id), one);
                }
            }
        }
        for (object, one) in statics {
            initialisations.add(By::Itself(object), one);
        }
        initialisations
    }

    fn add(&mut self, by: By<'r>, one: &'r Initialised) {
        if one.kind == Kind::Recursive {
            self.recursive.push(by);
        }
        if one.classes.is_empty() {
            self.stray.push((by, one));
        }
        for class in &one.classes {
            self.by_class.entry(class).or_default().push((by, one));
        }
    }

    /// Whether what does an initialisation may be of one program with a function.
    fn together(&self, function: FunctionId, by: By<'_>) -> bool {
        match by {
            By::Function(other) => self.program.are_together(function, other),
            By::Itself(_) => true,
        }
    }

    /// What makes a finding of this function none, or doubtful.
    fn verdict(&self, function: FunctionId, again: &Again) -> Option<Verdict> {
        let mut recursive = self.recursive.iter();
        let any = recursive.any(|&by| self.together(function, by));
        let known = match &again.own {
            Some(own) => own
                .iter()
                .map(|one| (By::Function(function), one))
                .collect(),
            None => self.of_classes(function, &again.classes),
        };
        if known.is_empty() {
            return self.unknown(function, again, any);
        }
        let resolved = known.into_iter().flat_map(|(by, one)| {
            let kinds = self.resolve(function, &one.kind).into_iter();
            kinds.map(move |kind| (kind, by, one))
        });
        let resolved: Vec<_> = resolved.collect();
        let find = |wanted: &Kind| resolved.iter().find(|(kind, ..)| kind == wanted);
        match (find(&Kind::Recursive), find(&Kind::Unknown)) {
            (Some(_), _) if resolved.iter().all(|(kind, ..)| *kind == Kind::Recursive) => {
                Some(Verdict::None)
            }
            (_, Some(&(_, by, one))) if any => {
                let who = self.who(by, one);
                let why = format!("{who} initialises such an object with a kind that is not known");
                Some(Verdict::Unless(why))
            }
            (Some(&(_, by, one)), None) => {
                let why = format!(
                    "{} initialises some such objects as recursive",
                    self.who(by, one)
                );
                Some(Verdict::Unless(why))
            }
            _ => None,
        }
    }

    /// The same where nothing is known to initialise the object.
    fn unknown(&self, function: FunctionId, again: &Again, any: bool) -> Option<Verdict> {
        // A global that nothing initialises is ordinary.
        if again.classes.iter().any(Class::is_single) || again.own.is_some() {
            return None;
        }
        let stray = self.stray.iter();
        let mut stray = stray.filter(|(by, _)| self.together(function, *by));
        let stray = stray.find(|(_, one)| any && one.kind != Kind::Plain);
        if let Some((by, one)) = stray {
            let kind = match one.kind {
                Kind::Recursive => "as recursive",
                _ => "with a kind that is not known",
            };
            let why = format!(
                "nothing is known to initialise it, and {} initialises an object {kind} that may be this one",
                self.who(*by, one)
            );
            return Some(Verdict::Unless(why));
        }
        let why =
            "nothing in the program initialises it, and it comes from a function that is not known";
        again.foreign.then(|| Verdict::Unless(why.to_owned()))
    }

    /// What the function's program initialises of the first of these classes of which it initialises anything.
    fn of_classes(&self, function: FunctionId, classes: &[Class]) -> Known<'r> {
        let of_class = |class: &Class| -> Known<'r> {
            let known = self.by_class.get(class).into_iter().flatten();
            known
                .filter(|(by, _)| self.together(function, *by))
                .copied()
                .collect()
        };
        let mut all = classes.iter().map(of_class);
        all.find(|known| !known.is_empty()).unwrap_or_default()
    }

    /// What a kind comes to, in the program of a function.
    fn resolve(&self, function: FunctionId, kind: &Kind) -> BTreeSet<Kind> {
        let Kind::As(classes) = kind else {
            return BTreeSet::from([kind.clone()]);
        };
        let set = self.of_classes(function, classes);
        if set.is_empty() {
            // What nobody says of a global attribute it has from its initialisation.
            return BTreeSet::from([match classes.iter().any(Class::is_single) {
                true => Kind::Plain,
                false => Kind::Unknown,
            }]);
        }
        let kinds = set.into_iter().map(|(_, one)| match &one.kind {
            Kind::As(_) => Kind::Unknown,
            kind => kind.clone(),
        });
        kinds.collect()
    }

    /// What initialises something, with its place.
    fn who(&self, by: By<'_>, one: &Initialised) -> String {
        match by {
            By::Function(id) => {
                let (file, line) = &one.place;
                let name = &self.program.function(id).name.name;
                format!("`{name}` ({file}:{line})")
            }
            By::Itself(object) => format!("the initialiser of `{}`", object.name),
        }
    }
}

/// The objects that their initialisers make recursive.
fn statics<'p>(program: &'p Program, seeds: &Seeds) -> Vec<(&'p SymbolName, Initialised)> {
    let recursive = program.enumerated.iter();
    let recursive = recursive.filter(|one| seeds.means_recursive(&one.constant));
    let of_object = |one: &'p Enumerated| {
        let is_object = |step: &Step| seeds.is_object_type(&step.member.0);
        let inside = one.way.iter().position(is_object)?;
        let at = one.way[inside].at;
        let holder = inside.checked_sub(1).map(|last| &one.way[last]);
        let member = holder.map(|step| step.member.1.as_str());
        let offset = |bytes: u64| i64::try_from(bytes).ok();
        let mut classes = vec![Class::of_global(&one.object, offset(at)?, member)];
        if let Some(Step {
            member: (record, member),
            offset: within,
            ..
        }) = holder
        {
            classes.extend(Class::of_member(record, member, offset(*within)?));
        }
        let initialised = Initialised {
            classes,
            kind: Kind::Recursive,
            handed_on: false,
            place: Default::default(),
        };
        Some((&one.object, initialised))
    };
    recursive.filter_map(of_object).collect()
}

/// Of each function whether some function calls it, and all that do are known.
fn told(program: &Program, records: &[Option<Record>]) -> Vec<bool> {
    let mut called = vec![false; program.functions.len()];
    let mut unknown = vec![false; program.functions.len()];
    for (id, record) in program.ids().zip(records) {
        let known = record.as_ref().is_some_and(|record| {
            matches!(
                record.disposition,
                Disposition::Analysed | Disposition::NoOp
            )
        });
        for callee in &program.function(id).callees {
            if let Some(callee) = callee.function.filter(|callee| *callee != id) {
                called[callee.index()] = true;
                unknown[callee.index()] |= !known;
            }
        }
    }
    let all = called.into_iter().zip(unknown);
    all.map(|(called, unknown)| called && !unknown).collect()
}
