/* fuzz_entry - any text as a list entry of people and feeds: refused with a text, or read from its own key to
 * the same; networks and hexadecimal digits print to what was read. */
#include <string.h>

#include "core/base/base.h"
#include "core/base/hash256.h"
#include "core/feed/exclude_internal.h"
#include "core/message/feature/feature.h"
#include "core/message/feature/list_keys.h"
#include "core/message/feature/network.h"

#include "tests/fuzz/fuzz.h"

enum { HEX_BYTES = 16 };

static void check_entry(struct arena *arena, struct slice text, enum feature_type hint)
{
    struct feature_entry e;
    struct feature_entry again;
    struct errinfo why = {.text = ""};

    if (feature_entry_parse(text, hint, arena, &e, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return;
    }
    FUZZ_CHECK(e.class_type != 0 && e.text.n > 0);
    struct slice written = e.written.n > 0 ? e.written : e.text;
    struct slice key = feature_entry_key(e.class_type, written, arena);
    FUZZ_CHECK(slice_eq(key, e.text));
    if (feature_entry_parse(written, (enum feature_type)e.class_type, arena, &again,
                            &why) == ERR_OK) {
        FUZZ_CHECK(again.class_type == e.class_type && slice_eq(again.text, e.text));
    }
    for (unsigned match = URL_MATCH_EXACT; match <= URL_MATCH_FOLDED; match++) {
        again = feature_entry_matched(&e, (enum url_match)match, arena);
        FUZZ_CHECK(again.text.n > 0);
    }
}

static void check_network(struct arena *arena, struct slice text)
{
    struct slice first = SLICE_NONE;
    struct slice second = SLICE_NONE;
    struct errinfo why = {.text = ""};
    struct ipnet net;

    if (feature_network_parse(arena, text, &first, &why) == ERR_OK) {
        FUZZ_CHECK(feature_network_parse(arena, first, &second, &why) == ERR_OK);
        FUZZ_CHECK(slice_eq(first, second) && exclude_network_parse(first, &net));
    }
    (void)exclude_network_parse(text, &net);
}

static void check_hex(struct slice text)
{
    uint8_t bytes[HEX_BYTES];
    char printed[2 * HEX_BYTES + 1];

    if (hex_parse(text, bytes, sizeof(bytes))) {
        hex_print(bytes, sizeof(bytes), printed);
        FUZZ_CHECK(slice_eq_nocase(slice_str(printed), text));
        FUZZ_CHECK(hex_parse_lower(text, bytes, sizeof(bytes)) ==
                   slice_eq(slice_str(printed), text));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum feature_type hints[] = {
        FEATURE_NONE, FEATURE_url, FEATURE_url_domain, FEATURE_from, FEATURE_subject};
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct slice text = slice_of((const char *)data, size);

    FUZZ_CHECK(arena != NULL && base_init() == ERR_OK);
    for (size_t i = 0; i < LENGTH(hints); i++) {
        check_entry(arena, text, hints[i]);
    }
    check_network(arena, text);
    check_hex(text);
    arena_free(&arena);
    return 0;
}
