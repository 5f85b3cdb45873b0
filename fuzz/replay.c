/* Gives each line of a text file, bytes in hexadecimal, to the fuzzed function: replay FILE. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next line's bytes; -1 at the end of the file. */
static long next_line(FILE *file, uint8_t *bytes)
{
    long digits = 0;
    int c = getc(file);
    for (; c != EOF && c != '\n'; c = getc(file)) {
        if (isxdigit(c) && digits < 2L * LONGEST) {
            int value = isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
            bytes[digits / 2] = (uint8_t)(digits % 2 ? bytes[digits / 2] * 16 + value : value);
            digits++;
        }
    }
    return c == EOF && digits == 0 ? -1 : digits / 2;
}

int main(int argument_count, char **arguments)
{
    static uint8_t bytes[LONGEST];
    FILE *file = argument_count == 2 ? fopen(arguments[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "expected a file of hexadecimal lines\n");
        return 2;
    }
    int64_t count = 0;
    for (long size; (size = next_line(file, bytes)) >= 0; count++) {
        uint8_t *exact = malloc((size_t)size + 1); /* a step beyond the input is seen too */
        if (!exact) {
            return 2;
        }
        for (long i = 0; i < size; i++) {
            exact[i] = bytes[i];
        }
        LLVMFuzzerTestOneInput(exact, (size_t)size);
        free(exact);
    }
    fclose(file);
    printf("%" PRId64 " cases of the corpus replayed\n", count);
    return count > 0 ? 0 : 1;
}
