"""The flaws: for each a source, which makes the value that is wrong, and a sink, where that shows, and the same two without the flaw.

A case has a bad function (bad source, bad sink) and good ones: good source with bad sink, and bad source with good sink. In the
templates `data` is the value, `@` the name of the function that the text is for.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Flaw:
    cwe: int
    name: str
    rule: str            # what Cassini is to report
    type: str            # of `data`
    bad_source: str
    bad_sink: str
    good_source: str = ""  # "" where only the sink can be mended
    good_sink: str = ""    # "" where only the source can be
    tail: str = ""       # behind the bad sink where the source is good: what the source made must go
    initial: str = "NULL"
    top: str = ""        # file scope, in the source's file
    local: str = ""      # at the head of the source's function: what does not outlive it
    shows: bool = True   # whether it shows when the program is run; otherwise an allocation must fail, too
    held: bool = True    # whether a global that keeps the value leaves the flaw one


# Which rules say what of a CWE; a case counts as found by any of them.
RULES = {
    401: ["heap/leak"],
    404: ["heap/leak", "file/leak", "heap/bad-free"],
    415: ["heap/double-free", "heap/use-after-free"],
    416: ["heap/use-after-free", "heap/double-free"],
    476: ["null/dereference", "null/unchecked-result"],
    590: ["heap/bad-free"],
    667: ["lock/held-on-exit", "lock/inconsistent-exit", "lock/double-lock"],
    690: ["null/unchecked-result", "null/dereference"],
    761: ["heap/bad-free"],
    764: ["lock/double-lock"],
    765: ["lock/double-unlock", "lock/unlock-unheld"],
    775: ["file/leak"],
    832: ["lock/unlock-unheld", "lock/double-unlock"],
}

WORDS = {
    401: "memory is never freed", 404: "what is opened is released in the wrong way", 415: "memory is freed twice",
    416: "memory is used after it was freed", 476: "a null pointer is followed", 590: "what is not from the heap is freed",
    667: "a lock is kept at the end", 690: "a result that may be null is used unchecked", 761: "a pointer into a block is freed, not the block",
    764: "a lock is taken twice", 765: "a lock is released twice", 775: "a file or descriptor is never closed",
    832: "a lock is released that was not taken",
}


def all_flaws():
    from . import flaws_files, flaws_locks, flaws_memory, flaws_null

    flaws = [*flaws_null.flaws(), *flaws_memory.flaws(), *flaws_files.flaws(), *flaws_locks.flaws()]
    assert len({(flaw.cwe, flaw.name) for flaw in flaws}) == len(flaws)
    return flaws
