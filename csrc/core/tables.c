#include "tables.h"
#include "rotation.h"

__attribute__((noinline)) double tps_rounded(double x)
{
    return (float)x;
}

tps_status tps_space_make(const double *matrix, tps_space *space)
{
    *space = (tps_space){.given = matrix != NULL, .similar = 1, .in = AFFINE_ONE, .out = AFFINE_ONE};
    if (!matrix) {
        return TPS_OK;
    }
    space->in = affine_load(matrix);
    if (mat3_singular(&space->in.lin)) {
        return TPS_SINGULAR_SPACE;
    }
    space->out = affine_inverse(&space->in);
    mat3 transposed = mat3_transpose(&space->in.lin);
    mat3 gram = mat3_mul(&transposed, &space->in.lin);
    double size = (gram.m[0][0] + gram.m[1][1] + gram.m[2][2]) / 3;
    for (int i = 0; i < 9; i++) {
        double unlike = fabs(gram.m[i / 3][i % 3] - (i % 4 == 0 ? size : 0));
        space->similar = space->similar && unlike <= 1e-6 * size; /* matrices often come from float32 */
    }
    return TPS_OK;
}

/* out a in: a as the points' space sees it. */
static affine seen_from(const tps_space *space, const affine *a)
{
    if (!space->given) {
        return *a;
    }
    affine inner = affine_mul(a, &space->in);
    return affine_mul(&space->out, &inner);
}

/* Classic dual quaternion skinning with scale: a stretch about the origin, then the rest of the pose. */
static void split_classic(const tps_skeleton *s, tps_joint *joint, int32_t j)
{
    affine t = affine_mul(&joint->world, &s->bind_inverse[j]);
    joint->p = joint->e = AFFINE_ONE;
    polar(&t.lin, &joint->q.lin, &joint->p.lin);
    joint->q.org = t.org;
}

static const affine *map_of_joint(const tps_joint *joint, size_t map)
{
    return (const affine *)(const void *)((const char *)joint + map);
}

/* Is a map (the offset of p or e) the identity for every joint that carries, to 1e-12 (translations: of the rig's
 * size)? */
static int does_nothing(const tps_skeleton *s, const tps_joint *joints, size_t map)
{
    double size = 1, turned = 0, moved = 0;
    for (int32_t j = 0; j < s->joint_count; j++) {
        if (!joints[j].carries) {
            continue;
        }
        const affine *a = map_of_joint(&joints[j], map);
        for (int i = 0; i < 9; i++) {
            turned = larger(turned, fabs(a->lin.m[i / 3][i % 3] - (i % 4 == 0)));
        }
        for (int k = 0; k < 3; k++) {
            size = larger(size, larger(fabs(joints[j].world.org.x[k]), fabs(s->bind[j].org.x[k])));
            moved = larger(moved, fabs(a->org.x[k]));
        }
    }
    return turned <= 1e-12 && moved <= 1e-12 * size;
}

/* The parts of the pose that the method needs, for every joint, and the stages that do something with them. */
static int split(const tps_skeleton *s, const tps_pose *pose, const double *world, tps_joint *joints)
{
    if (pose->method == TPS_TWO_PHASE) {
        tps_separate_joints(s, world, &pose->association, joints);
    } else {
        tps_effective_pose(s, world, &pose->association, joints);
    }
    for (int32_t j = 0; j < s->joint_count; j++) {
        if (pose->method == TPS_DUAL_QUATERNION) {
            split_classic(s, &joints[j], j);
        } else if (pose->method == TPS_LINEAR) {
            joints[j].p = affine_mul(&joints[j].world, &s->bind_inverse[j]);
        }
    }
    if (pose->method == TPS_LINEAR) {
        return STAGE_NONRIGID;
    }
    int stages = STAGE_RIGID;
    stages |= does_nothing(s, joints, offsetof(tps_joint, p)) ? 0 : STAGE_NONRIGID;
    stages |= does_nothing(s, joints, offsetof(tps_joint, e)) ? 0 : STAGE_INHERITED;
    return stages;
}

/* Which stages run, and their maps p, q and e in the points' space, for every joint. */
static int choose_stages(const tps_skeleton *s, const tps_pose *pose, const double *world, const tps_space *space,
                         tps_joint *joints)
{
    int stages = split(s, pose, world, joints);
    if (pose->phase == 1) {
        stages = STAGE_NONRIGID;
    } else if (pose->phase == 2) {
        stages &= STAGE_NONRIGID | STAGE_RIGID;
    }
    /* Dual quaternion blending commutes with rotations and uniform scale, not with other changes of space: then go to
     * the skeleton's space first, and come back last. */
    int apart = !space->similar && pose->method != TPS_LINEAR;
    for (int32_t j = 0; space->given && j < s->joint_count; j++) {
        tps_joint *joint = &joints[j];
        if (apart) {
            joint->p = affine_mul(&joint->p, &space->in);
            joint->e = stages & STAGE_INHERITED ? affine_mul(&space->out, &joint->e) : space->out;
            continue;
        }
        joint->p = seen_from(space, &joint->p);
        if (stages & STAGE_RIGID) {
            joint->q = seen_from(space, &joint->q);
            joint->e = seen_from(space, &joint->e);
        }
    }
    return apart ? stages | STAGE_NONRIGID | STAGE_INHERITED : stages;
}

/* The member at offset `map` of the u-th used joint. */
static const affine *map_of(const tps_skin *skin, const tps_joint *joints, size_t map, int32_t u)
{
    return map_of_joint(&joints[skin->used[u]], map);
}

/* Where a blend of maps takes the mesh's centre on the whole, as float32 values. Working relative to it keeps float32
 * coordinates small; no result depends on it. */
static vec3 moved_centre(const tps_skin *skin, const tps_joint *joints, size_t map, vec3 centre)
{
    vec3 sum = {{0, 0, 0}};
    for (int32_t u = 0; u < skin->used_count; u++) {
        const affine *a = map_of(skin, joints, map, u);
        sum = vec3_add(sum, vec3_scale(affine_apply(a, centre), skin->share[u]));
    }
    for (int k = 0; k < 3; k++) {
        sum.x[k] = tps_rounded(skin->used_count > 0 ? sum.x[k] : centre.x[k]);
    }
    return sum;
}

static void store_matrix(const affine *a, vec3 from, vec3 to, float *row)
{
    affine r = affine_between(a, from, to);
    for (int k = 0; k < 4; k++) {
        vec3 column = k < 3 ? mat3_column(&r.lin, k) : r.org;
        for (int i = 0; i < 3; i++) {
            row[4 * k + i] = (float)column.x[i];
        }
        row[4 * k + 3] = 0;
    }
}

/* The unit quaternion w x y z of a rotation (Shepperd 1978: from the largest component). */
static void quaternion(const mat3 *r, double q[4])
{
    double d[4];
    for (int i = 0; i < 4; i++) { /* 4 q_i^2 */
        d[i] = 1;
        for (int k = 0; k < 3; k++) {
            d[i] += i == 0 || i == k + 1 ? r->m[k][k] : -r->m[k][k];
        }
    }
    int largest = 0;
    for (int i = 1; i < 4; i++) {
        largest = d[i] > d[largest] ? i : largest;
    }
    double wx = r->m[2][1] - r->m[1][2], wy = r->m[0][2] - r->m[2][0], wz = r->m[1][0] - r->m[0][1];
    double xy = r->m[0][1] + r->m[1][0], xz = r->m[0][2] + r->m[2][0], yz = r->m[1][2] + r->m[2][1];
    const double products[4][4] = {{d[0], wx, wy, wz}, {wx, d[1], xy, xz}, {wy, xy, d[2], yz}, {wz, xz, yz, d[3]}};
    double norm = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = products[largest][i];
        norm += q[i] * q[i];
    }
    norm = sqrt(norm);
    for (int i = 0; i < 4; i++) {
        q[i] /= norm;
    }
}

/* Dual part: t q / 2 (Kavan et al. 2008). */
static void store_dual_quaternion(const affine *a, vec3 from, vec3 to, float *row)
{
    affine r = affine_between(a, from, to);
    double q[4];
    quaternion(&r.lin, q);
    vec3 v = {{q[1], q[2], q[3]}};
    vec3 d = vec3_add(vec3_scale(r.org, q[0]), vec3_cross(r.org, v));
    for (int i = 0; i < 4; i++) {
        row[i] = row[4 + i] = (float)q[i];
    }
    row[8] = (float)(-0.5 * vec3_dot(r.org, v));
    for (int k = 0; k < 3; k++) {
        row[9 + k] = (float)(0.5 * d.x[k]);
    }
}

static int is_tame(const affine *a)
{
    double size = mat3_largest(&a->lin);
    return size > 1e-3 && size < 1e3 && fabs(mat3_fatness(&a->lin)) > 1e-6;
}

/* The part of the stage 1 << number in the u-th row. */
static float *part_of(const tps_tables *t, int number, int32_t u)
{
    return t->rows + (int64_t)tps_row_floats(t->stages) * u + tps_part(t->stages, number);
}

/* One stage's parts, where it runs; moves the centre on. */
static void store_stage(const tps_skin *skin, const tps_joint *joints, int number, tps_tables *t)
{
    static const size_t maps[] = {offsetof(tps_joint, p), offsetof(tps_joint, q), offsetof(tps_joint, e)};
    if (!(t->stages & 1 << number)) {
        return;
    }
    vec3 from = t->to;
    t->to = moved_centre(skin, joints, maps[number], from);
    for (int32_t u = 0; u < skin->used_count; u++) {
        const affine *a = map_of(skin, joints, maps[number], u);
        if (1 << number == STAGE_RIGID) {
            store_dual_quaternion(a, from, t->to, part_of(t, number, u));
        } else {
            store_matrix(a, from, t->to, part_of(t, number, u));
            t->tame = t->tame && is_tame(a);
        }
    }
}

/* Up to so many times the mesh's extent from the origin, float32 loses two bits at most. */
#define NEAR 4

static int is_near(const tps_skin *skin, vec3 a)
{
    return larger(larger(fabs(a.x[0]), fabs(a.x[1])), fabs(a.x[2])) <= NEAR * skin->extent;
}

void tps_tables_make(const tps_skin *skin, const tps_skeleton *skeleton, const tps_pose *pose, const double *world,
                     const tps_space *space, tps_joint *joints, tps_tables *tables)
{
    tps_pose ours = *pose;
    ours.association.weighted = skin->weighted;
    tables->stages = choose_stages(skeleton, &ours, world, space, joints) | (pose->blend ? STAGE_STRAIGHT : 0);
    tables->from = tables->to = skin->centre;
    tables->tame = 1;
    for (int number = 0; number < 3; number++) {
        store_stage(skin, joints, number, tables);
    }
    tables->near = is_near(skin, tables->from) && is_near(skin, tables->to);
    for (int32_t u = 0; pose->blend && u < skin->used_count; u++) {
        int32_t j = skin->used[u];
        affine straight = affine_mul(&joints[j].world, &skeleton->bind_inverse[j]);
        straight = seen_from(space, &straight);
        store_matrix(&straight, tables->from, tables->to, part_of(tables, 3, u));
        tables->tame = tables->tame && is_tame(&straight);
    }
}
