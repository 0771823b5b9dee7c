"""The text of one case: its files, functions and prototypes.

In: functions as lists of lines, file by file. Out: `Program.files`, a {name: text}. A brace at the end of a line indents what
follows; templates are written without indentation.
"""

from . import support


class Program:
    def __init__(self, title):
        self.title, self.chunks, self.shared = title, {}, []
        self.entries = []

    def top(self, file, *lines):
        """A declaration or definition at file scope."""
        self.chunks.setdefault(file, []).append("\n".join(indented(lines)))

    def text(self, file, text):
        """Text that is written out already."""
        self.chunks.setdefault(file, []).append(text)

    def header_text(self, text):
        self.shared.append(text)

    def header(self, *lines):
        """What all files of the case see."""
        self.shared.append("\n".join(indented(lines)))

    def function(self, file, head, lines, static=False):
        """A function; one that is not static has its prototype in the header."""
        if not static:
            self.shared.append(f"{head};")
        self.top(file, f"{'static ' if static else ''}{head}", "{", *lines, "}")

    def entry(self, name):
        """A function that main calls."""
        self.entries.append(name)

    def files(self):
        yield "suite.h", support.HEADER
        yield "suite.c", support.SOURCE
        header = "\n\n".join(unique(self.shared))
        yield "case.h", f"/* {self.title} */\n#ifndef CASE_H\n#define CASE_H\n\n#include \"suite.h\"\n\n{header}\n\n#endif\n"
        for file, chunks in self.chunks.items():
            body = "\n\n".join(unique(chunks))
            yield f"{file}.c", f"/* {self.title} */\n#include \"case.h\"\n\n{body}\n"
        yield "main.c", self.main()

    def main(self):
        calls = ["if (argc > 1) {", "bad();", "return 0;", "}", *(f"{name}();" for name in self.entries if name != "bad")]
        lines = ["int main(int argc, char **argv)", "{", *calls, "return argv[0] == NULL;", "}"]
        return '#include "case.h"\n\n' + "\n".join(indented(lines)) + "\n"


def unique(chunks):
    return list(dict.fromkeys(chunks))


def indented(lines):
    depth = 0
    for line in lines:
        line = line.strip()
        if line.startswith("}"):
            depth -= 1
        outdent = line.startswith(("case ", "default:")) or (line.endswith(":") and line[:-1].isidentifier())
        yield "    " * max(0, depth - outdent) + line if line and not line.startswith("#") else line
        if line.rstrip(" \\").endswith("{"):
            depth += 1


def split(text):
    """A template's statements, one to a line; a brace that is alone on its line goes to the head before it."""
    lines = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line == "{" and lines and lines[-1].startswith(("if ", "while ", "for ", "else")):
            lines[-1] += " {"
        else:
            lines.append(line)
    return lines
