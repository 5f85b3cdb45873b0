/* Deforms vertices: spec section 3. One way through the stages, which the compiler specialises for each set of them. */
#include "kernel.h"
#include "rotation.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* One vertex's weights. */
typedef struct row {
    int64_t count;
    const int32_t *joints;
    const float *weights;
} row;

ALWAYS_INLINE row row_of(const tps_skin *skin, int64_t vertex)
{
    int64_t start = skin->row_start[vertex];
    return (row){skin->row_start[vertex + 1] - start, skin->joints + start, skin->weights + start};
}

/* m = sum of w_j table_j: a 3x4 matrix. */
ALWAYS_INLINE void blend_matrices(const row *r, const float *restrict table, float *restrict m)
{
    memset(m, 0, 12 * sizeof *m);
    for (int64_t k = 0; k < r->count; k++) {
        const float *entry = table + 12 * (int64_t)r->joints[k];
        for (int e = 0; e < 12; e++) {
            m[e] += r->weights[k] * entry[e];
        }
    }
}

/* The unit dual quaternion of the blend, each entry aligned in sign to the heaviest joint's, which comes first. */
ALWAYS_INLINE void blend_dual_quaternions(const row *r, const float *restrict table, float *restrict q)
{
    const float *pivot = table + 8 * (int64_t)r->joints[0];
    memset(q, 0, 8 * sizeof *q);
    for (int64_t k = 0; k < r->count; k++) {
        const float *entry = table + 8 * (int64_t)r->joints[k];
        float dot = pivot[0] * entry[0] + pivot[1] * entry[1] + pivot[2] * entry[2] + pivot[3] * entry[3];
        float weight = dot < 0 ? -r->weights[k] : r->weights[k];
        for (int e = 0; e < 8; e++) {
            q[e] += weight * entry[e];
        }
    }
    float inverse = 1 / sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int e = 0; e < 8; e++) {
        q[e] *= inverse;
    }
}

ALWAYS_INLINE void apply_matrix(const float *m, float *p)
{
    float x = p[0], y = p[1], z = p[2];
    for (int i = 0; i < 3; i++) {
        p[i] = m[4 * i] * x + m[4 * i + 1] * y + m[4 * i + 2] * z + m[4 * i + 3];
    }
}

/* v + 2 u x (u x v + w v), for the unit quaternion w, u. */
ALWAYS_INLINE void rotate(const float *q, float *v)
{
    float x = q[2] * v[2] - q[3] * v[1] + q[0] * v[0];
    float y = q[3] * v[0] - q[1] * v[2] + q[0] * v[1];
    float z = q[1] * v[1] - q[2] * v[0] + q[0] * v[2];
    v[0] += 2 * (q[2] * z - q[3] * y);
    v[1] += 2 * (q[3] * x - q[1] * z);
    v[2] += 2 * (q[1] * y - q[2] * x);
}

/* The translation of a unit dual quaternion: 2 (w d - d_w u + u x d). */
ALWAYS_INLINE void translation(const float *q, float *t)
{
    t[0] = 2 * (q[0] * q[5] - q[4] * q[1] + q[2] * q[7] - q[3] * q[6]);
    t[1] = 2 * (q[0] * q[6] - q[4] * q[2] + q[3] * q[5] - q[1] * q[7]);
    t[2] = 2 * (q[0] * q[7] - q[4] * q[3] + q[1] * q[6] - q[2] * q[5]);
}

ALWAYS_INLINE float blend_factor(const tps_kernel_job *job, int64_t vertex)
{
    return job->blend[job->blend_per_vertex ? vertex : 0];
}

ALWAYS_INLINE void points_with(const tps_kernel_job *job, const int stages, int64_t begin, int64_t end)
{
    const tps_tables *t = job->tables;
    const float from[3] = {(float)t->from.x[0], (float)t->from.x[1], (float)t->from.x[2]};
    const float to[3] = {(float)t->to.x[0], (float)t->to.x[1], (float)t->to.x[2]};
    for (int64_t i = begin; i < end; i++) {
        const float *rest = job->points + 3 * i;
        float p[3] = {rest[0] - from[0], rest[1] - from[1], rest[2] - from[2]};
        float straight[3], m[12], q[8], shift[3];
        row r = row_of(job->skin, i);
        if (r.count == 0) { /* stays, to the last bit */
            memcpy(job->out + 3 * i, rest, sizeof p);
            continue;
        }
        if (stages & STAGE_STRAIGHT) {
            memcpy(straight, p, sizeof p);
            blend_matrices(&r, t->straight, m);
            apply_matrix(m, straight);
        }
        if (stages & STAGE_NONRIGID) {
            blend_matrices(&r, t->nonrigid, m);
            apply_matrix(m, p);
        }
        if (stages & STAGE_RIGID) {
            blend_dual_quaternions(&r, t->rigid, q);
            translation(q, shift);
            rotate(q, p);
            for (int k = 0; k < 3; k++) {
                p[k] += shift[k];
            }
        }
        if (stages & STAGE_INHERITED) {
            blend_matrices(&r, t->inherited, m);
            apply_matrix(m, p);
        }
        if (stages & STAGE_STRAIGHT) {
            float f = blend_factor(job, i);
            for (int k = 0; k < 3; k++) {
                p[k] = (1 - f) * straight[k] + f * p[k];
            }
        }
        for (int k = 0; k < 3; k++) {
            job->out[3 * i + k] = p[k] + to[k];
        }
    }
}

void tps_kernel_points(const tps_kernel_job *job, int64_t begin, int64_t end)
{
    enum { P = STAGE_NONRIGID, Q = STAGE_RIGID, E = STAGE_INHERITED };
    switch (job->tables->stages) {
    case P:
        points_with(job, P, begin, end);
        break;
    case P | Q:
        points_with(job, P | Q, begin, end);
        break;
    case P | Q | E:
        points_with(job, P | Q | E, begin, end);
        break;
    default: /* the rarer sets share one loop that looks them up */
        points_with(job, job->tables->stages, begin, end);
    }
}

/* Rows of the cofactor matrix of the 3x3 part are cross products of its rows; the largest entry is divided out first,
 * so that neither large nor small scales overflow. A determinant within rounding of 0 counts as 0, and so as positive.
 */
static void apply_cofactor(const float *m, float *n)
{
    float largest = 0, a[3][3], c[3][3];
    for (int i = 0; i < 9; i++) {
        largest = fmaxf(largest, fabsf(m[4 * (i / 3) + i % 3]));
    }
    float scale = largest > 0 ? 1 / largest : 0;
    for (int i = 0; i < 9; i++) {
        a[i / 3][i % 3] = m[4 * (i / 3) + i % 3] * scale;
    }
    for (int i = 0; i < 3; i++) {
        const float *u = a[(i + 1) % 3], *v = a[(i + 2) % 3];
        c[i][0] = u[1] * v[2] - u[2] * v[1];
        c[i][1] = u[2] * v[0] - u[0] * v[2];
        c[i][2] = u[0] * v[1] - u[1] * v[0];
    }
    float determinant = a[0][0] * c[0][0] + a[0][1] * c[0][1] + a[0][2] * c[0][2];
    float sign = determinant < -5e-7f ? -1.0f : 1.0f;
    float x = n[0], y = n[1], z = n[2];
    for (int i = 0; i < 3; i++) {
        n[i] = sign * (c[i][0] * x + c[i][1] * y + c[i][2] * z);
    }
}

/* To unit length; 0 where it has none. */
static int normalise(float *n)
{
    float largest = fmaxf(fmaxf(fabsf(n[0]), fabsf(n[1])), fabsf(n[2]));
    if (!(largest > 0)) {
        return 0;
    }
    float x = n[0] / largest, y = n[1] / largest, z = n[2] / largest;
    float inverse = 1 / sqrtf(x * x + y * y + z * z);
    n[0] = x * inverse;
    n[1] = y * inverse;
    n[2] = z * inverse;
    return 1;
}

/* c = a b, both 3x4 affine. */
static void compose(const float *a, const float *b, float *c)
{
    float r[12];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++) {
            r[4 * i + k] = a[4 * i] * b[k] + a[4 * i + 1] * b[4 + k] + a[4 * i + 2] * b[8 + k];
        }
        r[4 * i + 3] += a[4 * i + 3];
    }
    memcpy(c, r, sizeof r);
}

static void rigid_matrix(const float *q, float *m)
{
    float t[3];
    translation(q, t);
    for (int k = 0; k < 3; k++) {
        float column[3] = {k == 0, k == 1, k == 2};
        rotate(q, column);
        m[k] = column[0];
        m[4 + k] = column[1];
        m[8 + k] = column[2];
        m[4 * k + 3] = t[k];
    }
}

/* The vertex's whole deformation, from points relative to tables->from to points relative to tables->to. */
static void whole_matrix(const tps_kernel_job *job, const row *r, int64_t vertex, float *m)
{
    const tps_tables *t = job->tables;
    float step[12], q[8];
    blend_matrices(r, t->nonrigid, m);
    if (t->stages & STAGE_RIGID) {
        blend_dual_quaternions(r, t->rigid, q);
        rigid_matrix(q, step);
        compose(step, m, m);
    }
    if (t->stages & STAGE_INHERITED) {
        blend_matrices(r, t->inherited, step);
        compose(step, m, m);
    }
    if (t->stages & STAGE_STRAIGHT) {
        float f = blend_factor(job, vertex);
        blend_matrices(r, t->straight, step);
        for (int e = 0; e < 12; e++) {
            m[e] = (1 - f) * step[e] + f * m[e];
        }
    }
}

static void bend_normal(const tps_kernel_job *job, const row *r, int64_t vertex, float *n)
{
    const tps_tables *t = job->tables;
    float m[12], q[8];
    if (t->stages & STAGE_STRAIGHT) {
        whole_matrix(job, r, vertex, m);
        apply_cofactor(m, n);
        return;
    }
    blend_matrices(r, t->nonrigid, m);
    apply_cofactor(m, n);
    if (t->stages & STAGE_RIGID) {
        blend_dual_quaternions(r, t->rigid, q);
        rotate(q, n);
    }
    if (t->stages & STAGE_INHERITED) {
        normalise(n); /* the cofactors of two extreme scales would leave float32 together */
        blend_matrices(r, t->inherited, m);
        apply_cofactor(m, n);
    }
}

void tps_kernel_normals(const tps_kernel_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        const float *rest = job->skin->normals + 3 * i;
        float n[3] = {rest[0], rest[1], rest[2]};
        row r = row_of(job->skin, i);
        if (r.count > 0) {
            bend_normal(job, &r, i, n);
        }
        /* What a singular blend sent to zero keeps its direction at rest. */
        memcpy(job->out + 3 * i, r.count > 0 && normalise(n) ? n : rest, sizeof n);
    }
}

static affine widen(const float *m)
{
    affine a;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            a.lin.m[i][k] = m[4 * i + k];
        }
        a.org.x[i] = m[4 * i + 3];
    }
    return a;
}

static void narrow(const affine *a, float *m)
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            m[4 * i + k] = (float)a->lin.m[i][k];
        }
        m[4 * i + 3] = (float)a->org.x[i];
    }
}

void tps_kernel_matrices(const tps_kernel_job *job, int inverse, int64_t begin, int64_t end)
{
    const vec3 zero = {{0, 0, 0}};
    vec3 from = vec3_sub(zero, job->tables->from), to = vec3_sub(zero, job->tables->to);
    for (int64_t i = begin; i < end; i++) {
        affine a = AFFINE_ONE;
        float m[12];
        row r = row_of(job->skin, i);
        if (r.count > 0) {
            whole_matrix(job, &r, i, m);
            a = widen(m);
            if (inverse) {
                a = affine_inverse(&a);
                a = affine_between(&a, to, from);
            } else {
                a = affine_between(&a, from, to);
            }
        }
        narrow(&a, job->out + 12 * i);
    }
}
