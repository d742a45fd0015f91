#include <string.h>

#include "core/base/unfilled.h"
#include "core/extract/inside.h"

static bool make_window(struct extract *x)
{
    if (x->window == NULL) {
        x->window = arena_bytes(x->arena, EXTRACT_WINDOW);
    }
    return x->window != NULL;
}

/* The charset that the head of an HTML text names; a browser reads the text by it when nothing
 * else says how. */
static struct slice charset_of_meta(struct slice head)
{
    const struct slice word = SLICE_LIT("charset=");
    for (size_t i = 0; i + word.n < head.n; i++) {
        struct slice s = slice_from(head, i);
        if (!slice_has_prefix_nocase(s, word)) {
            continue;
        }
        s = slice_from(s, word.n);
        while (s.n > 0 && (s.p[0] == '"' || s.p[0] == '\'' || s.p[0] == ' ')) {
            s = slice_from(s, 1);
        }
        size_t n = 0;
        while (n < s.n && (s.p[n] == '-' || s.p[n] == '_' || s.p[n] == ':' ||
                           (s.p[n] >= '0' && s.p[n] <= '9') ||
                           ((s.p[n] | 32) >= 'a' && (s.p[n] | 32) <= 'z'))) {
            n++;
        }
        return slice_head(s, n);
    }
    return SLICE_NONE;
}

/* A page that could be read so far as to name its charset is in none of wide units. */
static struct slice charset_of_html(struct slice head)
{
    struct slice charset = charset_of_meta(head);
    bool is_wide = slice_has_prefix_nocase(charset, SLICE_LIT("utf-16")) ||
                   slice_has_prefix_nocase(charset, SLICE_LIT("utf-32")) ||
                   slice_has_prefix_nocase(charset, SLICE_LIT("utf-7")) ||
                   slice_has_prefix_nocase(charset, SLICE_LIT("ucs"));
    return is_wide ? SLICE_NONE : charset;
}

static bool is_folded(const struct leaf *leaf)
{
    return slice_eq(leaf->type, SLICE_LIT("text/calendar")) ||
           slice_eq(leaf->type, SLICE_LIT("application/ics")) ||
           slice_eq(leaf->type, SLICE_LIT("text/vcard")) ||
           slice_eq(leaf->type, SLICE_LIT("text/x-vcard")) ||
           slice_eq(leaf->type, SLICE_LIT("text/directory")) ||
           slice_has_suffix_nocase(leaf->name, SLICE_LIT(".ics")) ||
           slice_has_suffix_nocase(leaf->name, SLICE_LIT(".vcf"));
}

bool extract_text_begin(struct extract *x, struct slice head, size_t *retmark)
{
    if (!make_window(x)) {
        return false;
    }
    x->nwindow = 0;
    x->text_at = 0;
    if (x->kind == TEXT_HTML && !extract_html_begin(x)) {
        x->kind = TEXT_PLAIN;
    }
    struct slice charset = x->leaf.charset;
    if (charset.n == 0 && x->kind == TEXT_HTML) {
        /* Where it stands is not kept: for as long as the part lasts. */
        charset = arena_copy(x->arena, charset_of_html(head));
    }
    x->charset = charset_by_head(charset, head, retmark);
    x->stream = charset_stream_new(x->charset);
    x->unfolds = x->kind == TEXT_PLAIN && is_folded(&x->leaf);
    unfold_init(&x->unfold);
    return true;
}

/* How much of the full window is scanned now: up to the last white space, so that no URL and no
 * character is cut. */
static size_t window_end(const struct extract *x)
{
    for (size_t i = x->nwindow; i > x->nwindow - EXTRACT_TAIL; i--) {
        if ((unsigned char)x->window[i - 1] <= ' ') {
            return i;
        }
    }
    size_t end = x->nwindow;
    while (end > x->nwindow - 4 && ((unsigned char)x->window[end - 1] & 0x80) != 0) {
        end--; /* a UTF-8 sequence that is not complete */
    }
    return end;
}

static void scan_window(struct extract *x, size_t n)
{
    bool known = true;
    struct slice charset = x->stream != NULL ? SLICE_LIT("utf-8") : x->charset;
    struct slice text =
        charset_to_utf8(x->text, charset, slice_of(x->window, n), &known);
    if (!known && x->charset.n > 0) { /* no name is no lie */
        featureset_set_limit(x->set, LIMIT_FLAG(charset));
    }
    if (text.p == NULL && n > 0) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
    } else if (x->kind == TEXT_HTML) {
        html_feed(x->html, text);
    } else {
        extract_links_in(x, text, x->text_at);
        extract_shown_text(x, text);
    }
    x->text_at += text.n;
    arena_reset(x->text);
    extract_cpu_step(x, n);
}

static void add_to_window(struct extract *x, struct slice bytes)
{
    while (bytes.n > 0 && !x->stopped) {
        size_t room = EXTRACT_WINDOW - x->nwindow;
        size_t n = bytes.n < room ? bytes.n : room;
        memcpy(x->window + x->nwindow, bytes.p, n);
        x->nwindow += n;
        bytes = slice_from(bytes, n);
        if (x->nwindow == EXTRACT_WINDOW) {
            size_t end = window_end(x);
            scan_window(x, end);
            x->nwindow -= end;
            memmove(x->window, x->window + end, x->nwindow);
        }
    }
}

/* Text whose units are whole, in UTF-8 or one byte each. */
static void add_text(struct extract *x, struct slice bytes)
{
    char unfolded[CHARSET_STREAM_STEP + UNFOLD_HELD_MAX] UNFILLED;
    if (!x->unfolds) {
        add_to_window(x, bytes);
        return;
    }
    while (bytes.n > 0) {
        struct slice step = slice_head(bytes, CHARSET_STREAM_STEP);
        bytes = slice_from(bytes, step.n);
        size_t n = unfold_feed(&x->unfold, step, unfolded);
        add_to_window(x, slice_of(unfolded, n));
    }
}

static void decode(struct extract *x, struct slice bytes, bool is_last)
{
    char text[CHARSET_STREAM_STEP] UNFILLED;
    size_t n = 0;
    do {
        n = charset_stream_feed(x->stream, &bytes, is_last, text);
        add_text(x, slice_of(text, n));
        extract_cpu_step(x, n);
    } while (!x->stopped && (bytes.n > 0 || (is_last && n > 0)));
}

void extract_text_data(struct extract *x, struct slice bytes)
{
    if (x->stream != NULL) {
        decode(x, bytes, false);
    } else {
        add_text(x, bytes);
    }
}

static void end_html(struct extract *x)
{
    html_end(x->html);
    shown_end(x->shown);
    if (html_met_limit(x->html)) {
        featureset_set_limit(x->set, LIMIT_FLAG(html_attributes));
    }
    if (shown_met_limit(x->shown)) {
        featureset_set_limit(x->set, LIMIT_FLAG(html_depth));
    }
}

void extract_text_end(struct extract *x)
{
    if (!x->stopped) {
        char held[UNFOLD_HELD_MAX];
        if (x->stream != NULL) {
            decode(x, SLICE_NONE, true);
        }
        if (x->unfolds) {
            add_to_window(x, slice_of(held, unfold_end(&x->unfold, held)));
        }
        scan_window(x, x->nwindow);
        if (x->kind == TEXT_HTML) {
            end_html(x);
        }
    }
    charset_stream_free(&x->stream);
    x->nwindow = 0;
}
