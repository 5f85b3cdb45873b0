/* Vectors of lanes, one vertex in each: eight lanes, or four where F32_LANES says so. Written with the vector
 * extensions of GCC and Clang. Included by kernel.inl, once for each instruction set. */
#include <stdint.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#else
#pragma clang fp contract(fast)
#endif

#define INLINE static inline __attribute__((always_inline))
#define LANE_BYTES (4 * F32_LANES)

typedef float f32v __attribute__((vector_size(LANE_BYTES)));
typedef float f32v_unaligned __attribute__((vector_size(LANE_BYTES), aligned(4), may_alias));
typedef int32_t i32v __attribute__((vector_size(LANE_BYTES)));
typedef float fours __attribute__((vector_size(16)));

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define SHUFFLE_SIZES
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (i32v){__VA_ARGS__})
#endif

INLINE f32v load(const float *p)
{
    return *(const f32v_unaligned *)p;
}

INLINE void store(float *p, f32v a)
{
    *(f32v_unaligned *)p = a;
}

/* One vector in each lane. */
typedef struct vectors {
    f32v x, y, z;
} vectors;

#if F32_LANES == 8
#include "lanes_8.inl"
#else
#include "lanes_4.inl"
#endif

/* Gathers the vectors of the vertices at p[0], p[1], … */
INLINE vectors gather_vectors(const float *const p[F32_LANES])
{
    fours rows[F32_LANES];
    f32v c[4];
    for (int i = 0; i < F32_LANES; i++) {
        rows[i] = (fours){p[i][0], p[i][1], p[i][2], 0};
    }
    columns_of_fours(rows, c);
    return (vectors){c[0], c[1], c[2]};
}

INLINE void scatter_vectors(float *const to[F32_LANES], vectors p)
{
    fours rows[F32_LANES];
    f32v c[4] = {p.x, p.y, p.z, all(0)};
    fours_of_columns(c, rows);
    for (int i = 0; i < F32_LANES; i++) {
        memcpy(to[i], &rows[i], 3 * sizeof(float));
    }
}

INLINE f32v absolute(f32v a)
{
    return (f32v)((i32v)a & 0x7fffffff);
}

/* a with its sign turned where b is negative */
INLINE f32v turned_by_sign(f32v a, f32v b)
{
    return (f32v)((i32v)a ^ ((i32v)b & INT32_MIN));
}

/* b where the mask is set, else a */
INLINE f32v choose(i32v mask, f32v a, f32v b)
{
    return (f32v)(((i32v)a & ~mask) | ((i32v)b & mask));
}

INLINE f32v inverse_square_root(f32v a)
{
    for (int i = 0; i < F32_LANES; i++) {
        a[i] = sqrtf(a[i]);
    }
    return 1 / a;
}

/* Four of the lanes in float64, which is as much as compilers convert well at a time. */
typedef double doubles __attribute__((vector_size(32)));

INLINE doubles doubles_of(const f32v *a, int half)
{
    fours part;
    memcpy(&part, (const char *)a + 16 * half, sizeof part);
    return __builtin_convertvector(part, doubles);
}

INLINE void set_doubles(f32v *a, int half, doubles values)
{
    fours part = __builtin_convertvector(values, fours);
    memcpy((char *)a + 16 * half, &part, sizeof part);
}

/* One matrix in each lane: three columns and a translation. */
typedef struct matrices {
    vectors c[4];
} matrices;

INLINE vectors sum(vectors a, vectors b)
{
    return (vectors){a.x + b.x, a.y + b.y, a.z + b.z};
}

INLINE vectors difference(vectors a, vectors b)
{
    return (vectors){a.x - b.x, a.y - b.y, a.z - b.z};
}

INLINE vectors scaled(vectors a, f32v s)
{
    return (vectors){a.x * s, a.y * s, a.z * s};
}

INLINE vectors mixed(vectors a, vectors b, f32v t)
{
    return (vectors){(1 - t) * a.x + t * b.x, (1 - t) * a.y + t * b.y, (1 - t) * a.z + t * b.z};
}

INLINE vectors cross(vectors a, vectors b)
{
    return (vectors){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* To unit length; `none` where there is no length. Of cofactors_in_range vectors the squares stay in float32's range.
 */
INLINE vectors normalised(vectors n, int cofactors_in_range, vectors none)
{
    if (!cofactors_in_range) {
        f32v size = absolute(n.x) + absolute(n.y) + absolute(n.z);
        n = scaled(n, choose(size > 0, all(1), 1 / size));
    }
    f32v square = n.x * n.x + n.y * n.y + n.z * n.z;
    i32v lost = square < all(1e-36f);
    n = scaled(n, inverse_square_root(square));
    return (vectors){choose(lost, n.x, none.x), choose(lost, n.y, none.y), choose(lost, n.z, none.z)};
}

/* m v, without the translation. */
INLINE vectors product(const matrices *m, vectors v)
{
    return (vectors){m->c[0].x * v.x + m->c[1].x * v.y + m->c[2].x * v.z,
                     m->c[0].y * v.x + m->c[1].y * v.y + m->c[2].y * v.z,
                     m->c[0].z * v.x + m->c[1].z * v.y + m->c[2].z * v.z};
}

INLINE vectors applied(const matrices *m, vectors p)
{
    return sum(product(m, p), m->c[3]);
}

/* m c: columns and translation. */
INLINE matrices composed(const matrices *m, const matrices *c)
{
    return (matrices){{product(m, c->c[0]), product(m, c->c[1]), product(m, c->c[2]), applied(m, c->c[3])}};
}

/* sgn(det m) cofactor(m) n, over any common factor. Where m is not cofactors_in_range it is divided by its size first,
 * so that neither large nor small scales leave float32. A determinant within rounding of 0 counts as 0, and so as
 * positive. */
INLINE vectors cofactor_product(const matrices *m, int cofactors_in_range, vectors n)
{
    f32v size = all(0);
    for (int k = 0; k < 3; k++) {
        size += absolute(m->c[k].x) + absolute(m->c[k].y) + absolute(m->c[k].z);
    }
    vectors a = m->c[0], b = m->c[1], c = m->c[2];
    if (!cofactors_in_range) {
        f32v scale = choose(size > 0, all(0), 1 / size);
        a = scaled(a, scale), b = scaled(b, scale), c = scaled(c, scale);
        size = all(1);
    }
    matrices cofactors = {{cross(b, c), cross(c, a), cross(a, b), {all(0), all(0), all(0)}}};
    f32v determinant = a.x * cofactors.c[0].x + a.y * cofactors.c[0].y + a.z * cofactors.c[0].z;
    return scaled(product(&cofactors, n), choose(determinant < -2e-8f * size * size * size, all(1), all(-1)));
}

/* 2 / |real part|^2, which the products below carry in place of a normalisation. */
INLINE f32v twice_inverse_norm(const f32v q[8])
{
    return 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

/* p + s (u x (u x p + w p + d) + w d - d_w u), s = 2 / |q|^2: the motion of a dual quaternion w + u, d_w + d. */
INLINE vectors move(const f32v q[8], vectors p)
{
    f32v s = twice_inverse_norm(q);
    f32v x = q[2] * p.z - q[3] * p.y + q[0] * p.x + q[5];
    f32v y = q[3] * p.x - q[1] * p.z + q[0] * p.y + q[6];
    f32v z = q[1] * p.y - q[2] * p.x + q[0] * p.z + q[7];
    return (vectors){p.x + s * (q[2] * z - q[3] * y + q[0] * q[5] - q[4] * q[1]),
                     p.y + s * (q[3] * x - q[1] * z + q[0] * q[6] - q[4] * q[2]),
                     p.z + s * (q[1] * y - q[2] * x + q[0] * q[7] - q[4] * q[3])};
}

INLINE vectors turn(const f32v q[8], vectors p)
{
    f32v s = twice_inverse_norm(q);
    f32v x = q[2] * p.z - q[3] * p.y + q[0] * p.x;
    f32v y = q[3] * p.x - q[1] * p.z + q[0] * p.y;
    f32v z = q[1] * p.y - q[2] * p.x + q[0] * p.z;
    return (vectors){p.x + s * (q[2] * z - q[3] * y), p.y + s * (q[3] * x - q[1] * z), p.z + s * (q[1] * y - q[2] * x)};
}

/* The same motion as a matrix (Kavan et al. 2008). */
INLINE matrices motion(const f32v q[8])
{
    f32v s = twice_inverse_norm(q), x = s * q[1], y = s * q[2], z = s * q[3];
    f32v wx = q[0] * x, wy = q[0] * y, wz = q[0] * z, xx = q[1] * x, yy = q[2] * y, zz = q[3] * z;
    f32v xy = q[1] * y, xz = q[1] * z, yz = q[2] * z;
    vectors d = {s * (q[2] * q[7] - q[3] * q[6] + q[0] * q[5] - q[4] * q[1]),
                 s * (q[3] * q[5] - q[1] * q[7] + q[0] * q[6] - q[4] * q[2]),
                 s * (q[1] * q[6] - q[2] * q[5] + q[0] * q[7] - q[4] * q[3])};
    return (matrices){
        {{1 - yy - zz, xy + wz, xz - wy}, {xy - wz, 1 - xx - zz, yz + wx}, {xz + wy, yz - wx, 1 - xx - yy}, d}};
}
