"""The flows: what stands between source and sink of a case. Each makes a `Program` of a `Flaw`."""

import functools

from . import data_flows as data
from .controls import CONTROLS, block
from .flaws import WORDS
from .program import Program, split


class Part:
    """One function that main calls, bad or good, with what it calls: its source and its sink in their control flow.

    `dead`: which of the two has the bad one before it, in code that is never executed.
    """

    def __init__(self, program, flaw, name, source, sink, control, dead=""):
        self.program, self.flaw, self.name = program, flaw, name
        self.is_bad, self.tops = name == "bad", []
        dead_source = self.text(flaw.bad_source) if dead == "source" else []
        dead_sink = self.text(flaw.bad_sink) if dead == "sink" else []
        self.source = control.around(self, "from_here", self.text(source), dead_source)
        self.sink = control.around(self, "at_last", self.text(sink), dead_sink)

    def text(self, template):
        return [line.replace("@", self.name) for line in split(template)]

    def instead(self, place):
        """What is right in place of the bad source or sink; nothing in a good part."""
        if not self.is_bad:
            return []
        return self.text(self.flaw.good_source if place == "from_here" else self.flaw.good_sink)

    def top(self, *lines):
        """A declaration that the control flow needs in every file with it."""
        self.tops += [line for line in lines if line not in self.tops]

    def declared(self, name):
        kind = self.flaw.type.strip()
        return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}".strip()

    def initial(self, name="data"):
        return f"{self.declared(name)} = {self.flaw.initial};"

    def begin(self, name="data"):
        """The declarations of the function that has the source."""
        return [self.initial(name), *self.used(self.flaw.local, self.source)]

    def used(self, declarations, lines):
        """Those of the declarations whose variable is in the lines."""
        text = "\n".join(lines)
        return [line for line in self.text(declarations) if declared_name(line) in text]

    def write_tops(self, file, lines, has_source):
        """The lines, and in the file what they need. Names differ from file to file, so that all can be one translation unit."""
        for line in self.tops:
            name = declared_name(line)
            if name in "\n".join(lines):
                own = name if file == "a" else f"{name}_{file}"
                self.program.top(file, line.replace(name, own))
                lines = [text.replace(name, own) for text in lines]
        for line in self.used(self.flaw.top, lines) if has_source else []:
            self.program.top(file, line)
        return lines

    def function(self, file, suffix, lines, parameters="void", static=False, has_source=False):
        lines = self.write_tops(file, lines, has_source)
        self.program.function(file, f"void {self.name}{suffix}({parameters})", lines, static)

    def source_function(self, file, lines, static):
        lines = self.write_tops(file, lines, True)
        self.program.function(file, f"{self.declared(self.name)}_source(void)", lines, static)

    def entry(self, lines):
        self.function("a", "", lines, has_source=True)
        self.program.entry(self.name)


def declared_name(line):
    """The name that a declaration at file scope or at the head of a function declares."""
    head = line.split("=")[0].split("[")[0].split("(")[0]
    return head.replace(";", "").replace("*", " ").split()[-1]


def title(flaw, flow):
    return f"CWE-{flaw.cwe}: {WORDS[flaw.cwe]} ({flaw.name}, {flow})."


def parts(program, flaw, control):
    make = functools.partial(Part, program, flaw)
    yield make("bad", flaw.bad_source, flaw.bad_sink, control)
    for dead in (True, False) if control.dead else (False,):
        number = "" if not control.dead else "_1" if dead else "_2"
        if flaw.good_source:
            yield make(f"good_source{number}", flaw.good_source, f"{flaw.bad_sink}\n{flaw.tail}", control, "source" if dead else "")
        if flaw.good_sink:
            yield make(f"good_sink{number}", flaw.bad_source, flaw.good_sink, control, "sink" if dead else "")


class Flow:
    """A control flow around source and sink, and a way of the value. `apart`: the source's function ends before the sink."""

    def __init__(self, control, way, apart=False, holds=False):
        self.control, self.way, self.apart, self.holds = CONTROLS[control], way, apart, holds

    def fits(self, flaw):
        return not (self.apart and flaw.local) and not (self.holds and not flaw.held)

    def write(self, program, flaw):
        for part in parts(program, flaw, self.control):
            self.way(part)


class Correlated:
    """Two conditions that are one: bad source with bad sink, or bad source with good sink and good source with bad sink."""

    def fits(self, flaw):
        return bool(flaw.good_source and flaw.good_sink)

    def write(self, program, flaw):
        safe = f"{flaw.bad_sink}\n{flaw.tail}"
        for name, first, second in (("bad", flaw.bad_sink, safe), ("good", flaw.good_sink, safe)):
            part = Part(program, flaw, name, flaw.bad_source, first, CONTROLS["straight"])
            part.source = [*block("if (chosen)", part.source), *block("else", part.text(flaw.good_source))]
            part.sink = [*block("if (chosen)", part.sink), *block("else", part.text(second))]
            part.entry(["int chosen = suite_either();", *part.begin(), *part.source, *part.sink])


class FlagToSink:
    """A function that is told by an argument, or by a global, whether to do the good thing or the bad one."""

    def __init__(self, by_global=False, files=1):
        self.by_global, self.files = by_global, files

    def fits(self, flaw):
        return bool(flaw.good_sink)

    def write(self, program, flaw):
        shared = Part(program, flaw, "finish", flaw.good_sink, flaw.bad_sink, CONTROLS["straight"])
        lines = [*block("if (careful)", shared.source), *block("else", shared.sink)]
        file, static = data.FILES[self.files - 1], self.files == 1
        if self.by_global:
            if static:
                program.top("a", "static int careful;")
            else:
                program.header("extern int careful;")
                program.top(file, "int careful;")
        extra = "" if self.by_global else ", int careful"
        program.function(file, f"void finish({shared.declared('data')}{extra})", lines, static)
        for name, careful in (("bad", 0), ("good", 1)):
            part = Part(program, flaw, name, flaw.bad_source, "", CONTROLS["straight"])
            call = [f"careful = {careful};", "finish(data);"] if self.by_global else [f"finish(data, {careful});"]
            part.entry([*part.begin(), *part.source, *call])


class FlagToSource:
    """A function that is told by an argument whether to make the good value or the bad one."""

    def fits(self, flaw):
        return bool(flaw.good_source) and not flaw.local

    def write(self, program, flaw):
        shared = Part(program, flaw, "obtain", flaw.good_source, flaw.bad_source, CONTROLS["straight"])
        lines = [shared.initial(), *block("if (sound)", shared.source), *block("else", shared.sink), "return data;"]
        shared.write_tops("b", lines, True)
        program.function("b", f"{shared.declared('obtain')}(int sound)", lines)
        for name, sound, sink in (("bad", 0, flaw.bad_sink), ("good", 1, f"{flaw.bad_sink}\n{flaw.tail}")):
            part = Part(program, flaw, name, "", sink, CONTROLS["straight"])
            part.entry([f"{part.declared('data')} = obtain({sound});", *part.sink])


def ways():
    """name: (control, way, apart, holds)."""
    with_files = lambda way, **more: functools.partial(way, **more)
    for name in CONTROLS:
        yield name, Flow(name, data.straight)
    yield "correlated", Correlated()
    yield "flag_to_sink", FlagToSink()
    yield "flag_to_sink_2_files", FlagToSink(files=2)
    yield "flag_by_global", FlagToSink(by_global=True)
    yield "flag_by_global_2_files", FlagToSink(by_global=True, files=2)
    yield "flag_to_source_2_files", FlagToSource()
    for name, way in {
        "copy": data.copy, "parameter": data.parameter, "in_header": data.in_header, "macro": data.macro,
        **{f"parameter_{files}_files": with_files(data.parameter, files=files) for files in (2, 3, 4, 5)},
        "pointer_alias": data.pointer_alias, "array": data.array, "array_2_files": with_files(data.array, files=2),
        "record": data.record, "record_2_files": with_files(data.record, files=2, pointer=True), "union": data.union,
        "function_pointer": data.function_pointer, "function_table_2_files": data.function_table,
        "list_node": data.list_node, "list_node_3_files": with_files(data.list_node, files=3),
        "void_pointer": data.void_pointer, "void_pointer_2_files": with_files(data.void_pointer, files=2), "callback_2_files": data.callback,
    }.items():
        yield name, Flow("straight", way)
    yield "returned", Flow("straight", data.returned, apart=True)
    yield "returned_2_files", Flow("straight", with_files(data.returned, files=2), apart=True)
    yield "returned_passed_3_files", Flow("straight", with_files(data.returned, files=2, passed=True), apart=True)
    yield "out_parameter", Flow("straight", data.out_parameter, apart=True)
    yield "out_parameter_2_files", Flow("straight", with_files(data.out_parameter, files=2), apart=True)
    yield "record_filled_3_files", Flow("straight", data.record_filled, apart=True)
    yield "global_static", Flow("straight", data.global_static, holds=True)
    yield "global_2_files", Flow("straight", data.global_files, holds=True)
    yield from combined(with_files)


def combined(with_files):
    yield "opaque_function_returned_3_files", Flow("opaque_function", with_files(data.returned, files=2, passed=True), apart=True)
    yield "opaque_global_list_3_files", Flow("opaque_global", with_files(data.list_node, files=3))
    yield "static_global_parameter_2_files", Flow("static_global", with_files(data.parameter, files=2))
    yield "if_constant_parameter_5_files", Flow("if_constant", with_files(data.parameter, files=5))
    yield "switch_record_2_files", Flow("switch", with_files(data.record, files=2, pointer=True))
    yield "while_out_parameter_2_files", Flow("while", with_files(data.out_parameter, files=2), apart=True)
    yield "goto_function_pointer", Flow("goto", data.function_pointer)
    yield "for_array_2_files", Flow("for", with_files(data.array, files=2))
    yield "either_parameter_3_files", Flow("either", with_files(data.parameter, files=3))
    yield "either_record_filled_3_files", Flow("either", data.record_filled, apart=True)
    yield "opaque_constant_function_table", Flow("opaque_constant", data.function_table)
    yield "do_global_2_files", Flow("do", data.global_files, holds=True)


FLOWS = dict(ways())


def write(flaw, flow):
    program = Program(title(flaw, flow))
    FLOWS[flow].write(program, flaw)
    return program
