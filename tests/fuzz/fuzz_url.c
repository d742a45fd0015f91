/* fuzz_url - any bytes as a URL, in each reading; a canonical form must stay as it is. */
#include "core/message/url/percent.h"
#include "core/message/url/safebrowsing.h"
#include "core/message/url/unwrap.h"
#include "core/message/url/url.h"
#include "core/message/url/url_normal.h"
#include "core/message/url/urlkey.h"
#include "core/message/url/weburl.h"

#include "tests/fuzz/fuzz.h"

/* href is read as itself; a reference to it stays within bounds. */
static void read_web(struct arena *arena, struct slice text)
{
    struct weburl url = {0};
    struct weburl again = {0};

    if (weburl_parse(arena, text, NULL, &url) != ERR_OK) {
        return;
    }
    FUZZ_CHECK(url.href.n <= 3 * text.n + HOST_INPUT_MAX + 16);
    if (url.href.n <= URL_BYTES_MAX) {
        FUZZ_CHECK(weburl_parse(arena, url.href, NULL, &again) == ERR_OK);
        FUZZ_CHECK(slice_eq(again.href, url.href));
        (void)weburl_parse(arena, text, &again, &url);
        (void)weburl_parse(arena, slice_from(text, text.n / 2), &again, &url);
    }
}

/* Every expression begins with a part of the host and holds a slash. */
static void read_expressions(struct arena *arena, const struct safebrowsing *form)
{
    struct slice all[SAFEBROWSING_EXPRESSIONS_MAX];
    size_t n = safebrowsing_expressions(arena, form, all);
    size_t i = 0;

    FUZZ_CHECK(n > 0 && n <= SAFEBROWSING_EXPRESSIONS_MAX);
    for (i = 0; i < n; i++) {
        FUZZ_CHECK(slice_find(all[i], '/') < all[i].n);
        FUZZ_CHECK(all[i].n <= form->host.n + form->path.n + 1 + form->query.n);
    }
}

/* Looser keys are no longer than the URL, and stay as they are. */
static void read_keys(struct arena *arena, const struct url *url,
                      struct slice registrable)
{
    struct slice normal = url_normal(arena, url);
    struct slice clean = urlkey_clean(arena, url->canonical);
    struct slice folded = urlkey_folded(arena, normal);
    struct slice template = urlkey_template(arena, url, registrable);
    struct url again = {0};

    FUZZ_CHECK(clean.n > 0 && clean.n <= url->canonical.n);
    FUZZ_CHECK(folded.n == normal.n);
    FUZZ_CHECK(template.n > 0 && template.n <= url->canonical.n);
    FUZZ_CHECK(slice_eq(urlkey_clean(arena, clean), clean));
    if (url_parse(arena, normal, &again) == ERR_OK) {
        FUZZ_CHECK(slice_eq(url_normal(arena, &again), normal));
    }
}

static void read_targets(struct arena *arena, struct slice text)
{
    struct unwrap_target targets[UNWRAP_TARGETS_MAX];
    struct url url;
    bool is_cut = false;
    size_t n = unwrap_url(arena, text, targets, &is_cut);
    size_t i = 0;

    FUZZ_CHECK(n <= UNWRAP_TARGETS_MAX);
    FUZZ_CHECK(n == 0 || url_parse(arena, text, &url) != ERR_OK ||
               unwrap_may_carry(text, url.host.text));
    for (i = 0; i < n; i++) {
        FUZZ_CHECK(targets[i].depth >= 1 && targets[i].depth <= UNWRAP_DEPTH_MAX);
        FUZZ_CHECK(url_parse(arena, targets[i].url, &url) == ERR_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct url url = {0};
    struct url again = {0};
    struct safebrowsing form = {0};
    struct slice registrable;
    struct slice text = slice_of((const char *)data, size);

    FUZZ_CHECK(arena != NULL);
    if (url_parse(arena, text, &url) == ERR_OK) {
        FUZZ_CHECK(url.host.text.n > 0 && url.path.n > 0 && url.path.p[0] == '/');
        FUZZ_CHECK(url.canonical.n <= 3 * size + HOST_NAME_MAX_BYTES + 16);
        registrable = host_registrable(url.host.text);
        FUZZ_CHECK(registrable.n <= url.host.text.n);
        read_keys(arena, &url, url.host.kind == HOST_NAME ? registrable : SLICE_NONE);
        FUZZ_CHECK(safebrowsing_of_url(arena, &url, &form) == ERR_OK);
        read_expressions(arena, &form);
        if (url.canonical.n <= URL_BYTES_MAX && url.port == 0 && url.query.p == NULL &&
            url.path.p[url.path.n - 1] > ' ') {
            FUZZ_CHECK(url_parse(arena, url.canonical, &again) == ERR_OK);
            FUZZ_CHECK(slice_eq(again.host.text, url.host.text));
        }
    }
    read_web(arena, text);
    if (safebrowsing_parse(arena, text, &form) == ERR_OK) {
        read_expressions(arena, &form);
    }
    read_targets(arena, text);
    arena_free(&arena);
    return 0;
}
