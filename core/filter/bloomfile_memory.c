/*
 * bloomfile_memory - memory for filters, refused before the machine runs out of it.
 *
 * The kernel promises more memory than there is, and kills who takes it at its word: so a large
 * filter asks how much is free first.
 */
#include <sys/mman.h>

#include "core/base/file.h"
#include "core/base/pages.h"
#include "core/filter/bloomfile_internal.h"

enum {
    ASK_FROM = 64 << 20, /* bytes from which the free memory is looked at */
    MEMINFO_LINE = 128,
    KIB = 1024
};

/* Bytes that the kernel can give without swapping; UINT64_MAX: unknown. */
static uint64_t memory_free(void)
{
    char line[MEMINFO_LINE];
    unsigned long long kib = 0;
    uint64_t bytes = UINT64_MAX;
    FILE *f = fopen("/proc/meminfo", "re");
    if (!f) {
        return bytes;
    }
    while (fgets(line, sizeof(line), f)) {
        /* NOLINTNEXTLINE(cert-err34-c): a number of the kernel's fits */
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) {
            bytes = (uint64_t)kib * KIB;
            break;
        }
    }
    (void)fclose(f);
    return bytes;
}

enum err bloomfile_memory_new(size_t bytes, const char *path, const char *next,
                              void **ret, struct errinfo *reterr)
{
    uint64_t free_bytes = bytes >= ASK_FROM ? memory_free() : UINT64_MAX;
    errno = ENOMEM;
    void *p = bytes <= free_bytes ? pages_new(bytes) : NULL;
    if (p == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, path, 0,
                           "the machine has no memory free for a filter of %zu MiB; %s",
                           bytes / KIB / KIB + 1, next);
    }
    (void)madvise(p, bytes, MADV_HUGEPAGE); /* only faster; else pages of 4 KiB */
    *ret = p;
    return ERR_OK;
}

enum err bloomfile_read(int fd, void *dst, size_t n, uint64_t offset)
{
    if (file_read_at(fd, offset, dst, n) == n) {
        return ERR_OK;
    }
    return errno == 0 ? ERR_CORRUPT : err_of_errno(errno);
}
