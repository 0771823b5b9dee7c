"""The analysers that can be scored on bugs of memory and files, as `analysers` has those for locks."""

import functools
import os
import re
import xml.etree.ElementTree

from . import analysers
from .analysers import Failed, Finding, located


def warnings(output, copy):
    """(line, text, steps) for each warning about the file; the notes behind it, of the same file, are its steps."""
    last = None
    for match in located(output, copy):
        kind, _, text = match["text"].partition(": ")
        if kind == "note" and last:
            last[2].append((int(match["line"]), ""))
        elif kind == "warning":
            if last:
                yield last
            last = (int(match["line"]), text, [])
    if last:
        yield last


def gcc(unit, copy, folder, program):
    options = [word for word in unit.arguments_for(copy) if not word.startswith(("-O", "-g", "-Werror", "-flto"))]
    done = unit.run([program or "gcc", "-fanalyzer", "-fdiagnostics-path-format=separate-events", "-S", "-o", "/dev/null"], options)
    if re.search(r" error: ", done.stderr):
        raise Failed(done.stderr)
    for line, text, steps in warnings(done.stderr, copy):
        found = re.search(r"^(.*?)(?: \[CWE-\d+\])? \[-Wanalyzer-([\w-]+)\]$", text)
        if found and ABOUT_MEMORY.search(found[2]):
            yield Finding(found[2], "", line, found[1], tuple(steps))


def clang(unit, copy, folder, program):
    known = [word for word in unit.arguments_for(copy) if not word.startswith(("-m", "-f", "-Werror"))]
    command = [program or "clang", "--analyze", "-Qunused-arguments", "-Wno-everything", "-Xclang", "-analyzer-checker=unix,core,alpha.unix.Stream",
               "-Xclang", "-analyzer-output=text"]
    done = unit.run(command, known)
    if "error:" in done.stderr:
        raise Failed(done.stderr)
    for line, text, steps in warnings(done.stderr, copy):
        found = re.search(r"^(.*) \[([\w.]+)\]$", text)
        if found and ABOUT_MEMORY.search(found[0]):
            yield Finding(found[2], "", line, found[1], tuple(steps))


# What the others also say: uninitialised values, divisions and sizes are not of this family.
ABOUT_MEMORY = re.compile(r"null|free|leak|releas|stream|closed|NonNull|memory|fclose|dealloc", re.IGNORECASE)
CPPCHECK = re.compile(r"null|free|leak|dealloc|useClosed|ctu", re.IGNORECASE)


def cppcheck(unit, copy, folder, program):
    options = [word for pair in zip(["", *unit.options], unit.options) for word in cppcheck_option(unit, *pair)]
    command = [program or "cppcheck", "--enable=warning", "--library=posix", "--library=gnu", "--xml", "-q", *options,
               "-I" + os.path.dirname(unit.path), copy]
    done = unit.run(command, [], timeout=300)
    try:
        errors = list(xml.etree.ElementTree.fromstring(done.stderr[done.stderr.find("<?xml") :]).iter("error"))
    except xml.etree.ElementTree.ParseError as error:
        raise Failed(f"{error}: {done.stderr[-300:]}") from error
    for error in errors:
        places = [(os.path.basename(at.get("file")), int(at.get("line"))) for at in error.iter("location")]
        if places and places[0][0] == os.path.basename(copy) and CPPCHECK.search(error.get("id")):
            yield Finding(error.get("id"), "", places[0][1], error.get("msg"))


def cppcheck_option(unit, before, word):
    """What cppcheck knows of a compiler's options: -D, -U and -I, of one word or two."""
    if word.startswith(("-D", "-U", "-I")) and len(word) > 2:
        return [word]
    return [before + word] if before in ("-D", "-U", "-I") else []


# What Cassini is given.
CHECKERS = "heap,null,file"
ANALYSERS = {"cassini": functools.partial(analysers.cassini, checkers=CHECKERS), "gcc": gcc, "clang": clang, "cppcheck": cppcheck}
