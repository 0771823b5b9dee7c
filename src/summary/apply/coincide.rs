//! Two objects of a callee that are one object here.
//!
//! In: the places of a callee's objects in the caller. Out: the paths on which the call's effect on an object is unknown.

use crate::property::Key;
use crate::summary::Summary;
use crate::symbolic::exec::Executor;
use crate::symbolic::guard::Guard;
use crate::symbolic::region::Loc;
use crate::symbolic::state::State;

/// Notes the paths on which two objects of the callee are the same object here: they have two access paths from one
/// pointer that lead to the same place, as the caller knows. The callee's rows take them for two, so the effect on
/// the object is unknown.
pub(super) fn coincide(
    exec: &mut Executor<'_>,
    state: &State,
    summary: &Summary,
    objects: &[Vec<(Guard, Loc)>],
) {
    for (index, one) in summary.objects.iter().enumerate() {
        let Some(machine) = exec.arena.machine(&one.machine) else {
            continue;
        };
        let blocks = exec.arena.machine_at(machine).key == Key::Region;
        for (other, places) in summary.objects.iter().zip(objects).skip(index + 1) {
            if (&one.machine, &one.object.root) != (&other.machine, &other.object.root) {
                continue;
            }
            // What one pointer leads into the callee knows to be one block.
            let ways = [one, other].map(|it| it.object.path.split_last().map(|(_, way)| way));
            if blocks && ways[0] == ways[1] {
                continue;
            }
            for &(there, loc) in places {
                // Two places in one block are one object: the element around the head of an empty list, and the record that the head is in.
                let object = exec.arena.object_at(loc, machine);
                let mut known = objects[index].iter();
                let same = known.find(|(_, known)| exec.arena.object_at(*known, machine) == object);
                if let Some(&(here, _)) = same {
                    let guards = &mut exec.arena.formula.guards;
                    let both = guards.and(here, there);
                    let paths = guards.and(state.guard, both);
                    exec.execution.open.add(guards, object, paths);
                }
            }
        }
    }
}
