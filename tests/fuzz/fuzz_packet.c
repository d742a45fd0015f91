/* fuzz_packet - any bytes as a connection from the MTA: the same finding whole, byte by byte and in two pieces; and
 * what passes is walked as libmilter walks it. */
#include <string.h>

#include "milter/packet.h"

#include "tests/fuzz/fuzz.h"

static enum packet_fault in_pieces(const char *bytes, size_t n, size_t cut, size_t step)
{
    struct packet_check c = {.fault = PACKET_SOUND};
    (void)packet_check(&c, bytes, cut);
    for (size_t i = cut; i < n; i += step) {
        (void)packet_check(&c, bytes + i, n - i < step ? n - i : step);
    }
    return c.fault;
}

/* Macros as libmilter looks for one: a name, then its value, until the end. */
static void walk_macros(const char *data, size_t n)
{
    size_t i = 1;
    while (i < n) {
        const char *name_end = memchr(data + i, '\0', n - i);
        FUZZ_CHECK(name_end != NULL);
        i = (size_t)(name_end - data) + 1;
        FUZZ_CHECK(i < n);
        const char *value_end = memchr(data + i, '\0', n - i);
        FUZZ_CHECK(value_end != NULL);
        i = (size_t)(value_end - data) + 1;
    }
}

static void walk(const char *bytes, size_t n)
{
    while (n >= PACKET_HEAD) {
        const unsigned char *u = (const unsigned char *)bytes;
        size_t length =
            ((size_t)u[0] << 24 | (size_t)u[1] << 16 | (size_t)u[2] << 8 | u[3]);
        FUZZ_CHECK(length > 0 && length - 1 <= PACKET_DATA_MAX);
        char cmd = bytes[PACKET_HEAD - 1];
        bytes += PACKET_HEAD;
        n -= PACKET_HEAD;
        length--;
        if (length > n) {
            return; /* the rest has not come */
        }
        if (cmd == 'D') {
            walk_macros(bytes, length);
        } else if (cmd == 'C') {
            FUZZ_CHECK(memchr(bytes, '\0', length) != NULL);
        } else if (memchr("HMRLU", cmd, 5)) {
            FUZZ_CHECK(length > 0 && bytes[length - 1] == '\0');
        }
        bytes += length;
        n -= length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    enum packet_fault fault = in_pieces(bytes, size, size, 1);
    FUZZ_CHECK(packet_fault_name(fault)[0] != '\0');
    FUZZ_CHECK(in_pieces(bytes, size, 0, 1) == fault);
    FUZZ_CHECK(in_pieces(bytes, size, size / 2, 7) == fault);
    if (fault == PACKET_SOUND) {
        walk(bytes, size);
    }
    return 0;
}
