/* find_rows - texts and the links found in them, for the tests of core/message/url/find. */
#ifndef TESTS_UNIT_URL_FIND_ROWS_H
#define TESTS_UNIT_URL_FIND_ROWS_H

#include "core/message/url/find.h"

#include "tests/unit/text/text_test.h"

#define RLO "\xe2\x80\xae"

struct found {
    char text[4096];
    size_t n;
    size_t count;
    size_t bytes;
    unsigned flags;
    bool ends_so; /* one ended in "x@a.de/b" */
};

static inline void add(struct found *f, struct slice s)
{
    if (f->n + s.n < sizeof(f->text)) {
        memcpy(f->text + f->n, s.p, s.n);
        f->n += s.n;
    }
}

static inline void on_find(void *context, const struct find *find)
{
    struct found *f = context;

    f->count++;
    f->bytes += find->text.n;
    f->flags |= find->flags;
    f->ends_so =
        f->ends_so || slice_has_suffix_nocase(find->text, SLICE_LIT("x@a.de/b"));
    if (find->kind == FIND_ADDRESS) {
        add(f, SLICE_LIT("mailto:"));
    } else if (find->kind == FIND_OTHER) {
        add(f, SLICE_LIT("other:"));
    } else if (find->kind == FIND_BARE) {
        add(f, SLICE_LIT("bare:"));
    }
    add(f, find->text);
    add(f, SLICE_LIT("\n"));
}

struct row {
    const char *in;
    const char *want; /* one a line */
};

static inline void check_rows(const struct row *rows, size_t count,
                              enum find_where where)
{
    size_t i = 0;

    for (i = 0; i < count; i++) {
        struct found f = {.n = 0};
        size_t n = strlen(rows[i].in);
        /* a copy of the exact size, so that ASan sees reads past the end */
        struct slice in = n > 0 ? repeat(rows[i].in, 1) : SLICE_NONE;

        find_in_text(in, where, on_find, &f);
        check_text(rows[i].in, slice_of(f.text, f.n), slice_str(rows[i].want));
        repeat_free(in);
    }
}

#endif
