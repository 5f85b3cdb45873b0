/* A pose made ready for the kernel: float32 tables by joint, relative to a centre for each stage. Internal. */
#ifndef TPS_TABLES_H
#define TPS_TABLES_H

#include "maps.h"

/* The stages of a deformation, applied in this order; STAGE_LINEAR_BLEND is the linear method beside them, for blend.
 */
#define TPS_STAGES 4
enum { STAGE_NONRIGID = 1, STAGE_RIGID = 2, STAGE_INHERITED = 4, STAGE_LINEAR_BLEND = 8 };

/* What a stage takes of a row: a matrix as four columns, each padded to four floats; a dual quaternion as real w x y z,
 * the same again, dual w x y z and padding. The kernel loads them as whole vectors. */
#define TPS_SEGMENT_FLOATS 16

/* A row for each of the skin's used joints: the segments of the stages that run, one behind the other. */
typedef struct tps_tables {
    int stages;
    float *rows;
    vec3 from;       /* what the points are relative to before the first stage */
    vec3 to;         /* and after the last */
    int near_origin; /* are both so near to the origin that its float32 numbers are as fine as those about them? */
    int cofactors_in_range; /* are all matrices regular and of such a size that cofactors' squares stay in float32's
                               range? */
} tps_tables;

/* Where in a row the segment of the stage 1 << number begins. */
static inline int tps_segment(int stages, int number)
{
    return TPS_SEGMENT_FLOATS * __builtin_popcount((unsigned)stages & ((1u << number) - 1));
}

static inline int tps_row_floats(int stages)
{
    return tps_segment(stages, TPS_STAGES);
}

/* A job's space matrix, taken apart. */
typedef struct tps_space {
    int given;
    int similar; /* a rotation, mirror and uniform scale: it commutes with dual quaternion blending */
    affine in, out;
} tps_space;

tps_status tps_space_make(const double *matrix, tps_space *space);

/* Fills the tables of one frame of a job whose space can be inverted, in memory of tps_scratch_size(J). */
void tps_tables_make(const tps_deform_job *job, int64_t frame, void *memory, tps_tables *tables);

#endif
