/* Joint matrices, separation and support joints: the laws of docs/method.md. */
#include "reference.h"
#include "tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const pose_kind kinds[] = {POSE_RIGID, POSE_SCALED, POSE_MIRRORED, POSE_FLAT};

static double *matrices(int32_t joints)
{
    return need(16 * (int64_t)joints, sizeof(double));
}

static void check_joint_matrices(const rig *r)
{
    int32_t count = r->joint_count, *order = need(count, sizeof *order);
    double size = rig_size(r);
    double *local = matrices(count), *user = matrices(count), *again = matrices(count), *skinning = matrices(count);
    CHECK(tps_parents_first(count, r->parents, order, NULL) == TPS_OK);
    CHECK(tps_bind_local(count, r->parents, r->bind, local, NULL) == TPS_OK);
    tps_bind_world(count, r->parents, order, local, again);
    CHECK(largest_difference(again, r->bind, 16 * count) < 1e-12 * size);

    tps_user_local(count, r->parents, r->world, local, user);
    tps_pose_world(count, r->parents, order, local, user, again);
    CHECK(largest_difference(again, r->world, 16 * count) < 1e-12 * size);

    CHECK(tps_skinning_matrices(count, r->world, r->bind, skinning, NULL) == TPS_OK);
    tps_world_from_skinning(count, skinning, r->bind, again);
    CHECK(largest_difference(again, r->world, 16 * count) < 1e-12 * size);

    /* An increment in world space: W' = G W for the joint itself. */
    chance c = {r->joint_count > 3};
    double increment[16], expected[16];
    int32_t joint = count / 2;
    matrix_random(&c, POSE_RIGID, increment);
    matrix_multiply(increment, r->world + 16 * joint, expected);
    tps_increment_world(joint, r->parents, local, r->world, increment, user + 16 * joint);
    tps_pose_world(count, r->parents, order, local, user, again);
    CHECK(largest_difference(again + 16 * joint, expected, 16) < 1e-12 * size);
    free(order);
    free(local);
    free(user);
    free(again);
    free(skinning);
}

void test_joint_matrices(void)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        rig_options o = {.seed = seed, .joints = 1 + (int32_t)seed, .scaled_bind = seed % 2, .pose = POSE_SCALED};
        rig r = rig_make(&o);
        check_joint_matrices(&r);
        rig_free(&r);
    }
}

/* Three joints up the y axis; joint 0 scaled by (1, 2, 1), joint 1 turned by 90 degrees about z. */
static void example(int inherits, tps_inherited inherited, const double expected[6])
{
    const int32_t parents[3] = {-1, 0, 1};
    const uint8_t flags[3] = {0, (uint8_t)inherits, (uint8_t)inherits};
    double bind[48], world[48], user[48] = {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 1, 0, 0, 0,
                                            0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0,  1, 0, 0, 0, 0, 1};
    for (int i = 0; i < 48; i++) {
        bind[i] = i % 16 % 5 == 0;
    }
    bind[16 + 7] = 1;
    bind[32 + 7] = 2;
    const float points[6] = {0.2f, 1, 0, 0.2f, 2, 0};
    const int64_t row_start[3] = {0, 2, 4}, joints[4] = {0, 1, 1, 2};
    const double weights[4] = {1, 1, 1, 1};
    const tps_mesh mesh = {2, 3, points, NULL, row_start, 4, joints, weights, 0, 0};
    tps_skeleton *skeleton = NULL;
    tps_skin *skin = NULL;
    float out[6];
    CHECK(tps_skeleton_create(3, parents, bind, flags, &skeleton, NULL) == TPS_OK);
    CHECK(tps_skin_create(&mesh, &skin, NULL) == TPS_OK);
    CHECK(tps_skeleton_pose(skeleton, user, world) == TPS_OK);
    const tps_deform_job job = {.frame_count = 1, .world = world, .inherited = inherited};
    CHECK(deform_to(skin, skeleton, &job, POINTS, out) == TPS_OK);
    for (int i = 0; i < 6; i++) {
        CHECK_CLOSE((double)out[i], expected[i], 5e-5);
    }
    tps_skin_free(skin);
    tps_skeleton_free(skeleton);
}

void test_worked_example(void)
{
    example(1, TPS_INHERITED_BEFORE, (const double[]){0.2121, 2.2121, 0, -1, 2.4, 0});
    example(1, TPS_INHERITED_AFTER, (const double[]){0.1414, 2.2828, 0, -1, 2.4, 0});
    example(0, TPS_INHERITED_BEFORE, (const double[]){0.1414, 2.1414, 0, -1, 2.2, 0});
    example(0, TPS_INHERITED_AFTER, (const double[]){0.1414, 2.1414, 0, -1, 2.2, 0});
}

static void check_rotation(const double *m)
{
    for (int i = 0; i < 9; i++) {
        double dot = 0;
        for (int k = 0; k < 3; k++) {
            dot += m[4 * k + i / 3] * m[4 * k + i % 3];
        }
        CHECK_CLOSE(dot, (double)(i / 3 == i % 3), 1e-12);
    }
    double c = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]);
    CHECK_CLOSE(c + m[2] * (m[4] * m[9] - m[5] * m[8]), 1.0, 1e-12);
}

/* E Q P = W B^-1, and Q is rigid; returns P for comparisons. */
static double *check_separation(const rig *r, tps_inherited inherited)
{
    int32_t count = r->joint_count;
    const tps_association association = {.inherited = inherited};
    double *p = matrices(count), *q = matrices(count), *e = matrices(count), *first = matrices(count);
    const tps_separation separation = {.bind = first, .nonrigid = p, .rigid = q, .inherited = e};
    CHECK(tps_separate(r->skeleton, r->world, &association, &separation) == TPS_OK);
    CHECK(largest_difference(first, r->bind, 16 * count) == 0);
    for (int32_t j = 0; j < count; j++) {
        double inverse[16], expected[16], product[16];
        matrix_inverse(r->bind + 16 * j, inverse);
        matrix_multiply(r->world + 16 * j, inverse, expected);
        matrix_multiply(q + 16 * j, p + 16 * j, product);
        matrix_multiply(e + 16 * j, product, product);
        CHECK(largest_difference(product, expected, 16) < 1e-9 * rig_size(r));
        check_rotation(q + 16 * j);
    }
    free(q);
    free(e);
    free(first);
    return p;
}

void test_separation_laws(void)
{
    for (uint64_t seed = 0; seed < 120; seed++) {
        pose_kind kind = kinds[seed % 4];
        int compensating = (int)(seed / 4 % 3) - 1;
        rig_options o = {.seed = seed, .joints = 9, .compensating = compensating, .pose = kind};
        rig r = rig_make(&o);
        double *before = check_separation(&r, TPS_INHERITED_BEFORE), *after = check_separation(&r, TPS_INHERITED_AFTER);
        if (kind == POSE_RIGID) { /* no scale at all: nothing for phase 1 to do */
            for (int32_t j = 0; j < r.joint_count; j++) {
                const double one[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
                CHECK(largest_difference(after + 16 * j, one, 16) < 1e-12 * rig_size(&r));
                CHECK(largest_difference(before + 16 * j, one, 16) < 1e-12 * rig_size(&r));
            }
        }
        free(before);
        free(after);
        rig_free(&r);
    }
}

void test_support_joints(void)
{
    const int32_t parents[6] = {-1, 0, 1, 2, 1, 4};
    double bind[96];
    for (int i = 0; i < 96; i++) {
        bind[i] = i % 16 % 5 == 0;
    }
    const uint8_t inherits[6] = {0}, weighted[6] = {0, 0, 0, 1, 0, 0}, expected[6] = {1, 1, 1, 0, 0, 0};
    uint8_t support[6];
    tps_skeleton *skeleton = NULL;
    CHECK(tps_skeleton_create(6, parents, bind, inherits, &skeleton, NULL) == TPS_OK);
    CHECK(tps_skeleton_joint_count(skeleton) == 6);
    tps_support_joints(skeleton, weighted, support);
    CHECK(memcmp(support, expected, 6) == 0);
    tps_skeleton_free(skeleton);
    tps_skeleton_free(NULL);
}
