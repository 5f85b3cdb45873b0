/* Best rotations of 3x3 matrices. Internal. */
#ifndef TPS_ROTATION_H
#define TPS_ROTATION_H

#include "affine.h"

/* Is it a proper rotation, to rounding? */
int tps_is_rotation(const mat3 *x);

/* The proper rotation q that minimises |q a - c| (orthogonal Procrustes). Where it is not unique, the one of the best
 * that is nearest to the polar rotation of near_after * near_before, regular and with a positive determinant. */
mat3 tps_best_rotation(const mat3 *a, const mat3 *c, const mat3 *near_after, const mat3 *near_before);

/* x = rotation * stretch. The stretch is symmetric, unless x is mirrored (regular, with a negative determinant): then
 * rotation is the polar rotation of x m, m the mirror along x, y, z or all three axes that leaves the least rotation,
 * the first of equals. Singular x: never mirrored; the best rotation that is nearest to none. */
void tps_polar(const mat3 *x, mat3 *rotation, mat3 *stretch);

#endif
