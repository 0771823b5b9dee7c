//! Ways of one transition that come to the same state are one from there on (in open programs, where nearly all conditions are open).
//!
//! In: the ways that are still to be followed. Out: the one to be followed next, which is the one that is furthest behind, so that all ways
//! to a place are there before any goes on from it. Two that come there in the same state but for the conditions of their paths go on as one,
//! under either's conditions; nothing is lost by that.

use std::cmp::Ordering;
use std::rc::Rc;

use imbl::Vector;
use smallvec::SmallVec;

use super::Machine;
use crate::concurrency::state::{self, State, Thread};
use crate::symbolic::guard::Guard;
use crate::symbolic::term::Term;

/// Size of a condition for either of two paths. Paths whose conditions are larger stay apart.
const SIZE: usize = 300;

/// Where a thread is, outermost call first.
type Place = SmallVec<[u32; 8]>;

struct Way {
    state: State,
    thread: usize,
    place: Place,
    /// Of all that the future depends on but for the path's conditions, if other ways may join this one.
    key: Option<u128>,
}

/// The ways that are still to be followed.
pub(super) struct Ways {
    ways: Vec<Way>,
    /// Of an open program; else they are followed depth first.
    open: bool,
}

impl Ways {
    pub fn new(open: bool) -> Ways {
        let ways = Vec::new();
        Ways { ways, open }
    }

    pub fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }

    /// One that begins with a thread's next step; at a join with its key.
    pub fn add(&mut self, state: State, thread: usize, key: Option<u128>) {
        let frames = state.thread(thread).frames.iter();
        let place = match self.open {
            true => frames.map(|frame| frame.at).collect(),
            false => Place::new(),
        };
        self.ways.push(Way {
            state,
            thread,
            place,
            key,
        });
    }

    /// The one to be followed next; of several at one place the last that was added.
    pub fn next(&mut self) -> Option<(State, usize)> {
        let ways = self.ways.iter().enumerate().rev();
        let (index, _) = ways.min_by(|(_, one), (_, other)| is_behind(&one.place, &other.place))?;
        let way = self.ways.remove(index);
        Some((way.state, way.thread))
    }
}

/// The order in which ways are followed: what is called at a place comes before what lies behind the call.
fn is_behind(one: &Place, other: &Place) -> Ordering {
    let mut common = one.iter().zip(other).map(|(one, other)| one.cmp(other));
    let first = common.find(|order| order.is_ne());
    first.unwrap_or_else(|| other.len().cmp(&one.len()))
}

impl Machine<'_> {
    /// Whether a thread stands where several ways come together.
    pub(super) fn is_at_join(&self, state: &State, thread: usize) -> bool {
        state.frame(thread).is_some_and(|frame| {
            let joins = &self.program.code[frame.code].code.joins;
            frame.fetched.is_empty() && joins.get(frame.at as usize) == Some(&true)
        })
    }

    /// Keeps a way that has come to a join, together with those that have come there in the same state.
    pub(super) fn add_at_join(&mut self, ways: &mut Ways, mut state: State, thread: usize) {
        self.put_aside(&mut state);
        let key = state.hash_but_for_path(self.program);
        for way in &mut ways.ways {
            if way.key == Some(key) && way.thread == thread && self.merge(&mut way.state, &state) {
                return;
            }
        }
        ways.add(state, thread, Some(key));
    }

    /// Makes a state the one that either of two is, if they differ in their paths' conditions alone.
    pub(super) fn merge(&mut self, state: &mut State, other: &State) -> bool {
        let rest =
            |thread: &Rc<Thread>| (thread.permit, thread.stack, thread.joining, thread.picked);
        let mut threads = state.threads.iter().zip(&other.threads);
        if !threads.all(|(one, other)| rest(one) == rest(other)) || state.bound != other.bound {
            return false;
        }
        let own = |own: &Vector<Term>, path: &Vector<Term>| -> Vec<Term> {
            own.iter()
                .filter(|term| !path.contains(term))
                .copied()
                .collect()
        };
        let one = own(&state.path, &other.path);
        let two = own(&other.path, &state.path);
        let [first, second] = [&one, &two].map(|terms| self.all(terms));
        let guards = &mut self.values.formula.guards;
        let either = guards.or(first, second);
        if guards.size(either) > SIZE {
            return false;
        }
        state.path.retain(|term| !one.contains(term));
        if either != Guard::TRUE {
            let term = self.values.formula.term_of(either);
            state.path.push_back(term);
        }
        for thread in 0..state.threads.len() {
            state::join(state.thread_mut(thread), other.thread(thread));
        }
        true
    }

    fn all(&mut self, terms: &[Term]) -> Guard {
        let formula = &mut self.values.formula;
        terms.iter().fold(Guard::TRUE, |all, &term| {
            let guard = formula.guard_of(term);
            formula.guards.and(all, guard)
        })
    }
}
