/* As much of the C library as the files beside use. */
#ifndef STDIO_H
#define STDIO_H
typedef unsigned long size_t;
typedef struct file FILE;
#define NULL ((void *) 0)
FILE *fopen(const char *path, const char *mode);
int fclose(FILE *file);
int fputs(const char *text, FILE *file);
size_t fread(void *to, size_t size, size_t count, FILE *file);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *block);
char *strdup(const char *text);
#endif
