"""`scripts/suite run` and `table`: analyses each case, and counts the bad functions found and the good ones reported."""

import concurrent.futures
import json
import os
import re
import tempfile
import time

from mutation.source import Source

from . import analysers
from .make import concatenated, load, sources


# The functions that both halves call.
SHARED = ("finish", "obtain")


def run(arguments):
    rows = load(arguments)
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(pool.map(lambda row: judged(arguments, row), rows))
    name = arguments.analyser + (", by file" if arguments.by_file else "")
    result = {"analyser": name, "seconds": round(time.monotonic() - start), "cases": verdicts}
    path = arguments.json or os.path.join(arguments.out, name.replace(", ", "-").replace(" ", "-") + ".json")
    with open(path, "w") as file:
        json.dump(result, file, indent=1)
    print_table([result])


def judged(arguments, row):
    """The case with what was said of it: whether the flaw was found, and which good functions were reported."""
    folder = os.path.abspath(os.path.join(arguments.out, row["case"]))
    program = os.path.abspath(arguments.binary) if arguments.binary else None
    with tempfile.TemporaryDirectory() as place:
        files = sources(folder) if arguments.by_file else [concatenated(folder, place)]
        try:
            found = analysers.findings(arguments.analyser, folder, files, program, place, arguments.level)
        except analysers.Failed as error:
            return row | {"found": False, "reported": [], "failed": str(error), "reports": []}
    known = {}

    def function(file, line):
        if file not in known:
            path = os.path.join(folder, file)
            known[file] = Source(open(path).read()) if os.path.exists(path) else None
        return (known[file] and known[file].function_at(line)) or ""

    hit, reported = False, set()
    for finding in found:
        own = finding.function or function(finding.file, finding.line)
        half = owner(own, [function(*step) for step in finding.steps])
        if half in SHARED and in_else(os.path.join(folder, finding.file), finding.line):
            half = "bad"
        if half == "bad":
            hit = hit or row["cwe"] in finding.cwes
        else:
            reported.add(half)
    return row | {"found": hit, "reported": sorted(reported), "reports": [str(finding) for finding in found]}


def in_else(path, line):
    """Whether a line of a function that is told what to do lies in its `else`: that is the bad half of it."""
    with open(path) as file:
        before = file.read().splitlines()[:line]
    outermost = (text for text in reversed(before) if re.match(r" {4}(if \(|else)|\S", text))
    return next(outermost, "").startswith("    else")


def owner(own, steps):
    """Which half of the case a finding is in: that of its function, or else of its trace; a function that both halves call has no flaw."""
    for name in [own, *steps]:
        if name.startswith(("bad", "good")):
            return "bad" if name.startswith("bad") else entry(name)
    return own or "elsewhere"


def entry(name):
    """`good_sink_1` of `good_sink_1_pass_b`: the twin that the function is of."""
    return re.match(r"good(?:_source|_sink)?(?:_\d)?(?=_|$)", name)[0]


def table(arguments):
    results = []
    for path in arguments.verdicts:
        with open(path) as file:
            results.append(json.load(file))
    print_table(results)
    if arguments.missed:
        for result in results:
            for case in result["cases"]:
                words = ([] if case["found"] else ["missed"]) + [f"good reported: {name}" for name in case["reported"]]
                if words:
                    print(f"{result['analyser']}: {case['case']}: {', '.join(words + case['reports'])}")


def print_table(results):
    """A row for each CWE and for each flow: cases, and for each analyser those found and the good functions reported."""
    print(f"{'':40}{'cases':>6}" + "".join(f"{result['analyser']:>30}" for result in results))
    for key, name in (("cwe", lambda value: f"CWE-{value}"), ("flow", str)):
        values = list(dict.fromkeys(case[key] for result in results for case in result["cases"]))
        for value in values:
            print_row(name(value), results, lambda case: case[key] == value)
        print()
    print_row("all", results, lambda case: True)
    print(f"{'good functions':40}{sum(len(case['good']) for case in results[0]['cases']):>6}")
    print(f"{'failed':46}" + "".join(f"{sum('failed' in case for case in result['cases']):>30}" for result in results))
    print(f"{'seconds':46}" + "".join(f"{result['seconds']:>30}" for result in results))


def print_row(name, results, wanted):
    cells = []
    for result in results:
        cases = [case for case in result["cases"] if wanted(case)]
        found, wrong = sum(case["found"] for case in cases), sum(len(case["reported"]) for case in cases)
        share = f"{100 * found / len(cases):5.1f} %" if cases else ""
        precision = f"{found / (found + wrong):.2f}" if found + wrong else "-"
        cells.append(f"{found:>9} {share}{wrong:>7} {precision:>5}")
    print(f"{name:40}{sum(map(wanted, results[0]['cases'])):>6}" + "".join(f"{cell:>30}" for cell in cells))
