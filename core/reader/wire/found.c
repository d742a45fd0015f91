/* found - finds become records, within the limits of the job. */

#include "core/reader/wire/found.h"

#include <stdarg.h>

#include "core/base/utf8.h"

enum { FOUND_BUFFER = 256 * 1024 };

struct found {
    const struct reader_job *job;
    found_write_fn *write;
    void *context;
    struct buf out;
    char place[FOUND_WHERE_MAX + 2]; /* a byte beyond the most tells where a cut is */
    size_t nplace;
    uint64_t bytes;
    uint32_t entries;
    unsigned facts; /* bits by enum record_fact */
    bool is_over;
};

struct found *found_new(const struct reader_job *job, found_write_fn *write,
                        void *context)
{
    struct found *f = calloc(1, sizeof(*f));

    if (f != NULL) {
        f->job = job;
        f->write = write;
        f->context = context;
        buf_init(&f->out, FOUND_BUFFER + RECORD_HEAD_BYTES + RECORD_PLACE_MAX +
                              RECORD_VALUE_MAX);
    }
    return f;
}

bool found_flush(struct found *f)
{
    if (f->is_over || buf_failed(&f->out) ||
        !f->write(f->context, buf_slice(&f->out))) {
        f->is_over = true;
    }
    buf_clear(&f->out);
    return !f->is_over;
}

void found_free(struct found **f)
{
    if (*f == NULL) {
        return;
    }
    if (!(*f)->is_over) {
        record_add(&(*f)->out, &(struct record){.kind = RECORD_END});
        (void)found_flush(*f);
    }
    buf_fini(&(*f)->out);
    free(*f);
    *f = NULL;
}

/* Writes a record at the place. */
static bool write_record(struct found *f, enum record_kind kind, unsigned detail,
                         struct slice value)
{
    if (f->is_over) {
        return false;
    }
    record_add(&f->out, &(struct record){.kind = kind,
                                         .detail = detail,
                                         .place = slice_of(f->place, f->nplace),
                                         .value = value});
    return f->out.n < FOUND_BUFFER || found_flush(f);
}

bool found_fact(struct found *f, enum record_fact fact)
{
    if ((f->facts & (1U << fact)) != 0) {
        return !f->is_over;
    }
    f->facts |= 1U << fact;
    return write_record(f, RECORD_FACT, fact, SLICE_NONE);
}

const struct reader_job *found_job(const struct found *f)
{
    return f->job;
}

uint64_t found_room(const struct found *f)
{
    return f->is_over ? 0 : f->job->limits.bytes - f->bytes;
}

/* Takes up to n bytes of the limit for all. Returns how many there are. */
static size_t take(struct found *f, size_t n)
{
    uint64_t room = found_room(f);

    if (n > room) {
        (void)found_fact(f, RECORD_BYTES);
        n = (size_t)room;
    }
    f->bytes += n;
    return n;
}

/* In as many records as it needs. */
static bool put_long(struct found *f, enum record_kind kind, unsigned detail,
                     struct slice s)
{
    const size_t want = s.n;
    bool is_more = true;

    s = slice_head(s, take(f, s.n));
    const bool is_all = s.n == want;
    while (s.n > 0 && is_more) {
        const struct slice head = slice_head(s, RECORD_VALUE_MAX);
        is_more = write_record(f, kind, detail, head);
        s = slice_from(s, head.n);
    }
    return is_all && is_more;
}

/* In one record; the end of a longer one is left out. */
static bool put_short(struct found *f, enum record_kind kind, unsigned detail,
                      struct slice s, size_t most)
{
    s = slice_head(s, most);
    return s.n == 0 ? !f->is_over
                    : write_record(f, kind, detail, slice_head(s, take(f, s.n))) &&
                          found_room(f) > 0;
}

void found_at(struct found *f, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    const int n = vsnprintf(f->place, sizeof(f->place), format, list);
    va_end(list);
    const size_t used = n > 0 ? (size_t)n : 0; /* perhaps more than there is room for */
    f->nplace =
        utf8_head(
            slice_of(f->place, used <= FOUND_WHERE_MAX ? used : FOUND_WHERE_MAX + 1),
            FOUND_WHERE_MAX)
            .n;
}

bool found_text(struct found *f, struct slice text, bool is_hidden)
{
    return put_long(f, RECORD_TEXT, is_hidden ? 1 : 0, text);
}

bool found_link(struct found *f, struct slice uri)
{
    return put_short(f, RECORD_LINK, 0, uri, FOUND_VALUE_MAX);
}

bool found_script(struct found *f, enum record_language language, struct slice source)
{
    return put_long(f, RECORD_SCRIPT, language, source);
}

bool found_code(struct found *f, enum record_symbology symbology, struct slice payload)
{
    return put_short(f, RECORD_CODE, symbology, payload, FOUND_CODE_MAX);
}

bool found_look(struct found *f, struct slice key)
{
    return put_short(f, RECORD_LOOK, 0, key, RECORD_LOOK_MAX);
}

static bool count_entry(struct found *f)
{
    if (f->entries >= f->job->limits.entries) {
        (void)found_fact(f, RECORD_ENTRIES);
        return false;
    }
    f->entries++;
    return true;
}

bool found_file_begin(struct found *f, struct slice name, struct slice type)
{
    char value[2 * FOUND_NAME_MAX + 1];
    size_t n;

    if (!count_entry(f)) {
        return false;
    }
    name = slice_head(name, FOUND_NAME_MAX);
    name = slice_head(name, slice_find(name, '\0'));
    type = slice_head(type, FOUND_NAME_MAX);
    if (name.n > 0) {
        memcpy(value, name.p, name.n);
    }
    n = name.n;
    value[n++] = '\0';
    if (type.n > 0) {
        memcpy(value + n, type.p, type.n);
    }
    return write_record(f, RECORD_FILE_BEGIN, 0, slice_of(value, n + type.n));
}

bool found_file_data(struct found *f, struct slice bytes)
{
    return put_long(f, RECORD_FILE_DATA, 0, bytes);
}

bool found_file_end(struct found *f, bool whole)
{
    return write_record(f, RECORD_FILE_END, whole ? 1 : 0, SLICE_NONE) &&
           found_room(f) > 0;
}

bool found_name(struct found *f, struct slice name)
{
    return count_entry(f) && put_short(f, RECORD_NAME, 0, name, FOUND_NAME_MAX);
}

bool found_ratio(struct found *f, uint64_t nin, uint64_t nout)
{
    if (nout <= RECORD_RATIO_FREE || nout / f->job->limits.ratio <= nin) {
        return !f->is_over;
    }
    (void)found_fact(f, RECORD_RATIO);
    return false;
}
