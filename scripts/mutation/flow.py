"""A function's statements as a graph, and what each path does to the locks it names.

In: a function of a `Source`. Out: its `Flow`: the lock calls, the states in which each is reached, and the
faults of the locking: a lock taken twice, a release of what is not held, an exit with a lock held. Paths are
those of the graph, conditions are not looked at, except that of a lock that may fail. A function without
faults is right whatever its conditions are; one with some need not be wrong and is never planted into.
"""

import re

from .locks import lock_object
from .source import IDENTIFIER, Malformed, arguments, closing

# What stands before a lock call that is a condition, perhaps assigned to something.
CONDITION = re.compile(r"\(\s*(!?)\s*(?:(?:(?:un)?likely|UNLIKELY|LIKELY)\()?\s*(!?)\s*(?:\(+\s*\w+\s*=\s*|\(\s*)?")
NEVER_RETURNS = re.compile(r"\b(BUG|panic|do_exit|abort|exit|_exit|unreachable)\s*\($")
FREE, HELD = "free", "held"


class Call:
    """A call of a lock primitive: `start..end` is its text with the parentheses."""

    def __init__(self, operation, start, end, written):
        self.operation = operation
        self.start, self.end, self.arguments = start, end, written
        self.object = lock_object(operation, written)


class Node:
    """A statement without the statements in it, or a condition. `line` says that it stands in a block, on its own."""

    def __init__(self, start, end, stands_alone=False):
        self.start, self.end, self.stands_alone = start, end, stands_alone
        self.successors = []  # (node, None | True | False): the outcome of the condition
        self.call = None
        self.succeeds = ""    # the outcome that means that the call has worked, where a condition asks
        self.negated = False
        self.is_call = False  # whether the statement is the call and nothing else


class Flow:
    def __init__(self, function, vocabulary, always=False):
        """`always`: locks of user space are taken to be got, though a result may tell otherwise."""
        self.function, self.source, self.vocabulary, self.always = function, function.source, vocabulary, always
        self.masked = self.source.masked
        self.nodes, self.labels, self.gotos = [], {}, []
        self.entry, self.exit = Node(function.body, function.body), Node(function.end - 1, function.end)
        loose, _ = self.block(function.body, [(self.entry, None)], None, None)
        self.connect(loose, self.exit)
        for node, label in self.gotos:
            if label not in self.labels:
                raise Malformed(f"no label {label}")
            node.successors.append((self.labels[label], None))
        for node in self.nodes:
            self.find_call(node)
        self.calls = [node.call for node in self.nodes if node.call]
        self.states = {key: self.solve(key) for key in sorted({call.object for call in self.calls})}

    # ---- from text to graph ------------------------------------------------------------------------------

    def node(self, start, end, comes_from, stands_alone=False):
        node = Node(start, end, stands_alone)
        self.nodes.append(node)
        self.connect(comes_from, node)
        return node

    def connect(self, loose, node):
        for before, outcome in loose:
            before.successors.append((node, outcome))

    def skip(self, position):
        match = re.compile(r"\S").search(self.masked, position, self.function.end)
        if match is None:
            raise Malformed("the body ends early")
        return match.start()

    def block(self, position, loose, out, loop):
        """From a brace to behind its partner. `out` and `loop` collect where break and continue leave from."""
        end = closing(self.masked, position)
        position = self.skip(position + 1)
        while position < end - 1:
            loose, position = self.statement(position, loose, out, loop, True)
            position = self.skip(position)
        return loose, end

    def statement(self, position, loose, out, loop, stands_alone=False):
        position = self.skip(position)
        if self.masked[position] == "{":
            return self.block(position, loose, out, loop)
        if self.masked[position] == ";":
            return loose, position + 1
        word = IDENTIFIER.match(self.masked, position)
        name = word.group() if word else ""
        if hasattr(self, "read_" + name):
            return getattr(self, "read_" + name)(position, word.end(), loose, out, loop)
        if word:
            after = self.skip(word.end())
            if self.masked[after] == ":":
                label = self.node(position, after, loose)
                self.labels[name] = label
                return [(label, None)], after + 1
            if self.masked[after] == "(":
                end = closing(self.masked, after)
                following = self.masked[self.skip(end)]
                if following == "{" or following.isalpha() or following == "_":
                    return self.loop(position, end, loose, True)  # list_for_each_entry(…)
        end = self.expression_end(position)
        node = self.node(position, end, loose, stands_alone)
        if NEVER_RETURNS.search(self.masked[position : self.masked.find("(", position, end) + 1]):
            return [], end
        return [(node, None)], end

    def expression_end(self, position):
        while True:
            match = re.compile(r"[;({[)}\]]").search(self.masked, position)
            if match is None or match.group() in ")}]":
                raise Malformed("an expression without end")
            if match.group() == ";":
                return match.end()
            position = closing(self.masked, match.start())

    def parenthesised(self, position):
        start = self.skip(position)
        if self.masked[start] != "(":
            raise Malformed("no condition")
        return start, closing(self.masked, start)

    def read_if(self, position, after, loose, out, loop):
        start, end = self.parenthesised(after)
        condition = self.node(start, end, loose)
        loose, end = self.statement(end, [(condition, True)], out, loop)
        other = self.skip(end)
        if re.compile(r"else\b").match(self.masked, other):
            otherwise, end = self.statement(other + 4, [(condition, False)], out, loop)
            return loose + otherwise, end
        return loose + [(condition, False)], end

    def loop(self, start, end, loose, leaves):
        head = self.node(start, end, loose)
        breaks, continues = [], []
        body, end = self.statement(end, [(head, True)], breaks, continues)
        self.connect(body + continues, head)
        return breaks + ([(head, False)] if leaves else []), end

    def read_while(self, position, after, loose, out, loop):
        start, end = self.parenthesised(after)
        return self.loop(start, end, loose, not re.fullmatch(r"\(\s*(1|true)\s*\)", self.masked[start:end]))

    def read_for(self, position, after, loose, out, loop):
        start, end = self.parenthesised(after)
        return self.loop(start, end, loose, not re.search(r";\s*;", self.masked[start:end]))

    def read_do(self, position, after, loose, out, loop):
        head = self.node(position, after, loose)
        breaks, continues = [], []
        body, end = self.statement(after, [(head, None)], breaks, continues)
        start, end = self.parenthesised(self.skip(end) + len("while"))
        condition = self.node(start, end, body + continues)
        if self.masked[start:end].strip("() ") not in ("0", "false"):
            condition.successors.append((head, True))
        return breaks + [(condition, False)], self.expression_end(end)

    def read_switch(self, position, after, loose, out, loop):
        start, end = self.parenthesised(after)
        head = self.node(start, end, loose)
        breaks, outer = [], getattr(self, "switch", None)
        self.switch = [head, False]
        body, end = self.statement(end, [], breaks, loop)
        covered, self.switch = self.switch[1], outer
        return body + breaks + ([] if covered else [(head, None)]), end

    def read_case(self, position, after, loose, out, loop):
        if getattr(self, "switch", None) is None:
            raise Malformed("a case without its switch")
        end = re.compile(r"(?<!\?):").search(self.masked, after).end()
        label = self.node(position, end, loose + [(self.switch[0], None)])
        return [(label, None)], end

    def read_default(self, position, after, loose, out, loop):
        result = self.read_case(position, position, loose, out, loop)
        self.switch[1] = True
        return result

    def read_return(self, position, after, loose, out, loop):
        end = self.expression_end(position)
        self.connect([(self.node(position, end, loose), None)], self.exit)
        return [], end

    def read_goto(self, position, after, loose, out, loop):
        end = self.expression_end(position)
        label = re.fullmatch(r"\s*(\w+)\s*;", self.masked[after:end])
        if not label:
            raise Malformed("a computed goto")
        self.gotos.append((self.node(position, end, loose), label.group(1)))
        return [], end

    def leave(self, position, loose, exits):
        end = self.expression_end(position)
        if exits is None:
            raise Malformed("a break or continue without its loop")
        exits.append((self.node(position, end, loose), None))
        return [], end

    def read_break(self, position, after, loose, out, loop):
        return self.leave(position, loose, out)

    def read_continue(self, position, after, loose, out, loop):
        return self.leave(position, loose, loop)

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
