/* The maps that vertices are deformed with. Internal. */
#ifndef TPS_MAPS_H
#define TPS_MAPS_H

#include "pack.h"
#include "separate.h"

/* What one frame is prepared in. */
#define TPS_SCRATCH_ALIGNMENT 64
typedef struct tps_scratch {
    tps_maps *maps;
    tps_joint *joints; /* J, of poses that are not regular */
    uint8_t *flags;    /* J, of tps_mark */
} tps_scratch;

/* A multiple of the alignment. */
size_t tps_scratch_size(int32_t joint_count);

/* The scratch in memory of that size and alignment. */
tps_scratch tps_scratch_in(void *memory, int32_t joint_count);

/* The maps that a method needs: w, p, and q unless linear. Is there a map e as well? */
int tps_maps_make(const tps_skeleton *s, tps_method method, const tps_association *a, const double *world,
                  const tps_scratch *scratch);

#endif
