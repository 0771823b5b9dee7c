"""What the names in a function's text are: parameters, locals, the values of locals that are assigned once.

In: functions of a `Source` and expressions as they are written. Out: answers that hold whatever is executed, as far as
text tells; where it does not, the answer is the one that leaves a place out.
"""

import re

from .locks import simplified
from .source import arguments


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
                expression = re.sub(rf"(?<![\w.>]){name}\b", lambda _: f"({value})", expression)
        expression = simplified(expression)
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
