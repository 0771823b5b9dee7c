//! Who gives an object back: findings that no function shows by itself.
//!
//! In: for each function its claims (it returns with an object held that it took; it gives back one that
//! it has not taken) and what it does with its callees' claims. Out: findings for the claims that
//! nobody meets.
//!
//! A claim is met if some caller does the other half, or hands it on to a caller of its own that does. At
//! a function that nobody calls (an entry of an operations table, an exported function) it is met if
//! another such function, or one that others may call, too, of the program has the other half for an object of
//! the same class, and belongs to it by its name: `start` and `stop` of one table. Of a chain of claims that are not met the innermost is reported: one cause, one
//! report.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::analysis::{Disposition, Record};
use super::program::{FunctionId, Program};
use crate::ir::SymbolName;
use crate::report::{Finding, Level};
use crate::symbolic::class::Class;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// Returns with an object held that was not on entry.
    Kept,
    /// Gives back an object that must be held on entry.
    Needed,
}

impl Kind {
    fn other_half(self) -> Kind {
        match self {
            Kind::Kept => Kind::Needed,
            Kind::Needed => Kind::Kept,
        }
    }
}

/// Where a claim stands in a function's summary: a row for what is kept, an object for what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub kind: Kind,
    pub index: u32,
}

/// A callee's claim.
pub type CalleeClaim = (SymbolName, Place);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub kind: Kind,
    /// `None`: callers have no name for the object.
    pub place: Option<Place>,
    /// The object's class, and those of pointers to it that the function leaves; none for an object that is
    /// known by a variable only.
    pub classes: Vec<Class>,
    /// The callee's claim that this one comes from.
    pub inherited: Option<CalleeClaim>,
    /// The object is kept where the function fails, and given back where it succeeds.
    pub on_failure: bool,
    /// The function itself has the other half, too, where it succeeds or on other paths.
    pub both_halves: bool,
    /// Where nobody calls the function it is taken to be meant: the result tells of a lock tried for, or
    /// leads to the locked object.
    pub offered: bool,
    /// A callee has the other half on some paths, on which its summary may have lost: this is no finding,
    /// but the other half for others.
    pub doubtful: bool,
    /// It comes about only where another object is held on entry: who holds that answers for it.
    pub unusual: bool,
    /// It is about the processor, no object that callers have at hand: a function that is only handed to
    /// others as a callback must leave it as it came.
    pub ambient: bool,
    /// It is brought about by itself, with nothing kept to restore it from: to shut down, say.
    pub for_good: bool,
    /// The function's own finding, by its number, that goes if this claim is surely met by nobody: it is about what
    /// becomes of an object that is held on entry.
    pub instead_of: Option<u32>,
    /// What to report if it is not met.
    pub finding: Finding,
}

/// What a function does with a callee's claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Use {
    /// It has the other half.
    Met,
    /// It is a claim of its own to its callers.
    HandedOn(Place),
    /// It is found where its callers cannot look.
    Unnamed,
    /// Neither.
    Left,
}

/// A function's part in the question who gives what back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Custody {
    pub claims: Vec<Claim>,
    pub uses: BTreeSet<(CalleeClaim, Use)>,
    /// The functions with an effect that it calls, not only mentions.
    pub calls: BTreeSet<SymbolName>,
    /// Those that it passes to functions of which nothing is known, as callbacks.
    pub handed_out: BTreeSet<SymbolName>,
    /// What its findings of ways out that callers cannot tell apart are about.
    pub ambiguous: Vec<Ambiguous>,
    /// The classes of the objects that it leaves in another state than it finds them in, and which half of that it has.
    pub hands_over: BTreeSet<(Kind, Class)>,
    /// Semaphores that it raises and never lowers, with their place in its summary.
    pub raised: BTreeSet<(Class, Option<Place>)>,
}

/// A finding that another function may explain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ambiguous {
    /// Index into the function's findings.
    pub finding: u32,
    pub class: Class,
    /// The object counts: it is a semaphore.
    pub counts: bool,
}

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
                // One place, one finding, whatever else it is about.
                let of = |finding: &Finding| {
                    let Finding {
                        rule, file, line, ..
                    } = finding;
                    (rule.clone(), file.clone(), *line)
                };
                let certain = claim.ambient || settlement.is_certain(id, claim);
                if let Some(other) = claim.instead_of {
                    if !certain {
                        continue;
                    }
                    settled.replaced.insert((id, other));
                }
                if reported.insert(of(&claim.finding)) {
                    let mut finding = claim.finding.clone();
                    if !certain {
                        finding.level = Level::Note;
                    }
                    settled.unmet.push((id, claim.kind, finding));
                }
            }
        }
    }
}

struct Explanations<'p> {
    explained: FxHashSet<(FunctionId, u32)>,
    halves: Halves<'p>,
}

/// What makes a finding of one function less than it seems: another function raises the semaphore, which may tell
/// that something is there, and lock nothing; or another entry of the same file, as of one table, gives the object
/// back, and who calls both knows when.
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
            let pair = settlement.other_of_a_pair(id, class);
            if is_signal || pair.is_some() {
                found.explained.insert((id, ambiguous.finding));
            }
            if let Some(other) = pair.filter(|_| !is_signal) {
                found.halves.insert((other, class));
            }
        }
    }
    found
}

fn with_ids(records: &[Option<Record>]) -> impl Iterator<Item = (FunctionId, &Record)> {
    let records = (0..).map(FunctionId).zip(records);
    records.filter_map(|(id, record)| Some((id, record.as_ref()?)))
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
    /// Functions that others mention, those that they name where they do, and those that others call.
    mentioned: FxHashSet<FunctionId>,
    named: FxHashSet<FunctionId>,
    called: FxHashSet<FunctionId>,
    /// Callbacks of functions of which nothing is known.
    handed_out: FxHashSet<FunctionId>,
    /// Claims that callers have no name for, by the callee's that they come from.
    unnamed: FxHashMap<Node, Vec<(FunctionId, &'p Claim)>>,
    unused: FxHashSet<FunctionId>,
    /// The uncalled and exported functions that keep or need an object of a class.
    entries: FxHashMap<(Kind, &'p Class), Vec<FunctionId>>,
    /// All that keep or need one, and be it at times only.
    hands_over: FxHashMap<(Kind, &'p Class), Vec<FunctionId>>,
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
            handed_out: FxHashSet::default(),
            unnamed: FxHashMap::default(),
            unused: unused(program),
            entries: FxHashMap::default(),
            hands_over: FxHashMap::default(),
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
                }
                if !known {
                    settlement.unknown_callers.insert(callee);
                }
            }
            let Some(record) = record else { continue };
            for (kind, class) in &record.custody.hands_over {
                let functions = settlement.hands_over.entry((*kind, class)).or_default();
                functions.push(caller);
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
        match claim.place {
            Some(place) => self.node_is_met((function, place), claim),
            None => self.is_met_by_an_entry(function, claim),
        }
    }

    /// Follows a claim up the call graph.
    fn node_is_met(&self, start: Node, claim: &Claim) -> bool {
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
                        // Too much for the caller to say: it may be met.
                        None => return true,
                    },
                    Use::Unnamed => {
                        let claims = self.unnamed.get(&node).into_iter().flatten();
                        let mut claims = claims.filter(|(other, _)| *other == caller).peekable();
                        let met = |&(caller, claim): &(FunctionId, &Claim)| {
                            claim.doubtful || self.is_met_by_an_entry(caller, claim)
                        };
                        if claims.peek().is_none() || claims.any(met) {
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
            Kind::Needed => &["unlock", "release"],
        };
        claim.offered
            || of_header(self.program, function)
            || claim.classes.is_empty()
            || claim.classes.iter().any(is_there)
            || words.iter().any(|word| name.contains(word))
    }

    /// Another function of the same file that gives back what the function takes, where no other names either, if it
    /// is not exported: two operations of one table.
    fn other_of_a_pair(&self, function: FunctionId, class: &Class) -> Option<FunctionId> {
        let file = |id: FunctionId| self.program.function(id).name.file.as_ref();
        let file_of_both = file(function).filter(|_| !self.named.contains(&function))?;
        let others = self.hands_over.get(&(Kind::Needed, class))?;
        let mut others = others.iter().copied().filter(|id| !self.named.contains(id));
        others.find(|&other| other != function && file(other) == Some(file_of_both))
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
        let half = claim.kind.other_half();
        let mut classes = claim.classes.iter();
        claim.inherited.is_none()
            && !claim.classes.is_empty()
            && !classes.any(|class| self.is_handed_over(function, half, class))
    }

    /// Whether a function other than this one keeps or needs objects of a class, if only at times.
    fn is_handed_over(&self, but: FunctionId, kind: Kind, class: &Class) -> bool {
        let others = self.hands_over.get(&(kind, class));
        let mut others = others.into_iter().flatten();
        others.any(|&other| other != but)
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
            .is_some_and(|(node, inherited)| {
                !inherited.unusual && !self.node_is_met(node, inherited)
            })
    }

    /// The callee's claim that a claim comes from.
    fn inherited(&self, function: FunctionId, claim: &Claim) -> Option<(Node, &'p Claim)> {
        let (name, place) = claim.inherited.as_ref()?;
        let callee = self.program.function(function).callee(name)?;
        let node = (callee.function?, *place);
        Some((node, *self.claims.get(&node)?))
    }
}
