/*
 * csv - one column of a table: quoted fields, doubled quotes, line ends in quotes.
 *
 * The column is the one that the options name, else the best known name in the header, else the
 * only field of the first record that looks like an entry. abuse.ch writes the header as a
 * comment; that is read too. The native forms of providers have all their columns read by name.
 */

#include "core/base/arena.h"
#include "core/base/uninitialized.h"
#include "core/feed/parser_internal.h"

/* Whether the record is still inside quotes after these bytes. */
static enum csv_state scan_field(enum csv_state state, char separator,
                                 struct slice line)
{
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        if (state == CSV_QUOTED) {
            state = c == '"' ? CSV_QUOTE : CSV_QUOTED;
        } else if (c == ' ' && state == CSV_FIELD) {
            continue; /* abuse.ch writes ", " */
        } else if (c == '"' && (state == CSV_FIELD || state == CSV_QUOTE)) {
            state = CSV_QUOTED;
        } else {
            state = c == separator ? CSV_FIELD : CSV_PLAIN;
        }
    }
    return state;
}

/* A field without its quotes; dst has room for the field. */
static struct slice unquote(struct slice field, char *dst)
{
    size_t n = 0;
    field = slice_trim(field);
    if (field.n == 0 || field.p[0] != '"') {
        return field;
    }
    for (size_t i = 1; i < field.n; i++) {
        if (field.p[i] == '"' && (i + 1 >= field.n || field.p[i + 1] != '"')) {
            break;
        }
        i += field.p[i] == '"';
        dst[n++] = field.p[i];
    }
    return slice_trim(slice_of(dst, n));
}

static bool is_number(struct slice s, size_t *ret)
{
    size_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || v > 9999) {
            return false;
        }
        v = v * 10 + (size_t)(s.p[i] - '0');
    }
    *ret = v;
    return s.n > 0 && v > 0;
}

/* A native form: keeps the names of all columns; false: the required column is missing. */
static bool read_names(struct feed *f, struct slice record)
{
    struct feed_fields *r = &f->fields;
    struct slice field;
    char *dst = r->header;
    bool is_header = false;

    r->n = 0;
    if (record.n > sizeof(r->header)) {
        return false;
    }
    while (r->n < FEED_FIELDS_MAX &&
           feed_csv_field(&record, f->csv.separator, &field)) {
        struct slice name = slice_trim(unquote(field, dst));
        if (name.n > 0) {
            memmove(dst, name.p, name.n);
        }
        r->name[r->n++] = slice_of(dst, name.n);
        is_header =
            is_header || slice_eq(slice_of(dst, name.n), slice_str(f->row->column));
        dst += name.n;
    }
    return is_header;
}

/* A native form: all fields by their names. dst has room for the record. */
static void take_fields(struct feed *f, struct slice record, char *dst)
{
    struct feed_fields *r = &f->fields;
    struct slice whole = record;
    struct slice field;

    for (size_t i = 0; i < r->n; i++) {
        if (!feed_csv_field(&record, f->csv.separator, &field)) {
            feed_bad(f, "the record has too few columns", whole);
            return;
        }
        r->value[i] = unquote(field, dst);
        dst += field.n;
    }
    if (feed_field(r, f->row->column).n == 0) {
        feed_ignored(f);
    } else {
        f->row->fields(f, r);
    }
}

/* The column with the best known name, or the named one; false: this is no such header. */
static bool read_csv_header(struct feed *f, struct slice record, char *dst)
{
    struct feed_csv *c = &f->csv;
    struct slice field;
    unsigned best = 0;

    if (f->row->column != NULL) {
        return read_names(f, record);
    }

    for (size_t i = 0; feed_csv_field(&record, c->separator, &field); i++) {
        struct slice name = unquote(field, dst);
        uint16_t hint = FEATURE_NONE;
        unsigned rank = feed_column_rank(name, &hint);
        if (f->options.csv_column.n > 0) {
            rank = slice_eq_nocase(name, f->options.csv_column) ? 1 : 0;
        }
        if (rank != 0 && (best == 0 || rank < best)) {
            best = rank;
            c->column = i;
            c->hint = hint;
        }
    }
    return best != 0;
}

/* Without a header: the only field that looks like an entry. */
static bool guess_column(struct feed *f, struct slice record, char *dst)
{
    struct feed_csv *c = &f->csv;
    struct slice field;
    size_t found = 0;

    for (size_t i = 0; feed_csv_field(&record, c->separator, &field); i++) {
        if (feed_looks_like_entry(unquote(field, dst))) {
            found++;
            c->column = i;
        }
    }
    return found == 1;
}

static void take_column(struct feed *f, struct slice record, char *dst)
{
    const struct feed_csv *c = &f->csv;
    struct slice field = SLICE_NONE;
    struct slice whole = record;

    for (size_t i = 0; i <= c->column; i++) {
        if (!feed_csv_field(&record, c->separator, &field)) {
            feed_bad(f, "the record has too few columns", whole);
            return;
        }
    }
    struct slice value = unquote(field, dst);
    if (value.n == 0) {
        feed_ignored(f);
        return;
    }
    feed_emit(f, value,
              f->options.entry_type != FEATURE_NONE ? f->options.entry_type : c->hint);
}

/* The first record: header or data. Returns false when it was the header. */
static bool begin_table(struct feed *f, struct slice record, char *dst)
{
    struct feed_csv *c = &f->csv;
    size_t number;

    c->is_ready = true;
    if (f->row->column != NULL) {
        if (!read_csv_header(f, record, dst)) {
            f->failed =
                errinfo_set(f->reterr, ERR_SYNTAX, f->name, (unsigned)f->counts.lines,
                            "no header names the column \"%s\" that lists in the "
                            "format %s have",
                            f->row->column, f->row->name);
        }
        return false;
    }
    if (is_number(f->options.csv_column, &number)) {
        c->column = number - 1;
        struct slice rest = record;
        struct slice field = SLICE_NONE;
        for (size_t i = 0; i < number; i++) {
            if (!feed_csv_field(&rest, c->separator, &field)) {
                return true;
            }
        }
        return feed_looks_like_entry(unquote(field, dst));
    }
    if (read_csv_header(f, record, dst)) {
        return false;
    }
    if (f->options.csv_column.n > 0) {
        f->failed =
            errinfo_set(f->reterr, ERR_SYNTAX, f->name, (unsigned)f->counts.lines,
                        "the table has no column \"%.*s\"; name one of its "
                        "header or give a number from 1",
                        SLICE_ARGS(slice_head(f->options.csv_column, 64)));
        return false;
    }
    if (!guess_column(f, record, dst)) {
        f->failed = errinfo_set(
            f->reterr, ERR_SYNTAX, f->name, (unsigned)f->counts.lines,
            "which column holds the entries is not clear; name it or give a number "
            "from 1");
        return false;
    }
    return true;
}

static void read_csv_record(struct feed *f, struct slice record)
{
    char dst[FEED_LINE_MAX] UNINITIALIZED;

    if (!f->csv.is_ready && !begin_table(f, record, dst)) {
        if (f->failed == ERR_OK) {
            feed_ignored(f);
        }
        return;
    }
    if (f->row->column != NULL) {
        take_fields(f, record, dst);
    } else {
        take_column(f, record, dst);
    }
}

/* A comment before the first record may be the header. */
static void read_comment(struct feed *f, struct slice line)
{
    struct feed_csv *c = &f->csv;
    char dst[FEED_LINE_MAX] UNINITIALIZED;
    struct slice text = slice_trim(line);
    char separator;
    size_t number;

    feed_ignored(f);
    while (text.n > 0 && (text.p[0] == '#' || text.p[0] == ' ')) {
        text = slice_from(text, 1);
    }
    separator = feed_csv_separator(text);
    if (c->is_ready || !feed_csv_is_word_row(text, separator) ||
        (f->row->column == NULL && is_number(f->options.csv_column, &number))) {
        return;
    }
    c->separator = separator;
    c->is_ready = read_csv_header(f, text, dst);
    if (!c->is_ready) {
        c->separator = '\0';
    }
}

void feed_line_csv(struct feed *f, struct slice line)
{
    struct feed_csv *c = &f->csv;

    if (f->record.lines == 0) {
        struct slice text = slice_trim(line);
        if (text.n == 0) {
            feed_ignored(f);
            return;
        }
        if (text.p[0] == '#') {
            read_comment(f, text);
            return;
        }
        if (c->separator == '\0') {
            c->separator = feed_csv_separator(line);
        }
        c->state = CSV_FIELD;
        if (memchr(line.p, '"', line.n) == NULL) {
            read_csv_record(f, line);
            return;
        }
    }
    c->state = scan_field(c->state, c->separator, line);
    if (!feed_record_add(f, line, "a quoted field is not closed within 16384 bytes") ||
        c->state == CSV_QUOTED) {
        return;
    }
    read_csv_record(f, slice_of(f->record.p, f->record.n));
    feed_record_end(f);
}
