/* fuzz_held_link - any bytes as the file of a one-time link, and as its token: an open link has all that its
 * user needs, and it is used once. */
#include <string.h>

#include "core/base/base.h"
#include "core/base/checksum.h"
#include "core/quarantine/held_link.h"

#include "tests/fuzz/state.h"

static const char token[] = "0123456789abcdef0123456789abcdef";

static void put_link(struct slice bytes)
{
    struct sha256 sum;
    char name[SHA256_HEX + 1];
    char path[STATE_PATH];

    FUZZ_CHECK(sha256_init(&sum) == ERR_OK);
    sha256_add(&sum, slice_str(token));
    sha256_final_hex(&sum, name);
    (void)snprintf(path, sizeof(path), "quarantine/links/%s", name);
    (void)state_file(path, bytes);
    (void)snprintf(path, sizeof(path), "quarantine/links/%s.used", name);
    (void)unlink(state_path(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of((const char *)data, size);
    json_t *link = NULL;
    struct errinfo why;

    FUZZ_CHECK(base_init() == ERR_OK);
    FUZZ_CHECK(held_link_read(state_folder(), bytes, 1000, &link) != HELD_LINK_OPEN);
    put_link(bytes);
    if (held_link_read(state_folder(), slice_str(token), 1000, &link) ==
        HELD_LINK_OPEN) {
        FUZZ_CHECK(json_is_string(json_object_get(link, "recipient")));
        FUZZ_CHECK(json_is_string(json_object_get(link, "action")));
        json_decref(link);
        FUZZ_CHECK(held_link_use(state_folder(), slice_str(token)));
        FUZZ_CHECK(!held_link_use(state_folder(), slice_str(token)));
        FUZZ_CHECK(held_link_read(state_folder(), slice_str(token), 1000, &link) ==
                   HELD_LINK_USED);
        held_link_reopen(state_folder(), slice_str(token));
    } else {
        FUZZ_CHECK(link == NULL);
    }
    FUZZ_CHECK(held_link_sweep(state_folder(), 1, &why) == ERR_OK);
    return 0;
}
