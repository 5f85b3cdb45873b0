#include "rotation.h"
#include "inverse.h"
#include "svd3.h"

/* The unit columns u_0, u_1 of w, orthogonal to rounding. */
static void left_vectors(const svd3 *d, vec3 *u0, vec3 *u1)
{
    *u0 = vec3_scale(mat3_column(&d->w, 0), 1 / d->sigma[0]);
    vec3 b = vec3_scale(mat3_column(&d->w, 1), 1 / d->sigma[1]);
    b = vec3_sub(b, vec3_scale(*u0, vec3_dot(*u0, b)));
    *u1 = vec3_scale(b, 1 / sqrt(vec3_dot(b, b)));
}

/* u_0 v_0^T + u_1 v_1^T + sign * (u_0 x u_1) v_2^T: proper for sign 1, whatever the third singular value is. */
static mat3 rotation_of(const svd3 *d, double sign)
{
    vec3 u[3];
    left_vectors(d, &u[0], &u[1]);
    u[2] = vec3_scale(vec3_cross(u[0], u[1]), sign);
    mat3 r = {{{0}}};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 9; i++) {
            r.m[i / 3][i % 3] += u[k].x[i / 3] * d->v.m[i % 3][k];
        }
    }
    return r;
}

static vec3 any_perpendicular(vec3 a)
{
    int k = fabs(a.x[0]) < fabs(a.x[1]) ? 0 : 1;
    k = fabs(a.x[2]) < fabs(a.x[k]) ? 2 : k;
    vec3 axis = {{0, 0, 0}};
    axis.x[k] = 1;
    return vec3_cross(a, axis);
}

/* r - 2 h (h^T r), for a unit h */
static mat3 reflect(const mat3 *r, vec3 h)
{
    mat3 s;
    for (int k = 0; k < 3; k++) {
        vec3 c = mat3_column(r, k);
        mat3_set_column(&s, k, vec3_sub(c, vec3_scale(h, 2 * vec3_dot(h, c))));
    }
    return s;
}

/* The least rotation that takes the unit vector a to the unit vector b, times r: two reflections, at any angle. */
static mat3 rotate_onto(const mat3 *r, vec3 a, vec3 b)
{
    vec3 h = vec3_add(a, b);
    if (vec3_dot(h, h) < 1e-30) {
        h = any_perpendicular(a);
    }
    h = vec3_scale(h, 1 / sqrt(vec3_dot(h, h)));
    mat3 once = reflect(r, a);
    return reflect(&once, h);
}

int tps_is_rotation(const mat3 *x)
{
    for (int i = 0; i < 3; i++) {
        for (int k = i; k < 3; k++) {
            if (!(fabs(vec3_dot(mat3_column(x, i), mat3_column(x, k)) - (i == k)) <= 1e-14)) {
                return 0;
            }
        }
    }
    return mat3_determinant(x) > 0;
}

static double square(const mat3 *a)
{
    double sum = 0;
    for (int i = 0; i < 9; i++) {
        sum += a->m[i / 3][i % 3] * a->m[i / 3][i % 3];
    }
    return sum;
}

/* The polar rotation of a matrix that is far from singular and not mirrored, by Newton's iteration with the first steps
 * scaled where the matrix is far from a rotation (Higham 1986). After a step all singular values are 1 + e_k with
 * e_k >= 0, so that the determinant less 1 bounds them; the next step makes them 1 + e_k^2 / 2. */
static mat3 newton_rotation(const mat3 *a)
{
    mat3 x = *a;
    int far_off = 1;
    for (int step = 0, last = 0; step < 12 && !last; step++) {
        mat3 c = mat3_cofactors(&x);
        double determinant = vec3_dot(mat3_column(&x, 0), mat3_column(&c, 0)), over = 1 / determinant;
        double of_x = 0.5, of_c = 0.5 * over;
        if (far_off) {
            double scale_4 = square(&c) * over * over / square(&x);
            far_off = step < 2 && (scale_4 < 0.5 || scale_4 > 2);
            double scale = sqrt(sqrt(scale_4));
            of_x *= scale;
            of_c /= scale;
        }
        for (int i = 0; i < 9; i++) {
            x.m[i / 3][i % 3] = x.m[i / 3][i % 3] * of_x + c.m[i / 3][i % 3] * of_c;
        }
        last = step > 0 && determinant < 1 + 1e-8;
    }
    return x;
}

/* The decompositions below are exact for every input, and slow. A matrix well_conditioned enough for this needs none of
 * them. */
#define WELL_CONDITIONED 1e-3

/* Where only the dominant pair v_0 -> u_0 is determined (or nothing is): the nearest to `nearest_to` among those. */
static mat3 nearest_rotation(const svd3 *d, const mat3 *nearest_to)
{
    if (d->sigma[0] == 0) {
        return *nearest_to;
    }
    vec3 u = vec3_scale(mat3_column(&d->w, 0), 1 / d->sigma[0]);
    return rotate_onto(nearest_to, mat3_apply(nearest_to, mat3_column(&d->v, 0)), u);
}

/* Of the mirrors along x, y, z and all three axes: which makes o m (o orthogonal, improper) the least rotation? */
static mat3 least_rotation(const mat3 *o)
{
    static const double mirrors[4][3] = {{-1, 1, 1}, {1, -1, 1}, {1, 1, -1}, {-1, -1, -1}};
    int best = 0;
    double best_trace = -4;
    for (int i = 0; i < 4; i++) {
        double trace = o->m[0][0] * mirrors[i][0] + o->m[1][1] * mirrors[i][1] + o->m[2][2] * mirrors[i][2];
        if (trace > best_trace + 1e-9) {
            best = i;
            best_trace = trace;
        }
    }
    mat3 r = *o;
    for (int i = 0; i < 9; i++) {
        r.m[i / 3][i % 3] *= mirrors[best][i % 3];
    }
    return r;
}

/* The polar rotation of any matrix, by decomposition. */
static mat3 polar_rotation(const mat3 *x)
{
    svd3 d = tps_svd3(x);
    if (d.sigma[1] <= SINGULAR * d.sigma[0]) {
        return nearest_rotation(&d, &MAT3_ONE);
    }
    if (d.sigma[2] > SINGULAR * d.sigma[0] && mat3_determinant(&d.w) < 0) {
        mat3 o = rotation_of(&d, -1);
        return least_rotation(&o);
    }
    return rotation_of(&d, 1);
}

/* a / its largest entry, so that products of it neither overflow nor vanish; a itself where that is next to nothing. */
static mat3 normalised(const mat3 *a)
{
    double scale = mat3_largest(a), over = scale > 1e-300 ? 1 / scale : 1;
    mat3 r = *a;
    for (int i = 0; i < 9; i++) {
        r.m[i / 3][i % 3] *= over;
    }
    return r;
}

mat3 tps_best_rotation(const mat3 *a, const mat3 *c, const mat3 *near_after, const mat3 *near_before)
{
    if (fabs(tps_mat3_conditioning(a)) > WELL_CONDITIONED) {
        mat3 inverse = tps_mat3_inverse(a);
        mat3 q = mat3_mul(c, &inverse);
        if (tps_is_rotation(&q)) {
            return q; /* |q a - c| = 0 */
        }
    }
    mat3 transposed = mat3_transpose(a);
    mat3 cat = mat3_mul(c, &transposed);
    if (tps_mat3_conditioning(&cat) > WELL_CONDITIONED) {
        return newton_rotation(&cat);
    }
    mat3 from = normalised(a), to = normalised(c);
    transposed = mat3_transpose(&from);
    cat = mat3_mul(&to, &transposed);
    svd3 d = tps_svd3(&cat);
    int dominant = d.sigma[1] <= SINGULAR * d.sigma[0];
    if (dominant && (d.sigma[1] == 0 || tps_mat3_singular(a) || tps_mat3_singular(c))) {
        mat3 nearest_to = mat3_mul(near_after, near_before);
        mat3 named = polar_rotation(&nearest_to);
        return nearest_rotation(&d, &named);
    }
    return rotation_of(&d, 1);
}

void tps_polar(const mat3 *x, mat3 *rotation, mat3 *stretch)
{
    if (tps_is_rotation(x)) { /* with no scale at all, rather than one of 1 + rounding */
        *rotation = *x;
        *stretch = MAT3_ONE;
        return;
    }
    *rotation = tps_mat3_conditioning(x) > WELL_CONDITIONED ? newton_rotation(x) : polar_rotation(x);
    mat3 rt = mat3_transpose(rotation);
    *stretch = mat3_mul(&rt, x);
}
