/* fuzz_textkey - any bytes as a text key; one that is taken is printed as it was read. */
#include "core/count/textkey.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    struct textkey key;
    char again[TEXTKEY_MAX];

    if (textkey_parse(text, &key, NULL) != ERR_OK) {
        return 0;
    }
    FUZZ_CHECK(textkey_print(&key, again) == ERR_OK);
    FUZZ_CHECK(strlen(again) == size && memcmp(again, data, size) == 0);
    FUZZ_CHECK(textkey_begin_s(&key) < TEXTKEY_END_S);
    FUZZ_CHECK(textkey_key64(&key) != 0);
    return 0;
}
