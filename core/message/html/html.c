/* html - text and references, the loop over the states, the end of the input. */
#include "core/message/html/html.h"

#include "core/message/html/html_internal.h"
#include "core/message/html/html_ref.h"
#include "core/message/text/ascii.h"

void html_text_add(struct html_text *t, struct slice s)
{
    s = slice_head(s, t->size - t->n);
    if (s.n > 0) {
        memcpy(t->p + t->n, s.p, s.n);
        t->n += s.n;
    }
}

void html_emit(struct html *h, enum html_token_kind kind, struct slice name,
               struct slice value)
{
    struct html_token token = {
        .kind = kind, .at = h->mark, .name = name, .value = value};

    if (kind != HTML_TEXT && kind != HTML_COMMENT) {
        token.tag = html_text_slice(&h->tag);
    }
    h->on_token(h->context, &token);
}

void html_emit_text(struct html *h, struct slice s)
{
    while (s.n > 0) {
        struct slice piece = slice_head(s, slice_find(s, '\0'));

        if (piece.n > 0) {
            html_emit(h, h->is_raw ? HTML_RAW_TEXT : HTML_TEXT, SLICE_NONE, piece);
        }
        s = slice_from(s, piece.n);
        if (s.n > 0) {
            if (h->is_raw) {
                html_emit(h, HTML_RAW_TEXT, SLICE_NONE, HTML_REPLACEMENT);
            } else {
                html_emit(h, HTML_NUL, SLICE_NONE, slice_head(s, 1));
            }
            s = slice_from(s, 1);
        }
    }
}

static void collect_plain(struct html *h, struct slice s, html_piece_fn *emit)
{
    while (s.n > 0) {
        struct slice piece = slice_head(s, h->value.size - h->value.n);

        if (piece.n == 0) {
            emit(h, false);
            continue;
        }
        html_text_add(&h->value, piece);
        s = slice_from(s, piece.n);
    }
}

void html_collect(struct html *h, struct slice s, html_piece_fn *emit)
{
    while (s.n > 0) {
        size_t n = slice_find(s, '\0');

        collect_plain(h, slice_head(s, n), emit);
        if (n < s.n) {
            collect_plain(h, HTML_REPLACEMENT, emit);
        }
        s = slice_from(s, n + 1);
    }
}

void html_begin_ref(struct html *h)
{
    html_ref_init(&h->ref);
    h->after_ref = h->state;
    h->state = HTML_STATE_REF;
}

/* A text of nothing but '&' must not look for the same stop again and again. */
size_t html_run_before(struct html *h, struct slice s, char stop, bool ref)
{
    size_t n = 0;

    if (h->stop == NULL || h->stop < s.p || h->stop_byte != stop) {
        h->stop = s.p + slice_find(s, stop);
        h->stop_byte = stop;
    }
    n = (size_t)(h->stop - s.p);
    return ref ? slice_find(slice_head(s, n), '&') : n;
}

/* Text or a tag begins here. A line end that replaces CR stands nowhere in the chunk. */
static void mark(struct html *h, const char *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)h->chunk.p;

    if (at <= h->chunk.n) {
        h->mark = h->before + (size_t)at;
    }
}

static void on_text(struct html *h, struct slice *in)
{
    size_t n = html_run_before(h, *in, '<', true);

    mark(h, in->p);
    html_emit_text(h, slice_head(*in, n));
    if (n < in->n) {
        mark(h, in->p + n);
        if (in->p[n] == '<') {
            h->state = HTML_STATE_TAG_OPEN;
        } else {
            html_begin_ref(h);
        }
        n++;
    }
    html_skip(in, n);
}

/* next: the byte after the reference, 0 at the end. */
static void end_ref(struct html *h, char next)
{
    char out[HTML_REF_OUT];
    bool in_value = h->after_ref == HTML_STATE_VALUE;
    struct slice text = html_ref_text(&h->ref, in_value, next, out);

    h->state = h->after_ref;
    if (in_value) {
        html_add_value(h, text);
    } else {
        html_emit_text(h, text);
    }
}

static void on_ref(struct html *h, struct slice *in)
{
    bool done = false;
    bool used = true;

    while (in->n > 0 && used && !done) {
        used = html_ref_add(&h->ref, in->p[0], &done);
        if (used) {
            html_skip(in, 1);
        }
    }
    if (!used) {
        end_ref(h, in->p[0]);
    } else if (done) {
        end_ref(h, ';');
    } else {
        /* goes on in the next chunk */
    }
}

static const struct {
    html_state_fn *on;
    html_end_fn *end; /* NULL: nothing is left to say */
} states[HTML_STATE_COUNT] = {
    [HTML_STATE_TEXT] = {on_text, NULL},
    [HTML_STATE_REF] = {on_ref, NULL},
    [HTML_STATE_RAW] = {html_on_raw, NULL},
    [HTML_STATE_SCRIPT] = {html_on_script, NULL},
    [HTML_STATE_RAW_END] = {html_on_raw_end, html_end_raw},
    [HTML_STATE_PLAINTEXT] = {html_on_plaintext, NULL},
    [HTML_STATE_CDATA] = {html_on_cdata, NULL},
    [HTML_STATE_CDATA_BRACKET] = {html_on_cdata_bracket, html_end_cdata},
    [HTML_STATE_CDATA_END] = {html_on_cdata_end, html_end_cdata},
    [HTML_STATE_TAG_OPEN] = {html_on_tag_open, html_end_tag_open},
    [HTML_STATE_END_TAG_OPEN] = {html_on_end_tag_open, html_end_tag_open},
    [HTML_STATE_TAG_NAME] = {html_on_tag_name, NULL},
    [HTML_STATE_BEFORE_NAME] = {html_on_before_name, NULL},
    [HTML_STATE_SELF_CLOSING] = {html_on_self_closing, NULL},
    [HTML_STATE_NAME] = {html_on_name, html_emit_attribute},
    [HTML_STATE_AFTER_NAME] = {html_on_after_name, html_emit_attribute},
    [HTML_STATE_BEFORE_VALUE] = {html_on_before_value, html_emit_attribute},
    [HTML_STATE_VALUE] = {html_on_value, html_emit_attribute},
    [HTML_STATE_MARKUP] = {html_on_markup, html_end_comment},
    [HTML_STATE_MARKUP_DASH] = {html_on_markup_dash, html_end_comment},
    [HTML_STATE_BOGUS] = {html_on_bogus, html_end_comment},
    [HTML_STATE_COMMENT_START] = {html_on_comment_start, html_end_comment},
    [HTML_STATE_COMMENT_START_DASH] = {html_on_comment_start_dash, html_end_comment},
    [HTML_STATE_COMMENT] = {html_on_comment, html_end_comment},
    [HTML_STATE_COMMENT_DASH] = {html_on_comment_dash, html_end_comment},
    [HTML_STATE_COMMENT_END] = {html_on_comment_end, html_end_comment},
    [HTML_STATE_COMMENT_BANG] = {html_on_comment_bang, html_end_comment},
    [HTML_STATE_DOCTYPE] = {html_on_doctype, html_end_doctype},
};

struct html *html_new(struct arena *arena, html_token_fn *on_token, void *context)
{
    struct html *h = arena_alloc(arena, sizeof(*h));
    char *value = arena_bytes(arena, HTML_VALUE_MAX);

    if (h == NULL || value == NULL) {
        return NULL;
    }
    h->on_token = on_token;
    h->context = context;
    h->tag = (struct html_text){.p = h->tag_bytes, .size = sizeof(h->tag_bytes)};
    h->name = (struct html_text){.p = h->name_bytes, .size = sizeof(h->name_bytes)};
    h->value = (struct html_text){.p = value, .size = HTML_VALUE_MAX};
    return h;
}

void html_set_content(struct html *h, enum html_content content, struct slice tag)
{
    static const enum html_state first[] = {
        [HTML_CONTENT_DATA] = HTML_STATE_TEXT,
        [HTML_CONTENT_RCDATA] = HTML_STATE_RAW,
        [HTML_CONTENT_RAWTEXT] = HTML_STATE_RAW,
        [HTML_CONTENT_SCRIPT] = HTML_STATE_SCRIPT,
        [HTML_CONTENT_PLAINTEXT] = HTML_STATE_PLAINTEXT,
        [HTML_CONTENT_CDATA] = HTML_STATE_CDATA,
    };

    h->is_content_fixed = true;
    h->state = first[content];
    h->raw = first[content];
    h->is_raw = content != HTML_CONTENT_DATA && content != HTML_CONTENT_CDATA;
    h->may_ref = content == HTML_CONTENT_RCDATA;
    h->script = HTML_SCRIPT_PLAIN;
    h->tag.n = 0;
    html_text_add(&h->tag, tag);
}

static void feed_lines(struct html *h, struct slice utf8)
{
    h->stop = NULL;
    while (utf8.n > 0) {
        states[h->state].on(h, &utf8);
    }
}

void html_feed(struct html *h, struct slice utf8)
{
    h->before += h->chunk.n;
    h->chunk = utf8;
    if (h->was_cr && utf8.n > 0) {
        h->was_cr = false;
        html_skip(&utf8, utf8.p[0] == '\n' ? 1 : 0);
    }
    while (utf8.n > 0) {
        size_t n = slice_find(utf8, '\r');

        feed_lines(h, slice_head(utf8, n));
        html_skip(&utf8, n);
        if (utf8.n > 0) {
            h->was_cr = utf8.n == 1;
            if (h->was_cr || utf8.p[1] != '\n') {
                feed_lines(h, SLICE_LIT("\n"));
            }
            html_skip(&utf8, 1);
        }
    }
}

void html_end(struct html *h)
{
    if (h->state == HTML_STATE_REF) {
        end_ref(h, '\0');
    }
    if (states[h->state].end != NULL) {
        states[h->state].end(h);
    }
    h->state = HTML_STATE_TEXT;
    h->is_raw = false;
    h->was_cr = false;
    h->before = 0;
    h->mark = 0;
    h->chunk = SLICE_NONE;
}

bool html_met_limit(const struct html *h)
{
    return h->met_limit;
}
