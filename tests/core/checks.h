/* What a test needs: checks that count, and numbers that replay. */
#ifndef CHECKS_H
#define CHECKS_H

#include <stdint.h>

/* Counts a check, and prints it where it fails. The tests go on, so that one run shows all that is wrong. */
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)

/* |a - b| <= tolerance; false for NaN. */
#define CHECK_CLOSE(a, b, tolerance) check_close((a), (b), (tolerance), #a " = " #b, __FILE__, __LINE__)

int check(int good, const char *text, const char *file, int line);
int check_close(double a, double b, double tolerance, const char *text, const char *file, int line);

/* What failed until now is said to be of this test; then its verdict is printed. */
void run_test(const char *name, void (*test)(void));
int failure_count(void);

/* Pseudo-random numbers, the same on every machine (splitmix64). */
typedef struct chance {
    uint64_t state;
} chance;

uint64_t chance_bits(chance *c);
double chance_between(chance *c, double low, double high);
int32_t chance_below(chance *c, int32_t end); /* 0 .. end - 1 */

/* The largest |a - b|; infinite where one of them is no number. */
double largest_difference(const double *a, const double *b, int64_t count);
double largest_difference_f32(const float *a, const float *b, int64_t count);

/* malloc that ends the program where there is no memory: for what the tests themselves need. */
void *need(int64_t count, int64_t size);

#endif
