"""Compile commands: those of a tree, and the same for a changed copy of a unit that lies elsewhere.

The copy is compiled in the same folder and with the original's folder first among those of `#include "…"`, so
that nothing is ever written into the tree.
"""

import collections
import json
import os
import re
import shlex
import subprocess

from . import wrappers
from .locks import KERNEL, RECURSIVE, USER, Vocabulary

# Options that write something, with and without a value of their own.
WRITES_WITH_VALUE = {"-o", "-MF", "-MT", "-MQ"}
WRITES = ("-MD", "-MMD", "-MP", "-c", "-Wp,-MMD", "-Wp,-MD", "-save-temps")
STRICT = ["-fsyntax-only", "-Wno-error", "-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types",
          "-Werror=int-conversion"]


class Unit:
    """One C file of a tree and how it is compiled; `name` is its path in the tree."""

    def __init__(self, tree, entry):
        self.tree = tree
        self.directory = os.path.normpath(os.path.join(tree, entry.get("directory", ".")))
        self.path = os.path.normpath(os.path.join(self.directory, entry["file"]))
        self.name = os.path.relpath(self.path, tree)
        words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
        self.compiler, self.options = words[0], []
        words = iter(words[1:])
        for word in words:
            if word in WRITES_WITH_VALUE:
                next(words, None)
            elif not word.startswith(WRITES) and os.path.normpath(os.path.join(self.directory, word)) != self.path:
                self.options.append(word)

    def read(self):
        return read(self.path)

    def arguments_for(self, copy):
        """The command's arguments with the file `copy` in the unit's place."""
        return ["-iquote", os.path.dirname(self.path), *self.options, copy]

    def write_copy(self, folder, text):
        """Puts the text into `folder` under the unit's file name and a compile_commands.json beside it."""
        copy = os.path.join(os.path.abspath(folder), os.path.basename(self.path))
        with open(copy, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        command = [self.compiler, *self.arguments_for(copy)[:-1], "-c", copy]
        with open(os.path.join(folder, "compile_commands.json"), "w") as file:
            json.dump([{"directory": self.directory, "file": copy, "arguments": command}], file)
        return copy

    def run(self, program, arguments, timeout=120):
        command = [*program, *arguments]
        return subprocess.run(command, cwd=self.directory, capture_output=True, text=True, errors="replace", timeout=timeout)

    def compiles(self, copy):
        return self.run([self.compiler], [*self.arguments_for(copy), *STRICT]).returncode == 0

    def assembly(self, copy):
        """What the compiler makes of the copy, "" if it cannot; code that nothing reaches in this configuration is not in it."""
        options = [option for option in self.options if not option.startswith("-g")]
        done = self.run([self.compiler], ["-iquote", os.path.dirname(self.path), *options, "-S", "-o", "-", copy])
        return done.stdout if done.returncode == 0 else ""

    def compiled_lines(self, copy):
        """The numbers of the file's lines that the preprocessor leaves in, with what it makes of them."""
        done = self.run([self.compiler], [*self.arguments_for(copy), "-E"])
        lines, number, within = {}, 0, False
        for line in done.stdout.splitlines():
            marker = re.match(r'# (\d+) "(.*)"', line)
            if marker:
                number, within = int(marker[1]), marker[2] == copy
                continue
            if within and line.strip():
                lines[number] = lines.get(number, "") + "".join(line.split())
            number += 1
        return lines if done.returncode == 0 else {}


def vocabularies(tree, units):
    """For each file of the tree, C file or header, the lock operations that it may use, by its path.

    A kernel's are those of Linux: it is compiled with -D__KERNEL__, or calls them and nothing that user space has.
    """
    texts = {unit.path: unit.read() for unit in units}
    user, kernel = Vocabulary(USER), Vocabulary(KERNEL, kernel=True)
    calls = lambda vocabulary: any(vocabulary.call.search(text) for text in texts.values())
    is_kernel = any(option.startswith("-D__KERNEL__") for unit in units for option in unit.options)
    if is_kernel or calls(kernel) and not calls(user):
        return collections.defaultdict(lambda: kernel)
    for folder, _, files in os.walk(tree):
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith(".h") and os.path.isfile(path):
                texts[path] = read(path)
    recursive = any(RECURSIVE.search(text) for text in texts.values())
    return wrappers.vocabularies(texts, Vocabulary(USER, recursive=recursive))


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def load(tree, paths=()):
    """The C units of the tree, each file once, in the order of their names; only below `paths` if there are any."""
    with open(os.path.join(tree, "compile_commands.json")) as file:
        units = {unit.name: unit for unit in (Unit(tree, entry) for entry in json.load(file)) if unit.name.endswith(".c")}
    wanted = [os.path.normpath(path) for path in paths]
    below = lambda name: not wanted or any(name == path or name.startswith(path + "/") for path in wanted)
    return [units[name] for name in sorted(units) if below(name) and os.path.exists(units[name].path)]
