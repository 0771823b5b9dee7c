"""The analysers that can be scored: how each is run on one unit, and how its report is read.

Each is a function from (unit, copy, folder, program) to a list of `Finding`s. `copy` is the file to analyse,
`folder` is the analyser's own and stays between the runs on one unit, unmutated first. An analyser that
cannot read the unit raises `Failed`.
"""

import dataclasses
import json
import os
import re
import shutil
import subprocess


class Failed(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Finding:
    rule: str
    function: str          # "" where only a line is told
    line: int
    message: str
    steps: tuple = ()      # further places that the report shows: (line, file as below)
    file: str = ""         # where a whole tree is analysed, the file's path

    def __str__(self):
        return f"{self.line}: {self.rule}: {self.message}"


def cassini(unit, copy, folder, program, checkers="lock"):
    command = [program or "cassini", "check", os.path.dirname(copy), "--checkers", checkers, "--db", os.path.join(folder, "db"), "--jobs", "1", "--quiet"]
    here = os.path.basename(copy)
    return [
        Finding(row["rule"], row["function"], row["line"], row["message"],
                tuple((step["line"], "") for step in row["trace"] if os.path.basename(step["file"]) == here))
        for row in report(command, unit.directory, folder) if os.path.basename(row["file"]) == here
    ]


def whole_cassini(tree, folder, program, jobs, asked):
    """The findings of a whole tree. The database of the first run, of the unmutated tree, is what each further one starts from."""
    first, database = os.path.join(folder, "first"), os.path.join(folder, "db")
    if os.path.exists(first):
        shutil.rmtree(database, ignore_errors=True)
        shutil.copytree(first, database)
    word, *options = asked
    command = [program or "cassini", word, tree, *options, "--db", database if os.path.exists(first) else first, "--jobs", str(jobs)]
    path = lambda name: os.path.normpath(os.path.join(tree, name))
    return [
        Finding(row["rule"], row["function"], row["line"], row["message"],
                tuple((step["line"], path(step["file"])) for step in row["trace"]), path(row["file"]))
        for row in report(command, tree, folder)
    ]


def report(command, directory, folder):
    path = os.path.join(folder, "report.json")
    done = subprocess.run([*command, "--format", "json", "--output", path], cwd=directory, capture_output=True,
                          text=True, errors="replace", timeout=600)
    if done.returncode not in (0, 1):
        raise Failed(done.stderr)
    with open(path) as file:
        return json.load(file)["findings"]


WARNING = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? ?(?P<text>.*)$", re.MULTILINE)
ABOUT_LOCKS = re.compile(r"lock|context|sleep|irq|mutex|semaphore|atomic", re.IGNORECASE)


def sparse(unit, copy, folder, program):
    kernel = ["-D__linux__", "-Dlinux", "-D__STDC__", "-Dunix", "-D__unix__", "-D__x86_64__", "--arch=x86", "-mlittle-endian", "-m64"]
    done = unit.run([program or "sparse", "-Wcontext", *kernel], without_iquote(unit, copy))
    if "unable to open" in done.stderr:
        raise Failed(done.stderr)
    for match in located(done.stderr, copy):
        found = re.match(r"(?:warning: )?context (?:imbalance|problem) in '(\w+)'(.*)", match["text"])
        if found:
            kind = "unexpected unlock" if "unexpected" in found[2] else "wrong count" if "wrong" in found[2] else "imbalance"
            yield Finding(f"context/{kind}", found[1], int(match["line"]), match["text"])


def without_iquote(unit, copy):
    """The arguments for Sparse and what is made of it, which do not know -iquote."""
    _, folder, *options, copy = unit.arguments_for(copy)
    return [*options, "-I", folder, copy]


def smatch(unit, copy, folder, program):
    done = unit.run([program or "smatch", "-p=kernel"], without_iquote(unit, copy))
    for match in located(done.stdout, copy):
        found = re.match(r"(\w+)\(\) (?:warn|error): (.*)", match["text"])
        if found and ABOUT_LOCKS.search(found[2]):
            yield Finding(re.sub(r"'[^']*'|\d+", "…", found[2]), found[1], int(match["line"]), found[2])


def clang(unit, copy, folder, program):
    known = [word for word in unit.arguments_for(copy) if not word.startswith(("-m", "-f"))]
    checkers = "-analyzer-checker=unix,core,alpha.unix.PthreadLock,alpha.unix.BlockInCriticalSection,alpha.core.C11Lock"
    command = [program or "clang", "--analyze", "-Qunused-arguments", "-Wno-everything", "-Xclang", checkers, "-Xclang", "-analyzer-output=text"]
    done = unit.run(command, known)
    if "error:" in done.stderr:
        raise Failed(done.stderr)
    for match in located(done.stderr, copy):
        if match["text"].startswith("warning:") and ABOUT_LOCKS.search(match["text"]):
            yield Finding(match["text"].rsplit("[", 1)[-1].rstrip("]"), "", int(match["line"]), match["text"])


def coccinelle(unit, copy, folder, program):
    """The kernel's own scripts for locks, of the tree that the unit is from."""
    scripts = os.path.join(unit.directory, "scripts", "coccinelle", "locks")
    if not os.path.isdir(scripts):
        raise Failed(f"no {scripts}")
    for script in sorted(os.listdir(scripts)):
        options = ["--very-quiet", "--no-includes", "--include-headers", "-D", "report", "--timeout", "60"]
        done = unit.run([program or "spatch", *options, "--cocci-file", os.path.join(scripts, script)], [copy])
        for match in located(done.stdout, copy):
            yield Finding(script.removesuffix(".cocci"), "", int(match["line"]), match["text"])


def located(output, copy):
    """The lines of a report that are about the file itself."""
    for match in WARNING.finditer(output):
        if os.path.basename(match["file"]) == os.path.basename(copy):
            yield match


ANALYSERS = {"cassini": cassini, "sparse": sparse, "smatch": smatch, "clang": clang, "coccinelle": coccinelle}


def findings(analyser, unit, copy, folder, program):
    try:
        return list(analyser(unit, copy, folder, program))
    except (subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
        raise Failed(str(error)) from error


def whole(name, tree, folder, program, jobs, asked):
    """`asked`: the command of Cassini's, and its options."""
    if name != "cassini":
        raise Failed(f"{name} is run on single units only")
    try:
        return whole_cassini(tree, folder, program, jobs, asked)
    except (subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
        raise Failed(str(error)) from error
