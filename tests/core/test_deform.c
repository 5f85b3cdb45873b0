/* Deformed meshes against the scalar reference, for every kernel that runs here. */
#include "reference.h"
#include "tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERTICES 5000
#define TOLERANCE 1e-5 /* of the rig's size, by float32 */

static int64_t compared, unclear; /* vertices; of which the reference gives no answer */

static float *floats(int64_t count)
{
    return need(count, sizeof(float));
}

static float *deformed(const rig *r, const tps_deform_job *job, wanted result)
{
    float *out = floats(job->frame_count * r->vertex_count * wanted_width(result));
    CHECK(deform_to(r->skin, r->skeleton, job, result, out) == TPS_OK);
    return out;
}

/* The skin made anew for a kernel. */
static void choose_kernel(rig *r, int kernel)
{
    tps_skin_free(r->skin);
    r->skin = NULL;
    r->mesh.kernel = kernel;
    CHECK(tps_skin_create(&r->mesh, &r->skin, NULL) == TPS_OK);
}

static double off(const float *actual, const double *expected)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        square += (actual[k] - expected[k]) * (actual[k] - expected[k]);
    }
    return sqrt(square);
}

static void unit(double v[3])
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) {
        v[k] /= length;
    }
}

static void compare(const rig *r, const tps_deform_job *job)
{
    const float *points = job->points ? job->points : r->points;
    int with_normals = !job->blend.values && !job->points && !job->space;
    float *moved = deformed(r, job, POINTS), *normals = with_normals ? deformed(r, job, NORMALS) : NULL;
    phases p = phases_of(r, job);
    double worst = 0, worst_normal = 0;
    for (int64_t i = 0; i < r->vertex_count; i++) {
        double point[3], normal[3];
        if (!reference_vertex(r, &p, job, i, points, point, with_normals ? normal : NULL)) {
            unclear++;
            continue;
        }
        worst = fmax(worst, off(moved + 3 * i, point));
        if (with_normals) {
            unit(normal);
            worst_normal = fmax(worst_normal, off(normals + 3 * i, normal));
        }
    }
    CHECK_CLOSE(worst, 0.0, TOLERANCE * rig_size(r));
    CHECK_CLOSE(worst_normal, 0.0, 1e-3); /* blends of mirrored and other matrices can be nearly singular */
    compared += r->vertex_count;
    phases_free(&p);
    free(moved);
    free(normals);
}

/* Every method, phase and reading, with and without blend, points and flags. */
static void compare_all(const rig *r, uint64_t seed)
{
    chance c = {seed};
    float *blend = floats(r->vertex_count), *points = floats(3 * r->vertex_count);
    uint8_t *flags = need(r->joint_count, 1);
    for (int64_t i = 0; i < r->vertex_count; i++) {
        blend[i] = (float)chance_between(&c, 0, 1);
        for (int k = 0; k < 3; k++) {
            points[3 * i + k] = r->points[3 * i + k] + (float)chance_between(&c, -0.1, 0.1);
        }
    }
    for (int32_t j = 0; j < r->joint_count; j++) {
        flags[j] = chance_below(&c, 5) > 0;
    }
    tps_deform_job job = {.frame_count = 1, .world = r->world};
    for (int method = 0; method < 3; method++) {
        job.method = (tps_method)method;
        for (int phase = 0; phase < (job.method == TPS_METHOD_LINEAR ? 1 : 3); phase++) {
            job.phase = (tps_phase)phase;
            compare(r, &job);
        }
        job.phase = TPS_PHASE_ALL;
        job.inherited = TPS_INHERITED_BEFORE;
        compare(r, &job);
        job.inherited = TPS_INHERITED_AFTER, job.nonrigid = flags;
        compare(r, &job);
        job.nonrigid = NULL, job.rigid = flags;
        compare(r, &job);
        job.rigid = NULL;
        job.points = points;
        compare(r, &job);
        job.blend.values = blend;
        compare(r, &job);
        job.blend.per_vertex = 1;
        compare(r, &job);
        job.points = NULL, job.blend.values = NULL, job.blend.per_vertex = 0;
    }
    free(blend);
    free(points);
    free(flags);
}

void test_points_and_normals(void)
{
    static const int influences[] = {6, -4, -1, 12};
    compared = unclear = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        rig_options o = {.seed = seed,
                         .joints = 14,
                         .vertices = seed < 4 ? VERTICES : 9,
                         .most_influences = influences[seed % 4],
                         .scaled_bind = seed % 3 == 0,
                         .pose = POSE_SCALED};
        rig r = rig_make(&o);
        for (int k = 0; tps_kernel_name(k); k++) {
            choose_kernel(&r, k);
            compare_all(&r, seed);
        }
        rig_free(&r);
    }
    CHECK(unclear < compared / 100);
}

/* The points in a space of their own: turned, moved and scaled alike, or not alike. */
void test_spaces(void)
{
    rig_options o = {.seed = 7, .joints = 14, .vertices = VERTICES, .most_influences = 5, .pose = POSE_SCALED};
    rig r = rig_make(&o);
    chance c = {5};
    double spaces[2][16];
    matrix_random(&c, POSE_RIGID, spaces[0]);
    matrix_random(&c, POSE_SCALED, spaces[1]);
    for (int s = 0; s < 2; s++) {
        for (int method = 0; method < 3; method++) {
            tps_deform_job job = {.frame_count = 1, .world = r.world, .method = (tps_method)method, .space = spaces[s]};
            compare(&r, &job);
        }
    }
    rig_free(&r);
}

/* A vertex's matrix takes its point to where it lands; its inverse takes it back. */
void test_matrices(void)
{
    rig_options o = {.seed = 3, .joints = 9, .vertices = VERTICES, .most_influences = 5, .pose = POSE_SCALED};
    rig r = rig_make(&o);
    for (int k = 0; tps_kernel_name(k); k++) {
        choose_kernel(&r, k);
        for (int method = 0; method < 3; method++) {
            tps_deform_job job = {.frame_count = 1, .world = r.world, .method = (tps_method)method};
            float *moved = deformed(&r, &job, POINTS), *m = deformed(&r, &job, MATRICES);
            float *inverse = deformed(&r, &job, INVERSE_MATRICES);
            double worst = 0, worst_back = 0;
            for (int64_t i = 0; i < r.vertex_count; i++) {
                double to[3], back[3];
                for (int n = 0; n < 3; n++) {
                    const float *row = m + 12 * i + 4 * n, *p = r.points + 3 * i;
                    to[n] = (double)row[0] * p[0] + (double)row[1] * p[1] + (double)row[2] * p[2] + row[3];
                    row = inverse + 12 * i + 4 * n, p = moved + 3 * i;
                    back[n] = (double)row[0] * p[0] + (double)row[1] * p[1] + (double)row[2] * p[2] + row[3];
                }
                worst = fmax(worst, off(moved + 3 * i, to));
                worst_back = fmax(worst_back, off(r.points + 3 * i, back));
            }
            CHECK_CLOSE(worst, 0.0, TOLERANCE * rig_size(&r));
            CHECK_CLOSE(worst_back, 0.0, 10 * TOLERANCE * rig_size(&r));
            free(moved);
            free(m);
            free(inverse);
        }
    }
    rig_free(&r);
}

/* All results of one call are those of a call each, and an offset is where a point goes to, less where it was. */
void test_results_together(void)
{
    rig_options o = {.seed = 8, .joints = 9, .vertices = VERTICES, .most_influences = 5, .pose = POSE_SCALED};
    rig r = rig_make(&o);
    for (int k = 0; tps_kernel_name(k); k++) {
        choose_kernel(&r, k);
        for (int method = 0; method < 3; method++) {
            tps_deform_job job = {.frame_count = 1, .world = r.world, .method = (tps_method)method};
            float *together[ALL_WANTED], *alone[ALL_WANTED];
            for (wanted what = 0; what < ALL_WANTED; what++) {
                together[what] = floats(r.vertex_count * wanted_width(what));
                alone[what] = deformed(&r, &job, what);
            }
            for (int offsets = 0; offsets < 2; offsets++) {
                tps_deform_job all = job;
                all.skin = r.skin, all.skeleton = r.skeleton, all.offsets = offsets;
                all.points_out = together[offsets ? OFFSETS : POINTS];
                all.normals_out = together[NORMALS];
                all.matrices_out = together[MATRICES];
                all.inverse_matrices_out = together[INVERSE_MATRICES];
                CHECK(tps_deform(&all) == TPS_OK);
            }
            for (wanted what = 0; what < ALL_WANTED; what++) {
                int64_t count = r.vertex_count * wanted_width(what);
                CHECK_CLOSE(largest_difference_f32(together[what], alone[what], count), 0.0, 1e-6 * rig_size(&r));
            }
            for (int64_t i = 0; i < 3 * r.vertex_count; i++) {
                together[OFFSETS][i] += r.points[i];
            }
            CHECK_CLOSE(largest_difference_f32(together[OFFSETS], alone[POINTS], 3 * r.vertex_count), 0.0,
                        1e-6 * rig_size(&r));
            for (wanted what = 0; what < ALL_WANTED; what++) {
                free(together[what]);
                free(alone[what]);
            }
        }
    }
    rig_free(&r);
}

/* Without scale two-phase skinning is dual quaternion skinning; where nobody inherits, both readings agree. */
void test_methods_agree(void)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        rig_options o = {.seed = seed, .joints = 12, .vertices = 600, .most_influences = 4, .pose = POSE_RIGID};
        rig r = rig_make(&o);
        tps_deform_job job = {.frame_count = 1, .world = r.world}, classic = job;
        classic.method = TPS_METHOD_DUAL_QUATERNION;
        float *a = deformed(&r, &job, POINTS), *b = deformed(&r, &classic, POINTS);
        CHECK_CLOSE(largest_difference_f32(a, b, 3 * r.vertex_count), 0.0, TOLERANCE * rig_size(&r));
        free(a);
        free(b);
        rig_free(&r);
        o.pose = POSE_SCALED;
        o.compensating = 1;
        r = rig_make(&o);
        job.world = r.world;
        a = deformed(&r, &job, POINTS);
        job.inherited = TPS_INHERITED_BEFORE;
        b = deformed(&r, &job, POINTS);
        CHECK_CLOSE(largest_difference_f32(a, b, 3 * r.vertex_count), 0.0, TOLERANCE * rig_size(&r));
        free(a);
        free(b);
        rig_free(&r);
    }
}

/* Mirrored and flattened bones: a vertex that hangs on one joint alone goes where that joint goes. */
void test_extreme_poses(void)
{
    for (uint64_t seed = 0; seed < 24; seed++) {
        rig_options o = {.seed = seed, .joints = 9, .vertices = 400, .most_influences = -1};
        o.pose = seed % 2 ? POSE_FLAT : POSE_MIRRORED;
        rig r = rig_make(&o);
        for (int method = 0; method < 3; method++) {
            for (int inherited = 0; inherited < 2; inherited++) {
                tps_deform_job job = {.frame_count = 1, .world = r.world, .method = (tps_method)method};
                job.inherited = (tps_inherited)inherited;
                float *moved = deformed(&r, &job, POINTS), *normals = deformed(&r, &job, NORMALS);
                double worst = 0, length = 0;
                for (int64_t i = 0; i < r.vertex_count; i++) {
                    double m[16], to[3] = {r.points[3 * i], r.points[3 * i + 1], r.points[3 * i + 2]};
                    const double nowhere[3] = {0, 0, 0};
                    int64_t at = 16 * r.joints[i];
                    matrix_inverse(r.bind + at, m);
                    matrix_multiply(r.world + at, m, m);
                    matrix_apply(m, to, to);
                    worst = fmax(worst, off(moved + 3 * i, to));
                    length = fmax(length, fabs(off(normals + 3 * i, nowhere) - 1));
                }
                CHECK_CLOSE(worst, 0.0, TOLERANCE * rig_size(&r));
                CHECK_CLOSE(length, 0.0, 1e-5);
                free(moved);
                free(normals);
            }
        }
        rig_free(&r);
    }
}

/* All kernels give the same, to what fused multiply-add rounds. */
void test_kernels(void)
{
    rig_options o = {.seed = 11, .joints = 40, .vertices = 7001, .most_influences = 7, .pose = POSE_SCALED};
    rig r = rig_make(&o);
    tps_deform_job job = {.frame_count = 1, .world = r.world};
    for (wanted result = 0; result < ALL_WANTED; result++) {
        choose_kernel(&r, 0);
        float *best = deformed(&r, &job, result);
        int64_t count = r.vertex_count * wanted_width(result);
        for (int k = 1; tps_kernel_name(k); k++) {
            choose_kernel(&r, k);
            float *other = deformed(&r, &job, result);
            CHECK_CLOSE(largest_difference_f32(best, other, count), 0.0,
                        (wanted_width(result) == 3 ? TOLERANCE : 10 * TOLERANCE) * rig_size(&r));
            free(other);
        }
        free(best);
    }
    rig_free(&r);
}
