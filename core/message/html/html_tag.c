/* html_tag - the states of tags and attributes, and which attributes are duplicates. */
#include "core/message/html/html_internal.h"
#include "core/message/text/ascii.h"

static void begin_tag(struct html *h, bool is_end_tag)
{
    h->is_end_tag = is_end_tag;
    h->is_self_closing = false;
    h->tag.n = 0;
    h->nnames = 0;
    if (!is_end_tag) {
        h->tag_number++;
    }
    h->state = HTML_STATE_TAG_NAME;
}

void html_on_tag_open(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (ASCII_IS(c, ASCII_ALPHA)) {
        begin_tag(h, false);
    } else if (c == '/') {
        h->state = HTML_STATE_END_TAG_OPEN;
        html_skip(in, 1);
    } else if (c == '!') {
        html_begin_comment(h, HTML_STATE_MARKUP);
        html_skip(in, 1);
    } else if (c == '?') {
        html_begin_comment(h, HTML_STATE_BOGUS);
    } else {
        h->state = HTML_STATE_TEXT;
        html_emit_text(h, SLICE_LIT("<"));
    }
}

void html_on_end_tag_open(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (ASCII_IS(c, ASCII_ALPHA)) {
        begin_tag(h, true);
    } else if (c == '>') {
        h->state = HTML_STATE_TEXT;
        html_skip(in, 1);
    } else {
        html_begin_comment(h, HTML_STATE_BOGUS);
    }
}

void html_end_tag_open(struct html *h)
{
    html_emit_text(h,
                   h->state == HTML_STATE_TAG_OPEN ? SLICE_LIT("<") : SLICE_LIT("</"));
}

void html_on_tag_name(struct html *h, struct slice *in)
{
    size_t n = 0;

    while (n < in->n && !html_ends_name(in->p[n])) {
        html_text_add_lower(&h->tag, in->p[n]);
        n++;
    }
    html_skip(in, n);
    if (in->n > 0) {
        html_emit(h, h->is_end_tag ? HTML_END_TAG : HTML_START_TAG, SLICE_NONE,
                  SLICE_NONE);
        h->state = HTML_STATE_BEFORE_NAME;
    }
}

/* The '>' of a tag. */
static void end_tag(struct html *h)
{
    struct html_token token = {.kind = HTML_TAG_END,
                               .at = h->mark,
                               .is_self_closing = h->is_self_closing,
                               .tag = html_text_slice(&h->tag)};

    h->state = HTML_STATE_TEXT;
    h->on_token(h->context, &token);
    if (!h->is_end_tag && !h->is_content_fixed) {
        html_begin_raw(h);
    }
}

void html_on_before_name(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (c == '>') {
        html_skip(in, 1);
        end_tag(h);
    } else if (c == '/') {
        html_skip(in, 1);
        h->state = HTML_STATE_SELF_CLOSING;
    } else if (html_is_space(c)) {
        html_skip(in, 1);
    } else {
        h->name.n = 0;
        h->value.n = 0;
        h->is_begun = false;
        html_text_add_lower(&h->name, c); /* even '=' begins a name here */
        html_skip(in, 1);
        h->state = HTML_STATE_NAME;
    }
}

void html_on_self_closing(struct html *h, struct slice *in)
{
    h->is_self_closing = in->p[0] == '>';
    h->state = HTML_STATE_BEFORE_NAME;
}

/* Whether an earlier attribute of this tag has the same name, as far as names are known. The table
 * has room: it is twice as many names. */
static bool is_duplicate(struct html *h)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct html_seen *slot = NULL;
    size_t i = 0;

    for (i = 0; i < h->name.n; i++) {
        hash = (hash ^ (unsigned char)h->name.p[i]) * UINT64_C(0x100000001b3);
    }
    hash ^= hash >> 32;
    slot = &h->seen[hash % HTML_SEEN_SLOTS];
    while (slot->tag_number == h->tag_number && slot->hash != hash) {
        slot = slot + 1 < h->seen + HTML_SEEN_SLOTS ? slot + 1 : h->seen;
    }
    if (slot->tag_number == h->tag_number) {
        return true;
    }
    if (h->nnames == HTML_ATTRIBUTES_MAX) {
        h->met_limit = true;
        return false;
    }
    h->nnames++;
    *slot = (struct html_seen){.hash = hash, .tag_number = h->tag_number};
    return false;
}

/* Emits the collected value as a piece of the attribute, or as its last. */
static void emit_value(struct html *h, bool is_last)
{
    struct html_token token = {
        .kind = HTML_ATTRIBUTE, .at = h->mark, .is_cut = !is_last};

    if (!h->is_end_tag) {
        if (!h->is_begun) {
            h->is_duplicate = is_duplicate(h);
        }
        token.is_duplicate = h->is_duplicate;
        token.tag = html_text_slice(&h->tag);
        token.name = html_text_slice(&h->name);
        token.value = html_text_slice(&h->value);
        h->on_token(h->context, &token);
    }
    h->is_begun = true;
    h->value.n = 0;
}

void html_emit_attribute(struct html *h)
{
    h->state = HTML_STATE_BEFORE_NAME;
    emit_value(h, true);
}

void html_add_value(struct html *h, struct slice s)
{
    html_collect(h, s, emit_value);
}

void html_on_name(struct html *h, struct slice *in)
{
    size_t n = 0;

    while (n < in->n && in->p[n] != '=' && !html_ends_name(in->p[n])) {
        html_text_add_lower(&h->name, in->p[n]);
        n++;
    }
    html_skip(in, n);
    if (in->n > 0) {
        h->state = HTML_STATE_AFTER_NAME;
    }
}

void html_on_after_name(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (html_is_space(c)) {
        html_skip(in, 1);
    } else if (c == '=') {
        html_skip(in, 1);
        h->state = HTML_STATE_BEFORE_VALUE;
    } else {
        html_emit_attribute(h);
    }
}

void html_on_before_value(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (html_is_space(c)) {
        html_skip(in, 1);
        return;
    }
    if (c == '>') {
        html_emit_attribute(h);
        return;
    }
    h->quote = '\0';
    if (c == '"' || c == '\'') {
        h->quote = c;
        html_skip(in, 1);
    }
    h->state = HTML_STATE_VALUE;
}

static size_t unquoted_run(struct slice s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] != '>' && s.p[n] != '&' && !html_is_space(s.p[n])) {
        n++;
    }
    return n;
}

void html_on_value(struct html *h, struct slice *in)
{
    size_t n =
        h->quote == '\0' ? unquoted_run(*in) : html_run_before(h, *in, h->quote, true);

    html_add_value(h, slice_head(*in, n));
    html_skip(in, n);
    if (in->n == 0) {
        return;
    }
    if (in->p[0] == '&') {
        html_skip(in, 1);
        html_begin_ref(h);
        return;
    }
    if (h->quote != '\0') {
        html_skip(in, 1);
    }
    html_emit_attribute(h);
}
