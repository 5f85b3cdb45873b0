/* Skinning of one vertex, as docs/method.md writes it: scalar, in double, nothing shared with the core. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "rig.h"

/* Each phase's matrices, J of 16 doubles. */
typedef struct phases {
    double *nonrigid, *rigid, *inherited, *straight, *world;
} phases;

/* The phases of a pose by the core's separation (two_phase), or by a decomposition of our own (dual_quaternion). */
phases phases_of(const rig *r, const tps_deform_job *job);
void phases_free(phases *p);

/* One vertex deformed; `normal` may be NULL. Returns 0 where the blend is of opposite quaternions, to 1e-3, and either
 * sign is right. */
int reference_vertex(const rig *r, const phases *phases, const tps_deform_job *job, int64_t vertex, const float *points,
                     double point[3], double normal[3]);

/* The inverse of an affine matrix that is regular. */
void matrix_inverse(const double *m, double *inverse);

#endif
