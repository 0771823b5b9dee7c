"""`scripts/suite make` and `check`: writes the cases, and proves that they are C and that the good ones are good."""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import tempfile

from . import flows
from .flaws import RULES, all_flaws
from .stories import all_stories

EACH = 2  # flaws for each CWE and flow, unless all are wanted
MANY_FILES = re.compile(r"_[345]_files")  # one for each of these flows


def make(arguments):
    for cwe in RULES:
        shutil.rmtree(os.path.join(arguments.out, f"cwe{cwe}"), ignore_errors=True)
    rows = []
    for row, program in cases(arguments):
        folder = os.path.join(arguments.out, row["case"])
        os.makedirs(folder)
        for name, text in program.files():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        rows.append(row)
    with open(os.path.join(arguments.out, "cases.jsonl"), "w") as listing:
        for row in rows:
            print(json.dumps(row), file=listing)
    for cwe in sorted({row["cwe"] for row in rows}):
        print(f"{sum(row['cwe'] == cwe for row in rows):5} CWE-{cwe}")
    goods = sum(len(row["good"]) for row in rows)
    print(f"{len(rows):5} cases with {goods} good functions in {len({row['flow'] for row in rows})} flows")


def cases(arguments):
    """(row of the listing, program) for each case."""
    everything = all_flaws()
    for cwe in sorted(RULES):
        if arguments.cwe and cwe not in arguments.cwe:
            continue
        for flow in flows.FLOWS:
            if arguments.flow and flow not in arguments.flow:
                continue
            for flaw in chosen([flaw for flaw in everything if flaw.cwe == cwe], flow, arguments.full):
                program = flows.write(flaw, flow)
                yield described(cwe, f"{flaw.name}.{flow}", flow, flaw.rule, program, flaw.shows), program
        for story in all_stories():
            flow = f"story_{story.files}_file{'s' if story.files > 1 else ''}"
            for variant, (own, rule, unseen, _) in story.variants.items():
                if own == cwe and not (arguments.flow and flow not in arguments.flow and "story" not in arguments.flow):
                    program = story.write(variant)
                    yield described(cwe, f"{story.name}.{variant}", flow, rule, program, not unseen), program


def chosen(flaws, flow, full):
    """All flaws that fit with the first flow and where all are wanted; otherwise a few, others for each flow."""
    fitting = [flaw for flaw in flaws if flows.FLOWS[flow].fits(flaw)]
    each = 1 if MANY_FILES.search(flow) else EACH
    if full or flow == "straight" or len(fitting) <= each:
        return fitting
    start = EACH * list(flows.FLOWS).index(flow)
    return [fitting[(start + number) % len(fitting)] for number in range(each)]


def described(cwe, name, flow, rule, program, shows):
    return {"case": f"cwe{cwe}/{name}", "cwe": cwe, "flow": flow, "rule": rule, "shows": shows,
            "good": [entry for entry in program.entries if entry != "bad"]}


def load(arguments):
    """The rows of the listing; evenly taken ones if only so many are wanted."""
    with open(os.path.join(arguments.out, "cases.jsonl")) as file:
        rows = [json.loads(line) for line in file]
    limit = arguments.limit or len(rows)
    return rows if limit >= len(rows) else [rows[at * len(rows) // limit] for at in range(limit)]


def sources(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".c"))


def concatenated(folder, place):
    """All files of the case in one, with their own names and line numbers."""
    path = os.path.join(place, "all.c")
    with open(path, "w") as whole:
        for name in sources(folder):
            with open(os.path.join(folder, name)) as file:
                print(f'#line 1 "{name}"\n{file.read()}', file=whole)
    return path


def check(arguments):
    rows = load(arguments)
    prove = run_good if arguments.execute else compiles
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        wrong = 0
        for row, words in zip(rows, pool.map(lambda row: prove(arguments.out, row), rows)):
            if words:
                wrong += 1
                print(f"{row['case']}: {words}", flush=True)
    print(f"{len(rows) - wrong} of {len(rows)} cases are as they are to be")
    return 1 if wrong else 0


def compiles(out, row):
    folder = os.path.join(out, row["case"])
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(["gcc", "-Wall", "-fsyntax-only", "-I", folder, concatenated(folder, place)], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


# What the sanitizers say where they have no words for a CWE: these good functions leave no descriptor open, and no lock taken.
SANITIZED = ["-g", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-w"]


def run_good(out, row):
    """The good functions are run under the sanitizers, twice: the conditions that nobody knows are both."""
    folder = os.path.join(out, row["case"])
    with tempfile.TemporaryDirectory() as place:
        program = os.path.join(place, "program")
        done = subprocess.run(["gcc", *SANITIZED, *sources(folder), "-o", program], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        for more in ({}, {"SUITE_EITHER": "1"}):
            words = failure([program], more)
            if words:
                return words
        # The flaw of a case of memory must show in one of the two, or the case has none.
        shown = any(failure([program, "bad"], more) for more in ({}, {"SUITE_EITHER": "1"}))
        return "" if shown or not row["shows"] or row["rule"] not in SHOWN else "the bad function fails nowhere"


SHOWN = {"heap/double-free", "heap/use-after-free", "heap/leak", "heap/bad-free", "null/dereference"}


def failure(command, more):
    options = {"ASAN_OPTIONS": "detect_leaks=1:exitcode=99", "LSAN_OPTIONS": "exitcode=99:use_stacks=0:use_registers=0", "UBSAN_OPTIONS": "exitcode=99"}
    try:
        done = subprocess.run(command, capture_output=True, env=os.environ | options | more, timeout=20, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "does not end"
    return "" if done.returncode in (0, 1) else done.stderr.decode(errors="replace")[:600] or f"status {done.returncode}"
