/* A pose made ready for the kernel: float32 tables by joint, relative to a centre for each stage. Internal. */
#ifndef TPS_TABLES_H
#define TPS_TABLES_H

#include "parts.h"

/* The stages of a deformation, applied in this order; STAGE_STRAIGHT is the linear method beside them, for blend. */
#define TPS_STAGES 4
enum { STAGE_NONRIGID = 1, STAGE_RIGID = 2, STAGE_INHERITED = 4, STAGE_STRAIGHT = 8 };

/* What a stage takes of a row: a matrix as four columns, each padded to four floats; a dual quaternion as real w x y z,
 * the same again, dual w x y z and padding. The kernel loads them as whole vectors. */
#define TPS_PART_FLOATS 16

/* A row for each of the skin's used joints: the parts of the stages that run, one behind the other. */
typedef struct tps_tables {
    int stages;
    float *rows;
    vec3 from; /* what the points are relative to before the first stage */
    vec3 to;   /* and after the last */
    int near;  /* are both so near to the origin that its float32 numbers are as fine as those about them? */
    int tame;  /* are all matrices regular and of such a size that cofactors' squares stay in float32's range? */
} tps_tables;

/* Where in a row the part of the stage 1 << number is. */
static inline int tps_part(int stages, int number)
{
    return TPS_PART_FLOATS * __builtin_popcount((unsigned)stages & ((1u << number) - 1));
}

static inline int tps_row_floats(int stages)
{
    return tps_part(stages, TPS_STAGES);
}

/* The pose's space matrix, taken apart once for all frames. */
typedef struct tps_space {
    int given;
    int similar; /* a rotation, mirror and uniform scale: it commutes with dual quaternion blending */
    affine in, out;
} tps_space;

tps_status tps_space_make(const double *matrix, tps_space *space);

/* Fills the tables of one frame, in memory of tps_scratch_size(J). */
void tps_tables_make(const tps_skin *skin, const tps_skeleton *skeleton, const tps_pose *pose, const double *world,
                     const tps_space *space, void *memory, tps_tables *tables);

#endif
