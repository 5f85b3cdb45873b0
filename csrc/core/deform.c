/* Frames in, vertices out: makes the tables of a batch of frames, then runs the kernel over blocks of vertices. */
#include "kernel.h"
#include "parallel.h"

#define WORK_A_THREAD 131072.0 /* blended influences worth the start of a thread: some 0.2 ms of them */
#define BATCH 64               /* frames whose tables are kept at the same time */

typedef struct deformation {
    const tps_deform_job *job;
    int64_t first_frame; /* of the batch */
    tps_tables *tables;  /* one a frame of the batch */
    char *scratch;       /* tps_scratch_size for each thread, or for each frame where these are fewer */
    int scratch_by_frame;
} deformation;

static void prepare_frame(void *context, int64_t item, int worker)
{
    const deformation *d = context;
    size_t copy = (size_t)(d->scratch_by_frame ? item : worker);
    void *scratch = d->scratch + tps_scratch_size(d->job->skin->joint_count) * copy;
    tps_tables_make(d->job, d->first_frame + item, scratch, &d->tables[item]);
}

static float *advanced(float *out, int64_t floats)
{
    return out ? out + floats : NULL;
}

static void deform_block(void *context, int64_t item, int worker)
{
    (void)worker;
    const deformation *d = context;
    const tps_deform_job *job = d->job;
    const tps_skin *skin = job->skin;
    int64_t frame_of_batch = item / skin->block_count, frame = d->first_frame + frame_of_batch;
    int64_t vertices = frame * skin->vertex_count;
    tps_kernel_job of_frame = {.skin = skin,
                               .tables = &d->tables[frame_of_batch],
                               .points = job->points ? job->points + frame * job->points_stride : skin->points,
                               .blend = job->blend,
                               .offsets = job->offsets,
                               .points_out = advanced(job->points_out, 3 * vertices),
                               .normals_out = advanced(job->normals_out, 3 * vertices),
                               .matrices_out = advanced(job->matrices_out, 12 * vertices),
                               .inverse_matrices_out = advanced(job->inverse_matrices_out, 12 * vertices)};
    if (job->blend.values) {
        of_frame.blend.values += frame * job->blend.stride;
    }
    skin->kernel(&of_frame, item % skin->block_count);
}

/* Blended influences. */
static double work_of(const tps_deform_job *job)
{
    return (double)job->skin->entry_count * (double)job->frame_count;
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
    return (int64_t)skin->used_count * TPS_STAGES * TPS_SEGMENT_FLOATS;
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
    for (int64_t f = 0; f < batch; f++, rows += table_floats(d->job->skin)) {
        d->tables[f].rows = rows;
    }
    d->scratch = (char *)rows;
}

tps_status tps_deform_check(const tps_deform_job *job)
{
    if (job->skeleton->joint_count != job->skin->joint_count) {
        return TPS_SKELETON_MISMATCH;
    }
    int64_t spaces = !job->space ? 0 : job->space_stride ? job->frame_count : 1;
    for (int64_t f = 0; f < spaces; f++) {
        tps_space space;
        tps_status status = tps_space_make(job->space + f * job->space_stride, &space);
        if (status != TPS_OK) {
            return status;
        }
    }
    return TPS_OK;
}

static tps_status deform_on(const tps_deform_job *job, int wanted_threads)
{
    tps_status status = tps_deform_check(job);
    if (status != TPS_OK) {
        return status;
    }
    tps_tables tables[BATCH];
    deformation d = {.job = job, .tables = tables};
    const tps_skin *skin = job->skin;
    int threads = choose_threads(work_of(job), wanted_threads);
    int64_t batch = job->frame_count < BATCH ? job->frame_count : BATCH;
    d.scratch_by_frame = batch < threads;
    size_t size = workspace_size(skin, d.scratch_by_frame ? batch : threads, batch);
    void *memory = tps_workspace_take(skin->workspace, size);
    if (!memory) {
        return TPS_NO_MEMORY;
    }
    lay_out(&d, batch, memory);
    for (; d.first_frame < job->frame_count; d.first_frame += batch) {
        int64_t left = job->frame_count - d.first_frame, frames = left < batch ? left : batch;
        const tps_work works[] = {{frames, prepare_frame}, {frames * skin->block_count, deform_block}};
        tps_parallel(works, 2, threads, &d);
    }
    tps_workspace_return(skin->workspace, memory);
    return TPS_OK;
}

tps_status tps_deform(const tps_deform_job *job)
{
    return deform_on(job, job->threads);
}

static int is_large(const tps_deform_job *job)
{
    return work_of(job) >= 2 * WORK_A_THREAD;
}

static void deform_small(void *context, int64_t item, int worker)
{
    (void)worker;
    tps_deform_job *job = (tps_deform_job *)context + item;
    if (!is_large(job)) {
        job->status = deform_on(job, 1);
    }
}

void tps_deform_many(tps_deform_job *jobs, int64_t count, int threads)
{
    double small_work = 0;
    for (int64_t i = 0; i < count; i++) {
        if (is_large(&jobs[i])) {
            jobs[i].status = deform_on(&jobs[i], threads);
        } else {
            small_work += work_of(&jobs[i]);
        }
    }
    const tps_work work = {count, deform_small};
    tps_parallel(&work, 1, choose_threads(small_work, threads), jobs);
}
