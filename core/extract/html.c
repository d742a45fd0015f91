/* html - what a reader of an HTML part sees, follows and loads. */
#include "core/extract/inside.h"

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* "scheme:" at the beginning, control bytes inside do not count. */
static bool has_scheme(struct slice value)
{
    size_t i = 0;
    while (i < value.n && value.p[i] != ':') {
        char c = value.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && c != '\t' && c != '\r' && c != '\n') {
            return false;
        }
        i++;
    }
    return i > 0 && i < value.n;
}

/* The value of an attribute that holds a URL. Relative ones say nothing about a host. */
static void html_link(struct extract *x, struct slice value)
{
    while (value.n > 0 && (unsigned char)value.p[0] <= ' ') {
        value = slice_from(value, 1);
    }
    value = slice_trim(value);
    if (has_scheme(value)) {
        if (!extract_try_link(x, value)) {
            extract_links_in_code(
                x, value); /* javascript:, data: and what hides in them */
            extract_numbers_in(x, value); /* tel:, bitcoin: */
        }
    } else if (value.n > 2 && is_slash(value.p[0]) && is_slash(value.p[1])) {
        while (value.n > 0 && is_slash(value.p[0])) {
            value = slice_from(value, 1);
        }
        extract_link(x, value);
    } else {
        extract_links_in_code(x, value);
    }
}

static void on_text(void *context, const struct shown_text *text)
{
    struct extract *x = context;
    extract_cpu_step(x, text->text.n);
    if (x->stopped) {
        return;
    }
    extract_tag_at(x, text->at);
    if (text->where == SHOWN_SCRIPT || text->where == SHOWN_STYLE ||
        text->where == SHOWN_COMMENT) {
        extract_links_in_code(x, text->text);
    } else {
        extract_links_of_tag(x,
                             text->text); /* seen or not: another reader may show it */
    }
    if (text->where == SHOWN_BODY && text->flags == 0) {
        extract_shown_text(x, text->text);
    }
}

static void on_value(void *context, enum shown_value_kind kind, struct slice value)
{
    struct extract *x = context;
    extract_cpu_step(x, value.n);
    if (x->stopped || value.n < 4) {
        return;
    }
    if (kind == SHOWN_VALUE_TEXT) {
        extract_links_in_code(x, value);
    } else {
        html_link(x, value);
    }
}

static void on_html(void *context, const struct html_token *token)
{
    struct extract *x = context;
    extract_cpu_step(x, token->value.n + 16);
    if (!x->stopped) {
        extract_tag_at(x, token->at);
        if (token->kind == HTML_START_TAG) {
            extract_shown_tag(x, token->tag);
        }
        shown_take(x->shown, token);
    }
}

bool extract_html_begin(struct extract *x)
{
    static const struct shown_events events = {.text = on_text, .value = on_value};
    if (x->shown == NULL) {
        x->shown = shown_new(x->arena, &events, x);
    }
    if (x->html == NULL) {
        x->html = html_new(x->arena, on_html, x);
    }
    return x->shown != NULL && x->html != NULL;
}
