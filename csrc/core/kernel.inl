/* Deforms vertices, eight at a time: spec section 3. Included once for each instruction set, by kernel_*.c.
 *
 * A vertex blends whole rows of a joint's table (the 16 floats of a matrix, the 8 of a dual quaternion), which needs no
 * gathers; eight blended vertices are then transposed, so that the arithmetic after it is the same for all eight lanes.
 * Written with the vector extensions of GCC and Clang: where the machine's vectors are shorter, the compiler splits
 * them.
 */
#include "kernel.h"
#include "rotation.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#else
#pragma clang fp contract(fast)
#endif

#define INLINE static inline __attribute__((always_inline))
#define LANES TPS_LANES

typedef float v8 __attribute__((vector_size(32)));
typedef float v8_unaligned __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef double v8d __attribute__((vector_size(64)));

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (v8i){__VA_ARGS__})
#endif

INLINE v8 load(const float *p)
{
    return *(const v8_unaligned *)p;
}

INLINE void store(float *p, v8 a)
{
    *(v8_unaligned *)p = a;
}

INLINE v8 all(float x)
{
    return (v8){x, x, x, x, x, x, x, x};
}

INLINE v8 absolute(v8 a)
{
    return (v8)((v8i)a & 0x7fffffff);
}

/* b where the mask is set, else a */
INLINE v8 choose(v8i mask, v8 a, v8 b)
{
    return (v8)(((v8i)a & ~mask) | ((v8i)b & mask));
}

INLINE v8 inverse_square_root(v8 a)
{
    for (int i = 0; i < LANES; i++) {
        a[i] = sqrtf(a[i]);
    }
    return 1 / a;
}

/* Eight rows of eight become eight columns. */
INLINE void transpose(v8 r[8])
{
    v8 a[8], b[8];
    for (int k = 0; k < 8; k += 2) {
        a[k] = SHUFFLE(r[k], r[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        a[k + 1] = SHUFFLE(r[k], r[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int k = 0; k < 8; k += 4) {
        b[k] = SHUFFLE(a[k], a[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        b[k + 1] = SHUFFLE(a[k], a[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        b[k + 2] = SHUFFLE(a[k + 1], a[k + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        b[k + 3] = SHUFFLE(a[k + 1], a[k + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int k = 0; k < 4; k++) {
        r[k] = SHUFFLE(b[k], b[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        r[k + 4] = SHUFFLE(b[k], b[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/* Eight vectors, lane by lane. */
typedef struct vectors {
    v8 x, y, z;
} vectors;

/* Eight matrices: three columns and a translation. */
typedef struct matrices {
    vectors c[4];
} matrices;

/* Eight vertices of one group: they have the same number of influences. Lanes beyond `count` repeat the last one. */
typedef struct lanes {
    int count;
    int neighbours; /* are the eight neighbours in the mesh? */
    int influences;
    const uint16_t *joints;
    const float *weights;
    int64_t vertex[LANES];
} lanes;

/* One vertex's blends: of matrices, columns 0 and 1 in `low`, 2 and 3 in `high`, each padded to 4; of dual quaternions,
 * real and dual part in `dual`, not normalised. */
typedef struct blended {
    v8 low, high, dual;
} blended;

/* Sums w_j table_j over one vertex's influences, for one table or both at once, which saves loads. A dual quaternion's
 * row is real, real, dual: its first eight floats give the sign against the heaviest joint in every lane, its last
 * eight are what is summed. */
INLINE blended blend(const lanes *l, int lane, const float *matrix_table, const float *dual_table)
{
    const uint16_t *joints = l->joints + lane * l->influences;
    const float *weights = l->weights + lane * l->influences;
    v8 w = all(weights[0]), zero = all(0), pivot = zero;
    blended b = {zero, zero, zero};
    if (matrix_table) {
        const float *row = matrix_table + TPS_MATRIX_FLOATS * joints[0];
        b.low = w * load(row);
        b.high = w * load(row + 8);
    }
    if (dual_table) {
        const float *row = dual_table + TPS_DUAL_FLOATS * joints[0];
        pivot = load(row);
        b.dual = w * load(row + 4);
    }
    for (int k = 1; k < l->influences; k++) {
        w = all(weights[k]);
        if (matrix_table) {
            const float *row = matrix_table + TPS_MATRIX_FLOATS * joints[k];
            b.low += w * load(row);
            b.high += w * load(row + 8);
        }
        if (dual_table) {
            const float *row = dual_table + TPS_DUAL_FLOATS * joints[k];
            v8 dot = pivot * load(row);
            dot += SHUFFLE(dot, dot, 1, 0, 3, 2, 5, 4, 7, 6);
            dot += SHUFFLE(dot, dot, 2, 3, 0, 1, 6, 7, 4, 5);
            b.dual += (v8)((v8i)w ^ ((v8i)dot & INT32_MIN)) * load(row + 4);
        }
    }
    return b;
}

/* Where eight points lie: lane i has x, y and z at first[i][0], [stride] and [2 * stride], relative to `origin`. */
typedef struct places {
    const float *first[LANES];
    int stride;
    float origin[3];
} places;

/* The blended matrices applied to points; with a table of dual quaternions, their blends too, in q. */
INLINE vectors blend_and_apply(const lanes *l, const float *table, const places *at, const float *dual_table, v8 q[8])
{
    v8 origin_xy = SHUFFLE(all(at->origin[0]), all(at->origin[1]), 0, 1, 2, 3, 12, 13, 14, 15);
    v8 origin_z1 = SHUFFLE(all(at->origin[2]), all(0), 0, 1, 2, 3, 12, 13, 14, 15);
    v8 r[LANES], s[4];
    for (int i = 0; i < LANES; i++) {
        const float *p = at->first[i];
        blended b = blend(l, i, table, dual_table);
        v8 xy = SHUFFLE(all(p[0]), all(p[at->stride]), 0, 1, 2, 3, 12, 13, 14, 15) - origin_xy;
        v8 z1 = SHUFFLE(all(p[2 * at->stride]), all(1), 0, 1, 2, 3, 12, 13, 14, 15) - origin_z1;
        r[i] = b.low * xy + b.high * z1; /* its two halves are still to be added */
        if (dual_table) {
            q[i] = b.dual;
        }
    }
    if (dual_table) {
        transpose(q);
    }
    for (int i = 0; i < 4; i++) {
        s[i] = SHUFFLE(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    v8 xy01 = SHUFFLE(s[0], s[1], 0, 8, 1, 9, 4, 12, 5, 13), xy23 = SHUFFLE(s[2], s[3], 0, 8, 1, 9, 4, 12, 5, 13);
    v8 z01 = SHUFFLE(s[0], s[1], 2, 10, 3, 11, 6, 14, 7, 15), z23 = SHUFFLE(s[2], s[3], 2, 10, 3, 11, 6, 14, 7, 15);
    return (vectors){SHUFFLE(xy01, xy23, 0, 1, 8, 9, 4, 5, 12, 13), SHUFFLE(xy01, xy23, 2, 3, 10, 11, 6, 7, 14, 15),
                     SHUFFLE(z01, z23, 0, 1, 8, 9, 4, 5, 12, 13)};
}

/* Eight blended dual quaternions, component by component. */
INLINE void blend_dual_quaternions(const lanes *l, const float *table, v8 q[8])
{
    for (int i = 0; i < LANES; i++) {
        q[i] = blend(l, i, NULL, table).dual;
    }
    transpose(q);
}

/* The blended matrices themselves; with a table of dual quaternions, their blends too, in q. */
INLINE matrices blend_matrices(const lanes *l, const float *table, const float *dual_table, v8 q[8])
{
    v8 low[LANES], high[LANES];
    for (int i = 0; i < LANES; i++) {
        blended b = blend(l, i, table, dual_table);
        low[i] = b.low;
        high[i] = b.high;
        if (dual_table) {
            q[i] = b.dual;
        }
    }
    if (dual_table) {
        transpose(q);
    }
    transpose(low);
    transpose(high);
    return (matrices){
        {{low[0], low[1], low[2]}, {low[4], low[5], low[6]}, {high[0], high[1], high[2]}, {high[4], high[5], high[6]}}};
}

/* 2 / |real part|^2, which the products below carry in place of a normalisation. */
INLINE v8 twice_inverse_norm(const v8 q[8])
{
    return 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

/* p + s (u x (u x p + w p + d) + w d - d_w u), s = 2 / |q|^2: the motion of a dual quaternion w + u, d_w + d. */
INLINE vectors move(const v8 q[8], vectors p)
{
    v8 s = twice_inverse_norm(q);
    v8 x = q[2] * p.z - q[3] * p.y + q[0] * p.x + q[5];
    v8 y = q[3] * p.x - q[1] * p.z + q[0] * p.y + q[6];
    v8 z = q[1] * p.y - q[2] * p.x + q[0] * p.z + q[7];
    return (vectors){p.x + s * (q[2] * z - q[3] * y + q[0] * q[5] - q[4] * q[1]),
                     p.y + s * (q[3] * x - q[1] * z + q[0] * q[6] - q[4] * q[2]),
                     p.z + s * (q[1] * y - q[2] * x + q[0] * q[7] - q[4] * q[3])};
}

INLINE vectors turn(const v8 q[8], vectors p)
{
    v8 s = twice_inverse_norm(q);
    v8 x = q[2] * p.z - q[3] * p.y + q[0] * p.x;
    v8 y = q[3] * p.x - q[1] * p.z + q[0] * p.y;
    v8 z = q[1] * p.y - q[2] * p.x + q[0] * p.z;
    return (vectors){p.x + s * (q[2] * z - q[3] * y), p.y + s * (q[3] * x - q[1] * z), p.z + s * (q[1] * y - q[2] * x)};
}

INLINE vectors scaled(vectors a, v8 s)
{
    return (vectors){a.x * s, a.y * s, a.z * s};
}

INLINE vectors mixed(vectors a, vectors b, v8 t)
{
    return (vectors){(1 - t) * a.x + t * b.x, (1 - t) * a.y + t * b.y, (1 - t) * a.z + t * b.z};
}

INLINE vectors cross(vectors a, vectors b)
{
    return (vectors){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* m v, without the translation. */
INLINE vectors product(const matrices *m, vectors v)
{
    return (vectors){m->c[0].x * v.x + m->c[1].x * v.y + m->c[2].x * v.z,
                     m->c[0].y * v.x + m->c[1].y * v.y + m->c[2].y * v.z,
                     m->c[0].z * v.x + m->c[1].z * v.y + m->c[2].z * v.z};
}

INLINE v8 blend_factors(const tps_kernel_job *job, const lanes *l)
{
    v8 t = all(job->blend[0]);
    for (int i = 0; job->blend_per_vertex && i < LANES; i++) {
        t[i] = job->blend[l->vertex[i]];
    }
    return t;
}

INLINE void spill(vectors p, float to[3][LANES])
{
    store(to[0], p.x);
    store(to[1], p.y);
    store(to[2], p.z);
}

/* Writes lanes as x y z x y z …: eight neighbours in the mesh at once, others one by one. */
INLINE void write_vectors(const lanes *l, vectors p, float *out)
{
    if (l->neighbours) {
        v8 xy = SHUFFLE(p.x, p.y, 0, 2, 8, 10, 4, 6, 12, 14), yz = SHUFFLE(p.y, p.z, 1, 3, 9, 11, 5, 7, 13, 15);
        v8 zx = SHUFFLE(p.z, p.x, 0, 2, 9, 11, 4, 6, 13, 15);
        v8 a = SHUFFLE(xy, zx, 0, 2, 8, 10, 4, 6, 12, 14), b = SHUFFLE(yz, xy, 0, 2, 9, 11, 4, 6, 13, 15);
        v8 c = SHUFFLE(zx, yz, 1, 3, 9, 11, 5, 7, 13, 15);
        float *to = out + 3 * l->vertex[0];
        store(to, SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11));
        store(to + 8, SHUFFLE(c, a, 0, 1, 2, 3, 12, 13, 14, 15));
        store(to + 16, SHUFFLE(b, c, 4, 5, 6, 7, 12, 13, 14, 15));
        return;
    }
    float lane[3][LANES];
    spill(p, lane);
    for (int i = 0; i < l->count; i++) {
        float *to = out + 3 * l->vertex[i];
        to[0] = lane[0][i];
        to[1] = lane[1][i];
        to[2] = lane[2][i];
    }
}

INLINE places places_in_mesh(const tps_kernel_job *job, const lanes *l)
{
    const vec3 *from = &job->tables->from;
    places at = {.stride = 1, .origin = {(float)from->x[0], (float)from->x[1], (float)from->x[2]}};
    for (int i = 0; i < LANES; i++) {
        at.first[i] = job->points + 3 * l->vertex[i];
    }
    return at;
}

/* Points that were computed, written to `room` lane by lane. */
INLINE places places_of(vectors p, float room[3][LANES])
{
    places at = {.stride = LANES, .origin = {0, 0, 0}};
    spill(p, room);
    for (int i = 0; i < LANES; i++) {
        at.first[i] = room[0] + i;
    }
    return at;
}

INLINE vectors points_at(const places *at)
{
    float p[3][LANES];
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < LANES; i++) {
            p[k][i] = at->first[i][k * at->stride] - at->origin[k];
        }
    }
    return (vectors){load(p[0]), load(p[1]), load(p[2])};
}

INLINE void deform_points(const tps_kernel_job *job, const int stages, const lanes *l)
{
    const tps_tables *t = job->tables;
    places rest = places_in_mesh(job, l);
    v8 q[8];
    vectors p;
    if (stages & STAGE_NONRIGID) {
        p = blend_and_apply(l, t->nonrigid, &rest, stages & STAGE_RIGID ? t->rigid : NULL, q);
    } else {
        p = points_at(&rest);
        blend_dual_quaternions(l, t->rigid, q);
    }
    if (stages & STAGE_RIGID) {
        p = move(q, p);
    }
    if (stages & STAGE_INHERITED) {
        float room[3][LANES];
        places bent = places_of(p, room);
        p = blend_and_apply(l, t->inherited, &bent, NULL, NULL);
    }
    if (stages & STAGE_STRAIGHT) {
        p = mixed(blend_and_apply(l, t->straight, &rest, NULL, NULL), p, blend_factors(job, l));
    }
    p.x += (float)t->to.x[0];
    p.y += (float)t->to.x[1];
    p.z += (float)t->to.x[2];
    write_vectors(l, p, job->out);
}

/* To unit length; unchanged where there is none. */
INLINE vectors normalised(vectors n)
{
    v8 size = absolute(n.x) + absolute(n.y) + absolute(n.z);
    n = scaled(n, choose(size > 0, all(1), 1 / size));
    v8 square = n.x * n.x + n.y * n.y + n.z * n.z;
    return scaled(n, choose(square > 0, all(1), inverse_square_root(square)));
}

/* sgn(det m) cofactor(m) n, over any common factor: m is divided by its size first, so that neither large nor small
 * scales leave float32. A determinant within rounding of 0 counts as 0, and so as positive. */
INLINE vectors cofactor_product(const matrices *m, vectors n)
{
    v8 size = all(0);
    for (int k = 0; k < 3; k++) {
        size += absolute(m->c[k].x) + absolute(m->c[k].y) + absolute(m->c[k].z);
    }
    v8 scale = choose(size > 0, all(0), 1 / size);
    vectors a = scaled(m->c[0], scale), b = scaled(m->c[1], scale), c = scaled(m->c[2], scale);
    matrices cofactors = {{cross(b, c), cross(c, a), cross(a, b), {all(0), all(0), all(0)}}};
    v8 determinant = a.x * cofactors.c[0].x + a.y * cofactors.c[0].y + a.z * cofactors.c[0].z;
    return scaled(product(&cofactors, n), choose(determinant < all(-2e-8f), all(1), all(-1)));
}

/* c[k] = m c[k] for the columns, and for the translation m c[3] + the translation of m. */
INLINE void compose(const matrices *m, matrices *c)
{
    for (int k = 0; k < 4; k++) {
        c->c[k] = product(m, c->c[k]);
    }
    c->c[3].x += m->c[3].x;
    c->c[3].y += m->c[3].y;
    c->c[3].z += m->c[3].z;
}

/* The matrices of the non-rigid phase (none: the identity), and the dual quaternions of the rigid one, in q. */
INLINE matrices first_matrices(const tps_tables *t, const int stages, const lanes *l, v8 q[8])
{
    if (stages & STAGE_NONRIGID) {
        return blend_matrices(l, t->nonrigid, stages & STAGE_RIGID ? t->rigid : NULL, q);
    }
    v8 zero = all(0), one = all(1);
    blend_dual_quaternions(l, t->rigid, q);
    return (matrices){{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}, {zero, zero, zero}}};
}

/* The whole deformations, from points relative to tables->from to points relative to tables->to. */
INLINE matrices whole_matrices(const tps_kernel_job *job, const int stages, const lanes *l)
{
    const tps_tables *t = job->tables;
    v8 q[8];
    matrices m = first_matrices(t, stages, l, q);
    if (stages & STAGE_RIGID) {
        for (int k = 0; k < 3; k++) {
            m.c[k] = turn(q, m.c[k]);
        }
        m.c[3] = move(q, m.c[3]);
    }
    if (stages & STAGE_INHERITED) {
        matrices e = blend_matrices(l, t->inherited, NULL, NULL);
        compose(&e, &m);
    }
    if (stages & STAGE_STRAIGHT) {
        matrices straight = blend_matrices(l, t->straight, NULL, NULL);
        for (int k = 0; k < 4; k++) {
            m.c[k] = mixed(straight.c[k], m.c[k], blend_factors(job, l));
        }
    }
    return m;
}

INLINE vectors bend_normals(const tps_kernel_job *job, const int stages, const lanes *l, vectors n)
{
    const tps_tables *t = job->tables;
    if (stages & STAGE_STRAIGHT) {
        matrices m = whole_matrices(job, stages, l);
        return cofactor_product(&m, n);
    }
    v8 q[8];
    matrices m = first_matrices(t, stages, l, q);
    if (stages & STAGE_NONRIGID) {
        n = cofactor_product(&m, n);
    }
    if (stages & STAGE_RIGID) {
        n = turn(q, n);
    }
    if (stages & STAGE_INHERITED) {
        m = blend_matrices(l, t->inherited, NULL, NULL);
        n = cofactor_product(&m, normalised(n));
    }
    return n;
}

INLINE void deform_normals(const tps_kernel_job *job, const int stages, const lanes *l)
{
    float lane[3][LANES];
    for (int i = 0; i < LANES; i++) {
        for (int k = 0; k < 3; k++) {
            lane[k][i] = job->normals[3 * l->vertex[i] + k];
        }
    }
    vectors rest = {load(lane[0]), load(lane[1]), load(lane[2])};
    vectors n = bend_normals(job, stages, l, rest);
    /* What a singular blend sent to zero keeps its direction at rest. */
    v8i lost = (n.x == 0) & (n.y == 0) & (n.z == 0);
    n = (vectors){choose(lost, n.x, rest.x), choose(lost, n.y, rest.y), choose(lost, n.z, rest.z)};
    write_vectors(l, normalised(n), job->out);
}

/* to + translation - linear from, in float64: a matrix far from the origin keeps its translation's digits. */
INLINE v8 translation_in_world(const tps_kernel_job *job, v8 a, v8 b, v8 c, v8 t, int k)
{
    const tps_tables *tables = job->tables;
    v8d r = __builtin_convertvector(t, v8d) + tables->to.x[k] - __builtin_convertvector(a, v8d) * tables->from.x[0] -
            __builtin_convertvector(b, v8d) * tables->from.x[1] - __builtin_convertvector(c, v8d) * tables->from.x[2];
    return __builtin_convertvector(r, v8);
}

INLINE void write_matrices(const lanes *l, const v8 rows[12], float *out)
{
    v8 two[8], third[8];
    memcpy(two, rows, sizeof two);
    memcpy(third, rows + 8, 4 * sizeof *third);
    memcpy(third + 4, rows + 8, 4 * sizeof *third);
    transpose(two);
    transpose(third);
    for (int i = 0; i < l->count; i++) {
        float *to = out + 12 * l->vertex[i];
        store(to, two[i]);
        memcpy(to + 8, &third[i], 4 * sizeof *to);
    }
}

INLINE void deform_matrices(const tps_kernel_job *job, const int stages, const lanes *l)
{
    matrices m = whole_matrices(job, stages, l);
    v8 rows[12] = {m.c[0].x, m.c[1].x, m.c[2].x, m.c[3].x, m.c[0].y, m.c[1].y,
                   m.c[2].y, m.c[3].y, m.c[0].z, m.c[1].z, m.c[2].z, m.c[3].z};
    for (int k = 0; k < 3; k++) {
        v8 *row = rows + 4 * k;
        row[3] = translation_in_world(job, row[0], row[1], row[2], row[3], k);
    }
    write_matrices(l, rows, job->out);
}

/* x -> from + inverse(m) (x - to), by the core's float64 inverse, a vertex at a time. */
static void invert_matrix(const tps_kernel_job *job, float lane[12][LANES], int i, float *out)
{
    affine a;
    for (int k = 0; k < 3; k++) {
        a.lin.m[k][0] = lane[k][i];
        a.lin.m[k][1] = lane[3 + k][i];
        a.lin.m[k][2] = lane[6 + k][i];
        a.org.x[k] = lane[9 + k][i] + job->tables->to.x[k];
    }
    affine inverse = affine_inverse(&a);
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            out[4 * k + c] = (float)inverse.lin.m[k][c];
        }
        out[4 * k + 3] = (float)(inverse.org.x[k] + job->tables->from.x[k]);
    }
}

INLINE void deform_inverses(const tps_kernel_job *job, const int stages, const lanes *l)
{
    matrices m = whole_matrices(job, stages, l);
    float lane[12][LANES];
    for (int c = 0; c < 4; c++) {
        spill(m.c[c], lane + 3 * c);
    }
    for (int i = 0; i < l->count; i++) {
        invert_matrix(job, lane, i, job->out + 12 * l->vertex[i]);
    }
}

/* Vertices without weights stay, to the last bit. */
static void leave_vertex(const tps_kernel_job *job, int64_t vertex)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    switch (job->result) {
    case TPS_POINTS:
        memcpy(job->out + 3 * vertex, job->points + 3 * vertex, 3 * sizeof(float));
        break;
    case TPS_NORMALS:
        memcpy(job->out + 3 * vertex, job->normals + 3 * vertex, 3 * sizeof(float));
        break;
    case TPS_MATRICES:
    case TPS_INVERSE_MATRICES:
        memcpy(job->out + 12 * vertex, identity, sizeof identity);
        break;
    }
}

INLINE void run_lanes(const tps_kernel_job *job, const int stages, const tps_result result, const lanes *l)
{
    switch (result) {
    case TPS_POINTS:
        deform_points(job, stages, l);
        break;
    case TPS_NORMALS:
        deform_normals(job, stages, l);
        break;
    case TPS_MATRICES:
        deform_matrices(job, stages, l);
        break;
    case TPS_INVERSE_MATRICES:
        deform_inverses(job, stages, l);
        break;
    }
}

/* A group's vertices are begin + slots[0 .. count - 1]; where it is its block's only one, simply begin + 0 .. count
 * - 1. */
INLINE void run_group(const tps_kernel_job *job, const int stages, const tps_result result, const int only,
                      int64_t begin, const uint16_t *slots, int count, lanes l)
{
    for (int first = 0; first < count; first += LANES) {
        l.count = count - first < LANES ? count - first : LANES;
        l.neighbours = only && l.count == LANES;
        for (int i = 0; i < LANES; i++) {
            l.vertex[i] = begin + (l.neighbours ? first + i : slots[first + (i < l.count ? i : l.count - 1)]);
        }
        run_lanes(job, stages, result, &l);
        l.joints += LANES * l.influences;
        l.weights += LANES * l.influences;
    }
}

INLINE void run_block(const tps_kernel_job *job, const int stages, const tps_result result, int64_t block)
{
    const tps_skin *skin = job->skin;
    const tps_block *b = &skin->blocks[block];
    int64_t begin = block * TPS_BLOCK, entry = b->first_entry;
    const uint16_t *slots = skin->slots + begin;
    for (int g = 0; g < b->group_count; g++) {
        const tps_group *group = &skin->groups[b->first_group + g];
        int count = group->vertex_count;
        lanes l = {.influences = group->influences, .joints = skin->joints + entry, .weights = skin->weights + entry};
        if (l.influences > 0) {
            run_group(job, stages, result, b->group_count == 1, begin, slots, count, l);
        } else {
            for (int i = 0; i < count; i++) {
                leave_vertex(job, begin + slots[i]);
            }
        }
        slots += count;
        entry += tps_padded(count) * l.influences;
    }
}

/* The usual sets of stages are compiled for themselves; the rarer ones look theirs up as they go. */
INLINE void run_stages(const tps_kernel_job *job, const tps_result result, int64_t block)
{
    switch (job->tables->stages) {
    case STAGE_NONRIGID:
        run_block(job, STAGE_NONRIGID, result, block);
        break;
    case STAGE_RIGID:
        run_block(job, STAGE_RIGID, result, block);
        break;
    case STAGE_NONRIGID | STAGE_RIGID:
        run_block(job, STAGE_NONRIGID | STAGE_RIGID, result, block);
        break;
    case STAGE_NONRIGID | STAGE_RIGID | STAGE_INHERITED:
        run_block(job, STAGE_NONRIGID | STAGE_RIGID | STAGE_INHERITED, result, block);
        break;
    default:
        run_block(job, job->tables->stages, result, block);
    }
}

/* Each result is a function of its own: they are compiled apart, and matrices are not worth one for each set of stages.
 */
static void run_points(const tps_kernel_job *job, int64_t block)
{
    run_stages(job, TPS_POINTS, block);
}

static void run_normals(const tps_kernel_job *job, int64_t block)
{
    run_stages(job, TPS_NORMALS, block);
}

static void run_matrices(const tps_kernel_job *job, int64_t block)
{
    run_block(job, job->tables->stages, TPS_MATRICES, block);
}

static void run_inverses(const tps_kernel_job *job, int64_t block)
{
    run_block(job, job->tables->stages, TPS_INVERSE_MATRICES, block);
}

void TPS_KERNEL(const tps_kernel_job *job, int64_t block)
{
    static void (*const run[])(const tps_kernel_job *, int64_t) = {run_points, run_normals, run_matrices, run_inverses};
    run[job->result](job, block);
}
