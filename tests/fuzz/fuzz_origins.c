/* fuzz_origins - any text as STATE/peers/origins: what is read is written and read to the same. */
#include <string.h>

#include "core/base/base.h"
#include "core/store/origins.h"

#include "tests/fuzz/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct origins first = {.n = 0};
    struct origins second = {.n = 0};
    struct errinfo why = {.text = ""};

    FUZZ_CHECK(base_init() == ERR_OK);
    (void)state_file("peers/origins", slice_of((const char *)data, size));
    if (origins_read(state_folder(), &first, &why) != ERR_OK) {
        FUZZ_CHECK(first.n == 0 && why.text[0] != '\0');
        return 0;
    }
    FUZZ_CHECK(first.n <= ORIGINS_MAX);
    FUZZ_CHECK(origins_write(state_folder(), &first, &why) == ERR_OK);
    FUZZ_CHECK(origins_read(state_folder(), &second, &why) == ERR_OK);
    FUZZ_CHECK(second.n == first.n && second.quorum == first.quorum &&
               memcmp(second.self, first.self, sizeof(first.self)) == 0);
    for (unsigned i = 0; i < first.n; i++) {
        const struct origin_row *row = &first.v[i];
        FUZZ_CHECK(strcmp(row->name, second.v[i].name) == 0);
        FUZZ_CHECK(row->cap == second.v[i].cap && row->state == second.v[i].state);
        FUZZ_CHECK(origins_find(&first, row->origin) != NULL);
    }
    origins_fini(&first);
    origins_fini(&second);
    return 0;
}
