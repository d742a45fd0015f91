/* fuzz_keyring - any text as keys/digest.key, and as one line of a key between members: what is read is
 * stored and read to the same keys. */
#include <string.h>

#include "core/base/base.h"
#include "core/ring/trust/digest_key.h"

#include "tests/fuzz/state.h"

static void check_line(struct slice line)
{
    struct hashkey key;
    struct errinfo why = {.text = ""};

    for (uint32_t id = 0; id < 2; id++) {
        if (digest_key_parse(line, id, &key, &why) == ERR_OK) {
            FUZZ_CHECK(key.id == id);
        } else {
            FUZZ_CHECK(why.text[0] != '\0');
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char filter[] = "000102030405060708090a0b0c0d0e0f\n";
    struct slice text = slice_of((const char *)data, size);
    struct keyring first;
    struct keyring second;
    struct errinfo why = {.text = ""};

    FUZZ_CHECK(base_init() == ERR_OK);
    check_line(text);
    (void)state_file("keys/filter.key", slice_str(filter));
    (void)state_file("keys/digest.key", text);
    if (keyring_load(state_folder(), &first, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return 0;
    }
    FUZZ_CHECK(first.n >= 1 && first.n <= KEYRING_MAX);
    FUZZ_CHECK(keyring_store_ring(state_folder(), first.ring, first.n, &why) == ERR_OK);
    FUZZ_CHECK(keyring_load(state_folder(), &second, &why) == ERR_OK);
    FUZZ_CHECK(second.n == first.n);
    for (unsigned i = 0; i < first.n; i++) {
        FUZZ_CHECK(second.ring[i].id == first.ring[i].id);
        FUZZ_CHECK(memcmp(second.ring[i].bytes, first.ring[i].bytes, HASHKEY_BYTES) ==
                   0);
        FUZZ_CHECK(keyring_find(&first, first.ring[i].id) != NULL);
    }
    return 0;
}
