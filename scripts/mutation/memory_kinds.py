"""The kinds of memory and file bug that are planted, as `kinds` has those of locks.

In: a `File`, the flows of its functions, and a random generator. Out: `Mutant`s. A bug is planted on a variable whose use is faultless
in the function's own text. Where the flow can show the fault after the change, it must.
"""

import re

from .edits import Mutant, delete, insert, own_lines, text
from .memory import Opens
from .memory_flow import CALL, GONE, LIVE, MAYBE, UNKNOWN, MemoryFlow, bare
from .names import call_text, is_parameter, parameters
from .source import Malformed, Source, closing

PLACES = 3  # how many places of one kind are proposed in one function
NEAR = 12   # a statement moves over no more than so many lines
LEAVES = re.compile(r"\b(?:return|goto|break|continue)\b[^;{}]*;\s*\}?$")


class File:
    """A file's source and the flows of the functions into which bugs are planted."""

    def __init__(self, text, vocabulary):
        self.source, self.vocabulary = Source(text), vocabulary
        self.flows, self.wanted, self.followed = {}, {}, {}
        # What a function of the same file returns is the nearest to say that it may be null.
        maybe = {function.name: Opens("", "null") for function in self.source.functions
                 if not vocabulary.knows(function.name) and re.search(r"\breturn\s*\(?NULL\)?\s*;", self.source.masked[function.body : function.end])}
        self.vocabulary = vocabulary.with_wrappers(maybe)
        for function in self.source.functions:
            if not self.source.plain(function):
                continue
            flow = read_flow(function, self.vocabulary)
            if flow is None:
                continue
            self.flows[function.name] = flow
            self.wanted[function.name] = [name for name in flow.variables() if not flow.faults(name)]

    def mutants(self, kinds, random):
        for kind in kinds:
            for name, flow in self.flows.items():
                if name in self.vocabulary.closes:
                    continue  # what releases for others
                proposals = [found for variable in self.variables(kind, name) for found in KINDS[kind][0](self, flow, variable, random)]
                for edits, line, description, variable in random.sample(proposals, min(PLACES, len(proposals))):
                    mutant = Mutant(kind, name, line, description, edits)
                    mutant.variable, mutant.vocabulary = variable, self.vocabulary
                    yield mutant

    def variables(self, kind, function):
        return [""] if kind == "null-to-callee" else self.wanted[function]

    def follows(self, callee, at):
        """Whether the file's function `callee` follows its parameter of that number whatever its conditions are."""
        if (callee, at) not in self.followed:
            flow = self.flows.get(callee)
            names = parameters(flow.function) if flow else None
            self.followed[callee, at] = bool(names) and at < len(names) and always_follows(flow, names[at][1])
        return self.followed[callee, at]


def is_bug(mutant, text, _):
    """Whether the changed function is wrong on a path of its graph, in the way that its kind is about."""
    wanted = KINDS[mutant.kind][1]
    for function in Source(mutant.apply(text)).functions:
        if function.name == mutant.function:
            flow = read_flow(function, mutant.vocabulary)
            return flow is not None and (not wanted or wanted in flow.faults(mutant.variable))
    return False


def read_flow(function, vocabulary):
    try:
        return MemoryFlow(function, vocabulary)
    except Malformed:
        return None


def always_follows(flow, name):
    """Whether each way through a function follows its parameter; not one that goes round for ever and never does."""
    seen, work, followed = set(), [flow.entry], False
    while work:
        node = work.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node is flow.exit or (flow.mentions(node, name) and (flow.test(node, name) or flow.assigned(node, name))):
            return False
        if flow.follows(node, name) and not flow.guarded(node, name):
            followed = True
            continue
        work += [successor for successor, _ in node.successors]
    return followed


# ---- places -----------------------------------------------------------------------------------------------------


def releases(flow, name, kinds):
    """The statements that are a release of the variable and nothing else, with the function that does it."""
    for node in flow.nodes:
        for called in flow.closed_by(node, name):
            what = flow.vocabulary.closes[called]
            if what.kind in kinds and re.match(rf"{called}\s*\(", flow.text(node)) and re.search(r"\)\s*;$", flow.text(node)):
                yield node


FILES = ("file", "process", "folder", "descriptor")


def uses(flow, name):
    """Statements on lines of their own that follow the variable, or hand it on if it is a descriptor, and do little else."""
    for node in flow.nodes:
        body = flow.text(node)
        if own_lines(flow.source, node) and flow.mentions(node, name) and not flow.assigned(node, name) and not flow.closed_by(node, name):
            if not re.match(r"(?:return|goto|break|continue|case|default|if|while|for|switch)\b", body) and not is_declaration(body):
                if not any(flow.vocabulary.knows(called) for called, _ in flow.calls(node)) and not re.search(r":\s*$", body):
                    yield node


def is_declaration(body):
    return re.match(r"(?:const\s+|static\s+|unsigned\s+|struct\s+)*[A-Za-z_]\w*(?:\s+|\s*\*+\s*)[A-Za-z_]\w*\s*[=;,\[]", body) is not None


def following(flow, start, state, name):
    """The nodes behind `start` that are reached with the variable in that state only, before it is assigned anew."""
    seen, work = [], [successor for successor, _ in start.successors]
    while work:
        node = work.pop()
        if node in seen or node is flow.exit or flow.at(node, name) != {state} or flow.assigned(node, name):
            continue
        seen.append(node)
        work += [successor for successor, _ in node.successors]
    return seen


def proposal(flow, edits, node, description, name):
    return edits, flow.source.line(node.start), description, name


def behind(file, flow, node, statement, random, name):
    """The statement behind `node`, at once or later where the variable is still released; None where no line can be put."""
    later = [place for place in following(flow, node, GONE, name) if own_lines(file.source, place) and place.start > node.start]
    if later and (not own_lines(file.source, node) or random.random() < 0.5):
        return insert(file.source, random.choice(later), statement, False)
    return insert(file.source, node, statement, True) if own_lines(file.source, node) else None


# ---- the kinds --------------------------------------------------------------------------------------------------


def checks(flow, name):
    """(condition, start of the `if`, start and end of what it guards) where only a null variable goes in, and never comes out."""
    for node in flow.nodes:
        word = re.search(r"\bif\s*$", flow.masked[flow.function.body : node.start])
        if not word or flow.test(node, name).get(True) is not True or re.search(r"&&|\|\|", flow.text(node)):
            continue
        start = flow.function.body + word.start()
        body = flow.skip(node.end)
        try:
            end = closing(flow.masked, body) if flow.masked[body] == "{" else flow.expression_end(body)
        except Malformed:
            continue  # a macro that ends otherwise than a statement
        alone = flow.source.text[flow.source.line_start(start) : start].strip() == ""
        if alone and LEAVES.search(flow.masked[body:end]) and not re.compile(r"\s*else\b").match(flow.masked, end):
            yield node, start, end


def delete_check(file, flow, name, random):
    for node, start, end in checks(flow, name):
        assigned = re.search(rf"\(\s*({name}\s*=(?!=))", flow.text(node))
        if assigned:
            opening = node.start + assigned.start()
            edit = (start, end, flow.source.text[opening + 1 : closing(flow.masked, opening) - 1].strip() + ";")
        elif MAYBE in flow.at(node, name):
            edit = (flow.source.line_start(start), flow.source.line_end(end - 1), "")
            if flow.source.text[end : edit[1]].strip():
                continue
        else:
            continue
        yield proposal(flow, [edit], node, f"deleted the check `if {text(flow.source, node)}`", name)


def use_before_check(file, flow, name, random):
    for node, start, end in checks(flow, name):
        if "=" in re.sub(r"[=!]=", "", flow.text(node)) or not flow.at(node, name) <= {MAYBE, UNKNOWN}:
            continue
        line = flow.source.line(end)
        places = [place for place in uses(flow, name)
                  if place.start > end and flow.source.line(place.start) <= line + NEAR and flow.follows(place, name)]
        for place in places[:1]:
            statement = text(flow.source, place)
            edits = delete(flow.source, place) + [(flow.source.line_start(start),) * 2 + (indent(flow, start) + statement + "\n",)]
            yield proposal(flow, edits, node, f"`{statement}` before `if {text(flow.source, node)}`", name)


def indent(flow, start):
    return flow.source.text[flow.source.line_start(start) : start]


def null_to_callee(file, flow, name, random):
    """NULL for the variable in a call of a function of the file that follows that parameter."""
    for node in flow.nodes:
        for match in CALL.finditer(flow.text(node)):
            if match[1] not in file.flows or match[1] == flow.function.name:
                continue
            opening = node.start + match.end() - 1
            for at, (start, end) in enumerate(argument_places(flow, opening)):
                written = flow.source.text[start:end].strip()
                if re.fullmatch(r"[a-z_]\w*", written) and file.follows(match[1], at):
                    what = f"`{match[1]}` is given NULL for `{written}` and follows it"
                    yield proposal(flow, [(start, end, "NULL" if at == 0 else " NULL")], node, what, name)


def argument_places(flow, opening):
    """Where each argument of the call begins and ends."""
    end, start, depth = closing(flow.masked, opening) - 1, opening + 1, 0
    for at in range(start, end):
        depth += (flow.masked[at] in "([{") - (flow.masked[at] in ")]}")
        if flow.masked[at] == "," and depth == 0:
            yield start, at
            start = at + 1
    yield start, end


def use_after_free(file, flow, name, random):
    yield from used_after(file, flow, name, random, ("memory",), flow.follows)


def use_after_close(file, flow, name, random):
    hands_on = lambda node, name: any(name in map(bare_of, written) for _, written in flow.calls(node))
    yield from used_after(file, flow, name, random, FILES, hands_on)


def bare_of(written):
    return bare([written])


def used_after(file, flow, name, random, kinds, is_use):
    """A statement that used the variable before, once more behind the release."""
    for node in releases(flow, name, kinds):
        before = [place for place in uses(flow, name) if place.start < node.start and is_use(place, name)]
        if before:
            statement = text(flow.source, random.choice(before[-3:]))
            edits = behind(file, flow, node, statement, random, name)
            if edits:
                yield proposal(flow, edits, node, f"`{statement}` behind `{text(flow.source, node)}`", name)


def use_after_free_callee(file, flow, name, random):
    """A function of the file that follows its parameter is called with what was released."""
    for node in releases(flow, name, ("memory",)):
        for callee, other in file.flows.items():
            written = parameters(other.function) or []
            if other is flow or other.function.start > flow.function.start or callee in file.vocabulary.closes:
                continue
            for at, (kind, parameter) in enumerate(written):
                statement = "*" in kind and file.follows(callee, at) and call_text(other.function, {parameter: name}, flow.function)
                edits = statement and behind(file, flow, node, statement, random, name)
                if edits:
                    yield proposal(flow, edits, node, f"`{statement}` follows what `{text(flow.source, node)}` released", name)


def double_free(file, flow, name, random):
    for node in releases(flow, name, ("memory",)):
        statement = text(flow.source, node)
        edits = behind(file, flow, node, statement, random, name)
        if edits:
            yield proposal(flow, edits, node, f"`{statement}` once more", name)


def double_free_exit(file, flow, name, random):
    """Before a way out on which it is released anyway."""
    for node in releases(flow, name, ("memory",)):
        statement = text(flow.source, node)
        for place in flow.nodes:
            leaves = re.match(r"(?:goto|break)\b", flow.text(place))
            if leaves and place.start < node.start and flow.at(place, name) in ({LIVE}, {UNKNOWN}) and always_released(flow, place, name):
                what = f"`{statement}` before `{text(flow.source, place)}`, which leads to another"
                edits = insert(flow.source, place, statement, False)
                if not own_lines(flow.source, place):
                    edits = [(place.start, place.end, f"{{ {statement} {text(flow.source, place)} }}")]
                yield proposal(flow, edits, place, what, name)


def always_released(flow, start, name):
    """Whether every way from there releases the variable before it is assigned and before the function ends."""
    seen, work = set(), [successor for successor, _ in start.successors]
    while work:
        node = work.pop()
        if id(node) in seen or flow.closed_by(node, name):
            continue
        seen.add(id(node))
        if node is flow.exit or flow.assigned(node, name):
            return False
        work += [successor for successor, _ in node.successors]
    return True


def delete_free(file, flow, name, random):
    """Of what was allocated here, on a way out that is not the last."""
    found = [node for node in releases(flow, name, ("memory",)) if lost_without(flow, node, name)]
    handed_on = any(re.match(rf"return\b[^;]*\b{name}\b", flow.text(node)) for node in flow.nodes)
    last = max((node.start for node in flow.nodes if flow.closed_by(node, name)), default=-1)
    for node in found:
        if handed_on or node.start != last:
            yield proposal(flow, delete(file.source, node), node, f"deleted `{text(flow.source, node)}`", name)


def delete_close(file, flow, name, random):
    for node in releases(flow, name, FILES):
        if lost_without(flow, node, name):
            yield proposal(flow, delete(file.source, node), node, f"deleted `{text(flow.source, node)}`", name)


def lost_without(flow, start, name):
    """Whether what is released there was opened here, and nothing is done with the variable on a way from there to the end."""
    if not flow.at(start, name) & {LIVE, MAYBE} or flow.at(start, name) & {UNKNOWN} and not is_opened(flow, name) or is_parameter(flow.function, name):
        return False
    seen, work = set(), [successor for successor, _ in start.successors]
    while work:
        node = work.pop()
        if node is flow.exit:
            return True
        if id(node) in seen or (flow.mentions(node, name) and flow.assigned(node, name) != "null"):
            continue
        seen.add(id(node))
        work += [successor for successor, _ in node.successors]
    return False


def is_opened(flow, name):
    return any(isinstance(flow.assigned(node, name), Opens) for node in flow.nodes)


KINDS = {
    "delete-check": (delete_check, "unchecked"),
    "use-before-check": (use_before_check, ""),
    "null-to-callee": (null_to_callee, ""),
    "use-after-free": (use_after_free, "used after release"),
    "use-after-free-callee": (use_after_free_callee, "used after release"),
    "double-free": (double_free, "released twice"),
    "double-free-exit": (double_free_exit, "released twice"),
    "delete-free": (delete_free, ""),
    "delete-close": (delete_close, ""),
    "use-after-close": (use_after_close, "used after release"),
}
