#include "cache.h"

int flush_all(int device)
{
    return cache_flush(device, 0) + cache_flush(device, 1); //~ null/dereference
}
