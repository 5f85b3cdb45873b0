/* Frames in, vertices out: makes the tables of a batch of frames, then runs the kernel over blocks of vertices. */
#include "kernel.h"

#define WORK_A_THREAD 131072.0 /* blended influences worth the start of a thread: some 0.2 ms of them */
#define BATCH 64               /* frames whose tables are kept at the same time */

typedef struct deformation {
    const tps_skin *skin;
    const tps_skeleton *skeleton;
    const tps_pose *pose;
    const tps_results *results;
    tps_space space;
    int64_t first_frame; /* of the batch */
    tps_tables *tables;  /* one a frame of the batch */
    char *scratch;       /* tps_scratch_size for each thread, or for each frame where these are fewer */
    int scratch_by_frame;
} deformation;

static void prepare_frame(void *context, int64_t item, int worker)
{
    const deformation *d = context;
    int64_t joint_count = d->skin->joint_count;
    const double *world = d->pose->world + 16 * joint_count * (d->first_frame + item);
    size_t copy = (size_t)(d->scratch_by_frame ? item : worker);
    void *scratch = d->scratch + tps_scratch_size(d->skin->joint_count) * copy;
    tps_tables_make(d->skin, d->skeleton, d->pose, world, &d->space, scratch, &d->tables[item]);
}

static float *advanced(float *out, int64_t floats)
{
    return out ? out + floats : NULL;
}

static tps_results results_of_frame(const deformation *d, int64_t frame)
{
    int64_t first = frame * d->skin->vertex_count;
    tps_results r = *d->results;
    r.points = advanced(r.points, 3 * first);
    r.normals = advanced(r.normals, 3 * first);
    r.matrices = advanced(r.matrices, 12 * first);
    r.inverse_matrices = advanced(r.inverse_matrices, 12 * first);
    return r;
}

static void deform_block(void *context, int64_t item, int worker)
{
    (void)worker;
    const deformation *d = context;
    const tps_skin *skin = d->skin;
    int64_t frame = item / skin->block_count, frame_of_all = d->first_frame + frame;
    tps_kernel_job job = {.skin = skin,
                          .tables = &d->tables[frame],
                          .points = skin->points,
                          .blend = d->pose->blend,
                          .blend_per_vertex = d->pose->blend_per_vertex,
                          .out = results_of_frame(d, frame_of_all)};
    if (d->pose->points) {
        job.points = d->pose->points + frame_of_all * d->pose->points_stride;
    }
    skin->kernel(&job, item % skin->block_count);
}

/* Blended influences. */
static double work_of(const tps_skin *skin, const tps_pose *pose)
{
    return (double)skin->entry_count * (double)pose->frame_count;
}

static int choose_threads(double work, int wanted)
{
    if (wanted > 0) {
        return wanted < TPS_MOST_THREADS ? wanted : TPS_MOST_THREADS;
    }
    double worthwhile = work / WORK_A_THREAD, most = tps_processors();
    return worthwhile < 1 ? 1 : (int)(worthwhile < most ? worthwhile : most);
}

/* The floats of one frame's table, with room for every stage. */
static int64_t table_floats(const tps_skin *skin)
{
    return (int64_t)skin->used_count * TPS_STAGES * TPS_PART_FLOATS;
}

/* What a call works in: scratch, in so many copies, and the tables of a batch of frames. */
static size_t workspace_size(const tps_skin *skin, int64_t copies, int64_t batch)
{
    size_t scratch = tps_scratch_size(skin->joint_count) * (size_t)copies;
    return scratch + (size_t)(batch * table_floats(skin)) * sizeof(float);
}

/* The tables first: they are the ones to lie on whole cache lines. */
static void lay_out(deformation *d, int64_t batch, void *memory)
{
    float *rows = memory;
    for (int64_t f = 0; f < batch; f++, rows += table_floats(d->skin)) {
        d->tables[f].rows = rows;
    }
    d->scratch = (char *)rows;
}

tps_status tps_skin_deform(const tps_skin *skin, const tps_skeleton *skeleton, const tps_pose *pose,
                           const tps_results *results)
{
    if (skeleton->joint_count != skin->joint_count) {
        return TPS_SKELETON_MISMATCH;
    }
    tps_tables tables[BATCH];
    deformation d = {.skin = skin, .skeleton = skeleton, .pose = pose, .results = results, .tables = tables};
    tps_status status = tps_space_make(pose->space, &d.space);
    if (status != TPS_OK) {
        return status;
    }
    int threads = choose_threads(work_of(skin, pose), pose->threads);
    int64_t batch = pose->frame_count < BATCH ? pose->frame_count : BATCH;
    d.scratch_by_frame = batch < threads;
    size_t size = workspace_size(skin, d.scratch_by_frame ? batch : threads, batch);
    void *memory = tps_workspace_take(skin->workspace, size);
    if (!memory) {
        return TPS_NO_MEMORY;
    }
    lay_out(&d, batch, memory);
    for (; d.first_frame < pose->frame_count; d.first_frame += batch) {
        int64_t left = pose->frame_count - d.first_frame, frames = left < batch ? left : batch;
        const tps_work works[] = {{frames, prepare_frame}, {frames * skin->block_count, deform_block}};
        tps_parallel(works, 2, threads, &d);
    }
    tps_workspace_return(skin->workspace, memory);
    return TPS_OK;
}

static int is_large(const tps_task *task)
{
    return work_of(task->skin, &task->pose) >= 2 * WORK_A_THREAD;
}

static void deform_task(tps_task *task, int threads)
{
    tps_pose pose = task->pose;
    pose.threads = threads;
    task->status = tps_skin_deform(task->skin, task->skeleton, &pose, &task->results);
}

static void deform_small(void *context, int64_t item, int worker)
{
    (void)worker;
    tps_task *task = (tps_task *)context + item;
    if (!is_large(task)) {
        deform_task(task, 1);
    }
}

void tps_deform_many(tps_task *tasks, int64_t count, int threads)
{
    double small_work = 0;
    for (int64_t i = 0; i < count; i++) {
        if (is_large(&tasks[i])) {
            deform_task(&tasks[i], threads);
        } else {
            small_work += work_of(tasks[i].skin, &tasks[i].pose);
        }
    }
    const tps_work work = {count, deform_small};
    tps_parallel(&work, 1, choose_threads(small_work, threads), tasks);
}
