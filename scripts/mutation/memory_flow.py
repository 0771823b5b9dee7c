"""What a function does with the memory and files that its variables lead to, along the paths of its graph.

In: a function and a `memory.Vocabulary`. Out: its `MemoryFlow`: for each variable the states in which each statement is reached, and
the faults. Conditions are looked at only where they ask whether the variable is null (or a descriptor negative).
"""

import re

from .graph import NEVER_RETURNS, Graph
from .memory import FOLLOWS, Opens
from .names import is_local, is_parameter
from .source import arguments, closing

# Of what a variable holds: nothing is known; fresh and unchecked; fresh and there; null; released.
UNKNOWN, MAYBE, LIVE, NULL, GONE = "unknown", "maybe", "live", "null", "gone"
COMPARED = re.compile(r"([A-Za-z_]\w*)\s*(?:([!=]=)\s*(?:NULL|0|-1)|(<\s*0|>=\s*0|>\s*-1))|(?:NULL|0|-1)\s*([!=]=)\s*([A-Za-z_]\w*)")
NAME = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
CALL = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(")
ASSIGNED = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\s*=(?!=)\s*")
CAST = re.compile(r"\((?:const|struct|unsigned|\w+)[\w\s]*\**\s*\)\s*(?=[\w(*&])")


class MemoryFlow(Graph):
    never_returns = re.compile(NEVER_RETURNS.pattern.replace("BUG|", "BUG|die|die_errno|usage|err|errx|serverPanic|_serverPanic|"))

    def __init__(self, function, vocabulary):
        super().__init__(function)
        self.vocabulary, self.solved, self.known = vocabulary, {}, {}
        self.texts = {id(node): self.masked[node.start : node.end] for node in self.nodes}
        self.words = {key: set(NAME.findall(text)) for key, text in self.texts.items()}
        self.conditions = {id(node) for node in self.nodes if {outcome for _, outcome in node.successors} == {True, False}}

    # ---- what a statement does to a variable ------------------------------------------------------------------

    def text(self, node):
        return self.texts.get(id(node), "")

    def mentions(self, node, name):
        return name in self.words.get(id(node), ())

    def calls(self, node, names=None):
        """(name, arguments as they are written) for each call in the statement."""
        for match in CALL.finditer(self.text(node)):
            if names is None or match[1] in names:
                start = node.start + match.end()
                yield match[1], arguments(self.source.text[start : closing(self.masked, start - 1) - 1])

    def closed_by(self, node, name):
        """The functions by which the statement releases the variable."""
        if not self.vocabulary.call.search(self.text(node)):
            return []
        return [called for called, written in self.calls(node, self.vocabulary.closes)
                if bare(written[self.vocabulary.closes[called].argument : self.vocabulary.closes[called].argument + 1]) == name]

    def assigned(self, node, name):
        """What the statement assigns to the variable: an `Opens`, "null", "other", or None if nothing."""
        text = self.text(node)
        match = re.search(rf"(?<![\w.])(?<!->){name}\s*=(?!=)\s*", text)
        if match is None:
            changed = re.search(rf"(?<![\w.])(?<!->){name}\s*(?:[-+|&]=|\+\+|--)|(?:\+\+|--)\s*{name}\b|for_?each\w*\s*\([^;]*\b{name}\b", text)
            return "other" if changed else None
        value = CAST.sub("", text[match.end() :]).lstrip("( ")
        call = re.match(r"([A-Za-z_]\w*)\s*\(", value)
        if call and call[1] in self.vocabulary.opens and not re.search(r"\?", value):
            return self.vocabulary.opens[call[1]]
        return "null" if re.match(r"(?:NULL|0)\s*[;),]", value) else "other"

    def follows(self, node, name):
        """Whether the statement dereferences the variable, or hands it to a function of libc that does."""
        text = self.text(node)
        if name not in text:
            return False
        if re.search(rf"(?<![\w.])(?<!->){name}\s*(?:->|\[)", text) and not re.search(rf"\bsizeof\s*\(?\s*\*?{name}\b", text):
            return True
        if re.search(rf"(?:[=(,!&|?:;{{\[+<>-]|\breturn|^)\s*\*+\s*{name}\b(?!\s*[=;,].*\bsizeof)", text) and "sizeof" not in text:
            return True
        return any(called in names and bare(written[at : at + 1]) == name
                   for called, written in self.calls(node) for at, names in FOLLOWS.items() if called in names)

    def test(self, node, name):
        """{outcome: True where the variable is null then, False where it is not}."""
        if id(node) not in self.conditions or not self.mentions(node, name) or ";" in self.text(node):
            return {}
        text = stripped(self.without_assignment(self.text(node), name))
        for separator, outcome in (("||", False), ("&&", True)):
            parts = split_at(text, separator)
            if len(parts) > 1:
                said = [atom(part, name).get(outcome) for part in parts]
                return {outcome: value for value in said if value is not None}
        return atom(text, name)

    def without_assignment(self, text, name):
        match = re.search(rf"\(\s*{name}\s*=(?!=)", text)
        return text[: match.start()] + name + text[closing(text, match.start()) :] if match else text

    # ---- states -------------------------------------------------------------------------------------------------

    def variables(self):
        """The local variables and parameters that hold what is opened or released, or are asked whether they are null."""
        body = self.masked[self.function.body : self.function.end]
        for name in sorted(filter(None, self.candidates())):
            address = re.search(rf"&\s*{name}\b(?!\s*(?:->|\.|\[))", body)
            if is_local(self.function, name) and not address and not re.search(rf"\bstatic\b[^;]*\b{name}\b", body):
                yield name

    def candidates(self):
        names = set()
        for node in self.nodes:
            for called, written in self.calls(node, self.vocabulary.closes):
                at = self.vocabulary.closes[called].argument
                names.add(bare(written[at : at + 1]))
            if self.vocabulary.call.search(self.text(node)):
                names |= {name for name in ASSIGNED.findall(self.text(node)) if isinstance(self.assigned(node, name), Opens)}
            if id(node) in self.conditions:
                names |= {name for name in self.words[id(node)] if name not in names and self.test(node, name)}
        return names

    def states(self, name):
        """The states of the variable in which each node is reached, by the node's identity."""
        if name not in self.solved:
            reached, work = {id(self.entry): {UNKNOWN}}, [self.entry]
            while work:
                node = work.pop()
                for successor, outcome in node.successors:
                    behind = {self.after(node, outcome, name, state) for state in reached[id(node)]} - {None}
                    known = reached.setdefault(id(successor), set())
                    if not behind <= known or (behind and id(successor) not in reached):
                        known |= behind
                        work.append(successor)
            self.solved[name] = reached
        return self.solved[name]

    def at(self, node, name):
        return self.states(name).get(id(node), set())

    def effects(self, node, name):
        """(whether it is released, what is assigned, what is asked) by the statement."""
        key = id(node), name
        if key not in self.known:
            self.known[key] = bool(self.closed_by(node, name)), self.assigned(node, name), self.test(node, name)
        return self.known[key]

    def after(self, node, outcome, name, state):
        """The state behind the statement, None if that way cannot be taken."""
        if not self.mentions(node, name):
            return state
        closed, value, asked = self.effects(node, name)
        if closed and state != NULL:
            state = GONE
        if value is not None:
            state = (MAYBE if value.fails else LIVE) if isinstance(value, Opens) else NULL if value == "null" else UNKNOWN
        null = asked.get(outcome)
        if null is None or state == GONE:
            return state
        if state == (LIVE if null else NULL):
            return None
        return NULL if null else LIVE if state == MAYBE else state

    def faults(self, name):
        """What is wrong with the use of the variable: words."""
        found = set()
        for node in self.nodes:
            states = self.at(node, name)
            if not self.mentions(node, name) or not states:
                continue
            if GONE in states:
                if self.closed_by(node, name):
                    found.add("released twice")
                elif self.assigned(node, name) is None or self.follows(node, name):
                    found.add("used after release")
            if states & {MAYBE, NULL} and self.follows(node, name) and not self.test(node, name) and not self.guarded(node, name):
                found.add("unchecked")
        return found

    def guarded(self, node, name):
        """Whether the statement itself asks for the variable before it follows it."""
        return re.search(rf"&&|\|\||\?", self.text(node)) is not None or self.assigned(node, name) is not None

    # ---- what the function is as a whole --------------------------------------------------------------------------

    def released_at_every_exit(self, name):
        if not any(self.mentions(node, name) and self.closed_by(node, name) for node in self.nodes):
            return False
        states = self.at(self.exit, name)
        return GONE in states and states <= {GONE, NULL} and not self.overwritten(name)

    def overwritten(self, name):
        return any(self.assigned(node, name) for node in self.nodes if self.mentions(node, name))

    def returned(self):
        """An `Opens` if every `return` gives what is fresh, or null."""
        kinds, fails = set(), ""
        for node in self.nodes:
            match = re.fullmatch(r"return\b\s*(.*?)\s*;", self.text(node), re.DOTALL)
            if not match:
                continue
            value = CAST.sub("", match[1]).strip("() ") if match[1] else ""
            call = re.match(r"([A-Za-z_]\w*)\s*\(", value)
            if call and call[1] in self.vocabulary.opens:
                opened = self.vocabulary.opens[call[1]]
                kinds.add(opened.kind)
                fails = fails or opened.fails
            elif value in ("NULL", "0"):
                fails = "null"
            elif re.fullmatch(r"[A-Za-z_]\w*", value) and is_local(self.function, value) and not is_parameter(self.function, value):
                states = self.at(node, value)
                if not states or not states <= {MAYBE, LIVE, NULL}:
                    return None
                kinds |= {self.vocabulary_kind(value)} if states & {MAYBE, LIVE} else set()
                fails = "null" if states & {MAYBE, NULL} else fails
            else:
                return None
        return Opens(kinds.pop(), fails) if len(kinds) == 1 and "" not in kinds and "descriptor" not in kinds else None

    def vocabulary_kind(self, name):
        opened = [value for node in self.nodes if isinstance(value := self.assigned(node, name), Opens)]
        return opened[0].kind if opened else ""


def bare(written):
    """The name that an argument is, without casts and parentheses; "" if it is more than a name."""
    text = CAST.sub("", written[0]).strip("() ") if written else ""
    return text if re.fullmatch(r"[A-Za-z_]\w*", text) else ""


def stripped(text):
    text = re.sub(r"\b(?:un)?likely\s*(?=\()|\b(?:UN)?LIKELY\s*(?=\()", "", text).strip()
    while text.startswith("(") and closing(text, 0) == len(text):
        text = text[1:-1].strip()
    return text


def split_at(text, separator):
    """The parts of a condition between separators that are in no parentheses."""
    parts, depth, start, at = [], 0, 0, 0
    while at < len(text):
        depth += (text[at] in "([") - (text[at] in ")]")
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            start = at = at + len(separator)
            continue
        at += 1
    return [*parts, text[start:]]


def atom(text, name):
    """What a condition without `&&` and `||` says of the variable: {outcome: whether it is null then}."""
    text = stripped(text)
    negated = False
    while text.startswith("!") and not text.startswith("!="):
        negated, text = not negated, stripped(text[1:])
    asked = COMPARED.fullmatch(text)
    if text == name:
        null_when = negated
    elif asked and name in (asked[1], asked[5]):
        null_when = (asked[2] or asked[3] or asked[4]).startswith(("==", "<")) != negated
    else:
        return {}
    return {null_when: True, not null_when: False}
