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
#include "internal.h"
#include "parts.h"
#include "wide_rotation.h"

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
WIDE_INLINE wide_mask seen_from_parents(const tps_skeleton *s, const double *world, int32_t group, wide_affine *z)
{
    const double *from[WIDE];
    for (int l = 0; l < WIDE; l++) {
        int32_t j = tps_lane_joint(group, l, s->joint_count);
        from[l] = s->inherits[j] ? world + 16 * (int64_t)s->parents[j] : IDENTITY;
    }
    wide_affine a = wide_affine_load(from);
    wide_mat3 c = wide_mat3_cofactors(&a.lin);
    wide determinant = wide_mat3_determinant(&a.lin, &c), inverse_determinant = 1 / determinant;
    wide_mat3 inverse;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            inverse.m[i][k] = c.m[k][i] * inverse_determinant;
        }
    }
    z->lin = wide_mat3_mul(&inverse, &z->lin);
    z->org = wide_mat3_apply(&inverse, wide_vec3_sub(z->org, a.org));
    return wide_fat(&a.lin, determinant, 1e-2);
}

/* W, [Y | org(A^-1 W)] in q, N, and the linear part of P. 0 where some joint is not regular. */
static int shapes(const tps_skeleton *s, const double *world, const uint8_t *flags, int32_t group, tps_parts *part)
{
    wide_affine z = tps_group_of(world, group, s->joint_count);
    wide_mask regular = ~tps_flagged(flags, TPS_CARRIES, group, s->joint_count);
    part->w = z;
    part->head = part->p.org = (wide_vec3){{{0}}}; /* spare lanes are never set */
    wide_mask accurate = (wide_mask){0} - 1;
    if (s->any_inherits) {
        accurate = seen_from_parents(s, world, group, &z);
    }
    wide_mat3 y;
    regular |= accurate & wide_polar_rotation(&z.lin, &y);
    if (!wide_all(regular)) {
        return 0;
    }
    wide_mat3 back = wide_mat3_transpose(&y);
    part->n = wide_mat3_mul(&back, &z.lin);
    part->q = (wide_affine){y, z.org};

    wide_affine b = tps_bind_group(s->bind, group, s->joint_count);
    wide_mat3 bind_back = wide_mat3_transpose(&b.lin);
    wide_mat3 p = wide_mat3_mul(&part->n, &bind_back);
    p = wide_mat3_mul(&b.lin, &p);
    wide_mask post = tps_flagged(flags, TPS_POST, group, s->joint_count);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            part->p.lin.m[i][k] = wide_choose(post, p.m[i][k], wide_of(i == k));
        }
    }
    return 1;
}

/* G in q, from what `shapes` left there. */
static void frame(const tps_skeleton *s, const uint8_t *flags, int32_t j, tps_parts *parts)
{
    int32_t parent = s->parents[j];
    if (parent < 0) {
        return;
    }
    wide_affine *q = &parts[j / WIDE].q;
    int lane = j % WIDE, above = parent % WIDE;
    affine g = wide_affine_get(q, lane), of_parent = wide_affine_get(&parts[parent / WIDE].q, above);
    if (s->inherits[j]) {
        g = affine_mul(&of_parent, &g);
    } else { /* what scale the parent passes on moves the joint later, in E */
        affine w = wide_affine_get(&parts[parent / WIDE].w, above);
        g.org = vec3_add(g.org, vec3_sub(of_parent.org, w.org));
        if (flags[parent] & TPS_POST) {
            vec3 head = s->local[j].org;
            g.org = vec3_sub(g.org, vec3_sub(mat3_apply(&w.lin, head), mat3_apply(&of_parent.lin, head)));
        }
    }
    wide_affine_set(q, lane, &g);
}

/* org(M) is where the parent's P takes the bind's origin, and where the joint's own takes it. */
static void head(const tps_skeleton *s, int32_t j, tps_parts *parts)
{
    int32_t parent = s->parents[j];
    vec3 at = s->bind[j].org, to = at;
    if (parent >= 0) {
        affine above = wide_affine_get(&parts[parent / WIDE].p, parent % WIDE);
        to = affine_apply(&above, at);
    }
    tps_parts *part = &parts[j / WIDE];
    mat3 p = wide_mat3_get(&part->p.lin, j % WIDE);
    wide_vec3_set(&part->head, j % WIDE, to);
    wide_vec3_set(&part->p.org, j % WIDE, vec3_sub(to, mat3_apply(&p, at)));
}

/* E of post joints is W G^-1; else of joints that do not inherit, a translation. */
WIDE_INLINE wide_affine space_of(const wide_affine *w, const wide_affine *g, wide_mask post)
{
    wide_mat3 back = wide_mat3_transpose(&g->lin);
    wide_affine e = {wide_mat3_mul(&w->lin, &back), w->org};
    e.org = wide_vec3_sub(e.org, wide_mat3_apply(&e.lin, g->org));
    wide_vec3 moved = wide_vec3_sub(w->org, g->org);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            e.lin.m[i][k] = wide_choose(post, wide_of(i == k), e.lin.m[i][k]);
        }
        e.org.x[i] = wide_choose(post, moved.x[i], e.org.x[i]);
    }
    return e;
}

/* Q, and E but of joints that inherit and are not post. */
static void motions(const tps_skeleton *s, const uint8_t *flags, int32_t group, tps_parts *part)
{
    wide_affine g = part->q, b = tps_bind_group(s->bind, group, s->joint_count);
    wide_mat3 bind_back = wide_mat3_transpose(&b.lin);
    part->q.lin = wide_mat3_mul(&g.lin, &bind_back);
    part->q.org = wide_vec3_sub(g.org, wide_mat3_apply(&part->q.lin, part->head));
    if (s->any_inherits) {
        part->e = space_of(&part->w, &g, tps_flagged(flags, TPS_POST, group, s->joint_count));
    }
}

int tps_regular_parts(const tps_skeleton *s, const double *world, const tps_association *a, const uint8_t *flags,
                      tps_parts *parts)
{
    if (!s->closed_forms || (s->any_inherits && a->inherited != TPS_AFTER) || is_muted(a, s->joint_count)) {
        return 0;
    }
    int32_t groups = tps_group_count(s->joint_count);
    for (int32_t group = 0; group < groups; group++) {
        if (!shapes(s, world, flags, group, &parts[group])) {
            return 0;
        }
    }
    for (int32_t i = 0; i < s->joint_count; i++) {
        if (s->any_inherits) {
            frame(s, flags, s->order[i], parts);
        }
        head(s, s->order[i], parts);
    }
    for (int32_t group = 0; group < groups; group++) {
        motions(s, flags, group, &parts[group]);
    }
    for (int32_t j = 0; j < s->joint_count; j++) {
        if (s->inherits[j] && !(flags[j] & TPS_POST)) {
            int32_t parent = s->parents[j];
            affine e = wide_affine_get(&parts[parent / WIDE].e, parent % WIDE);
            wide_affine_set(&parts[j / WIDE].e, j % WIDE, &e);
        }
    }
    return 1;
}
