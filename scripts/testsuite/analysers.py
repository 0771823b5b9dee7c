"""The analysers that can be scored: how each is run on a case, and what CWE its reports are about.

In: a case's folder and the files to analyse. Out: `Finding`s. An analyser that cannot read the case raises `Failed`.
"""

import dataclasses
import json
import os
import re
import subprocess
import xml.etree.ElementTree

from .flaws import RULES


class Failed(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Finding:
    rule: str
    cwes: frozenset       # of which the rule may speak
    file: str
    line: int
    message: str
    function: str = ""    # "" where only the line is told
    steps: tuple = ()     # (file, line) of the trace

    def __str__(self):
        return f"{self.file}:{self.line}: {self.rule}: {self.message}"


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120, env=os.environ | {"LC_ALL": "C"})
    return done


def cassini(folder, files, program, place, level):
    """The folder as it is; `files` are for those that analyse one unit."""
    report = os.path.join(place, "report.json")
    command = [program or "cassini", "check", folder, "--checkers", "lock,heap,null,file", "--db", os.path.join(place, "db"), "--jobs", "1", "--format", "json", "--output", report, "--quiet"]
    done = run(command + (["--level", level] if level else []), folder)
    if done.returncode not in (0, 1):
        raise Failed(done.stderr[-500:])
    with open(report) as file:
        rows = json.load(file)["findings"]
    about = lambda rule: frozenset(cwe for cwe, rules in RULES.items() if rule in rules)
    for row in rows:
        steps = tuple((os.path.basename(step["file"]), step["line"]) for step in row["trace"])
        yield Finding(row["rule"], about(row["rule"]), os.path.basename(row["file"]), row["line"], row["message"], row["function"], steps)


MESSAGE = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?P<kind>warning|note|error|fatal error): (?P<text>.*)$", re.MULTILINE)


def messages(output, tell):
    """Findings of a compiler's report: a warning, with the notes that follow it as steps. `tell`: text to (rule, CWEs), or None."""
    last, steps = None, []

    def finding():
        return [] if last is None else [dataclasses.replace(last, steps=tuple(steps))]

    for match in MESSAGE.finditer(output):
        place = os.path.basename(match["file"]), int(match["line"])
        if match["kind"] == "note":
            steps.append(place)
            continue
        yield from finding()
        if "error" in match["kind"]:
            raise Failed(match[0])
        told = tell(match["text"])
        last, steps = (Finding(told[0], frozenset(told[1]), *place, match["text"]) if told else None), []
    yield from finding()


GCC = {"double-free": {415, 416}, "use-after-free": {415, 416}, "malloc-leak": {401, 404}, "file-leak": {775, 404}, "fd-leak": {775, 404},
       "null-dereference": {476, 690}, "possible-null-dereference": {476, 690}, "null-argument": {476, 690}, "possible-null-argument": {476, 690},
       "free-of-non-heap": {590, 761, 404}, "mismatching-deallocation": {404, 590, 761}, "double-fclose": {404}, "use-of-pointer-in-stale-stack-frame": {416}}


def gcc(folder, files, program, place, level):
    tell = lambda text: (found[1], GCC.get(found[1], ())) if (found := re.search(r"\[-Wanalyzer-([\w-]+)\]$", text)) else None
    for file in files:
        done = run([program or "gcc", "-fanalyzer", "-fdiagnostics-path-format=separate-events", "-I", folder, "-S", "-o", "/dev/null", file], folder)
        yield from messages(without_numbers(done.stderr), tell)


def without_numbers(text):
    return re.sub(r" \[CWE-\d+\]", "", text)


CLANG = [
    (r"Null pointer|null pointer|[Dd]ereference of null", "null", {476, 690}),
    (r"Use of memory after it is freed|Use of .* after", "use after free", {415, 416}),
    (r"Attempt to free released", "double free", {415, 416}),
    (r"Potential (?:memory )?leak|memory leak|never released", "leak", {401, 404}),
    (r"Opened stream never closed|[Rr]esource leak", "stream leak", {775, 404}),
    (r"Argument to free\(\)|offset by|not memory allocated|should not be freed|Memory allocated by", "bad free", {590, 761, 404}),
    (r"already been acquired|already been locked", "double lock", {764, 667}),
    (r"already been unlocked|already been released", "double unlock", {765, 832}),
    (r"lock", "lock", {667, 764, 765, 832}),
]


def clang(folder, files, program, place, level):
    def tell(text):
        if not re.search(r"\[(?:core|unix|alpha\.unix)\.[\w.]+\]$", text):
            return None
        return next(((word, cwes) for pattern, word, cwes in CLANG if re.search(pattern, text)), ("other", set()))

    checkers = "-analyzer-checker=core,unix,alpha.unix.PthreadLock,alpha.unix.Stream"
    for file in files:
        command = [program or "clang", "--analyze", "-Wno-everything", "-Xclang", checkers, "-Xclang", "-analyzer-output=text", "-I", folder, file]
        yield from messages(run(command, folder).stderr, tell)


CPPCHECK = {"nullPointer": {476, 690}, "nullPointerRedundantCheck": {476, 690}, "ctunullpointer": {476, 690}, "nullPointerOutOfMemory": {476, 690},
            "doubleFree": {415, 416}, "deallocuse": {416, 415}, "deallocret": {416}, "memleak": {401, 404}, "memleakOnRealloc": {401},
            "resourceLeak": {775, 404}, "autovarInvalidDeallocation": {590}, "mismatchAllocDealloc": {404, 590}, "leakNoVarFunctionCall": {401},
            "leakReturnValNotUsed": {401}, "invalidFree": {590, 761}, "useClosedFile": {404}, "ctuuninitvar": set()}


def cppcheck(folder, files, program, place, level):
    command = [program or "cppcheck", "--enable=warning", "--library=posix", "--library=gnu", "--xml", "-q", "-I", folder, *files]
    done = run(command, folder)
    for error in xml.etree.ElementTree.fromstring(done.stderr).iter("error"):
        if error.get("severity") not in ("error", "warning"):
            continue
        first, *rest = [(os.path.basename(at.get("file")), int(at.get("line"))) for at in error.iter("location")] or [("", 0)]
        yield Finding(error.get("id"), frozenset(CPPCHECK.get(error.get("id"), ())), *first, error.get("msg"), steps=tuple(rest))


ANALYSERS = {"cassini": cassini, "gcc": gcc, "clang": clang, "cppcheck": cppcheck}


def findings(name, folder, files, program, place, level):
    try:
        return list(ANALYSERS[name](folder, files, program, place, level))
    except (subprocess.TimeoutExpired, OSError, ValueError, KeyError, xml.etree.ElementTree.ParseError) as error:
        raise Failed(str(error)) from error
