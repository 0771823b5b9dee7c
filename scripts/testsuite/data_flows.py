"""The ways of a value from its source to its sink. Each is a function that writes the functions of one `Part`.

The function that main calls has the part's name; what it calls has that name, too, with more behind it, so that every function says
by its name whether it is of the bad half or of a good one.
"""

FILES = "abcde"


def straight(part):
    part.entry([*part.begin(), *part.source, *part.sink])


def copy(part):
    part.entry([*part.begin(), *part.source, f"{part.declared('second')} = data;", "{", f"{part.declared('data')} = second;", *part.sink, "}"])


def parameter(part, files=1):
    """Through as many files as there are, by a function in each."""
    last = FILES[files - 1]
    part.function(last, "_sink", part.sink, part.declared("data"), static=files == 1)
    callee = "_sink"
    for file in reversed(FILES[1 : files - 1]):
        part.function(file, f"_pass_{file}", [f"{part.name}{callee}(data);"], part.declared("data"))
        callee = f"_pass_{file}"
    part.entry([*part.begin(), *part.source, f"{part.name}{callee}(data);"])


def in_header(part):
    """The sink is an inline function of a header."""
    part.program.header(f"static inline void {part.name}_sink({part.declared('data')})", "{", *part.sink, "}")
    part.entry([*part.begin(), *part.source, f"{part.name}_sink(data);"])


def macro(part):
    part.program.top("a", f"#define {part.name.upper()}_SINK(data) \\", "do { \\", *(f"{line} \\" for line in part.sink), "} while (0)")
    part.entry([*part.begin(), *part.source, f"{part.name.upper()}_SINK(data);"])


def returned(part, files=1, passed=False):
    """The source in a function that returns the value; `passed`: the sink in another, in a third file."""
    part.source_function(FILES[files - 1], [*part.begin(), *part.source, "return data;"], static=files == 1)
    sink = part.sink
    if passed:
        part.function(FILES[files], "_sink", part.sink, part.declared("data"))
        sink = [f"{part.name}_sink(data);"]
    part.entry([f"{part.declared('data')} = {part.name}_source();", *sink])


def out_parameter(part, files=1):
    lines = [*part.begin(), *part.source, "*result = data;"]
    part.function(FILES[files - 1], "_source", lines, part.declared("*result"), static=files == 1, has_source=True)
    part.entry([part.initial(), f"{part.name}_source(&data);", *part.sink])


def pointer_alias(part):
    """Through two pointers to the variable."""
    part.entry([*part.begin("value"), f"{part.declared('*first')} = &value;", f"{part.declared('*second')} = &value;",
                "{", f"{part.declared('data')} = *first;", *part.source, "*first = data;", "}",
                "{", f"{part.declared('data')} = *second;", *part.sink, "}"])


def array(part, files=1):
    part.function(FILES[files - 1], "_sink", [f"{part.declared('data')} = values[2];", *part.sink], part.declared("*values"), static=files == 1)
    start = part.flaw.initial
    part.entry([*part.begin(), f"{part.declared('values[4]')} = {{{start}, {start}, {start}, {start}}};", *part.source, "values[2] = data;",
                f"{part.name}_sink(values);"])


def record(part, files=1, pointer=False):
    """As a member, of a record that is passed by value or by its address."""
    part.program.header("struct box {", "int number;", f"{part.declared('value')};", "};")
    star, arrow = ("*", "->") if pointer else ("", ".")
    part.function(FILES[files - 1], "_sink", [f"{part.declared('data')} = box{arrow}value;", *part.sink], f"struct box {star}box", static=files == 1)
    part.entry([*part.begin(), "struct box box;", *part.source, "box.number = 1;", "box.value = data;",
                f"{part.name}_sink({'&' if pointer else ''}box);"])


def record_filled(part):
    """As a member that a function of another file sets, of a record within a record."""
    part.program.header("struct box {", "int number;", f"{part.declared('value')};", "};", "struct crate {", "long weight;", "struct box inner;", "};")
    part.function("b", "_source", [*part.begin(), *part.source, "crate->inner.value = data;"], "struct crate *crate", has_source=True)
    part.function("c", "_sink", [f"{part.declared('data')} = crate->inner.value;", *part.sink], "struct crate *crate")
    part.entry(["struct crate crate = {0};", f"{part.name}_source(&crate);", f"{part.name}_sink(&crate);"])


def union(part):
    part.program.header("union either {", f"{part.declared('value')};", f"{part.declared('same')};", "};")
    part.entry([*part.begin(), "union either either;", *part.source, "either.value = data;",
                "{", f"{part.declared('data')} = either.same;", *part.sink, "}"])


def global_static(part):
    part.program.top("a", f"static {part.declared(part.name + '_value')};")
    part.function("a", "_sink", [f"{part.declared('data')} = {part.name}_value;", *part.sink], static=True)
    part.entry([*part.begin(), *part.source, f"{part.name}_value = data;", f"{part.name}_sink();"])


def global_files(part):
    part.program.header(f"extern {part.declared(part.name + '_value')};")
    part.program.top("b", f"{part.declared(part.name + '_value')};")
    part.function("b", "_sink", [f"{part.declared('data')} = {part.name}_value;", *part.sink])
    part.entry([*part.begin(), *part.source, f"{part.name}_value = data;", f"{part.name}_sink();"])


def function_pointer(part):
    part.function("a", "_sink", part.sink, part.declared("data"), static=True)
    part.entry([f"void (*finish)({part.declared('')}) = {part.name}_sink;", *part.begin(), *part.source, "finish(data);"])


def function_table(part):
    """Through a constant table of functions of another file."""
    part.program.header("struct operations {", "int number;", f"void (*finish)({part.declared('data')});", "};")
    part.program.header(f"extern const struct operations {part.name}_operations;")
    part.function("b", "_sink", part.sink, part.declared("data"), static=True)
    part.program.top("b", f"const struct operations {part.name}_operations = {{", ".number = 3,", f".finish = {part.name}_sink,", "};")
    part.entry([*part.begin(), *part.source, f"{part.name}_operations.finish(data);"])


def list_node(part, files=1):
    """In the second node of a list that the sink walks along."""
    part.program.header("struct node {", "struct node *next;", "int number;", f"{part.declared('value')};", "};")
    walk = ["for (struct node *node = head; node != NULL; node = node->next) {", "if (node->number == 2) {", f"{part.declared('data')} = node->value;",
            *part.sink, "}", "}"]
    part.function(FILES[files - 1], "_sink", walk, "struct node *head", static=files == 1)
    part.entry([*part.begin(), *part.source, f"struct node second = {{NULL, 2, {part.flaw.initial}}};",
                f"struct node first = {{&second, 1, {part.flaw.initial}}};", "second.value = data;", f"{part.name}_sink(&first);"])


def void_pointer(part, files=1):
    """By the address of the variable, as `void *`."""
    part.function(FILES[files - 1], "_sink", [f"{part.declared('data')} = *({part.declared('*')}) argument;", *part.sink], "void *argument",
                  static=files == 1)
    part.entry([*part.begin(), *part.source, f"{part.name}_sink(&data);"])


def callback(part):
    """A function of another file calls back what it is given."""
    part.program.header("void call_back(void (*visit)(void *), void *argument);")
    part.program.top("b", "void call_back(void (*visit)(void *), void *argument)", "{", "visit(argument);", "}")
    part.function("a", "_sink", [f"{part.declared('data')} = *({part.declared('*')}) argument;", *part.sink], "void *argument", static=True)
    part.entry([*part.begin(), *part.source, f"call_back({part.name}_sink, &data);"])
