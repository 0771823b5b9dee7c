"""Flaws of memory from the heap: freed twice, used after it was freed, never freed, and freed though it is not from the heap."""

from .flaws import Flaw

CHECK = "\nif (data == NULL)\n{\nexit(1);\n}\n"

# name: (type, what allocates, what fills it, what uses it)
BLOCKS = {
    "malloc_char": ("char *", "data = malloc(100);", 'strcpy(data, "northern line");', 'puts(data);'),
    "calloc_int": ("int *", "data = calloc(50, sizeof(*data));", "data[7] = 12;", 'printf("%d\\n", data[7]);'),
    "malloc_int64": ("int64_t *", "data = malloc(10 * sizeof(int64_t));", "data[0] = 5000000000;", 'printf("%lld\\n", (long long) data[0]);'),
    "malloc_record": ("struct record *", "data = malloc(sizeof(struct record));", 'data->id = 4;\nstrcpy(data->label, "four");',
                      'printf("%d %s\\n", data->id, data->label);'),
    "calloc_record": ("struct record *", "data = calloc(3, sizeof(*data));", "data[2].total = 77;", 'printf("%ld\\n", data[2].total);'),
    "realloc_char": ("char *", "data = realloc(NULL, 64);", 'data[0] = 0;\nstrcat(data, "district");', 'printf("%s\\n", data);'),
    "strdup": ("char *", 'data = strdup("circle line");', "data[0] = 'C';", 'printf("%zu\\n", strlen(data));'),
    "strndup": ("char *", 'data = strndup("metropolitan", 5);', "data[1] = 'E';", "putchar(data[2]);"),
    "asprintf": ("char *", 'if (asprintf(&data, "platform %d", 9) < 0)\n{\nexit(1);\n}', "data[0] = 'P';", "fputs(data, stdout);"),
    "posix_memalign": ("int *", "{\nvoid *block;\nif (posix_memalign(&block, 64, 256) != 0)\n{\nexit(1);\n}\ndata = block;\n}",
                       "data[3] = 1;", 'printf("%d\\n", data[3]);'),
}


def made(block):
    """The statements that allocate a block, check it and fill it."""
    _, allocate, fill, _ = BLOCKS[block]
    return allocate + ("\n" if "exit" in allocate else CHECK) + fill


def flaws():
    for block, (kind, _, fill, use) in BLOCKS.items():
        yield Flaw(415, block, "heap/double-free", kind,
                   bad_source=f"{made(block)}\n{use}\nfree(data);", bad_sink="free(data);",
                   good_source=made(block), good_sink='puts("done");')
        yield Flaw(416, block, "heap/use-after-free", kind,
                   bad_source=f"{made(block)}\nfree(data);", bad_sink=use,
                   good_source=made(block), tail="free(data);", good_sink='puts("done");')
        yield Flaw(401, block, "heap/leak", kind,
                   bad_source=made(block), bad_sink=use, held=False, top=STATIC[kind].format("@_storage"),
                   good_source=f"data = @_storage;\n{fill}", good_sink=f"{use}\nfree(data);")
    yield from more_uses()
    yield from more_leaks()
    yield from bad_frees()
    yield from inner_pointers()


STATIC = {"char *": "static char {}[100];", "int *": "static int {}[50];", "int64_t *": "static int64_t {}[10];",
          "struct record *": "static struct record {}[3];"}


def more_uses():
    """Other ways to use what was freed: written, copied, passed on, returned into a block that was moved."""
    made_record = made("malloc_record")
    for name, use in {
        "write_member": "data->total = 9;",
        "memcpy_from": 'struct record copy;\nmemcpy(&copy, data, sizeof(copy));\nprintf("%d\\n", copy.id);',
        "increment": "data->id += 1;",
        "pass_member": "puts(data->label);",
    }.items():
        yield Flaw(416, name, "heap/use-after-free", "struct record *",
                   bad_source=f"{made_record}\nfree(data);", bad_sink=use,
                   good_source=made_record, tail="free(data);", good_sink="data = NULL;\nprintf(\"%d\\n\", data == NULL);")
    yield Flaw(416, "moved_by_realloc", "heap/use-after-free", "char *",
               bad_source=made("malloc_char") + "\n{\nchar *grown = realloc(data, 4000);\nif (grown == NULL)\n{\nfree(data);\nexit(1);\n}\n"
               "puts(grown);\nfree(grown);\n}",
               bad_sink="data[0] = 'S';", good_source=made("malloc_char"), tail="free(data);", good_sink='puts("done");')
    yield Flaw(415, "after_realloc", "heap/double-free", "char *",
               bad_source=made("malloc_char") + "\n{\nchar *grown = realloc(data, 4000);\nif (grown == NULL)\n{\nfree(data);\nexit(1);\n}\n"
               "free(grown);\n}",
               bad_sink="free(data);", good_source=made("malloc_char"), good_sink='puts("done");')
    yield Flaw(415, "null_before_second", "heap/double-free", "struct record *",
               bad_source=f"{made_record}\nfree(data);", bad_sink="if (data != NULL)\n{\nfree(data);\n}",
               good_source=f"{made_record}\nfree(data);\ndata = NULL;", good_sink="data = NULL;\nfree(data);")


def more_leaks():
    record = made("malloc_record")
    yield Flaw(401, "overwritten", "heap/leak", "struct record *", held=False, top="static struct record @_storage;",
               bad_source=record, bad_sink='data = NULL;\nprintf("%d\\n", data == NULL);',
               good_source="data = &@_storage;\ndata->id = 1;", good_sink='free(data);\ndata = NULL;\nprintf("%d\\n", data == NULL);')
    yield Flaw(401, "early_return", "heap/leak", "struct record *", held=False, top="static struct record @_storage;",
               bad_source=record, bad_sink='if (data->id != 5)\n{\nputs("not five");\nreturn;\n}\nputs(data->label);',
               good_source="data = &@_storage;\ndata->id = 1;",
               good_sink='if (data->id != 5)\n{\nputs("not five");\nfree(data);\nreturn;\n}\nputs(data->label);\nfree(data);')
    yield Flaw(401, "freed_under_condition", "heap/leak", "char *", held=False, top="static char @_storage[100];",
               bad_source=made("malloc_char"), bad_sink="puts(data);\nif (suite_either())\n{\nfree(data);\n}",
               good_sink="puts(data);\nif (suite_either())\n{\nfree(data);\n}\nelse\n{\nputs(data);\nfree(data);\n}")
    yield Flaw(401, "lost_by_realloc", "heap/leak", "char *", held=False, shows=False,
               bad_source=made("malloc_char"), bad_sink="data = realloc(data, 100000);\nif (data == NULL)\n{\nreturn;\n}\nputs(data);\nfree(data);",
               good_sink="char *grown = realloc(data, 100000);\nif (grown == NULL)\n{\nfree(data);\nreturn;\n}\nputs(grown);\nfree(grown);")


def bad_frees():
    """CWE-590. The good source allocates; there is no good sink but not to free."""
    for name, kind, top, local, source, good in (
        ("array_char", "char *", "", "char local_bytes[100];", 'strcpy(local_bytes, "jubilee");\ndata = local_bytes;', "malloc_char"),
        ("array_int", "int *", "", "int local_numbers[12] = {3};", "data = local_numbers;", "calloc_int"),
        ("array_int64", "int64_t *", "", "int64_t local_numbers[10] = {1, 2};", "data = local_numbers;", "malloc_int64"),
        ("local_record", "struct record *", "", "struct record local_record = {.id = 1};", "data = &local_record;", "malloc_record"),
        ("alloca_char", "char *", "", "char *local_bytes = __builtin_alloca(100);", 'strcpy(local_bytes, "bakerloo");\ndata = local_bytes;', "strdup"),
        ("static_char", "char *", "static char @_bytes[100];", "", 'strcpy(@_bytes, "victoria");\ndata = @_bytes;', "malloc_char"),
        ("static_record", "struct record *", "static struct record @_record;", "", "@_record.id = 3;\ndata = &@_record;", "malloc_record"),
        ("global_int", "int *", "int @_numbers[50];", "", "@_numbers[7] = 2;\ndata = @_numbers;", "calloc_int"),
        ("literal", "char *", "", "", 'data = (char *) "central";', "strdup"),
        ("record_in_array", "struct record *", "static struct record @_records[4];", "", "data = &@_records[0];\ndata->id = 5;", "calloc_record"),
        ("environment", "char *", "", "", 'data = getenv("PATH");\nif (data == NULL)\n{\nexit(1);\n}', "strdup"),
    ):
        use = BLOCKS[good][3]
        yield Flaw(590, name, "heap/bad-free", kind, bad_source=source, top=top, local=local, bad_sink=f"{use}\nfree(data);",
                   good_source=made(good), good_sink=use)


def inner_pointers():
    """CWE-761: `data` has been moved on when it is freed."""
    string = made("malloc_char")
    numbers = "data = malloc(50 * sizeof(int));" + CHECK + "data[0] = 7;\ndata[1] = 9;"
    yield Flaw(761, "skip_word", "heap/bad-free", "char *", bad_source=f"{string}\ndata += strlen(\"northern \");",
               bad_sink="puts(data);\nfree(data);", good_source=string, good_sink='puts(data);\nfree(data - strlen("northern "));')
    yield Flaw(761, "skip_header", "heap/bad-free", "int *", bad_source=f"{numbers}\ndata = &data[1];",
               bad_sink='printf("%d\\n", *data);\nfree(data);', good_source=numbers, good_sink='printf("%d\\n", *data);\nfree(data - 1);')
    yield Flaw(761, "member_address", "heap/bad-free", "char *",
               bad_source="{\nstruct record *record = malloc(sizeof(*record));\nif (record == NULL)\n{\nexit(1);\n}\nrecord->label[0] = 0;\n"
               "data = record->label;\n}",
               bad_sink="puts(data);\nfree(data);", good_source=string,
               good_sink="puts(data);\nfree(data - offsetof(struct record, label));")
    yield Flaw(761, "second_record", "heap/bad-free", "struct record *",
               bad_source="data = calloc(2, sizeof(*data));" + CHECK + "data[1].id = 3;\ndata++;",
               bad_sink='printf("%d\\n", data->id);\nfree(data);', good_source=made("malloc_record"),
               good_sink='printf("%d\\n", data->id);\ndata--;\nfree(data);')
    yield Flaw(761, "search", "heap/bad-free", "char *", bad_source=string,
               bad_sink="while (*data != 'l' && *data != 0)\n{\ndata++;\n}\nputs(data);\nfree(data);",
               good_sink="char *at = data;\nwhile (*at != 'l' && *at != 0)\n{\nat++;\n}\nputs(at);\nfree(data);")
    yield Flaw(761, "search_int", "heap/bad-free", "int *", bad_source=numbers,
               bad_sink='while (*data != 9)\n{\ndata++;\n}\nprintf("%d\\n", *data);\nfree(data);',
               good_sink='size_t at = 0;\nwhile (data[at] != 9)\n{\nat++;\n}\nprintf("%d\\n", data[at]);\nfree(data);')
    yield Flaw(761, "token", "heap/bad-free", "char *", bad_source=f"{string}\ndata = strchr(data, ' ');\nif (data == NULL)\n{{\nexit(1);\n}}",
               bad_sink="puts(data);\nfree(data);", good_source=string, good_sink="puts(data);\nfree(data - 8);")
