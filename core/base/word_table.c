#include "core/base/word_table.h"

bool word_cut(struct slice *row, struct word *ret)
{
    const struct slice word = slice_head(*row, slice_find(*row, ' '));
    size_t n = 0;
    while (n < word.n && word.p[n] != '=' && word.p[n] != '!') {
        n++;
    }
    *ret = (struct word){.key = slice_head(word, n),
                         .text = slice_from(word, n + (n < word.n))};
    if (n < word.n) {
        ret->mark = word.p[n];
    }
    *row = slice_from(*row, word.n + (word.n < row->n));
    return word.n > 0;
}

static bool ends_key(char c)
{
    return c == ' ' || c == '=' || c == '!';
}

/* Whether the row's first word may have the key. */
static bool begins_with(struct slice row, struct slice key)
{
    return slice_has_prefix(row, key) && (row.n == key.n || ends_key(row.p[key.n]));
}

bool word_find(const struct slice *rows, size_t n, struct slice key, struct word *ret)
{
    size_t low = 0; /* rows before it begin with the key or a smaller one */
    while (low < n) {
        const size_t middle = (low + n) / 2;
        struct slice row = rows[middle];
        (void)word_cut(&row, ret);
        if (slice_cmp(ret->key, key) <= 0) {
            low = middle + 1;
        } else {
            n = middle;
        }
    }
    struct slice row = low > 0 ? rows[low - 1] : SLICE_NONE;
    while (row.n > 0 && !begins_with(row, key)) {
        row = slice_from(row, slice_find(row, ' ') + 1);
    }
    return word_cut(&row, ret) && slice_eq(ret->key, key);
}
