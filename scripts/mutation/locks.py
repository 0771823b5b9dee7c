"""The lock primitives of Linux, POSIX and C11, by the names that sources use, and vocabularies made of them.

An operation is what a call by one of these names does: to which family of locks, taking or releasing, whether
the taking is exclusive, and whether it can fail. A vocabulary is what one file may use: the primitives of the
kernel or of user space, and the tree's own wrappers of them (`wrappers`).
"""

import dataclasses
import re



@dataclasses.dataclass(frozen=True)
class Operation:
    name: str
    family: str          # locks of different families are never the same lock
    takes: bool
    exclusive: bool = True
    succeeds: str = ""   # "" always; "zero" or "nonzero": the result that means the lock is held
    atomic: bool = False  # no sleeping while it is held
    parameters: tuple = ()  # of a wrapper: the names in `lock` that stand for its arguments
    lock: str = ""       # of a wrapper: the expression of the lock that it hands on; a primitive's is its first argument
    tells: bool = False  # the result may tell of failure, but is seldom looked at: 0 is success


KERNEL, USER = {}, {}


def define(family, take, release, exclusive=True, atomic=False, conditional=(), place=KERNEL):
    tells = place is USER
    for name in take.split():
        place[name] = Operation(name, family, True, exclusive, "", atomic, tells=tells)
    for names, succeeds in conditional:
        for name in names.split():
            place[name] = Operation(name, family, True, exclusive, succeeds, atomic)
    for name in release.split():
        place[name] = Operation(name, family, False, exclusive, "", atomic, tells=tells)


define("spin", "spin_lock spin_lock_bh spin_lock_irq spin_lock_irqsave spin_lock_nested",
       "spin_unlock spin_unlock_bh spin_unlock_irq spin_unlock_irqrestore", atomic=True,
       conditional=[("spin_trylock spin_trylock_bh spin_trylock_irq spin_trylock_irqsave", "nonzero")])
define("raw_spin", "raw_spin_lock raw_spin_lock_bh raw_spin_lock_irq raw_spin_lock_irqsave raw_spin_lock_nested",
       "raw_spin_unlock raw_spin_unlock_bh raw_spin_unlock_irq raw_spin_unlock_irqrestore", atomic=True,
       conditional=[("raw_spin_trylock raw_spin_trylock_irq raw_spin_trylock_irqsave", "nonzero")])
define("rwlock", "write_lock write_lock_bh write_lock_irq write_lock_irqsave",
       "write_unlock write_unlock_bh write_unlock_irq write_unlock_irqrestore", atomic=True,
       conditional=[("write_trylock", "nonzero")])
define("rwlock", "read_lock read_lock_bh read_lock_irq read_lock_irqsave",
       "read_unlock read_unlock_bh read_unlock_irq read_unlock_irqrestore", atomic=True, exclusive=False,
       conditional=[("read_trylock", "nonzero")])
define("mutex", "mutex_lock mutex_lock_nested mutex_lock_io", "mutex_unlock",
       conditional=[("mutex_lock_interruptible mutex_lock_killable", "zero"), ("mutex_trylock", "nonzero")])
define("rt_mutex", "rt_mutex_lock", "rt_mutex_unlock",
       conditional=[("rt_mutex_lock_interruptible", "zero"), ("rt_mutex_trylock", "nonzero")])
define("rwsem", "down_write down_write_nested", "up_write",
       conditional=[("down_write_killable", "zero"), ("down_write_trylock", "nonzero")])
define("rwsem", "down_read down_read_nested", "up_read", exclusive=False,
       conditional=[("down_read_killable down_read_interruptible", "zero"), ("down_read_trylock", "nonzero")])
define("rtnl", "rtnl_lock", "rtnl_unlock", conditional=[("rtnl_lock_killable", "zero"), ("rtnl_trylock", "nonzero")])
define("console", "console_lock", "console_unlock", conditional=[("console_trylock", "nonzero")])
define("pthread_mutex", "pthread_mutex_lock", "pthread_mutex_unlock", place=USER,
       conditional=[("pthread_mutex_trylock pthread_mutex_timedlock", "zero")])
define("pthread_rwlock", "pthread_rwlock_wrlock", "pthread_rwlock_unlock", place=USER,
       conditional=[("pthread_rwlock_trywrlock", "zero")])
define("pthread_rwlock", "pthread_rwlock_rdlock", "", exclusive=False, place=USER,
       conditional=[("pthread_rwlock_tryrdlock", "zero")])
define("pthread_spin", "pthread_spin_lock", "pthread_spin_unlock", place=USER,
       conditional=[("pthread_spin_trylock", "zero")])
define("mtx", "mtx_lock", "mtx_unlock", place=USER, conditional=[("mtx_trylock mtx_timedlock", "zero")])

# What is written in place of a restore when the flags are forgotten.
WITHOUT_RESTORE = {name: name.replace("_irqrestore", "") for name in KERNEL if name.endswith("_irqrestore")}
# Kinds of lock that a thread may take again while it holds one, if the program says so.
MAY_BE_RECURSIVE = ("pthread_mutex", "mtx")
RECURSIVE = re.compile(r"PTHREAD_(?:MUTEX_RECURSIVE|RECURSIVE_MUTEX)|\bmtx_recursive\b")


class Vocabulary:
    """The operations that a file may use. `recursive`: the program has mutexes that may be taken again."""

    def __init__(self, operations, kernel=False, recursive=False):
        self.operations, self.kernel, self.recursive = operations, kernel, recursive
        names = sorted(operations, key=lambda name: (-len(name), name))
        self.call = re.compile(r"\b(" + "|".join(names) + r")\s*\(")

    def with_wrappers(self, wrappers):
        return Vocabulary(self.operations | wrappers, self.kernel, self.recursive) if wrappers else self

    def excludes_itself(self, operation):
        """Whether a second taking by the same thread is wrong for sure."""
        return operation.exclusive and not (self.recursive and operation.family in MAY_BE_RECURSIVE)


def lock_object(operation, written):
    """What names the lock: family and expression, written without blanks, idle parentheses and the address operator."""
    expression = written[0] if written else ""
    if operation.lock:
        given = dict(zip(operation.parameters, written))
        expression = re.sub(r"(?<![\w.>])[A-Za-z_]\w*|(?<=[^-]>)[A-Za-z_]\w*",
                            lambda name: f"({given[name[0]]})" if name[0] in given else name[0], operation.lock)
    return operation.family, simplified(expression)


def simplified(expression):
    expression, before = re.sub(r"\s+", "", expression), None
    while expression != before:
        before = expression
        expression = re.sub(r"(?<![\w)\]])\((&?[\w.\[\]]+(?:->[\w.\[\]]+)*)\)(?=->|\.|\)|,|$)", keep_address, expression)
        expression = re.sub(r"\(&([\w.\[\]]+(?:->[\w.\[\]]+)*)\)->", r"\1.", expression)
        if expression.startswith("(") and expression.endswith(")") and expression.count("(") == 1:
            expression = expression[1:-1]
    return expression.removeprefix("&")


def keep_address(match):
    """`(x)` is x wherever it stands; `(&x)` is &x only where nothing that binds tighter follows."""
    follows = match.string[match.end() : match.end() + 1]
    return match[0] if match[1].startswith("&") and follows in ("-", ".") else match[1]
