"""`scripts/mutate make`: chooses files and places, and writes each mutant as a patch and a line of JSON."""

import collections
import difflib
import itertools
import json
import os
import random
import re
import tempfile

from . import families, tree
from .progress import progress

SCANNED = 600  # files, where the trees take turns


def make(arguments):
    planting = families.family(arguments.bugs)
    arguments.kinds = families.chosen(planting, arguments.kinds)
    roots = [os.path.abspath(root) for root in [arguments.tree, *arguments.also]]
    units, vocabularies = [], {}
    for root in roots:
        known = planting.vocabularies(root, tree.load(root))
        own = tree.load(root, arguments.paths if root == roots[0] else ())
        vocabularies |= {unit.path: known[unit.path] for unit in own}
        units += own
    if not any(vocabulary.kernel for vocabulary in vocabularies.values()):
        arguments.kinds = [kind for kind in arguments.kinds if kind not in planting.kernel_only]
    generator = random.Random(arguments.seed)
    generator.shuffle(units)
    if planting.by_turns:
        units = by_turns(units, roots)[:SCANNED]
    proposals = propose(planting, units, vocabularies, arguments, generator)
    with tempfile.TemporaryDirectory() as folder:
        chosen = choose(proposals, arguments, Checker(planting, folder, vocabularies))
    chosen.sort(key=lambda pair: (arguments.kinds.index(pair[1].kind), pair[0].path, pair[1].line))
    os.makedirs(os.path.join(arguments.out, "patches"), exist_ok=True)
    with open(os.path.join(arguments.out, "mutants.jsonl"), "w") as listing:
        print(json.dumps({"trees": roots, "seed": arguments.seed, "bugs": arguments.bugs}), file=listing)
        for number, (unit, mutant) in enumerate(chosen, 1):
            patch = f"patches/{number:03}-{mutant.kind}.patch"
            with open(os.path.join(arguments.out, patch), "w", errors="surrogateescape", newline="") as file:
                file.write(difference(unit, mutant))
            row = {"id": number, "kind": mutant.kind, "tree": unit.tree, "file": unit.name, "function": mutant.function,
                   "line": mutant.line, "description": mutant.description, "patch": patch}
            print(json.dumps(row), file=listing)
    counts = collections.Counter(mutant.kind for _, mutant in chosen)
    for kind in arguments.kinds:
        print(f"{counts[kind]:5} {kind}")
    print(f"{len(chosen):5} mutants in {len({unit.path for unit, _ in chosen})} files")


def by_turns(units, roots):
    """A unit of each tree in turn, so that the biggest has no more than the others while they have some."""
    each = [[unit for unit in units if unit.tree == root] for root in roots]
    return [unit for turn in itertools.zip_longest(*each) for unit in turn if unit]


def difference(unit, mutant):
    before = unit.read()
    after = mutant.apply(before)
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{unit.name}", f"b/{unit.name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def propose(planting, units, vocabularies, arguments, generator):
    """Mutants by kind, in the order of the shuffled files, until each kind has some to spare."""
    proposals = {kind: [] for kind in arguments.kinds}
    enough = 6 * arguments.count // len(arguments.kinds) + 1
    for unit in units:
        wanted = [kind for kind in arguments.kinds if len(proposals[kind]) < enough]
        if not wanted:
            break
        text, vocabulary = unit.read(), vocabularies[unit.path]
        if not vocabulary.call.search(text):
            continue
        mutants = list(planting.File(text, vocabulary).mutants(arguments.kinds, generator))
        generator.shuffle(mutants)
        for mutant in mutants:
            proposals[mutant.kind].append((unit, mutant))
    return proposals


class Checker:
    """Whether a mutant is a bug, is C, and is compiled at all; what a file costs once is kept."""

    def __init__(self, planting, folder, vocabularies):
        self.planting, self.folder, self.vocabularies, self.lines, self.assembly = planting, folder, vocabularies, {}, {}

    def accepts(self, unit, mutant):
        text = unit.read()
        compiled = self.compiled(unit, text)
        if not self.planting.is_bug(mutant, text, self.vocabularies[unit.path]) or mutant.line not in compiled:
            return False
        changed = mutant.apply(text)
        copy = unit.write_copy(self.folder, changed)
        if not unit.compiles(copy) or code(unit.compiled_lines(copy)) == code(compiled):
            return False
        # Line numbers are in the assembly, too.
        normal = str if changed.count("\n") == text.count("\n") else without_numbers
        after = normal(unit.assembly(copy))
        return not after or after != normal(self.assembly_of(unit, text))

    def assembly_of(self, unit, text):
        if unit.path not in self.assembly:
            self.assembly[unit.path] = unit.assembly(unit.write_copy(self.folder, text))
        return self.assembly[unit.path]

    def compiled(self, unit, text):
        if unit.path not in self.lines:
            self.lines[unit.path] = unit.compiled_lines(unit.write_copy(self.folder, text))
        return self.lines[unit.path]


def code(lines):
    """What the preprocessor leaves of a file, without what says nothing: a lock that is defined as nothing is no bug."""
    return "".join(lines.values()).replace(";", "")


def without_numbers(assembly):
    return re.sub(r"\d+", "", assembly)


def choose(proposals, arguments, checker):
    """As many of each kind as of the others while there are some, rare kinds first, one of a kind for each function.

    Each kind opens its share of the files; what is then wanting comes from the files with the fewest mutants.
    """
    chosen, files, functions = [], collections.Counter(), collections.Counter()

    def burden(pair):
        unit, mutant = pair
        return functions[unit.path, mutant.function], files[unit.path]

    def take(kind, count, room):
        """Whether there were so many."""
        wanted = len(chosen) + count
        while len(chosen) < wanted:
            usable = [pair for pair in proposals[kind] if pair[0].path in files or len(files) < room]
            if not usable:
                return False
            unit, mutant = pair = min(usable, key=burden)
            proposals[kind].remove(pair)
            if checker.accepts(unit, mutant):
                chosen.append(pair)
                files[unit.path] += 1
                functions[unit.path, mutant.function] += 1
                same = [other for other in proposals[kind] if (other[0], other[1].function) == (unit, mutant.function)]
                for other in same:
                    proposals[kind].remove(other)
                progress(f"{len(chosen)} of {arguments.count}")
        return True

    kinds = sorted(arguments.kinds, key=lambda kind: len(proposals[kind]))
    for position, kind in enumerate(kinds):
        room = arguments.files * (position + 1) // len(kinds)
        take(kind, (arguments.count - len(chosen)) // (len(kinds) - position), max(1, room))
    while kinds and len(chosen) < arguments.count:
        kinds = [kind for kind in kinds if len(chosen) < arguments.count and take(kind, 1, arguments.files)]
    return chosen
