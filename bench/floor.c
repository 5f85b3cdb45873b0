/* The memory floor: reads what skinning a vertex with 4 influences reads (12 bytes of position, 8 of joints, 16 of
 * weights), writes the 12 bytes that it writes, and computes next to nothing. */
#include <pthread.h>
#include <stdint.h>

#define MOST_THREADS 64
#define BLOCK 256 /* vertices: few enough to stay in the nearest cache, many enough for wide loads */

typedef struct part {
    int64_t from, to;
    const float *points;
    const uint16_t *joints;
    const float *weights;
    float *out;
} part;

static void copy_block(const part *p, int64_t from, int64_t to)
{
    float sum = 0;
    uint16_t seen = 0;
    for (int64_t i = 4 * from; i < 4 * to; i++) {
        sum += p->weights[i];
        seen ^= p->joints[i];
    }
    sum += seen;
    for (int64_t i = 3 * from; i < 3 * to; i++) {
        p->out[i] = p->points[i] + sum;
    }
}

static void *copy(void *argument)
{
    const part *p = argument;
    for (int64_t from = p->from; from < p->to; from += BLOCK) {
        copy_block(p, from, from + BLOCK < p->to ? from + BLOCK : p->to);
    }
    return 0;
}

void copy_vertices(int64_t vertices, const float *points, const uint16_t *joints, const float *weights, float *out,
                   int threads)
{
    pthread_t started[MOST_THREADS];
    part parts[MOST_THREADS];
    for (int t = 0; t < threads; t++) {
        parts[t] = (part){vertices * t / threads, vertices * (t + 1) / threads, points, joints, weights, out};
        if (t > 0) {
            pthread_create(&started[t], 0, copy, &parts[t]);
        }
    }
    copy(&parts[0]);
    for (int t = 1; t < threads; t++) {
        pthread_join(started[t], 0);
    }
}
