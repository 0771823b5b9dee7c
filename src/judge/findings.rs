//! The failures that are found in one function, as findings: one for each object and cause.
//!
//! In: failures with their explanations, from the other files of this folder. Out: [`Findings`]: findings, what they are about, and
//! those that are covered wholly by explanations.

use std::collections::{BTreeMap, BTreeSet};

use super::by_argument::Tested;
use super::lost_results::LostResult;
use super::obligation::CalleeObligation;
use super::results::Unchecked;
use crate::finding::{self, ExplanationKind as Kind, Finding, TraceStep};
use crate::ir::{Body, RetTy, Ty};
use crate::property::{Event, Property, Rule};
use crate::sat::oracle::Oracle;
use crate::symbolic::arena::Arena;
use crate::symbolic::execution::Execution;
use crate::symbolic::guard::Guard;
use crate::symbolic::log::Site;
use crate::symbolic::state::{Object, Status};

/// Failures that explanations cover wholly, of one function, that are looked at again to be told on demand.
const MAX_COVERED: usize = 8;

/// Where a finding lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Place {
    pub fn of(site: &Site) -> Place {
        Place {
            file: site.file.to_string(),
            line: site.line,
            column: site.column,
        }
    }
}

/// Collects the findings of one function.
pub struct Findings<'a> {
    pub(super) body: &'a Body,
    property: &'a Property,
    pub found: Vec<Finding>,
    pub about: Vec<About>,
    /// Findings about pointers and about what is lost: no other function has a part in them.
    pub values: Vec<(Finding, Failing)>,
    /// Those about results that are not looked at.
    pub unchecked: Vec<Unchecked>,
    /// Those about results that are lost.
    pub lost_results: Vec<LostResult>,
    /// Findings that an explanation covers wholly.
    pub explained: Vec<Finding>,
    /// Failures all of whose paths explanations cover, if there are any.
    covered: Vec<Covered>,
    /// Objects whose ways out explanations cover, if callers cannot tell them apart.
    pub(super) covered_exits: Vec<(Object, BTreeSet<Kind>)>,
    /// Objects that are kept as an argument says, with the finding that tells so, by its number: one place may stand for several.
    pub contested: Vec<(Object, u32)>,
    /// Objects with a finding: what follows from a mistake is not another.
    failed: BTreeSet<Object>,
}

/// Where in the execution a failure lies.
#[derive(Clone, Debug)]
pub enum Failing {
    /// An access of the log, by its number.
    Access(usize),
    /// An access of the log, by its number, that contradicts a comparison behind it, whoever calls the function.
    AccessBeforeTest(usize),
    /// An operation of the log, by its number.
    Operation(usize),
    /// An assertion of the user's, by its number in the log.
    Assertion(usize),
    /// At the function's exit, about these objects, each on its paths: those of other rounds of a loop are the same in the source.
    AtExit {
        site: Site,
        objects: Vec<(Object, Guard)>,
    },
    /// Nothing is asked of the state there.
    Otherwise,
}

/// A failing operation, all of whose paths explanations cover, be they possible or not.
struct Covered {
    rule: String,
    object: Object,
    event: usize,
    paths: Guard,
    by: Vec<Kind>,
}

/// What a finding is about.
#[derive(Clone, Debug)]
pub struct About {
    pub object: Object,
    /// The function does no wrong unless it is called with the object held.
    pub held_on_entry: bool,
    /// An argument alone decides whether the object is kept, and where that is tested: callers may mean it.
    pub contested: Option<Tested>,
    /// What callees keep, and may not be meant to, without which there would be no such finding.
    pub rests_on: Vec<CalleeObligation>,
    /// The failing operation of the log, by its number, if it is one.
    pub operation: Option<usize>,
}

impl About {
    /// However it is entered.
    pub fn of(object: Object) -> About {
        About {
            object,
            held_on_entry: false,
            contested: None,
            rests_on: Vec::new(),
            operation: None,
        }
    }

    /// The finding stands or falls with others.
    pub fn is_conditional(&self) -> bool {
        self.contested.is_some() || !self.rests_on.is_empty()
    }
}

impl<'a> Findings<'a> {
    pub fn new(body: &'a Body, property: &'a Property) -> Self {
        Findings {
            body,
            property,
            found: Vec::new(),
            about: Vec::new(),
            values: Vec::new(),
            unchecked: Vec::new(),
            lost_results: Vec::new(),
            explained: Vec::new(),
            covered: Vec::new(),
            covered_exits: Vec::new(),
            contested: Vec::new(),
            failed: BTreeSet::new(),
        }
    }

    /// The name of the function that the findings are in.
    pub fn function_name(&self) -> &str {
        &self.body.name.name
    }

    /// Whether callers get a record from the function, of which its summary says nothing.
    pub fn returns_record(&self) -> bool {
        matches!(self.body.ret, RetTy::Record { .. })
    }

    pub fn returns_pointer(&self) -> bool {
        self.body.ret == RetTy::Scalar(Ty::Ptr)
    }

    /// Keeps a finding, if there is one, unless there is another of its rule in its place.
    pub fn keep(&mut self, finding: Option<Finding>, about: About, readings: &[Kind]) {
        let Some(mut finding) = finding else { return };
        if has_place_of(&self.found, &finding) {
            return;
        }
        readings.iter().for_each(|kind| finding.explain_by(*kind));
        self.found.push(finding);
        self.about.push(about);
    }

    /// Keeps a finding that explanations cover wholly.
    pub fn explained(&mut self, finding: Option<Finding>, by: &[Kind]) {
        let Some(mut finding) = finding else { return };
        if !has_place_of(&self.explained, &finding) {
            by.iter().for_each(|kind| finding.explain_by(*kind));
            self.explained.push(finding);
        }
    }

    /// Notes a failing operation all of whose paths explanations cover, if there are any paths.
    pub(super) fn cover(
        &mut self,
        rule: String,
        (object, event): (Object, usize),
        paths: Guard,
        by: Vec<Kind>,
    ) {
        if !by.is_empty() && self.covered.len() < MAX_COVERED {
            self.covered.push(Covered {
                rule,
                object,
                event,
                paths,
                by,
            });
        }
    }

    /// The same for ways out.
    pub(super) fn cover_exit(&mut self, object: Object, by: BTreeSet<Kind>) {
        if !by.is_empty() && self.covered_exits.len() < MAX_COVERED {
            self.covered_exits.push((object, by));
        }
    }

    /// Finds which of the failures that explanations cover wholly there would be without them. Comes after all else, so that
    /// what it asks of the solver takes nothing from findings.
    pub fn tell_covered(&mut self, execution: &Execution, oracle: &mut Oracle<'_>) {
        for covered in std::mem::take(&mut self.covered) {
            if self.failed.contains(&covered.object) {
                continue;
            }
            if let Some(model) = oracle.model(covered.paths) {
                let way = (&*model, covered.paths);
                let finding =
                    self.failing_operation(execution, oracle, &covered.rule, covered.event, way);
                self.explained(finding, &covered.by);
            }
        }
        let found = &self.found;
        self.explained
            .retain(|finding| !has_place_of(found, finding));
    }

    /// Keeps a finding that is about no object that others could have in another state.
    pub(super) fn keep_value(&mut self, finding: Finding, at: Failing) {
        let mut known = self.values.iter_mut();
        match known.find(|(known, _)| has_place_of([known], &finding)) {
            Some((_, Failing::AtExit { objects, .. })) => {
                if let Failing::AtExit { objects: more, .. } = at {
                    objects.extend(more);
                }
            }
            Some(_) => {}
            None => self.values.push((finding, at)),
        }
    }

    /// Explains each finding about an object of which an earlier one is not less certain: what follows from a mistake is not another.
    pub fn explain_consequences(&mut self) {
        let mut most_certain: BTreeMap<Object, u32> = BTreeMap::new();
        for (finding, about) in self.found.iter_mut().zip(&self.about) {
            let rank = finding.rank();
            let least = most_certain.entry(about.object).or_insert(u32::MAX);
            match rank < *least {
                true => *least = rank,
                false => finding.explain_by(Kind::ToldBefore),
            }
        }
    }

    /// The findings that operations of the log are about, and those about pointers and what is lost, each with where it lies.
    pub fn failing(&mut self) -> impl Iterator<Item = (&mut Finding, Failing)> {
        let of_operations = self.found.iter_mut().zip(&self.about);
        let of_operations = of_operations.map(|(finding, about)| {
            let at = about
                .operation
                .map_or(Failing::Otherwise, Failing::Operation);
            (finding, at)
        });
        let of_values = self.values.iter_mut();
        of_operations.chain(of_values.map(|(finding, at)| (finding, at.clone())))
    }

    pub fn property(&self) -> &'a Property {
        self.property
    }

    /// Notes that a finding about the object was made.
    pub fn fail(&mut self, object: Object) {
        self.failed.insert(object);
    }

    /// Whether a finding about the object was made.
    pub fn has_failed(&self, object: Object) -> bool {
        self.failed.contains(&object)
    }

    /// Whether an operation on the object is among the findings.
    pub fn has_failing_operation_on(&self, arena: &Arena<'_>, object: Object) -> bool {
        let exits_differ = arena.machine_of(object).rule(Event::ExitsDiffer);
        let mut found = self.found.iter().zip(&self.about);
        found.any(|(finding, about)| {
            about.object == object && Some(finding.rule.as_str()) != exits_differ
        })
    }

    /// The finding about the object, by its number, if it says only what becomes of one that is held on entry.
    pub fn of_held_on_entry(&self, object: Object) -> Option<u32> {
        let mut about = (0..).zip(&self.about);
        let found = about.find(|(_, about)| about.object == object && about.held_on_entry);
        found.map(|(index, _)| index)
    }

    /// The finding about the object, by its number, if an argument decides whether the object is kept.
    pub fn of_contested(&self, object: Object) -> Option<u32> {
        let mut contested = self.contested.iter();
        contested
            .find(|known| known.0 == object)
            .map(|known| known.1)
    }

    /// A finding in the function; `None` for a rule that does not exist.
    pub fn finding(
        &self,
        rule: &str,
        place: Place,
        object: &str,
        state: &str,
        trace: Vec<TraceStep>,
    ) -> Option<Finding> {
        let known = self.property.rule(rule)?;
        let message = known.message_for(object, state, &self.body.name.name);
        Some(self.with_message(known, message, place, object, trace))
    }

    /// A finding about a call that needs what is not so: an object held, a pointer that leads somewhere.
    pub fn call_finding(
        &self,
        rule: &str,
        place: Place,
        (object, called): (&str, &str),
        trace: Vec<TraceStep>,
    ) -> Option<Finding> {
        let known = self.property.rule(rule)?;
        let message = known.message_for_call(object, called, &self.body.name.name);
        Some(self.with_message(known, message, place, object, trace))
    }

    fn with_message(
        &self,
        rule: &Rule,
        message: String,
        place: Place,
        object: &str,
        trace: Vec<TraceStep>,
    ) -> Finding {
        let function = self.body.name.name.clone();
        let fingerprint = finding::fingerprint(&rule.id, &self.body.name, object, &trace);
        Finding {
            rule: rule.id.clone(),
            level: rule.level,
            message,
            file: place.file,
            line: place.line,
            column: place.column,
            function,
            object: object.to_string(),
            fingerprint,
            explanations: Vec::new(),
            retold: None,
            filtered: None,
            programs: Vec::new(),
            trace,
        }
    }
}

/// Whether a finding of the same rule lies in the same line.
fn has_place_of<'f>(findings: impl IntoIterator<Item = &'f Finding>, finding: &Finding) -> bool {
    let place = |finding: &Finding| (finding.rule.clone(), finding.file.clone(), finding.line);
    let mut findings = findings.into_iter();
    findings.any(|other| place(other) == place(finding))
}

/// The paths that a reader would think of first: where it goes without saying how the object was found.
pub fn entered_as_usual(arena: &mut Arena<'_>, object: Object, paths: Guard) -> Guard {
    if !arena.is_saved(object.machine) {
        return paths;
    }
    let initial = Status::At(arena.machine_of(object).initial);
    let entered = arena.entry_state(object).guard_of(initial);
    arena.formula.guards.and(paths, entered)
}

/// Whether paths may be taken even if callees change nothing of what decides that.
pub fn possible_unchanged(execution: &Execution, oracle: &mut Oracle<'_>, paths: Guard) -> bool {
    let unchanged = execution.unchanged(oracle, paths);
    unchanged == paths || oracle.possible(unchanged)
}
