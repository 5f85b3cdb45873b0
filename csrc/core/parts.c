/* The maps that vertices are deformed with, by each method. */
#include "parts.h"
#include "rotation.h"
#include "wide_rotation.h"

size_t tps_scratch_size(int32_t joint_count)
{
    size_t count = (size_t)joint_count, groups = (size_t)tps_group_count(joint_count);
    size_t size = groups * sizeof(tps_parts) + count * (sizeof(tps_joint) + 1);
    return (size + TPS_SCRATCH_ALIGNMENT - 1) / TPS_SCRATCH_ALIGNMENT * TPS_SCRATCH_ALIGNMENT;
}

tps_scratch tps_scratch_in(void *memory, int32_t joint_count)
{
    tps_parts *parts = memory;
    tps_joint *joints = (tps_joint *)(void *)(parts + tps_group_count(joint_count));
    return (tps_scratch){parts, joints, (uint8_t *)(joints + joint_count)};
}

/* Classic dual quaternion skinning with scale: a stretch about the origin, then the rest of the pose. */
static void split_classic(const tps_skeleton *s, int32_t group, tps_parts *part)
{
    wide_affine t = tps_skinning_of(s, part, group);
    wide_mask right = wide_polar_rotation(&t.lin, &part->q.lin);
    wide_mat3 back = wide_mat3_transpose(&part->q.lin);
    part->p = (wide_affine){wide_mat3_mul(&back, &t.lin), {{{0}}}};
    part->q.org = t.org;
    for (int l = 0; l < WIDE; l++) {
        if (!right[l]) {
            mat3 x = wide_mat3_get(&t.lin, l), rotation, stretch;
            polar(&x, &rotation, &stretch);
            wide_mat3_set(&part->q.lin, l, &rotation);
            wide_mat3_set(&part->p.lin, l, &stretch);
        }
    }
}

/* Joints that were separated one by one. */
static void gather_joints(const tps_scratch *scratch, int32_t joint_count)
{
    for (int32_t group = 0; group < tps_group_count(joint_count); group++) {
        tps_parts *part = &scratch->parts[group];
        for (int l = 0; l < WIDE; l++) {
            const tps_joint *joint = &scratch->joints[tps_lane_joint(group, l, joint_count)];
            wide_affine_set(&part->w, l, &joint->world);
            wide_affine_set(&part->p, l, &joint->p);
            wide_affine_set(&part->q, l, &joint->q);
            wide_affine_set(&part->e, l, &joint->e);
        }
    }
}

/* W' in w: W, where no joint can be muted. */
static void effective_pose(const tps_skeleton *s, const double *world, const tps_association *a,
                           const tps_scratch *scratch)
{
    int flagged = a->nonrigid || a->rigid;
    if (flagged) {
        tps_effective_pose(s, world, a, scratch->flags, scratch->joints);
    }
    for (int32_t group = 0; group < tps_group_count(s->joint_count); group++) {
        tps_parts *part = &scratch->parts[group];
        part->w = tps_group_of(world, group, s->joint_count);
        for (int l = 0; l < WIDE && flagged; l++) {
            wide_affine_set(&part->w, l, &scratch->joints[tps_lane_joint(group, l, s->joint_count)].world);
        }
    }
}

int tps_parts_make(const tps_skeleton *s, const tps_pose *pose, const double *world, const tps_scratch *scratch)
{
    const tps_association *a = &pose->association;
    tps_mark(s, a->weighted, scratch->flags);
    if (pose->method == TPS_TWO_PHASE) {
        if (tps_regular_parts(s, world, a, scratch->flags, scratch->parts)) {
            return s->any_inherits;
        }
        tps_separate_joints(s, world, a, scratch->flags, scratch->joints);
        gather_joints(scratch, s->joint_count);
        return 1;
    }
    effective_pose(s, world, a, scratch);
    for (int32_t group = 0; group < tps_group_count(s->joint_count); group++) {
        tps_parts *part = &scratch->parts[group];
        if (pose->method == TPS_DUAL_QUATERNION) {
            split_classic(s, group, part);
        } else {
            part->p = tps_skinning_of(s, part, group);
        }
    }
    return 0;
}
