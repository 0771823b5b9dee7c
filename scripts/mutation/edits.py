"""A mutant, and the edits that it is made of.

In: a `Source` and nodes of a function's graph. Out: edits, (start, end, text) each, that do not overlap.
"""

import dataclasses
import re


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
