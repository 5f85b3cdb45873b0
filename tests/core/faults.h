/* Allocations and threads that fail when a test wants them to. Linked in with the linker's --wrap, where it has that;
 * see tools/test_core.sh. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdint.h>

typedef enum fault { FAULT_MEMORY, FAULT_THREAD } fault;

/* From now on the `after`-th request (0: the next) is refused, and with `all` those that follow it. */
void faults_begin(fault kind, int64_t after, int all);

/* Ends it; how many requests there were. */
int64_t faults_end(void);

/* Allocations that were made and not given back. */
int64_t allocations_alive(void);

#endif
