/* A few joints at a time, F64_LANES of them: a pack. Internal. */
#ifndef TPS_PACK_H
#define TPS_PACK_H

#include "f64v.h"
#include "internal.h"

/* Of the joints F64_LANES g .. F64_LANES g + F64_LANES - 1. Spare lanes of the last pack repeat the last joint, or hold
 * anything. */
typedef struct tps_maps {
    f64v_affine w; /* W' */
    f64v_affine p, q, e;
    f64v_mat3 n;    /* N', of regular poses only */
    f64v_vec3 head; /* org(M), of regular poses only */
} tps_maps;

static inline int32_t tps_pack_count(int32_t joint_count)
{
    return (joint_count + F64_LANES - 1) / F64_LANES;
}

static inline int32_t tps_lane_joint(int32_t pack, int lane, int32_t joint_count)
{
    int32_t j = F64_LANES * pack + lane;
    return j < joint_count ? j : joint_count - 1;
}

/* The lanes of joints that have a flag of tps_mark. */
F64V_INLINE f64v_mask tps_flagged(const uint8_t *flags, int flag, int32_t pack, int32_t joint_count)
{
    f64v_mask mask = {0};
    for (int l = 0; l < F64_LANES; l++) {
        mask[l] = flags[tps_lane_joint(pack, l, joint_count)] & flag ? -1 : 0;
    }
    return mask;
}

/* Of matrices as the public interface has them, the pack's. */
F64V_INLINE f64v_affine tps_pack_load(const double *world, int32_t pack, int32_t joint_count)
{
    const double *from[F64_LANES];
    for (int l = 0; l < F64_LANES; l++) {
        from[l] = world + 16 * (int64_t)tps_lane_joint(pack, l, joint_count);
    }
    return f64v_affine_load(from);
}

/* Of bind matrices or their inverses, the pack's. */
F64V_INLINE f64v_affine tps_pack_bind(const affine *binds, int32_t pack, int32_t joint_count)
{
    const affine *from[F64_LANES];
    for (int l = 0; l < F64_LANES; l++) {
        from[l] = &binds[tps_lane_joint(pack, l, joint_count)];
    }
    return f64v_affine_gather(from);
}

/* W' B^-1 */
F64V_INLINE f64v_affine tps_skinning_of(const tps_skeleton *s, const tps_maps *one, int32_t pack)
{
    f64v_affine inverse = tps_pack_bind(s->bind_inverse, pack, s->joint_count);
    return f64v_affine_mul(&one->w, &inverse);
}

#endif
