/* fuzz_peer_invite - any bytes as a token, as a request, as an answer, as a line with a digest key: what is accepted prints
 * back to itself, and a sealed key opens under its own key alone.
 *
 * Input: a byte that chooses, the rest is the text. */
#include <string.h>

#include "core/ring/trust/digest_key.h"
#include "core/ring/trust/invite_internal.h"

#include "tests/fuzz/fuzz.h"

static void check_token(struct slice text)
{
    struct invite_token t;
    struct invite_token back;
    struct hashkey key;
    uint8_t seal[INVITE_SEAL_BYTES] = {1};
    uint8_t other[INVITE_SEAL_BYTES] = {2};
    struct buf printed;

    if (invite_parse(text, &t, NULL) != ERR_OK) {
        return;
    }
    FUZZ_CHECK(manifest_address_is_valid(slice_str(t.address)));
    /* sealed anew, for nobody knows the key of the one that came */
    uint8_t bytes[HASHKEY_BYTES] = {3};
    keyring_key_of(bytes, &key);
    buf_init(&printed, INVITE_TOKEN_MAX);
    FUZZ_CHECK(invite_token_open(&t, seal, &key) != ERR_OK);
    keyring_key_of(bytes, &key);
    FUZZ_CHECK(invite_token_print(&t, seal, &key, &printed) == ERR_OK);
    FUZZ_CHECK(invite_parse(buf_slice(&printed), &back, NULL) == ERR_OK);
    FUZZ_CHECK(memcmp(back.id, t.id, sizeof(t.id)) == 0);
    FUZZ_CHECK(strcmp(back.address, t.address) == 0);
    FUZZ_CHECK(invite_token_open(&back, other, &key) == ERR_KEY);
    FUZZ_CHECK(invite_token_open(&back, seal, &key) == ERR_OK);
    FUZZ_CHECK(memcmp(key.bytes, bytes, sizeof(bytes)) == 0);
    back.expires_s ^= 1; /* no part can be exchanged */
    FUZZ_CHECK(invite_token_open(&back, seal, &key) == ERR_KEY);
    buf_fini(&printed);
}

static void check_request(struct slice bytes)
{
    struct invite_request r;
    struct identity self = {.signing = {.not_before_ms = 0}};
    struct invite_token t = {.expires_s = 0};
    struct buf printed;

    if (invite_request_parse(bytes, &r) != ERR_OK) {
        return;
    }
    memcpy(t.id, r.id, sizeof(t.id));
    memcpy(t.secret, r.secret, sizeof(t.secret));
    memcpy(self.public_key, r.identity, sizeof(r.identity));
    self.signing = r.binding;
    buf_init(&printed, INVITE_REQUEST_MAX);
    FUZZ_CHECK(invite_request(&t, &self, r.address, &printed) == ERR_OK);
    /* hexadecimal digits may be large in what came */
    FUZZ_CHECK(slice_eq_nocase(buf_slice(&printed), bytes));
    buf_fini(&printed);
}

static void check_response(struct slice bytes)
{
    struct invite_response r;
    struct buf printed;

    if (invite_response_parse(bytes, &r) != ERR_OK) {
        return;
    }
    FUZZ_CHECK(manifest_name_is_valid(slice_str(r.name)));
    buf_init(&printed, INVITE_RESPONSE_MAX);
    invite_response_print(&r, &printed);
    FUZZ_CHECK(!buf_failed(&printed));
    FUZZ_CHECK(slice_eq_nocase(buf_slice(&printed), bytes));
    buf_fini(&printed);
}

static void check_ring_key(struct slice line)
{
    struct keyring k = {.n = 1};
    struct buf printed;

    if (digest_key_parse(line, 0, &k.ring[0], NULL) == ERR_SYNTAX) {
        return;
    }
    buf_init(&printed, DIGEST_KEY_TEXT_MAX);
    FUZZ_CHECK(digest_key_print(&k, k.ring[0].id, &printed) == ERR_OK);
    FUZZ_CHECK(slice_eq_nocase(buf_slice(&printed), line));
    buf_fini(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct slice rest = slice_of((const char *)data + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        check_token(rest);
        break;
    case 1:
        check_request(rest);
        break;
    case 2:
        check_response(rest);
        break;
    default:
        check_ring_key(rest);
        break;
    }
    return 0;
}
