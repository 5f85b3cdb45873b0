/* A few lines of threads. They live for one call: nothing to shut down, nothing that a fork could leave locked. */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "parallel.h"
#include "tps.h"

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
#include <time.h>
#include <unistd.h>
typedef pthread_t thread;
typedef void *thread_result;
#define THREAD_CALL
#endif

#define LINE 64 /* bytes of a cache line */

/* What one thread takes of a work: neighbouring items, so that from call to call it meets its own memory again. When it
 * has no more, it takes from the others' slices. Each slice has a cache line to itself. */
typedef struct slice {
    _Alignas(LINE) atomic_llong next;
    int64_t end;
    atomic_llong done; /* items that this thread has done, of any slice */
} slice;

_Static_assert(_Alignof(slice) == LINE && sizeof(slice) == LINE, "a slice is a cache line");

typedef struct shared {
    const tps_work *works;
    int work_count, threads;
    void *context;
    slice *slices; /* work_count x threads */
} shared;

typedef struct worker {
    shared *job;
    int number;
} worker;

/* What is waited for is short, so a thread first stays awake; but it may share its processor with the one that it waits
 * for, and then it must sleep. */
static void wait_a_little(int *waited)
{
    enum { AWAKE = 256 };
    if ((*waited)++ < AWAKE) {
#ifdef _WIN32
        SwitchToThread();
#else
        sched_yield();
#endif
        return;
    }
#ifdef _WIN32
    Sleep(1);
#else
    const struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
#endif
}

static int64_t items_done(const slice *slices, int threads)
{
    int64_t done = 0;
    for (int t = 0; t < threads; t++) {
        done += atomic_load_explicit(&slices[t].done, memory_order_acquire);
    }
    return done;
}

static void take_items(shared *job, int number)
{
    for (int w = 0; w < job->work_count; w++) {
        const tps_work *work = &job->works[w];
        slice *slices = job->slices + w * job->threads;
        int waited = 0;
        while (w > 0 && items_done(slices - job->threads, job->threads) < job->works[w - 1].items) {
            wait_a_little(&waited);
        }
        for (int t = 0; t < job->threads; t++) {
            slice *from = &slices[(number + t) % job->threads];
            int64_t item;
            while ((item = atomic_fetch_add_explicit(&from->next, 1, memory_order_relaxed)) < from->end) {
                work->run(job->context, item, number);
                atomic_fetch_add_explicit(&slices[number].done, 1, memory_order_release);
            }
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

static void deal_out(shared *job)
{
    for (int w = 0; w < job->work_count; w++) {
        int64_t items = job->works[w].items;
        for (int t = 0; t < job->threads; t++) {
            slice *s = &job->slices[w * job->threads + t];
            atomic_init(&s->next, items * t / job->threads);
            s->end = items * (t + 1) / job->threads;
            atomic_init(&s->done, 0);
        }
    }
}

void tps_parallel(const tps_work *works, int work_count, int threads, void *context)
{
    slice slices[TPS_MOST_WORKS * TPS_MOST_THREADS];
    int64_t most = 1;
    for (int w = 0; w < work_count; w++) {
        most = works[w].items > most ? works[w].items : most;
    }
    shared job = {works, work_count, threads < most ? threads : (int)most, context, slices};
    deal_out(&job);
    thread started[TPS_MOST_THREADS];
    worker workers[TPS_MOST_THREADS];
    int running = 0;
    while (running + 1 < job.threads) {
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

#ifdef __linux__
/* 0 where it cannot be said: the kernel's set is larger than this one. */
static int processors_by_affinity(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}
#elif defined(_WIN32)
static int processors_by_affinity(void)
{
    DWORD_PTR process, system;
    return GetProcessAffinityMask(GetCurrentProcess(), &process, &system) ? __builtin_popcountll(process) : 0;
}
#else
static int processors_by_affinity(void)
{
    return 0;
}
#endif

int tps_processors(void)
{
    int allowed = processors_by_affinity();
    if (allowed > 0) {
        return allowed;
    }
#ifdef _WIN32
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return (int)info.dwNumberOfProcessors;
#else
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (int)count;
#endif
}
