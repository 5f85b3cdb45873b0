#include "inverse.h"
#include "svd3.h"

double tps_mat3_conditioning(const mat3 *a)
{
    double scale = mat3_largest(a);
    return scale > 1e-60 && scale < 1e60 ? mat3_determinant(a) / (scale * scale * scale) : 0;
}

int tps_mat3_singular(const mat3 *a)
{
    /* sigma_3 / sigma_1 >= |det| / |a|^3, and |a| <= 3 times the largest entry: settles the ordinary case. */
    if (fabs(tps_mat3_conditioning(a)) > 1e-6) {
        return 0;
    }
    svd3 d = tps_svd3(a);
    return d.sigma[2] <= SINGULAR * d.sigma[0];
}

static mat3 pseudo_inverse(const mat3 *a)
{
    svd3 d = tps_svd3(a);
    mat3 inverse = {{{0}}};
    for (int k = 0; k < 3; k++) {
        if (d.sigma[k] <= SINGULAR * d.sigma[0]) {
            continue;
        }
        for (int i = 0; i < 9; i++) {
            double u = d.w.m[i % 3][k] / d.sigma[k];
            inverse.m[i / 3][i % 3] += d.v.m[i / 3][k] * u / (d.sigma[k] * d.scale);
        }
    }
    return inverse;
}

static void swap_rows(double a[3][6], int p, int q)
{
    for (int k = 0; k < 6; k++) {
        double t = a[p][k];
        a[p][k] = a[q][k];
        a[q][k] = t;
    }
}

/* Gauss-Jordan with row pivots: its error grows with the condition, where the cofactors' grows with its square. */
static mat3 regular_inverse(const mat3 *m)
{
    double a[3][6] = {{0}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            a[i][k] = m->m[i][k];
        }
        a[i][3 + i] = 1;
    }
    for (int c = 0; c < 3; c++) {
        int pivot = c;
        for (int r = c + 1; r < 3; r++) {
            pivot = fabs(a[r][c]) > fabs(a[pivot][c]) ? r : pivot;
        }
        swap_rows(a, c, pivot);
        for (int k = 5; k >= c; k--) {
            a[c][k] /= a[c][c];
        }
        for (int r = 0; r < 3; r++) {
            for (int k = 5; r != c && k >= c; k--) {
                a[r][k] -= a[r][c] * a[c][k];
            }
        }
    }
    mat3 inverse;
    for (int i = 0; i < 9; i++) {
        inverse.m[i / 3][i % 3] = a[i / 3][3 + i % 3];
    }
    return inverse;
}

mat3 tps_mat3_inverse(const mat3 *a)
{
    if (fabs(tps_mat3_conditioning(a)) < 0.02) {
        return tps_mat3_singular(a) ? pseudo_inverse(a) : regular_inverse(a);
    }
    mat3 c = mat3_cofactors(a);
    double inverse_determinant = 1 / mat3_determinant(a);
    for (int i = 0; i < 9; i++) {
        c.m[i / 3][i % 3] *= inverse_determinant;
    }
    return mat3_transpose(&c);
}

affine tps_affine_inverse(const affine *a)
{
    affine r;
    r.linear = tps_mat3_inverse(&a->linear);
    r.translation = vec3_scale(mat3_apply(&r.linear, a->translation), -1);
    return r;
}
