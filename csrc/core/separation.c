/* The separation as the public interface has it: by closed forms where the pose has them, else joint by joint. */
#include "maps.h"
#include "regular.h"

#include <stdlib.h>

/* The same fields from closed forms, where the pose has them. */
static int separate_regular(const tps_skeleton *s, const double *world, const tps_association *a, const uint8_t *flags,
                            tps_maps *maps, tps_joint *joints)
{
    if (!tps_regular_maps(s, world, a, flags, maps)) {
        return 0;
    }
    for (int32_t j = 0; j < s->joint_count; j++) {
        tps_joint *joint = &joints[j];
        const tps_maps *one = &maps[j / F64_LANES];
        int lane = j % F64_LANES;
        if (!(flags[j] & TPS_CARRIES)) {
            tps_leave_out(s, world, joint, j);
            continue;
        }
        joint->world = f64v_affine_get(&one->w, lane);
        joint->n = f64v_mat3_get(&one->n, lane);
        joint->m = (affine){s->bind[j].linear, f64v_vec3_get(&one->head, lane)};
        joint->p = f64v_affine_get(&one->p, lane);
        joint->q = f64v_affine_get(&one->q, lane);
        joint->e = s->any_inherits ? f64v_affine_get(&one->e, lane) : AFFINE_ONE;
    }
    return 1;
}

static void store(double *matrices, int32_t j, const affine *a)
{
    if (matrices) {
        affine_store(a, matrices + 16 * (int64_t)j);
    }
}

tps_status tps_separate(const tps_skeleton *skeleton, const double *world, const tps_association *association,
                        const tps_separation *separation)
{
    char *memory = tps_allocate(1, tps_scratch_size(skeleton->joint_count) + TPS_SCRATCH_ALIGNMENT);
    if (!memory) {
        return TPS_NO_MEMORY;
    }
    tps_scratch scratch = tps_scratch_in(memory + (TPS_SCRATCH_ALIGNMENT - (uintptr_t)memory % TPS_SCRATCH_ALIGNMENT),
                                         skeleton->joint_count);
    tps_joint *joints = scratch.joints;
    tps_mark(skeleton, association->weighted, scratch.flags);
    if (!separate_regular(skeleton, world, association, scratch.flags, scratch.maps, joints)) {
        tps_separate_joints(skeleton, world, association, scratch.flags, joints);
    }
    for (int32_t j = 0; j < skeleton->joint_count; j++) {
        const tps_joint *joint = &joints[j];
        affine n = {joint->n, {{0, 0, 0}}};
        store(separation->bind, j, &skeleton->bind[j]);
        store(separation->intermediate, j, &joint->m);
        store(separation->local_scale, j, &n);
        store(separation->nonrigid, j, &joint->p);
        store(separation->rigid, j, &joint->q);
        store(separation->inherited, j, &joint->e);
        store(separation->world, j, &joint->world);
    }
    free(memory);
    return TPS_OK;
}
