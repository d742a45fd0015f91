/* external - message/external-body: a part that the reader is to fetch. Source: RFC 2046 5.2.3, RFC
 * 2017. */
#include "core/base/uninitialized.h"
#include "core/message/extract/extract_internal.h"
#include "core/message/mail/params.h"

enum { ADDRESS_MAX = 2048 };

struct address_text {
    char text[ADDRESS_MAX];
    size_t n;
};

/* Without white space: a long URL is broken over lines anywhere. */
static void add_part(struct address_text *a, struct slice part)
{
    for (size_t i = 0; i < part.n && a->n < sizeof(a->text); i++) {
        if ((unsigned char)part.p[i] > ' ') {
            a->text[a->n++] = part.p[i];
        }
    }
}

static void add_parameter(struct extract *x, struct slice field, const char *name,
                          struct address_text *a)
{
    struct slice value = param_token(x->scratch, field, slice_str(name));
    if (value.n > 0 && a->n > 0) {
        add_part(a, SLICE_LIT("/"));
    }
    add_part(a, value);
}

void extract_external_body(struct extract *x, struct slice content_type)
{
    struct address_text url UNINITIALIZED;
    struct address_text site UNINITIALIZED;
    if (!slice_has_prefix_nocase(content_type, SLICE_LIT("message/external-body"))) {
        return;
    }
    url.n = 0;
    site.n = 0;
    add_parameter(x, content_type, "url", &url);
    add_parameter(x, content_type, "site", &site);
    if (site.n > 0) {
        add_parameter(x, content_type, "directory", &site);
        add_parameter(x, content_type, "name", &site);
    }
    arena_reset(x->scratch);
    if (url.n > 0) {
        extract_link(x, slice_of(url.text, url.n));
    }
    if (site.n > 0) {
        extract_link(x, slice_of(site.text, site.n));
    }
}
