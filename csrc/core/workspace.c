#include "workspace.h"
#include "allocate.h"

#include <stdatomic.h>
#include <stdlib.h>

#define LINE 64
#define KEPT_AT_MOST ((size_t)1 << 22) /* bytes: what a long stack of frames took is given back */

typedef struct allocation {
    size_t size; /* of the memory behind this header */
} allocation;

struct tps_workspace {
    _Atomic(allocation *) kept;
};

tps_workspace *tps_workspace_create(void)
{
    tps_workspace *workspace = tps_allocate(1, sizeof *workspace);
    if (workspace) {
        atomic_init(&workspace->kept, NULL);
    }
    return workspace;
}

void tps_workspace_free(tps_workspace *workspace)
{
    if (workspace) {
        free(atomic_load(&workspace->kept));
        free(workspace);
    }
}

/* A allocation's memory begins at a line's begin behind the header; the byte before it says how far behind. */
static void *memory_of(allocation *b)
{
    unsigned char *after = (unsigned char *)(b + 1);
    size_t offset = LINE - (uintptr_t)after % LINE; /* 1..LINE */
    after[offset - 1] = (unsigned char)offset;
    return after + offset;
}

static allocation *allocation_of(void *memory)
{
    unsigned char *at = memory;
    return (allocation *)(void *)(at - at[-1]) - 1;
}

void *tps_workspace_take(tps_workspace *workspace, size_t size)
{
    allocation *b = atomic_exchange(&workspace->kept, NULL);
    if (b && b->size >= size) {
        return memory_of(b);
    }
    free(b);
    b = size < PTRDIFF_MAX - LINE - sizeof *b ? tps_allocate((int64_t)(sizeof *b + LINE + size), 1) : NULL;
    if (!b) {
        return NULL;
    }
    b->size = size;
    return memory_of(b);
}

void tps_workspace_return(tps_workspace *workspace, void *memory)
{
    allocation *b = allocation_of(memory);
    free(b->size <= KEPT_AT_MOST ? atomic_exchange(&workspace->kept, b) : b);
}
