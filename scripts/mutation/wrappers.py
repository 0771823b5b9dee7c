"""A tree's own wrappers of the primitives: macros and functions whose definition does nothing to locks but one
operation, on every way through it.

In: the texts of a tree's C files and headers, and a vocabulary. Out: for each file its vocabulary, with the wrappers
that it may use. They are found by what their definitions say, never by their names; a wrapper of a wrapper is one.
What is defined in a header, or as a function with external linkage, is everybody's; a macro or static function of a
C file is that file's. Names with definitions that contradict each other are left out. A macro that another
configuration defines as nothing is found, too: `make` preprocesses what it plants.
"""

import dataclasses
import re

from .flow import FREE, HELD, Flow
from .names import expanded, is_local, is_parameter, names, parameters
from .source import Malformed, Source

ROUNDS = 4     # wrappers of wrappers of wrappers
STATEMENTS = 12  # of a function that does only this
CALLS = re.compile(r"\b(?!(?:if|while|for|switch|return|sizeof|assert|likely|unlikely)\b)[A-Za-z_]\w*\s*\(")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()\n]*\))?[ \t]+((?:\\\r?\n|[^\n])+)", re.MULTILINE)


def vocabularies(texts, base):
    """{path: Vocabulary} for the texts {path: text}, C files and headers."""
    shared, own = {}, {path: {} for path in texts}
    sources, words = {}, {path: set(re.findall(r"[A-Za-z_]\w*", text)) for path, text in texts.items()}
    for _ in range(ROUNDS):
        everybody = base.with_wrappers(shared)
        found, found_own = {}, {}
        for path, text in texts.items():
            known = everybody.with_wrappers(own[path])
            if not any(word in known.operations for word in words[path]):
                continue
            source = sources.get(path) or sources.setdefault(path, Source(text))
            for operation, is_shared in definitions(source, known, path.endswith(".h")):
                place = found if is_shared else found_own.setdefault(path, {})
                place.setdefault(operation.name, []).append(operation)
        before = len(shared), {path: len(local) for path, local in own.items()}
        shared |= agreed(found, shared)
        for path, local in found_own.items():
            own[path] |= agreed(local, own[path])
        if before == (len(shared), {path: len(local) for path, local in own.items()}):
            break
    everybody = base.with_wrappers(shared)
    return {path: everybody.with_wrappers(local) for path, local in own.items()}


def agreed(found, known):
    """Of each name the operation on which its definitions agree."""
    return {name: several[0] for name, several in found.items() if name not in known and len(set(several)) == 1}


def definitions(source, vocabulary, header):
    """(operation, whether all files may use it) for each wrapper that the text defines."""
    for name, macro_parameters, body in MACRO.findall(source.text):
        body = re.sub(r"\\\r?\n|/\*.*?\*/|//[^\n]*", " ", body, flags=re.DOTALL).strip()
        operation = macro(name, macro_parameters, body, vocabulary)
        if operation:
            yield operation, header
    for function in source.functions:
        if function.name not in vocabulary.operations and vocabulary.call.search(source.masked, function.body, function.end):
            operation = wrapper(function, [name for _, name in parameters(function) or []], vocabulary)
            if operation and parameters(function) is not None:
                static = re.search(r"\bstatic\b", source.masked[function.start : function.body])
                yield operation, header or not static


def macro(name, macro_parameters, body, vocabulary):
    if name in vocabulary.operations:
        return None
    if body in vocabulary.operations and not macro_parameters:
        return dataclasses.replace(vocabulary.operations[body], name=name)
    if not macro_parameters or not vocabulary.call.search(body) or "##" in body:
        return None
    written = [word.strip() for word in macro_parameters[1:-1].split(",") if word.strip()]
    source = Source(f"void {name.lower()}(void) {{ {body}; }}")
    return wrapper(source.functions[0], written, vocabulary, name) if len(source.functions) == 1 else None


def wrapper(function, written, vocabulary, name=None):
    """The one operation that the function does on every way through it, or None."""
    try:
        flow = Flow(function, vocabulary, always=True)
    except Malformed:
        return None
    keys = {call.object for call in flow.calls}
    operations = {(call.operation.takes, call.operation.exclusive) for call in flow.calls}
    if len(keys) != 1 or len(operations) != 1 or len(flow.nodes) > STATEMENTS or any(c.operation.succeeds for c in flow.calls):
        return None
    if any(CALLS.search(function.source.masked, node.start, node.end) for node in others(flow)):
        return None  # which may be a wrapper that is not found yet
    operation, key = flow.calls[0].operation, keys.pop()
    before, behind = (FREE, HELD) if operation.takes else (HELD, FREE)
    reached = flow.solve(key, before)
    if reached.get(id(flow.exit)) != {behind} or any(reached.get(id(node), {before}) != {before} for node in flow.nodes if node.call):
        return None
    lock = expanded(function, key[1])
    if not names(lock) or any(is_local(function, used) and used not in written for used in names(lock)):
        return None
    if any(is_parameter(function, used) and used not in written for used in names(lock)):
        return None
    return dataclasses.replace(operation, name=name or function.name, parameters=tuple(written), lock=lock)


def others(flow):
    """The statements that are no lock call and from which the function returns."""
    returning, work = set(), [flow.exit]
    before = {}
    for node in [flow.entry, *flow.nodes]:
        for successor, _ in node.successors:
            before.setdefault(id(successor), []).append(node)
    while work:
        for node in before.get(id(work.pop()), []):
            if id(node) not in returning:
                returning.add(id(node))
                work.append(node)
    return [node for node in flow.nodes if node.call is None and id(node) in returning]
