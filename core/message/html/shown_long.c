/* shown_long - values that come in pieces: the target of a padded URL is still found. */

#include "core/message/html/shown_internal.h"
#include "core/message/text/ascii.h"

/* Whether the scheme is one that longurl does not read: "data:", "javascript:". White space alone
 * has no scheme yet. */
static bool has_other_scheme(struct slice value)
{
    char scheme[LONGURL_SCHEME_MAX];
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < value.n && n < sizeof(scheme); i++) {
        char c = value.p[i];

        if (c == ':') {
            struct slice s = slice_of(scheme, n);

            return n > 0 && !slice_eq(s, SLICE_LIT("http")) &&
                   !slice_eq(s, SLICE_LIT("https")) && !slice_eq(s, SLICE_LIT("ftp"));
        }
        if (ASCII_IS(c, ASCII_ALPHA)) {
            scheme[n++] = ASCII_LOWER(c);
        } else if ((unsigned char)c > ' ') {
            return false;
        } else {
            /* browsers drop it */
        }
    }
    return false;
}

static bool begin_url(struct shown *s)
{
    if (s->long_url == NULL) {
        s->long_url = arena_alloc(s->arena, sizeof(*s->long_url));
        s->met_limit = s->met_limit || s->long_url == NULL;
    }
    if (s->long_url != NULL) {
        longurl_begin(s->long_url);
    }
    return s->long_url != NULL;
}

/* How a value that begins so is read. */
static enum shown_long long_kind_of(struct shown *s, const struct html_token *t)
{
    bool is_content = slice_eq(t->name, SLICE_LIT("content"));

    if (is_content && slice_eq(t->tag, SLICE_LIT("meta"))) {
        memset(s->refresh, 0, sizeof(s->refresh));
        return SHOWN_LONG_REFRESH;
    }
    if (!shown_is_url(t)) {
        return SHOWN_LONG_PIECES;
    }
    return !has_other_scheme(t->value) && begin_url(s) ? SHOWN_LONG_URL
                                                       : SHOWN_LONG_PIECES;
}

/* Looks for "url=" with whatever white space in it; true: ret is what follows. */
static bool find_refresh(struct shown *s, struct slice text, struct slice *ret)
{
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '=' &&
            slice_eq(slice_of(s->refresh, SHOWN_REFRESH), SLICE_LIT("url"))) {
            *ret = slice_from(text, i + 1);
            return true;
        }
        if ((unsigned char)c > ' ') {
            memmove(s->refresh, s->refresh + 1, SHOWN_REFRESH - 1);
            s->refresh[SHOWN_REFRESH - 1] = ASCII_LOWER(c);
        }
    }
    return false;
}

static void on_refresh(struct shown *s, struct slice text)
{
    struct slice url;

    shown_tell(s, SHOWN_VALUE_TEXT, text);
    if (find_refresh(s, text, &url) && begin_url(s)) {
        s->long_value = SHOWN_LONG_URL;
        while (url.n > 0 && ((unsigned char)url.p[0] <= ' ' || url.p[0] == '"' ||
                             url.p[0] == '\'')) {
            url = slice_from(url, 1);
        }
        longurl_add(s->long_url, url);
    }
}

/* All pieces are read: reports the URL as the value of the attribute. */
static void end_url(struct shown *s, const struct html_token *t)
{
    struct html_token whole = *t;

    longurl_end(s->long_url);
    s->met_value = s->met_value || s->long_url->is_cut;
    whole.value = longurl_text(s->long_url);
    if (slice_eq(t->name, SLICE_LIT("content"))) {
        shown_tell(s, SHOWN_VALUE_REFRESH, whole.value);
    } else {
        shown_whole_attribute(s, &whole);
    }
}

void shown_long_attribute(struct shown *s, const struct html_token *t)
{
    bool is_first = s->long_value == SHOWN_LONG_NOT;

    if (is_first) {
        s->long_value = long_kind_of(s, t);
    }
    switch (s->long_value) {
    case SHOWN_LONG_URL:
        longurl_add(s->long_url, t->value);
        break;
    case SHOWN_LONG_REFRESH:
        on_refresh(s, t->value);
        break;
    case SHOWN_LONG_PIECES:
        shown_whole_attribute(s, t);
        if (shown_is_url(t)) {
            s->long_value = SHOWN_LONG_TEXT;
        }
        break;
    case SHOWN_LONG_TEXT:
        shown_tell(s, SHOWN_VALUE_TEXT, t->value);
        break;
    case SHOWN_LONG_NOT:
        break;
    }
    if (!t->is_cut) {
        if (s->long_value == SHOWN_LONG_URL) {
            end_url(s, t);
        }
        s->long_value = SHOWN_LONG_NOT;
    }
}
