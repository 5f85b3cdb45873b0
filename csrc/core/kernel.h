/* The vertex loop. Internal. */
#ifndef TPS_KERNEL_H
#define TPS_KERNEL_H

#include "tables.h"

typedef struct tps_kernel_job {
    const tps_skin *skin;
    const tps_tables *tables;
    const float *points; /* V x 3 */
    const float *blend;  /* used with STAGE_STRAIGHT */
    int blend_per_vertex;
    float *out;
} tps_kernel_job;

/* Computes vertices begin..end-1 of one frame. */
void tps_kernel_points(const tps_kernel_job *job, int64_t begin, int64_t end);
void tps_kernel_normals(const tps_kernel_job *job, int64_t begin, int64_t end);
void tps_kernel_matrices(const tps_kernel_job *job, int inverse, int64_t begin, int64_t end);

#endif
