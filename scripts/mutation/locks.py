"""The lock primitives of Linux, POSIX and C11, by the names that sources use.

An operation is what a call by one of these names does: to which family of locks, taking or releasing, whether
the taking is exclusive, and whether it can fail.
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


OPERATIONS = {}


def define(family, take, release, exclusive=True, atomic=False, conditional=()):
    for name in take.split():
        OPERATIONS[name] = Operation(name, family, True, exclusive, "", atomic)
    for names, succeeds in conditional:
        for name in names.split():
            OPERATIONS[name] = Operation(name, family, True, exclusive, succeeds, atomic)
    for name in release.split():
        OPERATIONS[name] = Operation(name, family, False, exclusive, "", atomic)


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
define("pthread_mutex", "pthread_mutex_lock", "pthread_mutex_unlock",
       conditional=[("pthread_mutex_trylock pthread_mutex_timedlock", "zero")])
define("pthread_rwlock", "pthread_rwlock_wrlock", "pthread_rwlock_unlock",
       conditional=[("pthread_rwlock_trywrlock", "zero")])
define("pthread_rwlock", "pthread_rwlock_rdlock", "", exclusive=False,
       conditional=[("pthread_rwlock_tryrdlock", "zero")])
define("pthread_spin", "pthread_spin_lock", "pthread_spin_unlock", conditional=[("pthread_spin_trylock", "zero")])
define("mtx", "mtx_lock", "mtx_unlock", conditional=[("mtx_trylock mtx_timedlock", "zero")])

CALL = re.compile(r"\b(" + "|".join(sorted(OPERATIONS, key=len, reverse=True)) + r")\s*\(")
# What is written in place of a restore when the flags are forgotten.
WITHOUT_RESTORE = {name: name.replace("_irqrestore", "") for name in OPERATIONS if name.endswith("_irqrestore")}


def lock_object(family, arguments):
    """What names the lock: family and first argument, written without blanks and the address operator."""
    expression = re.sub(r"\s+", "", arguments[0]) if arguments else ""
    while expression.startswith("(") and expression.endswith(")") and expression.count("(") == 1:
        expression = expression[1:-1]
    return family, expression.removeprefix("&")
