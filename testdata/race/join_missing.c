//~ race/sequential
//~ FIXED clean
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct request { char name[8]; int *answer; };

static void *serve(void *argument)
{
    struct request *request = argument;
    *request->answer = (int)strlen(request->name);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct request *request = malloc(sizeof *request);
    request->answer = malloc(sizeof(int));
    strcpy(request->name, "abc");
    pthread_create(&thread, NULL, serve, request);
#ifdef FIXED
    pthread_join(thread, NULL);
#endif
    free(request->answer);
    free(request);
#ifndef FIXED
    pthread_join(thread, NULL);
#endif
    return 0;
}
