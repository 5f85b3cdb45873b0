/* The linear algebra of affine.h on several joints at a time, one in each lane. Internal.
 * Each lane computes what it would compute alone, in the same order, so a result does not depend on the neighbours or
 * on how wide the vectors are. */
#ifndef TPS_WIDE_H
#define TPS_WIDE_H

#include "affine.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

#define WIDE 2 /* what every x86-64 and arm64 processor has; four with AVX2 gained 5 to 10 % */
#define WIDE_INLINE static inline __attribute__((always_inline))

typedef double wide __attribute__((vector_size(8 * WIDE)));
typedef int64_t wide_mask __attribute__((vector_size(8 * WIDE)));

typedef struct wide_vec3 {
    wide x[3];
} wide_vec3;

typedef struct wide_mat3 {
    wide m[3][3];
} wide_mat3;

typedef struct wide_affine {
    wide_mat3 lin;
    wide_vec3 org;
} wide_affine;

/* b where the mask is set, else a */
WIDE_INLINE wide wide_choose(wide_mask mask, wide a, wide b)
{
    return (wide)(((wide_mask)a & ~mask) | ((wide_mask)b & mask));
}

WIDE_INLINE wide wide_larger(wide a, wide b)
{
    for (int l = 0; l < WIDE; l++) {
        a[l] = larger(a[l], b[l]);
    }
    return a;
}

WIDE_INLINE wide wide_sqrt(wide a)
{
    for (int l = 0; l < WIDE; l++) {
        a[l] = sqrt(a[l]);
    }
    return a;
}

WIDE_INLINE int wide_all(wide_mask mask)
{
    int64_t all = -1;
    for (int l = 0; l < WIDE; l++) {
        all &= mask[l];
    }
    return all != 0;
}

WIDE_INLINE wide wide_of(double a)
{
    return (wide){0} + a;
}

WIDE_INLINE wide_affine wide_affine_of(const affine *a)
{
    wide_affine r;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r.lin.m[i][k] = wide_of(a->lin.m[i][k]);
        }
        r.org.x[i] = wide_of(a->org.x[i]);
    }
    return r;
}

WIDE_INLINE wide_vec3 wide_vec3_of(vec3 a)
{
    return (wide_vec3){{wide_of(a.x[0]), wide_of(a.x[1]), wide_of(a.x[2])}};
}

WIDE_INLINE wide_vec3 wide_vec3_add(wide_vec3 a, wide_vec3 b)
{
    return (wide_vec3){{a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2]}};
}

WIDE_INLINE wide_vec3 wide_vec3_sub(wide_vec3 a, wide_vec3 b)
{
    return (wide_vec3){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

WIDE_INLINE wide wide_vec3_dot(wide_vec3 a, wide_vec3 b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

WIDE_INLINE wide_vec3 wide_vec3_cross(wide_vec3 a, wide_vec3 b)
{
    return (wide_vec3){
        {a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

WIDE_INLINE wide_vec3 wide_mat3_column(const wide_mat3 *a, int k)
{
    return (wide_vec3){{a->m[0][k], a->m[1][k], a->m[2][k]}};
}

WIDE_INLINE wide_mat3 wide_mat3_transpose(const wide_mat3 *a)
{
    return (wide_mat3){{{a->m[0][0], a->m[1][0], a->m[2][0]},
                        {a->m[0][1], a->m[1][1], a->m[2][1]},
                        {a->m[0][2], a->m[1][2], a->m[2][2]}}};
}

WIDE_INLINE wide_mat3 wide_mat3_mul(const wide_mat3 *a, const wide_mat3 *b)
{
    wide_mat3 c;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            c.m[i][k] = a->m[i][0] * b->m[0][k] + a->m[i][1] * b->m[1][k] + a->m[i][2] * b->m[2][k];
        }
    }
    return c;
}

WIDE_INLINE wide_vec3 wide_mat3_apply(const wide_mat3 *a, wide_vec3 v)
{
    wide_vec3 r;
    for (int i = 0; i < 3; i++) {
        r.x[i] = a->m[i][0] * v.x[0] + a->m[i][1] * v.x[1] + a->m[i][2] * v.x[2];
    }
    return r;
}

/* The cofactor matrix: the determinant times the inverse transpose. */
WIDE_INLINE wide_mat3 wide_mat3_cofactors(const wide_mat3 *a)
{
    wide_vec3 x = wide_mat3_column(a, 0), y = wide_mat3_column(a, 1), z = wide_mat3_column(a, 2);
    wide_vec3 yz = wide_vec3_cross(y, z), zx = wide_vec3_cross(z, x), xy = wide_vec3_cross(x, y);
    return (wide_mat3){{{yz.x[0], zx.x[0], xy.x[0]}, {yz.x[1], zx.x[1], xy.x[1]}, {yz.x[2], zx.x[2], xy.x[2]}}};
}

/* From the cofactors c of a. */
WIDE_INLINE wide wide_mat3_determinant(const wide_mat3 *a, const wide_mat3 *c)
{
    return wide_vec3_dot(wide_mat3_column(a, 0), wide_mat3_column(c, 0));
}

/* The sum of the squares of all entries. */
WIDE_INLINE wide wide_mat3_square(const wide_mat3 *a)
{
    wide sum[3];
    for (int i = 0; i < 3; i++) {
        sum[i] = a->m[i][0] * a->m[i][0] + a->m[i][1] * a->m[i][1] + a->m[i][2] * a->m[i][2];
    }
    return sum[0] + sum[1] + sum[2];
}

WIDE_INLINE wide_vec3 wide_affine_apply(const wide_affine *a, wide_vec3 v)
{
    return wide_vec3_add(wide_mat3_apply(&a->lin, v), a->org);
}

WIDE_INLINE wide_affine wide_affine_mul(const wide_affine *a, const wide_affine *b)
{
    return (wide_affine){wide_mat3_mul(&a->lin, &b->lin), wide_affine_apply(a, b->org)};
}

/* One lane of vectors in memory. (Clang copies a whole vector for a subscript that it does not know.) */
WIDE_INLINE double wide_get(const wide *a, int lane)
{
    double r;
    memcpy(&r, (const char *)a + sizeof r * (size_t)lane, sizeof r);
    return r;
}

WIDE_INLINE void wide_set(wide *a, int lane, double v)
{
    memcpy((char *)a + sizeof v * (size_t)lane, &v, sizeof v);
}

WIDE_INLINE vec3 wide_vec3_get(const wide_vec3 *a, int lane)
{
    return (vec3){{wide_get(&a->x[0], lane), wide_get(&a->x[1], lane), wide_get(&a->x[2], lane)}};
}

WIDE_INLINE void wide_vec3_set(wide_vec3 *a, int lane, vec3 v)
{
    for (int i = 0; i < 3; i++) {
        wide_set(&a->x[i], lane, v.x[i]);
    }
}

WIDE_INLINE mat3 wide_mat3_get(const wide_mat3 *a, int lane)
{
    mat3 r;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r.m[i][k] = wide_get(&a->m[i][k], lane);
        }
    }
    return r;
}

WIDE_INLINE void wide_mat3_set(wide_mat3 *a, int lane, const mat3 *v)
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            wide_set(&a->m[i][k], lane, v->m[i][k]);
        }
    }
}

WIDE_INLINE affine wide_affine_get(const wide_affine *a, int lane)
{
    return (affine){wide_mat3_get(&a->lin, lane), wide_vec3_get(&a->org, lane)};
}

WIDE_INLINE void wide_affine_set(wide_affine *a, int lane, const affine *v)
{
    wide_mat3_set(&a->lin, lane, &v->lin);
    wide_vec3_set(&a->org, lane, v->org);
}

/* From the public interface's 16 row-major doubles each. */
WIDE_INLINE wide_affine wide_affine_load(const double *const from[WIDE])
{
    wide_affine r;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r.lin.m[i][k] = (wide){from[0][4 * i + k], from[1][4 * i + k]};
        }
        r.org.x[i] = (wide){from[0][4 * i + 3], from[1][4 * i + 3]};
    }
    return r;
}

/* From a map each. */
WIDE_INLINE wide_affine wide_affine_gather(const affine *const from[WIDE])
{
    wide_affine r;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r.lin.m[i][k] = (wide){from[0]->lin.m[i][k], from[1]->lin.m[i][k]};
        }
        r.org.x[i] = (wide){from[0]->org.x[i], from[1]->org.x[i]};
    }
    return r;
}

#endif
