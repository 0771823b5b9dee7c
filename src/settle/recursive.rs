//! Objects that their own holder may take again: recursive mutexes.
//!
//! In: what each function initialises as recursive or as ordinary, the initialisers of the program's objects, and the
//! findings about objects that are taken while they are held. Out: which of those findings are dropped, and which
//! become notes and why.
//!
//! A finding stands if the program initialises every object of the class as ordinary, and is dropped if it
//! initialises every one as recursive. It is a note if the program does both, or if some initialisation is unknown.
//! Where nothing is known to initialise the class, the finding stands, unless the program initialises recursive
//! objects whose class is unknown, or unless an unknown function returned the object and a callee, which may know
//! more of it, takes it again. In a program without any recursive initialisation an unknown one does not count.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::finding::{Explanation, ExplanationKind, Finding};
use crate::ir::{Enumerated, Step, SymbolName};
use crate::judge::record::with_ids;
use crate::judge::record::{Disposition, Record};
use crate::judge::recursive::{Again, Initialised, Kind};
use crate::program::{FunctionId, Program};
use crate::summary::seeds::Seeds;
use crate::symbolic::class::Class;

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
        for again in &record.facts.recursion.again {
            let found = record.facts.findings.get(again.finding as usize);
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
            Verdict::Unless(text) => {
                let mut finding = finding;
                finding.explain(Explanation {
                    kind: ExplanationKind::Recursive,
                    text: text.clone(),
                });
                Some(finding)
            }
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
            for one in &record.facts.recursion.initialised {
                // The callers have it as an initialisation of their own.
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

    /// Why a finding of this function is dropped, or becomes a note.
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

    /// Whether an initialisation is recursive, in the program of a function.
    fn resolve(&self, function: FunctionId, kind: &Kind) -> BTreeSet<Kind> {
        let Kind::As(classes) = kind else {
            return BTreeSet::from([kind.clone()]);
        };
        let set = self.of_classes(function, classes);
        if set.is_empty() {
            // A global attribute that is never set has the value of its initialiser.
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

/// For each function, whether it is called, and all its callers are known.
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
