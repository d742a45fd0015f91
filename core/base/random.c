/* random - bytes from libsodium's source. */
#include "core/base/random.h"

#include <sodium.h>

void random_bytes(void *dst, size_t n)
{
    randombytes_buf(dst, n);
}
