/* find_run - words joined by dots, and the hosts in them. */

#include "core/message/text/ascii.h"
#include "core/message/url/find_internal.h"

enum {
    RUN_QUESTIONS = 4, /* for the known suffix, while one run is read */
    TOP_DENSE_MAX = 6  /* characters of a top level in a script without spaces */
};

static bool is_host_char(const struct mark *m)
{
    return mark_is_word(m) || m->kind == MARK_HIDDEN ||
           (m->kind == MARK_ASCII && (m->c == '-' || m->c == '_'));
}

size_t find_word_begin(const struct find_scan *s, size_t i)
{
    size_t least = i - s->from > FIND_HOST_MAX ? i - FIND_HOST_MAX : s->from;
    bool may_be_dense = false;
    bool is_first = true;

    for (;;) {
        struct mark m = mark_before(s->text, least, i);

        if (!is_host_char(&m)) {
            return i;
        }
        if (is_first && m.kind != MARK_HIDDEN) {
            may_be_dense = m.kind == MARK_DENSE;
            is_first = false;
        }
        if (m.kind == MARK_DENSE && !may_be_dense) {
            return i;
        }
        i -= m.n;
    }
}

static void run_add(const struct find_scan *s, struct find_run *run,
                    const struct mark *m)
{
    size_t n = m->kind == MARK_DOT ? 1 : m->n;
    size_t i = 0;

    if (m->kind == MARK_HIDDEN) {
        return;
    }
    if (n > FIND_HOST_MAX - run->n) {
        run->is_too_long = true;
        return;
    }
    for (i = 0; i < n; i++) { /* of a dot one byte, whichever */
        run->text[run->n] = s->text.p[run->end + i];
        run->raw[run->n++] = run->end;
    }
    if (m->kind == MARK_DOT) {
        run->text[run->n - 1] = '.';
    }
}

struct slice find_part_text(const struct find_run *run, struct find_part part)
{
    return slice_of(run->text + part.from, part.to - part.from);
}

/* Whether the text since the last empty label has a known suffix. */
static bool is_complete(const struct find_run *run, unsigned *questions)
{
    struct find_part part = {.from = run->n, .to = run->n};

    if (run->is_too_long || *questions >= RUN_QUESTIONS) {
        return false;
    }
    (*questions)++;
    while (part.from > 0 && (run->text[part.from - 1] != '.' || part.from < 2 ||
                             run->text[part.from - 2] != '.')) {
        part.from--;
    }
    return find_host_has_suffix(find_part_text(run, part));
}

void find_run_read(const struct find_scan *s, size_t start, struct find_run *run)
{
    enum mark_kind last = MARK_DOT;
    unsigned questions = 0;

    run->n = 0;
    run->hops = 0;
    run->begin = start;
    run->end = start;
    run->is_too_long = false;
    for (;;) {
        struct mark m = mark_at(s->text, run->end);

        if (!is_host_char(&m) && m.kind != MARK_DOT) {
            break;
        }
        if ((m.kind == MARK_DENSE && last == MARK_ASCII) ||
            (m.kind == MARK_DOT && m.is_wide)) {
            if (is_complete(run, &questions)) {
                break;
            }
        }
        if (m.kind == MARK_DENSE && last == MARK_DOT) {
            run->hops = run->n;
        }
        run_add(s, run, &m);
        run->end += m.n;
        last = m.kind != MARK_HIDDEN ? m.kind : last;
    }
    run->raw[run->n] = run->end;
}

struct find_part find_next_part(const struct find_run *run, size_t *at)
{
    struct find_part part = {.from = *at, .to = *at};

    while (part.from < run->n &&
           (run->text[part.from] == '.' || run->text[part.from] == '-')) {
        part.from++;
    }
    part.to = part.from;
    while (part.to < run->n &&
           (run->text[part.to] != '.' ||
            (part.to + 1 < run->n && run->text[part.to + 1] != '.'))) {
        part.to++;
    }
    *at = part.to;
    while (part.to > part.from &&
           (run->text[part.to - 1] == '-' || run->text[part.to - 1] == '_')) {
        part.to--;
    }
    return part;
}

static size_t label_begin(const struct find_run *run, struct find_part part)
{
    size_t i = part.to;

    while (i > part.from && run->text[i - 1] != '.') {
        i--;
    }
    return i;
}

/* "example.com.Then": the end of a sentence without its blank. */
static struct find_part without_sentence(const struct find_run *run,
                                         struct find_part part)
{
    size_t i = label_begin(run, part);
    struct find_part head = {.from = part.from, .to = i > part.from ? i - 1 : i};

    if (head.to > head.from && run->text[i] >= 'A' && run->text[i] <= 'Z' &&
        i + 1 < part.to && run->text[i + 1] >= 'a' && run->text[i + 1] <= 'z' &&
        find_host_check(find_part_text(run, head)) == FIND_HOST_SURE) {
        return head;
    }
    return part;
}

/* The longest known top level at the beginning of a label that runs into the next word. */
static struct find_part without_words(const struct find_run *run, struct find_part part)
{
    size_t label = label_begin(run, part);
    struct slice text = slice_of(run->text, part.to);
    struct find_part best = part;
    size_t i = label;
    size_t count = 0;

    if (run->hops != label || label == part.from) {
        return part;
    }
    while (i < part.to && count <= TOP_DENSE_MAX) {
        i += mark_at(text, i).n;
        count++;
        if (i <= part.to && find_host_is_top(slice_of(run->text + label, i - label))) {
            best.to = i;
        }
    }
    return best;
}

enum find_host find_host_in(const struct find_run *run, struct find_part *part)
{
    if (run->is_too_long || part->to <= part->from) {
        return FIND_HOST_NONE;
    }
    *part = without_sentence(run, without_words(run, *part));
    return find_host_check(find_part_text(run, *part));
}
