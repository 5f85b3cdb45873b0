/* What numbers of the public interface are called. */
#include "tps.h"

#include <stddef.h>

#define TEXT_OF(x) #x
#define DOTTED(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *tps_version(void)
{
    return DOTTED(TPS_VERSION_MAJOR, TPS_VERSION_MINOR, TPS_VERSION_PATCH);
}

const char *tps_status_text(tps_status status)
{
    switch (status) {
    case TPS_OK:
        return "no error";
    case TPS_NO_MEMORY:
        return "out of memory";
    case TPS_PARENT_RANGE:
        return "a parent is neither -1 nor the number of a joint";
    case TPS_PARENT_CYCLE:
        return "a joint is its own ancestor";
    case TPS_NOT_FINITE:
        return "a number is not finite";
    case TPS_LAST_ROW:
        return "the last row of a matrix is not 0 0 0 1";
    case TPS_SINGULAR_BIND:
        return "a bind matrix cannot be inverted";
    case TPS_SINGULAR_SPACE:
        return "a space matrix cannot be inverted";
    case TPS_WEIGHT_ROWS:
        return "row starts do not begin at 0, decrease, or do not end at the number of weights";
    case TPS_WEIGHT_JOINT_RANGE:
        return "a weight is on a joint that does not exist";
    case TPS_WEIGHT_NEGATIVE:
        return "a weight is negative";
    case TPS_TOO_MANY_JOINTS:
        return "more than 65,536 joints have weights";
    case TPS_KERNEL_RANGE:
        return "this machine has no such kernel";
    case TPS_SKELETON_MISMATCH:
        return "the skeleton has another number of joints than the skin's";
    }
    return "unknown status";
}

/* The name at an index, or NULL. */
static const char *at(const char *const *names, int count, int index)
{
    return index >= 0 && index < count ? names[index] : NULL;
}

const char *tps_method_name(int method)
{
    static const char *const names[] = {
        [TPS_METHOD_TWO_PHASE] = "two_phase",
        [TPS_METHOD_LINEAR] = "linear",
        [TPS_METHOD_DUAL_QUATERNION] = "dual_quaternion",
    };
    return at(names, (int)(sizeof names / sizeof *names), method);
}

const char *tps_inherited_name(int inherited)
{
    static const char *const names[] = {[TPS_INHERITED_AFTER] = "after", [TPS_INHERITED_BEFORE] = "before"};
    return at(names, (int)(sizeof names / sizeof *names), inherited);
}

const char *tps_row_sum_name(int row_sum)
{
    static const char *const names[] = {
        [TPS_ROW_SUM_ONE] = "one", [TPS_ROW_SUM_KEPT] = "kept", [TPS_ROW_SUM_GIVEN] = "given"};
    return at(names, (int)(sizeof names / sizeof *names), row_sum);
}
