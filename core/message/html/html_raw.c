/* html_raw - the states of text without tags: raw text and its end, scripts, CDATA. */
#include "core/message/html/html_internal.h"
#include "core/message/text/ascii.h"

static const struct slice script_name = {"script", 6};

void html_begin_raw(struct html *h)
{
    static const struct {
        struct slice tag;
        enum html_state state;
        bool may_ref;
    } raw[] = {
        {{"script", 6}, HTML_STATE_SCRIPT, false},
        {{"style", 5}, HTML_STATE_RAW, false},
        {{"title", 5}, HTML_STATE_RAW, true},
        {{"textarea", 8}, HTML_STATE_RAW, true},
        {{"xmp", 3}, HTML_STATE_RAW, false},
        {{"iframe", 6}, HTML_STATE_RAW, false},
        {{"noembed", 7}, HTML_STATE_RAW, false},
        {{"noframes", 8}, HTML_STATE_RAW, false},
        {{"plaintext", 9}, HTML_STATE_PLAINTEXT, false},
    };
    size_t i = 0;

    for (i = 0; i < LENGTH(raw); i++) {
        if (slice_eq(html_text_slice(&h->tag), raw[i].tag)) {
            h->state = raw[i].state;
            h->raw = raw[i].state;
            h->may_ref = raw[i].may_ref;
            h->is_raw = true;
            h->script = HTML_SCRIPT_PLAIN;
        }
    }
}

/* After a '<', which is held back. */
static void begin_raw_end(struct html *h)
{
    h->raw_end[0] = '<';
    h->nraw_end = 1;
    h->state = HTML_STATE_RAW_END;
}

void html_on_raw(struct html *h, struct slice *in)
{
    size_t n = html_run_before(h, *in, '<', h->may_ref);

    html_emit_text(h, slice_head(*in, n));
    if (n < in->n) {
        if (in->p[n] == '<') {
            begin_raw_end(h);
        } else {
            html_begin_ref(h);
        }
        n++;
    }
    html_skip(in, n);
}

/* No end of raw text after all. */
static void drop_raw_end(struct html *h)
{
    html_emit_text(h, slice_of(h->raw_end, h->nraw_end));
    if (h->nraw_end > 1) { /* the '<' is not what the next byte follows */
        h->script =
            h->script == HTML_SCRIPT_LT ? HTML_SCRIPT_PLAIN : HTML_SCRIPT_ESCAPED;
    }
    h->state = h->raw;
}

void html_on_raw_end(struct html *h, struct slice *in)
{
    struct slice tag = html_text_slice(&h->tag);
    char c = in->p[0];
    bool goes_on = false;

    if (h->nraw_end == 1) {
        goes_on = c == '/';
    } else if (h->nraw_end < tag.n + 2) {
        goes_on = ASCII_LOWER(c) == tag.p[h->nraw_end - 2];
    } else if (tag.n > 0 && html_ends_name(c)) {
        h->is_raw = false;
        h->is_end_tag = true;
        h->is_self_closing = false;
        html_emit(h, HTML_END_TAG, SLICE_NONE, SLICE_NONE);
        h->state = HTML_STATE_BEFORE_NAME;
        return;
    } else {
        /* a longer name */
    }
    if (goes_on) {
        h->raw_end[h->nraw_end++] = c;
        html_skip(in, 1);
    } else {
        drop_raw_end(h);
    }
}

void html_end_raw(struct html *h)
{
    html_emit_text(h, slice_of(h->raw_end, h->nraw_end));
}

void html_on_plaintext(struct html *h, struct slice *in)
{
    html_emit_text(h, *in);
    html_skip(in, in->n);
}

/* One letter of a name that may be "script". */
static void match_script(struct html *h, char c)
{
    if (h->nscript < script_name.n && ASCII_LOWER(c) == script_name.p[h->nscript]) {
        h->nscript++;
    } else {
        h->nscript = (unsigned)script_name.n + 1;
    }
}

static enum html_script plain_next(enum html_script s, char c)
{
    if (s == HTML_SCRIPT_LT && c == '!') {
        return HTML_SCRIPT_ESCAPE;
    }
    if (s == HTML_SCRIPT_ESCAPE && c == '-') {
        return HTML_SCRIPT_ESCAPE_DASH;
    }
    if (s == HTML_SCRIPT_ESCAPE_DASH && c == '-') {
        return HTML_SCRIPT_ESCAPED_DASHES;
    }
    return HTML_SCRIPT_PLAIN;
}

static enum html_script escaped_next(struct html *h, enum html_script s, char c)
{
    if (s == HTML_SCRIPT_ESCAPED_LT && ASCII_IS(c, ASCII_ALPHA)) {
        h->nscript = 0;
        s = HTML_SCRIPT_ESCAPED_NAME;
    }
    if (s == HTML_SCRIPT_ESCAPED_NAME && ASCII_IS(c, ASCII_ALPHA)) {
        match_script(h, c);
        return s;
    }
    if (s == HTML_SCRIPT_ESCAPED_NAME && html_ends_name(c)) {
        return h->nscript == script_name.n ? HTML_SCRIPT_TWICE : HTML_SCRIPT_ESCAPED;
    }
    if (c == '-') {
        return s == HTML_SCRIPT_ESCAPED_DASH || s == HTML_SCRIPT_ESCAPED_DASHES
                   ? HTML_SCRIPT_ESCAPED_DASHES
                   : HTML_SCRIPT_ESCAPED_DASH;
    }
    return s == HTML_SCRIPT_ESCAPED_DASHES && c == '>' ? HTML_SCRIPT_PLAIN
                                                       : HTML_SCRIPT_ESCAPED;
}

static enum html_script twice_next(struct html *h, enum html_script s, char c)
{
    if (s == HTML_SCRIPT_TWICE_LT && c == '/') {
        h->nscript = 0;
        return HTML_SCRIPT_TWICE_NAME;
    }
    if (s == HTML_SCRIPT_TWICE_NAME && ASCII_IS(c, ASCII_ALPHA)) {
        match_script(h, c);
        return s;
    }
    if (s == HTML_SCRIPT_TWICE_NAME && html_ends_name(c)) {
        return h->nscript == script_name.n ? HTML_SCRIPT_ESCAPED : HTML_SCRIPT_TWICE;
    }
    if (c == '<') {
        return HTML_SCRIPT_TWICE_LT;
    }
    if (c == '-') {
        return s == HTML_SCRIPT_TWICE_DASH || s == HTML_SCRIPT_TWICE_DASHES
                   ? HTML_SCRIPT_TWICE_DASHES
                   : HTML_SCRIPT_TWICE_DASH;
    }
    return s == HTML_SCRIPT_TWICE_DASHES && c == '>' ? HTML_SCRIPT_PLAIN
                                                     : HTML_SCRIPT_TWICE;
}

static enum html_script script_next(struct html *h, char c)
{
    if (h->script < HTML_SCRIPT_ESCAPED) {
        return plain_next(h->script, c);
    }
    return h->script < HTML_SCRIPT_TWICE ? escaped_next(h, h->script, c)
                                         : twice_next(h, h->script, c);
}

void html_on_script(struct html *h, struct slice *in)
{
    size_t n = 0;

    while (n < in->n && (in->p[n] != '<' || h->script >= HTML_SCRIPT_TWICE)) {
        h->script = script_next(h, in->p[n]);
        n++;
    }
    html_emit_text(h, slice_head(*in, n));
    if (n < in->n) {
        h->script =
            h->script < HTML_SCRIPT_ESCAPED ? HTML_SCRIPT_LT : HTML_SCRIPT_ESCAPED_LT;
        begin_raw_end(h);
        n++;
    }
    html_skip(in, n);
}

void html_on_cdata(struct html *h, struct slice *in)
{
    size_t n = slice_find(*in, ']');

    html_emit_text(h, slice_head(*in, n));
    if (n < in->n) {
        h->state = HTML_STATE_CDATA_BRACKET;
        n++;
    }
    html_skip(in, n);
}

void html_on_cdata_bracket(struct html *h, struct slice *in)
{
    if (in->p[0] == ']') {
        html_skip(in, 1);
        h->state = HTML_STATE_CDATA_END;
    } else {
        html_emit_text(h, SLICE_LIT("]"));
        h->state = HTML_STATE_CDATA;
    }
}

void html_on_cdata_end(struct html *h, struct slice *in)
{
    if (in->p[0] == '>') {
        html_skip(in, 1);
        h->state = HTML_STATE_TEXT;
    } else if (in->p[0] == ']') {
        html_skip(in, 1);
        html_emit_text(h, SLICE_LIT("]"));
    } else {
        html_emit_text(h, SLICE_LIT("]]"));
        h->state = HTML_STATE_CDATA;
    }
}

void html_end_cdata(struct html *h)
{
    html_emit_text(h,
                   h->state == HTML_STATE_CDATA_END ? SLICE_LIT("]]") : SLICE_LIT("]"));
}
