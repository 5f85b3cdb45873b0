/* Everything that the core refuses: the status, the place, and outputs that are left as they were. */
#include "rig.h"
#include "tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JOINTS 5
#define NOWHERE (-77)

/* A chain with good matrices, to be spoiled. */
typedef struct chain {
    int32_t parents[JOINTS];
    double bind[16 * JOINTS];
    uint8_t inherits[JOINTS];
} chain;

static chain good_chain(void)
{
    chain c = {{-1, 0, 1, 2, 3}, {0}, {0}};
    for (int i = 0; i < 16 * JOINTS; i++) {
        c.bind[i] = i % 16 % 5 == 0;
    }
    return c;
}

/* Neither skeleton nor matrices are written; `at` is where it is wrong. */
static void refused(const chain *c, tps_status status, int64_t at)
{
    tps_skeleton *const before = (tps_skeleton *)(void *)&status;
    tps_skeleton *skeleton = before;
    int64_t where = NOWHERE;
    CHECK(tps_skeleton_create(JOINTS, c->parents, c->bind, c->inherits, &skeleton, &where) == status);
    CHECK(where == at);
    CHECK(skeleton == before);
    CHECK(tps_skeleton_create(JOINTS, c->parents, c->bind, c->inherits, &skeleton, NULL) == status);
}

static void refused_parents(void)
{
    static const int32_t wrong[] = {-2, JOINTS, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        chain c = good_chain();
        c.parents[3] = wrong[i];
        refused(&c, TPS_PARENT_RANGE, 3);
    }
    chain c = good_chain();
    c.parents[4] = 4;
    refused(&c, TPS_PARENT_CYCLE, 4);
    c = good_chain();
    c.parents[2] = 4; /* 2 3 4 in a ring, of which 1 is no part */
    int64_t where = NOWHERE;
    int32_t order[JOINTS];
    CHECK(tps_parents_first(JOINTS, c.parents, order, &where) == TPS_PARENT_CYCLE);
    CHECK(where >= 2 && where <= 4);
}

static void refused_matrices(void)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 16 * 3; i++) {
        chain c = good_chain();
        c.bind[32 + i % 16] = wrong[i / 16];
        refused(&c, TPS_NOT_FINITE, 2);
    }
    for (int k = 12; k < 16; k++) {
        chain c = good_chain();
        c.bind[48 + k] += 2 * TPS_LAST_ROW_TOLERANCE;
        refused(&c, TPS_LAST_ROW, 3);
        c.bind[48 + k] -= 1.5 * TPS_LAST_ROW_TOLERANCE; /* what float32 arithmetic leaves */
        CHECK(tps_check_affine(JOINTS, c.bind, NULL) == TPS_OK);
    }
    chain c = good_chain();
    c.bind[64] = 0;
    refused(&c, TPS_SINGULAR_BIND, 4);
    c.bind[64] = 1e-12; /* as good as singular */
    refused(&c, TPS_SINGULAR_BIND, 4);

    double out[16 * JOINTS];
    int64_t where = NOWHERE;
    for (int i = 0; i < 16 * JOINTS; i++) {
        out[i] = NOWHERE;
    }
    CHECK(tps_bind_local(JOINTS, c.parents, c.bind, out, &where) == TPS_SINGULAR_BIND && where == 4);
    CHECK(tps_skinning_matrices(JOINTS, c.bind, c.bind, out, &where) == TPS_SINGULAR_BIND && where == 4);
    for (int i = 0; i < 16 * JOINTS; i++) {
        CHECK(out[i] == NOWHERE);
    }
}

void test_status_of_skeletons(void)
{
    refused_parents();
    refused_matrices();
    const double values[3] = {1, 2, NAN};
    const float narrow[3] = {1, INFINITY, 3};
    int64_t where = NOWHERE;
    CHECK(tps_check_finite_f64(3, values, &where) == TPS_NOT_FINITE && where == 2);
    CHECK(tps_check_finite_f32(3, narrow, &where) == TPS_NOT_FINITE && where == 1);
    CHECK(tps_check_finite_f64(2, values, &where) == TPS_OK && tps_check_finite_f32(1, narrow, NULL) == TPS_OK);
}

/* Three vertices on five joints, with one thing wrong. */
static void refused_mesh(tps_status status, int64_t at, const int64_t *row_start, int64_t joint, double weight,
                         int kernel)
{
    const float points[9] = {0};
    const int64_t joints[4] = {0, 1, joint, 3};
    const double weights[4] = {1, 1, weight, 1};
    const tps_mesh mesh = {3, JOINTS, points, NULL, row_start, 4, joints, weights, 0, kernel};
    tps_skin *const before = (tps_skin *)(void *)&status;
    tps_skin *skin = before;
    int64_t where = NOWHERE;
    CHECK(tps_skin_create(&mesh, &skin, &where) == status);
    CHECK(where == at);
    CHECK(skin == before);
    CHECK(tps_skin_create(&mesh, &skin, NULL) == status);
}

/* One joint more than a skin can number. */
static void refused_for_joints(void)
{
    enum { TOO_MANY = 65537 };
    int64_t *row_start = need(TOO_MANY + 1, sizeof *row_start), *joints = need(TOO_MANY, sizeof *joints), where = 0;
    double *weights = need(TOO_MANY, sizeof *weights);
    float *points = need(3 * (int64_t)TOO_MANY, sizeof *points);
    for (int i = 0; i < TOO_MANY; i++) {
        row_start[i] = joints[i] = i;
        weights[i] = 1;
        points[3 * i] = points[3 * i + 1] = points[3 * i + 2] = 0;
    }
    row_start[TOO_MANY] = TOO_MANY;
    tps_mesh mesh = {TOO_MANY, TOO_MANY, points, NULL, row_start, TOO_MANY, joints, weights, 0, 0};
    tps_skin *skin = NULL;
    CHECK(tps_skin_create(&mesh, &skin, &where) == TPS_TOO_MANY_JOINTS && where == -1 && !skin);
    weights[7] = 0; /* then 65,536 are left */
    CHECK(tps_skin_create(&mesh, &skin, &where) == TPS_OK);
    tps_skin_free(skin);
    free(row_start);
    free(joints);
    free(weights);
    free(points);
}

static void refused_space(void)
{
    rig_options o = {.seed = 1, .joints = 4, .vertices = 20, .most_influences = 3};
    rig r = rig_make(&o);
    const double flat[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    const tps_deform_job job = {.frame_count = 1, .world = r.world, .space = flat};
    float out[60];
    for (int i = 0; i < 60; i++) {
        out[i] = NOWHERE;
    }
    CHECK(deform_to(r.skin, r.skeleton, &job, POINTS, out) == TPS_SINGULAR_SPACE);
    for (int i = 0; i < 60; i++) {
        CHECK(out[i] == NOWHERE);
    }
    rig_free(&r);
}

void test_status_of_skins(void)
{
    const int64_t good[4] = {0, 2, 2, 4}, late[4] = {1, 2, 2, 4}, falls[4] = {0, 3, 2, 4}, beyond[4] = {0, 2, 9, 4};
    const int64_t early[4] = {0, 2, 2, 3}, below[4] = {0, -1, 2, 4};
    refused_mesh(TPS_WEIGHT_ROWS, 0, late, 2, 1, 0);
    refused_mesh(TPS_WEIGHT_ROWS, 2, falls, 2, 1, 0);
    refused_mesh(TPS_WEIGHT_ROWS, 2, beyond, 2, 1, 0);
    refused_mesh(TPS_WEIGHT_ROWS, 3, early, 2, 1, 0);
    refused_mesh(TPS_WEIGHT_ROWS, 1, below, 2, 1, 0);
    refused_mesh(TPS_WEIGHT_JOINT_RANGE, 2, good, JOINTS, 1, 0);
    refused_mesh(TPS_WEIGHT_JOINT_RANGE, 2, good, -1, 1, 0);
    refused_mesh(TPS_WEIGHT_JOINT_RANGE, 2, good, INT64_C(1) << 32, 1, 0);
    refused_mesh(TPS_WEIGHT_NEGATIVE, 2, good, 2, -1e-300, 0);
    refused_mesh(TPS_NOT_FINITE, 2, good, 2, NAN, 0);
    refused_mesh(TPS_NOT_FINITE, 2, good, 2, INFINITY, 0);
    int kernels = 0;
    while (tps_kernel_name(kernels)) {
        kernels++;
    }
    CHECK(kernels > 0 && !tps_kernel_name(-1));
    refused_mesh(TPS_KERNEL_RANGE, kernels, good, 2, 1, kernels);
    refused_mesh(TPS_KERNEL_RANGE, -1, good, 2, 1, -1);
    refused_for_joints();
    refused_space();
}

/* A skeleton that is not the skin's is noticed, before anything is read of the job. */
void test_status_of_strangers(void)
{
    rig_options few = {.seed = 5, .joints = 4, .vertices = 9, .most_influences = 3}, many = few;
    many.joints = 9;
    rig a = rig_make(&few), b = rig_make(&many);
    float out[27] = {NOWHERE};
    tps_deform_job job = {.frame_count = 1, .world = b.world};
    CHECK(deform_to(a.skin, b.skeleton, &job, POINTS, out) == TPS_SKELETON_MISMATCH);
    CHECK(out[0] == NOWHERE);
    rig_free(&a);
    rig_free(&b);
}

/* No joints, no vertices, no frames: nothing to do, and nothing wrong. */
void test_empty(void)
{
    rig_options o = {.seed = 2, .joints = 4, .vertices = 0, .most_influences = 3};
    rig r = rig_make(&o);
    float out[3] = {NOWHERE, NOWHERE, NOWHERE};
    tps_deform_job job = {.frame_count = 1, .world = r.world};
    CHECK(deform_to(r.skin, r.skeleton, &job, POINTS, out) == TPS_OK);
    rig_free(&r);
    o.vertices = 9;
    r = rig_make(&o);
    job = (tps_deform_job){.frame_count = 0, .world = r.world};
    CHECK(deform_to(r.skin, r.skeleton, &job, MATRICES, out) == TPS_OK);
    rig_free(&r);
    CHECK(out[0] == NOWHERE);

    const int32_t parents[1] = {0};
    const double matrices[1] = {0};
    const uint8_t flags[1] = {0};
    const int64_t row_start[2] = {0, 0}, joints[1] = {0};
    const float points[3] = {1, 2, 3};
    const tps_mesh mesh = {1, 0, points, NULL, row_start, 0, joints, matrices, 0, 0};
    tps_skeleton *skeleton = NULL;
    tps_skin *skin = NULL;
    job = (tps_deform_job){.frame_count = 1, .world = matrices};
    CHECK(tps_skeleton_create(0, parents, matrices, flags, &skeleton, NULL) == TPS_OK);
    CHECK(tps_skin_create(&mesh, &skin, NULL) == TPS_OK);
    CHECK(deform_to(skin, skeleton, &job, POINTS, out) == TPS_OK);
    CHECK(memcmp(out, points, sizeof out) == 0);
    tps_skin_free(skin);
    tps_skeleton_free(skeleton);
}
