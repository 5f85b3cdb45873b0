/* Counts allocations and thread starts of the process that it is preloaded into (LD_PRELOAD, glibc). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long allocations, bytes, threads;

static void count(size_t size)
{
    atomic_fetch_add(&allocations, 1);
    atomic_fetch_add(&bytes, (long)size);
}

void *malloc(size_t size)
{
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size)
{
    count(items * size);
    return __libc_calloc(items, size);
}

void *realloc(void *old, size_t size)
{
    count(size);
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    *result = memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    atomic_fetch_add(&threads, 1);
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, start, argument);
}

void counts(long result[3])
{
    result[0] = allocations;
    result[1] = bytes;
    result[2] = threads;
}
