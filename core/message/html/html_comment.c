/* html_comment - the states from "<!" on: comments, bogus comments and doctypes. */
#include "core/message/html/html_internal.h"
#include "core/message/text/ascii.h"

static const struct slice doctype_name = {"doctype", 7};

void html_begin_comment(struct html *h, enum html_state state)
{
    h->value.n = 0;
    h->state = state;
}

static void emit_comment(struct html *h, bool is_last)
{
    struct html_token token = {.kind = HTML_COMMENT,
                               .at = h->mark,
                               .is_cut = !is_last,
                               .value = html_text_slice(&h->value)};

    h->on_token(h->context, &token);
    h->value.n = 0;
}

static void add_comment(struct html *h, struct slice s)
{
    html_collect(h, s, emit_comment);
}

static void end_comment(struct html *h, struct slice *in)
{
    html_skip(in, 1);
    emit_comment(h, true);
    h->state = HTML_STATE_TEXT;
}

void html_end_comment(struct html *h)
{
    if (h->state == HTML_STATE_MARKUP_DASH) {
        add_comment(h, SLICE_LIT("-"));
    }
    emit_comment(h, true);
}

/* A beginning of "doctype" is collected, because it may be a bogus comment. */
void html_on_markup(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (c == '-' && h->value.n == 0) {
        html_skip(in, 1);
        h->state = HTML_STATE_MARKUP_DASH;
    } else if (ASCII_LOWER(c) == doctype_name.p[h->value.n]) {
        html_text_add(&h->value, slice_head(*in, 1));
        html_skip(in, 1);
        if (h->value.n == doctype_name.n) {
            h->value.n = 0;
            h->state = HTML_STATE_DOCTYPE;
        }
    } else {
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

/* In every state of the standard's, quotes included, a '>' ends a doctype. */
void html_on_doctype(struct html *h, struct slice *in)
{
    html_skip(in, slice_find(*in, '>'));
    if (in->n > 0) {
        html_skip(in, 1);
        h->state = HTML_STATE_TEXT;
        html_end_doctype(h);
    }
}

void html_end_doctype(struct html *h)
{
    struct html_token token = {.kind = HTML_DOCTYPE, .at = h->mark};

    h->on_token(h->context, &token);
}
