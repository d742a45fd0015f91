#include "core/quarantine/queue/sendmail_held.h"

enum { HEADER_MAX = 1 << 20, DIGITS_MAX = 20 };

/* Cuts the next record off: a letter and its text, with the lines that continue it. */
static bool next_record(struct slice *file, char *retcode, struct slice *rettext)
{
    struct slice rest = *file;
    const char *end = NULL;

    if (rest.n == 0) {
        return false;
    }
    do {
        struct slice line = slice_cut(&rest, '\n');
        end = line.p + line.n;
    } while (rest.n > 0 && (rest.p[0] == ' ' || rest.p[0] == '\t'));
    struct slice record = slice_of(file->p, (size_t)(end - file->p));
    *retcode = '\n';
    if (record.n > 0) {
        *retcode = record.p[0];
    }
    *rettext = slice_from(record, 1);
    *file = rest;
    return *retcode != '.';
}

/* "<bob@rcpt.example>" without its brackets. */
static struct slice address_in(struct slice s)
{
    if (s.n >= 2 && s.p[0] == '<' && s.p[s.n - 1] == '>') {
        return slice_from(slice_head(s, s.n - 1), 1);
    }
    return s;
}

bool sendmail_held_read(struct slice file, struct held *ret, struct arena *arena)
{
    struct slice whole = file;
    struct buf header;
    struct slice text;
    char code = 0;
    bool is_held = false;

    *ret = (struct held){.nrcpt = 0};
    while (next_record(&file, &code, &text)) {
        if (code == 'T') {
            (void)slice_to_u64(slice_head(text, DIGITS_MAX), 10, INT64_MAX,
                               &ret->time_s);
        } else if (code == 'S') {
            ret->sender = arena_copy(arena, address_in(text));
        } else if (code == 'q') {
            is_held = true;
            ret->reason = arena_copy(arena, text);
        } else if (code == 'R') {
            (void)slice_cut(&text, ':'); /* flags */
            held_add_recipient(ret, arena_copy(arena, address_in(text)));
        }
    }
    buf_init(&header, HEADER_MAX);
    sendmail_held_header(whole, &header);
    held_read_header(ret, buf_slice(&header), arena);
    buf_fini(&header);
    return is_held;
}

void sendmail_held_header(struct slice file, struct buf *ret)
{
    struct slice text;
    char code = 0;

    while (next_record(&file, &code, &text)) {
        if (code == 'H' && slice_has_prefix(text, SLICE_LIT("??"))) {
            buf_add(ret, slice_from(text, 2));
            buf_add_char(ret, '\n');
        }
    }
}

struct slice sendmail_held_data_folder(struct slice file)
{
    struct slice text;
    char code = 0;

    while (next_record(&file, &code, &text)) {
        if (code == 'd') {
            return text;
        }
    }
    return SLICE_NONE;
}
