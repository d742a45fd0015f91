/*
 * told - what a reader of files gives out, as text: "link:http://a.example/ script:DDE ...".
 */
#ifndef TESTS_UNIT_DOCUMENT_TOLD_H
#define TESTS_UNIT_DOCUMENT_TOLD_H

#include "core/reader/wire/found.h"

#include "tests/unit/unit.h"

static inline bool told_add(void *context, struct slice bytes)
{
    buf_add(context, bytes);
    return true;
}

static inline struct found *told_new(struct buf *bytes)
{
    static const struct reader_job job = {
        .limits = {.entries = 100, .bytes = 1 << 20, .ratio = 1000, .pages = 1}};
    struct found *f = NULL;

    buf_init(bytes, 1 << 20);
    f = found_new(&job, told_add, bytes);
    assert_non_null(f);
    return f;
}

/* Ends the reading and frees; each record has a blank behind it. */
static inline const char *told_end(struct found **f, struct buf *bytes)
{
    static char text[4096];
    static const char *const kinds[RECORD_KINDS] = {[RECORD_TEXT] = "text",
                                                    [RECORD_LINK] = "link",
                                                    [RECORD_SCRIPT] = "script",
                                                    [RECORD_FACT] = "fact"};
    struct record r;
    size_t n = 0;

    found_free(f);
    struct slice rest = buf_slice(bytes);
    text[0] = '\0';
    while (record_next(&rest, &r) == RECORD_OK) {
        if (kinds[r.kind] != NULL) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s:%.*s ", kinds[r.kind],
                                  SLICE_ARGS(r.value));
        }
    }
    buf_fini(bytes);
    return text;
}

#endif
