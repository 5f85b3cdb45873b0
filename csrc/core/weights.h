/* Weights in canonical form, before a skin lays them out. Internal. */
#ifndef TPS_WEIGHTS_H
#define TPS_WEIGHTS_H

#include "internal.h"

typedef struct entry {
    double weight; /* a float32 value */
    int32_t joint;
} entry;

/* The canonical rows in the order of the mesh, before they are laid out in blocks. */
typedef struct weight_rows {
    int64_t *start;
    entry *entries;
    int32_t *width; /* V: how many entries the layout gives to a vertex: its own, or a few more of weight 0 */
} weight_rows;

/* Are the rows of a mesh in order, and their joints and weights in range? */
tps_status tps_check_rows(const tps_mesh *mesh, int64_t *where);

/* Fills rows for which there is room: start[V + 1], and as many entries as the mesh has. In each row joints come once,
 * the heaviest first (of equals, the lowest joint), without zeros, with the sum that the mesh asks for. */
void tps_canonical_rows(const tps_mesh *mesh, weight_rows *r);

#endif
