/* Bind, local, user, posed and skinning matrices: docs/method.md, section 1. */
#include "internal.h"
#include "inverse.h"

#include <stdlib.h>

tps_status tps_parents_first(int32_t joint_count, const int32_t *parents, int32_t *order, int64_t *where)
{
    for (int32_t j = 0; j < joint_count; j++) {
        if (parents[j] < -1 || parents[j] >= joint_count) {
            return tps_fail(TPS_PARENT_RANGE, j, where);
        }
    }
    /* Children as linked lists, then breadth first from the roots: O(J) for any order of joints. */
    int32_t *first_child = tps_allocate(2 * (int64_t)joint_count, sizeof(int32_t));
    if (!first_child) {
        return tps_fail(TPS_NO_MEMORY, -1, where);
    }
    int32_t *next_sibling = first_child + joint_count;
    for (int32_t j = 0; j < joint_count; j++) {
        first_child[j] = -1;
    }
    int32_t placed = 0;
    for (int32_t j = joint_count - 1; j >= 0; j--) { /* backwards, so that siblings keep their order */
        if (parents[j] >= 0) {
            next_sibling[j] = first_child[parents[j]];
            first_child[parents[j]] = j;
        }
    }
    for (int32_t j = 0; j < joint_count; j++) {
        if (parents[j] < 0) {
            order[placed++] = j;
        }
    }
    for (int32_t i = 0; i < placed; i++) {
        for (int32_t child = first_child[order[i]]; child >= 0; child = next_sibling[child]) {
            order[placed++] = child;
        }
    }
    free(first_child);
    if (placed == joint_count) {
        return TPS_OK;
    }
    /* Some joint hangs from a cycle; walking up J steps from it ends inside the cycle. */
    int32_t at = -1;
    for (int32_t j = 0; at < 0; j++) {
        int32_t up = j;
        for (int32_t steps = 0; steps < joint_count && up >= 0; steps++) {
            up = parents[up];
        }
        at = up;
    }
    return tps_fail(TPS_PARENT_CYCLE, at, where);
}

static affine load(const double *matrices, int32_t j)
{
    return affine_load(matrices + 16 * (int64_t)j);
}

static void store(double *matrices, int32_t j, affine a)
{
    affine_store(&a, matrices + 16 * (int64_t)j);
}

static tps_status check_bind(int32_t joint_count, const double *bind, int64_t *where)
{
    for (int32_t j = 0; j < joint_count; j++) {
        affine b = load(bind, j);
        if (tps_mat3_singular(&b.linear)) {
            return tps_fail(TPS_SINGULAR_BIND, j, where);
        }
    }
    return TPS_OK;
}

tps_status tps_bind_local(int32_t joint_count, const int32_t *parents, const double *bind, double *local,
                          int64_t *where)
{
    tps_status status = check_bind(joint_count, bind, where);
    if (status != TPS_OK) {
        return status;
    }
    for (int32_t j = 0; j < joint_count; j++) {
        affine b = load(bind, j);
        if (parents[j] >= 0) {
            affine parent = load(bind, parents[j]);
            affine inverse = tps_affine_inverse(&parent);
            b = affine_mul(&inverse, &b);
        }
        store(local, j, b);
    }
    return TPS_OK;
}

/* W_p L_j; a root's is L_j. */
static affine rest_frame(int32_t j, const int32_t *parents, const double *local, const double *world)
{
    affine l = load(local, j);
    if (parents[j] < 0) {
        return l;
    }
    affine parent = load(world, parents[j]);
    return affine_mul(&parent, &l);
}

void tps_bind_world(int32_t joint_count, const int32_t *parents, const int32_t *order, const double *local,
                    double *bind)
{
    for (int32_t i = 0; i < joint_count; i++) {
        store(bind, order[i], rest_frame(order[i], parents, local, bind));
    }
}

void tps_pose_world(int32_t joint_count, const int32_t *parents, const int32_t *order, const double *local,
                    const double *user, double *world)
{
    for (int32_t i = 0; i < joint_count; i++) {
        affine frame = rest_frame(order[i], parents, local, world);
        affine u = load(user, order[i]);
        store(world, order[i], affine_mul(&frame, &u));
    }
}

/* frame^-1 m, taking the difference of the origins first: exact to rounding far from the origin too. */
static affine relative_to(const affine *frame, const affine *m)
{
    mat3 inverse = tps_mat3_inverse(&frame->linear);
    return (affine){mat3_mul(&inverse, &m->linear), mat3_apply(&inverse, vec3_sub(m->translation, frame->translation))};
}

void tps_user_local(int32_t joint_count, const int32_t *parents, const double *world, const double *local, double *user)
{
    for (int32_t j = 0; j < joint_count; j++) {
        affine frame = rest_frame(j, parents, local, world);
        affine w = load(world, j);
        store(user, j, relative_to(&frame, &w));
    }
}

tps_status tps_skinning_matrices(int32_t joint_count, const double *world, const double *bind, double *matrices,
                                 int64_t *where)
{
    tps_status status = check_bind(joint_count, bind, where);
    if (status != TPS_OK) {
        return status;
    }
    for (int32_t j = 0; j < joint_count; j++) {
        affine b = load(bind, j), w = load(world, j);
        affine inverse = tps_affine_inverse(&b);
        store(matrices, j, affine_mul(&w, &inverse));
    }
    return TPS_OK;
}

void tps_world_from_skinning(int32_t joint_count, const double *matrices, const double *bind, double *world)
{
    for (int32_t j = 0; j < joint_count; j++) {
        affine t = load(matrices, j), b = load(bind, j);
        store(world, j, affine_mul(&t, &b));
    }
}

void tps_increment_world(int32_t joint, const int32_t *parents, const double *local, const double *world,
                         const double *increment, double *user_of_joint)
{
    affine frame = rest_frame(joint, parents, local, world);
    affine g = affine_load(increment), w = load(world, joint);
    affine moved = affine_mul(&g, &w);
    affine u = relative_to(&frame, &moved);
    affine_store(&u, user_of_joint);
}
