//! Summary application (paper §5.3, Figure 9).
//!
//! In: a callee's summary, the call site and the state before it. Out: the state after it, the result,
//! and events for the moves of tracked objects.
//!
//! Where several rows are enabled at once (the callee's own exits are ambiguous), an error row is
//! reported as possible, and execution goes on with the first of the others in the summary's order,
//! so that one mistake in a callee does not show in all its callers.

mod assertion;
mod binding;
mod coincide;
mod failures;
mod fill;
mod format;
mod initialisation;
mod literal;
mod made;
mod memory;
mod modify;
mod name;
mod null;
mod rows;
mod sleep;
mod told;
mod transition;

use std::sync::Arc;

use self::binding::{Binding, cube};
use self::rows::Enabled;
use super::{IExpr, NullResult, ResultRange, Root, Row, Summary};
use crate::property::{Key, Target};
use crate::symbolic::callee::{Answers, CallSite, CalleeView, Effects};
use crate::symbolic::exec::{ArgValue, Executor};
use crate::symbolic::guard::Guard;
use crate::symbolic::log::Source;
use crate::symbolic::origin::Origin;
use crate::symbolic::region::Loc;
use crate::symbolic::state::{MachineId, State};
use crate::symbolic::term::{Term, Var};

impl From<Arc<Summary>> for CalleeView {
    fn from(summary: Arc<Summary>) -> Self {
        CalleeView::Known(summary)
    }
}

impl Effects for Summary {
    fn moves_objects(&self) -> bool {
        !self.rows.is_empty()
    }

    fn is_noop(&self) -> bool {
        self.is_noop()
    }

    fn is_primitive(&self) -> bool {
        self.is_primitive()
    }

    fn is_opaque(&self) -> bool {
        self.opaque
    }

    fn is_partial(&self) -> bool {
        self.partial
    }

    fn is_noreturn(&self) -> bool {
        self.noreturn
    }

    fn may_end(&self) -> bool {
        self.may_end
    }

    fn tells_when_it_ends(&self) -> bool {
        !self.returns_when.is_empty()
    }

    fn may_return_null(&self) -> bool {
        matches!(self.null_result, NullResult::May | NullResult::AtTimes)
            && !null::returns_argument(self)
    }

    fn only_answers(&self) -> bool {
        let writes = !self.modified.is_empty() || self.fills.is_some();
        !writes && self.rows.is_empty() && !self.opaque && !self.moves_more
    }

    fn has_one_result(&self) -> bool {
        matches!(self.result, Some(IExpr::Const { .. }))
    }

    fn repeats(&self) -> bool {
        self.repeats
    }

    fn is_outside(&self) -> bool {
        self.outside
    }

    fn changes_answers(&self) -> Answers {
        let writes = !self.modified.is_empty() || self.fills.is_some() || self.writes_more;
        match () {
            () if self.repeats => Answers::None,
            () if self.opaque || self.partial => Answers::All,
            () if writes => self.changes_answers.max(Answers::OfMemory),
            () => self.changes_answers,
        }
    }

    fn kept(&self) -> &[u32] {
        &self.keeps
    }

    fn kept_contents(&self) -> &[u32] {
        &self.keeps_contents
    }

    fn kept_from(&self) -> Option<u32> {
        self.keeps_from
    }

    fn only_asserts(&self) -> bool {
        self.only_asserts()
    }

    fn apply(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        site: &CallSite<'_>,
    ) -> Option<Term> {
        apply(exec, state, self, site)
    }

    fn tells_failures(&self) -> bool {
        !self.fails_when.is_empty()
    }

    fn note_failures(&self, exec: &mut Executor<'_>, state: &mut State, site: &CallSite<'_>) {
        failures::note(exec, state, self, &Binding::new(site));
    }

    fn note_assertions(&self, exec: &mut Executor<'_>, state: &mut State, site: &CallSite<'_>) {
        note_assertions(exec, state, self, site);
    }
}

/// Applies a summary. The scalar result, if the function has one.
fn apply(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    site: &CallSite<'_>,
) -> Option<Term> {
    let binding = Binding::new(site);
    made::read_before(exec, state, summary, &binding);
    let made = exec.arena.formula.terms.next_var();
    // Stage 1: what the summary names, in the state before the call.
    let inputs = binding.inputs(exec, state, summary);
    // What the callee follows, it may follow before it ends the program.
    memory::check_uses(exec, state, summary, &inputs, &binding);
    failures::note(exec, state, summary, &binding);
    comes_back(exec, state, summary, &binding);
    sleep::note(exec, state, summary, &inputs, site);
    assertion::check(exec, state, summary, &inputs, &binding);
    let format = format::of_call(exec, summary, site);
    if let Some(format) = &format {
        format::check_texts(exec, state, format, site);
    }
    let kept = memory::hand_kept(exec, state, summary, &binding);
    let initialised = initialisation::before(exec, state, summary, &binding);
    exec.execution.more |= summary.moves_more;
    exec.execution.writes_more |= summary.writes_more;
    exec.execution.keeps_listed |= summary.keeps_listed;
    for unnamed in &summary.unnamed {
        if let Some(machine) = exec.arena.machine(&unnamed.machine) {
            let guards = &mut exec.arena.formula.guards;
            let moved = (&unnamed.class, machine);
            exec.execution
                .moved_unnamed(guards, moved, unnamed.calls, state.guard);
        }
    }
    let mut application = Application {
        summary,
        site,
        binding,
        least_printed: format.map_or(0, |format| format.least),
        inputs,
        outputs: Vec::new(),
        objects: Vec::new(),
        made_on: Vec::new(),
    };
    application.find_objects(exec, state);
    let result = application.result(exec, state);
    let told = told::before(exec, state, summary, &application.binding);
    let null_when = null::null_when(exec, state, summary, &application.binding);
    let replaced = modify::replaced(exec, state, summary, &application.binding);
    application.binding.returns(result);
    memory::take_back(exec, state, summary, (&application.binding, &kept));
    modify::modify(exec, state, summary, &application.binding, (made, result));
    fill::fill(exec, state, summary, site);
    let unknowns = made..exec.arena.formula.terms.next_var();
    if exec.arena.watches && !unknowns.is_empty() {
        exec.arena.applied.push(unknowns);
    }
    if let Some(result) = result {
        if let [ArgValue::Scalar(of)] = site.args {
            let names = &mut exec.arena.names;
            names.converted(&exec.arena.formula.terms, result, *of, &site.callee.name);
        }
        if summary.error_number {
            exec.arena.last_errors.insert(result);
        }
        let result = (result, null_when);
        null::result(exec, state, summary, &application.binding, result);
    }
    told::after(exec, state, summary, &application.binding, &told);
    // Stage 2: what it names in the state after the call.
    application.find_received(exec, state, made);
    modify::fill(exec, state, summary, (&application.binding, made));
    initialisation::log(exec, state, summary, &application.binding, initialised);
    coincide::coincide(exec, state, summary, &application.objects);
    let order = exec.execution.log.ops.len();
    for index in 0..summary.objects.len() {
        application.operate(exec, state, index, order);
    }
    modify::replace(exec, state, &replaced, result);
    application.hold(exec, state);
    result
}

/// Ends the paths on which control does not come back from the callee.
fn comes_back(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    binding: &Binding<'_, '_>,
) {
    let here = state.guard;
    let paths = binding.outcomes(exec, state, here, &summary.returns_when);
    if paths != state.guard {
        exec.end_but(state, paths, binding.site);
    }
}

/// One call of a function with a summary.
struct Application<'s, 'c> {
    summary: &'s Summary,
    site: &'s CallSite<'c>,
    binding: Binding<'s, 'c>,
    /// The least number of characters that the callee prints, if it prints by a format.
    least_printed: u32,
    /// P_in and P_out in the caller's terms.
    inputs: Vec<Guard>,
    outputs: Vec<Guard>,
    /// Where each of the summary's objects lies.
    objects: Vec<Vec<(Guard, Loc)>>,
    /// The paths on which the callee may make each of them, by what is there on entry.
    made_on: Vec<made::MadeOn>,
}

impl Application<'_, '_> {
    /// Finds the objects that can be named before the call, and those that it does not make.
    fn find_objects(&mut self, exec: &mut Executor<'_>, state: &mut State) {
        let binding = &self.binding;
        for object in &self.summary.objects {
            self.made_on
                .push(made::made_on(exec, state, object, binding));
            if object.object.root.is_output() {
                self.objects.push(Vec::new());
                continue;
            }
            let way = binding.way(exec, state, &object.object, !object.optional);
            let places = way.as_ref();
            let places = places.map_or_else(Vec::new, |way| way.places(exec));
            let address = way.map(|way| way.to);
            if let Some(address) = address {
                exec.hand_untold(state, address);
            }
            if let Some(address) = address
                && places.len() > 1
            {
                exec.arena.classify_choice(address, &places);
            }
            name::object(exec, self.summary, binding, object.into(), &places);
            self.objects
                .push(match address.filter(|_| !object.optional) {
                    Some(address) => exec.certain_places(state, address, places),
                    None => places,
                });
        }
    }

    fn result(&self, exec: &mut Executor<'_>, state: &mut State) -> Option<Term> {
        let known = self.summary.result.as_ref();
        let known = known.and_then(|value| self.binding.value(exec, state, value));
        let known = known.or_else(|| literal::answer(exec, self.summary, self.site));
        self.site.result_width.map(|width| match known {
            Some(value) => exec.arena.returned_as(value, width),
            None => {
                let origin = Origin::Call {
                    text: self.site.text.into(),
                    answer: 0,
                    outside: self.summary.outside,
                };
                let own = self.summary.result_width().unwrap_or(width).min(width);
                let answer = match self.summary.range {
                    // A number that is never negative has one bit less.
                    ResultRange {
                        least: Some(0),
                        most: None,
                    } => {
                        let answer = exec.arena.call_result(state, own - 1, origin);
                        exec.arena.formula.terms.zext(answer, own)
                    }
                    _ => {
                        let answer = exec.arena.call_result(state, own, origin);
                        let answer = self.within_range(exec, answer);
                        self.printed(exec, answer)
                    }
                };
                exec.arena.returned_as(answer, width)
            }
        })
    }

    /// The result where nothing but its bounds is known: what lies beyond one is that bound.
    fn within_range(&self, exec: &mut Executor<'_>, answer: Term) -> Term {
        let ResultRange { least, most } = self.summary.range;
        let width = exec.arena.formula.terms.width(answer);
        let mut result = answer;
        if let Some(least) = least {
            let terms = &mut exec.arena.formula.terms;
            let least = terms.constant(i128::from(least) as u128, width);
            let less = terms.slt(result, least);
            result = terms.ite(less, least, result);
            exec.arena.out_of_range.push(less);
        }
        if let Some(most) = most
            && let Some(most) = self.site.args.get(most as usize)
            && let Some(most) = most.value()
        {
            let most = exec.arena.resize(most, width);
            let terms = &mut exec.arena.formula.terms;
            let more = match least {
                Some(_) => terms.slt(most, result),
                None => terms.ult(most, result),
            };
            result = terms.ite(more, most, result);
            exec.arena.out_of_range.push(more);
        }
        result
    }

    /// The result of a function that prints by a format: an error, which is negative, or no less than the format prints.
    fn printed(&self, exec: &mut Executor<'_>, answer: Term) -> Term {
        if self.least_printed == 0 {
            return answer;
        }
        let terms = &mut exec.arena.formula.terms;
        let least = terms.constant(u128::from(self.least_printed), terms.width(answer));
        // Negative numbers are great ones without a sign.
        let less = terms.ult(answer, least);
        exec.arena.out_of_range.push(less);
        exec.arena.formula.terms.ite(less, least, answer)
    }

    /// Evaluates P_out, and finds the objects that the caller gets to know from the call.
    /// `made`: the first unknown of the call.
    fn find_received(&mut self, exec: &mut Executor<'_>, state: &mut State, made: Var) {
        let outputs = self.summary.outputs.iter();
        self.outputs = outputs
            .map(|output| self.binding.condition(exec, state, output))
            .collect();
        for (index, object) in self.summary.objects.iter().enumerate() {
            if !object.object.root.is_output() || self.made_on[index].at_all == Guard::FALSE {
                continue;
            }
            if let Some(result) = self.binding.result()
                && !object.object.path.is_empty()
            {
                exec.arena.mark_pointer(result, 4);
            }
            let mut places = self.binding.locate(exec, state, &object.object);
            if let (Root::Exit(_), Root::Return) = (&object.object.root, object.object.root.first())
                && let Some(result) = self.binding.result()
            {
                null::leave_out_null(exec, result, &mut places);
            }
            let never = self.never_received(exec, state, index);
            null::leave_out(exec, never, &mut places);
            name::object(exec, self.summary, &self.binding, object.into(), &places);
            // An object that the callee was passed and returns has rows of its own.
            let known = |loc: &Loc| self.objects.iter().flatten().any(|(_, other)| other == loc);
            places.retain(|(_, loc)| !known(loc));
            if let Some(machine) = exec.arena.machine(&object.machine) {
                if made::makes(&exec.arena, self.summary, index, machine) {
                    places.retain(|(_, loc)| !made::was_there(&exec.arena, loc.region, made));
                }
                made::assume_made(exec, state, self.summary, object, machine, &places);
            }
            if object.leads_back {
                let regions = places.iter().map(|(_, loc)| loc.region);
                exec.arena.leads_back.extend(regions);
            }
            if object.found_in_blocks {
                let regions = places.iter().map(|(_, loc)| loc.region);
                exec.arena.found_in_blocks.extend(regions);
            }
            self.objects[index] = places;
        }
    }

    /// The paths on which the caller gets none of an object, whatever its rows say.
    fn never_received(&self, exec: &mut Executor<'_>, state: &mut State, index: usize) -> Guard {
        let object = &self.summary.objects[index].object;
        let mut received = Guard::TRUE;
        // What is found through a pointer is found only where that leads somewhere.
        if let Root::Exit(holder) = &object.root {
            let holders = self.binding.locate(exec, state, holder);
            let found = holders.into_iter().map(|(paths, _)| paths);
            received = exec.arena.formula.guards.union(found);
        }
        // One of several that are left in one place is made where the others are not.
        let mut others = (0..).zip(&self.summary.objects);
        let guards = &mut exec.arena.formula.guards;
        if !others.any(|(other, known)| other != index && known.object == *object) {
            received = guards.and(received, self.made_on[index].at_all);
        }
        guards.not(received)
    }

    /// Moves one of the summary's objects along its rows, wherever it lies. `order`: the number of operations before the call.
    fn operate(&self, exec: &mut Executor<'_>, state: &mut State, index: usize, order: usize) {
        let object = &self.summary.objects[index];
        let Some(machine) = exec.arena.machine(&object.machine) else {
            return;
        };
        let rows = self.rows(exec, state, (index, machine));
        if !self.site.may_return_pointer {
            rows::made_nothing(exec, state, (object, machine), &rows);
        }
        if let [(_, loc)] = self.objects[index][..]
            && self.summary.is_primitive()
        {
            made::assume_named(exec, state, loc, &rows);
        }
        for &(mut place, loc) in &self.objects[index] {
            // Where its pointer is null the callee does not touch it.
            if object.optional && !exec.arena.surely_exists(state, loc) {
                let exists = exec.arena.exists(loc);
                place = exec.arena.formula.guards.and(place, exists);
            }
            let known = exec
                .arena
                .formula
                .guards
                .and(place, self.made_on[index].here);
            let unknown = exec.arena.formula.guards.and_not(place, known);
            place = known;
            let ended = memory::ended(exec, machine, &rows);
            if ended != Guard::FALSE
                && memory::is_no_block(exec, &self.binding, &object.object, loc, machine)
            {
                continue;
            }
            let ended = exec.arena.formula.guards.and(place, ended);
            let of = (&self.binding, &object.object);
            memory::check_start(exec, state, of, (loc, machine), ended);
            let elsewhere = memory::is_elsewhere(exec, loc, machine);
            if elsewhere && ended != Guard::FALSE {
                continue;
            }
            let at = exec.arena.object_at(loc, machine);
            // A reference to a block is counted by one of its members.
            if !elsewhere {
                let paths = exec.arena.formula.guards.and(state.guard, ended);
                exec.arena.note_address(at, loc, paths);
            }
            rows::doubt(exec, state, at, place, &rows);
            let name = match exec.arena.machine_at(machine).key {
                Key::Location | Key::Value => exec.arena.name_of(loc),
                Key::Region => exec.arena.name_of_block(loc.region),
            };
            rows::taking(exec, state, (at, &name), place, &rows, (self.site, order));
            let guards = &mut exec.arena.formula.guards;
            let paths = guards.and(place, state.guard);
            if object.open {
                exec.execution.open.add(guards, at, paths);
            }
            let unknown = guards.and(unknown, state.guard);
            if unknown != Guard::FALSE {
                exec.execution.open.add(guards, at, unknown);
            }
            if exec.execution.log.several {
                exec.execution.chosen.add(guards, at, paths);
            }
            let moved = transition::Moved {
                object: at,
                name: &name,
                saves: self.summary.saves_state(),
                alone: memory::ends_alone(self.summary, object),
                optional: object.optional && !object.object.root.is_output(),
                by_result: object.object.root.is_output() && !object.open && !self.summary.partial,
                argument: object.object.argument(),
                site: self.site,
            };
            transition::transition(exec, state, &moved, place, &rows);
            if object.object.root.is_output() && !self.summary.is_primitive() {
                memory::leave_unknown(exec, state, at, place);
            }
        }
        let places = (&self.binding, &self.objects[index][..]);
        memory::own(exec, self.summary, (index, object), places);
    }

    /// Notes where the callee has left pointers to what it has made.
    fn hold(&self, exec: &mut Executor<'_>, state: &mut State) {
        for (index, object) in self.summary.objects.iter().enumerate() {
            let places = (&self.binding, &self.objects[index][..]);
            memory::hold(exec, state, self.summary, (index, object), places);
        }
    }

    /// The rows of an object, with their conditions.
    fn rows(
        &self,
        exec: &mut Executor<'_>,
        state: &mut State,
        (index, machine): (usize, MachineId),
    ) -> Vec<Enabled<'_>> {
        let rows = (0..).zip(&self.summary.rows);
        let Executor {
            arena, execution, ..
        } = &mut *exec;
        // Where accesses are checked, what callees write is told, but for those that got a record of which it is not known what they write there.
        let known = self.summary.objects[index].exact
            && arena.machine_at(machine).watches_accesses()
            && !execution.perhaps_written_any(&mut arena.formula.guards, state.guard);
        let mut enabled: Vec<Enabled<'_>> = rows
            .filter(|(_, row)| row.object as usize == index)
            .map(|(number, row)| self.enabled(exec, state, (number, row), (machine, known)))
            .collect();
        rows::choose_answers(exec, state, self.site, &mut enabled);
        enabled
    }

    /// A row with its conditions. `known`: what the execution has of memory here is so.
    fn enabled<'a>(
        &'a self,
        exec: &mut Executor<'_>,
        state: &mut State,
        (number, row): (u32, &'a Row),
        (machine, known): (MachineId, bool),
    ) -> Enabled<'a> {
        let Application {
            summary, binding, ..
        } = self;
        let entry = cube(exec, &row.incond, &self.inputs);
        let exit = cube(exec, &row.outcond, &self.outputs);
        let doubt = match row.doubtful && exec.arena.is_saved(machine) {
            true => rows::unsaved(exec, state, summary, row, binding),
            false => Guard::TRUE,
        };
        let mut literals = row.incond.iter().zip(&summary.inputs).zip(&self.inputs);
        let of_kind = literals.any(|((wanted, input), &here)| {
            let open = here != Guard::TRUE && here != Guard::FALSE;
            wanted.is_some() && open && rows::asks_for_kind(input)
        });
        let exact = summary.objects[row.object as usize].exact;
        let certain = match exact {
            true => {
                let certain = |input: &IExpr| known || !transition::reads_memory(input);
                let incond = row.incond.iter().zip(&summary.inputs);
                let incond = incond.map(|(wanted, input)| wanted.filter(|_| certain(input)));
                let entry = cube(exec, &incond.collect(), &self.inputs);
                exec.arena.formula.guards.and(entry, exit)
            }
            false => Guard::TRUE,
        };
        let guards = &mut exec.arena.formula.guards;
        let lost = row.incond.iter().all(Option::is_none);
        let counted = row.counted && (lost || !guards.implies(state.guard, entry));
        Enabled {
            row,
            guard: exec.arena.formula.guards.and(entry, exit),
            certain,
            doubtful: row.doubtful || of_kind && matches!(row.to, Target::Error(_)),
            doubt,
            counted,
            inferred: !summary.is_primitive(),
            inputs: exact.then_some(&summary.inputs[..]),
            source: (!row.trace.is_empty()).then(|| Source {
                callee: self.site.callee.clone(),
                object: row.object,
                row: number,
            }),
        }
    }
}

/// Notes what a call states, of a function that does nothing else.
fn note_assertions(
    exec: &mut Executor<'_>,
    state: &mut State,
    summary: &Summary,
    site: &CallSite<'_>,
) {
    let binding = Binding::new(site);
    let inputs = binding.inputs(exec, state, summary);
    assertion::check(exec, state, summary, &inputs, &binding);
}
