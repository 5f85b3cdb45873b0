/* The vertex loop, compiled for several instruction sets. Internal. */
#ifndef TPS_KERNEL_H
#define TPS_KERNEL_H

#include "tables.h"

#if defined(__x86_64__) || defined(_M_X64)
#define TPS_X86_64 1
#else
#define TPS_X86_64 0
#endif

/* What one frame's vertices are computed from, and where they go. */
struct tps_kernel_job {
    const tps_skin *skin;
    const tps_tables *tables;
    const float *points; /* V x 3 */
    tps_amount blend;    /* read with STAGE_LINEAR_BLEND */
    int offsets;
    float *points_out, *normals_out, *matrices_out, *inverse_matrices_out;
};

void tps_kernel_baseline(const tps_kernel_job *job, int64_t block);
#if TPS_X86_64
void tps_kernel_avx2(const tps_kernel_job *job, int64_t block);
void tps_kernel_avx512(const tps_kernel_job *job, int64_t block);
#endif

#endif
