"""The kinds of bug that are planted: for each, where it can be and what makes it one.

In: a `File`, the flows of its faultless functions, and a random generator that picks among equal places.
Out: `Mutant`s, each a few edits to the file's text. A kind has two halves: `plant` proposes mutants of one
function, and `is_bug` looks at the function's flow after the change, for what only the whole of it tells.
"""

import dataclasses
import re

from .flow import FREE, HELD, Flow
from .locks import CALL, WITHOUT_RESTORE
from .source import IDENTIFIER, Malformed, Source, arguments

PLACES = 3  # how many places of one kind are proposed in one function


@dataclasses.dataclass
class Mutant:
    kind: str
    function: str
    line: int
    description: str
    edits: list  # (start, end, text), not overlapping

    def apply(self, text):
        for start, end, new in sorted(self.edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text


class File:
    """A file's source and the flows of the functions into which bugs are planted."""

    def __init__(self, text):
        self.source = Source(text)
        self.flows = {}
        for function in self.source.functions:
            if CALL.search(self.source.masked, function.body, function.end) and self.source.plain(function):
                flow = read_flow(function)
                if flow and flow.calls and not flow.faults():
                    self.flows[function.name] = flow

    def mutants(self, kinds, random):
        for kind in kinds:
            for flow in self.flows.values():
                proposals = list(KINDS[kind][0](self, flow, random))
                for edits, line, description in random.sample(proposals, min(PLACES, len(proposals))):
                    yield Mutant(kind, flow.function.name, line, description, edits)


def is_bug(mutant, text):
    """Whether the changed function is wrong on a path of its graph, in the way that its kind is about."""
    for function in Source(mutant.apply(text)).functions:
        if function.name == mutant.function:
            flow = read_flow(function)
            return flow is not None and KINDS[mutant.kind][1]({word for word, _, _ in flow.faults()})
    return False


def read_flow(function):
    try:
        return Flow(function)
    except Malformed:
        return None


# ---- edits ------------------------------------------------------------------------------------------------------


def delete(source, node):
    """Without the statement: its line goes if it has one of its own, an empty statement stays otherwise."""
    start, end = source.line_start(node.start), source.line_end(node.end - 1)
    if node.stands_alone and source.text[start:end].strip() == source.text[node.start : node.end]:
        return [(start, end, "")]
    return [(node.start, node.end, ";")]


def insert(source, node, statement, behind):
    start = source.line_start(node.start)
    indent = re.match(r"[ \t]*", source.text[start:]).group()
    at = source.line_end(node.end - 1) if behind else start
    return [(at, at, f"{indent}{statement}\n")]


def own_lines(source, node):
    """Whether a line can be put before and behind the statement."""
    start, end = source.line_start(node.start), source.line_end(node.end - 1)
    return node.stands_alone and source.masked[start:end].strip() == source.masked[node.start : node.end].strip()


def text(source, node):
    return " ".join(source.text[node.start : node.end].split())


# ---- names ------------------------------------------------------------------------------------------------------


def names(expression):
    """The identifiers of an expression that are not members."""
    return set(re.findall(r"(?<![\w.>])[A-Za-z_]\w*|(?<=[^-]>)[A-Za-z_]\w*", expression))


def assignments(function, name):
    pattern = rf"(?<![\w.>]){name}\s*(?:[-+*/|&^]|<<|>>)?=(?!=)|(?<![\w.>]){name}\s*(?:\+\+|--)|(?:\+\+|--)\s*{name}\b|&{name}\b(?!\s*(?:->|\.|\[))|for_each\w*\s*\([^;{{]*\b{name}\b"
    return list(re.finditer(pattern, function.source.masked[function.body : function.end]))


def stable(flow, key):
    """Whether the lock's expression names one object in all of the function."""
    function = flow.function
    for name in names(key[1]):
        found = [match for match in assignments(function, name) if not match.group().startswith("&")]
        if len(found) > (0 if is_parameter(function, name) else 1):
            return False
    return "++" not in key[1] and "--" not in key[1]


def parameters(function):
    """(type, name) for each parameter, or None where one cannot be read."""
    result = []
    for part in arguments(function.parameters):
        match = re.fullmatch(r"(.*?[\s*])([A-Za-z_]\w*)", " ".join(part.split()))
        if match:
            result.append((match.group(1).replace(" ", "").replace("const", ""), match.group(2)))
        elif part != "void":
            return None
    return result


def is_parameter(function, name):
    return any(name == other for _, other in parameters(function) or [])


def is_local(function, name):
    body = function.source.masked[function.body : function.end]
    declared = re.search(rf"\b(?!return|goto|else|case|sizeof)[A-Za-z_]\w*(?:\s+|\s*\*+\s*){name}\s*[;,=\[]", body)
    return is_parameter(function, name) or declared is not None


def expanded(function, expression):
    """The expression with the locals that are assigned once replaced by their values."""
    body = function.source.masked[function.body : function.end]
    for _ in range(3):
        for name in sorted(names(expression)):
            found = assignments(function, name)
            match = re.search(rf"(?<![\w.>]){name}\s*=\s*([^=;,][^;,]*);", body)
            if is_parameter(function, name) or len(found) != 1 or not match or not is_local(function, name):
                continue
            value = re.sub(r"\s+", "", match.group(1))
            if re.fullmatch(r"&?[\w.\[\]()]*(?:->[\w.\[\]()]+)*", value):
                expression = re.sub(rf"(?<![\w.>]){name}\b", lambda _: value, expression)
        expression = re.sub(r"^\(?&([^()]+?)\)?->", r"\1.", expression)
    return expression


def argument_for(callee, taken, caller, held):
    """(parameter or None, argument) so that the callee's lock expression is the caller's, or None."""
    inner = expanded(callee, taken)
    free = [name for name in names(inner) if is_parameter(callee, name)]
    if any(is_local(callee, name) and name not in free for name in names(inner)) or len(free) > 1:
        return None
    if not free:
        return (None, "") if inner == held and not any(is_local(caller, name) for name in names(held)) else None
    for pattern, address in ((inner, ""), (inner.replace(f"{free[0]}->", f"{free[0]}."), "&")):
        expression = re.sub(rf"(?<![\w.>]){free[0]}\b", "@", pattern)
        for outer in (held, expanded(caller, held)):
            match = re.fullmatch(re.escape(expression).replace("@", "(?P<x>[^,]+)", 1).replace("@", "(?P=x)"), outer)
            if match and (address or pattern == inner):
                value = match.group("x")
                if value.count("(") == value.count(")") and not (address and pattern == inner):
                    return free[0], address + value
    return None


ARITHMETIC = re.compile(r"(?:unsigned|int|long|short|char|bool|size_t|[us]\d+|u?int\d+_t|gfp_t|loff_t|ssize_t)+")


def call_text(callee, given, caller):
    """The call's text; parameters that are not given get 0 or a parameter of the caller of the same type."""
    written = []
    if parameters(callee) is None or parameters(caller) is None:
        return None
    for kind, name in parameters(callee):
        same = [other for other_kind, other in parameters(caller) if other_kind == kind]
        if name in given:
            written.append(given[name])
        elif ARITHMETIC.fullmatch(kind):
            written.append("0")
        elif same:
            written.append(same[0])
        else:
            return None
    return f"{callee.name}({', '.join(written)});"


def always_takes(flow, wanted):
    """The take calls of `wanted(call)` if no path from entry to exit is without one, else none."""
    seen, work = set(), [flow.entry]
    while work:
        node = work.pop()
        if id(node) in seen or (node.call and wanted(node.call)):
            continue
        seen.add(id(node))
        work += [successor for successor, _ in node.successors]
    return [] if id(flow.exit) in seen else [node.call for node in flow.nodes if node.call and wanted(node.call)]


# ---- the kinds --------------------------------------------------------------------------------------------------


def calls(flow, takes):
    for node in flow.nodes:
        if node.call and node.call.operation.takes == takes and stable(flow, node.call.object):
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
        if not call.operation.exclusive or call.operation.succeeds or not own_lines(file.source, node):
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


def wrong_unlock(file, flow, random):
    locks = {call.object: call.arguments[0] for _, call in calls(flow, False) if call.arguments}
    for node, call in calls(flow, False):
        others = [key for key in sorted(locks) if key != call.object and key[0] == call.object[0]]
        held = [key for key in others if HELD in flow.at(node, key)]
        for key in (held or others)[:1]:
            written = ", ".join([locks[key], *call.arguments[1:]])
            edit = (call.start, call.end, f"{call.operation.name}({written})")
            yield [edit], file.source.line(node.start), f"`{edit[2]}` instead of `{text(file.source, node)}`"


def call_held(file, flow, random):
    """A call of another function of the file that takes, whatever its conditions, the lock held here."""
    caller = flow.function
    for node, call in calls(flow, True):
        if not call.operation.exclusive or not own_lines(file.source, node):
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
            first, second = (f"{a.call.operation.name}({', '.join([b.call.arguments[0], *a.call.arguments[1:]])})"
                             for a, b in ((inner, outer), (outer, inner)))
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
