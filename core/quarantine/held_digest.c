#include "core/quarantine/held_digest.h"

#include "core/base/random.h"
#include "core/config/shipped.h"
#include "core/quarantine/held.h"
#include "core/quarantine/mail_text.h"

enum { SHOWN_MAX = 1024, TIME_MAX = 64 };

struct slice held_digest_template(void)
{
    return digest_files[0].text;
}

bool held_digest_takes(const char *address)
{
    size_t ats = 0;

    for (const char *p = address; *p != '\0'; p++) {
        if (*p <= ' ' || *p > '~' || strchr("\"<>(),;:\\[]", *p) != NULL) {
            return false;
        }
        ats += *p == '@';
    }
    return ats == 1 && *address != '-' && *address != '@';
}

/* ---- values ---- */

/* Breaks what programs make links of. */
static void add_broken_links(struct buf *b, struct slice s)
{
    while (s.n > 0) {
        size_t n = 1;

        if (slice_has_prefix(s, SLICE_LIT("://"))) {
            buf_add_str(b, "[:]//");
            n = 3;
        } else if (slice_has_prefix_nocase(s, SLICE_LIT("www."))) {
            buf_add(b, slice_head(s, 3));
            buf_add_str(b, "[.]");
            n = 4;
        } else {
            buf_add_char(b, s.p[0]);
        }
        s = slice_from(s, n);
    }
}

/* A header value of a stranger for people. */
static void add_decoded(struct buf *b, const char *value)
{
    struct buf shown;

    buf_init(&shown, SHOWN_MAX);
    held_add_decoded(&shown, value);
    add_broken_links(b, buf_slice(&shown));
    buf_fini(&shown);
}

static void add_time(struct buf *b, const json_t *row)
{
    const time_t t = (time_t)held_number(row, "time_s");
    char text[TIME_MAX];
    struct tm tm;

    if (gmtime_r(&t, &tm) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm) > 0) {
        buf_add_str(b, text);
    }
}

static void add_from(struct buf *b, const json_t *row)
{
    add_decoded(b, held_text(row, "from"));
}

static void add_sender(struct buf *b, const json_t *row)
{
    add_decoded(b, held_text(row, "sender"));
}

static void add_subject(struct buf *b, const json_t *row)
{
    add_decoded(b, held_text(row, "subject"));
}

static void add_bytes(struct buf *b, const json_t *row)
{
    buf_printf(b, "%" PRIu64, held_number(row, "bytes"));
}

static void add_score(struct buf *b, const json_t *row)
{
    buf_printf(b, "%.1f", json_number_value(json_object_get(row, "score")));
}

static void add_case(struct buf *b, const json_t *row)
{
    add_decoded(b, held_text(row, "case"));
}

static void add_id(struct buf *b, const json_t *row)
{
    buf_add_str(b, held_text(row, "id"));
}

static void add_release(struct buf *b, const json_t *row)
{
    buf_add_str(b, held_text(row, "release_url"));
}

static void add_spam(struct buf *b, const json_t *row)
{
    buf_add_str(b, held_text(row, "spam_url"));
}

/* Names of a message. */
static const struct digest_name {
    const char *name;
    void (*add)(struct buf *b, const json_t *row);
    const char *needs; /* member without which the line is left out; NULL: none */
} names[] = {
    {"time", add_time, NULL},
    {"from", add_from, NULL},
    {"sender", add_sender, NULL},
    {"subject", add_subject, NULL},
    {"bytes", add_bytes, NULL},
    {"score", add_score, NULL},
    {"case", add_case, NULL},
    {"id", add_id, NULL},
    {"release", add_release, "release_url"},
    {"spam", add_spam, "spam_url"},
};

static const struct digest_name *find_name(struct slice name)
{
    for (size_t i = 0; i < LENGTH(names); i++) {
        if (slice_eq(name, slice_str(names[i].name))) {
            return &names[i];
        }
    }
    return NULL;
}

/* ---- lines of the template ---- */

/* Cuts text and the name in braces behind it off. False: the text is all that is left. */
static bool next_name(struct slice *line, struct slice *rettext, struct slice *retname)
{
    *rettext = slice_cut(line, '{');
    if (line->p == NULL) {
        return false;
    }
    *retname = slice_cut(line, '}');
    return true;
}

static bool line_is_wanted(struct slice line, const json_t *row)
{
    struct slice text;
    struct slice name;

    while (next_name(&line, &text, &name)) {
        const struct digest_name *n = find_name(name);

        if (n != NULL && n->needs != NULL && *held_text(row, n->needs) == '\0') {
            return false;
        }
    }
    return true;
}

/* row NULL: outside of {each}. */
static void add_line(const struct held_digest *d, struct slice line, const json_t *row,
                     struct buf *ret)
{
    struct slice text;
    struct slice name;

    while (next_name(&line, &text, &name)) {
        const struct digest_name *n = find_name(name);

        buf_add(ret, text);
        if (slice_eq(name, SLICE_LIT("recipient"))) {
            buf_add_str(ret, d->recipient);
        } else if (slice_eq(name, SLICE_LIT("count"))) {
            const size_t count = json_array_size(d->rows);
            buf_printf(ret, "%zu message%s", count, count == 1 ? "" : "s");
        } else if (slice_eq(name, SLICE_LIT("page"))) {
            buf_add(ret, slice_str(d->page_url));
        } else if (n != NULL && row != NULL) {
            n->add(ret, row);
        }
    }
    buf_add(ret, text);
}

static void add_each(const struct held_digest *d, struct slice block, struct buf *ret)
{
    for (size_t i = 0; i < json_array_size(d->rows) && i < HELD_DIGEST_ROWS; i++) {
        const json_t *row = json_array_get(d->rows, i);

        for (struct slice rest = block; rest.n > 0;) {
            const struct slice line = slice_cut(&rest, '\n');

            if (line_is_wanted(line, row)) {
                add_line(d, line, row, ret);
                buf_add_char(ret, '\n');
            }
        }
    }
}

/* ---- the mail ---- */

static const struct slice subject_name = {"Subject:", 8};

static void add_date(struct buf *b, uint64_t now_s)
{
    const time_t t = (time_t)now_s;
    char text[TIME_MAX];
    struct tm tm;

    if (gmtime_r(&t, &tm) != NULL &&
        strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S +0000", &tm) > 0) {
        buf_printf(b, "Date: %s\n", text);
    }
}

static void add_head(const struct held_digest *d, struct slice subject, struct buf *ret)
{
    uint64_t number = 0;
    struct buf text;

    random_bytes(&number, sizeof(number));
    buf_init(&text, HELD_TEMPLATE_MAX);
    add_line(d, slice_trim(slice_from(subject, subject_name.n)), NULL, &text);
    buf_printf(ret, "From: %s\nTo: %s\n", d->from, d->recipient);
    mail_text_add_field(ret, "Subject", buf_slice(&text));
    add_date(ret, d->now_s);
    buf_printf(ret,
               "Message-ID: <digest.%" PRIu64 ".%016" PRIx64 "@%s>\n"
               "Auto-Submitted: auto-generated\nMIME-Version: 1.0\n"
               "Content-Type: text/plain; charset=utf-8\n"
               "Content-Transfer-Encoding: quoted-printable\n\n",
               d->now_s, number, d->host);
    buf_fini(&text);
}

void held_digest_print(const struct held_digest *d, struct buf *ret)
{
    struct slice rest = d->template;
    struct buf body;

    buf_init(&body, HELD_DIGEST_MAX);
    add_head(d, slice_cut(&rest, '\n'), ret);
    (void)slice_cut(&rest, '\n');
    while (rest.n > 0) {
        const struct slice line = slice_cut(&rest, '\n');

        if (slice_eq(slice_trim(line), SLICE_LIT("{each}"))) {
            const size_t n = slice_find_slice(rest, SLICE_LIT("{end}"));
            add_each(d, slice_head(rest, n), &body);
            rest = slice_from(rest, n);
            (void)slice_cut(&rest, '\n');
            continue;
        }
        if (d->page_url != NULL ||
            slice_find_slice(line, SLICE_LIT("{page}")) == line.n) {
            add_line(d, line, NULL, &body);
            buf_add_char(&body, '\n');
        }
    }
    mail_text_add_body(ret, buf_slice(&body));
    ret->failed = ret->failed || body.failed;
    buf_fini(&body);
}

enum err held_digest_check(struct slice template, struct errinfo *reterr)
{
    static const char *const others[] = {"recipient", "count", "page", "each", "end"};
    struct slice rest = template;
    const size_t each = slice_find_slice(template, SLICE_LIT("\n{each}\n"));
    unsigned number = 0;

    if (!slice_has_prefix(template, subject_name)) {
        return errinfo_set(reterr, ERR_SYNTAX, NULL, 1,
                           "the first line must be \"Subject: ...\"");
    }
    if (each < template.n &&
        slice_find_slice(slice_from(template, each), SLICE_LIT("\n{end}")) ==
            template.n - each) {
        return errinfo_set(reterr, ERR_SYNTAX, NULL, 0, "{each} has no line {end}");
    }
    while (rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');
        struct slice text;
        struct slice name;

        number++;
        while (next_name(&line, &text, &name)) {
            if (find_name(name) == NULL &&
                name_index(name, others, LENGTH(others)) < 0) {
                return errinfo_set(reterr, ERR_SYNTAX, NULL, number,
                                   "{%.*s} is no name; gillnet(1) lists the names",
                                   SLICE_ARGS(slice_head(name, 40)));
            }
        }
    }
    return ERR_OK;
}
