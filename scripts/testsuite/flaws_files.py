"""Flaws of files and descriptors: CWE-775, never closed; CWE-404, released in a wrong way."""

from .flaws import Flaw

STOP = "\n{\nexit(1);\n}"

# name: (type, initial value, what opens, what uses it, what closes it, something of the kind that need not be closed)
OPENS = {
    "fopen": ("FILE *", "NULL", f'data = fopen("/etc/hostname", "r");\nif (data == NULL){STOP}', 'printf("%d\\n", fgetc(data));', "fclose(data);", "stdin"),
    "fopen_write": ("FILE *", "NULL", f'data = fopen("/dev/null", "w");\nif (data == NULL){STOP}', 'fprintf(data, "%d\\n", 4);', "fclose(data);", "stdout"),
    "tmpfile": ("FILE *", "NULL", f"data = tmpfile();\nif (data == NULL){STOP}", "fputc('x', data);", "fclose(data);", "stdout"),
    "fdopen": ("FILE *", "NULL", f'{{\nint number = open("/dev/null", O_WRONLY);\nif (number < 0){STOP}\ndata = fdopen(number, "w");\nif (data == NULL){STOP}\n}}',
               "fputs(\"x\", data);", "fclose(data);", "stdout"),
    "open": ("int", "-1", f'data = open("/etc/hostname", O_RDONLY);\nif (data < 0){STOP}', "char byte;\nif (read(data, &byte, 1) == 1)\n{\nputchar(byte);\n}",
             "close(data);", "STDIN_FILENO"),
    "open_create": ("int", "-1", f'data = open("/dev/null", O_WRONLY | O_CREAT, 0600);\nif (data == -1){STOP}',
                    'if (write(data, "x", 1) != 1)\n{\nputs("not written");\n}', "close(data);", "STDOUT_FILENO"),
    "socket": ("int", "-1", f"data = socket(AF_UNIX, SOCK_STREAM, 0);\nif (data < 0){STOP}", 'printf("%d\\n", listen(data, 5));', "close(data);", "STDIN_FILENO"),
    "dup": ("int", "-1", f"data = dup(STDIN_FILENO);\nif (data < 0){STOP}", 'printf("%d\\n", isatty(data));', "close(data);", "STDIN_FILENO"),
    "opendir": ("DIR *", "NULL", f'data = opendir("/tmp");\nif (data == NULL){STOP}', 'printf("%d\\n", readdir(data) != NULL);', "closedir(data);", ""),
    "popen": ("FILE *", "NULL", f'data = popen("true", "r");\nif (data == NULL){STOP}', 'printf("%d\\n", fgetc(data));', "pclose(data);", "stdin"),
}


def flaws():
    for name, (kind, initial, source, use, close, spare) in OPENS.items():
        yield Flaw(775, name, "file/leak", kind, initial=initial, bad_source=source, bad_sink=use, held=False,
                   good_source=f"data = {spare};" if spare else "", good_sink=f"{use}\n{close}")
    _, _, source, use, _, _ = OPENS["open"]
    yield Flaw(775, "closed_on_success", "file/leak", "int", initial="-1", bad_source=source, held=False,
               bad_sink="char bytes[8];\nif (read(data, bytes, 8) != 8)\n{\nputs(\"too short\");\nreturn;\n}\nclose(data);",
               good_sink="char bytes[8];\nif (read(data, bytes, 8) != 8)\n{\nputs(\"too short\");\nclose(data);\nreturn;\n}\nclose(data);")
    yield from wrong_releases()


def wrong_releases():
    file, directory = OPENS["fopen"][2], OPENS["opendir"][2]
    yield Flaw(404, "file_descriptor_closed", "file/leak", "FILE *", bad_source=file, bad_sink="close(fileno(data));", held=False,
               good_sink="fclose(data);")
    yield Flaw(404, "file_freed", "heap/bad-free", "FILE *", shows=False, bad_source=file, bad_sink="free(data);", good_sink="fclose(data);")
    yield Flaw(404, "directory_descriptor_closed", "file/leak", "DIR *", bad_source=directory, bad_sink="close(dirfd(data));", held=False,
               good_sink="closedir(data);")
    yield Flaw(404, "socket_shut_down", "file/leak", "int", initial="-1", bad_source=OPENS["socket"][2], held=False,
               bad_sink="shutdown(data, SHUT_RDWR);", good_sink="shutdown(data, SHUT_RDWR);\nclose(data);")
    yield Flaw(404, "file_flushed", "file/leak", "FILE *", bad_source=OPENS["fopen_write"][2], held=False,
               bad_sink="fflush(data);", good_sink="fflush(data);\nfclose(data);", good_source="data = stdout;")
    owner = f"data = calloc(1, sizeof(*data));\nif (data == NULL){STOP}\n"
    name = f'data->name = strdup("aldgate");\nif (data->name == NULL){STOP}'
    yield Flaw(404, "member_lost", "heap/leak", "struct owner *", bad_source=owner + name, held=False,
               bad_sink="puts(data->name);\nfree(data);", good_sink="puts(data->name);\nfree(data->name);\nfree(data);")
    record = f"data->record = malloc(sizeof(struct record));\nif (data->record == NULL){STOP}\ndata->record->id = 2;"
    yield Flaw(404, "record_lost", "heap/leak", "struct owner *", bad_source=owner + record, held=False,
               bad_sink='printf("%d\\n", data->record->id);\nfree(data);',
               good_sink='printf("%d\\n", data->record->id);\nfree(data->record);\nfree(data);')
    log = f'data->log = fopen("/dev/null", "w");\nif (data->log == NULL){STOP}'
    yield Flaw(404, "member_left_open", "file/leak", "struct owner *", bad_source=owner + log, held=False,
               bad_sink='fputs("end", data->log);\nfree(data);', good_sink='fputs("end", data->log);\nfclose(data->log);\nfree(data);')
    yield Flaw(404, "one_of_two", "heap/leak", "struct owner *", bad_source=f"{owner}{name}\n{record}", held=False,
               bad_sink="free(data->name);\nfree(data);", good_sink="free(data->name);\nfree(data->record);\nfree(data);")
