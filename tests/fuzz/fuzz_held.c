/* fuzz_held - any bytes as what MTAs keep of held mail: postqueue -j, postcat -qeh, Sendmail's queue file,
 * sendmail.cf. Rows are made of all that is read, and are read from their text again. */
#include "core/base/base.h"
#include "core/quarantine/queue/postfix_held.h"
#include "core/quarantine/queue/sendmail_folders.h"
#include "core/quarantine/queue/sendmail_held.h"

#include "tests/fuzz/fuzz.h"

static void check_row(const struct held *h)
{
    struct buf text;
    json_t *row = held_json(h);

    FUZZ_CHECK(row != NULL);
    FUZZ_CHECK(json_array_size(json_object_get(row, "recipients")) <=
               HELD_RECIPIENTS_MAX);
    FUZZ_CHECK(json_string_length(json_object_get(row, "subject")) <=
               3 * HELD_VALUE_MAX);
    FUZZ_CHECK(held_number(row, "bytes") == h->bytes || h->bytes > INT64_MAX);
    (void)held_is_gillnets(row);
    char *line = json_dumps(row, JSON_COMPACT);
    FUZZ_CHECK(line != NULL);
    buf_init(&text, 1 << 22);
    buf_printf(&text, "ok\n%s\n", line);
    json_t *rows = held_rows(buf_slice(&text));
    FUZZ_CHECK(json_array_size(rows) == 1 &&
               json_equal(json_array_get(rows, 0), row) == 1);
    FUZZ_CHECK(held_find(rows, held_text(row, "id")) != NULL);
    json_decref(rows);
    buf_clear(&text);
    held_add_decoded(&text, held_text(row, "subject"));
    FUZZ_CHECK(!buf_failed(&text));
    buf_fini(&text);
    free(line);
    json_decref(row);
}

static void check_postfix(struct arena *arena, struct slice bytes)
{
    struct slice rest = bytes;
    size_t left = rest.n + 1;
    struct slice id;
    struct slice header;

    while (rest.n > 0) {
        struct held h = {.bytes = 0};
        if (postfix_held_read(slice_cut(&rest, '\n'), &h, arena)) {
            check_row(&h);
        }
    }
    rest = bytes;
    while (postfix_next_header(&rest, &id, &header)) {
        struct held h = {.id = id};
        FUZZ_CHECK(rest.n < left);
        left = rest.n;
        held_read_header(&h, header, arena);
        check_row(&h);
    }
}

static void check_sendmail(struct arena *arena, struct slice bytes)
{
    static struct sendmail_folders folders;
    struct held h = {.bytes = bytes.n, .id = SLICE_LIT("q1")};
    struct errinfo why;
    struct buf header;

    if (sendmail_held_read(bytes, &h, arena)) {
        check_row(&h);
    }
    buf_init(&header, 1 << 22);
    sendmail_held_header(bytes, &header);
    FUZZ_CHECK(!buf_failed(&header) && header.n <= bytes.n + 1);
    buf_fini(&header);
    (void)sendmail_held_data_folder(bytes);
    if (slice_find_slice(bytes, SLICE_LIT("*")) == bytes.n && /* no walk of the disk */
        sendmail_folders_find(bytes, &folders, &why) == ERR_OK) {
        FUZZ_CHECK(folders.n > 0 && folders.n <= SENDMAIL_FOLDERS_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of((const char *)data, size);
    struct arena *arena = arena_new(FUZZ_ARENA);

    FUZZ_CHECK(arena != NULL && base_init() == ERR_OK);
    check_postfix(arena, bytes);
    check_sendmail(arena, bytes);
    json_decref(held_rows(bytes));
    arena_free(&arena);
    return 0;
}
