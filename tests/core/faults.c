#ifdef TPS_TEST_FAULTS
#include "faults.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_llong alive, requests, refused_at = -1;
static atomic_int refused_kind, refuse_all;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

void faults_begin(fault kind, int64_t after, int all)
{
    requests = 0;
    refused_kind = kind;
    refuse_all = all;
    refused_at = after;
}

int64_t faults_end(void)
{
    refused_at = -1;
    return requests;
}

int64_t allocations_alive(void)
{
    return alive;
}

static int refuse(fault kind)
{
    if (refused_at < 0 || refused_kind != (int)kind) {
        return 0;
    }
    long long request = requests++;
    return refuse_all ? request >= refused_at : request == refused_at;
}

static void *counted(void *memory)
{
    alive += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return refuse(FAULT_MEMORY) ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse(FAULT_MEMORY) ? NULL : counted(__real_calloc(count, size));
}

void __wrap_free(void *memory)
{
    alive -= memory != NULL;
    __real_free(memory);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return refuse(FAULT_THREAD) ? 11 : __real_pthread_create(thread, attributes, run, argument);
}
#else
typedef int no_wrap; /* C wants a file to declare something */
#endif
