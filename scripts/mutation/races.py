"""The kinds of race that are planted: data that a lock guards is accessed without the lock.

In: a `File`, whose functions lock without a fault. Out: `Mutant`s, in which the locking is without a fault still, but an access to a member of a
record is no longer made with the lock held. That the lock guards the member is what the other functions of the file say: at least two of them
access it with the lock held, fewer without, and somebody writes it.
"""

import collections
import functools
import re

from . import kinds
from .edits import delete, own_lines, text
from .flow import HELD
from .kinds import calls, lock_class

# A member of what a name, or a path of members, leads to.
MEMBER = re.compile(r"(?<![\w.>])(?P<base>[A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*)*)(?:->|\.)(?P<member>[A-Za-z_]\w*)\b(?!\s*\()")
WRITES = re.compile(r"\s*(?:(?:[-+*/|&^]|<<|>>)?=(?!=)|\+\+|--)")


class File(kinds.File):
    """With the members that each lock of the file guards."""

    def __init__(self, source, vocabulary):
        super().__init__(source, vocabulary)
        held, free, written = collections.defaultdict(set), collections.defaultdict(set), set()
        for name, flow in self.flows.items():
            locks = sorted({call.object for call in flow.calls})
            for node in flow.nodes:
                for base, member, writes in accesses(self.source, node):
                    if writes:
                        written.add(member)
                    under = {lock_class(key) for key in locks if flow.at(node, key) == {HELD} and fits(key, base)}
                    for lock in under:
                        held[lock, member].add(name)
                    if not under:
                        free[member].add(name)
        self.guarded = {(lock, member): names for (lock, member), names in held.items()
                        if member in written and len(names) > len(free[member])}

    def known(self):
        return KINDS

    def guarded_in(self, flow, node, key):
        """The members that this statement accesses, of those that the lock guards by what two other functions do, and no other lock that is held here."""
        held = [other for other in flow.states if other != key and flow.at(node, other) == {HELD}]
        found = []
        for base, member, _ in accesses(self.source, node):
            others = self.guarded.get((lock_class(key), member), set()) - {flow.function.name}
            twice = any((lock_class(other), member) in self.guarded for other in held)
            if fits(key, base) and len(others) >= 2 and not twice and member not in found:
                found.append(member)
        return found


def accesses(source, node):
    """(what the member is of, the member, whether it is written) for each that a statement or condition accesses."""
    for match in MEMBER.finditer(source.masked, node.start, node.end):
        before = source.masked[node.start : match.start()]
        behind = WRITES.match(source.masked, match.end())
        yield match["base"], match["member"], bool(behind) or before.rstrip().endswith(("++", "--"))


def fits(key, base):
    """Whether a lock may guard members of `base`: it lies in the same record, or is a lock of the whole program."""
    record = re.match(r"(.*)(?:->|\.)\w+$", key[1])
    return record is None or record[1] == base


def drop_lock(file, flow, random):
    """All calls of one lock go, where what lies between them accesses what it guards."""
    for key in sorted({call.object for call in flow.calls}):
        of_lock = [node for node in flow.nodes if node.call and node.call.object == key]
        if not all(node.is_call and own_lines(file.source, node) for node in of_lock) or not stable_for(flow, key):
            continue
        for node in flow.nodes:
            members = flow.at(node, key) == {HELD} and node not in of_lock and file.guarded_in(flow, node, key)
            if members:
                edits = [edit for call in of_lock for edit in delete(file.source, call)]
                first = of_lock[0]
                yield edits, file.source.line(node.start), f"no `{text(file.source, first)}` around `{members[0]}`"
                break


def early_unlock(file, flow, random):
    """The release comes before the last statement that the lock guards."""
    for unlock, call in calls(flow, False):
        yield from swapped(file, flow, unlock, call, predecessors(flow, unlock), "comes before")


def late_lock(file, flow, random):
    """The lock is taken behind the first statement that it guards."""
    for lock, call in calls(flow, True):
        if not call.operation.succeeds and len(lock.successors) == 1:
            place = lock.successors[0][0]
            if predecessors(flow, place) == [lock]:
                yield from swapped(file, flow, lock, call, [place], "comes behind")


def predecessors(flow, node):
    return [before for before in [flow.entry, *flow.nodes] if any(successor is node for successor, _ in before.successors)]


def swapped(file, flow, node, call, places, how):
    """The call and the statement beside it, in the other order."""
    if len(places) != 1 or not own_lines(file.source, node):
        return
    place = places[0]
    plain = place in flow.nodes and not place.call and own_lines(file.source, place) and len(place.successors) == 1
    statement = text(file.source, place)
    if not plain or re.match(r"(return|goto|break|continue)\b", statement) or flow.at(place, call.object) != {HELD}:
        return
    members = file.guarded_in(flow, place, call.object)
    if members:
        edits = [(node.start, node.end, file.source.text[place.start : place.end]), (place.start, place.end, file.source.text[node.start : node.end])]
        yield edits, file.source.line(node.start), f"`{text(file.source, node)}` {how} `{statement}`"


def stable_for(flow, key):
    """Whether the lock is one object in all of the function."""
    return any(call.object == key for takes in (True, False) for _, call in calls(flow, takes))


def all_is_well(faults):
    """The changed function locks without a fault: it is nothing else that is wrong."""
    return not faults


KINDS = {
    "drop-lock": (drop_lock, all_is_well),
    "early-unlock": (early_unlock, all_is_well),
    "late-lock": (late_lock, all_is_well),
}
is_bug = functools.partial(kinds.is_bug, known=KINDS)
