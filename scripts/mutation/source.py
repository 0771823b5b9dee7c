"""C source as it is written: comments, strings and preprocessor lines masked out, functions by their braces.

In: the text of a file. Out: its `Source`, with the functions that nothing in the way of the preprocessor
makes ambiguous. Every position is an offset into the original text; a masked text has the same length.
"""

import bisect
import re

# What a compiler would not read as code. A preprocessor line ends where no backslash continues it.
NOT_CODE = re.compile(
    r"""(?P<comment>/\*.*?\*/|//(?:\\\n|[^\n])*)
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<directive>^[ \t]*\#(?:/\*.*?\*/|\\\r?\n|[^\n])*)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# Macros that stand beside a function's name or parameters and look like a function themselves.
ATTRIBUTE = re.compile(r"^(__attribute__|__printf|__scanf|__acquires|__releases|__must_hold|__cond_\w+|__aligned|__section|__alloc_size|__asm__|asm)$")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
PAIRS = {"(": ")", "[": "]", "{": "}"}


class Malformed(Exception):
    """The text cannot be read as C that is written plainly; whoever meets it leaves the function out."""


class Function:
    """One definition: `body` is the offset of its brace, `end` is behind the closing one."""

    def __init__(self, source, name, parameters, start, body, end):
        self.source, self.name, self.parameters = source, name, parameters
        self.start, self.body, self.end = start, body, end


class Source:
    def __init__(self, text):
        self.text = text
        self.masked, self.directives = mask(text)
        self.lines = [match.end() for match in re.finditer("\n", text)]
        self.functions = list(self.find_functions())

    def line(self, offset):
        return bisect.bisect_right(self.lines, offset) + 1

    def line_start(self, offset):
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset):
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end + 1

    def function_at(self, line):
        """The name of the function that has this line, or None."""
        for function in self.functions:
            if self.line(function.start) <= line <= self.line(function.end - 1):
                return function.name
        return None

    def find_functions(self):
        start, position = 0, 0
        while True:
            match = re.compile("[;{}]").search(self.masked, position)
            if match is None:
                return
            position = match.end()
            if match.group() == "{":
                try:
                    end = closing(self.masked, match.start())
                except Malformed:
                    return
                header = self.header(start, match.start())
                if header:
                    yield Function(self, *header, match.start(), end)
                elif re.search(r"[=\w]\s*$", self.masked[start:match.start()]):
                    position = end  # an initialiser or a type: the declaration goes on to its semicolon
                    continue
                position = end
            start = position

    def header(self, start, brace):
        """Name, parameters' text and start of the function whose body opens at `brace`, if it is one."""
        groups, position = [], start
        while position < brace:
            character = self.masked[position]
            if character == "=":
                return None
            if character in "([":
                name = re.search(r"([A-Za-z_]\w*)\s*$", self.masked[start:position])
                end = closing(self.masked, position)
                if name and character == "(" and not ATTRIBUTE.match(name.group(1)):
                    groups.append((name.group(1), self.masked[position + 1 : end - 1]))
                position = end
            else:
                position += 1
        while len(groups) > 1 and groups[0][0].isupper():
            groups.pop(0)  # EXPORTED(int) name(…)
        if not groups or groups[0][0].isupper():
            return None  # a type, or SYSCALL_DEFINE3(name, …): what is defined is not what is written
        text = self.masked[start:brace]
        return *groups[0], start + len(text) - len(text.lstrip())

    def plain(self, function):
        """Whether no preprocessor line is within the function and no other definition has its name."""
        inside = any(function.body < at < function.end for at in self.directives)
        return not inside and sum(other.name == function.name for other in self.functions) == 1


def mask(text):
    """The text with blanks for what is not code, and where the directives are."""
    directives = []

    def blank(match):
        if match.lastgroup == "directive":
            directives.append(match.start())
        if match.lastgroup == "string":
            return match.group()[0] + "_" * (len(match.group()) - 2) + match.group()[-1]
        return re.sub(r"[^\n]", " ", match.group())

    return NOT_CODE.sub(blank, text), directives


def closing(masked, opening):
    """The offset behind the bracket that closes the one at `opening`."""
    stack = []
    for match in re.compile(r"[][(){}]").finditer(masked, opening):
        if match.group() in PAIRS:
            stack.append(PAIRS[match.group()])
        elif stack.pop() != match.group():
            raise Malformed(f"unbalanced bracket at {match.start()}")
        if not stack:
            return match.end()
    raise Malformed(f"nothing closes the bracket at {opening}")


def arguments(text):
    """The arguments of a call, split at the commas that are not nested."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts] if text.strip() else []
