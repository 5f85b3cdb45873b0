#include "checks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_PRINTED 20

static int64_t checks, failures;

int check(int good, const char *text, const char *file, int line)
{
    checks++;
    if (!good && failures++ < MOST_PRINTED) {
        printf("%s:%d: %s\n", file, line, text);
    }
    return good;
}

int check_close(double a, double b, double tolerance, const char *text, const char *file, int line)
{
    int good = fabs(a - b) <= tolerance;
    if (!good && failures < MOST_PRINTED) {
        printf("%.17g, %.17g, expected to be within %g: ", a, b, tolerance);
    }
    return check(good, text, file, line);
}

void run_test(const char *name, void (*test)(void))
{
    int64_t checks_before = checks, failures_before = failures;
    test();
    printf("%-44s %8" PRId64 " checks, %" PRId64 " failed\n", name, checks - checks_before, failures - failures_before);
    fflush(stdout);
}

int failure_count(void)
{
    return failures > 100 ? 100 : (int)failures;
}

uint64_t chance_bits(chance *c)
{
    uint64_t z = c->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double chance_between(chance *c, double low, double high)
{
    return low + (high - low) * (double)(chance_bits(c) >> 11) / 9007199254740992.0;
}

int32_t chance_below(chance *c, int32_t end)
{
    return (int32_t)(chance_bits(c) % (uint64_t)end);
}

double largest_difference(const double *a, const double *b, int64_t count)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        double difference = fabs(a[i] - b[i]);
        largest = difference <= largest ? largest : isnan(difference) ? HUGE_VAL : difference;
    }
    return largest;
}

double largest_difference_f32(const float *a, const float *b, int64_t count)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        double difference = fabs((double)a[i] - b[i]);
        largest = difference <= largest ? largest : isnan(difference) ? HUGE_VAL : difference;
    }
    return largest;
}

void *need(int64_t count, int64_t size)
{
    void *memory = malloc((size_t)(count * size + 1));
    if (!memory) {
        puts("the tests themselves are out of memory");
        exit(101);
    }
    return memory;
}
