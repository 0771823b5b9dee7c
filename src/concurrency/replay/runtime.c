/* A program that fails in one way: `cassini race --replay` wrote it. Compile it with `cc -pthread` and run it.
 *
 * Each thread counts the steps at which others may see what it does. A step that the schedule names waits for its turn, and
 * gives the turn on when the thread comes to its next step. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

typedef uintptr_t P;
struct event { int thread; long step; };
@TABLES@
static sem_t turns[EVENTS + 1];
static _Thread_local int self;
static _Thread_local long steps;
static _Thread_local int own;
static _Thread_local int taken = -1;
static _Thread_local long drawn;
static _Thread_local int quiet;
/* Atomic sections that the thread is in: the turn is given on behind them. */
static _Thread_local int inside;
static int threads = 1;

static void complete(void)
{
	if (taken >= 0)
		sem_post(&turns[taken + 1]);
	taken = -1;
}

static void no_way_on(int signal)
{
	static const char text[] = "replay: no thread goes on\n";
	(void)signal;
	if (write(2, text, sizeof text - 1) < 0)
		_exit(1);
	abort();
}

static void await(int turn)
{
	while (sem_wait(&turns[turn]) != 0)
		;
}

/* Before the failing step. */
static void failing(void)
{
	await(EVENTS);
	fprintf(stderr, "replay: %s\n", MESSAGE);
	if (ABORTS)
		abort();
}

static void step(void)
{
	if (quiet)
		return;
	if (!inside)
		complete();
	steps++;
	if (steps > totals[self]) {
		if (DEADLOCK)
			return;
		if (self != FAILING)
			for (;;)
				pause();
		if (steps == totals[self] + 1)
			failing();
		return;
	}
	while (own < EVENTS && schedule[own].thread != self)
		own++;
	if (own < EVENTS && schedule[own].step == steps) {
		await(own);
		taken = own++;
		if (DEADLOCK && taken == EVENTS - 1)
			alarm(2);
	}
}

static uint64_t draw(void)
{
	long at = drawn++;
	return at < draws[self].count ? draws[self].values[at] : 0;
}

static P input_pointer(uint64_t size)
{
	if (draw() == 0)
		return 0;
	char *bytes = malloc(size);
	for (uint64_t at = 0; at < size; at += 8) {
		uint64_t value = draw();
		memcpy(bytes + at, &value, size - at < 8 ? size - at : 8);
	}
	return (P)bytes;
}

struct begin { P function, arguments[4]; int number; };
static void thread_locals(void);

static void *begin(void *given)
{
	struct begin now = *(struct begin *)given;
	free(given);
	self = now.number;
	quiet = 1;
	thread_locals();
	quiet = 0;
	P result = ((P (*)(P, P, P, P))now.function)(now.arguments[0], now.arguments[1], now.arguments[2], now.arguments[3]);
	complete();
	return (void *)result;
}

static int create(P handle, P function, P a, P b, P c, P d)
{
	struct begin *now = malloc(sizeof *now);
	pthread_t thread;
	*now = (struct begin){ function, { a, b, c, d }, threads++ };
	if (pthread_create(&thread, NULL, begin, now) != 0)
		abort();
	if (handle)
		memcpy((void *)handle, &thread, sizeof thread);
	return 0;
}

static int join(P handle, P result, int wide)
{
	void *value = NULL;
	pthread_join((pthread_t)handle, &value);
	if (result && wide)
		*(void **)result = value;
	else if (result)
		*(int *)result = (int)(P)value;
	return 0;
}

/* The wait ends when its turn comes. */
static int wait_for(P mutex)
{
	pthread_mutex_unlock((pthread_mutex_t *)mutex);
	step();
	while (steps > totals[self])
		pause();
	pthread_mutex_lock((pthread_mutex_t *)mutex);
	return 0;
}

static void barrier_init(P barrier, unsigned needed)
{
	((unsigned *)barrier)[0] = needed;
	((unsigned *)barrier)[1] = 0;
}

static int barrier(P barrier)
{
	unsigned *words = (unsigned *)barrier;
	if (++words[1] == words[0]) {
		words[1] = 0;
		return -1;
	}
	step();
	while (steps > totals[self])
		pause();
	return 0;
}

static void leave(P result)
{
	complete();
	pthread_exit((void *)result);
}
