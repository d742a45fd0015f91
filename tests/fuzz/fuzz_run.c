/* fuzz_run - any bytes as a run of counts: refused with a reason, or its records come in order and
 * each is found. The checksums of header, index and blocks are made right first, so that what
 * lies behind them is reached. */
#include <string.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/store/run.h"

#include "tests/fuzz/fuzz.h"

enum {
    HEADER = 4096,
    DATA = 2 * HEADER,
    NBLOCKS_AT = 72,
    SUM_AT = 88,
    BLOCKS_MAX = 64
};

static void put_sum(uint8_t *at, const uint8_t *from, size_t n)
{
    uint64_t sum = checksum64(slice_of((const char *)from, n));
    memcpy(at, &sum, sizeof(sum));
}

static void mend(uint8_t *p, size_t n)
{
    if (n < DATA) {
        return;
    }
    uint64_t nblocks = 0;
    memcpy(&nblocks, p + NBLOCKS_AT, sizeof(nblocks));
    if (nblocks <= BLOCKS_MAX && DATA + nblocks * RUN_BLOCK <= n) {
        for (uint64_t i = 0; i < nblocks; i++) {
            uint8_t *block = p + DATA + i * RUN_BLOCK;
            put_sum(block, block + 8, RUN_BLOCK - 8);
        }
        const size_t index = DATA + (size_t)nblocks * RUN_BLOCK;
        put_sum(p + SUM_AT, p + index, n - index);
    }
    put_sum(p + HEADER - 8, p, HEADER - 8);
}

static void read_all(const struct run *r)
{
    struct run_cursor c;
    struct run_record record;
    uint64_t key = 0;
    uint64_t records = 0;
    bool is_whole = true;
    run_cursor_init(&c, r, 0, UINT64_MAX);
    enum err e = ERR_OK;
    while ((e = run_cursor_next(&c, &record)) != ERR_NOT_FOUND) {
        is_whole = is_whole && e == ERR_OK && record.key > key;
        if (e == ERR_OK) {
            key = record.key;
            records++;
            FUZZ_CHECK(record.count > 0);
        }
        FUZZ_CHECK(records <= run_bytes(r));
    }
    uint64_t count = 0;
    if (run_verify(r, NULL) == ERR_OK) {
        FUZZ_CHECK(is_whole && records == run_records(r));
        FUZZ_CHECK(records == 0 || run_get(r, key, &count) == ERR_OK);
    }
    (void)run_get(r, UINT64_C(1) << 63, &count);
    (void)run_has_source(r, 1, 1);
}

static void check_file(const char *path)
{
    struct run *r = NULL;
    struct errinfo info = {.text = ""};
    if (run_open(path, &r, &info) == ERR_OK) {
        read_all(r);
        run_close(&r);
    } else {
        FUZZ_CHECK(info.text[0] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/gillnet-fuzz-XXXXXX";
    uint8_t *bytes = malloc(size + 1);
    int fd = mkstemp(path);
    FUZZ_CHECK(fd >= 0 && bytes);
    memcpy(bytes, data, size);
    for (unsigned i = 0; i < 2; i++) { /* as it is, then mended */
        FUZZ_CHECK(pwrite(fd, bytes, size, 0) == (ssize_t)size);
        check_file(path);
        mend(bytes, size);
    }
    (void)close(fd);
    (void)unlink(path);
    free(bytes);
    return 0;
}
