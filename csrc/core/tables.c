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
WIDE_INLINE wide_affine seen_from(const tps_space *space, const wide_affine *a)
{
    if (!space->given) {
        return *a;
    }
    wide_affine in = wide_affine_of(&space->in), out = wide_affine_of(&space->out);
    wide_affine inner = wide_affine_mul(a, &in);
    return wide_affine_mul(&out, &inner);
}

/* The largest of some squares. */
typedef struct extent {
    wide turned, moved;
} extent;

WIDE_INLINE void extend(extent *x, const wide_affine *a, wide_mask carries)
{
    wide_mat3 turned = a->lin;
    for (int i = 0; i < 3; i++) {
        turned.m[i][i] -= 1;
    }
    x->turned = wide_larger(x->turned, wide_choose(carries, wide_of(0), wide_mat3_square(&turned)));
    x->moved = wide_larger(x->moved, wide_choose(carries, wide_of(0), wide_vec3_dot(a->org, a->org)));
}

static double largest(wide a)
{
    double most = 0;
    for (int l = 0; l < WIDE; l++) {
        most = larger(most, a[l]);
    }
    return most;
}

static int does_nothing(const extent *x, double size)
{
    return largest(x->turned) <= 1e-24 && largest(x->moved) <= 1e-24 * size;
}

/* Which stages do something: where P (or E) is not the identity, to 1e-12 (translations: of the rig's size), for some
 * joint that carries. */
static int busy_stages(const tps_skeleton *s, const tps_scratch *scratch, int any_e)
{
    extent world = {{0}, {0}}, p = world, e = world;
    for (int32_t group = 0; group < tps_group_count(s->joint_count); group++) {
        const tps_parts *part = &scratch->parts[group];
        wide_mask carries = tps_flagged(scratch->flags, TPS_CARRIES, group, s->joint_count);
        extend(&world, &part->w, carries);
        extend(&p, &part->p, carries);
        if (any_e) {
            extend(&e, &part->e, carries);
        }
    }
    double size = larger(s->size_squared, largest(world.moved));
    int stages = does_nothing(&p, size) ? STAGE_RIGID : STAGE_RIGID | STAGE_NONRIGID;
    return does_nothing(&e, size) ? stages : stages | STAGE_INHERITED;
}

/* Which stages run, and their maps p, q and e in the points' space, for every joint. */
static int choose_stages(const tps_skeleton *s, const tps_pose *pose, const double *world, const tps_space *space,
                         const tps_scratch *scratch)
{
    int any_e = tps_parts_make(s, pose, world, scratch);
    int stages = pose->method == TPS_LINEAR ? STAGE_NONRIGID : busy_stages(s, scratch, any_e);
    if (pose->phase == 1) {
        stages = STAGE_NONRIGID;
    } else if (pose->phase == 2) {
        stages &= STAGE_NONRIGID | STAGE_RIGID;
    }
    /* Dual quaternion blending commutes with rotations and uniform scale, not with other changes of space: then go to
     * the skeleton's space first, and come back last. */
    int apart = !space->similar && pose->method != TPS_LINEAR;
    wide_affine in = wide_affine_of(&space->in), out = wide_affine_of(&space->out);
    for (int32_t group = 0; space->given && group < tps_group_count(s->joint_count); group++) {
        tps_parts *part = &scratch->parts[group];
        if (apart) {
            part->p = wide_affine_mul(&part->p, &in);
            part->e = stages & STAGE_INHERITED ? wide_affine_mul(&out, &part->e) : out;
            continue;
        }
        part->p = seen_from(space, &part->p);
        if (stages & STAGE_RIGID) {
            part->q = seen_from(space, &part->q);
        }
        if (stages & STAGE_INHERITED) {
            part->e = seen_from(space, &part->e);
        }
    }
    return apart ? stages | STAGE_NONRIGID | STAGE_INHERITED : stages;
}

/* A skin's rows in a group of joints. */
typedef struct rows {
    int32_t first;     /* of those rows */
    int32_t row[WIDE]; /* of each lane, or -1 */
    wide share;
    wide_mask used;
} rows;

static rows next_rows(const tps_skin *skin, int32_t group, int32_t first)
{
    rows r = {.first = first};
    for (int l = 0; l < WIDE; l++) {
        int32_t j = WIDE * group + l;
        r.row[l] = j < skin->joint_count && skin->weighted[j] ? r.first++ : -1;
        r.used[l] = r.row[l] < 0 ? 0 : -1;
        r.share[l] = r.row[l] < 0 ? 0 : skin->share[r.row[l]];
    }
    return r;
}

static const wide_affine *map_of(const tps_parts *part, size_t map)
{
    return (const wide_affine *)(const void *)((const char *)part + map);
}

/* Where a blend of maps takes the mesh's centre on the whole, as float32 values. Working relative to it keeps float32
 * coordinates small; no result depends on it. */
static vec3 moved_centre(const tps_skin *skin, const tps_parts *parts, size_t map, vec3 centre)
{
    wide_vec3 from = wide_vec3_of(centre), sum = {{{0}}};
    rows r = {.first = 0};
    for (int32_t group = 0; group < tps_group_count(skin->joint_count); group++) {
        r = next_rows(skin, group, r.first);
        wide_vec3 to = wide_affine_apply(map_of(&parts[group], map), from);
        for (int k = 0; k < 3; k++) {
            sum.x[k] += wide_choose(r.used, wide_of(0), to.x[k] * r.share);
        }
    }
    vec3 moved = centre;
    for (int k = 0; k < 3 && skin->used_count > 0; k++) {
        double total = 0;
        for (int l = 0; l < WIDE; l++) {
            total += sum.x[k][l];
        }
        moved.x[k] = total;
    }
    for (int k = 0; k < 3; k++) {
        moved.x[k] = tps_rounded(moved.x[k]);
    }
    return moved;
}

/* translate(-to) * a * translate(from): the same transform between spaces with other origins. */
WIDE_INLINE wide_affine between(const wide_affine *a, vec3 from, vec3 to)
{
    return (wide_affine){a->lin, wide_vec3_sub(wide_affine_apply(a, wide_vec3_of(from)), wide_vec3_of(to))};
}

WIDE_INLINE void store_matrix(const wide_affine *a, int lane, float *row)
{
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 3; i++) {
            row[4 * k + i] = (float)wide_get(k < 3 ? &a->lin.m[i][k] : &a->org.x[i], lane);
        }
        row[4 * k + 3] = 0;
    }
}

/* The unit quaternions w x y z of rotations (Shepperd 1978: from the largest component). */
WIDE_INLINE void quaternions(const wide_mat3 *r, wide q[4])
{
    wide a = r->m[0][0], b = r->m[1][1], c = r->m[2][2];
    wide d[4] = {1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c}; /* 4 q_i^2 */
    wide wx = r->m[2][1] - r->m[1][2], wy = r->m[0][2] - r->m[2][0], wz = r->m[1][0] - r->m[0][1];
    wide xy = r->m[0][1] + r->m[1][0], xz = r->m[0][2] + r->m[2][0], yz = r->m[1][2] + r->m[2][1];
    const wide products[4][4] = {{d[0], wx, wy, wz}, {wx, d[1], xy, xz}, {wy, xy, d[2], yz}, {wz, xz, yz, d[3]}};
    wide most = d[0];
    for (int i = 0; i < 4; i++) {
        q[i] = products[0][i];
    }
    for (int k = 1; k < 4; k++) {
        wide_mask larger_one = (wide_mask)(d[k] > most);
        most = wide_choose(larger_one, most, d[k]);
        for (int i = 0; i < 4; i++) {
            q[i] = wide_choose(larger_one, q[i], products[k][i]);
        }
    }
    wide over = 1 / wide_sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
        q[i] *= over;
    }
}

/* Real and dual parts, the latter t q / 2 (Kavan et al. 2008). */
WIDE_INLINE void dual_quaternions(const wide_affine *a, wide dual[8])
{
    quaternions(&a->lin, dual);
    wide_vec3 v = {{dual[1], dual[2], dual[3]}};
    wide_vec3 across = wide_vec3_cross(a->org, v);
    dual[4] = -0.5 * wide_vec3_dot(a->org, v);
    for (int k = 0; k < 3; k++) {
        dual[5 + k] = 0.5 * (a->org.x[k] * dual[0] + across.x[k]);
    }
}

static void store_dual_quaternion(const wide dual[8], int lane, float *row)
{
    for (int i = 0; i < 4; i++) {
        row[i] = row[4 + i] = (float)wide_get(&dual[i], lane);
        row[8 + i] = (float)wide_get(&dual[4 + i], lane);
    }
}

WIDE_INLINE wide_mask are_tame(const wide_affine *a)
{
    wide_mat3 c = wide_mat3_cofactors(&a->lin);
    wide determinant = wide_mat3_determinant(&a->lin, &c), size = wide_mat3_square(&a->lin);
    wide_mask in_range = (wide_mask)(size > 1e-6) & (wide_mask)(size < 1e6);
    return in_range & (wide_mask)(determinant * determinant > 1e-12 * (size * size * size));
}

/* The part of the stage 1 << number in the u-th row. */
static float *part_of(const tps_tables *t, int number, int32_t u)
{
    return t->rows + (int64_t)tps_row_floats(t->stages) * u + tps_part(t->stages, number);
}

WIDE_INLINE void store_matrices(const wide_affine *a, vec3 from, vec3 to, const rows *r, int number, tps_tables *t)
{
    wide_affine moved = between(a, from, to);
    t->tame = t->tame && wide_all(are_tame(a) | ~r->used);
    for (int l = 0; l < WIDE; l++) {
        if (r->row[l] >= 0) {
            store_matrix(&moved, l, part_of(t, number, r->row[l]));
        }
    }
}

WIDE_INLINE void store_rotations(const wide_affine *a, vec3 from, vec3 to, const rows *r, int number, tps_tables *t)
{
    wide_affine moved = between(a, from, to);
    wide dual[8];
    dual_quaternions(&moved, dual);
    for (int l = 0; l < WIDE; l++) {
        if (r->row[l] >= 0) {
            store_dual_quaternion(dual, l, part_of(t, number, r->row[l]));
        }
    }
}

/* One stage's parts, where it runs; moves the centre on. */
static void store_stage(const tps_skin *skin, const tps_parts *parts, int number, tps_tables *t)
{
    static const size_t maps[] = {offsetof(tps_parts, p), offsetof(tps_parts, q), offsetof(tps_parts, e)};
    if (!(t->stages & 1 << number)) {
        return;
    }
    vec3 from = t->to;
    t->to = moved_centre(skin, parts, maps[number], from);
    rows r = {.first = 0};
    for (int32_t group = 0; group < tps_group_count(skin->joint_count); group++) {
        r = next_rows(skin, group, r.first);
        const wide_affine *a = map_of(&parts[group], maps[number]);
        if (1 << number == STAGE_RIGID) {
            store_rotations(a, from, t->to, &r, number, t);
        } else {
            store_matrices(a, from, t->to, &r, number, t);
        }
    }
}

/* The linear method's matrices, for blend. */
static void store_straight(const tps_skin *skin, const tps_skeleton *skeleton, const tps_space *space,
                           const tps_parts *parts, tps_tables *t)
{
    rows r = {.first = 0};
    for (int32_t group = 0; group < tps_group_count(skin->joint_count); group++) {
        r = next_rows(skin, group, r.first);
        wide_affine straight = tps_skinning_of(skeleton, &parts[group], group);
        straight = seen_from(space, &straight);
        store_matrices(&straight, t->from, t->to, &r, 3, t);
    }
}

/* Up to so many times the mesh's extent from the origin, float32 loses two bits at most. */
#define NEAR 4

static int is_near(const tps_skin *skin, vec3 a)
{
    return larger(larger(fabs(a.x[0]), fabs(a.x[1])), fabs(a.x[2])) <= NEAR * skin->extent;
}

void tps_tables_make(const tps_skin *skin, const tps_skeleton *skeleton, const tps_pose *pose, const double *world,
                     const tps_space *space, void *memory, tps_tables *tables)
{
    tps_scratch scratch = tps_scratch_in(memory, skin->joint_count);
    tps_pose ours = *pose;
    ours.association.weighted = skin->weighted;
    tables->stages = choose_stages(skeleton, &ours, world, space, &scratch) | (pose->blend ? STAGE_STRAIGHT : 0);
    tables->from = tables->to = skin->centre;
    tables->tame = 1;
    for (int number = 0; number < 3; number++) {
        store_stage(skin, scratch.parts, number, tables);
    }
    tables->near = is_near(skin, tables->from) && is_near(skin, tables->to);
    if (pose->blend) {
        store_straight(skin, skeleton, space, scratch.parts, tables);
    }
}
