/* The separation of ordinary poses by closed forms. Internal. */
#ifndef TPS_REGULAR_H
#define TPS_REGULAR_H

#include "pack.h"

/* The separation of a regular pose: w, p, q, n, head, and e where some joint inherits. 0 for other poses. */
int tps_regular_maps(const tps_skeleton *s, const double *world, const tps_association *a, const uint8_t *flags,
                     tps_maps *maps);

#endif
