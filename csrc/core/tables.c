#include "tables.h"
#include "inverse.h"

tps_status tps_space_make(const double *matrix, tps_space *space)
{
    *space = (tps_space){.given = matrix != NULL, .similar = 1, .in = AFFINE_ONE, .out = AFFINE_ONE};
    if (!matrix) {
        return TPS_OK;
    }
    space->in = affine_load(matrix);
    if (tps_mat3_singular(&space->in.linear)) {
        return TPS_SINGULAR_SPACE;
    }
    space->out = tps_affine_inverse(&space->in);
    mat3 transposed = mat3_transpose(&space->in.linear);
    mat3 gram = mat3_mul(&transposed, &space->in.linear);
    double size = (gram.m[0][0] + gram.m[1][1] + gram.m[2][2]) / 3;
    for (int i = 0; i < 9; i++) {
        double unlike = fabs(gram.m[i / 3][i % 3] - (i % 4 == 0 ? size : 0));
        space->similar = space->similar && unlike <= 1e-6 * size; /* matrices often come from float32 */
    }
    return TPS_OK;
}

/* out a in: a as the points' space sees it. */
F64V_INLINE f64v_affine seen_from(const tps_space *space, const f64v_affine *a)
{
    if (!space->given) {
        return *a;
    }
    f64v_affine in = f64v_affine_of(&space->in), out = f64v_affine_of(&space->out);
    f64v_affine inner = f64v_affine_mul(a, &in);
    return f64v_affine_mul(&out, &inner);
}

/* The largest of some squares. */
typedef struct extent {
    f64v turned, moved;
} extent;

F64V_INLINE void extend(extent *x, const f64v_affine *a, f64v_mask carries)
{
    f64v_mat3 turned = a->linear;
    for (int i = 0; i < 3; i++) {
        turned.m[i][i] -= 1;
    }
    x->turned = f64v_larger(x->turned, f64v_choose(carries, f64v_of(0), f64v_mat3_square(&turned)));
    x->moved = f64v_larger(x->moved, f64v_choose(carries, f64v_of(0), f64v_vec3_dot(a->translation, a->translation)));
}

static double largest(f64v a)
{
    double most = 0;
    for (int l = 0; l < F64_LANES; l++) {
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
    for (int32_t pack = 0; pack < tps_pack_count(s->joint_count); pack++) {
        const tps_maps *one = &scratch->maps[pack];
        f64v_mask carries = tps_flagged(scratch->flags, TPS_CARRIES, pack, s->joint_count);
        extend(&world, &one->w, carries);
        extend(&p, &one->p, carries);
        if (any_e) {
            extend(&e, &one->e, carries);
        }
    }
    double size = larger(s->size_squared, largest(world.moved));
    int stages = does_nothing(&p, size) ? STAGE_RIGID : STAGE_RIGID | STAGE_NONRIGID;
    return does_nothing(&e, size) ? stages : stages | STAGE_INHERITED;
}

/* Which stages run, and their maps p, q and e in the points' space, for every joint. */
static int choose_stages(const tps_deform_job *job, int64_t frame, const tps_space *space, const tps_scratch *scratch)
{
    const tps_skeleton *s = job->skeleton;
    const tps_association association = {
        .inherited = job->inherited,
        .weighted = job->skin->weighted,
        .nonrigid = job->nonrigid ? job->nonrigid + frame * job->nonrigid_stride : NULL,
        .rigid = job->rigid ? job->rigid + frame * job->rigid_stride : NULL,
    };
    const double *world = job->world + 16 * (int64_t)s->joint_count * frame;
    int any_e = tps_maps_make(s, job->method, &association, world, scratch);
    int stages = job->method == TPS_METHOD_LINEAR ? STAGE_NONRIGID : busy_stages(s, scratch, any_e);
    if (job->phase == TPS_PHASE_NONRIGID) {
        stages = STAGE_NONRIGID;
    } else if (job->phase == TPS_PHASE_RIGID) {
        stages &= STAGE_NONRIGID | STAGE_RIGID;
    }
    /* Dual quaternion blending commutes with rotations and uniform scale, not with other changes of space: then go to
     * the skeleton's space first, and come back last. */
    int apart = !space->similar && job->method != TPS_METHOD_LINEAR;
    f64v_affine in = f64v_affine_of(&space->in), out = f64v_affine_of(&space->out);
    for (int32_t pack = 0; space->given && pack < tps_pack_count(s->joint_count); pack++) {
        tps_maps *one = &scratch->maps[pack];
        if (apart) {
            one->p = f64v_affine_mul(&one->p, &in);
            one->e = stages & STAGE_INHERITED ? f64v_affine_mul(&out, &one->e) : out;
            continue;
        }
        one->p = seen_from(space, &one->p);
        if (stages & STAGE_RIGID) {
            one->q = seen_from(space, &one->q);
        }
        if (stages & STAGE_INHERITED) {
            one->e = seen_from(space, &one->e);
        }
    }
    return apart ? stages | STAGE_NONRIGID | STAGE_INHERITED : stages;
}

/* A skin's rows in a pack of joints. */
typedef struct pack_rows {
    int32_t first;          /* of those rows */
    int32_t row[F64_LANES]; /* of each lane, or -1 */
    f64v mesh_weight;
    f64v_mask used;
} pack_rows;

static pack_rows next_rows(const tps_skin *skin, int32_t pack, int32_t first)
{
    pack_rows r = {.first = first};
    for (int l = 0; l < F64_LANES; l++) {
        int32_t j = F64_LANES * pack + l;
        r.row[l] = j < skin->joint_count && skin->weighted[j] ? r.first++ : -1;
        r.used[l] = r.row[l] < 0 ? 0 : -1;
        r.mesh_weight[l] = r.row[l] < 0 ? 0 : skin->mesh_weight[r.row[l]];
    }
    return r;
}

static const f64v_affine *map_of(const tps_maps *one, size_t map)
{
    return (const f64v_affine *)(const void *)((const char *)one + map);
}

/* Where a blend of maps takes the mesh's centre on the whole, as float32 values. Working relative to it keeps float32
 * coordinates small; no result depends on it. */
static vec3 moved_centre(const tps_skin *skin, const tps_maps *maps, size_t map, vec3 centre)
{
    f64v_vec3 from = f64v_vec3_of(centre), sum = {{{0}}};
    pack_rows r = {.first = 0};
    if (skin->at_origin) {
        return centre;
    }
    for (int32_t pack = 0; pack < tps_pack_count(skin->joint_count); pack++) {
        r = next_rows(skin, pack, r.first);
        f64v_vec3 to = f64v_affine_apply(map_of(&maps[pack], map), from);
        for (int k = 0; k < 3; k++) {
            sum.x[k] += f64v_choose(r.used, f64v_of(0), to.x[k] * r.mesh_weight);
        }
    }
    vec3 moved = centre;
    for (int k = 0; k < 3 && skin->used_count > 0; k++) {
        double total = 0;
        for (int l = 0; l < F64_LANES; l++) {
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
F64V_INLINE f64v_affine between(const f64v_affine *a, vec3 from, vec3 to)
{
    return (f64v_affine){a->linear, f64v_vec3_sub(f64v_affine_apply(a, f64v_vec3_of(from)), f64v_vec3_of(to))};
}

F64V_INLINE void store_matrix(const f64v_affine *a, int lane, float *row)
{
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 3; i++) {
            row[4 * k + i] = (float)f64v_get(k < 3 ? &a->linear.m[i][k] : &a->translation.x[i], lane);
        }
        row[4 * k + 3] = 0;
    }
}

/* The unit quaternions w x y z of rotations (Shepperd 1978: from the largest component). */
F64V_INLINE void quaternions(const f64v_mat3 *r, f64v q[4])
{
    f64v a = r->m[0][0], b = r->m[1][1], c = r->m[2][2];
    f64v d[4] = {1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c}; /* 4 q_i^2 */
    f64v wx = r->m[2][1] - r->m[1][2], wy = r->m[0][2] - r->m[2][0], wz = r->m[1][0] - r->m[0][1];
    f64v xy = r->m[0][1] + r->m[1][0], xz = r->m[0][2] + r->m[2][0], yz = r->m[1][2] + r->m[2][1];
    const f64v products[4][4] = {{d[0], wx, wy, wz}, {wx, d[1], xy, xz}, {wy, xy, d[2], yz}, {wz, xz, yz, d[3]}};
    f64v most = d[0];
    for (int i = 0; i < 4; i++) {
        q[i] = products[0][i];
    }
    for (int k = 1; k < 4; k++) {
        f64v_mask larger_one = (f64v_mask)(d[k] > most);
        most = f64v_choose(larger_one, most, d[k]);
        for (int i = 0; i < 4; i++) {
            q[i] = f64v_choose(larger_one, q[i], products[k][i]);
        }
    }
    f64v over = 1 / f64v_sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
        q[i] *= over;
    }
}

/* Real and dual parts, the latter t q / 2 (Kavan et al. 2008). */
F64V_INLINE void dual_quaternions(const f64v_affine *a, f64v dual[8])
{
    quaternions(&a->linear, dual);
    f64v_vec3 v = {{dual[1], dual[2], dual[3]}};
    f64v_vec3 across = f64v_vec3_cross(a->translation, v);
    dual[4] = -0.5 * f64v_vec3_dot(a->translation, v);
    for (int k = 0; k < 3; k++) {
        dual[5 + k] = 0.5 * (a->translation.x[k] * dual[0] + across.x[k]);
    }
}

static void store_dual_quaternion(const f64v dual[8], int lane, float *row)
{
    for (int i = 0; i < 4; i++) {
        row[i] = row[4 + i] = (float)f64v_get(&dual[i], lane);
        row[8 + i] = (float)f64v_get(&dual[4 + i], lane);
    }
}

F64V_INLINE f64v_mask have_cofactors_in_range(const f64v_affine *a)
{
    f64v_mat3 c = f64v_mat3_cofactors(&a->linear);
    f64v determinant = f64v_mat3_determinant(&a->linear, &c), size = f64v_mat3_square(&a->linear);
    f64v_mask in_range = (f64v_mask)(size > 1e-6) & (f64v_mask)(size < 1e6);
    return in_range & (f64v_mask)(determinant * determinant > 1e-12 * (size * size * size));
}

/* The segment of the stage 1 << number in the u-th row. */
static float *segment_of(const tps_tables *t, int number, int32_t u)
{
    return t->rows + (int64_t)tps_row_floats(t->stages) * u + tps_segment(t->stages, number);
}

F64V_INLINE void store_matrices(const f64v_affine *a, vec3 from, vec3 to, const pack_rows *r, int number, tps_tables *t)
{
    f64v_affine moved = between(a, from, to);
    t->cofactors_in_range = t->cofactors_in_range && f64v_all(have_cofactors_in_range(a) | ~r->used);
    for (int l = 0; l < F64_LANES; l++) {
        if (r->row[l] >= 0) {
            store_matrix(&moved, l, segment_of(t, number, r->row[l]));
        }
    }
}

F64V_INLINE void store_rotations(const f64v_affine *a, vec3 from, vec3 to, const pack_rows *r, int number,
                                 tps_tables *t)
{
    f64v_affine moved = between(a, from, to);
    f64v dual[8];
    dual_quaternions(&moved, dual);
    for (int l = 0; l < F64_LANES; l++) {
        if (r->row[l] >= 0) {
            store_dual_quaternion(dual, l, segment_of(t, number, r->row[l]));
        }
    }
}

/* One stage's segments, where it runs; moves the centre on. */
static void store_stage(const tps_skin *skin, const tps_maps *maps, int number, tps_tables *t)
{
    static const size_t offsets[] = {offsetof(tps_maps, p), offsetof(tps_maps, q), offsetof(tps_maps, e)};
    if (!(t->stages & 1 << number)) {
        return;
    }
    vec3 from = t->to;
    t->to = moved_centre(skin, maps, offsets[number], from);
    pack_rows r = {.first = 0};
    for (int32_t pack = 0; pack < tps_pack_count(skin->joint_count); pack++) {
        r = next_rows(skin, pack, r.first);
        const f64v_affine *a = map_of(&maps[pack], offsets[number]);
        if (1 << number == STAGE_RIGID) {
            store_rotations(a, from, t->to, &r, number, t);
        } else {
            store_matrices(a, from, t->to, &r, number, t);
        }
    }
}

/* The linear method's matrices, for blend. */
static void store_linear_blend(const tps_skin *skin, const tps_skeleton *skeleton, const tps_space *space,
                               const tps_maps *maps, tps_tables *t)
{
    pack_rows r = {.first = 0};
    for (int32_t pack = 0; pack < tps_pack_count(skin->joint_count); pack++) {
        r = next_rows(skin, pack, r.first);
        f64v_affine linear_blend = tps_skinning_of(skeleton, &maps[pack], pack);
        linear_blend = seen_from(space, &linear_blend);
        store_matrices(&linear_blend, t->from, t->to, &r, 3, t);
    }
}

/* Up to so many times the mesh's extent from the origin, float32 loses two bits at most. */
#define NEAR_ORIGIN 4

static int is_near(const tps_skin *skin, vec3 a)
{
    return larger(larger(fabs(a.x[0]), fabs(a.x[1])), fabs(a.x[2])) <= NEAR_ORIGIN * skin->extent;
}

void tps_tables_make(const tps_deform_job *job, int64_t frame, void *memory, tps_tables *tables)
{
    const tps_skin *skin = job->skin;
    tps_scratch scratch = tps_scratch_in(memory, skin->joint_count);
    tps_space space;
    tps_space_make(job->space ? job->space + frame * job->space_stride : NULL, &space);
    tables->stages = choose_stages(job, frame, &space, &scratch) | (job->blend.values ? STAGE_LINEAR_BLEND : 0);
    tables->from = tables->to = skin->centre;
    tables->cofactors_in_range = 1;
    for (int number = 0; number < 3; number++) {
        store_stage(skin, scratch.maps, number, tables);
    }
    tables->near_origin = is_near(skin, tables->from) && is_near(skin, tables->to);
    if (job->blend.values) {
        store_linear_blend(skin, job->skeleton, &space, scratch.maps, tables);
    }
}
