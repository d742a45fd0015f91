/* fuzz_contacts - any bytes as a log of correspondents: refused with a reason, or each entry that
 * comes is whole. The sums are made right first, so that what lies behind them is reached. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/verdict/identity/contacts_internal.h"

#include "tests/fuzz/fuzz.h"

enum { SUMMED = 12, SUM = 4 };

/* The header is that of a log, and each record has its sum. */
static void mend(uint8_t *p, size_t n)
{
    static const uint8_t header[SUMMED] = {'c', 'o', 'n', 't', 'a', 'c', '0', '1', 1};

    if (n >= CONTACT_RECORD) {
        memcpy(p, header, sizeof(header));
    }
    for (size_t at = 0; at + CONTACT_RECORD <= n; at += CONTACT_RECORD) {
        uint32_t sum = checksum32(slice_of((const char *)p + at, SUMMED));
        memcpy(p + at + SUMMED, &sum, SUM);
    }
}

static bool on_entry(void *context, const struct contact_entry *entry)
{
    size_t *left = context;

    FUZZ_CHECK(entry->key != 0 && entry->value != 0);
    FUZZ_CHECK((*left)-- > 0);
    (void)contact_is_over(entry->value, contact_today());
    return true;
}

static enum err read_log(const char *dir, size_t size)
{
    struct errinfo why = {.text = ""};
    bool is_locked = false;
    size_t left = size / CONTACT_RECORD;
    enum err e = contacts_log_read(dir, 1, on_entry, &left, &is_locked, &why);

    FUZZ_CHECK(e == ERR_OK || why.text[0] != '\0');
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[] = "/tmp/gillnet-fuzz-XXXXXX";
    char path[sizeof(dir) + 8];
    uint8_t *bytes = malloc(size + 1);

    FUZZ_CHECK(bytes != NULL && mkdtemp(dir) != NULL);
    (void)snprintf(path, sizeof(path), "%s/log.1", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    FUZZ_CHECK(fd >= 0);
    memcpy(bytes, data, size);
    for (unsigned i = 0; i < 2; i++) { /* as it is, then mended */
        FUZZ_CHECK(pwrite(fd, bytes, size, 0) == (ssize_t)size);
        enum err e = read_log(dir, size);
        FUZZ_CHECK(i == 0 || e == ERR_OK);
        mend(bytes, size);
    }
    (void)close(fd);
    (void)unlink(path);
    (void)rmdir(dir);
    free(bytes);
    return 0;
}
