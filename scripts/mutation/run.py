"""`scripts/mutate run` and `table`: analyses each unit as it is and mutated, and counts what is new."""

import collections
import json
import os
import subprocess
import tempfile

from . import analysers, tree
from .kinds import KINDS
from .progress import progress
from .source import Source


def run(arguments):
    with open(os.path.join(arguments.out, "mutants.jsonl")) as file:
        origin, *mutants = map(json.loads, file)
    if arguments.limit and arguments.limit < len(mutants):
        mutants = [mutants[at * len(mutants) // arguments.limit] for at in range(arguments.limit)]
    units = {unit.name: unit for unit in tree.load(origin["tree"])}
    by_file = collections.defaultdict(list)
    for mutant in mutants:
        by_file[mutant["file"]].append(mutant)
    result = {"analyser": arguments.analyser, "lines": 0, "files": 0, "unmutated": [], "mutants": []}
    path = arguments.json or os.path.join(arguments.out, arguments.analyser + ".json")
    for name in sorted(by_file):
        run_file(arguments, units[name], by_file[name], result)
        with open(path, "w") as file:
            json.dump(result, file, indent=1)
        progress(f"{len(result['mutants'])} of {len(mutants)}")
    print_table([result])


def run_file(arguments, unit, mutants, result):
    """Adds the unit's findings and the verdicts on its mutants to the result."""
    program = os.path.abspath(arguments.binary) if arguments.binary else None
    before = unit.read()
    result["files"] += 1
    result["lines"] += before.count("\n")
    with tempfile.TemporaryDirectory() as folder:
        sources = os.path.join(folder, "source")
        os.mkdir(sources)

        def analyse(text):
            copy = unit.write_copy(sources, text)
            found = analysers.findings(arguments.analyser, unit, copy, folder, program)
            return [(finding, functions(finding, Source(text))) for finding in found]

        try:
            unmutated = analyse(before)
        except analysers.Failed as error:
            result["mutants"] += [verdict(mutant, "failed", str(error)[-500:]) for mutant in mutants]
            return
        result["unmutated"] += [f"{unit.name}:{finding}" for finding, _ in unmutated]
        for mutant in mutants:
            try:
                text = patched(unit, os.path.join(arguments.out, mutant["patch"]), folder)
                result["mutants"].append(judge(mutant, unmutated, analyse(text)))
            except analysers.Failed as error:
                result["mutants"].append(verdict(mutant, "failed", str(error)[-500:]))


def functions(finding, source):
    """The finding's function, then those that its trace shows."""
    own = finding.function or source.function_at(finding.line)
    return [own, *(source.function_at(line) for line in finding.steps)]


def judge(mutant, before, after):
    """A finding is new if its function has more of its rule than it had."""
    known = collections.Counter((finding.rule, within[0]) for finding, within in before)
    new = []
    for finding, within in after:
        key = finding.rule, within[0]
        if known[key]:
            known[key] -= 1
        else:
            new.append((finding, within))
    here = [finding for finding, within in new if mutant["function"] in within]
    word = "found" if here else "elsewhere" if new else "missed"
    return verdict(mutant, word, "; ".join(map(str, here or [finding for finding, _ in new])))


def verdict(mutant, word, report):
    return {key: mutant[key] for key in ("id", "kind", "file", "function", "line")} | {"verdict": word, "report": report}


def patched(unit, patch, folder):
    """The unit's text with the patch applied."""
    target = os.path.join(folder, "patched")
    done = subprocess.run(["patch", "--silent", "--binary", "--output", target, unit.path, patch], capture_output=True, text=True)
    if done.returncode != 0:
        raise analysers.Failed(f"{patch} does not apply: {done.stdout}{done.stderr}")
    with open(target, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def table(arguments):
    results = []
    for path in arguments.verdicts:
        with open(path) as file:
            results.append(json.load(file))
    print_table(results)


def print_table(results):
    """A row for each kind: mutants, and what each analyser found of them."""
    rows = [kind for kind in KINDS if any(row["kind"] == kind for result in results for row in result["mutants"])]
    print("".join([f"{'kind':18}{'mutants':>9}", *(f"{result['analyser']:>18}" for result in results)]))
    for kind in [*rows, "all"]:
        cells = []
        for result in results:
            verdicts = [row["verdict"] for row in result["mutants"] if kind in (row["kind"], "all")]
            count = verdicts.count("found")
            cells.append(f"{count:>10} {100 * count / len(verdicts):5.1f} %" if verdicts else f"{'':>18}")
        count = sum(kind in (row["kind"], "all") for row in results[0]["mutants"])
        print("".join([f"{kind:18}{count:>9}", *cells]))
    for label, count in (
        ("failed", lambda result: sum(row["verdict"] == "failed" for row in result["mutants"])),
        ("elsewhere only", lambda result: sum(row["verdict"] == "elsewhere" for row in result["mutants"])),
        ("unmutated files", lambda result: result["files"]),
        ("their findings", lambda result: len(result["unmutated"])),
        ("in 10,000 lines", lambda result: f"{10000 * len(result['unmutated']) / max(1, result['lines']):.2f}"),
    ):
        print("".join([f"{label:27}", *(f"{count(result):>18}" for result in results)]))
