/* print - values for people and for programs. */
#include "core/cli/print.h"

#include <sysexits.h>

#include "core/base/clock.h"
#include "core/base/visible.h"
#include "core/cli/cli.h"
#include "core/cli/humanize.h"

/* ---- text ---- */

static void print_bytes(FILE *to, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c >= 0x20 && c < 0x7f && c != '\\') {
            (void)fputc(c, to);
        } else {
            (void)fprintf(to, "\\x%02x", c);
        }
    }
}

void text_print(FILE *to, struct slice s, size_t max)
{
    struct slice shown = slice_head(s, max);
    for (size_t i = 0; i < shown.n;) {
        char code[VISIBLE_CODE_MAX];
        size_t n = visible_next(shown.p + i, shown.n - i, code);
        if (n > 1 && code[0] != '\0') {
            (void)fputs(code, to);
        } else {
            print_bytes(to, shown.p + i, n);
        }
        i += n;
    }
    if (shown.n < s.n) {
        (void)fputs("...", to);
    }
}

void text_show(FILE *to, const char *words)
{
    struct slice s = slice_str(words);
    for (size_t i = 0; i < s.n;) {
        char code[VISIBLE_CODE_MAX];
        size_t n = visible_next(s.p + i, s.n - i, code);
        if (code[0] != '\0' && s.p[i] != '\n') {
            (void)fputs(code, to);
        } else {
            (void)fwrite(s.p + i, 1, n, to);
        }
        i += n;
    }
}

const char *text_time(uint64_t seconds, char dst[TEXT_TIME_MAX])
{
    return clock_text(seconds, dst);
}

/* False: end of file, or ferror. *retn > TEXT_LINE_MAX: line holds the beginning only. */
static bool read_text_line(FILE *from, char line[TEXT_LINE_MAX], size_t *retn)
{
    size_t n = 0;
    int c;
    while ((c = getc(from)) != EOF && c != '\n') {
        if (n < TEXT_LINE_MAX) {
            line[n] = (char)c;
        }
        n += n <= TEXT_LINE_MAX;
    }
    *retn = n;
    return c != EOF || n > 0;
}

int text_each_line(const char *file, text_line_fn *fn, void *context, uint64_t *bad)
{
    bool is_stdin = strcmp(file, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(file, "re");
    char text[TEXT_LINE_MAX];
    unsigned line = 0;
    size_t n = 0;
    bool goes_on = true;
    int status = 0;

    if (f == NULL) {
        return cli_error(EX_NOINPUT, "%s: cannot be read: %s", file,
                         err_text(err_of_errno(errno)));
    }
    while (goes_on && read_text_line(f, text, &n)) {
        struct slice value = slice_trim(slice_of(text, n > TEXT_LINE_MAX ? 0 : n));

        line++;
        if (n > TEXT_LINE_MAX) {
            *bad += (uint64_t)cli_error(1, "%s:%u: the line is longer than %d bytes",
                                        file, line, (int)TEXT_LINE_MAX);
        } else if (value.n > 0 && value.p[0] != '#') {
            goes_on = fn(context, value, line);
        }
    }
    if (ferror(f)) {
        status = cli_error(EX_NOINPUT, "%s:%u: reading failed", file, line);
    }
    if (!is_stdin) {
        (void)fclose(f);
    }
    return status;
}

/* ---- JSON ---- */

bool json_line(json_t *object)
{
    return json_line_to(stdout, object);
}

int json_status(json_t *object)
{
    return json_line(object) ? 0 : EX_OSERR;
}

bool json_line_to(FILE *to, json_t *object)
{
    bool ok = object != NULL && json_dumpf(object, to, JSON_LINE) == 0;

    json_decref(object);
    if (!ok) {
        if (!ferror(to)) {
            (void)cli_nomem();
        }
        return false;
    }
    (void)putc('\n', to);
    return true;
}

json_t *json_with(json_t *object, json_t *more)
{
    if (object == NULL || more == NULL || json_object_update(object, more) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return object;
}

const char *json_text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));

    return text != NULL ? text : "";
}

uint64_t json_number_of(const json_t *row, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(row, name));

    return n > 0 ? (uint64_t)n : 0;
}

/* ---- features and counts ---- */

static void print_place(const struct feature *f)
{
    if (f->place == NULL) {
        return;
    }
    (void)fputs("  (", stdout);
    text_print(stdout, f->place->part, EVIDENCE_SHOWN);
    if (f->place->part.n > 0 && f->place->header.n > 0) {
        (void)putchar(' ');
    }
    text_print(stdout, f->place->header, EVIDENCE_SHOWN);
    if (f->place->within.n > 0) {
        (void)fputs(", ", stdout);
        text_print(stdout, f->place->within, EVIDENCE_SHOWN);
    }
    printf(" at %" PRIu32 ")", f->offset);
}

void evidence_print_features(const struct featureset *features, bool with_places)
{
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        printf("  %s ", feature_type_name(f->type));
        text_print(stdout, f->text, EVIDENCE_SHOWN);
        if (with_places) {
            print_place(f);
        }
        (void)putchar('\n');
    }
}

void evidence_print_limits(unsigned limits)
{
    for (unsigned i = 0; i < LIMIT_FLAG_COUNT; i++) {
        if ((limits & (1u << i)) != 0) {
            printf("  limit %s\n", limit_name(i));
        }
    }
}

void counted_print_windows(const uint64_t w[COUNT_WINDOWS])
{
    char number[HUMANIZE_MAX];

    for (unsigned i = 0; i < COUNT_WINDOWS; i++) {
        printf("%s%s in %s", i == 0 ? "" : ", ", humanize_count(w[i], number),
               count_window_name(i));
    }
}

static void print_shares(const struct count_breakdown *s)
{
    if (s->n < 2) {
        return;
    }
    printf(" (in %s own %llu", count_window_name(COUNT_14D),
           (unsigned long long)s->v[0].w[COUNT_14D]);
    for (unsigned i = 1; i < s->n; i++) {
        printf(", %s %llu", s->v[i].origin->name,
               (unsigned long long)s->v[i].w[COUNT_14D]);
    }
    (void)putchar(')');
}

void counted_print(const struct message_counts *counts)
{
    bool is_ring = true;

    for (size_t i = 0; i < counts->n; i++) {
        const struct counted *c = &counts->v[i];
        struct count_breakdown shares;
        if (c->value.w[COUNT_14D] == 0) {
            continue;
        }
        printf("  count %s ", feature_type_name(c->feature->type));
        text_print(stdout, c->feature->text, EVIDENCE_SHOWN);
        (void)putchar(' ');
        counted_print_windows(c->value.w);
        for (unsigned kind = 0; c->has_distinct && kind < DISTINCT_KINDS; kind++) {
            printf(", %llu %s", (unsigned long long)c->distinct[kind],
                   count_distinct_name(kind));
        }
        is_ring = is_ring && message_counts_shares(counts, c, &shares);
        if (is_ring) {
            print_shares(&shares);
            count_breakdown_fini(&shares);
        }
        (void)putchar('\n');
    }
    if (counts->is_cut) {
        (void)puts("  count: some features were too many to be counted");
    }
}

/* ---- progress ---- */

enum { BAR = 40, REDRAW_US = 100000 };

void progress_init(struct progress *p)
{
    *p = (struct progress){.is_shown = isatty(STDERR_FILENO) == 1};
}

void progress_show(struct progress *p, const char *stage, double share)
{
    uint64_t now = clock_mono_us();
    char bar[BAR + 1];

    if (!p->is_shown || (p->is_dirty && now - p->last_us < REDRAW_US)) {
        return;
    }
    p->last_us = now;
    p->is_dirty = true;
    if (share < 0) {
        (void)fprintf(stderr, "\r\033[K%s ...", stage);
        return;
    }
    share = share > 1 ? 1 : share;
    for (int i = 0; i < BAR; i++) {
        bar[i] = i < (int)(share * BAR) ? '#' : '.';
    }
    bar[BAR] = '\0';
    (void)fprintf(stderr, "\r\033[K[%s] %3.0f%% %s", bar, share * 100, stage);
}

void progress_stage(void *progress, const char *stage, double share)
{
    progress_show(progress, stage, share);
}

void progress_clear(struct progress *p)
{
    if (p->is_dirty) {
        (void)fputs("\r\033[K", stderr);
        p->is_dirty = false;
    }
}
