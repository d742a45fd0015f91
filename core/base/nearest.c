#include "core/base/nearest.h"

#include <getopt.h>

static char folded(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c + ('a' - 'A'));
    }
    if (c == '-' || c == '.' || c == ' ') {
        return '_';
    }
    return c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_edits(struct slice a, struct slice b)
{
    size_t rows[3][NEAREST_NAME_MAX + 1]; /* of i - 2, i - 1 and i, in turn */

    if (a.n > NEAREST_NAME_MAX || b.n > NEAREST_NAME_MAX) {
        return NEAREST_NAME_MAX;
    }
    for (size_t j = 0; j <= b.n; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        const size_t *swapped = rows[(i + 1) % 3];
        char x = folded(a.p[i - 1]);

        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            char y = folded(b.p[j - 1]);

            row[j] =
                least(above[j - 1] + (x == y ? 0 : 1), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == folded(b.p[j - 2]) && y == folded(a.p[i - 2])) {
                row[j] = least(row[j], swapped[j - 2] + 1);
            }
        }
    }
    return rows[a.n % 3][b.n];
}

size_t nearest_most(size_t length)
{
    return length < 5 ? 1 : length < 9 ? 2 : length / 3;
}

const char *nearest_name(struct slice name, const char *const *names, size_t n)
{
    size_t best = nearest_most(name.n) + 1;
    const char *ret = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t edits = nearest_edits(name, slice_str(names[i]));

        if (edits < best) {
            best = edits;
            ret = names[i];
        }
    }
    return ret;
}

void nearest_option_print(const char *program, const char *written,
                          const struct option *longs)
{
    const struct slice name = slice_str(written + strspn(written, "-"));
    const char *best = NULL;
    size_t edits_least = nearest_most(name.n + 2) + 1;

    for (; longs->name != NULL; longs++) {
        const size_t edits = nearest_edits(name, slice_str(longs->name));

        if (edits < edits_least) {
            edits_least = edits;
            best = longs->name;
        }
    }
    if (best != NULL && strcmp(best, name.p) != 0) {
        (void)fprintf(stderr, "%s: did you mean \"--%s\"?\n", program, best);
    }
}
