/* Weights as a skin keeps them. */
#include "rig.h"
#include "tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Joints that come twice, zeros, huge and tiny weights, an empty row; five vertices on four joints. */
void test_weight_rows(void)
{
    const float points[15] = {0};
    const int64_t row_start[6] = {0, 3, 3, 5, 8, 10}, joints[10] = {2, 0, 2, 1, 3, 3, 1, 0, 1, 0};
    const double weights[10] = {1, 3, 1, 0, 5, 1e300, 1e300, 1e300, 1e-300, 3e-300};
    const tps_mesh mesh = {5, 4, points, NULL, row_start, 10, joints, weights, 0, 0};
    const int64_t starts_kept[6] = {0, 2, 2, 3, 6, 8}, joints_kept[8] = {0, 2, 3, 0, 1, 3, 0, 1};
    const double weights_kept[8] = {0.6, 0.4, 1, 1 / 3.0, 1 / 3.0, 1 / 3.0, 0.75, 0.25};
    int64_t starts[6], kept[8];
    double values[8];
    uint8_t weighted[4];
    tps_skin *skin = NULL;
    CHECK(tps_skin_create(&mesh, &skin, NULL) == TPS_OK);
    CHECK(tps_skin_entry_count(skin) == 8);
    CHECK(tps_skin_vertex_count(skin) == 5);
    CHECK(tps_skin_joint_count(skin) == 4);
    tps_skin_weights(skin, starts, kept, values);
    CHECK(memcmp(starts, starts_kept, sizeof starts) == 0);
    CHECK(memcmp(kept, joints_kept, sizeof kept) == 0);
    CHECK(largest_difference(values, weights_kept, 8) < 1e-7);
    tps_skin_weighted(skin, weighted);
    CHECK(weighted[0] && weighted[1] && weighted[2] && weighted[3]);
    tps_skin_free(skin);
    tps_skin_free(NULL);
}

/* What a skin gives back makes the same skin again, to the last bit. */
void test_skin_arrays(void)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        rig_options o = {.seed = seed, .joints = 30, .vertices = 3000, .most_influences = seed < 4 ? 6 : -4};
        rig r = rig_make(&o);
        int64_t count = tps_skin_entry_count(r.skin), *starts = need(o.vertices + 1, sizeof *starts);
        int64_t *joints = need(count, sizeof *joints), *joints_again = need(count, sizeof *joints);
        double *weights = need(count, sizeof *weights), *weights_again = need(count, sizeof *weights);
        tps_skin_weights(r.skin, starts, joints, weights);
        tps_mesh mesh = r.mesh;
        mesh.points = tps_skin_points(r.skin);
        mesh.normals = tps_skin_normals(r.skin);
        mesh.row_start = starts, mesh.joints = joints, mesh.weights = weights;
        mesh.entry_count = count, mesh.row_sum = TPS_ROW_SUM_KEPT;
        tps_skin *again = NULL;
        CHECK(tps_skin_create(&mesh, &again, NULL) == TPS_OK);
        CHECK(tps_skin_entry_count(again) == count);
        CHECK(memcmp(tps_skin_points(again), r.points, (size_t)o.vertices * 3 * sizeof(float)) == 0);
        tps_skin_weights(again, starts, joints_again, weights_again);
        CHECK(memcmp(joints, joints_again, (size_t)count * sizeof *joints) == 0);
        CHECK(memcmp(weights, weights_again, (size_t)count * sizeof *weights) == 0);
        tps_skin_free(again);
        free(starts);
        free(joints);
        free(joints_again);
        free(weights);
        free(weights_again);
        rig_free(&r);
    }
}
