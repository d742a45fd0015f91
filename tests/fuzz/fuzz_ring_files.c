/* fuzz_ring_files - any bytes as the files of STATE/peers that people may touch: self, invitations, the log of
 * good mail. What is read is written and read to the same. */
#include <string.h>

#include "core/base/base.h"
#include "core/ring/trust/invite_internal.h"

#include "tests/fuzz/state.h"

static void check_self(const char *dir, struct slice bytes)
{
    struct ring_self self = {.name = ""};
    struct ring_self again = {.name = ""};
    struct errinfo why = {.text = ""};

    (void)state_file("peers/self", bytes);
    if (ring_self_load(dir, 1, &self, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
    } else if (self.name[0] != '\0') {
        FUZZ_CHECK(manifest_name_is_valid(slice_str(self.name)));
        FUZZ_CHECK(ring_self_store(dir, &self, &why) == ERR_OK);
        FUZZ_CHECK(ring_self_load(dir, 1, &again, &why) == ERR_OK);
        FUZZ_CHECK(strcmp(again.name, self.name) == 0 &&
                   strcmp(again.address, self.address) == 0);
    }
}

static void check_invites(const char *dir, struct slice bytes)
{
    static struct invite_file rows;
    static struct invite_file again;
    static struct invite_row shown[INVITES_MAX];
    struct errinfo why = {.text = ""};

    (void)state_file("peers/invites", bytes);
    if (invite_rows_read(dir, &rows, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return;
    }
    FUZZ_CHECK(rows.n <= INVITES_MAX && invite_rows(dir, shown) == rows.n);
    FUZZ_CHECK(invite_rows_write(dir, &rows, &why) == ERR_OK);
    FUZZ_CHECK(invite_rows_read(dir, &again, &why) == ERR_OK && again.n == rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        FUZZ_CHECK(strcmp(rows.v[i].name, again.v[i].name) == 0);
        FUZZ_CHECK(rows.v[i].expires_s == again.v[i].expires_s &&
                   rows.v[i].is_used == again.v[i].is_used &&
                   memcmp(rows.v[i].id, again.v[i].id, INVITE_ID_BYTES) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of((const char *)data, size);
    char dir[STATE_PATH];

    FUZZ_CHECK(base_init() == ERR_OK);
    (void)state_path("peers/self");
    (void)snprintf(dir, sizeof(dir), "%.200s/peers", state_folder());
    check_self(dir, bytes);
    check_invites(dir, bytes);
    return 0;
}
