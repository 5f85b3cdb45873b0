/* Separates a pose into non-rigid and rigid maps: docs/method.md, section 2, with its letters. */
#include "separate.h"
#include "inverse.h"
#include "rotation.h"

#include <stdlib.h>
#include <string.h>

/* 2b: which joints carry, and which of them have an inheriting child that carries. */
void tps_mark(const tps_skeleton *s, const uint8_t *weighted, uint8_t *flags)
{
    for (int32_t j = 0; j < s->joint_count; j++) {
        flags[j] = !weighted || weighted[j] ? TPS_CARRIES : 0;
    }
    for (int32_t i = s->joint_count - 1; i >= 0; i--) { /* children first */
        int32_t j = s->order[i], parent = s->parents[j];
        if (parent >= 0 && flags[j]) {
            flags[parent] |= s->inherits[j] ? TPS_CARRIES | TPS_POST : TPS_CARRIES;
        }
    }
}

/* The frame a joint is posed in: W_p L_j, with the parent's scale only where the joint inherits it. */
static affine base_frame(const tps_skeleton *s, int32_t j, const affine *parent_world, const affine *parent_frame)
{
    if (s->parents[j] < 0) {
        return s->local[j];
    }
    const mat3 *turned = s->inherits[j] ? &parent_world->linear : &parent_frame->linear;
    return (affine){mat3_mul(turned, &s->local[j].linear), affine_apply(parent_world, s->local[j].translation)};
}

tps_status tps_skeleton_pose(const tps_skeleton *skeleton, const double *user, double *world)
{
    tps_joint *joints = tps_allocate(skeleton->joint_count, sizeof *joints);
    if (!joints) {
        return TPS_NO_MEMORY;
    }
    for (int32_t i = 0; i < skeleton->joint_count; i++) {
        int32_t j = skeleton->order[i];
        const tps_joint *parent = skeleton->parents[j] < 0 ? NULL : &joints[skeleton->parents[j]];
        affine base = base_frame(skeleton, j, parent ? &parent->world : NULL, parent ? &parent->frame : NULL);
        affine u = affine_load(user + 16 * (int64_t)j);
        joints[j].world = affine_mul(&base, &u);
        joints[j].u.translation = u.translation;
        tps_polar(&u.linear, &joints[j].u.linear, &joints[j].n);
        joints[j].frame = affine_mul(&base, &joints[j].u);
        affine_store(&joints[j].world, world + 16 * (int64_t)j);
    }
    free(joints);
    return TPS_OK;
}

/* 2a and 2b: u = [R' | t'], N' and the effective pose W', F' of one joint. */
static void user_transform(const tps_skeleton *s, const double *world, const tps_association *a, tps_joint *joints,
                           int32_t j)
{
    tps_joint *joint = &joints[j];
    const tps_joint *parent = s->parents[j] < 0 ? NULL : &joints[s->parents[j]];
    joint->given = affine_load(world + 16 * (int64_t)j);

    affine base = base_frame(s, j, parent ? &parent->given : NULL, parent ? &parent->given_frame : NULL);
    mat3 inverse = tps_mat3_inverse(&base.linear);
    mat3 x = mat3_mul(&inverse, &joint->given.linear);
    joint->u.translation = mat3_apply(&inverse, vec3_sub(joint->given.translation, base.translation));
    tps_polar(&x, &joint->u.linear, &joint->n);
    joint->given_frame = affine_mul(&base, &joint->u);

    int nonrigid = !a->nonrigid || a->nonrigid[j], rigid = !a->rigid || a->rigid[j];
    joint->muted = (parent && parent->muted) || !nonrigid || !rigid;
    if (!joint->muted) {
        joint->world = joint->given;
        joint->frame = joint->given_frame;
        return;
    }
    if (!nonrigid) {
        joint->n = MAT3_ONE;
    }
    if (!rigid) {
        joint->u = AFFINE_ONE;
    }
    base = base_frame(s, j, parent ? &parent->world : NULL, parent ? &parent->frame : NULL);
    joint->frame = affine_mul(&base, &joint->u);
    joint->world = affine_mul_linear(&joint->frame, &joint->n);
}

/* Q and P: Q rotates lin(M n) onto lin(V) as well as a rotation can and maps org(M) to org(V); Q P = V B^-1. */
static void rigid_part(const tps_skeleton *s, int32_t j, tps_joint *joint, const mat3 *n, const affine *v)
{
    mat3 from = mat3_mul(&joint->m.linear, n);
    joint->q.linear = tps_best_rotation(&from, &v->linear, &joint->g.linear, &s->bind_inverse[j].linear);
    joint->q.translation = vec3_sub(v->translation, mat3_apply(&joint->q.linear, joint->m.translation));
    affine q_inverse = affine_inverse_rigid(&joint->q);
    affine unbent = affine_mul(&q_inverse, v);
    joint->p = affine_mul(&unbent, &s->bind_inverse[j]);
}

/* M of a child whose linear part is Q_p^-1 `posed`, at P_p org(B_j). */
static affine intermediate(const tps_skeleton *s, int32_t j, const tps_joint *parent, const mat3 *posed)
{
    mat3 unbend = mat3_transpose(&parent->q.linear);
    return (affine){mat3_mul(&unbend, posed), affine_apply(&parent->p, s->bind[j].translation)};
}

/* 2d */
static void separate_before(const tps_skeleton *s, tps_joint *joints, int32_t j)
{
    tps_joint *joint = &joints[j];
    affine local = s->local[j];
    joint->m = s->bind[j];
    if (s->parents[j] >= 0) {
        const tps_joint *parent = &joints[s->parents[j]];
        local = affine_mul(&parent->g, &local);
        mat3 posed = mat3_mul(&parent->frame.linear, &s->local[j].linear);
        joint->m = s->inherits[j] ? affine_mul(&parent->p, &s->bind[j]) : intermediate(s, j, parent, &posed);
    }
    joint->g = affine_mul(&local, &joint->u);
    rigid_part(s, j, joint, &joint->n, &joint->world);
    joint->e = AFFINE_ONE;
}

/* 2e: S_j, the inherited scale that acts on joint j after its bend. */
static affine inherited_space(const tps_skeleton *s, int32_t j, const tps_joint *parent)
{
    if (!parent->post) {
        return parent->s;
    }
    affine scale = AFFINE_ONE;
    if (s->inherits[j]) {
        affine posed = affine_mul_linear(&parent->g, &parent->n);
        affine inverse = tps_affine_inverse(&parent->g);
        scale = affine_mul(&posed, &inverse);
    } else {
        vec3 head = s->local[j].translation;
        scale.translation = mat3_apply(&parent->g.linear, vec3_sub(mat3_apply(&parent->n, head), head));
    }
    return affine_mul(&parent->s, &scale);
}

/* 2e */
static void separate_after(const tps_skeleton *s, tps_joint *joints, int32_t j, int post)
{
    tps_joint *joint = &joints[j];
    affine local = s->local[j];
    joint->m = s->bind[j];
    joint->s = AFFINE_ONE;
    if (s->parents[j] >= 0) {
        const tps_joint *parent = &joints[s->parents[j]];
        if (!parent->post) {
            local.translation = mat3_apply(&parent->n, local.translation);
        }
        local = affine_mul(&parent->g, &local);
        joint->m = intermediate(s, j, parent, &local.linear);
        joint->s = inherited_space(s, j, parent);
        post = post || (parent->post && tps_mat3_singular(&joint->s.linear)); /* a pre parent's space is regular */
    }
    joint->g = affine_mul(&local, &joint->u);
    joint->post = post != 0;
    if (joint->post) {
        rigid_part(s, j, joint, &MAT3_ONE, &joint->g);
        affine unposed = tps_affine_inverse(&joint->g); /* Q P = G B^-1 here, so E = W' G^-1 */
        joint->e = affine_mul(&joint->world, &unposed);
    } else {
        affine v = affine_mul_linear(&joint->g, &joint->n);
        rigid_part(s, j, joint, &joint->n, &v);
        joint->e = joint->s;
    }
}

void tps_leave_out(const tps_skeleton *s, const double *world, tps_joint *joint, int32_t j)
{
    joint->world = affine_load(world + 16 * (int64_t)j);
    joint->n = MAT3_ONE;
    joint->m = s->bind[j];
    joint->p = affine_mul(&joint->world, &s->bind_inverse[j]);
    joint->q = joint->e = AFFINE_ONE;
}

void tps_separate_joints(const tps_skeleton *s, const double *world, const tps_association *a, const uint8_t *flags,
                         tps_joint *joints)
{
    for (int32_t i = 0; i < s->joint_count; i++) {
        int32_t j = s->order[i];
        if (!(flags[j] & TPS_CARRIES)) {
            tps_leave_out(s, world, &joints[j], j);
            continue;
        }
        user_transform(s, world, a, joints, j);
        if (a->inherited == TPS_INHERITED_AFTER) {
            separate_after(s, joints, j, flags[j] & TPS_POST);
        } else {
            separate_before(s, joints, j);
        }
    }
}

void tps_effective_pose(const tps_skeleton *s, const double *world, const tps_association *a, const uint8_t *flags,
                        tps_joint *joints)
{
    for (int32_t i = 0; i < s->joint_count; i++) {
        int32_t j = s->order[i];
        if (flags[j] & TPS_CARRIES) {
            user_transform(s, world, a, joints, j);
        } else {
            joints[j].world = affine_load(world + 16 * (int64_t)j);
        }
    }
}
