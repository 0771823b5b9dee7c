"""The kinds of bug that are planted: for each, where it can be and what makes it one.

In: a `File`, the flows of its faultless functions, and a random generator that picks among equal places.
Out: `Mutant`s, each a few edits to the file's text. A kind has two halves: `plant` proposes mutants of one
function, and `is_bug` looks at the function's flow after the change, for what only the whole of it tells.
"""

import re

from .edits import Mutant, delete, insert, own_lines, text
from .flow import FREE, HELD, Flow
from .locks import WITHOUT_RESTORE
from .names import always_takes, argument_for, assignments, call_text, names, stable
from .source import IDENTIFIER, Malformed, Source

PLACES = 3  # how many places of one kind are proposed in one function


class File:
    """A file's source and the flows of the functions into which bugs are planted."""

    def __init__(self, text, vocabulary):
        self.source, self.vocabulary = Source(text), vocabulary
        self.flows = {}
        for function in self.source.functions:
            used = vocabulary.call.search(self.source.masked, function.body, function.end)
            if used and function.name not in vocabulary.operations and self.source.plain(function):
                flow = read_flow(function, vocabulary)
                if flow and flow.calls and not flow.faults():
                    self.flows[function.name] = flow

    def known(self):
        """The kinds, by name: what proposes mutants of one function, and what looks at the faults after the change."""
        return KINDS

    def mutants(self, kinds, random):
        for kind in kinds:
            for flow in self.flows.values():
                proposals = list(self.known()[kind][0](self, flow, random))
                for edits, line, description in random.sample(proposals, min(PLACES, len(proposals))):
                    yield Mutant(kind, flow.function.name, line, description, edits)


def is_bug(mutant, text, vocabulary, known=None):
    """Whether the changed function is wrong on a path of its graph, in the way that its kind is about. `known`: the kinds, if they are not those of locks."""
    for function in Source(mutant.apply(text)).functions:
        if function.name == mutant.function:
            flow = read_flow(function, vocabulary)
            return flow is not None and (known or KINDS)[mutant.kind][1]({word for word, _, _ in flow.faults()})
    return False


def read_flow(function, vocabulary):
    try:
        return Flow(function, vocabulary)
    except Malformed:
        return None


# ---- the kinds --------------------------------------------------------------------------------------------------


def calls(flow, takes):
    """The calls that are statements of their own and whose lock is one object in all of the function."""
    for node in flow.nodes:
        if node.call and (node.is_call or node.call.operation.succeeds) and node.call.operation.takes == takes and stable(flow, node.call.object):
            yield node, node.call


def held_places(flow, key):
    """The statements before which a line can be put and which are reached with the lock held only."""
    return [node for node in flow.nodes if flow.at(node, key) == {HELD} and own_lines(flow.source, node)]


def delete_unlock(file, flow, random):
    """On a way out before the last one, which keeps its own release: where an error leaves early."""
    last = {call.object: node for node, call in calls(flow, False)}
    for node, call in calls(flow, False):
        if last[call.object] is not node:
            yield delete(file.source, node), file.source.line(node.start), f"deleted `{text(file.source, node)}`"


def duplicate_lock(file, flow, random):
    for node, call in calls(flow, True):
        if not flow.vocabulary.excludes_itself(call.operation) or call.operation.succeeds or not own_lines(file.source, node):
            continue
        statement = text(file.source, node)
        later = [place for place in held_places(flow, call.object) if place.start > node.start]
        place, behind = random.choice([(node, True), (random.choice(later), False)]) if later else (node, True)
        yield insert(file.source, place, statement, behind), file.source.line(place.start), f"`{statement}` once more"


def duplicate_unlock(file, flow, random):
    for node, call in calls(flow, False):
        if not own_lines(file.source, node):
            continue
        statement = text(file.source, node)
        later = [place for place in reached_unlocked(flow, node) if own_lines(file.source, place)]
        place, behind = random.choice([(node, True), (random.choice(later), False)]) if later else (node, True)
        yield insert(file.source, place, statement, behind), file.source.line(place.start), f"`{statement}` once more"


def reached_unlocked(flow, start):
    """The nodes behind `start` before the lock that it releases is taken again, and with it free on all paths."""
    key, seen, work = start.call.object, [], [successor for successor, _ in start.successors]
    while work:
        node = work.pop()
        if node in seen or node is flow.exit or (node.call and node.call.object == key):
            continue
        seen.append(node)
        work += [successor for successor, _ in node.successors]
    return [node for node in seen if flow.at(node, key) == {FREE}]


def delete_lock(file, flow, random):
    for node, call in calls(flow, True):
        if not call.operation.succeeds:
            yield delete(file.source, node), file.source.line(node.start), f"deleted `{text(file.source, node)}`"


def in_place_of(flow, call, other):
    """`call` as it is written where `other` stands: primitives of the kernel keep their way with interrupts."""
    if call.operation.lock or other.operation.lock:
        return flow.source.text[call.start : call.end]
    return f"{other.operation.name}({', '.join([call.arguments[0], *other.arguments[1:]])})"


def wrong_unlock(file, flow, random):
    locks = {call.object: call for _, call in calls(flow, False) if call.arguments}
    for node, call in calls(flow, False):
        others = [key for key in sorted(locks) if key != call.object and key[0] == call.object[0]]
        held = [key for key in others if HELD in flow.at(node, key)]
        for key in (held or others)[:1]:
            edit = (call.start, call.end, in_place_of(flow, locks[key], call))
            yield [edit], file.source.line(node.start), f"`{edit[2]}` instead of `{text(file.source, node)}`"


def call_held(file, flow, random):
    """A call of another function of the file that takes, whatever its conditions, the lock held here."""
    caller = flow.function
    for node, call in calls(flow, True):
        if not flow.vocabulary.excludes_itself(call.operation) or not own_lines(file.source, node):
            continue
        for other in file.flows.values():
            if other is flow or other.function.start > caller.start:
                continue
            wanted = lambda its: its.operation.takes and not its.operation.succeeds and its.object[0] == call.object[0]
            for taken in always_takes(other, wanted)[:1]:
                found = argument_for(other.function, taken.object[1], caller, call.object[1])
                statement = found and call_text(other.function, {found[0]: found[1]}, caller)
                if not statement:
                    continue
                places = [place for place in held_places(flow, call.object) if place.start > node.start]
                place, behind = random.choice([(node, True), (random.choice(places), False)]) if places else (node, True)
                what = f"`{statement}` takes `{call.arguments[0] if call.arguments else call.object[0]}`, held"
                yield insert(file.source, place, statement, behind), file.source.line(place.start), what


def lock_class(key):
    """Where in which object a lock is, as far as the text says: `a->b.lock` and `c->b.lock` are one class."""
    family, expression = key
    return family, re.sub(r"^[^-.]*(?:->|\.)", "*", expression)


def nestings(flow):
    """(outer node, inner node) where a lock is taken with another one held."""
    takes = [node for node, call in calls(flow, True) if not call.operation.succeeds and call.operation.exclusive]
    for outer in takes:
        for inner in takes:
            first, second = outer.call.object, inner.call.object
            if lock_class(first) != lock_class(second) and flow.at(inner, first) == {HELD} and outer.start < inner.start:
                yield outer, inner


def swap_nested(file, flow, random):
    """Two locks in the other order than another function of the file takes them in."""
    for outer, inner in nestings(flow):
        pair = lock_class(outer.call.object), lock_class(inner.call.object)
        same = [other.function.name for other in file.flows.values() if other is not flow
                and any((lock_class(a.call.object), lock_class(b.call.object)) == pair for a, b in nestings(other))]
        between = file.source.masked[outer.start : inner.start]
        assigned = any(re.search(rf"(?<![\w.>]){name}\s*=[^=]", between) for name in names(inner.call.object[1]))
        if not same or assigned or outer.call.operation.atomic != inner.call.operation.atomic:
            continue
        first, second = ((file.source.text[n.call.start : n.call.end]) for n in (outer, inner))
        if outer.call.object[0] == inner.call.object[0] and outer.call.arguments:
            first, second = in_place_of(flow, outer.call, inner.call), in_place_of(flow, inner.call, outer.call)
        edits = [(outer.call.start, outer.call.end, second), (inner.call.start, inner.call.end, first)]
        what = f"`{second}` before `{first}`; `{same[0]}` takes them in the other order"
        yield edits, file.source.line(outer.start), what


def sleep_atomic(file, flow, random):
    for node, call in calls(flow, True):
        if not call.operation.atomic or call.operation.succeeds:
            continue
        for place in flow.nodes:
            if flow.at(place, call.object) == {HELD}:
                for match in re.finditer(r"\bGFP_ATOMIC\b", file.source.masked[place.start : place.end]):
                    at = place.start + match.start()
                    yield [(at, at + len(match.group()), "GFP_KERNEL")], file.source.line(at), "GFP_KERNEL for GFP_ATOMIC"
        places = [place for place in held_places(flow, call.object) if place.start > node.start]
        if not places:
            continue
        statements = ["msleep(10);", "synchronize_rcu();", "kfree(kmalloc(64, GFP_KERNEL));", "schedule();"]
        sleepers = [call_text(other.function, {}, flow.function) for other in file.flows.values()
                    if other.function.start < flow.function.start
                    and always_takes(other, lambda its: its.operation.takes and its.operation.family in ("mutex", "rwsem"))]
        statement = random.choice(2 * [sleeper for sleeper in sleepers if sleeper] + statements)
        place = random.choice(places)
        what = f"`{statement}` sleeps under `{text(file.source, node)}`"
        yield insert(file.source, place, statement, False), file.source.line(place.start), what


def drop_irqrestore(file, flow, random):
    for node, call in calls(flow, False):
        if call.operation.name not in WITHOUT_RESTORE or len(call.arguments) != 2:
            continue
        body = file.source.masked[flow.function.body : flow.function.end]
        words = [name.strip() for match in re.finditer(r"\bunsigned long ([\w\s,]+);", body) for name in match.group(1).split(",")]
        others = [word for word in words if word != call.arguments[1] and IDENTIFIER.fullmatch(word)]
        new = f"{WITHOUT_RESTORE[call.operation.name]}({call.arguments[0]})"
        if others and random.random() < 0.25:
            new = f"{call.operation.name}({call.arguments[0]}, {random.choice(others)})"
        yield [(call.start, call.end, new)], file.source.line(node.start), f"`{new}` instead of `{text(file.source, node)}`"


# Kinds that need what only a kernel has.
KERNEL_ONLY = ("sleep-atomic", "drop-irqrestore")
KINDS = {
    "delete-unlock": (delete_unlock, lambda faults: "held at some exits" in faults or "taken twice" in faults),
    "duplicate-lock": (duplicate_lock, lambda faults: "taken twice" in faults),
    "duplicate-unlock": (duplicate_unlock, lambda faults: "released but not held" in faults),
    "delete-lock": (delete_lock, lambda faults: "released but not held" in faults),
    "wrong-unlock": (wrong_unlock, lambda faults: bool(faults)),
    "call-held": (call_held, lambda faults: not faults),
    "swap-nested": (swap_nested, lambda faults: not faults),
    "sleep-atomic": (sleep_atomic, lambda faults: not faults),
    "drop-irqrestore": (drop_irqrestore, lambda faults: not faults),
}
