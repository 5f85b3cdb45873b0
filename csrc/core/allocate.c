#include "allocate.h"

#include <stdlib.h>

void *tps_allocate(int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > (uint64_t)(PTRDIFF_MAX / (int64_t)size)) {
        return NULL;
    }
    return malloc(count > 0 ? (size_t)count * size : 1);
}
