"""A function's statements as a graph, and what each path does to the locks it names.

In: a function of a `Source`. Out: its `Flow`: the lock calls, the states in which each is reached, and the
faults of the locking: a lock taken twice, a release of what is not held, an exit with a lock held. Paths are
those of the graph, conditions are not looked at, except that of a lock that may fail. A function without
faults is right whatever its conditions are; one with some need not be wrong and is never planted into.
"""

import re

from .graph import Graph
from .locks import lock_object
from .source import Malformed, arguments, closing

# What stands before a lock call that is a condition, perhaps assigned to something.
CONDITION = re.compile(r"\(\s*(!?)\s*(?:(?:(?:un)?likely|UNLIKELY|LIKELY)\()?\s*(!?)\s*(?:\(+\s*\w+\s*=\s*|\(\s*)?")
FREE, HELD = "free", "held"


class Call:
    """A call of a lock primitive: `start..end` is its text with the parentheses."""

    def __init__(self, operation, start, end, written):
        self.operation = operation
        self.start, self.end, self.arguments = start, end, written
        self.object = lock_object(operation, written)


class Flow(Graph):
    def __init__(self, function, vocabulary, always=False):
        """`always`: locks of user space are taken to be got, though a result may tell otherwise."""
        super().__init__(function)
        self.vocabulary, self.always = vocabulary, always
        for node in [self.entry, *self.nodes, self.exit]:
            node.call = None
            node.succeeds = ""    # the outcome that means that the call has worked, where a condition asks
            node.negated = False
            node.is_call = False  # whether the statement is the call and nothing else
        for node in self.nodes:
            self.find_call(node)
        self.calls = [node.call for node in self.nodes if node.call]
        self.states = {key: self.solve(key) for key in sorted({call.object for call in self.calls})}

    # ---- lock calls -----------------------------------------------------------------------------------------

    def find_call(self, node):
        found = list(self.vocabulary.call.finditer(self.masked, node.start, node.end))
        if not found:
            return
        text = self.masked[node.start : node.end]
        match = found[0]
        end = closing(self.masked, match.end() - 1)
        before, behind = self.masked[node.start : match.start()], self.masked[end : node.end]
        operation = self.vocabulary.operations[match.group(1)]
        call = Call(operation, match.start(), end, arguments(self.source.text[match.end() : end - 1]))
        is_condition = bool(node.successors) and {outcome for _, outcome in node.successors} <= {True, False}
        if len(found) > 1:
            raise Malformed(f"several lock calls in {text!r}")
        if is_condition and (operation.succeeds or operation.tells):
            shape = CONDITION.fullmatch(before)
            tail = re.fullmatch(r"[)\s]*((?:<|!=|==)\s*(?:0|thrd_success))?[)\s]*", behind)
            if not shape or not tail or (tail[1] or "").startswith("==") and operation.succeeds == "nonzero":
                raise Malformed(f"a condition with a lock call in it: {text!r}")
            node.succeeds = operation.succeeds or ("zero" if operation.takes and not self.always else "")
            node.negated = (len("".join(shape.group(1, 2))) + (tail[1] or "").startswith("==")) % 2 == 1
        elif operation.succeeds or not is_plain(before, behind) and not (operation.tells and is_certain(before)):
            raise Malformed(f"a lock call within {text!r}")
        node.is_call = is_plain(before, behind)
        node.call = call

    # ---- the states of one lock -------------------------------------------------------------------------------

    def solve(self, key, entry=FREE):
        """The states of the lock `key` in which each node is reached, by the node's identity."""
        reached = {id(self.entry): {entry}}
        work = [self.entry]
        while work:
            node = work.pop()
            for successor, outcome in node.successors:
                states = {after(node, key, outcome, state) for state in reached[id(node)]}
                known = reached.setdefault(id(successor), set())
                if not states <= known or id(successor) not in reached:
                    known |= states
                    work.append(successor)
        return reached

    def at(self, node, key):
        return self.states.get(key, {}).get(id(node), set())

    def faults(self):
        """What is wrong, as (word, lock, offset)."""
        found = set()
        for key in self.states:
            for node in self.nodes:
                call = node.call
                if call is None or call.object != key:
                    continue
                states = self.at(node, key)
                if call.operation.takes and HELD in states and node.succeeds != "nonzero":
                    found.add(("taken twice", key, node.start))
                if not call.operation.takes and FREE in states:
                    found.add(("released but not held", key, node.start))
            exits = self.at(self.exit, key)
            if HELD in exits:
                found.add(("held at some exits" if FREE in exits else "held at every exit", key, self.exit.start))
        return found


def is_plain(before, behind):
    return before.strip() in ("", "(void)") and behind.strip() == ";"


def is_certain(before):
    """Whether what is written before a call in an expression leaves no way around the call."""
    return not re.search(r"&&|\|\||\?|\bsizeof\b", before)


def after(node, key, outcome, state):
    call = node.call
    if call is None or call.object != key:
        return state
    if not call.operation.takes:
        return FREE
    if not node.succeeds:
        return HELD
    nonzero = outcome != node.negated
    return HELD if nonzero == (node.succeeds == "nonzero") else state
