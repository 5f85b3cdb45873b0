/* Two-Phase Skin: the skinning core.
 *
 * Plain C11: no Python, no Blender, no global state. This header is the manual; each group of functions below has
 * a source file of its own.
 *
 * What it does. A skeleton of joints deforms a mesh. A joint's posed matrix is split into a non-rigid part (scale and
 * shear) and a rigid part, and each vertex is deformed in two phases: first the non-rigid parts are blended linearly
 * (phase 1), then the rigid parts are blended as dual quaternions (phase 2). Scale that children inherit can act
 * last, as a third blend. Linear blend skinning and classic dual quaternion skinning are here too.
 *
 * How it is used:
 *
 *     tps_skeleton *skeleton;  tps_skeleton_create(J, parents, bind, inherits, &skeleton, &where);
 *     tps_skin *skin;          tps_skin_create(&mesh, &skin, &where);
 *     for each frame:          tps_deform(&(tps_deform_job){.skin = skin, .skeleton = skeleton, .frame_count = 1,
 *                                                           .world = posed, .points_out = points});
 *     tps_skin_free(skin);     tps_skeleton_free(skeleton);
 *
 * Conventions:
 *  - Matrices are affine, 4x4, row-major, column vectors: 16 doubles, last row 0 0 0 1. It is not read, and numbers are
 *    expected to be finite: the checks below tell, the other functions do not ask again (a skeleton's bind apart).
 *  - Joints are numbered 0..J-1 in any order; a root's parent is -1; several roots are allowed.
 *  - B bind (world, rest), L bind relative to the parent, U the user's local transform, W posed (world), T skinning:
 *    B_j = B_p L_j, W_j = W_p L_j U_j, W_j = T_j B_j.
 *  - Joint mathematics is float64, vertices are float32.
 *  - Arrays belong to the caller, inputs are const, and inputs and outputs must not overlap.
 *  - Functions that can fail return a tps_status and write nothing else on failure, except that `where`, if not NULL,
 *    receives the joint, row or entry at fault (-1 where there is none).
 *  - A skeleton or skin is read-only once made: any number of threads may use it at the same time.
 *  - "Singular" means: smallest singular value <= 1e-9 times the largest.
 */
#ifndef TPS_H
#define TPS_H

#include <stdint.h>

/* The version of this header; tps_version is that of the library that was linked. */
#define TPS_VERSION_MAJOR 0
#define TPS_VERSION_MINOR 1
#define TPS_VERSION_PATCH 0
#define TPS_VERSION_NUMBER (TPS_VERSION_MAJOR * 10000 + TPS_VERSION_MINOR * 100 + TPS_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tps_status {
    TPS_OK = 0,
    TPS_NO_MEMORY,          /* an allocation failed */
    TPS_PARENT_RANGE,       /* a parent is neither -1 nor 0..J-1 */
    TPS_PARENT_CYCLE,       /* a joint is its own ancestor */
    TPS_NOT_FINITE,         /* NaN or infinity */
    TPS_LAST_ROW,           /* a matrix whose last row is not 0 0 0 1, to TPS_LAST_ROW_TOLERANCE */
    TPS_SINGULAR_BIND,      /* a bind matrix that cannot be inverted */
    TPS_SINGULAR_SPACE,     /* a space matrix that cannot be inverted */
    TPS_WEIGHT_ROWS,        /* row starts that do not begin at 0, decrease, or do not end at the number of entries */
    TPS_WEIGHT_JOINT_RANGE, /* a joint index outside 0..J-1 */
    TPS_WEIGHT_NEGATIVE,    /* a weight below zero */
    TPS_TOO_MANY_JOINTS,    /* more than 65,536 joints with weights in one skin */
    TPS_KERNEL_RANGE,       /* a kernel that this build or this machine does not have */
    TPS_SKELETON_MISMATCH   /* a skeleton with another number of joints than the skin's */
} tps_status;

/* ---- names (names.c) ------------------------------------------------------------------------------------------ */

/* Of the library that was linked: "0.1.0". */
const char *tps_version(void);

/* What a status says, for people: "a bind matrix cannot be inverted"; "unknown status" for any other number. */
const char *tps_status_text(tps_status status);

/* ---- checks (check.c) ---------------------------------------------------------------------------------------- */

/* TPS_NOT_FINITE with the first offending index in `where`, or TPS_OK. */
tps_status tps_check_finite_f64(int64_t count, const double *values, int64_t *where);
tps_status tps_check_finite_f32(int64_t count, const float *values, int64_t *where);

/* How far a last row may be from 0 0 0 1: float32 arithmetic leaves some 1e-7 in an inverse. */
#define TPS_LAST_ROW_TOLERANCE 1e-5

/* Are `count` matrices finite, with the last row 0 0 0 1? `where`: the first that is not. */
tps_status tps_check_affine(int64_t count, const double *matrices, int64_t *where);

/* ---- joint matrices (joint_matrices.c) ----------------------------------------------------------------------- */

/* The joints' numbers with every parent before its children, in order[J]. */
tps_status tps_parents_first(int32_t joint_count, const int32_t *parents, int32_t *order, int64_t *where);

/* L_j = B_p^-1 B_j (root: B_j). TPS_SINGULAR_BIND where a parent's bind cannot be inverted. `order`, below, is from
 * tps_parents_first. */
tps_status tps_bind_local(int32_t joint_count, const int32_t *parents, const double *bind, double *local,
                          int64_t *where);

/* B_j = B_p L_j (root: L_j). */
void tps_bind_world(int32_t joint_count, const int32_t *parents, const int32_t *order, const double *local,
                    double *bind);

/* W_j = W_p L_j U_j (root: L_j U_j). */
void tps_pose_world(int32_t joint_count, const int32_t *parents, const int32_t *order, const double *local,
                    const double *user, double *world);

/* U_j = (W_p L_j)^-1 W_j; the pseudo-inverse of the linear part where W_p L_j is singular. */
void tps_user_local(int32_t joint_count, const int32_t *parents, const double *world, const double *local,
                    double *user);

/* T_j = W_j B_j^-1 */
tps_status tps_skinning_matrices(int32_t joint_count, const double *world, const double *bind, double *matrices,
                                 int64_t *where);

/* W_j = T_j B_j */
void tps_world_from_skinning(int32_t joint_count, const double *matrices, const double *bind, double *world);

/* The new U of one joint after a world-space increment G: U' = (W_p L)^-1 G W_j, where `world` is the pose before it
 * (16 doubles each for increment and result). */
void tps_increment_world(int32_t joint, const int32_t *parents, const double *local, const double *world,
                         const double *increment, double *user_of_joint);

/* ---- skeleton and separation (skeleton.c, separate.c) --------------------------------------------------------- */

typedef struct tps_skeleton tps_skeleton;

/* Copies what it needs. inherits[j] != 0: joint j inherits its parent's scale (the parent is non-compensating towards
 * it); 0: the parent compensates; no meaning at a root. */
tps_status tps_skeleton_create(int32_t joint_count, const int32_t *parents, const double *bind, const uint8_t *inherits,
                               tps_skeleton **skeleton, int64_t *where);
void tps_skeleton_free(tps_skeleton *skeleton);
int32_t tps_skeleton_joint_count(const tps_skeleton *skeleton);

/* The pose of local user transforms on this skeleton: W_j = b_j U_j, where b_j is W_p L_j, but with the linear part of
 * the parent's frame without its own scale where joint j does not inherit. J matrices each. Fails only when out of
 * memory. */
tps_status tps_skeleton_pose(const tps_skeleton *skeleton, const double *user, double *world);

/* support[j] = 1 where joint j has no weight of its own but a weighted descendant: it carries transforms to it. */
void tps_support_joints(const tps_skeleton *skeleton, const uint8_t *weighted, uint8_t *support);

typedef enum tps_inherited {
    TPS_INHERITED_AFTER, /* inherited scale is a space in which the descendants bend: it acts after the rigid phase */
    TPS_INHERITED_BEFORE /* inherited scale shapes the descendants before they bend */
} tps_inherited;

/* How the pose is separated. Each array is J bytes, or NULL: weighted, every joint; nonrigid and rigid (the
 * association flags), on. A joint that is neither weighted nor a support joint is left out: it keeps its pose, all of
 * it in P, and no other joint depends on it. */
typedef struct tps_association {
    tps_inherited inherited;
    const uint8_t *weighted;
    const uint8_t *nonrigid;
    const uint8_t *rigid;
} tps_association;

/* Where the separated matrices go: J matrices each; NULL where one is not wanted.
 * Always: inherited * rigid * nonrigid = world * B^-1, and rigid is a rotation and a translation. */
typedef struct tps_separation {
    double *bind;         /* B:  the bind pose */
    double *intermediate; /* M:  the intermediate pose, after phase 1 alone */
    double *local_scale;  /* N': the joint's own scale and shear */
    double *nonrigid;     /* P:  phase 1 */
    double *rigid;        /* Q:  phase 2 */
    double *inherited;    /* E:  inherited scale, after phase 2 */
    double *world;        /* W': the pose that is shown: W, but for muted joints and their descendants */
} tps_separation;

/* Separates a pose of J matrices. Fails only when out of memory. O(J). */
tps_status tps_separate(const tps_skeleton *skeleton, const double *world, const tps_association *association,
                        const tps_separation *separation);

/* ---- skin (skin.c) -------------------------------------------------------------------------------------------- */

typedef struct tps_skin tps_skin;

/* What becomes of the sum of a row of weights. */
typedef enum tps_row_sum {
    TPS_ROW_SUM_ONE,   /* it is scaled to 1 */
    TPS_ROW_SUM_KEPT,  /* it is 1 already: rows from tps_skin_weights, taken as they are */
    TPS_ROW_SUM_GIVEN, /* it stays what it is, as UsdSkel has it: what is blended linearly is scaled by it, about the
                        * origin of the points' space, and rigid parts are not */
} tps_row_sum;

/* A mesh at rest and its weights in compressed rows: vertex i has the entries row_start[i] .. row_start[i + 1] - 1. */
typedef struct tps_mesh {
    int64_t vertex_count;
    int32_t joint_count;
    const float *points;      /* V x 3 */
    const float *normals;     /* V x 3, or NULL */
    const int64_t *row_start; /* V + 1 */
    int64_t entry_count;
    const int64_t *joints; /* a joint for each entry */
    const double *weights; /* its weight, >= 0 */
    tps_row_sum row_sum;
    int kernel; /* an index of tps_kernel_name; 0: the best */
} tps_mesh;

/* The kernels of this build that this machine can run, best first ("avx512", "avx2", "sse2", "neon", "portable"); NULL
 * past the last. They differ in speed, and in the last bits by what fused multiply-add rounds. */
const char *tps_kernel_name(int index);

/* Copies what it needs. A joint that comes twice in a row counts once, with the sum; a row without weights leaves its
 * vertex where it is. O(entries log). */
tps_status tps_skin_create(const tps_mesh *mesh, tps_skin **skin, int64_t *where);
void tps_skin_free(tps_skin *skin);
int64_t tps_skin_vertex_count(const tps_skin *skin);
int32_t tps_skin_joint_count(const tps_skin *skin);
void tps_skin_weighted(const tps_skin *skin, uint8_t *weighted); /* weighted[j] = 1 where any vertex has weight on j */

/* The skin's own rows, heaviest first: row_start[V + 1], then joints and weights for tps_skin_entry_count entries. */
int64_t tps_skin_entry_count(const tps_skin *skin);
void tps_skin_weights(const tps_skin *skin, int64_t *row_start, int64_t *joints, double *weights);

/* The points, and the normals if it has any, as the skin keeps them: V x 3 each. */
const float *tps_skin_points(const tps_skin *skin);
const float *tps_skin_normals(const tps_skin *skin);

/* ---- deformation (deform.c, tables.c, kernel.inl) ---------------------------------------------------------------- */

typedef enum tps_method { TPS_METHOD_TWO_PHASE, TPS_METHOD_LINEAR, TPS_METHOD_DUAL_QUATERNION } tps_method;

/* Where to stop. Not with TPS_METHOD_LINEAR, which has no phases. */
typedef enum tps_phase { TPS_PHASE_ALL, TPS_PHASE_NONRIGID, TPS_PHASE_RIGID } tps_phase;

/* The names that a method, a reading of inherited scale and a sum of weights have in messages, files and scripts
 * ("two_phase", "linear", "dual_quaternion"; "after", "before"; "one", "kept", "given"), by their number; NULL past the
 * last. */
const char *tps_method_name(int method);
const char *tps_inherited_name(int inherited);
const char *tps_row_sum_name(int row_sum);

/* A share of 0..1: one number for the whole mesh, or V numbers, one for each vertex. */
typedef struct tps_amount {
    const float *values; /* NULL: as if not there */
    int per_vertex;
    int64_t stride; /* floats from one frame's values to the next one's; 0: the same for all */
} tps_amount;

/* One deformation: what is asked for, and where it goes. What is left zero is off, or a default. Where an input has a
 * stride, that is how many of its elements lie from one frame's to the next one's; 0: the same for all frames. */
typedef struct tps_deform_job {
    const tps_skin *skin;
    const tps_skeleton *skeleton;
    int64_t frame_count;
    const double *world; /* frames x J matrices, in the skeleton's space */

    tps_method method;
    tps_inherited inherited;
    tps_phase phase;
    tps_amount blend;        /* 0: linear .. 1: the method; without it, 1 */
    const uint8_t *nonrigid; /* J association flags of phase 1, as in tps_association, or NULL: on */
    int64_t nonrigid_stride;
    const uint8_t *rigid; /* those of phase 2 */
    int64_t rigid_stride;
    const double *space; /* a matrix that takes the points into the skeleton's space, or NULL: the identity */
    int64_t space_stride;
    const float *points; /* V x 3, deform these instead of the points at rest, or NULL */
    int64_t points_stride;
    int threads; /* at most; 0: choose by the work, up to tps_processors */

    /* The results, for each frame; NULL where one is not wanted. Several at once share the work of blending. */
    float *points_out;           /* V x 3 positions */
    int offsets;                 /* 1: in place of positions, how far each point is from where it was */
    float *normals_out;          /* V x 3 unit normals; the skin must have normals */
    float *matrices_out;         /* V x 3 x 4: each vertex's whole deformation, as an affine matrix */
    float *inverse_matrices_out; /* V x 3 x 4: its inverse; the linear part's pseudo-inverse where that is singular */

    tps_status status; /* set by tps_deform_many */
} tps_deform_job;

/* Deforms relative to the mesh's centre, so a mesh far from the origin deforms as well as one at it. May fail with
 * TPS_NO_MEMORY, TPS_SINGULAR_SPACE or TPS_SKELETON_MISMATCH, and has written nothing then. O(frames (J + entries)). */
tps_status tps_deform(const tps_deform_job *job);

/* What tps_deform would refuse the job for: TPS_SINGULAR_SPACE, TPS_SKELETON_MISMATCH or TPS_OK. */
tps_status tps_deform_check(const tps_deform_job *job);

/* Deforms many meshes on at most so many threads (0: choose; the jobs' own numbers are not read): a large one on all of
 * them, small ones each on one. No two results may share memory. Each job's status is set. */
void tps_deform_many(tps_deform_job *jobs, int64_t count, int threads);

/* How many processors this process may use, by its affinity where the system has such: what "choose" goes up to. */
int tps_processors(void);

#ifdef __cplusplus
}
#endif
#endif
