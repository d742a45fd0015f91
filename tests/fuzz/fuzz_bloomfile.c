/* fuzz_bloomfile - any bytes as a filter file: refused, or usable for any digest. The last 8
 * bytes of the header are made right first, so that what lies behind its checksum is reached. */
#include <string.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/filter/bloomfile.h"

#include "tests/fuzz/fuzz.h"

enum { HEADER = 4096, SUM_AT = HEADER - 8 };

static const struct hashkey key = {.id = 0, .bytes = "0123456789abcde"};

static void check_file(const char *path)
{
    struct bloomfile f;
    struct errinfo info;
    if (bloomfile_open(&f, path, &key, &info) != ERR_OK) {
        FUZZ_CHECK(info.text[0] != '\0');
        return;
    }
    struct digest d[BLOOM_BATCH];
    uint8_t hit[BLOOM_BATCH];
    memset(d, 0x5a, sizeof(d));
    bloom_test_batch(&f.bloom, d, BLOOM_BATCH, hit);
    (void)bloom_error(f.bloom.layout, f.bloom.nlines, f.bloom.k, f.entries);
    (void)bloom_fill(&f.bloom, 100);
    bloomfile_close(&f);
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
        uint64_t sum = checksum64(slice_of(header, SUM_AT));
        memcpy(header + SUM_AT, &sum, sizeof(sum));
    }
    FUZZ_CHECK(write(fd, header, head) == (ssize_t)head);
    FUZZ_CHECK(write(fd, data + head, size - head) == (ssize_t)(size - head));
    check_file(path);
    unlink(path);
    close(fd);
    return 0;
}
