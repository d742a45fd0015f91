/* skim - links found by their form alone, in text of a leaf that has used its time. */

#include "core/message/extract/extract_internal.h"
#include "core/message/text/ascii.h"

enum {
    SKIM_URL_MAX = 2048,  /* bytes of a link; a longer link is cut */
    SKIM_SCHEME_MAX = 8,  /* "https://" */
    SKIM_BLANKS_MAX = 64, /* white space between href, "=" and the value */
    SKIM_STEP = 64        /* bytes skipped in the time of one byte read */
};

/* True if c ends a link in HTML and in plain text. */
static bool ends_link(char c)
{
    return (unsigned char)c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>' ||
           c == '`';
}

static struct slice link_at(struct slice text)
{
    size_t n = 0;

    text = slice_head(text, SKIM_URL_MAX);
    while (n < text.n && !ends_link(text.p[n])) {
        n++;
    }
    while (n > 0 && strchr(".,;:!?)]}", text.p[n - 1]) != NULL) {
        n--;
    }
    return slice_head(text, n);
}

/* Replaces "&amp;" with "&", as HTML does. URLs of plain text do not contain "&amp;". */
static struct slice without_amp(struct slice link, char dst[SKIM_URL_MAX])
{
    const struct slice amp = SLICE_LIT("&amp;");
    size_t n = 0;

    for (size_t i = 0; i < link.n; i++) {
        dst[n++] = link.p[i];
        i += slice_has_prefix_nocase(slice_from(link, i), amp) ? amp.n - 1 : 0;
    }
    return slice_of(dst, n);
}

static void add_link(struct extract *x, struct slice link)
{
    char plain[SKIM_URL_MAX];

    extract_cpu_step(x, link.n + EXTRACT_CPU_FIND);
    (void)extract_try_link(x, without_amp(link, plain));
}

/* Adds the link with "//" at i, and with the scheme before it, if there is one. */
static size_t after_slashes(struct extract *x, struct slice text, size_t i)
{
    static const struct slice schemes[] = {{"https:", 6}, {"http:", 5}, {"ftp:", 4}};
    size_t begin = i + 2;

    for (size_t k = 0; k < LENGTH(schemes); k++) {
        struct slice before = i >= schemes[k].n
                                  ? slice_of(text.p + i - schemes[k].n, schemes[k].n)
                                  : SLICE_NONE;
        if (slice_eq_nocase(before, schemes[k])) {
            begin = i - schemes[k].n;
            break;
        }
    }
    struct slice link = link_at(slice_from(text, begin));
    if (slice_find(link, '.') < link.n || slice_find(link, ':') < link.n) {
        add_link(x, link);
    }
    return begin + link.n > i + 2 ? begin + link.n : i + 2;
}

static size_t at_www(struct extract *x, struct slice text, size_t i)
{
    struct slice link = link_at(slice_from(text, i));

    add_link(x, link);
    return i + (link.n > 0 ? link.n : 1);
}

static size_t skip_blanks(struct slice text, size_t i)
{
    size_t end = i + SKIM_BLANKS_MAX;

    while (i < text.n && i < end && (unsigned char)text.p[i] <= ' ') {
        i++;
    }
    return i;
}

/* Adds the value of the "href" at i, if it has no scheme and has the form of a host. */
static size_t at_href(struct extract *x, struct slice text, size_t i)
{
    size_t at = skip_blanks(text, i + 4);

    if (at >= text.n || text.p[at] != '=') {
        return i + 4;
    }
    at = skip_blanks(text, at + 1);
    if (at < text.n && (text.p[at] == '"' || text.p[at] == '\'')) {
        at = skip_blanks(text, at + 1);
    }
    struct slice link = link_at(slice_from(text, at));
    size_t host = slice_find(link, '/');
    if (ASCII_IS(link.n > 0 ? link.p[0] : ' ', ASCII_ALPHA | ASCII_DIGIT) &&
        slice_find(slice_head(link, host), '.') < host &&
        slice_find(link, ':') == link.n) {
        add_link(x, link);
    }
    return at;
}

/* Returns the next place of "//", "www." or "href", where a link may begin. */
static size_t next_place(struct slice text, size_t i)
{
    while (i + 4 <= text.n) {
        char c = text.p[i];
        struct slice rest = slice_from(text, i);

        if ((c == '/' && text.p[i + 1] == '/') ||
            ((c == 'w' || c == 'W') &&
             slice_has_prefix_nocase(rest, SLICE_LIT("www."))) ||
            ((c == 'h' || c == 'H') &&
             slice_has_prefix_nocase(rest, SLICE_LIT("href")))) {
            return i;
        }
        i++;
    }
    return text.n;
}

static void find_links(struct extract *x, struct slice text)
{
    size_t from = 0;
    size_t i = next_place(text, 0);

    while (i < text.n && !x->stopped) {
        extract_cpu_step(x, (i - from) / SKIM_STEP);
        from = i;
        if (text.p[i] == '/') {
            i = after_slashes(x, text, i);
        } else if (ASCII_LOWER(text.p[i]) == 'w') {
            i = at_www(x, text, i);
        } else {
            i = at_href(x, text, i);
        }
        i = next_place(text, i);
    }
}

void extract_skim(struct extract *x, struct slice text)
{
    bool is_file = x->leaf.depth > 0 || x->leaf.is_attachment;
    enum share share = is_file ? SHARE_SKIM_FILES : SHARE_SKIM_TEXT;

    if (x->is_over) {
        return;
    }
    if (x->shares.now != share) {
        extract_spend_on(x, share);
    } else {
        x->stopped = false;
    }
    find_links(x, text);
    x->is_over = x->stopped;
    x->stopped = true;
}
