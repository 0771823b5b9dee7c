"""Flaws of locks: CWE-667, kept at the end; 764, taken twice; 765, released twice; 832, released without having been taken."""

from .flaws import Flaw

# name: (type, definition, what takes it, what releases it); some must be initialised first
LOCKS = {
    "mutex": ("pthread_mutex_t *", "static pthread_mutex_t @_lock = PTHREAD_MUTEX_INITIALIZER;", "pthread_mutex_lock(data);", "pthread_mutex_unlock(data);"),
    "write_lock": ("pthread_rwlock_t *", "static pthread_rwlock_t @_lock = PTHREAD_RWLOCK_INITIALIZER;", "pthread_rwlock_wrlock(data);",
                   "pthread_rwlock_unlock(data);"),
    "spin_lock": ("pthread_spinlock_t *", "static pthread_spinlock_t @_lock;", "pthread_spin_lock(data);", "pthread_spin_unlock(data);"),
    "mutex_global": ("pthread_mutex_t *", "pthread_mutex_t @_lock = PTHREAD_MUTEX_INITIALIZER;", "pthread_mutex_lock(data);", "pthread_mutex_unlock(data);"),
    "c11_mutex": ("mtx_t *", "static mtx_t @_lock;", "mtx_lock(data);", "mtx_unlock(data);"),
}


INITIALISE = {"spin_lock": "\npthread_spin_init(data, PTHREAD_PROCESS_PRIVATE);", "c11_mutex": "\nmtx_init(data, mtx_plain);"}


def flaws():
    for name, (kind, top, take, release) in LOCKS.items():
        here = "data = &@_lock;" + INITIALISE.get(name, "")
        same = dict(type=kind, top=top)
        yield Flaw(667, name, "lock/held-on-exit", **same, bad_source=f"{here}\n{take}", bad_sink='puts("held");',
                   good_source=here, good_sink=f'puts("held");\n{release}')
        yield Flaw(667, f"{name}_early_return", "lock/inconsistent-exit", **same, bad_source=f"{here}\n{take}",
                   bad_sink=f'if (suite_either())\n{{\nputs("early");\nreturn;\n}}\nputs("late");\n{release}',
                   good_sink=f'if (suite_either())\n{{\nputs("early");\n{release}\nreturn;\n}}\nputs("late");\n{release}')
        yield Flaw(764, name, "lock/double-lock", **same, bad_source=f"{here}\n{take}", bad_sink=f'{take}\nputs("held");\n{release}',
                   good_source=here, good_sink=f'puts("held");\n{release}')
        yield Flaw(765, name, "lock/double-unlock", **same, bad_source=f'{here}\n{take}\nputs("held");\n{release}', bad_sink=release,
                   good_source=f'{here}\n{take}\nputs("held");', good_sink='puts("free");')
        yield Flaw(832, name, "lock/unlock-unheld", **same, bad_source=here, bad_sink=f'puts("free");\n{release}',
                   good_source=f"{here}\n{take}", good_sink=f'{take}\nputs("held");\n{release}')
