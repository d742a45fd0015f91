/* fuzz_tokens - any text as the file of API tokens, and as an Authorization field: only lines that are whole
 * give a role. */
#include <string.h>

#include "core/base/base.h"
#include "core/base/log.h"
#include "core/hub/api/api_auth.h"

#include "tests/fuzz/state.h"

/* SHA-256 of "one". */
#define HASH "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct config config = {.api = {.local_role = API_READ}};
    const struct http_request good = {.authorization = SLICE_LIT("Bearer one")};
    const struct http_request given = {.authorization =
                                           slice_of((const char *)data, size)};
    struct slice text = slice_of((const char *)data, size);
    struct api_who who;

    FUZZ_CHECK(base_init() == ERR_OK);
    log_set_level(LOG_LEVEL_ERROR);
    struct api_tokens *t = api_tokens_new();
    FUZZ_CHECK(t != NULL);
    api_tokens_look(t, state_file("tokens", text));
    if (api_who(t, &config, &good, false, false, &who)) {
        FUZZ_CHECK(slice_find_slice(text, SLICE_LIT(HASH)) < text.n);
        FUZZ_CHECK(who.proof == API_BY_TOKEN && strlen(who.name) <= API_NAME_MAX);
        FUZZ_CHECK(api_token_name_is_valid(slice_str(who.name)));
        FUZZ_CHECK(api_tokens_have(t, &who));
    }
    if (api_who(t, &config, &given, false, false, &who)) {
        FUZZ_CHECK(who.role == API_NONE || who.proof == API_BY_TOKEN);
    }
    (void)api_foreign(&config, &given, false);
    api_tokens_free(&t);
    return 0;
}
