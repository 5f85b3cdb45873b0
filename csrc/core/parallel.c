/* A few lines of threads. They live for one call: nothing to shut down, nothing that a fork could leave locked. */
#include "internal.h"

#include <stdatomic.h>
#include <stdlib.h>

#ifdef _WIN32
#include <process.h>
#include <windows.h>
typedef HANDLE thread;
typedef unsigned thread_result;
#define THREAD_CALL __stdcall
#else
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
typedef pthread_t thread;
typedef void *thread_result;
#define THREAD_CALL
#endif

typedef struct shared {
    const tps_work *works;
    int work_count;
    void *context;
    struct {
        atomic_llong next, done;
    } items[TPS_MOST_WORKS];
} shared;

typedef struct worker {
    shared *job;
    int number;
} worker;

static void give_way(void)
{
#ifdef _WIN32
    SwitchToThread();
#else
    sched_yield();
#endif
}

/* Threads wait awake: what they wait for is short, and they are started while it is done. */
static void wait_for(atomic_llong *done, int64_t items)
{
    while (atomic_load_explicit(done, memory_order_acquire) < items) {
        give_way();
    }
}

static void take_items(shared *job, int number)
{
    for (int w = 0; w < job->work_count; w++) {
        const tps_work *work = &job->works[w];
        int64_t item;
        if (w > 0) {
            wait_for(&job->items[w - 1].done, job->works[w - 1].items);
        }
        while ((item = atomic_fetch_add_explicit(&job->items[w].next, 1, memory_order_relaxed)) < work->items) {
            work->run(job->context, item, number);
            atomic_fetch_add_explicit(&job->items[w].done, 1, memory_order_release);
        }
    }
}

static thread_result THREAD_CALL run(void *argument)
{
    worker *w = argument;
    take_items(w->job, w->number);
    return 0;
}

static int start(thread *t, worker *w)
{
#ifdef _WIN32
    *t = (HANDLE)_beginthreadex(NULL, 0, run, w, 0, NULL);
    return *t != 0;
#else
    return pthread_create(t, NULL, run, w) == 0;
#endif
}

static void join(thread t)
{
#ifdef _WIN32
    WaitForSingleObject(t, INFINITE);
    CloseHandle(t);
#else
    pthread_join(t, NULL);
#endif
}

void tps_parallel(const tps_work *works, int work_count, int threads, void *context)
{
    shared job = {.works = works, .work_count = work_count, .context = context};
    int64_t most = 0;
    for (int w = 0; w < work_count; w++) {
        atomic_init(&job.items[w].next, 0);
        atomic_init(&job.items[w].done, 0);
        most = works[w].items > most ? works[w].items : most;
    }
    thread started[TPS_MOST_THREADS];
    worker workers[TPS_MOST_THREADS];
    int running = 0;
    while (running + 1 < threads && running + 1 < most) {
        workers[running] = (worker){&job, running + 1};
        if (!start(&started[running], &workers[running])) {
            break;
        }
        running++;
    }
    take_items(&job, 0);
    while (running > 0) {
        join(started[--running]);
    }
}

int tps_processors(void)
{
#ifdef _WIN32
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return (int)info.dwNumberOfProcessors;
#else
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (int)count;
#endif
}
