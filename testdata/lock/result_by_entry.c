/* A callee gives the lock back if and only if it returns false, and its caller has taken it only where the callee may do so: that the callee
   returns true where there is no generator is part of a large result. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct response {
	pthread_mutex_t mutex;
	long (*generate)(void *arg, unsigned long pos, char *data, unsigned long max);
	void *arg;
	unsigned long total, start, size, room;
	char *data;
};
struct request { struct response *response; unsigned long position; int state; };

int connection_close(struct request *request, int how);
int log_error(struct request *request, const char *text);

static bool ready_body(struct request *request)
{
	struct response *response = request->response;
	long ret;

	if (response->generate == NULL)
		return true;
	if (response->total == 0 || request->position == response->total)
		return true;
	if (response->start <= request->position && response->size + response->start > request->position)
		return true;
	ret = response->generate(response->arg, request->position, response->data,
				 response->room < response->total - request->position ? response->room
										      : response->total - request->position);
	if (ret == -1 || ret == -2) {
		response->total = request->position;
		pthread_mutex_unlock(&response->mutex);
		if (ret == -1)
			connection_close(request, 1);
		else
			log_error(request, "failed");
		return false;
	}
	response->start = request->position;
	response->size = ret;
	if (ret == 0) {
		request->state = 4;
		pthread_mutex_unlock(&response->mutex);
		return false;
	}
	return true;
}

int write_body(struct request *request) //~ clean
{
	struct response *response = request->response;

	if (response->generate != NULL)
		pthread_mutex_lock(&response->mutex);
	if (!ready_body(request))
		return 0;
	request->state = 5;
	if (response->generate != NULL)
		pthread_mutex_unlock(&response->mutex);
	return 1;
}

int write_unlocked(struct request *request)
{
	struct response *response = request->response;

	if (response->generate == NULL)
		pthread_mutex_lock(&response->mutex);
	if (!ready_body(request)) //~ lock/unlock-unheld
		return 0;
	request->state = 5;
	if (response->generate == NULL)
		pthread_mutex_unlock(&response->mutex);
	return 1;
}
