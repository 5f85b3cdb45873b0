/* The separation of one pose, joint by joint, before it is stored. Internal. */
#ifndef TPS_SEPARATE_H
#define TPS_SEPARATE_H

#include "internal.h"

/* The letters are those of docs/method.md; a prime there is left out here, except for what was given: */
typedef struct tps_joint {
    affine given;       /* W */
    affine given_frame; /* F */
    affine world;       /* W' */
    affine frame;       /* F' */
    affine u;           /* [R' | t'] */
    affine g;           /* the posed frame without scale */
    affine s;           /* inherited space ("after" only) */
    affine m, p, q, e;
    mat3 n;
    uint8_t muted, post;
} tps_joint;

/* Which joints carry, and which of them have an inheriting child that carries. */
enum { TPS_CARRIES = 1, TPS_POST = 2 };
void tps_mark(const tps_skeleton *s, const uint8_t *weighted, uint8_t *flags);

/* Fills joints[J]; world, n, m, p, q and e are valid for every joint. */
void tps_separate_joints(const tps_skeleton *s, const double *world, const tps_association *a, const uint8_t *flags,
                         tps_joint *joints);

/* A joint that carries nothing keeps its pose, all of it in P. */
void tps_leave_out(const tps_skeleton *s, const double *world, tps_joint *joint, int32_t j);

/* Fills joints[J].world alone. */
void tps_effective_pose(const tps_skeleton *s, const double *world, const tps_association *a, const uint8_t *flags,
                        tps_joint *joints);

#endif
