#include "core/telemetry/log_rows.h"

#include <jansson.h>

#include "core/base/log_recent.h"

enum { US_PER_S = 1000000 };

static char *row_text(const struct log_recent *l)
{
    json_t *row =
        json_pack("{s:I, s:s, s:I, s:s}", "time_s", (json_int_t)(l->time_us / US_PER_S),
                  "level", l->level == LOG_LEVEL_ERROR ? "error" : "warn", "times",
                  (json_int_t)l->times, "text", l->text);
    char *text = row == NULL ? NULL : json_dumps(row, JSON_COMPACT);

    json_decref(row);
    return text;
}

void log_rows_print(struct buf *ret)
{
    struct log_recent *lines = calloc(LOG_RECENT_LINES, sizeof(*lines));
    const size_t n = lines == NULL ? 0 : log_recent_get(lines);

    buf_add_str(ret, "ok\n");
    for (size_t i = 0; i < n && ret->n < LOG_ROWS_BYTES_MAX; i++) {
        char *text = row_text(&lines[i]);
        if (text != NULL) {
            buf_printf(ret, "%s\n", text);
        }
        free(text);
    }
    free(lines);
}
