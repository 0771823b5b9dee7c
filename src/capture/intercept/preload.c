/*
 * Preloaded into the programs of a build that is captured: where one is about to run a compiler, a linker
 * or the like, it runs the interceptor instead, whatever path the tool was called by.
 *
 * PROGRAM, FOLDER, LIBRARY, MODE, LOAD, NAMES and COPIERS are defined before this text. No memory is
 * allocated: this runs between vfork and exec.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char program[] = PROGRAM;
static const char folder[] = FOLDER;
static const char library[] = LIBRARY;
static const char *const names[] = {NAMES NULL};
static const char *const copiers[] = {COPIERS NULL};

typedef int spawner(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                    char *const[], char *const[]);

static int (*real_execve)(const char *, char *const[], char *const[]);
static int (*real_execvpe)(const char *, char *const[], char *const[]);
static spawner *real_spawn;
static spawner *real_spawnp;
static void *(*real_dlopen)(const char *, int);
static int is_interceptor;

__attribute__((constructor)) static void find_real(void)
{
	char self[PATH_MAX];
	ssize_t length;

	if (real_execve)
		return;
	real_execvpe = (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execvpe");
	real_spawn = (spawner *)dlsym(RTLD_NEXT, "posix_spawn");
	real_spawnp = (spawner *)dlsym(RTLD_NEXT, "posix_spawnp");
	real_dlopen = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	length = readlink("/proc/self/exe", self, sizeof self);
	is_interceptor = length == (ssize_t)strlen(program) && !memcmp(self, program, length);
	real_execve = (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execve");
}

static int is_one_of(const char *const *list, const char *name, size_t length)
{
	for (; *list; list++)
		if (strlen(*list) == length && !memcmp(*list, name, length))
			return 1;
	return 0;
}

/* Whether a file of this name is what a compiler, an archiver or a linker makes. */
static int names_object(const char *word)
{
	size_t length = strlen(word);

	if (word[0] == '-')
		return 0;
	if (length > 2 && word[length - 2] == '.' && (word[length - 1] == 'o' || word[length - 1] == 'a'))
		return 1;
	return strstr(word, ".so") || strstr(word, ".lo") || strstr(word, ".obj");
}

static int is_tool(const char *path, char *const *words)
{
	const char *name = strrchr(path, '/');
	size_t length, start;

	name = name ? name + 1 : path;
	length = strlen(name);
	if (is_one_of(copiers, name, length)) {
		for (words += *words != NULL; *words; words++)
			if (names_object(*words))
				return 1;
		return 0;
	}
	if (is_one_of(names, name, length))
		return 1;
	/* A version at the end, and what comes before the tool's own name. */
	for (start = length; start && strchr("0123456789.", name[start - 1]); start--)
		;
	if (start < length && start && name[start - 1] == '-' && name[start] != '.')
		length = start - 1;
	for (start = length; start && name[start - 1] != '-'; start--)
		;
	return is_one_of(names, name + start, length - start);
}

static int is_program(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

static int is_wanted(const char *path, char *const *words)
{
	return path && words && !is_interceptor && is_tool(path, words) && is_program(path);
}

static size_t count(char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

/* The interceptor's words for those of the tool; `out` holds count(words) + 6. */
static void redirect(const char *path, char *const *words, char **out)
{
	size_t n = 0;

	out[n++] = (char *)program;
	out[n++] = (char *)MODE;
	out[n++] = (char *)folder;
	out[n++] = (char *)path;
	out[n++] = words[0] ? words[0] : (char *)path;
	for (size_t i = 1; words[0] && words[i]; i++)
		out[n++] = words[i];
	out[n] = NULL;
}

#define VARIABLE "LD_PRELOAD="

/* The place of the variable in an environment, or its end. */
static size_t variable(char *const *environment)
{
	size_t n = 0;

	while (environment && environment[n] && strncmp(environment[n], VARIABLE, sizeof VARIABLE - 1))
		n++;
	return n;
}

static int is_preloaded(char *const *environment)
{
	size_t at = variable(environment);

	return environment && environment[at] && strstr(environment[at], library);
}

/* An environment that has this library preloaded: builds that clean theirs are seen, too. */
#define WITH_LIBRARY(environment)                                                                    \
	if (!is_interceptor && !is_preloaded(environment)) {                                          \
		size_t at = variable(environment), all = count(environment);                          \
		char *old = environment && environment[at] ? environment[at] + sizeof VARIABLE - 1 : ""; \
		char *text = __builtin_alloca(sizeof VARIABLE + sizeof library + strlen(old) + 1);    \
		char **copy = __builtin_alloca((all + 2) * sizeof *copy);                              \
		strcpy(text, VARIABLE);                                                                \
		strcat(text, library);                                                                 \
		if (*old)                                                                              \
			strcat(strcat(text, ":"), old);                                                \
		for (size_t i = 0; i < all; i++)                                                       \
			copy[i] = environment[i];                                                      \
		copy[at] = text;                                                                       \
		copy[at == all ? all + 1 : all] = NULL;                                                \
		environment = copy;                                                                    \
	}

/* The program that a name means in the search path; `found` holds PATH_MAX bytes. */
static const char *search(const char *name, char *found)
{
	const char *path = getenv("PATH"), *end;

	if (!name || !*name || strchr(name, '/'))
		return name;
	for (path = path ? path : "/bin:/usr/bin";; path = end + 1) {
		end = strchr(path, ':');
		size_t length = end ? (size_t)(end - path) : strlen(path);
		if (length + strlen(name) + 2 < PATH_MAX) {
			memcpy(found, path, length);
			strcpy(found + length, length ? "/" : "./");
			strcat(found, name);
			if (is_program(found))
				return found;
		}
		if (!end)
			return NULL;
	}
}

int execve(const char *path, char *const words[], char *const given[])
{
	char **environment = (char **)given;

	find_real();
	WITH_LIBRARY(environment)
	if (!is_wanted(path, words))
		return real_execve(path, words, environment);
	char *others[count(words) + 6];
	redirect(path, words, others);
	return real_execve(program, others, environment);
}

int execvpe(const char *name, char *const words[], char *const given[])
{
	char **environment = (char **)given, found[PATH_MAX];

	find_real();
	WITH_LIBRARY(environment)
	if (name && words && !is_interceptor && is_tool(name, words)) {
		const char *path = search(name, found);
		if (is_wanted(path, words)) {
			char *others[count(words) + 6];
			redirect(path, words, others);
			return real_execve(program, others, environment);
		}
	}
	return real_execvpe(name, words, environment);
}

int execv(const char *path, char *const words[])
{
	return execve(path, words, environ);
}

int execvp(const char *name, char *const words[])
{
	return execvpe(name, words, environ);
}

static size_t count_listed(va_list list)
{
	size_t n = 1;

	while (va_arg(list, char *))
		n++;
	return n;
}

/* The words of a call that lists them. */
#define LISTED(first, words)                                                                         \
	va_list list;                                                                                  \
	va_start(list, first);                                                                         \
	size_t all = first ? count_listed(list) : 0;                                                   \
	va_end(list);                                                                                  \
	char *words[all + 1];                                                                          \
	words[0] = (char *)first;                                                                      \
	va_start(list, first);                                                                         \
	for (size_t i = 1; i <= all; i++)                                                              \
		words[i] = va_arg(list, char *);

int execl(const char *path, const char *first, ...)
{
	LISTED(first, words)
	va_end(list);
	return execve(path, words, environ);
}

int execlp(const char *name, const char *first, ...)
{
	LISTED(first, words)
	va_end(list);
	return execvpe(name, words, environ);
}

int execle(const char *path, const char *first, ...)
{
	LISTED(first, words)
	char **environment = va_arg(list, char **);
	va_end(list);
	return execve(path, words, environment);
}

int posix_spawn(pid_t *id, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const words[], char *const given[])
{
	char **environment = (char **)given;

	find_real();
	WITH_LIBRARY(environment)
	if (!is_wanted(path, words))
		return real_spawn(id, path, actions, attributes, words, environment);
	char *others[count(words) + 6];
	redirect(path, words, others);
	return real_spawn(id, program, actions, attributes, others, environment);
}

int posix_spawnp(pid_t *id, const char *name, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const words[], char *const given[])
{
	char **environment = (char **)given, found[PATH_MAX];

	find_real();
	WITH_LIBRARY(environment)
	if (name && words && !is_interceptor && is_tool(name, words)) {
		const char *path = search(name, found);
		if (is_wanted(path, words)) {
			char *others[count(words) + 6];
			redirect(path, words, others);
			return real_spawn(id, program, actions, attributes, others, environment);
		}
	}
	return real_spawnp(id, name, actions, attributes, words, environment);
}

#ifdef LOAD
#include <fcntl.h>
#include <sys/mman.h>

/* Whether a library was made of empty objects. */
static int is_empty(const char *path)
{
	static const char mark[] = MARK;
	struct stat status;
	int file = open(path, O_RDONLY | O_CLOEXEC), result = 0;

	if (file < 0)
		return 0;
	if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_size) {
		void *text = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		if (text != MAP_FAILED) {
			result = memmem(text, status.st_size, mark, sizeof mark - 1) != NULL;
			munmap(text, status.st_size);
		}
	}
	close(file);
	return result;
}

/* A library that a running program asks for is made for real first. */
void *dlopen(const char *path, int flags)
{
	find_real();
	if (path && strchr(path, '/') && !is_interceptor && is_empty(path)) {
		char *words[] = {(char *)program, (char *)LOAD, (char *)folder, (char *)path, NULL};
		pid_t id;
		if (!real_spawn(&id, program, NULL, NULL, words, environ))
			while (waitpid(id, NULL, 0) < 0 && errno == EINTR)
				;
	}
	/* A call in the last place: the caller is still who asks, as far as its search path goes. */
	return real_dlopen(path, flags);
}
#endif
