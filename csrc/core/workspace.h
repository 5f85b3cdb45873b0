/* The memory that a deformation works in. Internal. */
#ifndef TPS_WORKSPACE_H
#define TPS_WORKSPACE_H

#include <stddef.h>

/* Keeps the block of the last call for the next one, so that frame after frame needs no allocation. Any number of
 * threads may take at the same time: the first gets the block that is kept, the others get new ones. */
typedef struct tps_workspace tps_workspace;

tps_workspace *tps_workspace_create(void);
void tps_workspace_free(tps_workspace *workspace);

/* At least `size` bytes, aligned to cache lines, or NULL. */
void *tps_workspace_take(tps_workspace *workspace, size_t size);
void tps_workspace_return(tps_workspace *workspace, void *memory);

#endif
