/* Inverses of 3x3 and affine matrices. Internal. */
#ifndef TPS_INVERSE_H
#define TPS_INVERSE_H

#include "affine.h"

/* How far from singular a is: |det| over the cube of the largest entry, at most 6; 0 outside the range where this can
 * be computed. The error of a cofactor formula grows with its inverse. */
double tps_mat3_conditioning(const mat3 *a);

/* Is the smallest singular value <= 1e-9 times the largest? The zero matrix is singular. */
int tps_mat3_singular(const mat3 *a);

/* The inverse; the pseudo-inverse (singular values <= 1e-9 times the largest count as zero) where a is singular. */
mat3 tps_mat3_inverse(const mat3 *a);

/* The inverse of an affine map; by the pseudo-inverse of its linear part where that is singular. */
affine tps_affine_inverse(const affine *a);

#endif
