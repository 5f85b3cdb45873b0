/* Threads and frames: however the work is cut, the bits are the same. */
#include "internal.h"
#include "parallel.h"
#include "rig.h"
#include "tests.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES = 131, CALLERS = 8 }; /* more frames than the core keeps tables for at a time */

static rig busy_rig(int64_t vertices)
{
    rig_options o = {.seed = 21, .joints = 40, .vertices = vertices, .most_influences = 6, .pose = POSE_SCALED};
    return rig_make(&o);
}

void test_thread_counts(void)
{
    static const int counts[] = {0, 2, 3, 8, TPS_MOST_THREADS, 100000, -5};
    rig r = busy_rig(30011);
    int64_t size = r.vertex_count * 12;
    float *one = need(size, sizeof *one), *many = need(size, sizeof *many);
    for (wanted result = 0; result < ALL_WANTED; result++) {
        tps_deform_job job = {.frame_count = 1, .world = r.world, .threads = 1};
        size_t bytes = (size_t)(r.vertex_count * wanted_width(result)) * sizeof *one;
        CHECK(deform_to(r.skin, r.skeleton, &job, result, one) == TPS_OK);
        for (int i = 0; i < 7; i++) {
            job.threads = counts[i];
            memset(many, 0, bytes);
            CHECK(deform_to(r.skin, r.skeleton, &job, result, many) == TPS_OK);
            CHECK(memcmp(one, many, bytes) == 0);
        }
    }
    free(one);
    free(many);
    rig_free(&r);
}

void test_frames(void)
{
    rig r = busy_rig(2500);
    int64_t joints = 16 * (int64_t)r.joint_count, size = 3 * r.vertex_count;
    double *world = need(FRAMES * joints, sizeof *world);
    float *together = need(FRAMES * size, sizeof *together), *alone = need(size, sizeof *alone);
    float *points = need(FRAMES * size, sizeof *points);
    chance c = {1};
    for (int64_t f = 0; f < FRAMES; f++) {
        double turn[16];
        matrix_random(&c, POSE_SCALED, turn);
        for (int32_t j = 0; j < r.joint_count; j++) {
            matrix_multiply(turn, r.world + 16 * j, world + f * joints + 16 * j);
        }
        for (int64_t i = 0; i < size; i++) {
            points[f * size + i] = r.points[i] + (float)f / FRAMES;
        }
    }
    for (int stacked = 0; stacked < 2; stacked++) {
        tps_deform_job job = {.frame_count = FRAMES, .world = world, .points = points, .threads = 3};
        job.points_stride = stacked ? size : 0;
        CHECK(deform_to(r.skin, r.skeleton, &job, POINTS, together) == TPS_OK);
        job.frame_count = 1;
        for (int64_t f = 0; f < FRAMES; f++) {
            job.world = world + f * joints;
            job.points = points + (stacked ? f * size : 0);
            CHECK(deform_to(r.skin, r.skeleton, &job, POINTS, alone) == TPS_OK);
            CHECK(memcmp(alone, together + f * size, (size_t)size * sizeof *alone) == 0);
        }
    }
    free(world);
    free(together);
    free(alone);
    free(points);
    rig_free(&r);
}

/* Every input that may differ from frame to frame does. */
void test_inputs_by_frame(void)
{
    enum { COUNT = 5 };
    rig r = busy_rig(500);
    int64_t joints = r.joint_count, size = 3 * r.vertex_count;
    double world[COUNT * 16 * 40], space[COUNT * 16];
    float *together = need(COUNT * size, sizeof *together), *alone = need(size, sizeof *alone);
    float *blend = need(COUNT * r.vertex_count, sizeof *blend);
    uint8_t nonrigid[COUNT * 40], rigid[COUNT * 40];
    chance c = {3};
    for (int64_t f = 0; f < COUNT; f++) {
        memcpy(world + f * 16 * joints, r.world, (size_t)joints * 16 * sizeof *world);
        matrix_random(&c, f % 2 ? POSE_SCALED : POSE_RIGID, space + 16 * f);
    }
    for (int64_t i = 0; i < COUNT * r.vertex_count; i++) {
        blend[i] = (float)chance_between(&c, 0, 1);
    }
    for (int64_t i = 0; i < COUNT * joints; i++) {
        nonrigid[i] = (uint8_t)chance_below(&c, 2);
        rigid[i] = (uint8_t)chance_below(&c, 2);
    }
    tps_deform_job job = {.frame_count = COUNT,
                          .world = world,
                          .space = space,
                          .space_stride = 16,
                          .blend = {.values = blend, .per_vertex = 1, .stride = r.vertex_count},
                          .nonrigid = nonrigid,
                          .nonrigid_stride = joints,
                          .rigid = rigid,
                          .rigid_stride = joints,
                          .threads = 3};
    CHECK(joints == 40);
    CHECK(deform_to(r.skin, r.skeleton, &job, POINTS, together) == TPS_OK);
    job.frame_count = 1;
    for (int64_t f = 0; f < COUNT; f++) {
        job.space = space + 16 * f, job.blend.values = blend + f * r.vertex_count;
        job.nonrigid = nonrigid + f * joints, job.rigid = rigid + f * joints;
        CHECK(deform_to(r.skin, r.skeleton, &job, POINTS, alone) == TPS_OK);
        CHECK(memcmp(alone, together + f * size, (size_t)size * sizeof *alone) == 0);
    }
    /* A space of a later frame is looked at before the first is written. */
    memset(space + 16 * (COUNT - 1), 0, 16 * sizeof *space);
    job.frame_count = COUNT, job.space = space;
    together[0] = -77;
    CHECK(deform_to(r.skin, r.skeleton, &job, POINTS, together) == TPS_SINGULAR_SPACE);
    CHECK(together[0] == -77);
    free(together);
    free(alone);
    free(blend);
    rig_free(&r);
}

/* One caller of many that share a skeleton and a skin. */
typedef struct shared {
    const rig *r;
    float *out[CALLERS];
    double *separated[CALLERS];
    tps_status status[CALLERS];
} shared;

static void call(void *context, int64_t item, int worker)
{
    (void)worker;
    const shared *s = context;
    tps_association association = {.inherited = TPS_INHERITED_AFTER};
    tps_separation separation = {.nonrigid = s->separated[item]};
    tps_deform_job job = {.frame_count = 1, .world = s->r->world, .threads = item % 2 ? 3 : 1};
    tps_status first = tps_separate(s->r->skeleton, s->r->world, &association, &separation);
    tps_status second = deform_to(s->r->skin, s->r->skeleton, &job, POINTS, s->out[item]);
    ((shared *)context)->status[item] = first != TPS_OK ? first : second;
}

void test_shared_by_threads(void)
{
    rig r = busy_rig(20011);
    shared s = {.r = &r};
    size_t bytes = (size_t)r.vertex_count * 3 * sizeof(float), matrices = (size_t)r.joint_count * 16 * sizeof(double);
    for (int i = 0; i < CALLERS; i++) {
        s.out[i] = need((int64_t)bytes, 1);
        s.separated[i] = need((int64_t)matrices, 1);
    }
    for (int round = 0; round < 5; round++) {
        const tps_work work = {CALLERS, call};
        tps_parallel(&work, 1, CALLERS, &s);
        for (int i = 0; i < CALLERS; i++) {
            CHECK(s.status[i] == TPS_OK);
            CHECK(memcmp(s.out[i], s.out[0], bytes) == 0);
            CHECK(memcmp(s.separated[i], s.separated[0], matrices) == 0);
        }
    }
    for (int i = 0; i < CALLERS; i++) {
        free(s.out[i]);
        free(s.separated[i]);
    }
    rig_free(&r);
}

/* A job for a mesh that is already there; `to` is where its points go. */
static tps_deform_job job_of(const rig *r, float *to)
{
    return (tps_deform_job){.skin = r->skin,
                            .skeleton = r->skeleton,
                            .frame_count = 1,
                            .world = r->world,
                            .points_out = to,
                            .status = TPS_NO_MEMORY};
}

void test_many_meshes(void)
{
    enum { MESHES = 9 };
    static const int64_t sizes[MESHES] = {0, 1, 77, 2500, 60000, 5000, 77, 3000, 10};
    static const double flat[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    rig rigs[MESHES];
    float *alone[MESHES], *together[MESHES];
    for (int i = 0; i < MESHES; i++) {
        rigs[i] = busy_rig(sizes[i]);
        alone[i] = need(3 * sizes[i] + 1, sizeof **alone);
        together[i] = need(3 * sizes[i] + 1, sizeof **together);
        tps_deform_job job = {.frame_count = 1, .world = rigs[i].world, .threads = 1};
        CHECK(deform_to(rigs[i].skin, rigs[i].skeleton, &job, POINTS, alone[i]) == TPS_OK);
    }
    for (int threads = 0; threads < 5; threads++) {
        tps_deform_job jobs[MESHES];
        for (int i = 0; i < MESHES; i++) {
            jobs[i] = job_of(&rigs[i], together[i]);
        }
        jobs[3].space = flat;
        tps_deform_many(jobs, MESHES, threads);
        for (int i = 0; i < MESHES; i++) {
            CHECK(jobs[i].status == (i == 3 ? TPS_SINGULAR_SPACE : TPS_OK));
            CHECK(i == 3 || memcmp(alone[i], together[i], (size_t)sizes[i] * 3 * sizeof(float)) == 0);
        }
    }
    for (int i = 0; i < MESHES; i++) {
        rig_free(&rigs[i]);
        free(alone[i]);
        free(together[i]);
    }
}
