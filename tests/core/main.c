/* The core's own tests: plain C11, no Python. Needs no arguments; its exit status is the number of failures. */
#include "checks.h"
#include "tests.h"
#include "tps.h"

#include <stdio.h>

#define RUN(test) run_test(#test, test)

int main(void)
{
    printf("kernels:");
    for (int k = 0; tps_kernel_name(k); k++) {
        printf(" %s", tps_kernel_name(k));
    }
    printf("\n");
    RUN(test_names);
    RUN(test_joint_matrices);
    RUN(test_worked_example);
    RUN(test_separation_laws);
    RUN(test_support_joints);
    RUN(test_weight_rows);
    RUN(test_skin_arrays);
    RUN(test_points_and_normals);
    RUN(test_spaces);
    RUN(test_matrices);
    RUN(test_results_together);
    RUN(test_methods_agree);
    RUN(test_extreme_poses);
    RUN(test_kernels);
    RUN(test_status_of_skeletons);
    RUN(test_status_of_skins);
    RUN(test_status_of_strangers);
    RUN(test_empty);
    RUN(test_thread_counts);
    RUN(test_frames);
    RUN(test_inputs_by_frame);
    RUN(test_shared_by_threads);
    RUN(test_many_meshes);
#ifdef TPS_TEST_FAULTS
    RUN(test_faults_in_joints);
    RUN(test_faults_in_skins);
    RUN(test_faults_in_deform);
    RUN(test_frames_without_allocations);
    RUN(test_faults_of_threads);
    RUN(test_threads_by_affinity);
#endif
    return failure_count();
}
