/* The linear algebra of affine.h on several joints at a time, one in each lane. Internal.
 * Each lane computes what it would compute alone, in the same order, so a result does not depend on the neighbours or
 * on how f64v the vectors are. */
#ifndef TPS_F64V_H
#define TPS_F64V_H

#include "affine.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

#define F64_LANES 2 /* what every x86-64 and arm64 processor has; four with AVX2 gained 5 to 10 % */
#define F64V_INLINE static inline __attribute__((always_inline))

typedef double f64v __attribute__((vector_size(8 * F64_LANES)));
typedef int64_t f64v_mask __attribute__((vector_size(8 * F64_LANES)));

typedef struct f64v_vec3 {
    f64v x[3];
} f64v_vec3;

typedef struct f64v_mat3 {
    f64v m[3][3];
} f64v_mat3;

typedef struct f64v_affine {
    f64v_mat3 linear;
    f64v_vec3 translation;
} f64v_affine;

/* b where the mask is set, else a */
F64V_INLINE f64v f64v_choose(f64v_mask mask, f64v a, f64v b)
{
    return (f64v)(((f64v_mask)a & ~mask) | ((f64v_mask)b & mask));
}

F64V_INLINE f64v f64v_larger(f64v a, f64v b)
{
    for (int l = 0; l < F64_LANES; l++) {
        a[l] = larger(a[l], b[l]);
    }
    return a;
}

F64V_INLINE f64v f64v_sqrt(f64v a)
{
    for (int l = 0; l < F64_LANES; l++) {
        a[l] = sqrt(a[l]);
    }
    return a;
}

F64V_INLINE int f64v_all(f64v_mask mask)
{
    int64_t all = -1;
    for (int l = 0; l < F64_LANES; l++) {
        all &= mask[l];
    }
    return all != 0;
}

F64V_INLINE f64v f64v_of(double a)
{
    return (f64v){0} + a;
}

F64V_INLINE f64v_affine f64v_affine_of(const affine *a)
{
    f64v_affine r;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r.linear.m[i][k] = f64v_of(a->linear.m[i][k]);
        }
        r.translation.x[i] = f64v_of(a->translation.x[i]);
    }
    return r;
}

F64V_INLINE f64v_vec3 f64v_vec3_of(vec3 a)
{
    return (f64v_vec3){{f64v_of(a.x[0]), f64v_of(a.x[1]), f64v_of(a.x[2])}};
}

F64V_INLINE f64v_vec3 f64v_vec3_add(f64v_vec3 a, f64v_vec3 b)
{
    return (f64v_vec3){{a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2]}};
}

F64V_INLINE f64v_vec3 f64v_vec3_sub(f64v_vec3 a, f64v_vec3 b)
{
    return (f64v_vec3){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

F64V_INLINE f64v f64v_vec3_dot(f64v_vec3 a, f64v_vec3 b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

F64V_INLINE f64v_vec3 f64v_vec3_cross(f64v_vec3 a, f64v_vec3 b)
{
    return (f64v_vec3){
        {a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

F64V_INLINE f64v_vec3 f64v_mat3_column(const f64v_mat3 *a, int k)
{
    return (f64v_vec3){{a->m[0][k], a->m[1][k], a->m[2][k]}};
}

F64V_INLINE f64v_mat3 f64v_mat3_transpose(const f64v_mat3 *a)
{
    return (f64v_mat3){{{a->m[0][0], a->m[1][0], a->m[2][0]},
                        {a->m[0][1], a->m[1][1], a->m[2][1]},
                        {a->m[0][2], a->m[1][2], a->m[2][2]}}};
}

F64V_INLINE f64v_mat3 f64v_mat3_mul(const f64v_mat3 *a, const f64v_mat3 *b)
{
    f64v_mat3 c;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            c.m[i][k] = a->m[i][0] * b->m[0][k] + a->m[i][1] * b->m[1][k] + a->m[i][2] * b->m[2][k];
        }
    }
    return c;
}

F64V_INLINE f64v_vec3 f64v_mat3_apply(const f64v_mat3 *a, f64v_vec3 v)
{
    f64v_vec3 r;
    for (int i = 0; i < 3; i++) {
        r.x[i] = a->m[i][0] * v.x[0] + a->m[i][1] * v.x[1] + a->m[i][2] * v.x[2];
    }
    return r;
}

/* The cofactor matrix: the determinant times the inverse transpose. */
F64V_INLINE f64v_mat3 f64v_mat3_cofactors(const f64v_mat3 *a)
{
    f64v_vec3 x = f64v_mat3_column(a, 0), y = f64v_mat3_column(a, 1), z = f64v_mat3_column(a, 2);
    f64v_vec3 yz = f64v_vec3_cross(y, z), zx = f64v_vec3_cross(z, x), xy = f64v_vec3_cross(x, y);
    return (f64v_mat3){{{yz.x[0], zx.x[0], xy.x[0]}, {yz.x[1], zx.x[1], xy.x[1]}, {yz.x[2], zx.x[2], xy.x[2]}}};
}

/* From the cofactors c of a. */
F64V_INLINE f64v f64v_mat3_determinant(const f64v_mat3 *a, const f64v_mat3 *c)
{
    return f64v_vec3_dot(f64v_mat3_column(a, 0), f64v_mat3_column(c, 0));
}

/* The sum of the squares of all entries. */
F64V_INLINE f64v f64v_mat3_square(const f64v_mat3 *a)
{
    f64v sum[3];
    for (int i = 0; i < 3; i++) {
        sum[i] = a->m[i][0] * a->m[i][0] + a->m[i][1] * a->m[i][1] + a->m[i][2] * a->m[i][2];
    }
    return sum[0] + sum[1] + sum[2];
}

F64V_INLINE f64v_vec3 f64v_affine_apply(const f64v_affine *a, f64v_vec3 v)
{
    return f64v_vec3_add(f64v_mat3_apply(&a->linear, v), a->translation);
}

F64V_INLINE f64v_affine f64v_affine_mul(const f64v_affine *a, const f64v_affine *b)
{
    return (f64v_affine){f64v_mat3_mul(&a->linear, &b->linear), f64v_affine_apply(a, b->translation)};
}

/* One lane of vectors in memory. (Clang copies a whole vector for a subscript that it does not know.) */
F64V_INLINE double f64v_get(const f64v *a, int lane)
{
    double r;
    memcpy(&r, (const char *)a + sizeof r * (size_t)lane, sizeof r);
    return r;
}

F64V_INLINE void f64v_set(f64v *a, int lane, double v)
{
    memcpy((char *)a + sizeof v * (size_t)lane, &v, sizeof v);
}

F64V_INLINE vec3 f64v_vec3_get(const f64v_vec3 *a, int lane)
{
    return (vec3){{f64v_get(&a->x[0], lane), f64v_get(&a->x[1], lane), f64v_get(&a->x[2], lane)}};
}

F64V_INLINE void f64v_vec3_set(f64v_vec3 *a, int lane, vec3 v)
{
    for (int i = 0; i < 3; i++) {
        f64v_set(&a->x[i], lane, v.x[i]);
    }
}

F64V_INLINE mat3 f64v_mat3_get(const f64v_mat3 *a, int lane)
{
    mat3 r;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r.m[i][k] = f64v_get(&a->m[i][k], lane);
        }
    }
    return r;
}

F64V_INLINE void f64v_mat3_set(f64v_mat3 *a, int lane, const mat3 *v)
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            f64v_set(&a->m[i][k], lane, v->m[i][k]);
        }
    }
}

F64V_INLINE affine f64v_affine_get(const f64v_affine *a, int lane)
{
    return (affine){f64v_mat3_get(&a->linear, lane), f64v_vec3_get(&a->translation, lane)};
}

F64V_INLINE void f64v_affine_set(f64v_affine *a, int lane, const affine *v)
{
    f64v_mat3_set(&a->linear, lane, &v->linear);
    f64v_vec3_set(&a->translation, lane, v->translation);
}

/* From the public interface's 16 row-major doubles each. */
F64V_INLINE f64v_affine f64v_affine_load(const double *const from[F64_LANES])
{
    f64v_affine r;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r.linear.m[i][k] = (f64v){from[0][4 * i + k], from[1][4 * i + k]};
        }
        r.translation.x[i] = (f64v){from[0][4 * i + 3], from[1][4 * i + 3]};
    }
    return r;
}

/* From a map each. */
F64V_INLINE f64v_affine f64v_affine_gather(const affine *const from[F64_LANES])
{
    f64v_affine r;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r.linear.m[i][k] = (f64v){from[0]->linear.m[i][k], from[1]->linear.m[i][k]};
        }
        r.translation.x[i] = (f64v){from[0]->translation.x[i], from[1]->translation.x[i]};
    }
    return r;
}

#endif
