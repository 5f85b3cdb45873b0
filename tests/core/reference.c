#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void cofactors(const double *m, double c[9])
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, x = (k + 1) % 3, y = (k + 2) % 3;
            c[3 * i + k] = m[4 * a + x] * m[4 * b + y] - m[4 * a + y] * m[4 * b + x];
        }
    }
}

static double determinant(const double *m)
{
    double c[9];
    cofactors(m, c);
    return m[0] * c[0] + m[1] * c[1] + m[2] * c[2];
}

void matrix_inverse(const double *m, double *inverse)
{
    double c[9], d = determinant(m), result[16] = {0};
    cofactors(m, c);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            result[4 * i + k] = c[3 * k + i] / d;
            result[4 * i + 3] -= c[3 * k + i] / d * m[4 * k + 3];
        }
    }
    result[15] = 1;
    memcpy(inverse, result, sizeof result);
}

/* The rotation of a regular matrix that is not mirrored: the mean of it and its inverse transpose, until it stays. */
static void polar_rotation(const double *m, double *rotation)
{
    memcpy(rotation, m, 16 * sizeof *m);
    rotation[3] = rotation[7] = rotation[11] = 0;
    for (int step = 0; step < 100; step++) {
        double c[9], d = determinant(rotation);
        cofactors(rotation, c);
        for (int i = 0; i < 9; i++) {
            rotation[i / 3 * 4 + i % 3] = (rotation[i / 3 * 4 + i % 3] + c[i] / d) / 2;
        }
    }
}

static void identity(double *m)
{
    for (int i = 0; i < 16; i++) {
        m[i] = i % 5 == 0;
    }
}

static void split_classic(const double *t, double *p, double *q, double *e)
{
    double inverse[16];
    polar_rotation(t, q);
    matrix_inverse(q, inverse);
    matrix_multiply(inverse, t, p);
    for (int i = 0; i < 3; i++) {
        p[4 * i + 3] = 0;
        q[4 * i + 3] = t[4 * i + 3];
    }
    identity(e);
}

phases phases_of(const rig *r, const tps_deform_job *job)
{
    int64_t floats = 16 * (int64_t)r->joint_count;
    uint8_t *weighted = need(r->joint_count, 1);
    phases p = {need(floats, sizeof(double)), need(floats, sizeof(double)), need(floats, sizeof(double)),
                need(floats, sizeof(double)), need(floats, sizeof(double))};
    tps_association association = {.inherited = job->inherited, .nonrigid = job->nonrigid, .rigid = job->rigid};
    tps_separation separation = {.nonrigid = p.nonrigid, .rigid = p.rigid, .inherited = p.inherited, .world = p.world};
    tps_skin_weighted(r->skin, weighted);
    association.weighted = weighted;
    CHECK(tps_separate(r->skeleton, job->world, &association, &separation) == TPS_OK);
    for (int64_t at = 0; at < floats; at += 16) {
        double inverse[16];
        matrix_inverse(r->bind + at, inverse);
        matrix_multiply(p.world + at, inverse, p.straight + at);
        if (job->method == TPS_METHOD_DUAL_QUATERNION) {
            split_classic(p.straight + at, p.nonrigid + at, p.rigid + at, p.inherited + at);
        }
    }
    free(weighted);
    return p;
}

void phases_free(phases *p)
{
    free(p->nonrigid);
    free(p->rigid);
    free(p->inherited);
    free(p->straight);
    free(p->world);
}

/* sum of w_j matrix_j over the vertex's row */
static void blend_matrices(const rig *r, int64_t vertex, const double *matrices, double *sum)
{
    double total = 0;
    memset(sum, 0, 16 * sizeof *sum);
    for (int64_t e = r->row_start[vertex]; e < r->row_start[vertex + 1]; e++) {
        total += r->weights[e];
        for (int i = 0; i < 16; i++) {
            sum[i] += r->weights[e] * matrices[16 * r->joints[e] + i];
        }
    }
    for (int i = 0; i < 16; i++) {
        sum[i] /= total;
    }
}

static void quaternion_product(const double *a, const double *b, double *ab)
{
    ab[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    ab[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    ab[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    ab[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* real[4], dual[4]; the real part from the square roots of the diagonal, its signs from the rest. */
static void dual_quaternion(const double *m, double *q)
{
    double moved[4] = {0, m[3] / 2, m[7] / 2, m[11] / 2};
    q[0] = sqrt(fmax(0, 1 + m[0] + m[5] + m[10])) / 2;
    q[1] = copysign(sqrt(fmax(0, 1 + m[0] - m[5] - m[10])) / 2, m[9] - m[6]);
    q[2] = copysign(sqrt(fmax(0, 1 - m[0] + m[5] - m[10])) / 2, m[2] - m[8]);
    q[3] = copysign(sqrt(fmax(0, 1 - m[0] - m[5] + m[10])) / 2, m[4] - m[1]);
    quaternion_product(moved, q, q + 4);
}

/* The blended rigid motion as a matrix. */
static int blend_rigid(const rig *r, int64_t vertex, const double *matrices, double *m)
{
    double sum[8] = {0}, heaviest[8] = {0}, most = -1;
    int clear = 1;
    for (int64_t e = r->row_start[vertex]; e < r->row_start[vertex + 1]; e++) {
        if (r->weights[e] > most) {
            most = r->weights[e];
            dual_quaternion(matrices + 16 * r->joints[e], heaviest);
        }
    }
    for (int64_t e = r->row_start[vertex]; e < r->row_start[vertex + 1]; e++) {
        double q[8], dot = 0;
        dual_quaternion(matrices + 16 * r->joints[e], q);
        for (int i = 0; i < 4; i++) {
            dot += q[i] * heaviest[i];
        }
        clear = clear && fabs(dot) > 1e-3;
        for (int i = 0; i < 8; i++) {
            sum[i] += r->weights[e] * (dot < 0 ? -q[i] : q[i]);
        }
    }
    double norm = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3]);
    for (int i = 0; i < 8; i++) {
        sum[i] /= norm;
    }
    double w = sum[0], x = sum[1], y = sum[2], z = sum[3], conjugate[4] = {w, -x, -y, -z}, moved[4];
    quaternion_product(sum + 4, conjugate, moved);
    const double rows[16] = {1 - 2 * (y * y + z * z),
                             2 * (x * y - w * z),
                             2 * (x * z + w * y),
                             2 * moved[1],
                             2 * (x * y + w * z),
                             1 - 2 * (x * x + z * z),
                             2 * (y * z - w * x),
                             2 * moved[2],
                             2 * (x * z - w * y),
                             2 * (y * z + w * x),
                             1 - 2 * (x * x + y * y),
                             2 * moved[3],
                             0,
                             0,
                             0,
                             1};
    memcpy(m, rows, sizeof rows);
    return clear;
}

/* The inverse transpose, to a factor; mirrored matrices keep the outside outside. */
static void turn_normal(const double *m, double normal[3])
{
    double c[9], sign = determinant(m) < 0 ? -1 : 1, n[3];
    if (!normal) {
        return;
    }
    cofactors(m, c);
    memcpy(n, normal, sizeof n);
    for (int i = 0; i < 3; i++) {
        normal[i] = sign * (c[3 * i] * n[0] + c[3 * i + 1] * n[1] + c[3 * i + 2] * n[2]);
    }
}

/* The whole deformation in the skeleton's space. */
static int deform(const rig *r, const phases *p, const tps_deform_job *job, int64_t vertex, double point[3],
                  double normal[3])
{
    double m[16];
    blend_matrices(r, vertex, job->method == TPS_METHOD_LINEAR ? p->straight : p->nonrigid, m);
    matrix_apply(m, point, point);
    turn_normal(m, normal);
    if (job->method == TPS_METHOD_LINEAR || job->phase == TPS_PHASE_NONRIGID) {
        return 1;
    }
    int clear = blend_rigid(r, vertex, p->rigid, m);
    matrix_apply(m, point, point);
    turn_normal(m, normal);
    if (job->phase != TPS_PHASE_RIGID) {
        blend_matrices(r, vertex, p->inherited, m);
        matrix_apply(m, point, point);
        turn_normal(m, normal);
    }
    return clear;
}

int reference_vertex(const rig *r, const phases *p, const tps_deform_job *job, int64_t vertex, const float *points,
                     double point[3], double normal[3])
{
    double back[16], straight[16], linear[3];
    for (int k = 0; k < 3; k++) {
        point[k] = points[3 * vertex + k];
        if (normal) {
            normal[k] = r->normals[3 * vertex + k];
        }
    }
    if (r->row_start[vertex] == r->row_start[vertex + 1]) {
        return 1; /* nothing holds it */
    }
    if (job->space) {
        matrix_apply(job->space, point, point);
        matrix_inverse(job->space, back);
    }
    blend_matrices(r, vertex, p->straight, straight);
    matrix_apply(straight, point, linear);
    int clear = deform(r, p, job, vertex, point, normal);
    if (job->blend.values) {
        double t = job->blend.values[job->blend.per_vertex ? vertex : 0];
        for (int k = 0; k < 3; k++) {
            point[k] = (1 - t) * linear[k] + t * point[k];
        }
    }
    if (job->space) {
        matrix_apply(back, point, point);
    }
    return clear;
}
