/* fuzz_auth - any bytes as Authentication-Results of a server that is trusted and of one that is
 * not: what passed is told by the first one only, and each domain is a host name. */
#include <string.h>

#include "core/message/extract/extract.h"
#include "core/message/url/host.h"

#include "tests/fuzz/fuzz.h"

enum { ARENA = 1 << 22, FIELD_MAX = 1 << 14 };

static char trusted_name[] = "mx.example";
static char *const trusted[] = {trusted_name};

static const struct extract_auth *read_field(struct arena *arena, struct slice value)
{
    static const struct extract_limits limits = {.mail = {.message_bytes = 1 << 20,
                                                          .decoded_bytes = 1 << 18,
                                                          .headers = 100,
                                                          .header_bytes = 1 << 16,
                                                          .header_field = 1 << 15,
                                                          .parts = 10,
                                                          .depth = 5},
                                                 .urls = 10,
                                                 .recipients = 10};
    struct extract *x = extract_new(arena, &limits, trusted, LENGTH(trusted));

    FUZZ_CHECK(x != NULL);
    extract_header(x, SLICE_LIT("Authentication-Results"), value);
    extract_end_of_headers(x);
    (void)extract_finish(x);
    return extract_auth(x);
}

static void check_domain(struct arena *arena, struct slice domain)
{
    struct host host;

    FUZZ_CHECK(domain.n == 0 ||
               (host_parse(arena, domain, &host) == ERR_OK && host.kind == HOST_NAME &&
                slice_eq(host.text, domain)));
}

static void check_auth(struct arena *arena, const struct extract_auth *a)
{
    FUZZ_CHECK(a->nsigners <= AUTH_SIGNATURES);
    FUZZ_CHECK(a->spf_pass == (a->spf == AUTH_PASS));
    FUZZ_CHECK(a->dkim_pass == (a->dkim == AUTH_PASS));
    FUZZ_CHECK(a->dmarc_pass == (a->dmarc == AUTH_PASS));
    FUZZ_CHECK(a->spf_pass || a->spf_domain.n == 0);
    FUZZ_CHECK(a->dkim_pass || a->nsigners + a->dkim_domain.n == 0);
    FUZZ_CHECK(a->dmarc_pass || a->dmarc_domain.n == 0);
    check_domain(arena, a->spf_domain);
    check_domain(arena, a->dkim_domain);
    check_domain(arena, a->dmarc_domain);
    for (unsigned i = 0; i < a->nsigners; i++) {
        FUZZ_CHECK(a->signer[i].n > 0);
        check_domain(arena, a->signer[i]);
        for (unsigned k = 0; k < i; k++) {
            FUZZ_CHECK(!slice_eq(a->signer[i], a->signer[k]));
        }
    }
}

/* The field as one of this server. */
static const struct extract_auth *read_of(struct arena *arena, struct slice server,
                                          struct slice results)
{
    char *text = arena_bytes(arena, server.n + results.n + 1);

    FUZZ_CHECK(text != NULL);
    memcpy(text, server.p, server.n);
    if (results.n > 0) {
        memcpy(text + server.n, results.p, results.n);
    }
    return read_field(arena, slice_of(text, server.n + results.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_head(slice_of((const char *)data, size), FIELD_MAX);
    struct arena *arena = arena_new(ARENA);

    FUZZ_CHECK(arena != NULL);
    check_auth(arena, read_of(arena, SLICE_LIT("mx.example; "), text));
    const struct extract_auth *other =
        read_of(arena, SLICE_LIT("mx.example.evil.example; "), text);
    FUZZ_CHECK(!other->has_results && other->spf == AUTH_ABSENT &&
               other->dkim == AUTH_ABSENT && other->dmarc == AUTH_ABSENT &&
               other->arc == AUTH_ABSENT && other->nsigners == 0);
    arena_free(&arena);
    return 0;
}
