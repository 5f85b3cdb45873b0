/* What statuses, methods and versions are called. */
#include "checks.h"
#include "tests.h"
#include "tps.h"

#include <stdio.h>
#include <string.h>

void test_names(void)
{
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", TPS_VERSION_MAJOR, TPS_VERSION_MINOR, TPS_VERSION_PATCH);
    CHECK(strcmp(tps_version(), version) == 0);
    CHECK(TPS_VERSION_NUMBER >= 100);

    /* Each status has a text of its own. */
    const char *unknown = tps_status_text((tps_status)-1);
    for (int s = TPS_OK; s <= TPS_SKELETON_MISMATCH; s++) {
        const char *text = tps_status_text((tps_status)s);
        CHECK(strcmp(text, unknown) != 0);
        for (int other = TPS_OK; other < s; other++) {
            CHECK(strcmp(text, tps_status_text((tps_status)other)) != 0);
        }
    }
    CHECK(strcmp(tps_status_text((tps_status)(TPS_SKELETON_MISMATCH + 1)), unknown) == 0);

    CHECK(strcmp(tps_method_name(TPS_METHOD_DUAL_QUATERNION), "dual_quaternion") == 0);
    CHECK(strcmp(tps_inherited_name(TPS_INHERITED_BEFORE), "before") == 0);
    CHECK(!tps_method_name(TPS_METHOD_DUAL_QUATERNION + 1) && !tps_method_name(-1));
    CHECK(strcmp(tps_row_sum_name(TPS_ROW_SUM_GIVEN), "given") == 0);
    CHECK(!tps_row_sum_name(TPS_ROW_SUM_GIVEN + 1) && !tps_row_sum_name(-1));
    CHECK(!tps_inherited_name(TPS_INHERITED_BEFORE + 1) && !tps_inherited_name(-1));
}
