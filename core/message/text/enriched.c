#include "core/message/text/enriched.h"

void enriched_init(struct enriched *e)
{
    e->ncommand = 0;
    e->nparam = 0;
    e->in_param = false;
}

static size_t put_text_byte(struct enriched *e, char c, char *dst)
{
    if (e->in_param) {
        if (e->nparam < sizeof(e->param)) {
            e->param[e->nparam++] = c;
        }
        return 0;
    }
    size_t n = 0;
    bool is_word_end = (unsigned char)c <= ' ';
    if (is_word_end && e->nparam > 0) {
        dst[n++] = ' ';
        memcpy(dst + n, e->param, e->nparam);
        n += e->nparam;
        e->nparam = 0;
    }
    dst[n++] = c;
    return n;
}

static size_t put_all(struct enriched *e, struct slice text, char *dst)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        n += put_text_byte(e, text.p[i], dst + n);
    }
    return n;
}

/* A command is whole. */
static size_t end_command(struct enriched *e, char *dst)
{
    struct slice name = slice_of(e->command + 1, e->ncommand - 1);
    e->ncommand = 0;
    if (slice_eq_nocase(name, SLICE_LIT("param")) ||
        slice_eq_nocase(name, SLICE_LIT("/param"))) {
        if (!e->in_param && name.p[0] != '/' && e->nparam > 0 &&
            e->nparam < sizeof(e->param)) {
            e->param[e->nparam++] = ' '; /* a second one in the word */
        }
        e->in_param = name.p[0] != '/';
        return 0;
    }
    if (slice_eq_nocase(name, SLICE_LIT("lt"))) {
        return put_text_byte(e, '<', dst);
    }
    return slice_eq_nocase(name, SLICE_LIT("nl")) ? put_text_byte(e, '\n', dst) : 0;
}

static size_t enriched_step(struct enriched *e, char c, char *dst)
{
    if (e->ncommand == 0 && c != '<') {
        return put_text_byte(e, c, dst);
    }
    if (e->ncommand == 1 && c == '<') {
        e->ncommand = 0;
        return put_text_byte(e, '<', dst);
    }
    if (c == '>') {
        return end_command(e, dst);
    }
    size_t n = 0;
    bool is_blank = (unsigned char)c <= ' ';
    if (e->ncommand > 0 &&
        (c == '<' || is_blank || e->ncommand == sizeof(e->command))) {
        /* none: no command has blanks */
        n = put_all(e, slice_of(e->command, e->ncommand), dst);
        e->ncommand = 0;
        if (c != '<') {
            return n + put_text_byte(e, c, dst + n);
        }
    }
    e->command[e->ncommand++] = c;
    return n;
}

size_t enriched_feed(struct enriched *e, struct slice in, char *dst)
{
    size_t n = 0;
    for (size_t i = 0; i < in.n; i++) {
        n += enriched_step(e, in.p[i], dst + n);
    }
    return n;
}

size_t enriched_end(struct enriched *e, char *dst)
{
    size_t n = put_all(e, slice_of(e->command, e->ncommand), dst);
    e->in_param = false;
    n += e->nparam > 0 ? put_text_byte(e, ' ', dst + n) : 0;
    enriched_init(e);
    return n;
}
