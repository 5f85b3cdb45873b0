/* Every allocation refused, one by one: TPS_NO_MEMORY, nothing leaked, no output touched. Threads that cannot be
 * started: the same result by fewer. */
#ifdef TPS_TEST_FAULTS
#define _GNU_SOURCE /* sched_setaffinity */
#include "faults.h"
#include "rig.h"
#include "tests.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { UNTOUCHED = 0x5a };

/* What a call works on. `out` is filled with UNTOUCHED before it. */
typedef struct subject {
    rig r;
    void *out;
    size_t out_size;
    int choice;
} subject;

/* Calls one entry point, and gives back what it made. */
typedef tps_status (*entry_point)(subject *s, int64_t *where);

static int untouched(const subject *s)
{
    const unsigned char *bytes = s->out;
    size_t same = 0;
    while (same < s->out_size && bytes[same] == UNTOUCHED) {
        same++;
    }
    return same == s->out_size;
}

static void refuse_each(entry_point call, subject *s)
{
    int64_t where = -1, alive = allocations_alive();
    faults_begin(FAULT_MEMORY, INT64_MAX, 0);
    CHECK(call(s, &where) == TPS_OK);
    int64_t requests = faults_end();
    CHECK(requests > 0);
    CHECK(allocations_alive() == alive);
    for (int64_t n = 0; n < 2 * requests; n++) {
        where = -77;
        memset(s->out, UNTOUCHED, s->out_size);
        faults_begin(FAULT_MEMORY, n / 2, (int)(n % 2));
        tps_status status = call(s, &where);
        faults_end();
        CHECK(status == TPS_NO_MEMORY);
        CHECK(where == -77 || where == -1);
        CHECK(untouched(s));
        CHECK(allocations_alive() == alive);
    }
}

static subject subject_make(int64_t vertices, size_t out_size)
{
    rig_options o = {.seed = 4, .joints = 20, .vertices = vertices, .most_influences = 5, .pose = POSE_SCALED};
    subject s = {.r = rig_make(&o), .out = need((int64_t)out_size, 1), .out_size = out_size};
    return s;
}

static void subject_free(subject *s)
{
    rig_free(&s->r);
    free(s->out);
}

static tps_status parents_first(subject *s, int64_t *where)
{
    return tps_parents_first(s->r.joint_count, s->r.parents, s->out, where);
}

static tps_status create_skeleton(subject *s, int64_t *where)
{
    tps_skeleton **made = s->out;
    tps_status status = tps_skeleton_create(s->r.joint_count, s->r.parents, s->r.bind, s->r.inherits, made, where);
    if (status == TPS_OK) {
        tps_skeleton_free(*made);
    }
    return status;
}

static tps_status pose_skeleton(subject *s, int64_t *where)
{
    (void)where;
    return tps_skeleton_pose(s->r.skeleton, s->r.world, s->out);
}

static tps_status separate(subject *s, int64_t *where)
{
    (void)where;
    int64_t matrices = 16 * (int64_t)s->r.joint_count;
    double *out = s->out;
    const tps_association association = {.inherited = (tps_inherited)s->choice};
    const tps_separation separation = {out,
                                       out + matrices,
                                       out + 2 * matrices,
                                       out + 3 * matrices,
                                       out + 4 * matrices,
                                       out + 5 * matrices,
                                       out + 6 * matrices};
    return tps_separate(s->r.skeleton, s->r.world, &association, &separation);
}

void test_faults_in_joints(void)
{
    subject s = subject_make(10, 20 * sizeof(int32_t));
    refuse_each(parents_first, &s);
    subject_free(&s);
    s = subject_make(10, sizeof(tps_skeleton *));
    refuse_each(create_skeleton, &s);
    subject_free(&s);
    s = subject_make(10, 20 * 16 * sizeof(double));
    refuse_each(pose_skeleton, &s);
    subject_free(&s);
    s = subject_make(10, 7 * 20 * 16 * sizeof(double));
    for (s.choice = 0; s.choice < 2; s.choice++) {
        refuse_each(separate, &s);
    }
    subject_free(&s);
}

static tps_status create_skin(subject *s, int64_t *where)
{
    tps_skin **made = s->out;
    tps_mesh mesh = s->r.mesh;
    if (s->choice) {
        mesh.normals = NULL;
    }
    tps_status status = tps_skin_create(&mesh, made, where);
    if (status == TPS_OK) {
        tps_skin_free(*made);
    }
    return status;
}

void test_faults_in_skins(void)
{
    static const int64_t vertices[] = {0, 10, 5000};
    for (int i = 0; i < 3; i++) {
        subject s = subject_make(vertices[i], sizeof(tps_skin *));
        for (s.choice = 0; s.choice < 2; s.choice++) {
            refuse_each(create_skin, &s);
        }
        subject_free(&s);
    }
}

static tps_deform_job job_of(const rig *r, int choice)
{
    static const float half = 0.5f;
    static const double space[16] = {2, 0, 0, 1, 0, 2, 0, 1, 0, 0, 3, 1, 0, 0, 0, 1};
    return (tps_deform_job){.frame_count = 1,
                            .world = r->world,
                            .method = (tps_method)(choice / 4),
                            .blend = {.values = choice % 2 ? &half : NULL},
                            .space = choice % 4 == 3 ? space : NULL,
                            .threads = 2};
}

/* With a new skin: one that has deformed before has the memory that it needs. */
static tps_status deform(subject *s, int64_t *where)
{
    tps_deform_job job = job_of(&s->r, s->choice % 12);
    tps_skin *skin = NULL;
    tps_status status = tps_skin_create(&s->r.mesh, &skin, where);
    if (status == TPS_OK) {
        status = deform_to(skin, s->r.skeleton, &job, (wanted)(s->choice / 12), s->out);
    }
    tps_skin_free(skin);
    return status;
}

/* Frame after frame needs no allocation, and none is lost when many frames were more than is kept. */
void test_frames_without_allocations(void)
{
    subject s = subject_make(5000, 5000 * 3 * sizeof(float));
    tps_deform_job job = job_of(&s.r, 0);
    CHECK(deform_to(s.r.skin, s.r.skeleton, &job, POINTS, s.out) == TPS_OK);
    int64_t alive = allocations_alive();
    faults_begin(FAULT_MEMORY, 0, 1);
    for (job.method = 0; job.method <= TPS_METHOD_DUAL_QUATERNION; job.method++) {
        CHECK(deform_to(s.r.skin, s.r.skeleton, &job, POINTS, s.out) == TPS_OK);
    }
    CHECK(faults_end() == 0);
    CHECK(allocations_alive() == alive);
    subject_free(&s);
}

void test_faults_in_deform(void)
{
    subject s = subject_make(5000, 5000 * 12 * sizeof(float));
    for (s.choice = 0; s.choice < ALL_WANTED * 12; s.choice++) {
        refuse_each(deform, &s);
    }
    subject_free(&s);
}

void test_faults_of_threads(void)
{
    subject s = subject_make(30000, 30000 * 3 * sizeof(float));
    float *expected = need(1, (int64_t)s.out_size);
    tps_deform_job job = job_of(&s.r, 0);
    job.threads = 1;
    CHECK(deform_to(s.r.skin, s.r.skeleton, &job, POINTS, expected) == TPS_OK);
    job.threads = 8;
    for (int n = 0; n < 16; n++) {
        memset(s.out, UNTOUCHED, s.out_size);
        faults_begin(FAULT_THREAD, n / 2, n % 2);
        CHECK(deform_to(s.r.skin, s.r.skeleton, &job, POINTS, s.out) == TPS_OK);
        CHECK(faults_end() > 0);
        CHECK(memcmp(s.out, expected, s.out_size) == 0);
    }
    free(expected);
    subject_free(&s);
}

/* A process that may use one processor alone starts no threads of its own accord. */
void test_threads_by_affinity(void)
{
    subject s = subject_make(200000, 200000 * 3 * sizeof(float));
    tps_deform_job job = job_of(&s.r, 0);
    cpu_set_t before, one;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    size_t first = 0;
    while (!CPU_ISSET(first, &before)) {
        first++;
    }
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK(tps_processors() == CPU_COUNT(&before));
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(tps_processors() == 1);
    job.threads = 0;
    faults_begin(FAULT_THREAD, INT64_MAX, 0);
    CHECK(deform_to(s.r.skin, s.r.skeleton, &job, POINTS, s.out) == TPS_OK);
    CHECK(faults_end() == 0);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
    subject_free(&s);
}
#else
typedef int no_faults; /* C wants a file to declare something */
#endif
