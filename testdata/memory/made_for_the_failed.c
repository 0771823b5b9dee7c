// A function makes an object only where another one has made none: that this one has failed before is no reason to tell that the object is lost.

#include <stdlib.h>

typedef struct bignum_st BIGNUM;

BIGNUM *BN_new(void);
void BN_free(BIGNUM *number);
BIGNUM *BN_bin2bn(const unsigned char *bytes, int size, BIGNUM *number);
int BN_is_odd(const BIGNUM *number);

int is_odd(const unsigned char *bytes, int size) //~ clean
{
    BIGNUM *number = BN_new();
    BN_bin2bn(bytes, size, number);
    int odd = number && BN_is_odd(number);
    BN_free(number);
    return odd;
}

int is_odd_and_forget(const unsigned char *bytes, int size)
{
    BIGNUM *number = BN_bin2bn(bytes, size, NULL); //~ heap/leak
    return number && BN_is_odd(number);
}
