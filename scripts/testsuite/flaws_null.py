"""Flaws of null pointers: CWE-476, a pointer that is null is followed; CWE-690, a result that may be null is followed unchecked."""

from .flaws import Flaw

# name: (type, file scope, a good value, what follows the pointer)
USES = {
    "int_read": ("int *", "static int @_storage = 3;", "data = &@_storage;", 'printf("%d\\n", *data);'),
    "int_write": ("int *", "static int @_storage[4];", "data = @_storage;", "data[2] = 6;"),
    "int64_read": ("int64_t *", "static int64_t @_storage = 3;", "data = &@_storage;", 'printf("%lld\\n", (long long) *data);'),
    "char_index": ("char *", "", 'data = (char *) "waterloo";', 'printf("%c\\n", data[0]);'),
    "char_strlen": ("char *", "", 'data = (char *) "waterloo";', 'printf("%zu\\n", strlen(data));'),
    "char_strcmp": ("char *", "", 'data = (char *) "waterloo";', 'if (strcmp(data, "euston") == 0)\n{\nputs("equal");\n}'),
    "char_strcpy_to": ("char *", "static char @_storage[20];", "data = @_storage;", 'strcpy(data, "euston");'),
    "record_member": ("struct record *", "static struct record @_storage;", "data = &@_storage;", 'printf("%d\\n", data->id);'),
    "record_write": ("struct record *", "static struct record @_storage;", "data = &@_storage;", "data->total = data->id + 1;"),
    "record_copy": ("struct record *", "static struct record @_storage;", "data = &@_storage;",
                    'struct record copy = *data;\nprintf("%d\\n", copy.id);'),
    "record_label": ("struct record *", "static struct record @_storage;", "data = &@_storage;", 'printf("%zu\\n", strlen(data->label));'),
    "function": ("operation ", "", "data = suite_twice;", 'printf("%d\\n", data(4));'),
    "file": ("FILE *", "", "data = stdout;", 'fprintf(data, "written\\n");'),
}

# name: (type, what gives a result that may be null, what follows it, what is to be done with it at last)
RESULTS = {
    "malloc_char": ("char *", "data = malloc(20);", 'strcpy(data, "euston");\nputs(data);', "free(data);"),
    "malloc_int64": ("int64_t *", "data = malloc(4 * sizeof(*data));", "data[0] = 5;", "free(data);"),
    "calloc_int": ("int *", "data = calloc(20, sizeof(int));", 'data[0] = 5;\nprintf("%d\\n", data[0]);', "free(data);"),
    "calloc_record": ("struct record *", "data = calloc(1, sizeof(*data));", 'data->id = 5;\nprintf("%d\\n", data->id);', "free(data);"),
    "realloc_record": ("struct record *", "data = realloc(NULL, 9 * sizeof(*data));", "data[8].total = 5;", "free(data);"),
    "strdup": ("char *", 'data = strdup("angel");', "data[0] = 'A';\nputs(data);", "free(data);"),
    "strndup": ("char *", 'data = strndup("moorgate", 4);', 'printf("%zu\\n", strlen(data));', "free(data);"),
    "fopen": ("FILE *", 'data = fopen("/etc/hostname", "r");', 'printf("%d\\n", fgetc(data));', "fclose(data);"),
    "opendir": ("DIR *", 'data = opendir("/tmp");', 'printf("%d\\n", readdir(data) != NULL);', "closedir(data);"),
    "tmpfile": ("FILE *", "data = tmpfile();", "fputc('x', data);", "fclose(data);"),
    "getenv": ("char *", 'data = getenv("HOME");', 'printf("%zu\\n", strlen(data));', ""),
    "strchr": ("char *", "data = strchr(suite_name(), 'c');", "putchar(data[0]);", ""),
}


def flaws():
    for name, (kind, top, good, use) in USES.items():
        yield Flaw(476, name, "null/dereference", kind, bad_source="data = NULL;", top=top, good_source=good, bad_sink=use,
                   good_sink=f"if (data != NULL)\n{{\n{use}\n}}\nelse\n{{\nputs(\"none\");\n}}")
    yield from confused_checks()
    for name, (kind, source, use, release) in RESULTS.items():
        yield Flaw(690, name, "null/unchecked-result", kind, bad_source=source, bad_sink=f"{use}\n{release}",
                   good_source=f"{source}\nif (data == NULL)\n{{\nexit(1);\n}}",
                   good_sink=f"if (data != NULL)\n{{\n{use}\n{release}\n}}")


def confused_checks():
    """The pointer is checked, but not so that the use is safe."""
    top, good = "static struct record @_storage;", "data = &@_storage;"
    for name, bad, sound in (
        ("check_behind_use", 'printf("%d\\n", data->id);\nif (data == NULL)\n{\nputs("none");\n}',
         'if (data == NULL)\n{\nputs("none");\nreturn;\n}\nprintf("%d\\n", data->id);'),
        ("wrong_conjunction", 'if ((data != NULL) & (data->id == 0))\n{\nputs("zero");\n}',
         'if (data != NULL && data->id == 0)\n{\nputs("zero");\n}'),
        ("wrong_disjunction", 'if (data == NULL && data->id == 0)\n{\nputs("zero");\n}',
         'if (data == NULL || data->id == 0)\n{\nputs("zero");\n}'),
        ("report_of_null", 'if (data == NULL)\n{\nfprintf(stderr, "no record for %d\\n", data->id);\nreturn;\n}\nputs(data->label);',
         'if (data == NULL)\n{\nfprintf(stderr, "no record\\n");\nreturn;\n}\nputs(data->label);'),
        ("falls_through", 'if (data == NULL)\n{\nfputs("no record\\n", stderr);\n}\nputs(data->label);',
         'if (data == NULL)\n{\nfputs("no record\\n", stderr);\nreturn;\n}\nputs(data->label);'),
    ):
        # The code itself tests whether the pointer is null, in the wrong place: no source makes that right.
        mendable = name not in ("check_behind_use", "wrong_disjunction", "report_of_null")
        yield Flaw(476, name, "null/dereference", "struct record *", bad_source="data = NULL;", top=top,
                   good_source=good if mendable else "", bad_sink=bad, good_sink=sound)
