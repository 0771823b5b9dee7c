"""What allocates and releases, by the names that sources use, and the functions of a program that do the same by their definition.

In: the texts of a tree. Out: for each file its `Vocabulary`. A wrapper is found by what its definition does on every way through
it: one that releases a parameter, or that returns what is fresh, or null. Names are never looked at.
"""

import dataclasses
import re

from .names import parameters
from .source import Malformed, Source

ROUNDS = 3


@dataclasses.dataclass(frozen=True)
class Opens:
    kind: str        # what is opened; "" where nothing is the caller's to release
    fails: str       # "null", "negative", or "" if it never fails


@dataclasses.dataclass(frozen=True)
class Closes:
    kind: str
    argument: int


def table(kind, fails, names):
    return {name: Opens(kind, fails) for name in names.split()}


OPENS = (
    table("memory", "null", "malloc calloc strdup strndup aligned_alloc wcsdup")
    | table("file", "null", "fopen fdopen tmpfile fmemopen") | table("process", "null", "popen") | table("folder", "null", "opendir fdopendir")
    | table("descriptor", "negative", "open openat creat socket accept accept4 dup epoll_create epoll_create1 eventfd inotify_init memfd_create")
    | table("", "null", "strchr strrchr strstr strpbrk memchr getenv bsearch localtime gmtime getpwnam getpwuid getgrnam setlocale")
)
CLOSES = {"free": Closes("memory", 0), "fclose": Closes("file", 0), "pclose": Closes("process", 0), "closedir": Closes("folder", 0),
          "close": Closes("descriptor", 0)}
# Functions of libc that follow the argument of that number whatever the others are.
FOLLOWS = {0: "memcpy memmove memset strcpy strncpy strcat strlen strcmp strncmp strcasecmp strchr strrchr strstr sprintf atoi fclose fgetc fprintf fflush fileno rewind "
              "closedir readdir pclose".split(),
           1: "strcpy strcat strcmp strcasecmp fputs fputc".split(), 2: "fgets".split(), 3: "fread fwrite".split()}


class Vocabulary:
    kernel = False

    def __init__(self, opens=None, closes=None):
        self.opens, self.closes = opens or OPENS, closes or CLOSES
        names = sorted({*self.opens, *self.closes}, key=lambda name: (-len(name), name))
        self.call = re.compile(r"(?<![\w.>])(" + "|".join(map(re.escape, names)) + r")\s*\(")

    def with_wrappers(self, found):
        opens = {name: what for name, what in found.items() if isinstance(what, Opens)}
        closes = {name: what for name, what in found.items() if isinstance(what, Closes)}
        return Vocabulary({**self.opens, **opens}, {**self.closes, **closes}) if found else self

    def knows(self, name):
        return name in self.opens or name in self.closes


def vocabularies(texts):
    """{path: Vocabulary} for the texts {path: text}, C files and headers. Static functions are known in their own file only."""
    shared, own, sources = {}, {path: {} for path in texts}, {}
    words = {path: set(re.findall(r"[A-Za-z_]\w*", text)) for path, text in texts.items()}
    for _ in range(ROUNDS):
        everybody = Vocabulary().with_wrappers(shared)
        found, found_own = {}, {}
        for path, text in texts.items():
            known = everybody.with_wrappers(own[path])
            if not any(known.knows(word) for word in words[path]):
                continue
            source = sources.get(path) or sources.setdefault(path, Source(text))
            for name, what, is_shared in definitions(source, known, path.endswith(".h")):
                place = found if is_shared else found_own.setdefault(path, {})
                place.setdefault(name, []).append(what)
        new = agreed(found, shared)
        shared |= new
        for path, local in found_own.items():
            local = agreed(local, own[path])
            own[path] |= local
            new |= local
        if not new:
            break
    everybody = Vocabulary().with_wrappers(shared)
    return {path: everybody.with_wrappers(local) for path, local in own.items()}


def agreed(found, known):
    """Of each name the meaning on which its definitions agree."""
    return {name: several[0] for name, several in found.items() if name not in known and len(set(several)) == 1}


MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^()\n]*)\)[ \t]+((?:\\\r?\n|[^\n])+)", re.MULTILINE)


def bare_expression(text):
    """Without the parentheses around the whole."""
    text = text.strip().rstrip(";").rstrip()
    while text.startswith("(") and text.endswith(")") and is_closed(text[1:-1]):
        text = text[1:-1].strip()
    return text


def is_closed(written):
    """Whether each parenthesis of the text has its counterpart in it."""
    depth = 0
    for char in written:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


def definitions(source, vocabulary, header):
    """(name, what it does, whether all files may use it) for each wrapper that the text defines."""
    for name, written, body in MACRO.findall(source.text):
        call = re.fullmatch(r"(\w+)\s*\((.*)\)", bare_expression(re.sub(r"\\\r?\n", " ", body)), re.DOTALL)
        # A macro that sets its argument to null behind the call is no plain release.
        if call and is_closed(call[2]) and not vocabulary.knows(name):
            what = vocabulary.opens.get(call[1]) or vocabulary.closes.get(call[1])
            names = [word.strip() for word in written.split(",")]
            if isinstance(what, Closes):
                first = call[2].split(",")[what.argument : what.argument + 1]
                what = Closes(what.kind, names.index(first[0].strip(" ()"))) if first and first[0].strip(" ()") in names else None
            if what:
                yield name, what, header
    for function in source.functions:
        if not vocabulary.knows(function.name) and vocabulary.call.search(source.masked, function.body, function.end):
            what = wrapper(function, vocabulary)
            if what:
                static = re.search(r"\bstatic\b", source.masked[function.start : function.body])
                yield function.name, what, header or not static


def wrapper(function, vocabulary):
    """What the function does on every way through it, or None."""
    from .memory_flow import MemoryFlow

    try:
        flow = MemoryFlow(function, vocabulary)
    except Malformed:
        return None
    returned = flow.returned()
    if returned:
        return returned
    for at, (kind, name) in enumerate(parameters(function) or []):
        if "*" in kind and flow.released_at_every_exit(name):
            kinds = {flow.vocabulary.closes[close].kind for node in flow.nodes for close in flow.closed_by(node, name)}
            if len(kinds) == 1:
                return Closes(kinds.pop(), at)
    return None
