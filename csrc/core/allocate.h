/* Memory of checked sizes. Internal. */
#ifndef TPS_ALLOCATE_H
#define TPS_ALLOCATE_H

#include <stddef.h>
#include <stdint.h>

/* malloc of count * size bytes, NULL where that overflows; never a request for 0 bytes. */
void *tps_allocate(int64_t count, size_t size);

#endif
