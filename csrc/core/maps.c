/* The maps that vertices are deformed with, by each method. */
#include "maps.h"
#include "regular.h"
#include "rotation.h"
#include "f64v_rotation.h"

size_t tps_scratch_size(int32_t joint_count)
{
    size_t count = (size_t)joint_count, packs = (size_t)tps_pack_count(joint_count);
    size_t size = packs * sizeof(tps_maps) + count * (sizeof(tps_joint) + 1);
    return (size + TPS_SCRATCH_ALIGNMENT - 1) / TPS_SCRATCH_ALIGNMENT * TPS_SCRATCH_ALIGNMENT;
}

tps_scratch tps_scratch_in(void *memory, int32_t joint_count)
{
    tps_maps *maps = memory;
    tps_joint *joints = (tps_joint *)(void *)(maps + tps_pack_count(joint_count));
    return (tps_scratch){maps, joints, (uint8_t *)(joints + joint_count)};
}

/* Classic dual quaternion skinning with scale: a stretch about the origin, then the rest of the pose. */
static void split_classic(const tps_skeleton *s, int32_t pack, tps_maps *one)
{
    f64v_affine t = tps_skinning_of(s, one, pack);
    f64v_mask right = f64v_polar_rotation(&t.linear, &one->q.linear);
    f64v_mat3 back = f64v_mat3_transpose(&one->q.linear);
    one->p = (f64v_affine){f64v_mat3_mul(&back, &t.linear), {{{0}}}};
    one->q.translation = t.translation;
    for (int l = 0; l < F64_LANES; l++) {
        if (!right[l]) {
            mat3 x = f64v_mat3_get(&t.linear, l), rotation, stretch;
            tps_polar(&x, &rotation, &stretch);
            f64v_mat3_set(&one->q.linear, l, &rotation);
            f64v_mat3_set(&one->p.linear, l, &stretch);
        }
    }
}

/* Joints that were separated one by one. */
static void gather_joints(const tps_scratch *scratch, int32_t joint_count)
{
    for (int32_t pack = 0; pack < tps_pack_count(joint_count); pack++) {
        tps_maps *one = &scratch->maps[pack];
        for (int l = 0; l < F64_LANES; l++) {
            const tps_joint *joint = &scratch->joints[tps_lane_joint(pack, l, joint_count)];
            f64v_affine_set(&one->w, l, &joint->world);
            f64v_affine_set(&one->p, l, &joint->p);
            f64v_affine_set(&one->q, l, &joint->q);
            f64v_affine_set(&one->e, l, &joint->e);
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
    for (int32_t pack = 0; pack < tps_pack_count(s->joint_count); pack++) {
        tps_maps *one = &scratch->maps[pack];
        one->w = tps_pack_load(world, pack, s->joint_count);
        for (int l = 0; l < F64_LANES && flagged; l++) {
            f64v_affine_set(&one->w, l, &scratch->joints[tps_lane_joint(pack, l, s->joint_count)].world);
        }
    }
}

int tps_maps_make(const tps_skeleton *s, tps_method method, const tps_association *a, const double *world,
                  const tps_scratch *scratch)
{
    tps_mark(s, a->weighted, scratch->flags);
    if (method == TPS_METHOD_TWO_PHASE) {
        if (tps_regular_maps(s, world, a, scratch->flags, scratch->maps)) {
            return s->any_inherits;
        }
        tps_separate_joints(s, world, a, scratch->flags, scratch->joints);
        gather_joints(scratch, s->joint_count);
        return 1;
    }
    effective_pose(s, world, a, scratch);
    for (int32_t pack = 0; pack < tps_pack_count(s->joint_count); pack++) {
        tps_maps *one = &scratch->maps[pack];
        if (method == TPS_METHOD_DUAL_QUATERNION) {
            split_classic(s, pack, one);
        } else {
            one->p = tps_skinning_of(s, one, pack);
        }
    }
    return 0;
}
