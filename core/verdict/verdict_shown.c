/* verdict_shown - the symbols that people see, the most important first. */
#include <math.h>

#include "core/verdict/verdict.h"

/* Equal ones in the order of the array that they stand in. */
static int by_weight(const void *a, const void *b)
{
    const struct symbol *x = *(const struct symbol *const *)a;
    const struct symbol *y = *(const struct symbol *const *)b;
    double of_x = x->is_word ? HUGE_VAL : fabs(x->score);
    double of_y = y->is_word ? HUGE_VAL : fabs(y->score);

    return of_x != of_y ? (of_x < of_y) - (of_x > of_y) : (x > y) - (x < y);
}

size_t verdict_shown(const struct verdict *v,
                     const struct symbol *ret[VERDICT_SYMBOLS_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < v->nsymbols; i++) {
        const struct symbol *s = &v->symbols[i];
        if (!s->is_helper || s->score != 0) {
            ret[n++] = s;
        }
    }
    qsort(ret, n, sizeof(const struct symbol *), by_weight);
    return n;
}
