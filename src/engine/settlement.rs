//! Who gives an object back: findings that no function shows by itself.
//!
//! In: for each function its claims and what it does with its callees' ([`super::custody`]). Out: findings for the claims
//! that nobody meets.
//!
//! A claim is met if some caller does the other half, or hands it on to a caller of its own that does. At
//! a function that nobody calls (an entry of an operations table, an exported function) it is met if
//! another such function, or one that others may call, too, of the program has the other half for an object of
//! the same class, and belongs to it by its name: `start` and `stop` of one table. One for which callers have no name is
//! met where they hold something of the class. Of a chain of claims that are not met the innermost is reported: one cause,
//! one report.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::analysis::{Disposition, Record};
use super::custody::{Claim, HandOver, Kind, Place, Use};
use super::program::{FunctionId, Program};
use crate::report::{Finding, Level};
use crate::symbolic::class::Class;

/// Calls between who holds an object and a function that gives it back without a name for it.
const MAX_CALLS_UP: u8 = 4;

/// What all functions together say of each.
pub struct Settled {
    /// The findings for claims that nobody meets.
    pub unmet: Vec<(FunctionId, Kind, Finding)>,
    /// The functions' own findings that others explain, by their index.
    pub explained: FxHashSet<(FunctionId, u32)>,
    /// Those in the place of which something else is among `unmet`.
    pub replaced: FxHashSet<(FunctionId, u32)>,
}

pub fn settle(program: &Program, records: &[Option<Record>]) -> Settled {
    let settlement = Settlement::new(program, records);
    let Explanations { explained, halves } = explanations(&settlement, records);
    let mut settled = Settled {
        unmet: Vec::new(),
        explained,
        replaced: FxHashSet::default(),
    };
    unmet(&settlement, records, &halves, &mut settled);
    settled
}

/// Entries that give back what another of their file takes, with the object's class.
type Halves<'p> = FxHashSet<(FunctionId, &'p Class)>;

fn unmet(
    settlement: &Settlement<'_>,
    records: &[Option<Record>],
    halves: &Halves<'_>,
    settled: &mut Settled,
) {
    let mut reported = FxHashSet::default();
    for (id, record) in with_ids(records) {
        for claim in &record.custody.claims {
            let mut classes = claim.classes.iter();
            if !claim.doubtful
                && !claim.unusual
                && !classes.any(|class| halves.contains(&(id, class)))
                && !settlement.unused.contains(&id)
                && !settlement.is_met(id, claim)
                && !settlement.comes_from_a_callee(id, claim)
                && !settlement.is_for_good(id, claim)
            {
                let certain = claim.ambient || settlement.is_certain(id, claim);
                if let Some(other) = claim.instead_of {
                    if !certain {
                        continue;
                    }
                    settled.replaced.insert((id, other));
                }
                let Finding {
                    rule, file, line, ..
                } = &claim.finding;
                // One place, one finding, whatever else it is about.
                if reported.insert((rule.clone(), file.clone(), *line)) {
                    let mut finding = claim.finding.clone();
                    if !certain {
                        finding.level = Level::Note;
                    }
                    settled.unmet.push((id, claim.kind, finding));
                }
            }
        }
    }
    // What is inlined into a function is reported where it stands.
    settled.unmet.retain(|(_, _, finding)| {
        let cause = finding.trace.last().map(|step| (&step.file, step.line));
        let place = (&finding.file, finding.line);
        cause.is_none_or(|cause| {
            let (file, line) = cause;
            cause == place || !reported.contains(&(finding.rule.clone(), file.clone(), line))
        })
    });
}

struct Explanations<'p> {
    explained: FxHashSet<(FunctionId, u32)>,
    halves: Halves<'p>,
}

/// What makes a finding of one function less than it seems: another function raises the semaphore, which may tell
/// that something is there, and lock nothing; or another entry of the same file, as of one table, gives the object
/// back, and who calls both knows when; or who calls it calls another, too, that gives the object back at times; or the
/// function stores one that does, for later.
fn explanations<'p>(
    settlement: &Settlement<'_>,
    records: &'p [Option<Record>],
) -> Explanations<'p> {
    let mut signals: FxHashSet<&Class> = FxHashSet::default();
    for (id, record) in with_ids(records) {
        let raised = record.custody.raised.iter();
        let raised = raised.filter(|(_, place)| !settlement.is_used(id, *place));
        signals.extend(raised.map(|(class, _)| class));
    }
    let mut found = Explanations {
        explained: FxHashSet::default(),
        halves: FxHashSet::default(),
    };
    for (id, record) in with_ids(records) {
        for ambiguous in &record.custody.ambiguous {
            let class = &ambiguous.class;
            let is_signal = ambiguous.counts && signals.contains(class);
            if is_signal {
                found.explained.insert((id, ambiguous.finding));
            }
            if !ambiguous.exits {
                continue;
            }
            let pair = settlement.other_of_a_pair(id, class);
            let counterpart = settlement.has_a_counterpart(id, class)
                || settlement.names_a_counterpart(id, class);
            if pair.is_some() || counterpart {
                found.explained.insert((id, ambiguous.finding));
            }
            if let Some(other) = pair.filter(|_| !is_signal) {
                found.halves.insert((other, class));
            }
        }
    }
    found
}

pub fn with_ids(records: &[Option<Record>]) -> impl Iterator<Item = (FunctionId, &Record)> {
    let records = (0..).map(FunctionId).zip(records);
    records.filter_map(|(id, record)| Some((id, record.as_ref()?)))
}

/// Whether a function's name has the word in it, and not as a part of `block` or `clock`.
fn says(name: &str, word: &str) -> bool {
    let mut found = name.match_indices(word).map(|(at, _)| &name[..at]);
    found.any(|before| word != "lock" || !before.ends_with(['b', 'c']))
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

type Node = (FunctionId, Place);

struct Settlement<'p> {
    program: &'p Program,
    /// What callers do with each claim.
    uses: FxHashMap<Node, Vec<(FunctionId, &'p Use)>>,
    claims: FxHashMap<Node, &'p Claim>,
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
    /// Claims that callers have no name for, by the callee's that they come from.
    unnamed: FxHashMap<Node, Vec<(FunctionId, &'p Claim)>>,
    unused: FxHashSet<FunctionId>,
    /// The uncalled and exported functions that keep or need an object of a class.
    entries: FxHashMap<(Kind, &'p Class), Vec<FunctionId>>,
    /// All that keep or need one, and whether at times only.
    hands_over: FxHashMap<(Kind, &'p Class), Vec<(FunctionId, bool)>>,
    records: &'p [Option<Record>],
}

impl<'p> Settlement<'p> {
    fn new(program: &'p Program, records: &'p [Option<Record>]) -> Self {
        let mut settlement = Settlement {
            program,
            uses: FxHashMap::default(),
            claims: FxHashMap::default(),
            unknown_callers: FxHashSet::default(),
            mentioned: FxHashSet::default(),
            named: FxHashSet::default(),
            called: FxHashSet::default(),
            callers: FxHashMap::default(),
            handed_out: FxHashSet::default(),
            unnamed: FxHashMap::default(),
            unused: unused(program),
            entries: FxHashMap::default(),
            hands_over: FxHashMap::default(),
            records,
        };
        for (index, function) in program.functions.iter().enumerate() {
            let caller = FunctionId(index as u32);
            if settlement.unused.contains(&caller) {
                continue;
            }
            let record = records.get(index).and_then(Option::as_ref);
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
                    settlement.mentioned.insert(callee);
                    if !reference.method {
                        settlement.named.insert(callee);
                    }
                    let calls =
                        record.is_some_and(|record| record.custody.calls.contains(&reference.name));
                    if calls || !known {
                        settlement.called.insert(callee);
                    }
                    if calls || !known || program.function(callee).small {
                        settlement.callers.entry(callee).or_default().insert(caller);
                    }
                }
                if !known {
                    settlement.unknown_callers.insert(callee);
                }
            }
            let Some(record) = record else { continue };
            for HandOver {
                kind,
                class,
                at_times,
            } in &record.custody.hands_over
            {
                let functions = settlement.hands_over.entry((*kind, class)).or_default();
                functions.push((caller, *at_times));
            }
            for claim in &record.custody.claims {
                if let Some(place) = claim.place {
                    settlement.claims.insert((caller, place), claim);
                } else if let Some((name, place)) = &claim.inherited
                    && let Some(callee) = function.callee(name).and_then(|callee| callee.function)
                {
                    let claims = settlement.unnamed.entry((callee, *place)).or_default();
                    claims.push((caller, claim));
                }
            }
            let handed_out = record.custody.handed_out.iter();
            let handed_out = handed_out.filter_map(|name| function.callee(name)?.function);
            settlement.handed_out.extend(handed_out);
            for ((name, place), usage) in &record.custody.uses {
                if let Some(callee) = function.callee(name).and_then(|callee| callee.function) {
                    let users = settlement.uses.entry((callee, *place)).or_default();
                    users.push((caller, usage));
                }
            }
        }
        for (index, record) in records.iter().enumerate() {
            let id = FunctionId(index as u32);
            if settlement.unused.contains(&id) {
                continue;
            }
            let exported = program.function(id).name.file.is_none();
            let entry = exported || !settlement.mentioned.contains(&id);
            for claim in record.iter().flat_map(|record| &record.custody.claims) {
                let classes = claim.classes.iter().filter(|_| entry);
                for class in classes {
                    let functions = settlement.entries.entry((claim.kind, class)).or_default();
                    functions.push(id);
                }
            }
        }
        settlement
    }

    fn is_met(&self, function: FunctionId, claim: &Claim) -> bool {
        // What a header has for others to inline is judged where it is inlined.
        if self.program.function(function).small && of_header(self.program, function) {
            return true;
        }
        // Whoever moves the object back does not know where it was.
        if claim.lost {
            return false;
        }
        match claim.place {
            Some(place) => self.node_is_met((function, place), claim),
            None => self.unnamed_is_met(function, claim),
        }
    }

    /// Whether a claim for which callers have no name is met.
    fn unnamed_is_met(&self, function: FunctionId, claim: &Claim) -> bool {
        self.is_met_by_an_entry(function, claim) || self.is_held_by_callers(function, claim)
    }

    /// Whether some caller, or one not far up, holds something of the class that the function needs wherever it calls it (an
    /// element of a table, found again), or nothing is known of it.
    fn is_held_by_callers(&self, function: FunctionId, claim: &Claim) -> bool {
        let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
        let mut work = VecDeque::from([(function, 0)]);
        while claim.kind == Kind::Needed
            && let Some((callee, calls)) = work.pop_front()
        {
            if self.unknown_callers.contains(&callee) {
                return true;
            }
            for &caller in self.callers.get(&callee).into_iter().flatten() {
                let held = self.held_at_calls(caller, callee);
                if held.is_some_and(|held| claim.classes.iter().any(|class| held.contains(class))) {
                    return true;
                }
                if calls < MAX_CALLS_UP && seen.insert(caller) {
                    work.push_back((caller, calls + 1));
                }
            }
        }
        false
    }

    /// The classes of what a function holds wherever it calls another.
    fn held_at_calls(&self, caller: FunctionId, callee: FunctionId) -> Option<&'p BTreeSet<Class>> {
        let record = self.records.get(caller.index())?.as_ref()?;
        let mut callees = self.program.function(caller).callees.iter();
        let callee = callees.find(|reference| reference.function == Some(callee))?;
        record.nesting.under.get(&callee.name)
    }

    /// Follows a claim up the call graph.
    fn node_is_met(&self, start: Node, claim: &Claim) -> bool {
        // Where nothing else ever leaves such an object held, and no caller holds one, a caller that cannot say what
        // becomes of it is none that has taken it.
        let alone = claim.kind == Kind::Needed
            && !claim.offered
            && self.is_alone(start.0, claim)
            && !self.is_held_by_callers(start.0, claim);
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        let mut work = vec![(start, claim)];
        while let Some((node, claim)) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            let (function, _) = node;
            if self.unknown_callers.contains(&function) {
                return true;
            }
            let Some(users) = self.uses.get(&node) else {
                // Its callers never come to the point, or there are none.
                if self.may_be_called(function, claim) || self.is_met_by_an_entry(function, claim) {
                    return true;
                }
                continue;
            };
            for &(caller, usage) in users {
                match usage {
                    Use::Met => return true,
                    Use::HandedOn(place) => match self.claims.get(&(caller, *place)) {
                        Some(next) if next.doubtful => return true,
                        Some(next) => work.push(((caller, *place), next)),
                        None if alone => {}
                        // Too much for the caller to say: it may be met.
                        None => return true,
                    },
                    Use::Unnamed => {
                        let claims = self.unnamed.get(&node).into_iter().flatten();
                        let mut claims = claims.filter(|(other, _)| *other == caller).peekable();
                        let met = |&(caller, claim): &(FunctionId, &Claim)| {
                            claim.doubtful || self.unnamed_is_met(caller, claim)
                        };
                        if claims.peek().is_none() && !alone || claims.any(met) {
                            return true;
                        }
                    }
                    Use::Left => {}
                }
            }
        }
        false
    }

    /// Whether a function that may do the claim's other half calls this one, or has it called, as far as can be seen.
    fn may_be_called(&self, function: FunctionId, claim: &Claim) -> bool {
        if !claim.ambient && claim.kind == Kind::Kept {
            return self.mentioned.contains(&function);
        }
        // What a library takes before it calls back is no global lock of the program's.
        let elsewhere = !claim.ambient && !claim.classes.iter().any(Class::is_single);
        self.called.contains(&function) || elsewhere && self.handed_out.contains(&function)
    }

    /// Whether another function that nobody calls has the other half, or this one's name says that it is
    /// there for its callers' sake.
    fn is_met_by_an_entry(&self, function: FunctionId, claim: &Claim) -> bool {
        if claim.on_failure {
            return false;
        }
        let other = claim.kind.other_half();
        let is_there = |class: &Class| match self.entries.get(&(other, class)) {
            Some(others) => others
                .iter()
                .any(|&other| self.belong(other, function, claim, class)),
            None => false,
        };
        let name = &self.program.function(function).name.name;
        let words: &[&str] = match claim.kind {
            _ if claim.ambient => &["irqsave", "irq_save", "lock_irq", "disable"],
            Kind::Kept => &["lock", "acquire"],
            // What is stored as `release` releases more than locks.
            Kind::Needed if self.program.function(function).stored => &["unlock"],
            Kind::Needed => &["unlock", "release"],
        };
        claim.offered
            || of_header(self.program, function)
            || claim.classes.is_empty()
            || claim.classes.iter().any(is_there)
            || words.iter().any(|word| says(name, word))
    }

    /// Another function of the same file that gives back what the function takes, where no other names either, if it
    /// is not exported: two operations of one table.
    fn other_of_a_pair(&self, function: FunctionId, class: &Class) -> Option<FunctionId> {
        let file = |id: FunctionId| self.program.function(id).name.file.as_ref();
        let file_of_both = file(function).filter(|_| !self.named.contains(&function))?;
        let others = self.hands_over.get(&(Kind::Needed, class))?;
        let mut others = others.iter().filter(|(id, _)| !self.named.contains(id));
        let other = others.find(|&&(id, _)| id != function && file(id) == Some(file_of_both));
        other.map(|(id, _)| *id)
    }

    /// Whether some caller calls another function, too, that gives back what this one takes at times, and that at times
    /// only: both halves depend on the same.
    fn has_a_counterpart(&self, function: FunctionId, class: &Class) -> bool {
        let others = self.hands_over.get(&(Kind::Needed, class));
        let mut others = others.into_iter().flatten();
        let Some(callers) = self.callers.get(&function) else {
            return false;
        };
        others.any(|(other, at_times)| {
            let callers_of_other = self.callers.get(other);
            let both = callers_of_other.is_some_and(|others| !others.is_disjoint(callers));
            *at_times && *other != function && both
        })
    }

    /// Whether the function stores a function somewhere, to be called later, that gives back what this one takes.
    fn names_a_counterpart(&self, function: FunctionId, class: &Class) -> bool {
        let others = self.hands_over.get(&(Kind::Needed, class));
        let mut others = others.into_iter().flatten();
        let callees = &self.program.function(function).callees;
        others.any(|&(other, _)| {
            let mut named = callees.iter().filter(|callee| callee.taken);
            named.any(|callee| callee.function == Some(other))
        })
    }

    /// Whether a caller, or one of its callers, has what the function gives back; or may have: into what it is inlined,
    /// nobody says.
    fn is_used(&self, function: FunctionId, place: Option<Place>) -> bool {
        if self.program.function(function).small && self.mentioned.contains(&function) {
            return true;
        }
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        let mut work: Vec<Node> = place.map(|place| (function, place)).into_iter().collect();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            for (caller, usage) in self.uses.get(&node).into_iter().flatten() {
                match usage {
                    Use::Met => return true,
                    Use::HandedOn(place) => work.push((*caller, *place)),
                    Use::Unnamed => return true,
                    Use::Left => {}
                }
            }
        }
        false
    }

    /// Whether an entry that takes an object is the other half of one that gives it back: no other one that
    /// does has a name more like it. (`seq_start` is that of `seq_stop`, and of nothing else.)
    fn belong(
        &self,
        other: FunctionId,
        function: FunctionId,
        claim: &Claim,
        class: &Class,
    ) -> bool {
        if claim.kind == Kind::Kept {
            return true;
        }
        let likeness = |one: FunctionId| {
            let words = |id: FunctionId| self.program.function(id).name.name.split('_');
            words(one)
                .filter(|word| words(other).any(|there| there == *word))
                .count()
        };
        let rivals = self.entries.get(&(claim.kind, class));
        let mut rivals = rivals.into_iter().flatten();
        rivals.all(|&rival| likeness(rival) <= likeness(function))
    }

    /// Whether a claim that is not met can be nothing but a mistake, because the function has the other half at other
    /// times; or because it is the function's own, and no other function of the program has the other half for an object
    /// of the same class, if only at times or without a name for it; or because all others for whom the same callee takes
    /// an object give it back.
    fn is_certain(&self, function: FunctionId, claim: &Claim) -> bool {
        if claim.both_halves {
            return true;
        }
        if claim.kind == Kind::Kept
            && let Some((node, _)) = self.inherited(function, claim)
        {
            let uses = self.uses.get(&node).into_iter().flatten();
            let mut others = uses.filter(|(user, _)| *user != function).peekable();
            return others.peek().is_some() && others.all(|(_, usage)| **usage == Use::Met);
        }
        claim.inherited.is_none() && self.is_alone(function, claim)
    }

    /// Whether no other function has the other half of a claim, if only at times.
    fn is_alone(&self, function: FunctionId, claim: &Claim) -> bool {
        let half = claim.kind.other_half();
        let mut classes = claim.classes.iter();
        !claim.classes.is_empty()
            && !classes.any(|class| self.is_handed_over(function, half, class))
    }

    /// Whether a function other than this one keeps or needs objects of a class, if only at times, and not only for its
    /// own file, which does the rest.
    fn is_handed_over(&self, but: FunctionId, kind: Kind, class: &Class) -> bool {
        let others = self.hands_over.get(&(kind, class));
        let mut others = others.into_iter().flatten();
        others.any(|&(other, _)| other != but && !self.is_met_by_all(other, kind, class))
    }

    /// Whether all who call the function have the other half of all that it keeps or needs of a class.
    fn is_met_by_all(&self, id: FunctionId, kind: Kind, class: &Class) -> bool {
        let function = self.program.function(id);
        let custody = self.records[id.index()]
            .as_ref()
            .map(|record| &record.custody);
        let claims = custody.into_iter().flat_map(|custody| &custody.claims);
        let mut claims = claims
            .filter(|claim| claim.kind == kind && claim.classes.contains(class))
            .peekable();
        function.name.file.is_some()
            && !function.stored
            && claims.peek().is_some()
            && claims.all(|claim| {
                let uses = claim.place.and_then(|place| self.uses.get(&(id, place)));
                uses.is_some_and(|uses| uses.iter().all(|(_, usage)| **usage == Use::Met))
            })
    }

    /// Whether what a claim comes from is for good.
    fn is_for_good(&self, function: FunctionId, claim: &Claim) -> bool {
        let (mut function, mut claim) = (function, claim);
        let mut seen = FxHashSet::default();
        while let Some((node, inherited)) = self.inherited(function, claim)
            && seen.insert(node)
        {
            (function, claim) = (node.0, inherited);
        }
        claim.for_good
    }

    fn comes_from_a_callee(&self, function: FunctionId, claim: &Claim) -> bool {
        self.inherited(function, claim)
            .is_some_and(|(node, inherited)| !inherited.unusual && !self.is_met(node.0, inherited))
    }

    /// The callee's claim that a claim comes from.
    fn inherited(&self, function: FunctionId, claim: &Claim) -> Option<(Node, &'p Claim)> {
        let (name, place) = claim.inherited.as_ref()?;
        let callee = self.program.function(function).callee(name)?;
        let node = (callee.function?, *place);
        Some((node, *self.claims.get(&node)?))
    }
}
