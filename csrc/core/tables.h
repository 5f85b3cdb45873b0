/* A pose made ready for the kernel: float32 tables by joint, relative to a centre for each stage. Internal. */
#ifndef TPS_TABLES_H
#define TPS_TABLES_H

#include "separate.h"

/* The stages of a deformation, applied in this order; STAGE_STRAIGHT is the linear method beside them, for blend. */
enum { STAGE_NONRIGID = 1, STAGE_RIGID = 2, STAGE_INHERITED = 4, STAGE_STRAIGHT = 8 };

typedef struct tps_tables {
    int stages;
    float *nonrigid;  /* J x 12, rows of 3x4 matrices */
    float *rigid;     /* J x 8, unit dual quaternions: real w x y z, dual w x y z */
    float *inherited; /* J x 12 */
    float *straight;  /* J x 12 */
    vec3 from;        /* what the points are relative to before the first stage */
    vec3 to;          /* and after the last */
} tps_tables;

/* How many floats the four arrays of a skeleton of J joints take together. */
#define TPS_TABLE_FLOATS 44

/* The pose's space matrix, taken apart once for all frames. */
typedef struct tps_space {
    int given;
    int similar; /* a rotation, mirror and uniform scale: it commutes with dual quaternion blending */
    affine in, out;
} tps_space;

tps_status tps_space_make(const double *matrix, tps_space *space);

/* Fills the tables of one frame; `joints` is scratch for J joints. */
void tps_tables_make(const tps_skin *skin, const tps_skeleton *skeleton, const tps_pose *pose, const double *world,
                     const tps_space *space, tps_joint *joints, tps_tables *tables);

#endif
