/* html_comment - the states from "<!" on: comments, bogus comments, doctypes. */
#include "core/text/html_state.h"

void html_begin_comment(struct html *h, enum html_state state)
{
    h->value.n = 0;
    h->is_doctype = false;
    h->is_first = false;
    h->state = state;
}

/* Emits what is collected of a comment; a doctype is none. */
void html_emit_comment(struct html *h)
{
    struct slice s = html_text_slice(&h->value);

    if (h->is_first) {
        h->is_doctype = slice_has_prefix_nocase(s, SLICE_LIT("doctype"));
        h->is_first = false;
    }
    if (!h->is_doctype && s.n > 0) {
        html_emit(h, HTML_COMMENT, SLICE_NONE, s);
    }
    h->value.n = 0;
}

static void add_comment(struct html *h, struct slice s)
{
    while (s.n > 0) {
        size_t room = h->value.size - h->value.n;
        struct slice piece = slice_head(s, room);

        if (room == 0) {
            html_emit_comment(h);
            continue;
        }
        html_text_add(&h->value, piece);
        s = slice_from(s, piece.n);
    }
}

static void end_comment(struct html *h, struct slice *in)
{
    html_skip(in, 1);
    html_emit_comment(h);
    h->state = HTML_STATE_TEXT;
}

void html_on_markup(struct html *h, struct slice *in)
{
    if (in->p[0] == '-') {
        html_skip(in, 1);
        h->state = HTML_STATE_MARKUP_DASH;
    } else {
        h->is_first = true;
        h->state = HTML_STATE_BOGUS;
    }
}

void html_on_markup_dash(struct html *h, struct slice *in)
{
    if (in->p[0] == '-') {
        html_skip(in, 1);
        h->state = HTML_STATE_COMMENT_START;
    } else {
        add_comment(h, SLICE_LIT("-"));
        h->state = HTML_STATE_BOGUS;
    }
}

void html_on_bogus(struct html *h, struct slice *in)
{
    size_t n = slice_find(*in, '>');

    add_comment(h, slice_head(*in, n));
    html_skip(in, n);
    if (in->n > 0) {
        end_comment(h, in);
    }
}

void html_on_comment_start(struct html *h, struct slice *in)
{
    if (in->p[0] == '>') {
        end_comment(h, in);
    } else if (in->p[0] == '-') {
        html_skip(in, 1);
        h->state = HTML_STATE_COMMENT_START_DASH;
    } else {
        h->state = HTML_STATE_COMMENT;
    }
}

void html_on_comment_start_dash(struct html *h, struct slice *in)
{
    if (in->p[0] == '>') {
        end_comment(h, in);
    } else {
        h->state = HTML_STATE_COMMENT_DASH;
    }
}

void html_on_comment(struct html *h, struct slice *in)
{
    size_t n = slice_find(*in, '-');

    add_comment(h, slice_head(*in, n));
    html_skip(in, n);
    if (in->n > 0) {
        html_skip(in, 1);
        h->state = HTML_STATE_COMMENT_DASH;
    }
}

void html_on_comment_dash(struct html *h, struct slice *in)
{
    if (in->p[0] == '-') {
        html_skip(in, 1);
        h->state = HTML_STATE_COMMENT_END;
    } else {
        add_comment(h, SLICE_LIT("-"));
        h->state = HTML_STATE_COMMENT;
    }
}

void html_on_comment_end(struct html *h, struct slice *in)
{
    if (in->p[0] == '>') {
        end_comment(h, in);
    } else if (in->p[0] == '-') {
        html_skip(in, 1);
        add_comment(h, SLICE_LIT("-"));
    } else if (in->p[0] == '!') {
        html_skip(in, 1);
        h->state = HTML_STATE_COMMENT_BANG;
    } else {
        add_comment(h, SLICE_LIT("--"));
        h->state = HTML_STATE_COMMENT;
    }
}

void html_on_comment_bang(struct html *h, struct slice *in)
{
    if (in->p[0] == '>') {
        end_comment(h, in);
    } else {
        add_comment(h, SLICE_LIT("--!"));
        h->state = HTML_STATE_COMMENT;
    }
}
