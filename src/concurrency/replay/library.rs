//! What a call of a function that the program does not define becomes in a replay.
//!
//! In: the function's name and the printed arguments. Out: the call as it is, the text of another one, a number that the
//! execution was given, or nothing.

/// What a call of a function without a body becomes.
pub enum Becomes {
    /// A call of the function itself.
    Itself,
    /// Nothing, with the result 0.
    Nothing,
    /// What the execution was given.
    Drawn,
    Text(String),
}

/// What a call of a function without a body becomes.
pub fn becomes(name: &str, args: &[String]) -> Becomes {
    let arg = |at: usize| args.get(at).cloned().unwrap_or_else(|| "0".to_owned());
    let text = match name {
        "pthread_create" => format!("create({}, {}, {}, 0, 0, 0)", arg(0), arg(2), arg(3)),
        "thrd_create" => format!("create({}, {}, {}, 0, 0, 0)", arg(0), arg(1), arg(2)),
        "__cassini_async" => format!(
            "create(0, {}, (P)({}), (P)({}), (P)({}), (P)({}))",
            arg(0),
            arg(1),
            arg(2),
            arg(3),
            arg(4)
        ),
        "pthread_join" => format!("join({}, {}, 1)", arg(0), arg(1)),
        "thrd_join" => format!("join({}, {}, 0)", arg(0), arg(1)),
        "pthread_exit" | "thrd_exit" => format!("(leave((P)({})), 0)", arg(0)),
        "pthread_cond_wait" | "pthread_cond_timedwait" | "cnd_wait" | "cnd_timedwait" => {
            format!("wait_for({})", arg(1))
        }
        "__VERIFIER_atomic_begin" | "__cassini_atomic_begin" => "(inside++, 0)".to_owned(),
        "__VERIFIER_atomic_end" | "__cassini_atomic_end" => "(inside--, 0)".to_owned(),
        "__cassini_nondet_pointer" => format!("input_pointer({})", arg(0)),
        "pthread_barrier_init" => format!("(barrier_init({}, {}), 0)", arg(0), arg(2)),
        "pthread_barrier_wait" => format!("barrier({})", arg(0)),
        "__assert_fail" | "reach_error" | "__VERIFIER_error" => "(abort(), 0)".to_owned(),
        "__VERIFIER_assert" | "__cassini_assert" => format!("(({}) ? 0 : (abort(), 0))", arg(0)),
        _ => return kind_of(name),
    };
    Becomes::Text(text)
}

fn kind_of(name: &str) -> Becomes {
    let real = [
        "malloc",
        "calloc",
        "realloc",
        "free",
        "memset",
        "memcpy",
        "memmove",
        "memcmp",
        "strlen",
        "strcpy",
        "strncpy",
        "strcmp",
        "strncmp",
        "strcat",
        "strdup",
        "strchr",
        "atoi",
        "atol",
        "abs",
        "labs",
        "abort",
        "exit",
        "sem_init",
        "sem_wait",
        "sem_trywait",
        "sem_post",
        "sem_getvalue",
        "sem_destroy",
        "call_once",
    ];
    let families = [
        "pthread_mutex_",
        "pthread_mutexattr_",
        "pthread_rwlock_",
        "pthread_spin_",
        "mtx_",
        "pthread_once",
        "pthread_key_",
        "pthread_getspecific",
        "pthread_setspecific",
        "tss_",
        "pthread_self",
        "pthread_equal",
        "pthread_detach",
        "thrd_current",
        "thrd_equal",
        "thrd_detach",
    ];
    if real.contains(&name) || families.iter().any(|family| name.starts_with(family)) {
        return Becomes::Itself;
    }
    let words = [
        "__VERIFIER_assume",
        "__cassini_assume",
        "__cassini_inputs_end",
    ];
    let quiet = [
        "pthread_cond_",
        "cnd_",
        "pthread_barrier_",
        "pthread_attr_",
        "pthread_condattr_",
    ];
    let silent = words.contains(&name)
        || quiet.iter().any(|family| name.starts_with(family))
        || super::super::library::SUCCEED.contains(&name);
    match silent {
        true => Becomes::Nothing,
        false => Becomes::Drawn,
    }
}
