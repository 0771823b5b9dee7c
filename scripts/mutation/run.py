"""`scripts/mutate run` and `table`: analyses each unit, or each tree, as it is and mutated, and counts what is new."""

import collections
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from . import analysers, tree
from .families import all_kinds, family
from .progress import progress
from .source import Source


def run(arguments):
    with open(os.path.join(arguments.out, "mutants.jsonl")) as file:
        origin, *mutants = map(json.loads, file)
    planted = family(origin.get("bugs", "locks"))
    known = planted.analysers
    if arguments.analyser not in known:
        sys.exit(f"mutate: {arguments.analyser} is not run on this set; there are {', '.join(sorted(known))}")
    if not arguments.whole and not known[arguments.analyser]:
        sys.exit("mutate: races are looked for in whole trees; add --whole")
    if arguments.limit and arguments.limit < len(mutants):
        mutants = [mutants[at * len(mutants) // arguments.limit] for at in range(arguments.limit)]
    units = {(unit.tree, unit.name): unit for root in origin["trees"] for unit in tree.load(root)}
    groups = collections.defaultdict(list)
    for mutant in mutants:
        groups[(mutant["tree"], "" if arguments.whole else mutant["file"])].append(mutant)
    result = {"analyser": arguments.analyser, "lines": 0, "files": 0, "unmutated": [], "mutants": []}
    path = arguments.json or os.path.join(arguments.out, arguments.analyser + ".json")

    def save():
        with open(path, "w") as file:
            json.dump(result, file, indent=1)
        progress(f"{len(result['mutants'])} of {len(mutants)}")

    for root, name in sorted(groups):
        if arguments.whole:
            run_tree(arguments, root, units, groups[root, name], result, save, planted.command)
        else:
            run_file(arguments, known[arguments.analyser], units[root, name], groups[root, name], result)
        save()
    print_table([result])


def run_file(arguments, analyser, unit, mutants, result):
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
            found = analysers.findings(analyser, unit, copy, folder, program)
            source = Source(text)
            return [(finding, functions(finding, {"": source})) for finding in found]

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


def run_tree(arguments, root, units, mutants, result, save, command):
    """The same with the whole tree analysed each time: as it is, then with one mutant in each file, from the first run's database."""
    program = os.path.abspath(arguments.binary) if arguments.binary else None
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(os.path.realpath(folder), "tree")
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cassini"))
        with open(os.path.join(root, "compile_commands.json")) as file:
            commands = re.sub(re.escape(root) + r"(?![\w.-])", lambda _: copy, file.read())
        with open(os.path.join(copy, "compile_commands.json"), "w") as file:
            file.write(commands)

        def analyse():
            return analysers.whole(arguments.analyser, copy, folder, program, arguments.jobs, command)

        def within(found, changed=()):
            sources = {path: Source(text) for path, text in changed}
            return [(finding, functions(finding, sources)) for finding in found]

        try:
            unmutated = analyse()
        except analysers.Failed as error:
            result["mutants"] += [verdict(mutant, "failed", str(error)[-500:]) for mutant in mutants]
            return
        files = sorted({mutant["file"] for mutant in mutants})
        result["files"] += len(files)
        result["lines"] += sum(units[root, name].read().count("\n") for name in files)
        result["unmutated"] += [f"{os.path.relpath(finding.file, copy)}:{finding}" for finding in unmutated
                                if os.path.relpath(finding.file, copy) in files]
        for batch in batches(mutants):
            planted = []
            for mutant in batch:
                unit = units[root, mutant["file"]]
                changed = os.path.join(copy, unit.name)
                try:
                    text = patched(unit, os.path.join(arguments.out, mutant["patch"]), folder)
                except analysers.Failed as error:
                    result["mutants"].append(verdict(mutant, "failed", str(error)[-500:]))
                    continue
                with open(changed, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                    file.write(text)
                planted.append((mutant, unit, changed, text))
            try:
                found = analyse()
                result["mutants"] += [judge(mutant, within(unmutated), within(found, [(changed, text)]), changed)
                                      for mutant, _, changed, text in planted]
            except analysers.Failed as error:
                result["mutants"] += [verdict(mutant, "failed", str(error)[-500:]) for mutant, *_ in planted]
            for _, unit, changed, _ in planted:
                shutil.copy2(unit.path, changed)
            save()


def batches(mutants):
    """Mutants that are planted together: one of each file, so that a finding in a file, or by way of it, is its mutant's."""
    by_file = collections.defaultdict(list)
    for mutant in mutants:
        by_file[mutant["file"]].append(mutant)
    for row in itertools.zip_longest(*by_file.values()):
        yield [mutant for mutant in row if mutant]


def functions(finding, sources):
    """The finding's function, then those of the changed file that its trace shows. `sources`: that file, by its path."""
    source = sources.get("") or sources.get(finding.file)
    own = finding.function or (source.function_at(finding.line) if source else "")
    return [own, *(sources[file].function_at(line) for line, file in finding.steps if file in sources)]


def judge(mutant, before, after, changed=""):
    """A finding is new if its function has more of its rule than it had. `changed`: the mutated file of a whole tree."""
    known = collections.Counter((finding.rule, finding.file, within[0]) for finding, within in before)
    new = []
    for finding, within in after:
        key = finding.rule, finding.file, within[0]
        if known[key]:
            known[key] -= 1
        else:
            new.append((finding, within))
    here = [finding for finding, within in new
            if mutant["function"] in (within if finding.file == changed else within[1:])]
    word = "found" if here else "elsewhere" if new else "missed"
    return verdict(mutant, word, "; ".join(map(str, here or [finding for finding, _ in new])))


def verdict(mutant, word, report):
    return {key: mutant[key] for key in ("id", "kind", "tree", "file", "function", "line")} | {"verdict": word, "report": report}


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
    rows = [kind for kind in all_kinds() if any(row["kind"] == kind for result in results for row in result["mutants"])]
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
