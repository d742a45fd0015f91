/* html_doctype - the states of doctypes; name and identifiers lie one after another in value. */
#include "core/message/html/html_internal.h"
#include "core/message/text/ascii.h"

void html_begin_doctype(struct html *h)
{
    h->doctype = (struct html_doctype){.is_quirks = false};
    h->value.n = 0;
    h->state = HTML_STATE_DOCTYPE_BEFORE_NAME;
}

static void begin_part(struct html *h, struct slice *part)
{
    *part = slice_of(h->value.p + h->value.n, 0);
}

static void add_part(struct html *h, struct slice *part, struct slice s)
{
    size_t before = h->value.n;

    while (s.n > 0) {
        size_t n = slice_find(s, '\0');

        html_text_add(&h->value, slice_head(s, n));
        if (n < s.n) {
            html_text_add(&h->value, HTML_REPLACEMENT);
        }
        s = slice_from(s, n + 1);
    }
    part->n += h->value.n - before;
}

static void emit_doctype(struct html *h, bool is_quirks)
{
    struct html_token token = {
        .kind = HTML_DOCTYPE, .at = h->mark, .doctype = &h->doctype};

    h->doctype.is_quirks = h->doctype.is_quirks || is_quirks;
    h->state = HTML_STATE_TEXT;
    h->on_token(h->context, &token);
}

static void end_doctype(struct html *h, struct slice *in, bool is_quirks)
{
    html_skip(in, 1);
    emit_doctype(h, is_quirks);
}

void html_end_doctype(struct html *h)
{
    emit_doctype(h, h->state != HTML_STATE_DOCTYPE_BOGUS);
}

static void begin_bogus(struct html *h, bool is_quirks)
{
    h->doctype.is_quirks = h->doctype.is_quirks || is_quirks;
    h->state = HTML_STATE_DOCTYPE_BOGUS;
}

/* After the opening quote. */
static void begin_id(struct html *h, struct slice *in, bool is_system)
{
    h->quote = in->p[0];
    h->is_system = is_system;
    begin_part(h, is_system ? &h->doctype.system_id : &h->doctype.public_id);
    html_skip(in, 1);
    h->state = HTML_STATE_DOCTYPE_ID;
}

void html_on_doctype_before_name(struct html *h, struct slice *in)
{
    if (html_is_space(in->p[0])) {
        html_skip(in, 1);
    } else if (in->p[0] == '>') {
        end_doctype(h, in, true);
    } else {
        begin_part(h, &h->doctype.name);
        h->state = HTML_STATE_DOCTYPE_NAME;
    }
}

void html_on_doctype_name(struct html *h, struct slice *in)
{
    size_t before = h->value.n;
    size_t n = 0;

    while (n < in->n && in->p[n] != '>' && !html_is_space(in->p[n])) {
        html_text_add_lower(&h->value, in->p[n]);
        n++;
    }
    h->doctype.name.n += h->value.n - before;
    html_skip(in, n);
    if (in->n > 0) {
        h->state = HTML_STATE_DOCTYPE_AFTER_NAME;
    }
}

void html_on_doctype_after_name(struct html *h, struct slice *in)
{
    char c = ASCII_LOWER(in->p[0]);

    if (html_is_space(c)) {
        html_skip(in, 1);
    } else if (c == '>') {
        end_doctype(h, in, false);
    } else if (c == 'p' || c == 's') {
        h->is_system = c == 's';
        h->nkeyword = 0;
        h->state = HTML_STATE_DOCTYPE_KEYWORD;
    } else {
        begin_bogus(h, true);
    }
}

void html_on_doctype_keyword(struct html *h, struct slice *in)
{
    struct slice keyword = h->is_system ? SLICE_LIT("system") : SLICE_LIT("public");

    if (h->nkeyword == keyword.n) {
        h->state = HTML_STATE_DOCTYPE_BEFORE_ID;
    } else if (ASCII_LOWER(in->p[0]) == keyword.p[h->nkeyword]) {
        h->nkeyword++;
        html_skip(in, 1);
    } else {
        begin_bogus(h, true);
    }
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

void html_on_doctype_before_id(struct html *h, struct slice *in)
{
    if (html_is_space(in->p[0])) {
        html_skip(in, 1);
    } else if (is_quote(in->p[0])) {
        begin_id(h, in, h->is_system);
    } else if (in->p[0] == '>') {
        end_doctype(h, in, true);
    } else {
        begin_bogus(h, true);
    }
}

void html_on_doctype_id(struct html *h, struct slice *in)
{
    size_t n = 0;

    while (n < in->n && in->p[n] != h->quote && in->p[n] != '>') {
        n++;
    }
    add_part(h, h->is_system ? &h->doctype.system_id : &h->doctype.public_id,
             slice_head(*in, n));
    html_skip(in, n);
    if (in->n == 0) {
        return;
    }
    if (in->p[0] == '>') {
        end_doctype(h, in, true);
        return;
    }
    html_skip(in, 1);
    h->state = h->is_system ? HTML_STATE_DOCTYPE_AFTER_SYSTEM
                            : HTML_STATE_DOCTYPE_AFTER_PUBLIC;
}

void html_on_doctype_after_public(struct html *h, struct slice *in)
{
    if (html_is_space(in->p[0])) {
        html_skip(in, 1);
    } else if (is_quote(in->p[0])) {
        begin_id(h, in, true);
    } else if (in->p[0] == '>') {
        end_doctype(h, in, false);
    } else {
        begin_bogus(h, true);
    }
}

void html_on_doctype_after_system(struct html *h, struct slice *in)
{
    if (html_is_space(in->p[0])) {
        html_skip(in, 1);
    } else if (in->p[0] == '>') {
        end_doctype(h, in, false);
    } else {
        begin_bogus(h, false);
    }
}

void html_on_doctype_bogus(struct html *h, struct slice *in)
{
    html_skip(in, slice_find(*in, '>'));
    if (in->n > 0) {
        end_doctype(h, in, false);
    }
}
