#include "core/hub/api/api_html.h"

#include "core/base/markup.h"
#include "core/quarantine/held.h"

#define HTML_POLICY                                                             \
    "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors " \
    "'none'"

enum { SHOWN_BYTES = 4096 };

void api_html_add_decoded(struct buf *b, const char *value)
{
    struct buf shown;

    buf_init(&shown, SHOWN_BYTES);
    held_add_decoded(&shown, value);
    markup_add(b, buf_slice(&shown));
    buf_fini(&shown);
}

/* Same-origin, because with no-referrer a browser sends the form with the origin "null". */
struct buf *api_html_begin(struct api_call *call, unsigned status, const char *language,
                           const char *title)
{
    struct api_answer *a = &call->answer;

    buf_clear(&a->body);
    a->status = status;
    a->type = call->route->type;
    a->policy = HTML_POLICY;
    a->referrer = "same-origin";
    a->retry_s = 0;
    buf_printf(&a->body,
               "<!DOCTYPE html>\n<html lang=\"%s\">\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width\">\n"
               "<meta name=\"robots\" content=\"noindex\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n"
               "<title>%s</title>\n<main>\n<h1>%s</h1>\n",
               language, title, title);
    return &a->body;
}

void api_html_end(struct buf *b)
{
    buf_add_str(b, "</main>\n</html>\n");
}

struct slice api_html_prefix(const struct config *config)
{
    const struct slice url = slice_str(config->quarantine.url);
    const size_t scheme = slice_find_slice(url, SLICE_LIT("://"));
    const struct slice rest = slice_from(url, scheme + 3);
    const struct slice path = slice_from(rest, slice_find(rest, '/'));

    return path.n > 0 && path.p[path.n - 1] == '/' ? slice_head(path, path.n - 1)
                                                   : path;
}
