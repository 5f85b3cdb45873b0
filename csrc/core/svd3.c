#include "svd3.h"

#include <float.h>

static void rotate_columns(mat3 *a, int p, int q, double c, double s)
{
    for (int i = 0; i < 3; i++) {
        double x = a->m[i][p], y = a->m[i][q];
        a->m[i][p] = c * x - s * y;
        a->m[i][q] = s * x + c * y;
    }
}

/* Makes columns p and q of w orthogonal; 0 where they are already, to rounding. */
static int orthogonalise(svd3 *d, int p, int q)
{
    vec3 a = mat3_column(&d->w, p), b = mat3_column(&d->w, q);
    double aa = vec3_dot(a, a), bb = vec3_dot(b, b), ab = vec3_dot(a, b);
    if (!(fabs(ab) > DBL_EPSILON * sqrt(aa) * sqrt(bb))) {
        return 0;
    }
    double zeta = (bb - aa) / (2 * ab); /* an infinite one gives t = 0 */
    double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    double c = 1 / sqrt(1 + t * t);
    rotate_columns(&d->w, p, q, c, c * t);
    rotate_columns(&d->v, p, q, c, c * t);
    return 1;
}

static void order_columns(svd3 *d, int p, int q)
{
    if (d->sigma[p] >= d->sigma[q]) {
        return;
    }
    double sigma = d->sigma[p];
    d->sigma[p] = d->sigma[q];
    d->sigma[q] = sigma;
    rotate_columns(&d->w, p, q, 0, 1); /* a quarter turn swaps them and keeps v proper */
    rotate_columns(&d->v, p, q, 0, 1);
}

svd3 tps_svd3(const mat3 *a)
{
    svd3 d = {.scale = mat3_largest(a), .v = MAT3_ONE};
    if (d.scale == 0 || !isfinite(d.scale)) {
        return d;
    }
    for (int i = 0; i < 9; i++) {
        d.w.m[i / 3][i % 3] = a->m[i / 3][i % 3] / d.scale;
    }
    for (int sweep = 0, busy = 1; busy && sweep < 30; sweep++) {
        busy = orthogonalise(&d, 0, 1);
        busy |= orthogonalise(&d, 0, 2);
        busy |= orthogonalise(&d, 1, 2);
    }
    for (int k = 0; k < 3; k++) {
        vec3 column = mat3_column(&d.w, k);
        d.sigma[k] = sqrt(vec3_dot(column, column));
    }
    order_columns(&d, 0, 1);
    order_columns(&d, 0, 2);
    order_columns(&d, 1, 2);
    return d;
}
