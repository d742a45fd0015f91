#include <string.h>

#include "core/extract/inside.h"
#include "core/feature/normal.h"
#include "core/text/charset.h"

static bool has_any_suffix(struct slice name, const char *const *suffixes)
{
    for (; *suffixes != NULL; suffixes++) {
        if (slice_has_suffix_nocase(name, slice_str(*suffixes))) {
            return true;
        }
    }
    return false;
}

/* A browser goes by the name when it is given a file: page.html is HTML whatever its type. */
static enum text_kind kind_of(const struct mail_part *part)
{
    static const char *const html_suffixes[] = {".htm",   ".html", ".shtml",
                                                ".xhtml", ".svg",  NULL};
    static const char *const text_suffixes[] = {".txt", ".ics", ".vcf", ".url", NULL};
    struct slice type = part->type;
    if (part->is_container) {
        return TEXT_NOT;
    }
    if (slice_eq(type, SLICE_LIT("text/html")) ||
        slice_eq(type, SLICE_LIT("application/xhtml+xml")) ||
        slice_eq(type, SLICE_LIT("image/svg+xml")) ||
        has_any_suffix(part->filename, html_suffixes)) {
        return TEXT_HTML;
    }
    if (slice_has_prefix(type, SLICE_LIT("text/")) ||
        slice_has_prefix(type, SLICE_LIT("message/")) ||
        slice_has_prefix(type, SLICE_LIT("multipart/")) ||
        has_any_suffix(part->filename, text_suffixes)) {
        return TEXT_PLAIN;
    }
    return TEXT_NOT;
}

static bool is_attachment(const struct mail_part *part)
{
    if (part->is_container) {
        return false;
    }
    return slice_eq(part->disposition, SLICE_LIT("attachment")) ||
           part->filename.n > 0 ||
           (!slice_has_prefix(part->type, SLICE_LIT("text/")) &&
            !slice_has_prefix(part->type, SLICE_LIT("multipart/")));
}

static bool make_window(struct extract *x)
{
    if (x->window == NULL) {
        x->window = arena_bytes(x->arena, EXTRACT_WINDOW);
    }
    return x->window != NULL;
}

static void begin_text(struct extract *x, const struct mail_part *part)
{
    x->kind = kind_of(part);
    x->charset = part->charset;
    x->nwindow = 0;
    x->text_at = 0;
    if (x->kind == TEXT_NOT) {
        return;
    }
    if (!make_window(x)) {
        x->kind = TEXT_NOT; /* extract_finish says limit=memory */
        return;
    }
    if (x->kind == TEXT_HTML && !extract_html_begin(x)) {
        x->kind = TEXT_PLAIN;
    }
}

void extract_on_part_begin(void *context, const struct mail_part *part)
{
    struct extract *x = context;
    if (x->stopped) {
        x->kind = TEXT_NOT;
        x->is_attachment = false;
        x->is_shown = false;
        return;
    }
    extract_place(x, part, SLICE_NONE);
    if (part->filename.n > 0) {
        featureset_add(x->set, FEATURE_attachment_name,
                       feature_normal_file_name(x->scratch, part->filename));
        arena_reset(x->scratch);
    }
    begin_text(x, part);
    extract_shown_begin(x, part);
    x->has_data = false;
    x->is_attachment = is_attachment(part) && sha256_init(&x->part_sum) == ERR_OK;
}

/* Multi-byte units that white space bytes may be part of: cut such text only at whole units. */
static bool is_wide(struct slice charset)
{
    return slice_has_prefix_nocase(charset, SLICE_LIT("utf-16")) ||
           slice_has_prefix_nocase(charset, SLICE_LIT("utf-32")) ||
           slice_has_prefix_nocase(charset, SLICE_LIT("utf16")) ||
           slice_has_prefix_nocase(charset, SLICE_LIT("utf32")) ||
           slice_has_prefix_nocase(charset, SLICE_LIT("ucs-")) ||
           slice_has_prefix_nocase(charset, SLICE_LIT("iso-10646-ucs"));
}

/* How much of the full window is scanned now: up to the last white space, so that no URL and no
 * character is cut. */
static size_t window_end(const struct extract *x)
{
    if (is_wide(x->charset)) {
        return x->nwindow & ~(size_t)3;
    }
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
    struct slice text =
        charset_to_utf8(x->text, x->charset, slice_of(x->window, n), &known);
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

static void add_text(struct extract *x, struct slice bytes)
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

void extract_on_part_data(void *context, const struct mail_part *part,
                          struct slice bytes)
{
    struct extract *x = context;
    (void)part;
    x->has_data = true;
    if (x->stopped) {
        return;
    }
    if (x->is_attachment) {
        sha256_add(&x->part_sum, bytes);
        extract_cpu_step(x, bytes.n);
    }
    if (x->kind != TEXT_NOT) {
        add_text(x, bytes);
    }
}

static void end_attachment(struct extract *x)
{
    char hex[SHA256_HEX + 1];
    sha256_final_hex(&x->part_sum, hex);
    featureset_set_offset(x->set, 0);
    /* The sum of nothing, or of the part that the budget left, names no attachment. */
    if (x->has_data && !x->stopped) {
        featureset_add(x->set, FEATURE_attachment, slice_str(hex));
    }
}

void extract_on_part_end(void *context, const struct mail_part *part)
{
    struct extract *x = context;
    if (part->is_container) {
        extract_shown_end(x, part);
        return;
    }
    if (x->kind != TEXT_NOT && !x->stopped) {
        scan_window(x, x->nwindow);
        if (x->kind == TEXT_HTML) {
            html_end(x->html);
            shown_end(x->shown);
            if (html_met_limit(x->html)) {
                featureset_set_limit(x->set, LIMIT_FLAG(html_attributes));
            }
            if (shown_met_limit(x->shown)) {
                featureset_set_limit(x->set, LIMIT_FLAG(html_depth));
            }
        }
    }
    if (x->is_attachment) {
        end_attachment(x);
    }
    extract_shown_end(x, part);
    x->kind = TEXT_NOT;
    x->is_attachment = false;
    x->nwindow = 0;
}
