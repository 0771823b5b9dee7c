/* What a stream answers is nothing that a caller sees to: its errors are code that is come to, and the block is lost there (gnulib's `sha1_stream`
   without one of its releases). */
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 32768

size_t fread_unlocked(void *, size_t, size_t, FILE *);
int feof_unlocked(FILE *);
int ferror_unlocked(FILE *);
struct digest { unsigned words[20]; };
void digest_init(struct digest *);
void digest_block(const void *, size_t, struct digest *);
void digest_end(struct digest *, void *);

int digest_stream(FILE *stream, void *result)
{
    struct digest digest;
    char *buffer = malloc(BLOCK + 72); //~ conc heap/leak
    size_t sum;

    if (!buffer)
        return 1;
    digest_init(&digest);
    while (1) {
        size_t n;

        sum = 0;
        while (1) {
            if (feof_unlocked(stream))
                goto partial;
            n = fread_unlocked(buffer + sum, 1, BLOCK - sum, stream);
            sum += n;
            if (sum == BLOCK)
                break;
            if (n == 0) {
                if (ferror_unlocked(stream))
                    return 1;
                goto partial;
            }
        }
        digest_block(buffer, BLOCK, &digest);
    }
partial:
    if (sum > 0)
        digest_block(buffer, sum, &digest);
    digest_end(&digest, result);
    free(buffer);
    return 0;
}
