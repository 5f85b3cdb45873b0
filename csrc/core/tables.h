/* A pose made ready for the kernel: float32 tables by joint, relative to a centre for each stage. Internal. */
#ifndef TPS_TABLES_H
#define TPS_TABLES_H

#include "separate.h"

/* The stages of a deformation, applied in this order; STAGE_STRAIGHT is the linear method beside them, for blend. */
enum { STAGE_NONRIGID = 1, STAGE_RIGID = 2, STAGE_INHERITED = 4, STAGE_STRAIGHT = 8 };

/* A matrix is four columns, each padded to four floats; a dual quaternion is real w x y z, the same again, dual w x y
 * z: what the kernel can load as whole vectors. */
#define TPS_MATRIX_FLOATS 16
#define TPS_DUAL_FLOATS 12

/* A row of each array for each of the skin's used joints. */
typedef struct tps_tables {
    int stages;
    float *nonrigid;
    float *rigid;
    float *inherited;
    float *straight;
    vec3 from; /* what the points are relative to before the first stage */
    vec3 to;   /* and after the last */
} tps_tables;

/* How many floats a joint's rows take together. */
#define TPS_TABLE_FLOATS (3 * TPS_MATRIX_FLOATS + TPS_DUAL_FLOATS)

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
