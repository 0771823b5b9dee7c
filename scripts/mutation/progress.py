"""How far it is, on one line of a terminal; nothing where nobody watches."""

import sys


def progress(words):
    if sys.stderr.isatty():
        print(f"\rmutate: {words}", end="", file=sys.stderr, flush=True)
