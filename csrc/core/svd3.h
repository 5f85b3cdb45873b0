/* The singular value decomposition of a 3x3 matrix. Internal. */
#ifndef TPS_SVD3_H
#define TPS_SVD3_H

#include "affine.h"

/* A singular value at most this times the largest counts as zero. */
#define SINGULAR 1e-9

/* a = scale * sum_k sigma[k] u_k v_k^T, sigma descending, v a proper rotation, w column k = sigma[k] u_k. */
typedef struct svd3 {
    double scale;
    double sigma[3];
    mat3 w;
    mat3 v;
} svd3;

/* One-sided Jacobi (Hestenes 1958): accurate for small singular values too, and bounded whatever the input. */
svd3 tps_svd3(const mat3 *a);

#endif
