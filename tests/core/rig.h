/* Random skeletons, poses and meshes. */
#ifndef RIG_H
#define RIG_H

#include "checks.h"
#include "tps.h"

/* How a pose is made; each takes in the ones before it. */
typedef enum pose_kind { POSE_RIGID, POSE_SCALED, POSE_MIRRORED, POSE_FLAT } pose_kind;

typedef struct rig {
    int32_t joint_count;
    int32_t *parents; /* in no order: a parent may have a higher number than its child */
    double *bind;     /* rigid, or with a scale too */
    uint8_t *inherits;
    double *world;
    int64_t vertex_count;
    float *points, *normals;
    int64_t *row_start, *joints;
    double *weights;
    tps_mesh mesh; /* of the arrays above */
    tps_skeleton *skeleton;
    tps_skin *skin;
} rig;

typedef struct rig_options {
    uint64_t seed;
    int32_t joints;
    int64_t vertices;
    int most_influences; /* 0..this many for a vertex; negative: exactly that many, for all */
    int compensating;    /* 1: no joint inherits; -1: all do; 0: by chance */
    int scaled_bind;
    pose_kind pose;
} rig_options;

/* Makes skeleton and skin too; ends the program where the core refuses. */
rig rig_make(const rig_options *options);
void rig_free(rig *r);

/* The largest number in its matrices, at rest and posed: what errors are measured by. */
double rig_size(const rig *r);

/* One result of a deformation, and how many floats of it a vertex has. */
typedef enum wanted { POINTS, OFFSETS, NORMALS, MATRICES, INVERSE_MATRICES, ALL_WANTED } wanted;
int64_t wanted_width(wanted what);
tps_status deform_to(const tps_skin *skin, const tps_skeleton *skeleton, const tps_deform_job *job, wanted what,
                     float *out);

/* Matrices of 16 doubles. */
void matrix_multiply(const double *a, const double *b, double *ab);
void matrix_apply(const double *m, const double *point, double *to);
void matrix_random(chance *c, pose_kind kind, double *m);

#endif
