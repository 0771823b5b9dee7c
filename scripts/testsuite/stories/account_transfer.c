// bad1: 667 lock/inconsistent-exit the second lock is kept when there is too little
// bad2: 667 lock/held-on-exit the first lock is never released
// bad3: 765 lock/double-unlock the first lock is released twice, the second never
// bad4: 832 lock/unlock-unheld what could not be locked is unlocked
// ---- header
struct account {
    pthread_mutex_t lock;
    long balance;
};
// ---- b shared
void account_lock(struct account *account)
{
    pthread_mutex_lock(&account->lock);
}

void account_unlock(struct account *account)
{
    pthread_mutex_unlock(&account->lock);
}
// ---- header
void account_lock(struct account *account);
void account_unlock(struct account *account);
// ---- a
static int @_transfer(struct account *from, struct account *to, long amount)
{
    account_lock(from);
    account_lock(to);
    if (from->balance < amount) {
        account_unlock(to); // not bad1
        account_unlock(from); // not bad2
        return -1;
    }
    from->balance -= amount;
    to->balance += amount;
    account_unlock(to); // not bad3
    account_unlock(from); // not bad2
    account_unlock(from); // bad3
    return 0;
}

static long @_peek(struct account *account)
{
    long balance;

    if (pthread_mutex_trylock(&account->lock) != 0)
    { // bad4
        account_unlock(account); // bad4
        return -1;
    } // bad4
    balance = account->balance;
    account_unlock(account);
    return balance;
}

void @(void)
{
    static struct account first = {PTHREAD_MUTEX_INITIALIZER, 10};
    static struct account second = {PTHREAD_MUTEX_INITIALIZER, 0};

    printf("%d\n", @_transfer(&first, &second, suite_either() ? 40 : 4));
    printf("%ld\n", @_peek(&second));
}
