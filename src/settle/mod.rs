//! Who gives an object back: findings that no function shows by itself.
//!
//! In: for each function its obligations and what it does with its callees' ([`crate::judge::obligation`]). Out: findings for the obligations
//! that nobody discharges.
//!
//! An obligation is discharged if some caller does the other half, or hands it on to a caller of its own that does. At
//! a function that nobody calls (an entry of an operations table, an exported function) it is discharged if
//! another such function, or one that others may call, too, of the program has the other half for an object of
//! the same class, and belongs to it by its name: `start` and `stop` of one table. One for which callers have no name is
//! discharged where they hold something of the class. Of a chain of obligations that are not discharged the innermost is reported: one cause,
//! one report.

pub mod annotations;
mod by_argument;
pub mod callers;
mod certain;
pub mod concurrent;
mod counterparts;
mod discharge;
pub mod guards;
mod lock_functions;
pub mod lock_order;
pub mod lost_results;
pub mod macros;
pub mod pairs;
pub mod phases;
pub mod recursive;
pub mod requirement;
pub mod results;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use self::by_argument::Standing;
use self::certain::Certainty;
use self::counterparts::{Explanations, Halves, explanations};
use self::lock_functions::LockFunctions;
use crate::finding::{ExplanationKind, Finding, Level};
use crate::judge::obligation::{Kind, Obligation, Obligations, OtherHalf, Place, Restored, Use};
use crate::judge::record::{Disposition, Record, with_ids};
use crate::program::{Function, FunctionId, Program};
use crate::symbolic::class::Class;

/// By what other functions explain a function's own findings, by their index; and which function does, if it is one.
pub type Explained = FxHashMap<(FunctionId, u32), BTreeMap<ExplanationKind, Option<FunctionId>>>;

/// What all functions together say of each.
pub struct Settled {
    /// The findings for obligations that nobody discharges.
    pub undischarged: Vec<(FunctionId, Kind, Finding)>,
    /// Those for obligations that an explanation covers.
    pub hidden: Vec<(FunctionId, Finding)>,
    /// The functions' own findings that others explain.
    pub explained: Explained,
    /// Those that are none: callers show that what they tell is meant, or something else is among `undischarged` in their place.
    pub dropped: FxHashSet<(FunctionId, u32)>,
}

impl Settled {
    /// Whether another function has the other half of what one of these findings of a function's own is about. What follows from such
    /// a finding is meant, too.
    fn has_counterpart(&self, function: FunctionId, findings: &[u32]) -> bool {
        findings.iter().any(|finding| {
            let explained = self.explained.get(&(function, *finding));
            explained.is_some_and(|kinds| kinds.contains_key(&ExplanationKind::Counterpart))
        })
    }

    /// The level of the gravest of these findings of a function's own.
    fn gravest(&self, function: FunctionId, record: &Record, findings: &[u32]) -> Option<Level> {
        let known = findings.iter().filter(|finding| {
            let key = (function, **finding);
            !self.dropped.contains(&key)
        });
        let levels = known.filter_map(|&finding| {
            let own = record.facts.findings.get(finding as usize)?;
            let explained = self.explained.get(&(function, finding));
            let kinds = explained.into_iter().flat_map(BTreeMap::keys);
            Some(kinds.fold(own.level, |level, kind| level.max(kind.level())))
        });
        levels.min()
    }
}

pub fn settle(program: &Program, records: &[Option<Record>]) -> Settled {
    let matching = Matching::new(program, records);
    let Explanations { explained, halves } = explanations(&matching, records);
    let mut settled = Settled {
        undischarged: Vec::new(),
        hidden: Vec::new(),
        explained,
        dropped: FxHashSet::default(),
    };
    let standing = matching.contested(records, &mut settled);
    undischarged(&matching, records, (&halves, &standing), &mut settled);
    settled
}

fn undischarged(
    matching: &Matching<'_>,
    records: &[Option<Record>],
    (halves, standing): (&Halves<'_>, &Standing),
    settled: &mut Settled,
) {
    let mut reported: FxHashMap<(String, String, u32), Vec<FunctionId>> = FxHashMap::default();
    let definition = |id: FunctionId| matching.program.function(id).definition;
    for (id, record) in with_ids(records) {
        for obligation in &record.facts.obligations.own {
            let gravest = settled.gravest(id, record, &obligation.after);
            if settled.has_counterpart(id, &obligation.after) {
                continue;
            }
            let told = obligation.contested.map(|finding| (id, finding));
            if told.is_some_and(|told| !settled.dropped.contains(&told))
                || matching.rests_on(standing, id, obligation)
            {
                continue;
            }
            match matching.verdict(id, obligation, halves) {
                Verdict::Fulfilled => continue,
                // The function's own finding says it.
                Verdict::Explained(..) if obligation.instead_of.is_some() => continue,
                Verdict::Explained(..) if gravest.is_some() => continue,
                Verdict::Explained(kind, function) => {
                    let mut finding = obligation.finding.clone();
                    explain(&mut finding, matching.program, kind, function);
                    settled.hidden.push((id, finding));
                    continue;
                }
                Verdict::Undischarged => {}
            }
            let mut finding = obligation.finding.clone();
            let certain = match matching.certainty(id, obligation) {
                Certainty::OfItself => true,
                Certainty::ByCaller(trace) => {
                    finding.trace = trace.to_vec();
                    true
                }
                Certainty::None => {
                    finding.explain_by(ExplanationKind::Counterpart);
                    false
                }
            };
            if gravest.is_some_and(|gravest| gravest <= finding.level) {
                continue;
            }
            if let Some(other) = obligation.instead_of {
                if !certain {
                    continue;
                }
                settled.dropped.insert((id, other));
            }
            // One place, one finding, whatever else it is about: one for each variant of the function.
            let place = (finding.rule.clone(), finding.file.clone(), finding.line);
            let known = reported.entry(place).or_default();
            let first = known.first().copied();
            let again = |first| definition(first) == definition(id) && !known.contains(&id);
            if first.is_none_or(again) {
                known.push(id);
                settled.undischarged.push((id, obligation.kind, finding));
            }
        }
    }
    // What is given back in a function that is inlined is reported where it stands.
    settled.undischarged.retain(|(_, kind, finding)| {
        let cause = finding.trace.last().map(|step| (&step.file, step.line));
        let cause = cause.filter(|_| *kind == Kind::Required);
        let place = (&finding.file, finding.line);
        cause.is_none_or(|cause| {
            let (file, line) = cause;
            cause == place || !reported.contains_key(&(finding.rule.clone(), file.clone(), line))
        })
    });
}

/// Adds to a finding that it is none if another function does its part.
pub fn explain(
    finding: &mut Finding,
    program: &Program,
    kind: ExplanationKind,
    function: Option<FunctionId>,
) {
    match function {
        Some(function) => finding.explain_by_function(kind, &program.function(function).name.name),
        None => finding.explain_by(kind),
    }
}

/// What becomes of an obligation.
enum Verdict {
    /// Callers are seen to do their part, or it is told elsewhere.
    Fulfilled,
    /// What speaks against a report, and the other function that does.
    Explained(ExplanationKind, Option<FunctionId>),
    Undischarged,
}

/// Whether the function is defined in a header: it is there for whoever includes that.
fn of_header(program: &Program, function: FunctionId) -> bool {
    let file = &program.function(function).name.file;
    file.as_ref().is_some_and(|file| file.ends_with(".h"))
}

/// Functions of headers, there for whoever wants them, which nobody does: what they do with others says nothing.
fn unused(program: &Program) -> FxHashSet<FunctionId> {
    let of_headers = program.ids().filter(|id| of_header(program, *id));
    let mut unused: FxHashSet<FunctionId> = of_headers.collect();
    for caller in program.ids() {
        for callee in &program.function(caller).callees {
            if let Some(callee) = callee.function.filter(|callee| *callee != caller) {
                unused.remove(&callee);
            }
        }
    }
    unused
}

/// Functions to which functions hand pointers on.
fn taken(program: &Program) -> FxHashSet<FunctionId> {
    let references = program
        .functions
        .iter()
        .flat_map(|function| &function.callees);
    let taken = references.filter(|reference| reference.taken);
    taken.filter_map(|reference| reference.function).collect()
}

type Node = (FunctionId, Place);

struct Matching<'p> {
    program: &'p Program,
    /// What callers do with each obligation.
    uses: FxHashMap<Node, Vec<(FunctionId, &'p Use)>>,
    own: FxHashMap<Node, &'p Obligation>,
    /// Functions that are called by one whose analysis came to no end, or by none at all.
    unknown_callers: FxHashSet<FunctionId>,
    /// Functions that others mention, and those that they name where they do.
    mentioned: FxHashSet<FunctionId>,
    named: FxHashSet<FunctionId>,
    /// Functions that others call by their summaries.
    called: FxHashSet<FunctionId>,
    /// The functions that call each, or that it is inlined into.
    callers: FxHashMap<FunctionId, FxHashSet<FunctionId>>,
    /// Callbacks of functions of which nothing is known.
    handed_out: FxHashSet<FunctionId>,
    /// Obligations that callers have no name for, by the callee's that they come from.
    unnamed: FxHashMap<Node, Vec<(FunctionId, &'p Obligation)>>,
    unused: FxHashSet<FunctionId>,
    /// The uncalled and exported functions that keep or need an object of a class.
    entries: FxHashMap<(Kind, &'p Class), Vec<FunctionId>>,
    /// The classes of what functions themselves take and give back.
    gives_back: FxHashSet<&'p Class>,
    /// All that keep or need one, and whether at times only.
    hands_over: FxHashMap<(Kind, &'p Class), Vec<(FunctionId, bool)>>,
    lock_functions: LockFunctions<'p>,
    /// Functions to which pointers are handed on or stored.
    taken: FxHashSet<FunctionId>,
    records: &'p [Option<Record>],
}

impl<'p> Matching<'p> {
    fn new(program: &'p Program, records: &'p [Option<Record>]) -> Self {
        let mut matching = Matching {
            program,
            uses: FxHashMap::default(),
            own: FxHashMap::default(),
            unknown_callers: FxHashSet::default(),
            mentioned: FxHashSet::default(),
            named: FxHashSet::default(),
            called: FxHashSet::default(),
            callers: FxHashMap::default(),
            handed_out: FxHashSet::default(),
            unnamed: FxHashMap::default(),
            unused: unused(program),
            entries: FxHashMap::default(),
            gives_back: FxHashSet::default(),
            hands_over: FxHashMap::default(),
            lock_functions: LockFunctions::default(),
            taken: taken(program),
            records,
        };
        for (id, function) in program.ids().zip(&program.functions) {
            if matching.unused.contains(&id) {
                continue;
            }
            let record = records.get(id.index()).and_then(Option::as_ref);
            matching.add_calls(id, function, record);
            if let Some(record) = record {
                matching.add_obligations(id, function, &record.facts.obligations);
            }
        }
        matching.add_entries();
        matching
    }

    /// Notes whom a function calls and mentions.
    fn add_calls(&mut self, caller: FunctionId, function: &Function, record: Option<&Record>) {
        let known = record.is_some_and(|record| {
            matches!(
                record.disposition,
                Disposition::Analysed | Disposition::NoOp
            )
        });
        for reference in &function.callees {
            let Some(callee) = reference.function else {
                continue;
            };
            if callee != caller {
                self.mentioned.insert(callee);
                if !reference.method {
                    self.named.insert(callee);
                }
                let calls = record
                    .is_some_and(|record| record.facts.obligations.calls.contains(&reference.name));
                if calls || !known {
                    self.called.insert(callee);
                }
                if calls || !known || self.program.function(callee).small {
                    self.callers.entry(callee).or_default().insert(caller);
                }
            }
            if !known {
                self.unknown_callers.insert(callee);
            }
        }
    }

    /// Notes a function's obligations, and what it does with its callees'.
    fn add_obligations(
        &mut self,
        caller: FunctionId,
        function: &Function,
        obligations: &'p Obligations,
    ) {
        let defined = |name| function.callee(name).and_then(|callee| callee.function);
        let called_through_pointers = function.stored || self.taken.contains(&caller);
        for half in &obligations.hands_over {
            let functions = self.hands_over.entry((half.kind, &half.class)).or_default();
            functions.push((caller, half.at_times));
            if !called_through_pointers {
                self.lock_functions.add(caller, half);
            }
        }
        for obligation in &obligations.own {
            if let Some(place) = obligation.place {
                self.own.insert((caller, place), obligation);
            } else if let Some((name, place)) = &obligation.inherited
                && let Some(callee) = defined(name)
            {
                let unnamed = self.unnamed.entry((callee, *place)).or_default();
                unnamed.push((caller, obligation));
            }
        }
        self.gives_back.extend(&obligations.gives_back);
        let handed_out = obligations.handed_out.iter();
        self.handed_out.extend(handed_out.filter_map(defined));
        for ((name, place), usage) in &obligations.uses {
            if let Some(callee) = defined(name) {
                let users = self.uses.entry((callee, *place)).or_default();
                users.push((caller, usage));
            }
        }
    }

    /// Notes which functions that may be called from elsewhere have obligations.
    fn add_entries(&mut self) {
        for (id, record) in with_ids(self.records) {
            if self.unused.contains(&id) {
                continue;
            }
            let exported = self.program.function(id).name.file.is_none();
            if !exported && self.mentioned.contains(&id) {
                continue;
            }
            let own = record.facts.obligations.own.iter();
            // What may follow from a mistake, or from what is not known, is no intent.
            for obligation in own.filter(|own| own.after.is_empty() && !own.perhaps_taken) {
                for class in &obligation.classes {
                    let functions = self.entries.entry((obligation.kind, class));
                    functions.or_default().push(id);
                }
            }
        }
    }

    fn verdict(
        &self,
        function: FunctionId,
        obligation: &'p Obligation,
        halves: &Halves<'p>,
    ) -> Verdict {
        if self.unused.contains(&function) {
            return Verdict::Fulfilled;
        }
        if obligation.perhaps_discharged {
            return Verdict::Explained(ExplanationKind::HalfOfCallee, None);
        }
        if self.perhaps_taken(function, obligation) {
            return Verdict::Explained(ExplanationKind::TakenByUnknown, None);
        }
        if obligation.is_unusual() {
            return Verdict::Explained(ExplanationKind::OthersHeld, None);
        }
        let mut classes = obligation.classes.iter();
        if let Some(&other) = classes.find_map(|class| halves.get(&(function, class))) {
            return Verdict::Explained(ExplanationKind::HalfOfPair, Some(other));
        }
        if self.is_discharged(function, obligation) {
            return match self.some_caller_takes_part(function, obligation) {
                true => Verdict::Fulfilled,
                false => {
                    let other = self.other_entry(function, obligation);
                    Verdict::Explained(ExplanationKind::LeftToCallers, other)
                }
            };
        }
        if self.comes_from_a_callee(function, obligation)
            || self.is_discharged_elsewhere(function, obligation)
        {
            return Verdict::Fulfilled;
        }
        match self.is_for_good(function, obligation) {
            true => Verdict::Explained(ExplanationKind::ForGood, None),
            false => Verdict::Undischarged,
        }
    }

    /// Whether a function of which nothing is known may have taken what is given back. Not where functions of the program take
    /// such objects, and give back themselves all that they take: they do not expect that others take it for them.
    fn perhaps_taken(&self, function: FunctionId, obligation: &Obligation) -> bool {
        let takes_itself = || {
            let mut classes = obligation.classes.iter();
            obligation.other_half != OtherHalf::Never
                || classes.any(|class| self.gives_back.contains(class))
        };
        obligation.perhaps_taken && !(self.is_alone(function, obligation) && takes_itself())
    }

    /// Whether no other function has the other half of an obligation, if only at times.
    fn is_alone(&self, function: FunctionId, obligation: &Obligation) -> bool {
        let half = obligation.kind.other_half();
        let mut classes = obligation.classes.iter();
        !obligation.classes.is_empty()
            && !classes.any(|class| self.is_handed_over(function, half, class))
    }

    /// Whether a function other than this one keeps or needs objects of a class, if only at times, and keeps them not only
    /// for callers in the tree that give them back.
    pub(super) fn is_handed_over(&self, but: FunctionId, kind: Kind, class: &Class) -> bool {
        let others = self.hands_over.get(&(kind, class));
        let mut others = others.into_iter().flatten();
        others.any(|&(other, _)| {
            self.program.is_another(other, but)
                && !self.all_have_the_rest(other, kind, class)
                && !self.is_for_others(other, but, (kind, class))
        })
    }

    /// Whether a function does its half of a hand-over for the callers of another one than this: both are lock functions, and this one
    /// is none.
    pub(super) fn is_for_others(
        &self,
        other: FunctionId,
        function: FunctionId,
        (kind, class): (Kind, &Class),
    ) -> bool {
        let functions = &self.lock_functions;
        !functions.is_one(function, kind.other_half(), class)
            && functions.is_paired(self.program, other, (kind, class))
    }

    /// Whether all who call the function give back all that it keeps of a class, or hold all that it needs. Of an exported
    /// one (a wrapper of the program's around a lock function) there may be callers elsewhere: they have learned from
    /// those here.
    pub(super) fn all_have_the_rest(&self, id: FunctionId, kind: Kind, class: &Class) -> bool {
        let function = self.program.function(id);
        let obligations = self.records[id.index()]
            .as_ref()
            .map(|record| &record.facts.obligations);
        let obligations = obligations
            .into_iter()
            .flat_map(|obligations| &obligations.own);
        let mut obligations = obligations
            .filter(|obligation| obligation.kind == kind && obligation.classes.contains(class))
            .peekable();
        !function.stored
            && obligations.peek().is_some()
            && obligations.all(|obligation| {
                let uses = obligation
                    .place
                    .and_then(|place| self.uses.get(&(id, place)));
                uses.is_some_and(|uses| uses.iter().all(|(_, usage)| **usage == Use::Discharged))
            })
    }

    /// Whether what an obligation comes from is for good.
    fn is_for_good(&self, function: FunctionId, obligation: &Obligation) -> bool {
        let (mut function, mut obligation) = (function, obligation);
        let mut seen = FxHashSet::default();
        while let Some((node, inherited)) = self.inherited(function, obligation)
            && seen.insert(node)
        {
            (function, obligation) = (node.0, inherited);
        }
        obligation.is_restored(Restored::Never)
    }

    fn comes_from_a_callee(&self, function: FunctionId, obligation: &Obligation) -> bool {
        self.inherited(function, obligation)
            .is_some_and(|(node, inherited)| {
                !inherited.is_unusual()
                    && !self.perhaps_taken(node.0, inherited)
                    && !self.is_discharged(node.0, inherited)
            })
    }

    /// The callee's obligation that an obligation comes from.
    fn inherited(
        &self,
        function: FunctionId,
        obligation: &Obligation,
    ) -> Option<(Node, &'p Obligation)> {
        let (name, place) = obligation.inherited.as_ref()?;
        let callee = self.program.function(function).callee(name)?;
        let node = (callee.function?, *place);
        Some((node, *self.own.get(&node)?))
    }
}
