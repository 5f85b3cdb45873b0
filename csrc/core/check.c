#include "internal.h"

#include <math.h>

tps_status tps_check_finite_f64(int64_t count, const double *values, int64_t *where)
{
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return tps_fail(TPS_NOT_FINITE, i, where);
        }
    }
    return TPS_OK;
}

tps_status tps_check_finite_f32(int64_t count, const float *values, int64_t *where)
{
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return tps_fail(TPS_NOT_FINITE, i, where);
        }
    }
    return TPS_OK;
}

tps_status tps_check_affine(int64_t count, const double *matrices, int64_t *where)
{
    static const double last_row[4] = {0, 0, 0, 1};
    for (int64_t j = 0; j < count; j++) {
        const double *m = matrices + 16 * j;
        if (tps_check_finite_f64(16, m, NULL) != TPS_OK) {
            return tps_fail(TPS_NOT_FINITE, j, where);
        }
        for (int k = 0; k < 4; k++) {
            if (fabs(m[12 + k] - last_row[k]) > TPS_LAST_ROW_TOLERANCE) {
                return tps_fail(TPS_LAST_ROW, j, where);
            }
        }
    }
    return TPS_OK;
}
