/* What functions of the program and of the C library may return, where they return constants only. */
typedef struct { int __lock; } pthread_mutex_t;
typedef struct { long words[8]; } sigjmp_buf[1];
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int __sigsetjmp(sigjmp_buf buffer, int mask);
void pause_a_while(void);
void __pthread_unwind_next(sigjmp_buf buffer) __attribute__((noreturn));

struct context {
	pthread_mutex_t mutex;
	struct context *next;
	int id;
	int count;
};

#define NO_CONTEXT -1

static struct context *contexts;

/* Touches no lock, and has a loop: what is known of it is that it returns 0 or NO_CONTEXT. */
static int find_context(int id, struct context **found)
{
	int result = NO_CONTEXT;
	struct context *context;

	*found = 0;
	for (context = contexts; context; context = context->next) {
		if (context->id == id) {
			*found = context;
			result = 0;
			break;
		}
	}
	return result;
}

static int find_and_lock(int id, struct context **found)
{
	int result = find_context(id, found);

	if (result == 0)
		pthread_mutex_lock(&(*found)->mutex);
	return result;
}

/* Taken where the result is 0, which is where it is not NO_CONTEXT. */
int count_of(int id) //~ clean
{
	struct context *context;
	int count;

	if (find_and_lock(id, &context) == NO_CONTEXT)
		return -1;
	count = context->count;
	pthread_mutex_unlock(&context->mutex);
	return count;
}

/* 1 is none of its results: the lock is taken and kept. */
int count_without_unlock(int id)
{
	struct context *context;

	if (find_and_lock(id, &context) == 1)
		return -1;
	if (context->count) {
		pthread_mutex_unlock(&context->mutex);
		return 0;
	}
	return 0; //~ lock/inconsistent-exit
}

/* Five times at most, until it is not busy. A mutex that is not busy was taken. */
int try_until_free(struct context *context) //~ clean
{
	int result;

again:
	result = pthread_mutex_trylock(&context->mutex);
	if (result == 16 /* EBUSY */) {
		pause_a_while();
		goto again;
	}
	context->count++;
	pthread_mutex_unlock(&context->mutex);
	return 0;
}

/* Error numbers are positive: this is always true. */
int try_as_if_negative(struct context *context)
{
	int locked = pthread_mutex_trylock(&context->mutex) >= 0;

	context->count++;
	if (locked)
		pthread_mutex_unlock(&context->mutex); //~ lock/double-unlock
	return 0;
}

static void unlock_context(void *context)
{
	pthread_mutex_unlock(&((struct context *)context)->mutex);
}

/* What glibc makes of pthread_cleanup_push and pthread_cleanup_pop(1): at the second return of __sigsetjmp the thread is
   cancelled, and that is at some point within. */
#define CLEANUP_PUSH(routine, argument) \
	do { \
		sigjmp_buf buffer; \
		void (*cancel_routine)(void *) = (routine); \
		void *cancel_argument = (argument); \
		int not_first_call = __sigsetjmp(buffer, 0); \
		if (__builtin_expect(not_first_call, 0)) { \
			cancel_routine(cancel_argument); \
			__pthread_unwind_next(buffer); \
		} \
		do {
#define CLEANUP_POP(execute) \
			do { } while (0); \
		} while (0); \
		if (execute) \
			cancel_routine(cancel_argument); \
	} while (0)

void bump_until_none_is_left(struct context *context) //~ clean
{
	int left;

	do {
		CLEANUP_PUSH(unlock_context, context);
		pthread_mutex_lock(&context->mutex);
		left = --context->count;
		CLEANUP_POP(1);
	} while (left > 0);
}

/* The handler is popped and run, and the lock released once more. */
void bump_and_release_twice(struct context *context)
{
	CLEANUP_PUSH(unlock_context, context);
	pthread_mutex_lock(&context->mutex);
	context->count++;
	CLEANUP_POP(1);
	pthread_mutex_unlock(&context->mutex); //~ lock/double-unlock
}

/* A mutex that cannot be destroyed is held. */
#define EBUSY 16
int pthread_mutex_destroy(pthread_mutex_t *mutex);
#define DESTROY(m) do { if (pthread_mutex_destroy(m) == EBUSY) { pthread_mutex_unlock(m); pthread_mutex_destroy(m); } } while (0)

struct barrier { pthread_mutex_t mutex; int count; };

void barrier_free(struct barrier *b) //~ clean
{
	DESTROY(&b->mutex);
	b->count = 0;
}

void barrier_release_destroyed(struct barrier *b)
{
	if (pthread_mutex_destroy(&b->mutex) != EBUSY)
		pthread_mutex_unlock(&b->mutex); //~ known-miss lock/unlock-unheld
}
