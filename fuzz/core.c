/* Fuzzes every entry point of the core: bytes become a skeleton, a mesh and a pose, mostly well formed, with numbers of
 * every kind. Built with libFuzzer, or with replay.c for the corpus; see tools/fuzz.sh.
 *
 * What must hold, besides no fault that a sanitizer sees: a refusal leaves outputs untouched, a success writes all of
 * them, and the number of threads changes no bit. */
#include "tps.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOINTS = 12, MOST_ENTRIES = 9, UNTOUCHED = 0x5a };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- bytes to values: 0 when they are used up */

typedef struct bytes {
    const uint8_t *at;
    size_t left;
} bytes;

static int byte(bytes *b)
{
    if (b->left == 0) {
        return 0;
    }
    b->left--;
    return *b->at++;
}

static int below(bytes *b, int end)
{
    return byte(b) % end;
}

/* One in `odds` times. */
static int rarely(bytes *b, int odds)
{
    return byte(b) % odds == odds - 1;
}

static double number(bytes *b)
{
    static const double special[] = {0,        -0.0,    1,     -1,    NAN,      INFINITY, -INFINITY, 5e-324,  DBL_MIN,
                                     1e-30,    -1e-30,  1e30,  -1e30, 1e-300,   1e300,    -1e300,    DBL_MAX, FLT_MAX,
                                     -FLT_MAX, FLT_MIN, 1e-40, 1e-9,  1 + 1e-9, 1e5,      -1e-12,    1e38,    0.5};
    if (rarely(b, 8)) {
        return special[below(b, (int)(sizeof special / sizeof *special))];
    }
    return (byte(b) - 128) / 32.0 + byte(b) / 8192.0;
}

/* Exactly as long as it must be, so that a sanitizer sees every step beyond. */
static void *room(int64_t count, size_t size)
{
    void *memory = malloc(count > 0 ? (size_t)count * size : 1);
    if (!memory) {
        abort();
    }
    memset(memory, UNTOUCHED, count > 0 ? (size_t)count * size : 1);
    return memory;
}

static void fail(const char *what)
{
    printf("%s\n", what);
    fflush(stdout);
    abort();
}

/* ---- the parts of a case */

static void rotation(bytes *b, double *m)
{
    double w = number(b), x = number(b), y = number(b), z = number(b), n = w * w + x * x + y * y + z * z;
    double s = n > 0 && isfinite(n) ? 2 / n : 0;
    m[0] = 1 - s * (y * y + z * z), m[1] = s * (x * y - w * z), m[2] = s * (x * z + w * y);
    m[4] = s * (x * y + w * z), m[5] = 1 - s * (x * x + z * z), m[6] = s * (y * z - w * x);
    m[8] = s * (x * z - w * y), m[9] = s * (y * z + w * x), m[10] = 1 - s * (x * x + y * y);
}

static void matrix(bytes *b, double *m)
{
    for (int i = 0; i < 16; i++) {
        m[i] = i % 5 == 0;
    }
    int kind = below(b, 8);
    if (kind & 1) {
        rotation(b, m);
    }
    for (int k = 0; k < 3 && kind >= 2; k++) {
        m[4 * k + 3] = number(b);
    }
    for (int k = 0; k < 3 && (kind == 4 || kind == 5); k++) { /* a scale, mirrors and zeros among them */
        double scale = number(b);
        for (int i = 0; i < 3; i++) {
            m[4 * i + k] *= scale;
        }
    }
    for (int i = 0; i < 12 && kind == 6; i++) {
        m[i] = number(b);
    }
    if (rarely(b, 32)) {
        m[12 + below(b, 4)] = number(b);
    }
}

static double *matrices(bytes *b, int64_t count)
{
    double *m = room(16 * count, sizeof *m);
    for (int64_t j = 0; j < count; j++) {
        matrix(b, m + 16 * j);
    }
    return m;
}

static uint8_t *flags(bytes *b, int32_t count)
{
    uint8_t *f = room(count, 1);
    for (int32_t j = 0; j < count; j++) {
        f[j] = (uint8_t)below(b, 2);
    }
    return f;
}

/* A forest, numbered from its roots or from its leaves; at times a parent of any kind. */
static int32_t *parents(bytes *b, int32_t count)
{
    int32_t *p = room(count, sizeof *p), backwards = below(b, 2);
    for (int32_t j = 0; j < count; j++) {
        int32_t any = byte(b), parent = j == 0 || any > 240 ? -1 : any % j;
        if (backwards && parent >= 0) {
            parent = count - 1 - parent;
        }
        p[backwards ? count - 1 - j : j] = rarely(b, 24) ? any - 4 : parent;
    }
    return p;
}

static float *vectors(bytes *b, int64_t count)
{
    float *v = room(3 * count, sizeof *v);
    float seen[48];
    int known = below(b, 48);
    for (int i = 0; i <= known; i++) {
        seen[i] = (float)number(b);
    }
    for (int64_t i = 0; i < 3 * count; i++) {
        v[i] = seen[i % (known + 1)];
    }
    return v;
}

static tps_mesh mesh(bytes *b, int32_t joint_count)
{
    int64_t vertices = rarely(b, 16) ? 2040 + below(b, 20) : below(b, 40), entry = 0;
    int most = below(b, MOST_ENTRIES), alike = below(b, 3) == 0, room_for = most * (int)vertices + 1;
    int64_t *start = room(vertices + 1, sizeof *start), *joints = room(room_for, sizeof *joints);
    double *weights = room(room_for, sizeof *weights);
    for (int64_t i = 0; i < vertices; i++) {
        start[i] = entry;
        for (int k = alike || most == 0 ? most : below(b, most + 1); k > 0; k--, entry++) {
            joints[entry] = rarely(b, 64) ? byte(b) - 20 : joint_count > 0 ? below(b, joint_count) : 0;
            weights[entry] = rarely(b, 64) ? number(b) : fabs(number(b));
        }
    }
    start[vertices] = entry;
    if (rarely(b, 32)) {
        start[below(b, (int)vertices + 1)] += byte(b) - 128;
    }
    double *exact = room(entry, sizeof *exact);
    int64_t *exact_joints = room(entry, sizeof *exact_joints);
    memcpy(exact, weights, (size_t)entry * sizeof *exact);
    memcpy(exact_joints, joints, (size_t)entry * sizeof *joints);
    free(weights);
    free(joints);
    return (tps_mesh){.vertex_count = vertices,
                      .joint_count = joint_count,
                      .points = vectors(b, vertices),
                      .normals = below(b, 3) ? vectors(b, vertices) : NULL,
                      .row_start = start,
                      .entry_count = entry,
                      .joints = exact_joints,
                      .weights = exact,
                      .kernel = rarely(b, 32) ? byte(b) - 128 : below(b, 3)};
}

static void mesh_free(tps_mesh *m)
{
    free((void *)(uintptr_t)m->points);
    free((void *)(uintptr_t)m->normals);
    free((void *)(uintptr_t)m->row_start);
    free((void *)(uintptr_t)m->joints);
    free((void *)(uintptr_t)m->weights);
}

/* ---- what is called with them */

static void joint_functions(bytes *b, int32_t count, const int32_t *up, const double *bind)
{
    int32_t *order = room(count, sizeof *order);
    if (tps_parents_first(count, up, order, NULL) == TPS_OK && count > 0) {
        double *user = matrices(b, count), *world = room(16 * count, sizeof *world), one[16];
        double *local = room(16 * count, sizeof *local), *out = room(16 * count, sizeof *out);
        if (tps_bind_local(count, up, bind, local, NULL) != TPS_OK) {
            memcpy(local, bind, (size_t)count * 16 * sizeof *local);
        }
        tps_pose_world(count, up, order, local, user, world);
        tps_user_local(count, up, world, local, out);
        tps_bind_world(count, up, order, local, out);
        tps_world_from_skinning(count, world, bind, out);
        tps_skinning_matrices(count, world, bind, out, NULL);
        tps_increment_world(below(b, count), up, local, world, user, one);
        free(user);
        free(world);
        free(local);
        free(out);
    }
    free(order);
}

static void skeleton_functions(bytes *b, const tps_skeleton *s, const double *world, const tps_association *a)
{
    int32_t count = tps_skeleton_joint_count(s);
    double *to[7];
    uint8_t *support = room(count, 1), *weighted = flags(b, count);
    for (int i = 0; i < 7; i++) {
        to[i] = room(16 * (int64_t)count, sizeof *to[i]);
    }
    int with = byte(b);
    tps_separation all = {to[0], to[1], to[2], with & 1 ? to[3] : NULL, to[4], with & 2 ? to[5] : NULL, to[6]};
    if (tps_separate(s, world, a, &all) != TPS_OK || tps_skeleton_pose(s, world, to[1]) != TPS_OK) {
        fail("a pose was not separated");
    }
    tps_support_joints(s, weighted, support);
    for (int32_t j = 0; j < count; j++) {
        if (support[j] > 1 || (support[j] && weighted[j])) {
            fail("a support joint that is none");
        }
    }
    for (int i = 0; i < 7; i++) {
        free(to[i]);
    }
    free(support);
    free(weighted);
}

static void read_skin(const tps_skin *skin)
{
    int64_t vertices = tps_skin_vertex_count(skin), count = tps_skin_entry_count(skin);
    int64_t *start = room(vertices + 1, sizeof *start), *joints = room(count, sizeof *joints);
    double *weights = room(count, sizeof *weights);
    uint8_t *weighted = room(tps_skin_joint_count(skin), 1);
    tps_skin_weights(skin, start, joints, weights);
    tps_skin_weighted(skin, weighted);
    for (int64_t e = 0; e < count; e++) {
        if (!(weights[e] > 0) || !weighted[joints[e]]) {
            fail("a weight that is none");
        }
    }
    free(start);
    free(joints);
    free(weights);
    free(weighted);
}

/* Every float of a success is written: none is left that reads 5a5a5a5a; of a refusal, none is. */
static void check_output(const float *out, int64_t count, int written)
{
    float mark;
    memset(&mark, UNTOUCHED, sizeof mark);
    for (int64_t i = 0; out && i < count; i++) {
        if ((memcmp(out + i, &mark, sizeof mark) != 0) != written) {
            fail(written ? "a float was not written" : "a refusal has written");
        }
    }
}

enum { RESULTS = 4 };

/* Room for those of the four results that are wanted, in a job of its own. */
static tps_deform_job with_results(const tps_deform_job *job, int wanted, int64_t points, float *rooms[RESULTS])
{
    for (int i = 0; i < RESULTS; i++) {
        rooms[i] = wanted >> i & 1 ? room(points * (i < 2 ? 3 : 12), sizeof(float)) : NULL;
    }
    tps_deform_job ours = *job;
    ours.points_out = rooms[0], ours.normals_out = rooms[1];
    ours.matrices_out = rooms[2], ours.inverse_matrices_out = rooms[3];
    return ours;
}

static void deform(bytes *b, tps_deform_job *job)
{
    int64_t points = job->frame_count * tps_skin_vertex_count(job->skin);
    int wanted = byte(b) & (tps_skin_normals(job->skin) ? 15 : 13);
    job->offsets = below(b, 2);
    int threads = below(b, 4);
    float *one[RESULTS], *many[RESULTS];
    tps_deform_job of_one = with_results(job, wanted, points, one);
    tps_deform_job of_many = with_results(job, wanted, points, many);
    of_one.threads = 1;
    of_many.threads = threads;
    tps_status status = tps_deform(&of_one);
    if (tps_deform(&of_many) != status) {
        fail("the number of threads changed the status");
    }
    for (int i = 0; i < RESULTS; i++) {
        int64_t count = points * (i < 2 ? 3 : 12);
        check_output(one[i], count, status == TPS_OK);
        check_output(many[i], count, status == TPS_OK);
        if (one[i] && memcmp(one[i], many[i], (size_t)count * sizeof(float)) != 0) {
            fail("the number of threads changed the result");
        }
        free(one[i]);
        free(many[i]);
    }
}

/* The same mesh three times in one call is three times what it is alone. */
static void deform_many(bytes *b, const tps_deform_job *job)
{
    enum { MESHES = 3 };
    int64_t floats = 3 * job->frame_count * tps_skin_vertex_count(job->skin);
    float *alone = room(floats, sizeof *alone);
    tps_deform_job jobs[MESHES], single = *job;
    single.points_out = alone;
    tps_status status = tps_deform(&single);
    for (int i = 0; i < MESHES; i++) {
        jobs[i] = *job;
        jobs[i].points_out = room(floats, sizeof *alone);
    }
    tps_deform_many(jobs, MESHES, below(b, 4));
    for (int i = 0; i < MESHES; i++) {
        if (jobs[i].status != status || memcmp(alone, jobs[i].points_out, (size_t)floats * sizeof *alone) != 0) {
            fail("many meshes are deformed otherwise than one");
        }
        free(jobs[i].points_out);
    }
    free(alone);
}

static void skin_functions(bytes *b, const tps_skin *skin, const tps_skeleton *s, const tps_association *association)
{
    int64_t joints = tps_skin_joint_count(skin), vertices = tps_skin_vertex_count(skin);
    int64_t frames = rarely(b, 32) ? 65 : below(b, 3);
    double *world = matrices(b, frames * joints), space[16];
    float *points = vectors(b, frames * vertices), *blend = vectors(b, vertices);
    matrix(b, space);
    tps_deform_job job = {.skin = skin,
                          .skeleton = s,
                          .frame_count = frames,
                          .world = world,
                          .method = (tps_method)below(b, 3),
                          .inherited = association->inherited,
                          .nonrigid = association->nonrigid,
                          .rigid = association->rigid,
                          .space = below(b, 3) == 2 ? space : NULL};
    if (job.method != TPS_METHOD_LINEAR) {
        job.phase = (tps_phase)below(b, 3);
    }
    if (below(b, 2)) {
        job.points = points;
        job.points_stride = below(b, 2) ? 3 * vertices : 0;
    }
    if (below(b, 2) && vertices > 0) {
        job.blend.values = blend;
        job.blend.per_vertex = below(b, 2);
    }
    deform(b, &job);
    deform(b, &job);
    job.offsets = 0;
    deform_many(b, &job);
    free(world);
    free(points);
    free(blend);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, size};
    int32_t count = below(&b, MOST_JOINTS + 1), *up = parents(&b, count);
    double *bind = matrices(&b, count), *world = matrices(&b, count);
    uint8_t *inherits = flags(&b, count), *nonrigid = flags(&b, count), *rigid = flags(&b, count);
    int with = byte(&b);
    tps_association association = {(tps_inherited)(with & 1), with & 2 ? inherits : NULL, with & 4 ? nonrigid : NULL,
                                   with & 8 ? rigid : NULL};
    tps_skeleton *skeleton = NULL;
    tps_skin *skin = NULL;
    tps_mesh m = mesh(&b, count);
    int64_t where;
    joint_functions(&b, count, up, bind);
    if ((tps_skeleton_create(count, up, bind, inherits, &skeleton, &where) == TPS_OK) != (skeleton != NULL) ||
        (tps_skin_create(&m, &skin, &where) == TPS_OK) != (skin != NULL)) {
        fail("a status and a result that do not agree");
    }
    if (skeleton) {
        skeleton_functions(&b, skeleton, world, &association);
    }
    if (skin) {
        read_skin(skin);
    }
    if (skeleton && skin) {
        skin_functions(&b, skin, skeleton, &association);
    }
    tps_skeleton_free(skeleton);
    tps_skin_free(skin);
    mesh_free(&m);
    free(up);
    free(bind);
    free(world);
    free(inherits);
    free(nonrigid);
    free(rigid);
    return 0;
}
