#include "core/base/pages.h"

#include <sys/mman.h>

void *pages_new(size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    /* cppcheck-suppress invalidFunctionArg ; -1 is what anonymous memory takes */
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED) {
        p = NULL;
    }
    /* cppcheck-suppress memleak ; the caller owns it */
    return p;
}

void pages_free(void *p, size_t bytes)
{
    if (p != NULL) {
        (void)munmap(p, bytes);
    }
}
