/*
 * print - values, times, features and counts on standard output: as text, or as one JSON object a
 * line.
 *
 * Text from mail and peers is printed with codes for everything that a terminal might obey.
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_PRINT_H
#define CORE_CLI_PRINT_H

#include <jansson.h>

#include "core/base/clock.h"
#include "core/count/message.h"
#include "core/message/feature/feature_json.h"

enum {
    TEXT_TIME_MAX = CLOCK_TEXT_MAX,
    TEXT_LINE_MAX = 16384,
    EVIDENCE_SHOWN = 200 /* bytes of a value in text for people */
};

/* ---- text ---- */

/* Prints at most max bytes of s, "..." when cut: printable ASCII as it is, invisible characters as
 * <U+202E> (visible.h), everything else and the backslash as \xNN. */
void text_print(FILE *to, struct slice s, size_t max);
/* Prints words for people, of any language and with line ends, with codes for invisible
 * characters. */
void text_show(FILE *to, const char *words);
/* clock_text. */
const char *text_time(uint64_t seconds, char dst[TEXT_TIME_MAX]);

/* A value on a line of input. line: from 1 on. False stops. */
typedef bool text_line_fn(void *context, struct slice value, unsigned line);
/* Calls fn with each line of file ("-": standard input), without the blanks around it; skips empty
 * lines and those that begin with #. Adds lines longer than TEXT_LINE_MAX to *bad after a message.
 * Returns 0, or an exit status after a message. */
int text_each_line(const char *file, text_line_fn *fn, void *context, uint64_t *bad);

/* ---- JSON ---- */

/* Takes object, prints it compactly and a line break to standard output. False (after a message):
 * no memory, which a NULL object also means. */
bool json_line(json_t *object);
bool json_line_to(FILE *to, json_t *object);
/* json_line as an exit status. */
int json_status(json_t *object);
/* Adds the members of more, in order, to object. Takes both; NULL: no memory. */
json_t *json_with(json_t *object, json_t *more);
/* A member of a row: "" if it is no text, 0 if it is no positive number. */
const char *json_text_of(const json_t *row, const char *name);
uint64_t json_number_of(const json_t *row, const char *name);

/* ---- features and counts of a message; as JSON: feature_json.h, count_json.h ---- */

/* "  from sender@evil.example" lines, with places "  url evil.example/  (1.2 at 345)". */
void evidence_print_features(const struct featureset *features, bool with_places);
/* "  limit mime_depth" lines. */
void evidence_print_limits(unsigned limits);
/* "  count url_domain evil.example 3 in 10m, 5 in 1h, 5 in 1d, 17 in 14d" lines; with
 * " (in 14d own 16, alpha 1)" if peers counted it. */
void counted_print(const struct message_counts *counts);
/* "3 in 10m, 5 in 1h, 5 in 1d, 17 in 14d", with thousands apart. */
void counted_print_windows(const uint64_t w[COUNT_WINDOWS]);

/* ---- progress: a bar on a terminal, nothing elsewhere ---- */

struct progress {
    bool is_shown; /* standard error is a terminal */
    bool is_dirty; /* a bar stands on the line */
    uint64_t last_us;
};

void progress_init(struct progress *p);
/* share: 0 to 1, or below 0 if it is not known; drawn at most ten times a second. */
void progress_show(struct progress *p, const char *stage, double share);
/* progress_show as a callback; progress is a struct progress. */
void progress_stage(void *progress, const char *stage, double share);
/* Clears the line, so that a message can be written. */
void progress_clear(struct progress *p);

#endif
