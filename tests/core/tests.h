/* The tests, one file a subject; main.c runs them all. */
#ifndef TESTS_H
#define TESTS_H

void test_names(void);
void test_joint_matrices(void);
void test_worked_example(void);
void test_separation_laws(void);
void test_support_joints(void);
void test_weight_rows(void);
void test_skin_arrays(void);
void test_points_and_normals(void);
void test_spaces(void);
void test_matrices(void);
void test_results_together(void);
void test_methods_agree(void);
void test_extreme_poses(void);
void test_kernels(void);
void test_status_of_skeletons(void);
void test_status_of_skins(void);
void test_status_of_strangers(void);
void test_empty(void);
void test_thread_counts(void);
void test_frames(void);
void test_inputs_by_frame(void);
void test_shared_by_threads(void);
void test_many_meshes(void);
#ifdef TPS_TEST_FAULTS
void test_faults_in_joints(void);
void test_faults_in_skins(void);
void test_faults_in_deform(void);
void test_frames_without_allocations(void);
void test_faults_of_threads(void);
void test_threads_by_affinity(void);
#endif

#endif
