/* The skin: a mesh at rest with weights in canonical form. */
#include "internal.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    double weight;
    int32_t joint;
} entry;

static int by_joint(const void *a, const void *b)
{
    int32_t x = ((const entry *)a)->joint, y = ((const entry *)b)->joint;
    return (x > y) - (x < y);
}

static int heaviest_first(const void *a, const void *b)
{
    double x = ((const entry *)a)->weight, y = ((const entry *)b)->weight;
    return x != y ? (x < y) - (x > y) : by_joint(a, b);
}

/* Scales the weights to a sum of 1; by the largest first, so that neither huge nor tiny ones overflow. */
static void normalise(entry *row, int64_t count)
{
    double largest = 0, sum = 0;
    for (int64_t i = 0; i < count; i++) {
        row[i].weight = fmin(row[i].weight, DBL_MAX);
        largest = fmax(largest, row[i].weight);
    }
    for (int64_t i = 0; i < count && largest > 0; i++) {
        row[i].weight /= largest;
        sum += row[i].weight;
    }
    for (int64_t i = 0; i < count && largest > 0; i++) {
        row[i].weight /= sum;
    }
}

/* Sums what comes twice, drops zeros, and sorts. Returns how many entries are left. */
static int64_t canonical_row(entry *row, int64_t count, int normalised)
{
    int64_t kept = 0;
    qsort(row, (size_t)count, sizeof *row, by_joint);
    for (int64_t i = 0; i < count; i++) {
        if (kept > 0 && row[kept - 1].joint == row[i].joint) {
            row[kept - 1].weight += row[i].weight;
        } else {
            row[kept++] = row[i];
        }
    }
    if (!normalised) {
        normalise(row, kept);
    }
    qsort(row, (size_t)kept, sizeof *row, heaviest_first);
    while (kept > 0 && !((float)row[kept - 1].weight > 0)) {
        kept--;
    }
    return kept;
}

static tps_status check_rows(const tps_mesh *mesh, int64_t *where, int64_t *longest)
{
    const int64_t *start = mesh->row_start;
    *longest = 0;
    if (start[0] != 0) {
        return tps_fail(TPS_WEIGHT_ROWS, 0, where);
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        if (start[i + 1] < start[i] || start[i + 1] > mesh->entry_count) {
            return tps_fail(TPS_WEIGHT_ROWS, i + 1, where);
        }
        *longest = start[i + 1] - start[i] > *longest ? start[i + 1] - start[i] : *longest;
    }
    if (start[mesh->vertex_count] != mesh->entry_count) {
        return tps_fail(TPS_WEIGHT_ROWS, mesh->vertex_count, where);
    }
    for (int64_t e = 0; e < mesh->entry_count; e++) {
        if (mesh->joints[e] < 0 || mesh->joints[e] >= mesh->joint_count) {
            return tps_fail(TPS_WEIGHT_JOINT_RANGE, e, where);
        }
        if (!isfinite(mesh->weights[e])) {
            return tps_fail(TPS_NOT_FINITE, e, where);
        }
        if (mesh->weights[e] < 0) {
            return tps_fail(TPS_WEIGHT_NEGATIVE, e, where);
        }
    }
    return TPS_OK;
}

static void copy_weights(const tps_mesh *mesh, tps_skin *skin, entry *row)
{
    int64_t written = 0;
    skin->row_start[0] = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        int64_t start = mesh->row_start[i], count = mesh->row_start[i + 1] - start;
        for (int64_t k = 0; k < count; k++) {
            row[k] = (entry){mesh->weights[start + k], (int32_t)mesh->joints[start + k]};
        }
        count = canonical_row(row, count, mesh->normalised);
        for (int64_t k = 0; k < count; k++) {
            skin->joints[written] = row[k].joint;
            skin->weights[written++] = (float)row[k].weight;
            skin->weighted[row[k].joint] = 1;
            skin->share[row[k].joint] += row[k].weight;
        }
        skin->row_start[i + 1] = written;
    }
    double total = 0;
    for (int32_t j = 0; j < skin->joint_count; j++) {
        total += skin->share[j];
    }
    for (int32_t j = 0; j < skin->joint_count && total > 0; j++) {
        skin->share[j] /= total;
    }
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
        skin->centre.x[k] = (float)(low / 2 + high / 2);
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
    free(skin->row_start);
    free(skin->joints);
    free(skin->weights);
    free(skin->weighted);
    free(skin->share);
    free(skin);
}

static tps_skin *allocate_skin(const tps_mesh *mesh)
{
    tps_skin *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->vertex_count = mesh->vertex_count;
    s->joint_count = mesh->joint_count;
    s->points = tps_allocate(mesh->vertex_count, 3 * sizeof *s->points);
    s->normals = mesh->normals ? tps_allocate(mesh->vertex_count, 3 * sizeof *s->normals) : NULL;
    s->row_start = tps_allocate(mesh->vertex_count + 1, sizeof *s->row_start);
    s->joints = tps_allocate(mesh->entry_count, sizeof *s->joints);
    s->weights = tps_allocate(mesh->entry_count, sizeof *s->weights);
    s->weighted = calloc((size_t)mesh->joint_count + 1, sizeof *s->weighted);
    s->share = calloc((size_t)mesh->joint_count + 1, sizeof *s->share);
    if (!s->points || (mesh->normals && !s->normals) || !s->row_start || !s->joints || !s->weights || !s->weighted ||
        !s->share) {
        tps_skin_free(s);
        return NULL;
    }
    return s;
}

tps_status tps_skin_create(const tps_mesh *mesh, tps_skin **skin, int64_t *where)
{
    int64_t longest;
    tps_status status = check_rows(mesh, where, &longest);
    if (status != TPS_OK) {
        return status;
    }
    tps_skin *s = allocate_skin(mesh);
    entry *row = tps_allocate(longest, sizeof *row);
    if (!s || !row) {
        tps_skin_free(s);
        free(row);
        return tps_fail(TPS_NO_MEMORY, -1, where);
    }
    copy_points(mesh, s);
    if (mesh->normals) {
        copy_normals(mesh, s);
    }
    copy_weights(mesh, s, row);
    free(row);
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
    return skin->row_start[skin->vertex_count];
}

void tps_skin_weights(const tps_skin *skin, int64_t *row_start, int64_t *joints, double *weights)
{
    memcpy(row_start, skin->row_start, (size_t)(skin->vertex_count + 1) * sizeof *row_start);
    for (int64_t e = 0; e < tps_skin_entry_count(skin); e++) {
        joints[e] = skin->joints[e];
        weights[e] = skin->weights[e];
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
