
#include "core/base/uninitialized.h"
#include "core/message/extract/extract_internal.h"
#include "core/message/extract/xml.h"
#include "core/message/url/longurl.h"

enum { HELD_MAX = ENRICHED_HELD_MAX }; /* of text that is not yet decided */
_Static_assert((int)HELD_MAX >= (int)UNFOLD_HELD_MAX, "either reader's fits");

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

static bool is_enriched(const struct leaf *leaf)
{
    return slice_eq(leaf->type, SLICE_LIT("text/enriched")) ||
           slice_eq(leaf->type, SLICE_LIT("text/richtext"));
}

bool extract_text_begin(struct extract *x, struct slice head, size_t *retmark)
{
    if (!make_window(x) || !extract_drawn_begin(x)) {
        return false;
    }
    x->nwindow = 0;
    x->text_at = 0;
    if (x->kind == TEXT_HTML && !extract_html_begin(x)) {
        x->kind = TEXT_PLAIN;
    }
    if (x->kind == TEXT_SCRIPT) {
        extract_code_begin(x);
    } else if (x->kind == TEXT_XML && !extract_xml_begin(x)) {
        return false;
    } else {
        /* nothing is needed */
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
    bool is_rtf = slice_has_prefix(head, SLICE_LIT("{\\rtf")); /* its NULs end fields */
    x->drops_nul = x->kind != TEXT_HTML && !is_rtf;
    x->is_enriched = x->kind == TEXT_PLAIN && !is_rtf && is_enriched(&x->leaf);
    enriched_init(&x->enriched);
    return true;
}

/* The bytes of the full window to scan now: up to the last white space, so that no URL and no
 * character is cut. A URL that fills the window keeps its host and path; in HTML the reader of tags
 * has it. */
static size_t window_end(struct extract *x)
{
    for (size_t i = x->nwindow; i > x->nwindow - EXTRACT_TAIL; i--) {
        if ((unsigned char)x->window[i - 1] <= ' ') {
            return i;
        }
    }
    size_t url = longurl_at_end(slice_of(x->window, x->nwindow));
    if (x->kind != TEXT_HTML && url < x->nwindow) {
        x->nwindow = url + longurl_shorten(x->window + url, x->nwindow - url);
        return url;
    }
    size_t end = x->nwindow;
    while (end > x->nwindow - 4 && ((unsigned char)x->window[end - 1] & 0xc0) == 0x80) {
        end--; /* a UTF-8 sequence that is not complete */
    }
    return (unsigned char)x->window[end - 1] >= 0xc0 ? end - 1 : x->nwindow;
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
    }
    if (x->kind == TEXT_HTML && !x->stopped) {
        html_feed(x->html, text);
    } else if (x->kind == TEXT_XML && !x->stopped) {
        extract_xml_text(x, text);
    } else if (x->kind == TEXT_SCRIPT && !x->stopped) {
        extract_code_text(x, text, x->text_at);
    } else if (!x->stopped) {
        x->is_seen = x->is_shown;
        extract_links_in(x, text, x->text_at);
        x->is_seen = false;
        extract_shown_text(x, text);
        extract_drawn_text(x, text);
    } else {
        /* for skimming only */
    }
    if (x->stopped) {
        extract_skim(x, text);
    }
    x->text_at += text.n;
    arena_reset(x->text);
    extract_cpu_step(x, n);
}

/* No program shows a NUL: the text before and behind it joins. HTML and RTF have their own
 * rules. */
static size_t without_nul(char *p, size_t n)
{
    size_t to = slice_find(slice_of(p, n), '\0');
    for (size_t i = to; i < n; i++) {
        if (p[i] != '\0') {
            p[to++] = p[i];
        }
    }
    return to;
}

static void add_to_window(struct extract *x, struct slice bytes)
{
    while (bytes.n > 0 && !x->is_over) {
        size_t room = EXTRACT_WINDOW - x->nwindow;
        size_t n = bytes.n < room ? bytes.n : room;
        char *to = x->window + x->nwindow;
        memcpy(to, bytes.p, n);
        x->nwindow += x->drops_nul ? without_nul(to, n) : n;
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
    char read[CHARSET_STREAM_STEP + HELD_MAX] UNINITIALIZED;
    if (!x->unfolds && !x->is_enriched) {
        add_to_window(x, bytes);
        return;
    }
    while (bytes.n > 0) {
        struct slice step = slice_head(bytes, CHARSET_STREAM_STEP);
        bytes = slice_from(bytes, step.n);
        size_t n = x->unfolds ? unfold_feed(&x->unfold, step, read)
                              : enriched_feed(&x->enriched, step, read);
        add_to_window(x, slice_of(read, n));
    }
}

static void end_text(struct extract *x)
{
    char held[HELD_MAX];
    if (x->unfolds) {
        add_to_window(x, slice_of(held, unfold_end(&x->unfold, held)));
    } else if (x->is_enriched) {
        add_to_window(x, slice_of(held, enriched_end(&x->enriched, held)));
    } else {
        /* nothing is held */
    }
}

static void decode(struct extract *x, struct slice bytes, bool is_last)
{
    char text[CHARSET_STREAM_STEP] UNINITIALIZED;
    size_t n = 0;
    do {
        n = charset_stream_feed(x->stream, &bytes, is_last, text);
        add_text(x, slice_of(text, n));
        extract_cpu_step(x, n);
    } while (!x->is_over && (bytes.n > 0 || (is_last && n > 0)));
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
    if (shown_met_value(x->shown)) {
        featureset_set_limit(x->set, LIMIT_FLAG(url_bytes));
    }
    if (shown_met_limit(x->shown)) {
        featureset_set_limit(x->set, LIMIT_FLAG(html_depth));
    }
}

void extract_text_end(struct extract *x)
{
    if (!x->is_over) {
        if (x->stream != NULL) {
            decode(x, SLICE_NONE, true);
        }
        end_text(x);
        scan_window(x, x->nwindow);
    }
    if (x->kind == TEXT_HTML) {
        end_html(x);
    } else if (x->kind == TEXT_XML) {
        extract_xml_end(x);
    } else {
        /* nothing waits */
    }
    extract_drawn_end(x);
    extract_code_end(x);
    x->code.is_open = false;
    charset_stream_free(&x->stream);
    x->nwindow = 0;
}
