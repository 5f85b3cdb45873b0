/* What the core's files share: the structs behind the public names, and helpers. */
#ifndef TPS_INTERNAL_H
#define TPS_INTERNAL_H

#include "affine.h"
#include "tps.h"

#include <stddef.h>

struct tps_skeleton {
    int32_t joint_count;
    int32_t *parents;
    int32_t *order; /* parents first */
    uint8_t *inherits;
    affine *bind;
    affine *bind_inverse;
    affine *local;
};

struct tps_skin {
    int64_t vertex_count;
    int32_t joint_count;
    vec3 centre;        /* float32 values, so that moving to it rounds once */
    float *points;      /* V x 3 */
    float *normals;     /* V x 3 of unit length (or zero), or NULL */
    int64_t *row_start; /* V + 1 */
    int32_t *joints;    /* heaviest first in each row; of equals, the lowest joint */
    float *weights;     /* each row sums to 1 */
    uint8_t *weighted;  /* J */
    double *share;      /* J: the part of the mesh's weight that the joint has; sums to 1 */
};

/* Reports `at` through `where`, which may be NULL. */
static inline tps_status tps_fail(tps_status status, int64_t at, int64_t *where)
{
    if (where) {
        *where = at;
    }
    return status;
}

/* malloc of count * size bytes, NULL where that overflows; never a request for 0 bytes. */
void *tps_allocate(int64_t count, size_t size);

/* Runs work(context, item, worker) for each item 0..items-1, on `threads` threads of which the caller is one; worker is
 * 0..threads-1, and threads at most TPS_MOST_THREADS. Falls back to fewer threads where one cannot be started, so it
 * cannot fail. */
#define TPS_MOST_THREADS 256
typedef void (*tps_work)(void *context, int64_t item, int worker);
void tps_parallel(int64_t items, int threads, tps_work work, void *context);

/* The number of processors this process may use. */
int tps_processors(void);

#endif
