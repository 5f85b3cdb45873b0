#include "weights.h"

#include <float.h>
#include <stdlib.h>

tps_status tps_check_rows(const tps_mesh *mesh, int64_t *where)
{
    const int64_t *start = mesh->row_start;
    if (start[0] != 0) {
        return tps_fail(TPS_WEIGHT_ROWS, 0, where);
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        if (start[i + 1] < start[i] || start[i + 1] > mesh->entry_count) {
            return tps_fail(TPS_WEIGHT_ROWS, i + 1, where);
        }
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
static int64_t canonical_row(entry *row, int64_t count, tps_row_sum row_sum)
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
    if (row_sum == TPS_ROW_SUM_ONE) {
        normalise(row, kept);
    }
    for (int64_t i = 0; i < kept; i++) { /* as they will be kept: equal weights there are equal here */
        row[i].weight = (float)fmin(row[i].weight, FLT_MAX);
    }
    qsort(row, (size_t)kept, sizeof *row, heaviest_first);
    while (kept > 0 && !(row[kept - 1].weight > 0)) {
        kept--;
    }
    return kept;
}

void tps_canonical_rows(const tps_mesh *mesh, weight_rows *r)
{
    int64_t written = 0;
    r->start[0] = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        int64_t from = mesh->row_start[i], count = mesh->row_start[i + 1] - from;
        entry *row = r->entries + written;
        for (int64_t k = 0; k < count; k++) {
            row[k] = (entry){mesh->weights[from + k], (int32_t)mesh->joints[from + k]};
        }
        written += canonical_row(row, count, mesh->row_sum);
        r->start[i + 1] = written;
    }
}
