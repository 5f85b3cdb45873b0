/* Deforms vertices, F32_LANES at a time: docs/method.md, section 3. Included once for each instruction set, by
 * kernel_*.c.
 *
 * A joint's row of the table holds 16 floats for each stage: a matrix, or a dual quaternion. A vertex blends whole rows
 * of its joints, which needs no gathers; the blended rows of F32_LANES vertices are then transposed, so that the
 * arithmetic after it is the same in all lanes.
 */
#include "kernel.h"
#include "lanes.inl"
#include "inverse.h"

/* Vertices of one bucket: they have the same number of influences. Lanes beyond `count` repeat the last one. */
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
#define SEGMENT_VECTORS (TPS_SEGMENT_FLOATS / F32_LANES)
typedef struct blended {
    f32v segment[TPS_STAGES][SEGMENT_VECTORS];
} blended;

INLINE void add_matrix(f32v sum[SEGMENT_VECTORS], const float *from, f32v w, const int first)
{
    for (int i = 0; i < SEGMENT_VECTORS; i++) {
        f32v more = w * load(from + i * F32_LANES);
        sum[i] = first ? more : sum[i] + more;
    }
}

/* The row is real, real, dual: a vector at its begin gives the sign against the heaviest joint in every lane, what lies
 * behind the first four floats is summed. */
INLINE void add_dual_quaternion(f32v sum[SEGMENT_VECTORS], const float *from, f32v w, f32v *pivot, const int first)
{
    if (first) {
        *pivot = load(from);
    } else {
        w = turned_by_sign(w, sum_of_fours(*pivot * load(from)));
    }
    for (int i = 0; i < 8 / F32_LANES; i++) {
        f32v more = w * load(from + 4 + i * F32_LANES);
        sum[i] = first ? more : sum[i] + more;
    }
}

INLINE void add_row(blended *sum, const int stages, const float *row, f32v w, f32v *pivot, const int first)
{
    for (int s = 0; s < TPS_STAGES; s++) {
        const float *segment = row + tps_segment(stages, s);
        if (stages & STAGE_RIGID & 1 << s) {
            add_dual_quaternion(sum->segment[s], segment, w, pivot, first);
        } else if (stages & 1 << s) {
            add_matrix(sum->segment[s], segment, w, first);
        }
    }
}

INLINE void add_joint(blended *sum, const tps_tables *t, const int stages, int joint, float weight, f32v *pivot,
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
    for (int i = 0; i < TPS_STAGES * SEGMENT_VECTORS; i++) {
        sum.segment[i / SEGMENT_VECTORS][i % SEGMENT_VECTORS] =
            other.segment[i / SEGMENT_VECTORS][i % SEGMENT_VECTORS] = all(0);
    }
    f32v pivot = all(0);
    int k = 1;
    add_joint(&sum, t, stages, joints[0], weights[0], &pivot, 1);
    if (influences > LONG_ROW) {
        for (; k + 1 < influences; k += 2) {
            add_joint(&sum, t, stages, joints[k], weights[k], &pivot, 0);
            add_joint(&other, t, stages, joints[k + 1], weights[k + 1], &pivot, 0);
        }
        for (int i = 0; i < TPS_STAGES * SEGMENT_VECTORS; i++) {
            sum.segment[i / SEGMENT_VECTORS][i % SEGMENT_VECTORS] +=
                other.segment[i / SEGMENT_VECTORS][i % SEGMENT_VECTORS];
        }
    }
    for (; k < influences; k++) {
        add_joint(&sum, t, stages, joints[k], weights[k], &pivot, 0);
    }
    for (int i = 0; i < TPS_STAGES * SEGMENT_VECTORS; i++) {
        if (stages & 1 << i / SEGMENT_VECTORS) {
            to->segment[i / SEGMENT_VECTORS][i % SEGMENT_VECTORS] =
                sum.segment[i / SEGMENT_VECTORS][i % SEGMENT_VECTORS];
        }
    }
}

/* The blends of all lanes; only those of the stages are set. */
typedef struct phases {
    matrices nonrigid, inherited, linear_blend;
    f32v rigid[8];
} phases;

/* The first `count` floats of one stage, each for all lanes. */
INLINE void columns_of(blended rows[F32_LANES], const int stage, const int count, f32v columns[])
{
    for (int part = 0; part < count / F32_LANES; part++) {
        for (int i = 0; i < F32_LANES; i++) {
            columns[part * F32_LANES + i] = rows[i].segment[stage][part];
        }
        transpose(columns + part * F32_LANES);
    }
}

INLINE matrices matrices_of(blended rows[F32_LANES], const int stage)
{
    f32v c[TPS_SEGMENT_FLOATS];
    columns_of(rows, stage, TPS_SEGMENT_FLOATS, c);
    return (matrices){{{c[0], c[1], c[2]}, {c[4], c[5], c[6]}, {c[8], c[9], c[10]}, {c[12], c[13], c[14]}}};
}

INLINE void blend_lanes(const tps_tables *t, const int stages, const lanes *l, const int influences, phases *p)
{
    blended rows[F32_LANES];
    for (int i = 0; i < F32_LANES; i++) {
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
    if (stages & STAGE_LINEAR_BLEND) {
        p->linear_blend = matrices_of(rows, 3);
    }
}

INLINE f32v blend_factors(const tps_kernel_job *job, const lanes *l)
{
    f32v t = all(job->blend.values[0]);
    for (int i = 0; job->blend.per_vertex && i < F32_LANES; i++) {
        t[i] = job->blend.values[vertex_of(l, i)];
    }
    return t;
}

INLINE vectors read_vectors(const lanes *l, const float *from)
{
    if (!l->slots) {
        return load_vectors(from + 3 * l->first);
    }
    const float *at[F32_LANES];
    for (int i = 0; i < F32_LANES; i++) {
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
    float *to[F32_LANES];
    for (int i = 0; i < F32_LANES; i++) {
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
    if (stages & STAGE_LINEAR_BLEND) {
        p = mixed(applied(&by->linear_blend, rest), p, blend_factors(job, l));
    }
    if (job->offsets) {
        p = difference(p, rest);
    }
    write_vectors(l, sum(p, l->to), job->points_out);
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
    if (stages & STAGE_LINEAR_BLEND) {
        for (int k = 0; k < 4; k++) {
            m.c[k] = mixed(by->linear_blend.c[k], m.c[k], blend_factors(job, l));
        }
    }
    return m;
}

INLINE vectors bent_normals(const tps_kernel_job *job, const int stages, const lanes *l, const phases *by, vectors n)
{
    const int cofactors_in_range = job->tables->cofactors_in_range;
    if (stages & STAGE_LINEAR_BLEND) {
        matrices m = whole_matrices(job, stages, l, by);
        return cofactor_product(&m, cofactors_in_range, n);
    }
    if (stages & STAGE_NONRIGID) {
        n = cofactor_product(&by->nonrigid, cofactors_in_range, n);
    }
    if (stages & STAGE_RIGID) {
        n = turn(by->rigid, n);
    }
    return stages & STAGE_INHERITED
               ? cofactor_product(&by->inherited, cofactors_in_range, normalised(n, cofactors_in_range, n))
               : n;
}

/* What a singular blend sends to zero keeps its direction at rest. */
INLINE void deform_normals(const tps_kernel_job *job, const int stages, const lanes *l, const phases *by)
{
    vectors rest = read_vectors(l, job->skin->normals), n = bent_normals(job, stages, l, by, rest);
    write_vectors(l, normalised(n, job->tables->cofactors_in_range, rest), job->normals_out);
}

/* to + d - (a, b, c) from. Far from the origin in float64: a matrix there keeps its translation's digits. */
INLINE f32v translation_in_world(f32v a, f32v b, f32v c, f32v d, const tps_tables *t, const int row)
{
    const double *from = t->from.x, to = t->to.x[row];
    if (t->near_origin) {
        return all((float)to) + d - (a * all((float)from[0]) + b * all((float)from[1]) + c * all((float)from[2]));
    }
    for (int half = 0; half < F32_LANES / 4; half++) {
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
    f32v x = translation_in_world(c[0].x, c[1].x, c[2].x, c[3].x, job->tables, 0);
    f32v y = translation_in_world(c[0].y, c[1].y, c[2].y, c[3].y, job->tables, 1);
    f32v z = translation_in_world(c[0].z, c[1].z, c[2].z, c[3].z, job->tables, 2);
    f32v rows[TPS_SEGMENT_FLOATS] = {c[0].x, c[1].x, c[2].x, x, c[0].y, c[1].y, c[2].y, y,
                                     c[0].z, c[1].z, c[2].z, z, c[0].z, c[1].z, c[2].z, z}; /* the last 4: to fill up */
    for (int first = 0; first < 12; first += F32_LANES) {
        transpose(rows + first);
    }
    for (int i = 0; i < l->count; i++) {
        float *to_row = job->matrices_out + 12 * vertex_of(l, i);
        for (int first = 0; first + F32_LANES <= 12; first += F32_LANES) {
            store(to_row + first, rows[first + i]);
        }
        if (F32_LANES == 8) {
            memcpy(to_row + 8, &rows[8 + i], 4 * sizeof(float));
        }
    }
}

/* x -> from + inverse(m) (x - to), by the core's float64 inverse, a vertex at a time. */
static void invert_matrix(const tps_tables *t, float lane[12][F32_LANES], int i, float *out)
{
    affine a;
    for (int k = 0; k < 3; k++) {
        a.linear.m[k][0] = lane[k][i];
        a.linear.m[k][1] = lane[3 + k][i];
        a.linear.m[k][2] = lane[6 + k][i];
        a.translation.x[k] = lane[9 + k][i] + t->to.x[k];
    }
    affine inverse = tps_affine_inverse(&a);
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            out[4 * k + c] = (float)inverse.linear.m[k][c];
        }
        out[4 * k + 3] = (float)(inverse.translation.x[k] + t->from.x[k]);
    }
}

INLINE void write_inverses(const tps_kernel_job *job, const lanes *l, const matrices *m)
{
    float lane[12][F32_LANES];
    for (int c = 0; c < 4; c++) {
        store(lane[3 * c], m->c[c].x);
        store(lane[3 * c + 1], m->c[c].y);
        store(lane[3 * c + 2], m->c[c].z);
    }
    for (int i = 0; i < l->count; i++) {
        invert_matrix(job->tables, lane, i, job->inverse_matrices_out + 12 * vertex_of(l, i));
    }
}

/* Vertices without weights stay, to the last bit. */
static void leave_vertex(const tps_kernel_job *job, int64_t vertex)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, zero[3] = {0, 0, 0};
    if (job->points_out) {
        memcpy(job->points_out + 3 * vertex, job->offsets ? zero : job->points + 3 * vertex, 3 * sizeof(float));
    }
    if (job->normals_out) {
        memcpy(job->normals_out + 3 * vertex, job->skin->normals + 3 * vertex, 3 * sizeof(float));
    }
    if (job->matrices_out) {
        memcpy(job->matrices_out + 12 * vertex, identity, sizeof identity);
    }
    if (job->inverse_matrices_out) {
        memcpy(job->inverse_matrices_out + 12 * vertex, identity, sizeof identity);
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
        if (job->matrices_out) {
            write_matrices(job, l, &m);
        }
        if (job->inverse_matrices_out) {
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

/* Asks for what the bucket after next but some will read and write, so that it has arrived by then: processors do not
 * look beyond a page by themselves. */
INLINE void prefetch(const tps_kernel_job *job, const int wanted, const lanes *l, const int influences, int64_t vertex)
{
    enum { AHEAD = 16 * F32_LANES };
    const size_t vector = 3 * sizeof(float), matrix = 12 * sizeof(float), ahead = (size_t)(vertex + AHEAD);
    if (influences <= 8) { /* longer rows are streams that processors follow by themselves */
        ask_for((uintptr_t)l->weights + sizeof(float) * AHEAD * (size_t)influences, 16 * F32_LANES, 0);
        ask_for((uintptr_t)l->joints + sizeof(uint16_t) * AHEAD * (size_t)influences, 8 * F32_LANES, 0);
    }
    if (wanted & POINTS) {
        ask_for((uintptr_t)job->points + vector * ahead, vector * F32_LANES, 0);
        ask_for((uintptr_t)job->points_out + vector * ahead, vector * F32_LANES, 1);
    }
    if (wanted & NORMALS) {
        ask_for((uintptr_t)job->skin->normals + vector * ahead, vector * F32_LANES, 0);
        ask_for((uintptr_t)job->normals_out + vector * ahead, vector * F32_LANES, 1);
    }
    if (wanted & MATRICES && job->matrices_out) {
        ask_for((uintptr_t)job->matrices_out + matrix * ahead, matrix * F32_LANES, 1);
    }
}

/* A bucket's vertices are begin + slots[0 .. count - 1]; where it is its block's only one, simply begin + 0 .. count
 * - 1. */
INLINE void run_bucket(const tps_kernel_job *job, const int stages, const int wanted, const int influences, lanes l,
                       const int only, int count)
{
    const int64_t begin = l.first;
    const uint16_t *slots = l.slots;
    for (int at = 0; at < count; at += F32_LANES) {
        l.count = count - at < F32_LANES ? count - at : F32_LANES;
        l.slots = only && l.count == F32_LANES ? NULL : slots + at;
        l.first = l.slots ? begin : begin + at;
        prefetch(job, wanted, &l, influences, begin + at);
        run_lanes(job, stages, wanted, &l, influences);
        l.joints += F32_LANES * influences;
        l.weights += F32_LANES * influences;
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
    const vec3 after = job->offsets ? vec3_sub(*to, *from) : *to;
    lanes l = {.first = begin, .from = everywhere(from), .to = everywhere(&after)};
    for (int g = 0; g < b->bucket_count; g++) {
        const tps_bucket *bucket = &skin->buckets[b->first_bucket + g];
        int count = bucket->vertex_count, only = b->bucket_count == 1;
        l.joints = skin->joints + entry;
        l.weights = skin->weights + entry;
        l.slots = slots;
        if (bucket->influences == 4) { /* the usual number has a loop of its own */
            run_bucket(job, stages, wanted, 4, l, only, count);
        } else if (bucket->influences > 0) {
            run_bucket(job, stages, wanted, bucket->influences, l, only, count);
        } else {
            for (int i = 0; i < count; i++) {
                leave_vertex(job, begin + slots[i]);
            }
        }
        slots += count;
        entry += tps_padded(count) * bucket->influences;
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
    case STAGE_NONRIGID | STAGE_RIGID | STAGE_LINEAR_BLEND:
        run_block(job, STAGE_NONRIGID | STAGE_RIGID | STAGE_LINEAR_BLEND, wanted, block);
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
    int wanted = (job->points_out ? POINTS : 0) | (job->normals_out ? NORMALS : 0) |
                 (job->matrices_out || job->inverse_matrices_out ? MATRICES : 0);
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
