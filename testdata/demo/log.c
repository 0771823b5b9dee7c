#include "relay.h"

#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *log_file;
static int log_errors;

int log_open(const char *path)
{
	FILE *file;

	pthread_mutex_lock(&log_lock);
	if (log_file != NULL) {
		pthread_mutex_unlock(&log_lock);
		return 0;
	}
	file = fopen(path, "a");
	if (file == NULL) {
		pthread_mutex_unlock(&log_lock);
		return -1;
	}
	log_file = file;
	pthread_mutex_unlock(&log_lock);
	return 0;
}

void log_line(const char *format, ...)
{
	va_list args;
	FILE *out;

	va_start(args, format);
	pthread_mutex_lock(&log_lock);
	out = log_file != NULL ? log_file : stderr;
	if (vfprintf(out, format, args) < 0)
		log_errors++;
	fputc('\n', out);
	pthread_mutex_unlock(&log_lock);
	va_end(args);
}

void log_close(void)
{
	pthread_mutex_lock(&log_lock);
	if (log_file != NULL) {
		fclose(log_file);
		log_file = NULL;
	}
	pthread_mutex_unlock(&log_lock);
}
