/* fuzz_bloomfile - any bytes as a filter file: refused, or usable for any digest. The last 8
 * bytes of the header are made right first, so that what lies behind its checksum is reached. */
#include <string.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/filter/bloomfile.h"

#include "tests/fuzz/fuzz.h"

enum { HEADER = 4096, SUM_AT = HEADER - 8 };

static const struct hashkey key = {.id = 0, .bytes = "0123456789abcde"};

static enum err check_file(const char *path, enum bloomfile_hold hold)
{
    struct bloomfile f;
    struct errinfo info = {.text = ""};
    uint64_t bad = 0;
    struct bloomfile_want want = {.key = &key, .hold = hold};
    enum err e = bloomfile_open(&f, path, &want, &info);
    if (e != ERR_OK) {
        FUZZ_CHECK(info.text[0] != '\0');
        return e;
    }
    struct digest d[BLOOM_BATCH];
    uint8_t hit[BLOOM_BATCH];
    memset(d, 0x5a, sizeof(d));
    bloom_test_batch(&f.bloom, d, BLOOM_BATCH, hit);
    (void)bloom_error(f.bloom.layout, f.bloom.nlines, f.bloom.k, f.facts.entries);
    (void)bloom_fill(&f.bloom, 100);
    FUZZ_CHECK(bloomfile_scrub(&f, 0, UINT64_MAX, &bad) == ERR_OK);
    bloomfile_close(&f);
    return e;
}

/* With both sums of the header made right, the fields are reached. */
static void mend(char header[HEADER], const uint8_t *data, size_t size)
{
    enum { LINES_AT = 16, TABLE_SUM_AT = 104 };
    uint64_t nlines = 0;
    memcpy(&nlines, header + LINES_AT, sizeof(nlines));
    if (nlines < size / 64 && HEADER + nlines * 64 < size) {
        const char *table = (const char *)data + HEADER + nlines * 64;
        uint64_t sum = checksum64(slice_of(table, size - HEADER - (size_t)nlines * 64));
        memcpy(header + TABLE_SUM_AT, &sum, sizeof(sum));
    }
    uint64_t sum = checksum64(slice_of(header, SUM_AT));
    memcpy(header + SUM_AT, &sum, sizeof(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char header[HEADER];
    char path[] = "/tmp/gillnet-fuzz-XXXXXX";
    int fd = mkstemp(path);
    FUZZ_CHECK(fd >= 0);
    size_t head = size < HEADER ? size : HEADER;
    memcpy(header, data, head);
    if (head == HEADER) {
        mend(header, data, size);
    }
    FUZZ_CHECK(write(fd, header, head) == (ssize_t)head);
    FUZZ_CHECK(write(fd, data + head, size - head) == (ssize_t)(size - head));
    enum err copied = check_file(path, BLOOMFILE_COPY);
    enum err mapped = check_file(path, BLOOMFILE_MAP);
    FUZZ_CHECK(copied == mapped);
    struct bloomfile_shape shape;
    FUZZ_CHECK(bloomfile_peek(path, NULL, &shape, NULL) == ERR_OK || copied != ERR_OK);
    unlink(path);
    close(fd);
    return 0;
}
