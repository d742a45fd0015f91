/* fuzz_shared_info - any bytes as a server's answer to INFO: texts are printable and end in their room, and
 * the same answer gives the same; and as the id of an entry of a stream. */
#include <string.h>

#include "core/hub/shared/shared_info.h"
#include "core/hub/shared/shared_objects_internal.h"

#include "tests/fuzz/fuzz.h"

static void check_text(const char *text, size_t room)
{
    size_t n = strnlen(text, room);

    FUZZ_CHECK(n < room);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(text[i] >= ' ' && text[i] <= '~');
    }
}

static void check_place(struct slice text)
{
    struct objects_place place = {.seq = 0};
    char printed[OBJECTS_PLACE_TEXT];

    if (objects_place_parse(text, &place)) {
        (void)snprintf(printed, sizeof(printed), "%llu-%llu",
                       (unsigned long long)place.seq, (unsigned long long)place.part);
        FUZZ_CHECK(strlen(printed) <= text.n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct shared_server_status first;
    static struct shared_server_status second;
    struct shared_info info[2];
    struct slice text = slice_of((const char *)data, size);

    check_place(text);
    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    memset(info, 0, sizeof(info));
    shared_info_read(text, &first, &info[0]);
    shared_info_read(text, &second, &info[1]);
    FUZZ_CHECK(memcmp(&first, &second, sizeof(first)) == 0);
    FUZZ_CHECK(memcmp(&info[0], &info[1], sizeof(info[0])) == 0);
    check_text(first.product, sizeof(first.product));
    check_text(first.version, sizeof(first.version));
    check_text(first.policy, sizeof(first.policy));
    check_text(info[0].run_id, sizeof(info[0].run_id));
    FUZZ_CHECK(first.role <= SHARED_SENTINEL);
    return 0;
}
