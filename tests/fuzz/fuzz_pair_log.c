/* fuzz_pair_log - any bytes as the stream of a peer's counts and as the log of members, sums made right: what is
 * read is no longer than the file, and read once. */
#include "core/base/base.h"
#include "core/base/checksum.h"
#include "core/count/distinct_log.h"
#include "core/count/stream.h"

#include "tests/fuzz/state.h"

static uint64_t seen;

static void see(void *context, const struct run_record *record)
{
    (void)context;
    FUZZ_CHECK(record->key != 0 && record->count != 0);
    seen++;
}

static void see_triple(void *context, const struct distinct_triple *t)
{
    (void)context, (void)t;
    seen++;
}

/* The sum of the header, and of each record whose length fits (salted as pair_record_end does). */
static void mend(struct buf *b, const uint8_t *data, size_t size,
                 const struct run_id *id, const struct pair_log_form *form)
{
    struct buf record;

    pair_log_header_print(form, id, b);
    uint64_t salt = pair_log_salt(slice_head(buf_slice(b), PAIR_LOG_HEADER));
    uint64_t seq = 0;
    while (size > 2) {
        size_t n = data[0] % 8;
        seq += data[1] % 4;
        data += 2;
        size -= 2;
        buf_init(&record, 1 << 16);
        pair_record_begin(&record);
        for (size_t i = 0; i < n && size >= PAIR_BYTES; i++) {
            uint64_t pair[2];
            memcpy(pair, data, sizeof(pair));
            pair_record_add(&record, pair[0], pair[1]);
            data += PAIR_BYTES;
            size -= PAIR_BYTES;
        }
        pair_record_end(&record, form, seq, salt);
        buf_add(b, buf_slice(&record));
        buf_fini(&record);
    }
}

static void check_stream(struct slice bytes, const char *name)
{
    struct pair_log_place place;
    struct errinfo why = {.text = ""};
    const char *path = state_file(name, bytes);

    seen = 0;
    if (stream_reader_open(path, &place, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return;
    }
    (void)stream_reader_next(&place, path, see, NULL, &why);
    FUZZ_CHECK(seen * PAIR_BYTES <= bytes.n);
    seen = 0;
    (void)stream_reader_next(&place, path, see, NULL, &why);
    FUZZ_CHECK(seen == 0);
}

static void check_members(struct slice bytes)
{
    struct errinfo why = {.text = ""};
    struct distinct_reader *r = distinct_reader_new(state_folder(), 9);

    FUZZ_CHECK(r != NULL);
    (void)state_file("counts/members.0000600000-0000000000000000.wal", bytes);
    seen = 0;
    (void)distinct_reader_look(r, see_triple, NULL, &why);
    FUZZ_CHECK(seen * 2 * PAIR_BYTES <= bytes.n);
    seen = 0;
    (void)distinct_reader_look(r, see_triple, NULL, &why);
    FUZZ_CHECK(seen == 0);
    distinct_reader_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct run_id id = {.start_s = 600000, .len_s = 600, .key_id = 9};
    /* as core/count/stream.c and distinct_log.c have them */
    static const struct pair_log_form stream = {UINT64_C(0x3152545343474e47),
                                                0x52534e47, STREAM_RECORD_MAX, false};
    static const struct pair_log_form members = {
        UINT64_C(0x31424d4d434e4747), 0x524d4e47, 2 * DISTINCT_LOG_MAX, true};
    struct slice bytes = slice_of((const char *)data, size);
    struct buf mended;

    FUZZ_CHECK(base_init() == ERR_OK);
    check_stream(bytes, "a.stream");
    check_members(bytes);
    buf_init(&mended, 1 << 20);
    mend(&mended, data, size, &id, &stream);
    FUZZ_CHECK(!buf_failed(&mended));
    check_stream(buf_slice(&mended), "a.stream");
    buf_clear(&mended);
    mend(&mended, data, size, &id, &members);
    check_members(buf_slice(&mended));
    buf_fini(&mended);
    return 0;
}
