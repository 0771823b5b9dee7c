"""Stories: programs as people write them, from `stories/*.c`, with one flaw in each of their variants.

A template's lines belong to all variants, but for those that end in `// bad2` (only in that one), `// not bad2` (in all others) or
`// good`. Its head names the variants, `// bad1: CWE RULE words`
(`RULE, unseen` where the flaw does not show when the program is run); `// ---- header`, `// ---- a` begin a file's text. A section is
written for the bad variant and for the good one, with `@` for `bad` and `good`; one whose line says `shared` is written once.
"""

import os
import re

from .program import Program

FOLDER = os.path.join(os.path.dirname(__file__), "stories")
VARIANT = re.compile(r"^// (bad\d+): (\d+) ([\w/-]+)(, unseen)? (.*)$", re.MULTILINE)
SECTION = re.compile(r"^// ---- (\w+)( shared)?\n", re.MULTILINE)
MARK = re.compile(r"\s*// (not )?((?:good|bad\d+)(?: bad\d+)*)$")


class Story:
    def __init__(self, path):
        self.name = os.path.basename(path).removesuffix(".c")
        with open(path) as file:
            head, *self.sections = SECTION.split(file.read())
        self.variants = {name: (int(cwe), rule, unseen, words) for name, cwe, rule, unseen, words in VARIANT.findall(head)}
        self.files = len({file for file in self.sections[0::3] if file != "header"})

    def write(self, variant):
        cwe, *_, words = self.variants[variant]
        program = Program(f"CWE-{cwe}: {words}.")
        for file, shared, text in zip(self.sections[0::3], self.sections[1::3], self.sections[2::3]):
            add = program.header_text if file == "header" else lambda text: program.text(file, text)
            if shared or file == "header":
                add(chosen(text, variant))
            else:
                for role, name in (("bad", variant), ("good", "good")):
                    text_of_role = chosen(text, name).replace("@", role)
                    add(text_of_role)
        for role in ("bad", "good"):
            program.header(f"void {role}(void);")
            program.entry(role)
        return program


def chosen(text, variant):
    """The lines of one variant."""
    lines = []
    for line in text.splitlines():
        mark = MARK.search(line)
        if not mark or (variant in mark[2].split()) != bool(mark[1]):
            lines.append(line[: mark.start()] if mark else line)
    return "\n".join(lines).strip("\n")


def all_stories():
    return [Story(os.path.join(FOLDER, name)) for name in sorted(os.listdir(FOLDER)) if name.endswith(".c")]
