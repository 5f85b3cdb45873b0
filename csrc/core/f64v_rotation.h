/* Polar rotations of several matrices at a time. Internal. */
#ifndef TPS_F64V_ROTATION_H
#define TPS_F64V_ROTATION_H

#include "f64v.h"

/* Which are well inside float64's range and have a determinant of more than `well_conditioned` times the cube of their
 * size? At most 0.19 can be. Never those that are mirrored. */
F64V_INLINE f64v_mask f64v_well_conditioned(const f64v_mat3 *a, f64v determinant, double well_conditioned)
{
    f64v size = f64v_mat3_square(a);
    f64v_mask in_range = (f64v_mask)(size > 1e-60) & (f64v_mask)(size < 1e60) & (f64v_mask)(determinant > 0);
    return in_range &
           (f64v_mask)(determinant * determinant > well_conditioned * well_conditioned * (size * size * size));
}

/* The polar rotations, by Newton's iteration, and the mask of those that are right; see newton_rotation. After a step
 * all singular values are 1 + e_k with e_k >= 0, so the determinant less 1 bounds them, and the next step squares them.
 */
F64V_INLINE f64v_mask f64v_polar_rotation(const f64v_mat3 *a, f64v_mat3 *rotation)
{
    f64v_mat3 x = *a, c = f64v_mat3_cofactors(&x);
    f64v determinant = f64v_mat3_determinant(&x, &c);
    f64v_mask well_conditioned = f64v_well_conditioned(&x, determinant, 1e-3);
    f64v scale = f64v_sqrt(f64v_sqrt(f64v_mat3_square(&c) / (determinant * determinant * f64v_mat3_square(&x))));
    f64v of_x = 0.5 * scale, of_c = 0.5 / (determinant * scale);
    f64v_mask done = ~well_conditioned;
    for (int step = 0; step < 12; step++) {
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                x.m[i][k] = x.m[i][k] * of_x + c.m[i][k] * of_c;
            }
        }
        if (f64v_all(done)) {
            break;
        }
        c = f64v_mat3_cofactors(&x);
        determinant = f64v_mat3_determinant(&x, &c);
        done |= (f64v_mask)(determinant < 1 + 1e-8);
        of_x = f64v_of(0.5);
        of_c = 0.5 / determinant;
    }
    *rotation = x;
    return well_conditioned;
}

#endif
