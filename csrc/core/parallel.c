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
#include <unistd.h>
typedef pthread_t thread;
typedef void *thread_result;
#define THREAD_CALL
#endif

typedef struct shared {
    tps_work work;
    void *context;
    int64_t items;
    atomic_llong next;
} shared;

typedef struct worker {
    shared *job;
    int number;
} worker;

static void take_items(shared *job, int number)
{
    for (;;) {
        int64_t item = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (item >= job->items) {
            return;
        }
        job->work(job->context, item, number);
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

void tps_parallel(int64_t items, int threads, tps_work work, void *context)
{
    shared job = {.work = work, .context = context, .items = items};
    atomic_init(&job.next, 0);
    thread started[TPS_MOST_THREADS];
    worker workers[TPS_MOST_THREADS];
    int running = 0;
    while (running + 1 < threads) {
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
