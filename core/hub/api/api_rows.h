/*
 * api_rows - one page of a table: rows filtered, sorted and cut as a query wants them.
 *
 * A cursor holds the sort keys of the last row of a page. Rows that are added or removed meanwhile
 * do not make another row disappear or appear twice. A cursor is valid only for the order that it
 * was made for.
 * Depends: base, http_request.h, jansson.   Threads: pure.   Allocates: its results.
 */
#ifndef CORE_HUB_API_API_ROWS_H
#define CORE_HUB_API_API_ROWS_H

#include <jansson.h>

#include "core/base/err.h"
#include "core/base/slice.h"

enum {
    API_ROWS_MAX = 1000,      /* of one page */
    API_ROWS_WORDS_MAX = 256, /* bytes of q */
    API_ROWS_SORT_MAX = 24,
    API_ROWS_CURSOR_MAX = 4096
};

/* Names of fields; NULL ends each. */
struct api_table {
    const char *const *sorts; /* the first is the default */
    const char *const *words; /* texts, and arrays of texts, in which q is looked for */
    const char *const *key;   /* at most two texts, which name a row */
    const char *const *own;   /* parameters that the caller reads; NULL: none */
};

struct api_rows_query {
    size_t limit;                   /* 0: all */
    char words[API_ROWS_WORDS_MAX]; /* "": all */
    char sort[API_ROWS_SORT_MAX];   /* "": in the order that they have */
    bool is_falling;
    json_t *after; /* [sort, value, key, key] of a cursor; NULL: from the beginning */
};

/* Reads limit, cursor, q and sort. ERR_SYNTAX: *reterr says what is wrong. */
enum err api_rows_read(struct slice query, const struct api_table *t,
                       struct api_rows_query *ret, struct errinfo *reterr);
void api_rows_fini(struct api_rows_query *q);

struct api_rows {
    json_t *rows; /* of the page: those of the whole, not copies */
    size_t found; /* rows that have the words */
    json_t *next; /* cursor of the page behind, or null */
};
/* ERR_NOMEM. all: an array of objects. The caller owns rows and next. */
enum err api_rows_page(const json_t *all, const struct api_table *t,
                       const struct api_rows_query *q, struct api_rows *ret);

#endif
