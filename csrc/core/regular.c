/* The separation of regular poses by closed forms, several joints at a time.
 *
 * Let every bind matrix be rigid, every joint's scale regular and not mirrored, and no joint muted. With A = W_p where
 * the joint inherits, else 1, and the polar decomposition A^-1 W = Y N, docs/method.md's definitions come down to
 *
 *     N' = N,   lin(Q) = lin(G) lin(B)^-1,   lin(P) = lin(B) N lin(B)^-1, or 1 where a child inherits,
 *
 * where G = G_p [Y | org(A^-1 W)] where the joint inherits, and lin(G) = Y elsewhere: the joint's frame has turned by
 * lin(L) R = Y, and lin(M) = lin(Q_p)^-1 lin(G_p) lin(L) = lin(B_p) lin(L) = lin(B). Only G and the origins need other
 * joints. A compensating joint's frame must be rigid for this: all joints above it must be compensated too. */
#include "regular.h"
#include "separate.h"
#include "f64v_rotation.h"

static const double IDENTITY[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

static int is_muted(const tps_association *a, int32_t joint_count)
{
    for (int32_t j = 0; j < joint_count; j++) {
        if ((a->nonrigid && !a->nonrigid[j]) || (a->rigid && !a->rigid[j])) {
            return 1;
        }
    }
    return 0;
}

/* A^-1 W; the mask of the lanes where that is accurate. */
F64V_INLINE f64v_mask seen_from_parents(const tps_skeleton *s, const double *world, int32_t pack, f64v_affine *z)
{
    const double *from[F64_LANES];
    for (int l = 0; l < F64_LANES; l++) {
        int32_t j = tps_lane_joint(pack, l, s->joint_count);
        from[l] = s->inherits[j] ? world + 16 * (int64_t)s->parents[j] : IDENTITY;
    }
    f64v_affine a = f64v_affine_load(from);
    f64v_mat3 c = f64v_mat3_cofactors(&a.linear);
    f64v determinant = f64v_mat3_determinant(&a.linear, &c), inverse_determinant = 1 / determinant;
    f64v_mat3 inverse;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            inverse.m[i][k] = c.m[k][i] * inverse_determinant;
        }
    }
    z->linear = f64v_mat3_mul(&inverse, &z->linear);
    z->translation = f64v_mat3_apply(&inverse, f64v_vec3_sub(z->translation, a.translation));
    return f64v_well_conditioned(&a.linear, determinant, 1e-2);
}

/* W, [Y | org(A^-1 W)] in q, N, and the linear part of P. 0 where some joint is not regular. */
static int shapes(const tps_skeleton *s, const double *world, const uint8_t *flags, int32_t pack, tps_maps *one)
{
    f64v_affine z = tps_pack_load(world, pack, s->joint_count);
    f64v_mask regular = ~tps_flagged(flags, TPS_CARRIES, pack, s->joint_count);
    one->w = z;
    one->head = one->p.translation = (f64v_vec3){{{0}}}; /* spare lanes are never set */
    f64v_mask accurate = (f64v_mask){0} - 1;
    if (s->any_inherits) {
        accurate = seen_from_parents(s, world, pack, &z);
    }
    f64v_mat3 y;
    regular |= accurate & f64v_polar_rotation(&z.linear, &y);
    if (!f64v_all(regular)) {
        return 0;
    }
    f64v_mat3 back = f64v_mat3_transpose(&y);
    one->n = f64v_mat3_mul(&back, &z.linear);
    one->q = (f64v_affine){y, z.translation};

    f64v_affine b = tps_pack_bind(s->bind, pack, s->joint_count);
    f64v_mat3 bind_back = f64v_mat3_transpose(&b.linear);
    f64v_mat3 p = f64v_mat3_mul(&one->n, &bind_back);
    p = f64v_mat3_mul(&b.linear, &p);
    f64v_mask post = tps_flagged(flags, TPS_POST, pack, s->joint_count);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            one->p.linear.m[i][k] = f64v_choose(post, p.m[i][k], f64v_of(i == k));
        }
    }
    return 1;
}

/* G in q, from what `shapes` left there. */
static void frame(const tps_skeleton *s, const uint8_t *flags, int32_t j, tps_maps *maps)
{
    int32_t parent = s->parents[j];
    if (parent < 0) {
        return;
    }
    f64v_affine *q = &maps[j / F64_LANES].q;
    int lane = j % F64_LANES, above = parent % F64_LANES;
    affine g = f64v_affine_get(q, lane), of_parent = f64v_affine_get(&maps[parent / F64_LANES].q, above);
    if (s->inherits[j]) {
        g = affine_mul(&of_parent, &g);
    } else { /* what scale the parent passes on moves the joint later, in E */
        affine w = f64v_affine_get(&maps[parent / F64_LANES].w, above);
        g.translation = vec3_add(g.translation, vec3_sub(of_parent.translation, w.translation));
        if (flags[parent] & TPS_POST) {
            vec3 head = s->local[j].translation;
            g.translation =
                vec3_sub(g.translation, vec3_sub(mat3_apply(&w.linear, head), mat3_apply(&of_parent.linear, head)));
        }
    }
    f64v_affine_set(q, lane, &g);
}

/* org(M) is where the parent's P takes the bind's origin, and where the joint's own takes it. */
static void head(const tps_skeleton *s, int32_t j, tps_maps *maps)
{
    int32_t parent = s->parents[j];
    vec3 at = s->bind[j].translation, to = at;
    if (parent >= 0) {
        affine above = f64v_affine_get(&maps[parent / F64_LANES].p, parent % F64_LANES);
        to = affine_apply(&above, at);
    }
    tps_maps *one = &maps[j / F64_LANES];
    mat3 p = f64v_mat3_get(&one->p.linear, j % F64_LANES);
    f64v_vec3_set(&one->head, j % F64_LANES, to);
    f64v_vec3_set(&one->p.translation, j % F64_LANES, vec3_sub(to, mat3_apply(&p, at)));
}

/* E of post joints is W G^-1; else of joints that do not inherit, a translation. */
F64V_INLINE f64v_affine space_of(const f64v_affine *w, const f64v_affine *g, f64v_mask post)
{
    f64v_mat3 back = f64v_mat3_transpose(&g->linear);
    f64v_affine e = {f64v_mat3_mul(&w->linear, &back), w->translation};
    e.translation = f64v_vec3_sub(e.translation, f64v_mat3_apply(&e.linear, g->translation));
    f64v_vec3 moved = f64v_vec3_sub(w->translation, g->translation);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            e.linear.m[i][k] = f64v_choose(post, f64v_of(i == k), e.linear.m[i][k]);
        }
        e.translation.x[i] = f64v_choose(post, moved.x[i], e.translation.x[i]);
    }
    return e;
}

/* Q, and E but of joints that inherit and are not post. */
static void motions(const tps_skeleton *s, const uint8_t *flags, int32_t pack, tps_maps *one)
{
    f64v_affine g = one->q, b = tps_pack_bind(s->bind, pack, s->joint_count);
    f64v_mat3 bind_back = f64v_mat3_transpose(&b.linear);
    one->q.linear = f64v_mat3_mul(&g.linear, &bind_back);
    one->q.translation = f64v_vec3_sub(g.translation, f64v_mat3_apply(&one->q.linear, one->head));
    if (s->any_inherits) {
        one->e = space_of(&one->w, &g, tps_flagged(flags, TPS_POST, pack, s->joint_count));
    }
}

int tps_regular_maps(const tps_skeleton *s, const double *world, const tps_association *a, const uint8_t *flags,
                     tps_maps *maps)
{
    if (!s->closed_forms || (s->any_inherits && a->inherited != TPS_INHERITED_AFTER) || is_muted(a, s->joint_count)) {
        return 0;
    }
    int32_t packs = tps_pack_count(s->joint_count);
    for (int32_t pack = 0; pack < packs; pack++) {
        if (!shapes(s, world, flags, pack, &maps[pack])) {
            return 0;
        }
    }
    for (int32_t i = 0; i < s->joint_count; i++) {
        if (s->any_inherits) {
            frame(s, flags, s->order[i], maps);
        }
        head(s, s->order[i], maps);
    }
    for (int32_t pack = 0; pack < packs; pack++) {
        motions(s, flags, pack, &maps[pack]);
    }
    for (int32_t j = 0; j < s->joint_count; j++) {
        if (s->inherits[j] && !(flags[j] & TPS_POST)) {
            int32_t parent = s->parents[j];
            affine e = f64v_affine_get(&maps[parent / F64_LANES].e, parent % F64_LANES);
            f64v_affine_set(&maps[j / F64_LANES].e, j % F64_LANES, &e);
        }
    }
    return 1;
}
