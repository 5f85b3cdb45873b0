/* Deforms vertices, LANES at a time: docs/method.md, section 3. Included once for each instruction set, by kernel_*.c.
 *
 * A joint's row of the table holds 16 floats for each stage: a matrix, or a dual quaternion. A vertex blends whole rows
 * of its joints, which needs no gathers; the blended rows of LANES vertices are then transposed, so that the arithmetic
 * after it is the same in all lanes.
 */
#include "kernel.h"
#include "lanes.inl"
#include "rotation.h"

/* Vertices of one group: they have the same number of influences. Lanes beyond `count` repeat the last one. */
typedef struct lanes {
    int count;
    const uint16_t *joints;
    const float *weights;
    int64_t first;         /* the vertex that slots count from, or that of lane 0 */
    const uint16_t *slots; /* NULL: they are neighbours in the mesh */
    vectors from, to;      /* what is subtracted from points before, and added to them after */
} lanes;

INLINE int64_t vertex_of(const lanes *l, int lane)
{
    return l->slots ? l->first + l->slots[lane < l->count ? lane : l->count - 1] : l->first + lane;
}

/* What a vertex blends, by stage: a matrix's columns, each padded to 4; or in the first 8 floats the real and the dual
 * part of a dual quaternion, not normalised. */
#define PARTS (TPS_PART_FLOATS / LANES)
typedef struct blended {
    v part[TPS_STAGES][PARTS];
} blended;

INLINE void add_matrix(v sum[PARTS], const float *from, v w, const int first)
{
    for (int i = 0; i < PARTS; i++) {
        v more = w * load(from + i * LANES);
        sum[i] = first ? more : sum[i] + more;
    }
}

/* The row is real, real, dual: a vector at its begin gives the sign against the heaviest joint in every lane, what lies
 * behind the first four floats is summed. */
INLINE void add_dual_quaternion(v sum[PARTS], const float *from, v w, v *pivot, const int first)
{
    if (first) {
        *pivot = load(from);
    } else {
        w = turned_by_sign(w, sum_of_fours(*pivot * load(from)));
    }
    for (int i = 0; i < 8 / LANES; i++) {
        v more = w * load(from + 4 + i * LANES);
        sum[i] = first ? more : sum[i] + more;
    }
}

INLINE void add_row(blended *sum, const int stages, const float *row, v w, v *pivot, const int first)
{
    for (int s = 0; s < TPS_STAGES; s++) {
        const float *part = row + tps_part(stages, s);
        if (stages & STAGE_RIGID & 1 << s) {
            add_dual_quaternion(sum->part[s], part, w, pivot, first);
        } else if (stages & 1 << s) {
            add_matrix(sum->part[s], part, w, first);
        }
    }
}

INLINE void add_joint(blended *sum, const tps_tables *t, const int stages, int joint, float weight, v *pivot,
                      const int first)
{
    const float *row = t->rows + (size_t)tps_row_floats(stages) * (size_t)joint;
    __asm__("" : "+r"(row)); /* one address in one register, not one for each part */
    add_row(sum, stages, row, all(weight), pivot, first);
}

/* So many influences are more than a processor looks ahead over: a single sum would wait for each addition. */
#define LONG_ROW 16

/* One vertex's blends; only those of the stages are set. They are summed in variables of their own, which compilers
 * keep in registers. */
INLINE void blend(const tps_tables *t, const int stages, const uint16_t *joints, const float *weights,
                  const int influences, blended *to)
{
    blended sum, other;
    for (int i = 0; i < TPS_STAGES * PARTS; i++) {
        sum.part[i / PARTS][i % PARTS] = other.part[i / PARTS][i % PARTS] = all(0);
    }
    v pivot = all(0);
    int k = 1;
    add_joint(&sum, t, stages, joints[0], weights[0], &pivot, 1);
    if (influences > LONG_ROW) {
        for (; k + 1 < influences; k += 2) {
            add_joint(&sum, t, stages, joints[k], weights[k], &pivot, 0);
            add_joint(&other, t, stages, joints[k + 1], weights[k + 1], &pivot, 0);
        }
        for (int i = 0; i < TPS_STAGES * PARTS; i++) {
            sum.part[i / PARTS][i % PARTS] += other.part[i / PARTS][i % PARTS];
        }
    }
    for (; k < influences; k++) {
        add_joint(&sum, t, stages, joints[k], weights[k], &pivot, 0);
    }
    for (int i = 0; i < TPS_STAGES * PARTS; i++) {
        if (stages & 1 << i / PARTS) {
            to->part[i / PARTS][i % PARTS] = sum.part[i / PARTS][i % PARTS];
        }
    }
}

/* The blends of all lanes; only those of the stages are set. */
typedef struct phases {
    matrices nonrigid, inherited, straight;
    v rigid[8];
} phases;

/* The first `count` floats of one stage, each for all lanes. */
INLINE void columns_of(blended rows[LANES], const int stage, const int count, v columns[])
{
    for (int part = 0; part < count / LANES; part++) {
        for (int i = 0; i < LANES; i++) {
            columns[part * LANES + i] = rows[i].part[stage][part];
        }
        transpose(columns + part * LANES);
    }
}

INLINE matrices matrices_of(blended rows[LANES], const int stage)
{
    v c[TPS_PART_FLOATS];
    columns_of(rows, stage, TPS_PART_FLOATS, c);
    return (matrices){{{c[0], c[1], c[2]}, {c[4], c[5], c[6]}, {c[8], c[9], c[10]}, {c[12], c[13], c[14]}}};
}

INLINE void blend_lanes(const tps_tables *t, const int stages, const lanes *l, const int influences, phases *p)
{
    blended rows[LANES];
    for (int i = 0; i < LANES; i++) {
        blend(t, stages, l->joints + i * influences, l->weights + i * influences, influences, &rows[i]);
    }
    if (stages & STAGE_NONRIGID) {
        p->nonrigid = matrices_of(rows, 0);
    }
    if (stages & STAGE_RIGID) {
        columns_of(rows, 1, 8, p->rigid);
    }
    if (stages & STAGE_INHERITED) {
        p->inherited = matrices_of(rows, 2);
    }
    if (stages & STAGE_STRAIGHT) {
        p->straight = matrices_of(rows, 3);
    }
}

INLINE v blend_factors(const tps_kernel_job *job, const lanes *l)
{
    v t = all(job->blend[0]);
    for (int i = 0; job->blend_per_vertex && i < LANES; i++) {
        t[i] = job->blend[vertex_of(l, i)];
    }
    return t;
}

INLINE vectors read_vectors(const lanes *l, const float *from)
{
    if (!l->slots) {
        return load_vectors(from + 3 * l->first);
    }
    const float *at[LANES];
    for (int i = 0; i < LANES; i++) {
        at[i] = from + 3 * vertex_of(l, i);
    }
    return gather_vectors(at);
}

/* Lanes beyond the last vertex write it again. */
INLINE void write_vectors(const lanes *l, vectors p, float *out)
{
    if (!l->slots) {
        store_vectors(out + 3 * l->first, p);
        return;
    }
    float *to[LANES];
    for (int i = 0; i < LANES; i++) {
        to[i] = out + 3 * vertex_of(l, i);
    }
    scatter_vectors(to, p);
}

INLINE void deform_points(const tps_kernel_job *job, const int stages, const lanes *l, const phases *by)
{
    vectors rest = difference(read_vectors(l, job->points), l->from), p = rest;
    if (stages & STAGE_NONRIGID) {
        p = applied(&by->nonrigid, p);
    }
    if (stages & STAGE_RIGID) {
        p = move(by->rigid, p);
    }
    if (stages & STAGE_INHERITED) {
        p = applied(&by->inherited, p);
    }
    if (stages & STAGE_STRAIGHT) {
        p = mixed(applied(&by->straight, rest), p, blend_factors(job, l));
    }
    if (job->out.offsets) {
        p = difference(p, rest);
    }
    write_vectors(l, sum(p, l->to), job->out.points);
}

/* The whole deformations, from points relative to tables->from to points relative to tables->to. */
INLINE matrices whole_matrices(const tps_kernel_job *job, const int stages, const lanes *l, const phases *by)
{
    matrices m = by->nonrigid;
    if (stages & STAGE_RIGID) {
        matrices rigid = motion(by->rigid);
        m = stages & STAGE_NONRIGID ? composed(&rigid, &m) : rigid;
    }
    if (stages & STAGE_INHERITED) {
        m = composed(&by->inherited, &m);
    }
    if (stages & STAGE_STRAIGHT) {
        for (int k = 0; k < 4; k++) {
            m.c[k] = mixed(by->straight.c[k], m.c[k], blend_factors(job, l));
        }
    }
    return m;
}

INLINE vectors bent_normals(const tps_kernel_job *job, const int stages, const lanes *l, const phases *by, vectors n)
{
    const int tame = job->tables->tame;
    if (stages & STAGE_STRAIGHT) {
        matrices m = whole_matrices(job, stages, l, by);
        return cofactor_product(&m, tame, n);
    }
    if (stages & STAGE_NONRIGID) {
        n = cofactor_product(&by->nonrigid, tame, n);
    }
    if (stages & STAGE_RIGID) {
        n = turn(by->rigid, n);
    }
    return stages & STAGE_INHERITED ? cofactor_product(&by->inherited, tame, normalised(n, tame, n)) : n;
}

/* What a singular blend sends to zero keeps its direction at rest. */
INLINE void deform_normals(const tps_kernel_job *job, const int stages, const lanes *l, const phases *by)
{
    vectors rest = read_vectors(l, job->skin->normals), n = bent_normals(job, stages, l, by, rest);
    write_vectors(l, normalised(n, job->tables->tame, rest), job->out.normals);
}

/* to + d - (a, b, c) from. Far from the origin in float64: a matrix there keeps its translation's digits. */
INLINE v translation_in_world(v a, v b, v c, v d, const tps_tables *t, const int row)
{
    const double *from = t->from.x, to = t->to.x[row];
    if (t->near) {
        return all((float)to) + d - (a * all((float)from[0]) + b * all((float)from[1]) + c * all((float)from[2]));
    }
    for (int half = 0; half < LANES / 4; half++) {
        doubles moved =
            doubles_of(&a, half) * from[0] + doubles_of(&b, half) * from[1] + doubles_of(&c, half) * from[2];
        set_doubles(&d, half, to + doubles_of(&d, half) - moved);
    }
    return d;
}

/* Rows of 12 floats for all lanes. */
INLINE void write_matrices(const tps_kernel_job *job, const lanes *l, const matrices *m)
{
    const vectors *c = m->c;
    v x = translation_in_world(c[0].x, c[1].x, c[2].x, c[3].x, job->tables, 0);
    v y = translation_in_world(c[0].y, c[1].y, c[2].y, c[3].y, job->tables, 1);
    v z = translation_in_world(c[0].z, c[1].z, c[2].z, c[3].z, job->tables, 2);
    v rows[TPS_PART_FLOATS] = {c[0].x, c[1].x, c[2].x, x, c[0].y, c[1].y, c[2].y, y,
                               c[0].z, c[1].z, c[2].z, z, c[0].z, c[1].z, c[2].z, z}; /* the last 4: to fill up */
    for (int first = 0; first < 12; first += LANES) {
        transpose(rows + first);
    }
    for (int i = 0; i < l->count; i++) {
        float *to_row = job->out.matrices + 12 * vertex_of(l, i);
        for (int first = 0; first + LANES <= 12; first += LANES) {
            store(to_row + first, rows[first + i]);
        }
        if (LANES == 8) {
            memcpy(to_row + 8, &rows[8 + i], 4 * sizeof(float));
        }
    }
}

/* x -> from + inverse(m) (x - to), by the core's float64 inverse, a vertex at a time. */
static void invert_matrix(const tps_tables *t, float lane[12][LANES], int i, float *out)
{
    affine a;
    for (int k = 0; k < 3; k++) {
        a.lin.m[k][0] = lane[k][i];
        a.lin.m[k][1] = lane[3 + k][i];
        a.lin.m[k][2] = lane[6 + k][i];
        a.org.x[k] = lane[9 + k][i] + t->to.x[k];
    }
    affine inverse = affine_inverse(&a);
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            out[4 * k + c] = (float)inverse.lin.m[k][c];
        }
        out[4 * k + 3] = (float)(inverse.org.x[k] + t->from.x[k]);
    }
}

INLINE void write_inverses(const tps_kernel_job *job, const lanes *l, const matrices *m)
{
    float lane[12][LANES];
    for (int c = 0; c < 4; c++) {
        store(lane[3 * c], m->c[c].x);
        store(lane[3 * c + 1], m->c[c].y);
        store(lane[3 * c + 2], m->c[c].z);
    }
    for (int i = 0; i < l->count; i++) {
        invert_matrix(job->tables, lane, i, job->out.inverse_matrices + 12 * vertex_of(l, i));
    }
}

/* Vertices without weights stay, to the last bit. */
static void leave_vertex(const tps_kernel_job *job, int64_t vertex)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, zero[3] = {0, 0, 0};
    const tps_results *out = &job->out;
    if (out->points) {
        memcpy(out->points + 3 * vertex, job->out.offsets ? zero : job->points + 3 * vertex, 3 * sizeof(float));
    }
    if (out->normals) {
        memcpy(out->normals + 3 * vertex, job->skin->normals + 3 * vertex, 3 * sizeof(float));
    }
    if (out->matrices) {
        memcpy(out->matrices + 12 * vertex, identity, sizeof identity);
    }
    if (out->inverse_matrices) {
        memcpy(out->inverse_matrices + 12 * vertex, identity, sizeof identity);
    }
}

/* Which results a function below is compiled for. */
enum { POINTS = 1, NORMALS = 2, MATRICES = 4 };

INLINE void run_lanes(const tps_kernel_job *job, const int stages, const int wanted, const lanes *l,
                      const int influences)
{
    phases by;
    blend_lanes(job->tables, stages, l, influences, &by);
    if (wanted & POINTS) {
        deform_points(job, stages, l, &by);
    }
    if (wanted & NORMALS) {
        deform_normals(job, stages, l, &by);
    }
    if (wanted & MATRICES) {
        matrices m = whole_matrices(job, stages, l, &by);
        if (job->out.matrices) {
            write_matrices(job, l, &m);
        }
        if (job->out.inverse_matrices) {
            write_inverses(job, l, &m);
        }
    }
}

/* Asks for `bytes` from an address on, a line at a time; where they are to be written, as one's own. */
INLINE void ask_for(uintptr_t address, const size_t bytes, const int to_write)
{
    enum { LINE = 64 };
    for (size_t at = 0; at < bytes; at += LINE) {
        if (to_write) {
            __builtin_prefetch((const void *)(address + at), 1);
        } else {
            __builtin_prefetch((const void *)(address + at));
        }
    }
}

/* Asks for what the group after next but some will read and write, so that it has arrived by then: processors do not
 * look beyond a page by themselves. */
INLINE void prefetch(const tps_kernel_job *job, const int wanted, const lanes *l, const int influences, int64_t vertex)
{
    enum { AHEAD = 16 * LANES };
    const size_t vector = 3 * sizeof(float), matrix = 12 * sizeof(float), ahead = (size_t)(vertex + AHEAD);
    if (influences <= 8) { /* longer rows are streams that processors follow by themselves */
        ask_for((uintptr_t)l->weights + sizeof(float) * AHEAD * (size_t)influences, 16 * LANES, 0);
        ask_for((uintptr_t)l->joints + sizeof(uint16_t) * AHEAD * (size_t)influences, 8 * LANES, 0);
    }
    if (wanted & POINTS) {
        ask_for((uintptr_t)job->points + vector * ahead, vector * LANES, 0);
        ask_for((uintptr_t)job->out.points + vector * ahead, vector * LANES, 1);
    }
    if (wanted & NORMALS) {
        ask_for((uintptr_t)job->skin->normals + vector * ahead, vector * LANES, 0);
        ask_for((uintptr_t)job->out.normals + vector * ahead, vector * LANES, 1);
    }
    if (wanted & MATRICES && job->out.matrices) {
        ask_for((uintptr_t)job->out.matrices + matrix * ahead, matrix * LANES, 1);
    }
}

/* A group's vertices are begin + slots[0 .. count - 1]; where it is its block's only one, simply begin + 0 .. count
 * - 1. */
INLINE void run_group(const tps_kernel_job *job, const int stages, const int wanted, const int influences, lanes l,
                      const int only, int count)
{
    const int64_t begin = l.first;
    const uint16_t *slots = l.slots;
    for (int at = 0; at < count; at += LANES) {
        l.count = count - at < LANES ? count - at : LANES;
        l.slots = only && l.count == LANES ? NULL : slots + at;
        l.first = l.slots ? begin : begin + at;
        prefetch(job, wanted, &l, influences, begin + at);
        run_lanes(job, stages, wanted, &l, influences);
        l.joints += LANES * influences;
        l.weights += LANES * influences;
    }
}

INLINE vectors everywhere(const vec3 *a)
{
    return (vectors){all((float)a->x[0]), all((float)a->x[1]), all((float)a->x[2])};
}

INLINE void run_block(const tps_kernel_job *job, const int stages, const int wanted, int64_t block)
{
    const tps_skin *skin = job->skin;
    const tps_block *b = &skin->blocks[block];
    int64_t begin = block * TPS_BLOCK, entry = b->first_entry;
    const uint16_t *slots = skin->slots + begin;
    const vec3 *from = &job->tables->from, *to = &job->tables->to;
    const vec3 after = job->out.offsets ? vec3_sub(*to, *from) : *to;
    lanes l = {.first = begin, .from = everywhere(from), .to = everywhere(&after)};
    for (int g = 0; g < b->group_count; g++) {
        const tps_group *group = &skin->groups[b->first_group + g];
        int count = group->vertex_count, only = b->group_count == 1;
        l.joints = skin->joints + entry;
        l.weights = skin->weights + entry;
        l.slots = slots;
        if (group->influences == 4) { /* the usual number has a loop of its own */
            run_group(job, stages, wanted, 4, l, only, count);
        } else if (group->influences > 0) {
            run_group(job, stages, wanted, group->influences, l, only, count);
        } else {
            for (int i = 0; i < count; i++) {
                leave_vertex(job, begin + slots[i]);
            }
        }
        slots += count;
        entry += tps_padded(count) * group->influences;
    }
}

/* The usual sets of stages are compiled for themselves; the rarer ones look theirs up as they go. */
INLINE void run_stages(const tps_kernel_job *job, const int wanted, int64_t block)
{
    switch (job->tables->stages) {
    case STAGE_NONRIGID:
        run_block(job, STAGE_NONRIGID, wanted, block);
        break;
    case STAGE_RIGID:
        run_block(job, STAGE_RIGID, wanted, block);
        break;
    case STAGE_NONRIGID | STAGE_RIGID:
        run_block(job, STAGE_NONRIGID | STAGE_RIGID, wanted, block);
        break;
    case STAGE_NONRIGID | STAGE_RIGID | STAGE_INHERITED:
        run_block(job, STAGE_NONRIGID | STAGE_RIGID | STAGE_INHERITED, wanted, block);
        break;
    case STAGE_NONRIGID | STAGE_RIGID | STAGE_STRAIGHT:
        run_block(job, STAGE_NONRIGID | STAGE_RIGID | STAGE_STRAIGHT, wanted, block);
        break;
    default:
        run_block(job, job->tables->stages, wanted, block);
    }
}

/* Points, alone and with normals, are what is usually wanted: they have loops of their own. */
static void run_points(const tps_kernel_job *job, int64_t block)
{
    run_stages(job, POINTS, block);
}

static void run_points_and_normals(const tps_kernel_job *job, int64_t block)
{
    run_stages(job, POINTS | NORMALS, block);
}

static void run_matrices(const tps_kernel_job *job, int64_t block)
{
    run_stages(job, MATRICES, block);
}

static void run_any(const tps_kernel_job *job, int wanted, int64_t block)
{
    run_block(job, job->tables->stages, wanted, block);
}

void TPS_KERNEL(const tps_kernel_job *job, int64_t block)
{
    const tps_results *out = &job->out;
    int wanted = (out->points ? POINTS : 0) | (out->normals ? NORMALS : 0) |
                 (out->matrices || out->inverse_matrices ? MATRICES : 0);
    switch (wanted) {
    case POINTS:
        run_points(job, block);
        break;
    case POINTS | NORMALS:
        run_points_and_normals(job, block);
        break;
    case MATRICES:
        run_matrices(job, block);
        break;
    default:
        run_any(job, wanted, block);
    }
}
