/* Small float64 linear algebra on values: 3-vectors, 3x3 and affine matrices. */
#ifndef TPS_AFFINE_H
#define TPS_AFFINE_H

#include <math.h>

typedef struct vec3 {
    double x[3];
} vec3;

typedef struct mat3 {
    double m[3][3];
} mat3;

/* p -> linear p + translation */
typedef struct affine {
    mat3 linear;
    vec3 translation;
} affine;

static const mat3 MAT3_ONE = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
static const affine AFFINE_ONE = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {{0, 0, 0}}};

/* x rounded to float32. Not to be inlined: GCC 12 drops the rounding where it vectorises neighbours of it (-O3). */
double tps_rounded(double x);

/* fmax without a call into the library. */
static inline double larger(double a, double b)
{
    return b > a ? b : a;
}

static inline vec3 vec3_add(vec3 a, vec3 b)
{
    return (vec3){{a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2]}};
}

static inline vec3 vec3_sub(vec3 a, vec3 b)
{
    return (vec3){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static inline vec3 vec3_scale(vec3 a, double s)
{
    return (vec3){{a.x[0] * s, a.x[1] * s, a.x[2] * s}};
}

static inline double vec3_dot(vec3 a, vec3 b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static inline vec3 vec3_cross(vec3 a, vec3 b)
{
    return (vec3){
        {a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static inline vec3 mat3_column(const mat3 *a, int k)
{
    return (vec3){{a->m[0][k], a->m[1][k], a->m[2][k]}};
}

static inline void mat3_set_column(mat3 *a, int k, vec3 v)
{
    for (int i = 0; i < 3; i++) {
        a->m[i][k] = v.x[i];
    }
}

static inline mat3 mat3_mul(const mat3 *a, const mat3 *b)
{
    mat3 c;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            c.m[i][k] = a->m[i][0] * b->m[0][k] + a->m[i][1] * b->m[1][k] + a->m[i][2] * b->m[2][k];
        }
    }
    return c;
}

static inline mat3 mat3_transpose(const mat3 *a)
{
    mat3 c;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            c.m[i][k] = a->m[k][i];
        }
    }
    return c;
}

static inline vec3 mat3_apply(const mat3 *a, vec3 v)
{
    vec3 r;
    for (int i = 0; i < 3; i++) {
        r.x[i] = a->m[i][0] * v.x[0] + a->m[i][1] * v.x[1] + a->m[i][2] * v.x[2];
    }
    return r;
}

static inline double mat3_largest(const mat3 *a)
{
    double largest[3] = {0, 0, 0}; /* three short chains, not a long one */
    for (int i = 0; i < 9; i++) {
        largest[i % 3] = larger(largest[i % 3], fabs(a->m[i / 3][i % 3]));
    }
    return larger(larger(largest[0], largest[1]), largest[2]);
}

static inline double mat3_determinant(const mat3 *a)
{
    return vec3_dot(mat3_column(a, 0), vec3_cross(mat3_column(a, 1), mat3_column(a, 2)));
}

/* The cofactor matrix: det(a) times the inverse transpose. */
static inline mat3 mat3_cofactors(const mat3 *a)
{
    vec3 x = mat3_column(a, 0), y = mat3_column(a, 1), z = mat3_column(a, 2);
    mat3 c;
    mat3_set_column(&c, 0, vec3_cross(y, z));
    mat3_set_column(&c, 1, vec3_cross(z, x));
    mat3_set_column(&c, 2, vec3_cross(x, y));
    return c;
}

static inline vec3 affine_apply(const affine *a, vec3 v)
{
    return vec3_add(mat3_apply(&a->linear, v), a->translation);
}

static inline affine affine_mul(const affine *a, const affine *b)
{
    return (affine){mat3_mul(&a->linear, &b->linear), affine_apply(a, b->translation)};
}

/* a * [n | 0] */
static inline affine affine_mul_linear(const affine *a, const mat3 *n)
{
    return (affine){mat3_mul(&a->linear, n), a->translation};
}

/* The inverse of a rigid transform. */
static inline affine affine_inverse_rigid(const affine *a)
{
    affine r;
    r.linear = mat3_transpose(&a->linear);
    r.translation = vec3_scale(mat3_apply(&r.linear, a->translation), -1);
    return r;
}

/* From and to the 16 row-major doubles of the public interface. */
static inline affine affine_load(const double *m)
{
    affine a;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            a.linear.m[i][k] = m[4 * i + k];
        }
        a.translation.x[i] = m[4 * i + 3];
    }
    return a;
}

static inline void affine_store(const affine *a, double *m)
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            m[4 * i + k] = a->linear.m[i][k];
        }
        m[4 * i + 3] = a->translation.x[i];
        m[12 + i] = 0;
    }
    m[15] = 1;
}

#endif
