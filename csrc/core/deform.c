/* Frames in, vertices out: makes the tables of a batch of frames, then runs the kernel over blocks of vertices. */
#include "kernel.h"

#include <stdlib.h>

#define WORK_A_THREAD 131072.0 /* blended influences worth the start of a thread: some 0.2 ms of them */
#define BATCH 64               /* frames whose tables are kept at the same time */

typedef struct deformation {
    const tps_skin *skin;
    const tps_skeleton *skeleton;
    const tps_pose *pose;
    tps_result result;
    float *out;
    tps_space space;
    int64_t first_frame; /* of the batch */
    tps_tables *tables;  /* one a frame of the batch */
    tps_joint *joints;   /* J for each thread */
} deformation;

static void prepare_frame(void *context, int64_t item, int worker)
{
    const deformation *d = context;
    int64_t joint_count = d->skin->joint_count;
    const double *world = d->pose->world + 16 * joint_count * (d->first_frame + item);
    tps_tables_make(d->skin, d->skeleton, d->pose, world, &d->space, d->joints + joint_count * worker,
                    &d->tables[item]);
}

static void deform_block(void *context, int64_t item, int worker)
{
    (void)worker;
    const deformation *d = context;
    const tps_skin *skin = d->skin;
    int64_t frame = item / skin->block_count, width = d->result == TPS_POINTS || d->result == TPS_NORMALS ? 3 : 12;
    int64_t frame_of_all = d->first_frame + frame;
    tps_kernel_job job = {.skin = skin,
                          .tables = &d->tables[frame],
                          .result = d->result,
                          .points = skin->points,
                          .normals = skin->normals,
                          .blend = d->pose->blend,
                          .blend_per_vertex = d->pose->blend_per_vertex,
                          .out = d->out + frame_of_all * skin->vertex_count * width};
    if (d->pose->points) {
        job.points = d->pose->points + frame_of_all * d->pose->points_stride;
    }
    skin->kernel(&job, item % skin->block_count);
}

static int choose_threads(const tps_skin *skin, const tps_pose *pose)
{
    if (pose->threads > 0) {
        return pose->threads < TPS_MOST_THREADS ? pose->threads : TPS_MOST_THREADS;
    }
    double work = (double)skin->entry_count * (double)pose->frame_count;
    double worthwhile = work / WORK_A_THREAD, most = tps_processors();
    return worthwhile < 1 ? 1 : (int)(worthwhile < most ? worthwhile : most);
}

/* The tables of `frames` frames in one allocation, each array behind the other. */
static float *allocate_tables(tps_tables *tables, int64_t frames, int64_t joints)
{
    float *floats = tps_allocate(frames * joints, TPS_TABLE_FLOATS * sizeof *floats);
    for (int64_t f = 0; floats && f < frames; f++) {
        float *at = floats + f * joints * TPS_TABLE_FLOATS;
        tables[f].nonrigid = at;
        tables[f].inherited = at + TPS_MATRIX_FLOATS * joints;
        tables[f].straight = at + 2 * TPS_MATRIX_FLOATS * joints;
        tables[f].rigid = at + 3 * TPS_MATRIX_FLOATS * joints;
    }
    return floats;
}

tps_status tps_skin_deform(const tps_skin *skin, const tps_skeleton *skeleton, const tps_pose *pose, tps_result result,
                           float *out)
{
    deformation d = {.skin = skin, .skeleton = skeleton, .pose = pose, .result = result, .out = out};
    tps_status status = tps_space_make(pose->space, &d.space);
    if (status != TPS_OK) {
        return status;
    }
    int threads = choose_threads(skin, pose);
    int64_t batch = pose->frame_count < BATCH ? pose->frame_count : BATCH;
    tps_tables tables[BATCH];
    d.tables = tables;
    d.joints = tps_allocate((int64_t)skin->joint_count * threads, sizeof *d.joints);
    float *floats = allocate_tables(tables, batch, skin->used_count);
    if (!d.joints || !floats) {
        free(d.joints);
        free(floats);
        return TPS_NO_MEMORY;
    }
    for (; d.first_frame < pose->frame_count; d.first_frame += batch) {
        int64_t left = pose->frame_count - d.first_frame, frames = left < batch ? left : batch;
        tps_parallel(frames, frames < threads ? (int)frames : threads, prepare_frame, &d);
        int64_t items = frames * skin->block_count;
        tps_parallel(items, items < threads ? (int)items : threads, deform_block, &d);
    }
    free(d.joints);
    free(floats);
    return TPS_OK;
}
