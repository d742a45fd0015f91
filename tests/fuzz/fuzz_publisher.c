/* fuzz_publisher - any bytes as what a publisher's place gives and as what a server sends of its identity:
 * refused with a text, or printed to what was read. */
#include <string.h>

#include "core/base/base.h"
#include "core/ring/publish/repository.h"
#include "core/ring/publish/textlist.h"
#include "core/ring/trust/invite_internal.h"
#include "core/ring/trust/peer_identity.h"

#include "tests/fuzz/fuzz.h"
#include "tests/unit/trust/identity_seed.h"

static void check_repository(struct slice bytes, const struct identity *self)
{
    struct repository r;
    struct key_binding binding;
    struct errinfo why = {.text = ""};
    uint8_t key[OBJECT_KEY_BYTES];
    uint64_t since_ms = 0;

    if (repository_parse(bytes, &r, &why) == ERR_OK) {
        FUZZ_CHECK(r.heads.n <= REPOSITORY_LISTS_MAX);
        FUZZ_CHECK(repository_verify(&r, bytes, &self->origin, self->signing.key,
                                     &why) != ERR_OK);
        repository_fini(&r);
    } else {
        FUZZ_CHECK(why.text[0] != '\0');
    }
    (void)repository_key_parse(bytes, self->public_key, &binding, &why);
    (void)identity_pem_parse(bytes, key);
    (void)identity_cert_parse(bytes, self->signing.key, &since_ms, NULL);
}

static void check_invite(struct slice bytes)
{
    struct invite_request request;
    struct invite_response response;
    struct invite_response again;
    struct buf b;

    (void)invite_request_parse(bytes, &request);
    if (invite_response_parse(bytes, &response) == ERR_OK) {
        buf_init(&b, INVITE_RESPONSE_MAX);
        invite_response_print(&response, &b);
        FUZZ_CHECK(invite_response_parse(buf_slice(&b), &again) == ERR_OK);
        FUZZ_CHECK(again.is_member == response.is_member &&
                   again.version == response.version &&
                   strcmp(again.name, response.name) == 0 &&
                   slice_eq(again.manifest, response.manifest));
        buf_fini(&b);
    }
}

static void check_list(struct slice bytes)
{
    struct buf raw;
    struct textlist list = {.n = 0};
    struct textlist again = {.n = 0};
    struct errinfo why = {.text = ""};

    for (uint64_t records = 0; records < 4; records++) {
        buf_init(&raw, TEXTLIST_BYTES_MAX);
        buf_add(&raw, bytes);
        if (textlist_read(&raw, records, true, &list, &why) == ERR_OK) {
            FUZZ_CHECK(list.n == records);
            buf_clear(&raw);
            textlist_print(&list, &raw);
            FUZZ_CHECK(textlist_read(&raw, records, true, &again, &why) == ERR_OK);
            for (size_t i = 0; i < list.n; i++) {
                FUZZ_CHECK(textlist_compare(&list.v[i], &again.v[i]) == 0);
            }
            textlist_fini(&again);
            textlist_fini(&list);
        }
        buf_fini(&raw);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t seed[32] = {1, 0x5e};
    static struct identity self;
    struct slice bytes = slice_of((const char *)data, size);

    FUZZ_CHECK(base_init() == ERR_OK);
    if (self.signing.key[0] == 0) {
        identity_of_seed(seed, &self);
    }
    check_repository(bytes, &self);
    check_invite(bytes);
    check_list(bytes);
    return 0;
}
