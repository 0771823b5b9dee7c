"""A function's statements as a graph, conditions not looked at.

In: a function of a `Source`. Out: its `Graph`: a node for each statement without the statements in it and for each condition,
and from where to where control goes.
"""

import re

from .source import IDENTIFIER, Malformed, closing

NEVER_RETURNS = re.compile(r"\b(BUG|panic|do_exit|abort|exit|_exit|unreachable)\s*\($")


class Node:
    """A statement without the statements in it, or a condition. `stands_alone` says that it stands in a block, on its own."""

    def __init__(self, start, end, stands_alone=False):
        self.start, self.end, self.stands_alone = start, end, stands_alone
        self.successors = []  # (node, None | True | False): the outcome of the condition


class Graph:
    never_returns = NEVER_RETURNS

    def __init__(self, function):
        self.function, self.source = function, function.source
        self.masked = self.source.masked
        self.nodes, self.labels, self.gotos = [], {}, []
        self.entry, self.exit = Node(function.body, function.body), Node(function.end - 1, function.end)
        loose, _ = self.block(function.body, [(self.entry, None)], None, None)
        self.connect(loose, self.exit)
        for node, label in self.gotos:
            if label not in self.labels:
                raise Malformed(f"no label {label}")
            node.successors.append((self.labels[label], None))

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
        if self.never_returns.search(self.masked[position : self.masked.find("(", position, end) + 1]):
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
