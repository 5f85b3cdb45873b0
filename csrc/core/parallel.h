/* Work spread over threads. Internal. */
#ifndef TPS_PARALLEL_H
#define TPS_PARALLEL_H

#include <stdint.h>

/* One thing to do to many items: run(context, item, worker) for each item 0..items-1; worker is 0..threads-1. */
typedef struct tps_work {
    int64_t items;
    void (*run)(void *context, int64_t item, int worker);
} tps_work;

/* Does one work after the other, each on all threads: on `threads` of them, at most TPS_MOST_THREADS and not more than
 * there are items, of which the caller is one. An item of the next work begins when all of the last one are done. Falls
 * back to fewer threads where one cannot be started, so it cannot fail. */
#define TPS_MOST_THREADS 256
#define TPS_MOST_WORKS 2
void tps_parallel(const tps_work *works, int work_count, int threads, void *context);

#endif
