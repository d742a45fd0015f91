/*
 * fuzz_document - any bytes as a file that gillnet-reader opens: OLE, OneNote, RTF and archives, whose readers
 * are ours; its records are read by gillnetd's side, and stay within the limits.
 *
 * Pictures and PDF are left to the libraries' own fuzzing: only a sandbox opens them.
 */
#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/reader/pool/dispatch.h"
#include "core/reader/wire/format.h"

#include "tests/fuzz/fuzz.h"

enum { ALL_MAX = 16 << 20, BYTES_MOST = 4 << 20 };

static bool keep(void *context, struct slice bytes)
{
    buf_add(context, bytes);
    return !buf_failed(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct slice passwords[] = {{"tulip42", sizeof("tulip42") - 1}};
    struct slice bytes = slice_of((const char *)data, size);
    const struct reader_job job = {.bytes = bytes,
                                   .name = SLICE_LIT("a.bin"),
                                   .password = passwords,
                                   .npasswords = 1,
                                   .limits = {.entries = 100,
                                              .bytes = BYTES_MOST,
                                              .ratio = 100,
                                              .pages = 2,
                                              .pixels = 1 << 16}};
    struct buf records;
    struct record r;

    if (base_init() != ERR_OK || picture_knows(bytes) ||
        slice_find_slice(slice_head(bytes, 1024), SLICE_LIT("%PDF-")) < size) {
        return 0;
    }
    buf_init(&records, ALL_MAX);
    struct found *f = found_new(&job, keep, &records);
    FUZZ_CHECK(f != NULL);
    reader_read(&job, f);
    found_free(&f);
    struct slice rest = buf_slice(&records);
    uint64_t total = 0;
    while (record_next(&rest, &r) == RECORD_OK) {
        total += r.value.n;
    }
    FUZZ_CHECK(rest.n == 0 && total <= (uint64_t)BYTES_MOST + 64 * 1024);
    buf_fini(&records);
    return 0;
}
