"""The families of bugs: those of locks, those of memory and files, and races. Each has kinds, and what a tree's files may use."""

import os
import sys
import types

from . import analysers, kinds, memory, memory_analysers, memory_kinds, races, tree


def memory_vocabularies(root, units):
    texts = {unit.path: unit.read() for unit in units}
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith(".h") and os.path.isfile(path):
                texts[path] = tree.read(path)
    return memory.vocabularies(texts)


FAMILIES = {
    "locks": types.SimpleNamespace(KINDS=kinds.KINDS, File=kinds.File, is_bug=kinds.is_bug, kernel_only=kinds.KERNEL_ONLY, analysers=analysers.ANALYSERS, by_turns=False,
                                   command=("check", "--quiet", "--checkers", "lock"), vocabularies=tree.vocabularies),
    "memory": types.SimpleNamespace(KINDS=memory_kinds.KINDS, File=memory_kinds.File, is_bug=memory_kinds.is_bug, kernel_only=(), analysers=memory_analysers.ANALYSERS, by_turns=True,
                                    command=("check", "--quiet", "--checkers", memory_analysers.CHECKERS), vocabularies=memory_vocabularies),
    # Races are between functions, and most guards are told by other files: whole trees only.
    "races": types.SimpleNamespace(KINDS=races.KINDS, File=races.File, is_bug=races.is_bug, kernel_only=(), analysers={"cassini": None}, by_turns=True,
                                   command=("race",), vocabularies=tree.vocabularies),
}


def family(name):
    return FAMILIES[name]


def all_analysers():
    return sorted({name for planting in FAMILIES.values() for name in planting.analysers})


def all_kinds():
    return [kind for planting in FAMILIES.values() for kind in planting.KINDS]


def chosen(planting, wanted):
    """The kinds that are asked for, or all."""
    unknown = [kind for kind in wanted or [] if kind not in planting.KINDS]
    if unknown:
        sys.exit(f"mutate: no kind {unknown[0]}; there are {', '.join(planting.KINDS)}")
    return wanted or list(planting.KINDS)
