/* The skin: a mesh at rest, its weights laid out in blocks for the kernel. */
#include "weights.h"

#include <stdlib.h>
#include <string.h>

/* Which joints are used, and how much of the mesh hangs on each. number[j]: joint j's place among the used ones. */
static tps_status number_joints(tps_skin *skin, const weight_rows *r, int32_t *number)
{
    int64_t count = r->start[skin->vertex_count];
    for (int64_t e = 0; e < count; e++) {
        skin->weighted[r->entries[e].joint] = 1;
    }
    for (int32_t j = 0; j < skin->joint_count; j++) {
        number[j] = skin->used_count;
        if (skin->weighted[j]) {
            skin->used[skin->used_count++] = j;
        }
    }
    double total = 0;
    for (int64_t e = 0; e < count; e++) {
        skin->mesh_weight[number[r->entries[e].joint]] += r->entries[e].weight;
        total += r->entries[e].weight;
    }
    for (int32_t u = 0; u < skin->used_count; u++) {
        skin->mesh_weight[u] /= total;
    }
    return skin->used_count > UINT16_MAX + 1 ? TPS_TOO_MANY_JOINTS : TPS_OK;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t influences(const weight_rows *r, int64_t vertex)
{
    return r->start[vertex + 1] - r->start[vertex];
}

/* A block of which nearly all vertices have the same number of influences is faster as one bucket: the others get
 * entries of weight 0. Where that would add more than an eighth, or some have none at all, every vertex keeps its own
 * number. */
static void choose_widths(weight_rows *r, int64_t begin, int64_t end)
{
    int64_t most = 0, least = INT64_MAX, sum = 0;
    for (int64_t i = begin; i < end; i++) {
        int64_t count = influences(r, i);
        most = count > most ? count : most;
        least = count < least ? count : least;
        sum += count;
    }
    int one_bucket = least > 0 && 8 * (most * (end - begin) - sum) <= sum;
    for (int64_t i = begin; i < end; i++) {
        r->width[i] = (int32_t)(one_bucket ? most : influences(r, i));
    }
}

static int64_t block_end(const tps_skin *skin, int64_t block)
{
    int64_t end = (block + 1) * TPS_BLOCK;
    return end < skin->vertex_count ? end : skin->vertex_count;
}

/* The slots of one block: its vertices by influences, then by their order in the mesh. */
static void order_block(tps_skin *skin, const weight_rows *r, int64_t block)
{
    int64_t keys[TPS_BLOCK], begin = block * TPS_BLOCK, count = block_end(skin, block) - begin;
    for (int64_t i = 0; i < count; i++) {
        keys[i] = (int64_t)r->width[begin + i] * TPS_BLOCK + i;
    }
    qsort(keys, (size_t)count, sizeof *keys, ascending);
    for (int64_t i = 0; i < count; i++) {
        skin->slots[begin + i] = (uint16_t)(keys[i] % TPS_BLOCK);
    }
}

/* The bucket of slots that starts at `first`. */
static tps_bucket bucket_at(const tps_skin *skin, const weight_rows *r, int64_t block, int64_t first)
{
    int64_t begin = block * TPS_BLOCK, end = block_end(skin, block), at = first;
    int32_t width = r->width[begin + skin->slots[first]];
    while (at < end && r->width[begin + skin->slots[at]] == width) {
        at++;
    }
    return (tps_bucket){width, (int32_t)(at - first)};
}

/* Orders all blocks. Returns how many entries are stored, and in *bucket_count how many buckets there are. */
static int64_t order_blocks(tps_skin *skin, weight_rows *r, int64_t *bucket_count)
{
    int64_t buckets = 0, entries = 0;
    for (int64_t b = 0; b < skin->block_count; b++) {
        choose_widths(r, b * TPS_BLOCK, block_end(skin, b));
        order_block(skin, r, b);
        skin->blocks[b] = (tps_block){.first_entry = entries, .first_bucket = buckets};
        for (int64_t at = b * TPS_BLOCK; at < block_end(skin, b);) {
            tps_bucket bucket = bucket_at(skin, r, b, at);
            entries += tps_padded(bucket.vertex_count) * bucket.influences;
            at += bucket.vertex_count;
            buckets++;
        }
        skin->blocks[b].bucket_count = (int32_t)(buckets - skin->blocks[b].first_bucket);
    }
    *bucket_count = buckets;
    return entries;
}

static void fill_block(tps_skin *skin, const weight_rows *r, const int32_t *number, int64_t block)
{
    int64_t begin = block * TPS_BLOCK, first = begin, to = skin->blocks[block].first_entry;
    for (int32_t g = 0; g < skin->blocks[block].bucket_count; g++) {
        tps_bucket bucket = bucket_at(skin, r, block, first);
        skin->buckets[skin->blocks[block].first_bucket + g] = bucket;
        for (int64_t i = 0; i < tps_padded(bucket.vertex_count); i++) {
            int64_t last = bucket.vertex_count - 1;
            int64_t vertex = begin + skin->slots[first + (i < last ? i : last)], count = influences(r, vertex);
            const entry *row = r->entries + r->start[vertex];
            for (int32_t k = 0; k < bucket.influences; k++, to++) {
                skin->joints[to] = (uint16_t)number[row[k < count ? k : 0].joint];
                skin->weights[to] = k < count ? (float)row[k].weight : 0;
            }
        }
        first += bucket.vertex_count;
    }
}

/* Everything about the weights, given room for canonical rows and for a number for each joint. */
static tps_status lay_out(tps_skin *skin, const tps_mesh *mesh, weight_rows *r, int32_t *number)
{
    tps_canonical_rows(mesh, r);
    tps_status status = number_joints(skin, r, number);
    if (status != TPS_OK) {
        return status;
    }
    int64_t bucket_count, stored = order_blocks(skin, r, &bucket_count);
    skin->entry_count = r->start[skin->vertex_count];
    skin->buckets = tps_allocate(bucket_count, sizeof *skin->buckets);
    skin->joints = tps_allocate(stored, sizeof *skin->joints);
    skin->weights = tps_allocate(stored, sizeof *skin->weights);
    if (!skin->buckets || !skin->joints || !skin->weights) {
        return TPS_NO_MEMORY;
    }
    for (int64_t b = 0; b < skin->block_count; b++) {
        fill_block(skin, r, number, b);
    }
    return TPS_OK;
}

static tps_status copy_weights(tps_skin *skin, const tps_mesh *mesh)
{
    weight_rows r = {tps_allocate(mesh->vertex_count + 1, sizeof *r.start),
                     tps_allocate(mesh->entry_count, sizeof *r.entries),
                     tps_allocate(mesh->vertex_count, sizeof *r.width)};
    int32_t *number = tps_allocate(mesh->joint_count, sizeof *number);
    tps_status status = r.start && r.entries && r.width && number ? lay_out(skin, mesh, &r, number) : TPS_NO_MEMORY;
    free(r.start);
    free(r.entries);
    free(r.width);
    free(number);
    return status;
}

static void copy_points(const tps_mesh *mesh, tps_skin *skin)
{
    for (int k = 0; k < 3; k++) {
        double low = 0, high = 0;
        for (int64_t i = 0; i < mesh->vertex_count; i++) {
            double x = mesh->points[3 * i + k];
            low = i == 0 || x < low ? x : low;
            high = i == 0 || x > high ? x : high;
        }
        skin->centre.x[k] = skin->at_origin ? 0 : tps_rounded(low / 2 + high / 2);
        double half = skin->at_origin ? larger(fabs(low), fabs(high)) : high / 2 - low / 2;
        skin->extent = larger(skin->extent, half);
    }
    memcpy(skin->points, mesh->points, (size_t)mesh->vertex_count * 3 * sizeof *skin->points);
}

static void copy_normals(const tps_mesh *mesh, tps_skin *skin)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const float *n = mesh->normals + 3 * i;
        double length = sqrt((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2]);
        for (int k = 0; k < 3; k++) {
            skin->normals[3 * i + k] = length > 0 ? (float)(n[k] / length) : 0;
        }
    }
}

void tps_skin_free(tps_skin *skin)
{
    if (!skin) {
        return;
    }
    free(skin->points);
    free(skin->normals);
    free(skin->blocks);
    free(skin->buckets);
    free(skin->slots);
    free(skin->joints);
    free(skin->weights);
    free(skin->weighted);
    free(skin->used);
    free(skin->mesh_weight);
    tps_workspace_free(skin->workspace);
    free(skin);
}

/* All but what lay_out can only size later. */
static tps_skin *allocate_skin(const tps_mesh *mesh)
{
    tps_skin *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->vertex_count = mesh->vertex_count;
    s->joint_count = mesh->joint_count;
    s->block_count = (mesh->vertex_count + TPS_BLOCK - 1) / TPS_BLOCK;
    s->points = tps_allocate(mesh->vertex_count, 3 * sizeof *s->points);
    s->normals = mesh->normals ? tps_allocate(mesh->vertex_count, 3 * sizeof *s->normals) : NULL;
    s->blocks = tps_allocate(s->block_count, sizeof *s->blocks);
    s->slots = tps_allocate(mesh->vertex_count, sizeof *s->slots);
    s->weighted = calloc((size_t)mesh->joint_count + 1, sizeof *s->weighted);
    s->used = tps_allocate(mesh->joint_count, sizeof *s->used);
    s->mesh_weight = calloc((size_t)mesh->joint_count + 1, sizeof *s->mesh_weight);
    s->workspace = tps_workspace_create();
    if (!s->points || (mesh->normals && !s->normals) || !s->blocks || !s->slots || !s->weighted || !s->used ||
        !s->mesh_weight || !s->workspace) {
        tps_skin_free(s);
        return NULL;
    }
    return s;
}

tps_status tps_skin_create(const tps_mesh *mesh, tps_skin **skin, int64_t *where)
{
    tps_status status = tps_check_rows(mesh, where);
    if (status != TPS_OK) {
        return status;
    }
    tps_kernel kernel = tps_kernel_function(mesh->kernel);
    if (!kernel) {
        return tps_fail(TPS_KERNEL_RANGE, mesh->kernel, where);
    }
    tps_skin *s = allocate_skin(mesh);
    status = s ? copy_weights(s, mesh) : TPS_NO_MEMORY;
    if (status != TPS_OK) {
        tps_skin_free(s);
        return tps_fail(status, -1, where);
    }
    s->at_origin = mesh->row_sum == TPS_ROW_SUM_GIVEN;
    copy_points(mesh, s);
    if (mesh->normals) {
        copy_normals(mesh, s);
    }
    s->kernel = kernel;
    *skin = s;
    return TPS_OK;
}

int64_t tps_skin_vertex_count(const tps_skin *skin)
{
    return skin->vertex_count;
}

int32_t tps_skin_joint_count(const tps_skin *skin)
{
    return skin->joint_count;
}

void tps_skin_weighted(const tps_skin *skin, uint8_t *weighted)
{
    memcpy(weighted, skin->weighted, (size_t)skin->joint_count);
}

int64_t tps_skin_entry_count(const tps_skin *skin)
{
    return skin->entry_count;
}

/* Visits the rows in the order of the slots: to count them (row_start alone), then to copy them. */
static void visit_block(const tps_skin *skin, int64_t block, int64_t *row_start, int64_t *joints, double *weights)
{
    const tps_block *b = &skin->blocks[block];
    int64_t slot = block * TPS_BLOCK, entry = b->first_entry;
    for (int32_t g = 0; g < b->bucket_count; g++) {
        const tps_bucket *bucket = &skin->buckets[b->first_bucket + g];
        for (int32_t i = 0; i < bucket->vertex_count; i++, slot++) {
            int64_t vertex = block * TPS_BLOCK + skin->slots[slot], count = 0;
            for (int32_t k = 0; k < bucket->influences; k++, entry++) {
                if (skin->weights[entry] > 0 && joints) {
                    joints[row_start[vertex] + count] = skin->used[skin->joints[entry]];
                    weights[row_start[vertex] + count] = skin->weights[entry];
                }
                count += skin->weights[entry] > 0;
            }
            if (!joints) {
                row_start[vertex + 1] = count;
            }
        }
        entry += (tps_padded(bucket->vertex_count) - bucket->vertex_count) * bucket->influences;
    }
}

void tps_skin_weights(const tps_skin *skin, int64_t *row_start, int64_t *joints, double *weights)
{
    row_start[0] = 0;
    for (int64_t b = 0; b < skin->block_count; b++) {
        visit_block(skin, b, row_start, NULL, NULL);
    }
    for (int64_t i = 0; i < skin->vertex_count; i++) {
        row_start[i + 1] += row_start[i];
    }
    for (int64_t b = 0; b < skin->block_count; b++) {
        visit_block(skin, b, row_start, joints, weights);
    }
}

const float *tps_skin_points(const tps_skin *skin)
{
    return skin->points;
}

const float *tps_skin_normals(const tps_skin *skin)
{
    return skin->normals;
}
