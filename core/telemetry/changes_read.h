/*
 * changes_read - rows of the log of changes, newest first.
 *
 * A row is the JSON object of the line (time, kind, who, way, object, before, after, reason,
 * result, undoes, values, count; empty ones are missing) with "id" and "undo", which is "possible",
 * "done" (another change undid it) or "none".
 * A line that is damaged, or of a kind that this version does not know, is skipped.
 * Depends: base, jansson.   Threads: any; beside writers, without a lock.   Allocates: the rows.
 */
#ifndef CORE_TELEMETRY_CHANGES_READ_H
#define CORE_TELEMETRY_CHANGES_READ_H

#include <jansson.h>

#include "core/telemetry/changes.h"

enum { CHANGES_WORDS_MAX = 256, CHANGES_ROWS_MAX = 1000 };

struct changes_query {
    const char *state_dir;
    /* Blanks between words; a row has all of them, in any case of ASCII letters, in one of its
     * texts. who:, way:, kind: and object: before a word name the text. */
    struct slice words;
    uint64_t before; /* only rows of a smaller id; 0: all */
    size_t limit;    /* at most CHANGES_ROWS_MAX */
};

/* *ret is an array that the caller owns. *retnext is `before` of the next page, 0 behind the last
 * one. Without a folder there are no rows. ERR_DENIED, ERR_IO, ERR_NOMEM. */
enum err changes_read(const struct changes_query *q, json_t **ret, uint64_t *retnext,
                      struct errinfo *reterr);

/* The row of this id. ERR_NOT_FOUND. */
enum err changes_find(const char *state_dir, struct slice id, json_t **ret,
                      struct errinfo *reterr);

/* How the row is undone. CHANGE_STAYS: it cannot be, or was; *retwhy has the reason. */
enum change_undo changes_undo_of(const json_t *row, const char **retwhy);

#endif
