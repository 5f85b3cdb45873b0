/* The skeleton: what does not change from pose to pose. */
#include "internal.h"
#include "inverse.h"
#include "rotation.h"

#include <stdlib.h>
#include <string.h>

void tps_skeleton_free(tps_skeleton *skeleton)
{
    if (!skeleton) {
        return;
    }
    free(skeleton->parents);
    free(skeleton->order);
    free(skeleton->inherits);
    free(skeleton->bind);
    free(skeleton->bind_inverse);
    free(skeleton->local);
    free(skeleton);
}

static tps_skeleton *allocate_skeleton(int32_t joint_count)
{
    tps_skeleton *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->joint_count = joint_count;
    s->parents = tps_allocate(joint_count, sizeof *s->parents);
    s->order = tps_allocate(joint_count, sizeof *s->order);
    s->inherits = tps_allocate(joint_count, sizeof *s->inherits);
    s->bind = tps_allocate(joint_count, sizeof *s->bind);
    s->bind_inverse = tps_allocate(joint_count, sizeof *s->bind_inverse);
    s->local = tps_allocate(joint_count, sizeof *s->local);
    if (!s->parents || !s->order || !s->inherits || !s->bind || !s->bind_inverse || !s->local) {
        tps_skeleton_free(s);
        return NULL;
    }
    return s;
}

/* Can poses of it be regular? */
static int has_closed_forms(const tps_skeleton *s)
{
    for (int32_t j = 0; j < s->joint_count; j++) {
        int32_t parent = s->parents[j];
        int below_inheriting = parent >= 0 && s->inherits[parent] && !s->inherits[j];
        if (below_inheriting || !tps_is_rotation(&s->bind[j].linear)) {
            return 0;
        }
    }
    return 1;
}

static tps_status fill(tps_skeleton *s, const int32_t *parents, const double *bind, const uint8_t *inherits,
                       int64_t *where)
{
    tps_status status = tps_check_affine(s->joint_count, bind, where);
    if (status == TPS_OK) {
        status = tps_parents_first(s->joint_count, parents, s->order, where);
    }
    if (status != TPS_OK) {
        return status;
    }
    s->size_squared = 1;
    for (int32_t i = 0; i < s->joint_count; i++) {
        int32_t j = s->order[i], parent = parents[j];
        s->parents[j] = parent;
        s->inherits[j] = parent >= 0 && inherits[j];
        s->any_inherits |= s->inherits[j];
        s->bind[j] = affine_load(bind + 16 * (int64_t)j);
        s->size_squared = larger(s->size_squared, vec3_dot(s->bind[j].translation, s->bind[j].translation));
        if (tps_mat3_singular(&s->bind[j].linear)) {
            return tps_fail(TPS_SINGULAR_BIND, j, where);
        }
        s->bind_inverse[j] = tps_affine_inverse(&s->bind[j]);
        s->local[j] = parent < 0 ? s->bind[j] : affine_mul(&s->bind_inverse[parent], &s->bind[j]);
    }
    s->closed_forms = has_closed_forms(s);
    return TPS_OK;
}

tps_status tps_skeleton_create(int32_t joint_count, const int32_t *parents, const double *bind, const uint8_t *inherits,
                               tps_skeleton **skeleton, int64_t *where)
{
    tps_skeleton *s = allocate_skeleton(joint_count);
    if (!s) {
        return tps_fail(TPS_NO_MEMORY, -1, where);
    }
    tps_status status = fill(s, parents, bind, inherits, where);
    if (status != TPS_OK) {
        tps_skeleton_free(s);
        return status;
    }
    *skeleton = s;
    return TPS_OK;
}

int32_t tps_skeleton_joint_count(const tps_skeleton *skeleton)
{
    return skeleton->joint_count;
}

void tps_support_joints(const tps_skeleton *skeleton, const uint8_t *weighted, uint8_t *support)
{
    memset(support, 0, (size_t)skeleton->joint_count);
    for (int32_t i = skeleton->joint_count - 1; i >= 0; i--) { /* children first */
        int32_t j = skeleton->order[i], parent = skeleton->parents[j];
        if (parent >= 0 && !weighted[parent] && (weighted[j] || support[j])) {
            support[parent] = 1;
        }
    }
}
