#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void matrix_multiply(const double *a, const double *b, double *ab)
{
    double product[16];
    for (int i = 0; i < 16; i++) {
        product[i] = 0;
        for (int k = 0; k < 4; k++) {
            product[i] += a[i / 4 * 4 + k] * b[4 * k + i % 4];
        }
    }
    memcpy(ab, product, sizeof product);
}

void matrix_apply(const double *m, const double *point, double *to)
{
    double p[3] = {point[0], point[1], point[2]};
    for (int i = 0; i < 3; i++) {
        to[i] = m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + m[4 * i + 3];
    }
}

/* A turn by at most 1.2 radians about any axis (Rodrigues). */
static void random_rotation(chance *c, double *m)
{
    double axis[3], length = 0, angle = chance_between(c, -1.2, 1.2);
    for (int k = 0; k < 3; k++) {
        axis[k] = chance_between(c, -1, 1) + (k == 0 ? 1e-3 : 0);
        length += axis[k] * axis[k];
    }
    double s = sin(angle), v = 1 - cos(angle), x, y, z;
    length = sqrt(length);
    x = axis[0] / length, y = axis[1] / length, z = axis[2] / length;
    const double rows[16] = {1 - v * (y * y + z * z),
                             x * y * v - z * s,
                             x * z * v + y * s,
                             0,
                             x * y * v + z * s,
                             1 - v * (x * x + z * z),
                             y * z * v - x * s,
                             0,
                             x * z * v - y * s,
                             y * z * v + x * s,
                             1 - v * (x * x + y * y),
                             0,
                             0,
                             0,
                             0,
                             1};
    memcpy(m, rows, sizeof rows);
}

void matrix_random(chance *c, pose_kind kind, double *m)
{
    random_rotation(c, m);
    for (int i = 0; i < 3; i++) {
        m[4 * i + 3] = chance_between(c, -0.3, 0.3);
    }
    double scale[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    if (kind >= POSE_SCALED) {
        for (int k = 0; k < 3; k++) {
            scale[5 * k] = chance_between(c, 0.5, 1.8);
        }
        scale[1] = chance_between(c, -0.2, 0.2);
    }
    int which = chance_below(c, 8);
    if (kind >= POSE_MIRRORED && which < 3) {
        scale[5 * which] *= -1;
    }
    if (kind >= POSE_FLAT && which >= 6) {
        scale[0] = scale[1] = 0;
        scale[5] = which == 7 ? 0 : scale[5];
    }
    matrix_multiply(m, scale, m);
}

/* Parents are chosen along a shuffled order, so that they come before their children there and nowhere else. */
static void random_joints(rig *r, chance *c, const rig_options *o)
{
    int32_t *order = need(o->joints, sizeof *order);
    double *user = need(16 * (int64_t)o->joints, sizeof *user), *local = need(16 * (int64_t)o->joints, sizeof *local);
    for (int32_t i = 0; i < o->joints; i++) {
        int32_t other = chance_below(c, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (int32_t i = 0; i < o->joints; i++) {
        int32_t j = order[i], near = i < 3 ? i : 3;
        r->parents[j] = i == 0 || chance_below(c, 12) == 0 ? -1 : order[i - 1 - chance_below(c, near)];
        r->inherits[j] = o->compensating ? o->compensating < 0 : (uint8_t)chance_below(c, 2);
        matrix_random(c, o->scaled_bind ? POSE_SCALED : POSE_RIGID, local + 16 * j);
        local[16 * j + 7] += 0.7; /* joints lie apart */
        matrix_random(c, o->pose, user + 16 * j);
    }
    tps_bind_world(o->joints, r->parents, order, local, r->bind);
    tps_pose_world(o->joints, r->parents, order, local, user, r->world);
    free(order);
    free(user);
    free(local);
}

/* Each vertex lies about a joint, and hangs on it and its neighbours by number. */
static void random_mesh(rig *r, chance *c, const rig_options *o)
{
    int64_t entry = 0;
    int most = abs(o->most_influences);
    for (int64_t i = 0; i < o->vertices; i++) {
        int32_t near = chance_below(c, o->joints);
        for (int k = 0; k < 3; k++) {
            r->points[3 * i + k] = (float)(r->bind[16 * near + 4 * k + 3] + chance_between(c, -0.5, 0.5));
            r->normals[3 * i + k] = (float)chance_between(c, -1, 1);
        }
        r->row_start[i] = entry;
        int count = o->most_influences < 0 ? most : chance_below(c, most + 1);
        for (int k = 0; k < count && k < o->joints; k++, entry++) {
            r->joints[entry] = (near + k) % o->joints;
            r->weights[entry] = chance_between(c, 0.05, 1);
        }
    }
    r->row_start[o->vertices] = entry;
    r->mesh = (tps_mesh){.vertex_count = o->vertices,
                         .joint_count = o->joints,
                         .points = r->points,
                         .normals = r->normals,
                         .row_start = r->row_start,
                         .entry_count = entry,
                         .joints = r->joints,
                         .weights = r->weights};
}

rig rig_make(const rig_options *o)
{
    int64_t entries = o->vertices * abs(o->most_influences);
    rig r = {.joint_count = o->joints, .vertex_count = o->vertices};
    chance c = {o->seed};
    r.parents = need(o->joints, sizeof *r.parents);
    r.bind = need(16 * (int64_t)o->joints, sizeof *r.bind);
    r.inherits = need(o->joints, sizeof *r.inherits);
    r.world = need(16 * (int64_t)o->joints, sizeof *r.world);
    r.points = need(3 * o->vertices, sizeof *r.points);
    r.normals = need(3 * o->vertices, sizeof *r.normals);
    r.row_start = need(o->vertices + 1, sizeof *r.row_start);
    r.joints = need(entries, sizeof *r.joints);
    r.weights = need(entries, sizeof *r.weights);
    random_joints(&r, &c, o);
    random_mesh(&r, &c, o);
    if (tps_skeleton_create(o->joints, r.parents, r.bind, r.inherits, &r.skeleton, NULL) != TPS_OK ||
        tps_skin_create(&r.mesh, &r.skin, NULL) != TPS_OK) {
        puts("a random rig was refused");
        exit(102);
    }
    return r;
}

void rig_free(rig *r)
{
    tps_skeleton_free(r->skeleton);
    tps_skin_free(r->skin);
    free(r->parents);
    free(r->bind);
    free(r->inherits);
    free(r->world);
    free(r->points);
    free(r->normals);
    free(r->row_start);
    free(r->joints);
    free(r->weights);
}

double rig_size(const rig *r)
{
    double size = 1;
    for (int64_t i = 0; i < 16 * (int64_t)r->joint_count; i++) {
        size = fmax(size, fmax(fabs(r->bind[i]), fabs(r->world[i])));
    }
    return size;
}

int64_t wanted_width(wanted what)
{
    return what == MATRICES || what == INVERSE_MATRICES ? 12 : 3;
}

tps_status deform_to(const tps_skin *skin, const tps_skeleton *skeleton, const tps_deform_job *job, wanted what,
                     float *out)
{
    tps_deform_job ours = *job;
    ours.skin = skin, ours.skeleton = skeleton, ours.offsets = what == OFFSETS;
    float **const to[] = {&ours.points_out, &ours.points_out, &ours.normals_out, &ours.matrices_out,
                          &ours.inverse_matrices_out};
    *to[what] = out;
    return tps_deform(&ours);
}
