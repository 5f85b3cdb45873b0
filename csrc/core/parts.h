/* The maps that vertices are deformed with, several joints in one struct. Internal. */
#ifndef TPS_PARTS_H
#define TPS_PARTS_H

#include "separate.h"
#include "wide.h"

/* Of the joints WIDE g .. WIDE g + WIDE - 1. Spare lanes of the last group repeat the last joint, or hold anything. */
typedef struct tps_parts {
    wide_affine w; /* W' */
    wide_affine p, q, e;
    wide_mat3 n;    /* N', of regular poses only */
    wide_vec3 head; /* org(M), of regular poses only */
} tps_parts;

/* What one frame is prepared in. */
#define TPS_SCRATCH_ALIGNMENT 64
typedef struct tps_scratch {
    tps_parts *parts;
    tps_joint *joints; /* J, of poses that are not regular */
    uint8_t *flags;    /* J, of tps_mark */
} tps_scratch;

/* A multiple of the alignment. */
size_t tps_scratch_size(int32_t joint_count);

/* The scratch in memory of that size and alignment. */
tps_scratch tps_scratch_in(void *memory, int32_t joint_count);

/* The parts that the pose's method needs: w, p, and q unless linear. Is there a part e as well? */
int tps_parts_make(const tps_skeleton *s, const tps_pose *pose, const double *world, const tps_scratch *scratch);

/* The separation of a regular pose: w, p, q, n, head, and e where some joint inherits. 0 for other poses. */
int tps_regular_parts(const tps_skeleton *s, const double *world, const tps_association *a, const uint8_t *flags,
                      tps_parts *parts);

static inline int32_t tps_group_count(int32_t joint_count)
{
    return (joint_count + WIDE - 1) / WIDE;
}

static inline int32_t tps_lane_joint(int32_t group, int lane, int32_t joint_count)
{
    int32_t j = WIDE * group + lane;
    return j < joint_count ? j : joint_count - 1;
}

/* The lanes of joints that have a flag of tps_mark. */
WIDE_INLINE wide_mask tps_flagged(const uint8_t *flags, int flag, int32_t group, int32_t joint_count)
{
    wide_mask mask = {0};
    for (int l = 0; l < WIDE; l++) {
        mask[l] = flags[tps_lane_joint(group, l, joint_count)] & flag ? -1 : 0;
    }
    return mask;
}

/* Of matrices as the public interface has them, the group's. */
WIDE_INLINE wide_affine tps_group_of(const double *world, int32_t group, int32_t joint_count)
{
    const double *from[WIDE];
    for (int l = 0; l < WIDE; l++) {
        from[l] = world + 16 * (int64_t)tps_lane_joint(group, l, joint_count);
    }
    return wide_affine_load(from);
}

/* Of bind matrices or their inverses, the group's. */
WIDE_INLINE wide_affine tps_bind_group(const affine *binds, int32_t group, int32_t joint_count)
{
    const affine *from[WIDE];
    for (int l = 0; l < WIDE; l++) {
        from[l] = &binds[tps_lane_joint(group, l, joint_count)];
    }
    return wide_affine_gather(from);
}

/* W' B^-1 */
WIDE_INLINE wide_affine tps_skinning_of(const tps_skeleton *s, const tps_parts *part, int32_t group)
{
    wide_affine inverse = tps_bind_group(s->bind_inverse, group, s->joint_count);
    return wide_affine_mul(&part->w, &inverse);
}

#endif
