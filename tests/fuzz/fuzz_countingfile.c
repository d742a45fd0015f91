/* Counting filter files: whatever opens can be asked, merged with itself only under another name, and written again to the
 * same cells. Sums are made right first, so that fields and cells are reached. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/lab/countingfile.h"

#include "tests/fuzz/fuzz.h"

enum {
    HEADER = COUNTINGFILE_HEADER_BYTES,
    SUM_AT = HEADER - 8,
    TABLE_SUM_AT = 72,
    CELLS_AT = 32,
    BITS_AT = 16,
    BLOCK = 64 * 1024
};

static void mend(uint8_t *bytes, size_t size)
{
    uint64_t cells = 0;
    uint32_t bits = 0;
    memcpy(&cells, bytes + CELLS_AT, sizeof(cells));
    memcpy(&bits, bytes + BITS_AT, sizeof(bits));
    if (bits >= 4 && bits <= 16 && cells <= size) {
        size_t words = (size_t)(cells + 64 / bits - 1) / (64 / bits);
        size_t n = (words + 7) / 8 * 64;
        size_t at = HEADER + n;
        for (size_t block = 0; at + 8 <= size && block < n; block += BLOCK, at += 8) {
            size_t left = n - block < BLOCK ? n - block : BLOCK;
            uint64_t sum = checksum64(slice_of((char *)bytes + HEADER + block, left));
            memcpy(bytes + at, &sum, sizeof(sum));
        }
        if (HEADER + n < size) {
            uint64_t sum =
                checksum64(slice_of((char *)bytes + HEADER + n, size - HEADER - n));
            memcpy(bytes + TABLE_SUM_AT, &sum, sizeof(sum));
        }
    }
    uint64_t sum = checksum64(slice_of((char *)bytes, SUM_AT));
    memcpy(bytes + SUM_AT, &sum, sizeof(sum));
}

static void write_file(char *path, const uint8_t *bytes, size_t size)
{
    int fd = mkstemp(path);
    FUZZ_CHECK(fd >= 0);
    FUZZ_CHECK(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/gillnet-fuzz-XXXXXX";
    uint8_t *bytes = malloc(size + 1);
    struct countingfile f = {.bytes = 0};
    struct errinfo why = {.text = ""};

    FUZZ_CHECK(bytes != NULL);
    memcpy(bytes, data, size);
    if (size >= HEADER) {
        mend(bytes, size);
    }
    write_file(path, bytes, size);
    enum err e = countingfile_open(&f, path, NULL, &why);
    FUZZ_CHECK(e == ERR_OK || why.text[0] != '\0');
    if (e == ERR_OK) {
        struct countingfile_use use = countingfile_count_cells(&f);
        FUZZ_CHECK(use.saturated <= use.used && use.used <= f.c.shape.chunk_cells);
        (void)countingfile_get(&f, 0x0123456789abcdef);
        /* itself once more: the same counts twice */
        FUZZ_CHECK(countingfile_merge(&f, path, &why) != ERR_OK);
        FUZZ_CHECK(countingfile_write(&f, path, &why) == ERR_OK);
        struct countingfile again = {.bytes = 0};
        FUZZ_CHECK(countingfile_open(&again, path, NULL, &why) == ERR_OK);
        FUZZ_CHECK(memcmp(again.c.words, f.c.words, f.bytes) == 0);
        countingfile_close(&again);
        countingfile_close(&f);
    }
    unlink(path);
    free(bytes);
    return 0;
}
