/* Singular values, inverses and best rotations of 3x3 matrices. Internal. */
#ifndef TPS_ROTATION_H
#define TPS_ROTATION_H

#include "affine.h"

/* How far from singular a is: |det| over the cube of the largest entry, at most 6; 0 outside the range where this can
 * be computed. The error of a cofactor formula grows with its inverse. */
double mat3_fatness(const mat3 *a);

/* Is the smallest singular value <= 1e-9 times the largest? The zero matrix is singular. */
int mat3_singular(const mat3 *a);

/* The inverse; the pseudo-inverse (singular values <= 1e-9 times the largest count as zero) where a is singular. */
mat3 mat3_inverse(const mat3 *a);

/* The inverse of an affine map; by the pseudo-inverse of its linear part where that is singular. */
affine affine_inverse(const affine *a);

/* Is it a proper rotation, to rounding? */
int is_rotation(const mat3 *x);

/* The proper rotation q that minimises |q a - c| (orthogonal Procrustes). Where it is not unique, the one of the best
 * that is nearest to the polar rotation of near_after * near_before, regular and with a positive determinant. */
mat3 best_rotation(const mat3 *a, const mat3 *c, const mat3 *near_after, const mat3 *near_before);

/* x = rotation * stretch. The stretch is symmetric, unless x is mirrored (regular, with a negative determinant): then
 * rotation is the polar rotation of x m, m the mirror along x, y, z or all three axes that leaves the least rotation,
 * the first of equals. Singular x: never mirrored; the best rotation that is nearest to none. */
void polar(const mat3 *x, mat3 *rotation, mat3 *stretch);

#endif
