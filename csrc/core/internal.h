/* What the core's files share: the structs behind the public names, and helpers. */
#ifndef TPS_INTERNAL_H
#define TPS_INTERNAL_H

#include "affine.h"
#include "allocate.h"
#include "tps.h"
#include "workspace.h"

#include <stddef.h>

struct tps_skeleton {
    int32_t joint_count;
    int32_t *parents;
    int32_t *order; /* parents first */
    uint8_t *inherits;
    int any_inherits;
    int closed_forms;    /* see regular.c: rigid binds, and no joint is compensated below one that inherits */
    double size_squared; /* of the largest distance of a joint from the origin at rest, at least 1 */
    affine *bind;
    affine *bind_inverse;
    affine *local;
};

/* A skin's vertices are kept in blocks of neighbours in the mesh. Inside a block they are grouped by their number of
 * influences, so that a bucket's loop has one length and no misprediction, and what it writes stays in the cache. */
#define TPS_BLOCK 2048

/* How many vertices the kernel takes at a time. A bucket's last row is repeated until it has a multiple of this. */
#define TPS_BUCKET_MULTIPLE 8

static inline int64_t tps_padded(int64_t vertex_count)
{
    return (vertex_count + TPS_BUCKET_MULTIPLE - 1) / TPS_BUCKET_MULTIPLE * TPS_BUCKET_MULTIPLE;
}

typedef struct tps_block {
    int64_t first_entry; /* into joints and weights */
    int64_t first_bucket;
    int32_t bucket_count;
} tps_block;

typedef struct tps_bucket {
    int32_t influences;
    int32_t vertex_count;
} tps_bucket;

typedef struct tps_kernel_job tps_kernel_job;

/* Computes the vertices of one block. */
typedef void (*tps_kernel)(const tps_kernel_job *job, int64_t block);

/* The kernel at an index of tps_kernel_name, or NULL. */
tps_kernel tps_kernel_function(int index);

struct tps_skin {
    int64_t vertex_count;
    int32_t joint_count;
    tps_kernel kernel;
    vec3 centre;    /* float32 values, so that moving to it rounds once */
    int at_origin;  /* 1: the centre is the origin, and stays there: sums of weights other than 1 scale about it */
    double extent;  /* from the centre to the farthest side of the mesh's box */
    float *points;  /* V x 3 */
    float *normals; /* V x 3 of unit length (or zero), or NULL */

    int64_t block_count;
    tps_block *blocks;
    tps_bucket *buckets;
    uint16_t *slots;     /* V: vertices, numbered inside their block, in the order of the buckets */
    int64_t entry_count; /* without the repeated rows and the entries of weight 0 */
    uint16_t *joints;    /* by slot; in each row heaviest first, of equals the lowest joint; numbered as in `used` */
    float *weights;      /* each row sums to 1, but for TPS_ROW_SUM_GIVEN */

    uint8_t *weighted; /* J */
    int32_t used_count;
    int32_t *used;       /* the weighted joints, ascending */
    double *mesh_weight; /* used_count: the part of the mesh's weight that the joint has; sums to 1 */

    tps_workspace *workspace; /* shared by all threads that deform; nothing else changes once the skin is made */
};

/* Reports `at` through `where`, which may be NULL. */
static inline tps_status tps_fail(tps_status status, int64_t at, int64_t *where)
{
    if (where) {
        *where = at;
    }
    return status;
}

#endif
