/* Polar rotations of several matrices at a time. Internal. */
#ifndef TPS_WIDE_ROTATION_H
#define TPS_WIDE_ROTATION_H

#include "wide.h"

/* Which are well inside float64's range and have a determinant of more than `fat` times the cube of their size? At most
 * 0.19 can be. Never those that are mirrored. */
WIDE_INLINE wide_mask wide_fat(const wide_mat3 *a, wide determinant, double fat)
{
    wide size = wide_mat3_square(a);
    wide_mask in_range = (wide_mask)(size > 1e-60) & (wide_mask)(size < 1e60) & (wide_mask)(determinant > 0);
    return in_range & (wide_mask)(determinant * determinant > fat * fat * (size * size * size));
}

/* The polar rotations, by Newton's iteration, and the mask of those that are right; see newton_rotation. After a step
 * all singular values are 1 + e_k with e_k >= 0, so the determinant less 1 bounds them, and the next step squares them.
 */
WIDE_INLINE wide_mask wide_polar_rotation(const wide_mat3 *a, wide_mat3 *rotation)
{
    wide_mat3 x = *a, c = wide_mat3_cofactors(&x);
    wide determinant = wide_mat3_determinant(&x, &c);
    wide_mask fat = wide_fat(&x, determinant, 1e-3);
    wide scale = wide_sqrt(wide_sqrt(wide_mat3_square(&c) / (determinant * determinant * wide_mat3_square(&x))));
    wide of_x = 0.5 * scale, of_c = 0.5 / (determinant * scale);
    wide_mask done = ~fat;
    for (int step = 0; step < 12; step++) {
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                x.m[i][k] = x.m[i][k] * of_x + c.m[i][k] * of_c;
            }
        }
        if (wide_all(done)) {
            break;
        }
        c = wide_mat3_cofactors(&x);
        determinant = wide_mat3_determinant(&x, &c);
        done |= (wide_mask)(determinant < 1 + 1e-8);
        of_x = wide_of(0.5);
        of_c = 0.5 / determinant;
    }
    *rotation = x;
    return fat;
}

#endif
