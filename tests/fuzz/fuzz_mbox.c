/* fuzz_mbox - any bytes as a mailbox: one that is none comes out byte for byte, messages together are no
 * longer than the file, and mail from a pipe in small pieces is the same. */
#include <sys/mman.h>
#include <sys/socket.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/cli/mbox.h"

#include "tests/fuzz/state.h"

enum { ALL_MAX = 4 << 20, PIPE_MAX = 4096 };

static void take(void *context, struct slice bytes)
{
    buf_add(context, bytes);
}

/* All messages, each followed by a NUL. */
static size_t read_all(int fd, bool may_be_mbox, struct buf *ret)
{
    static struct mailbox m;
    size_t n = 0;
    bool has_more = true;

    mailbox_init(&m, fd, may_be_mbox);
    while (has_more) {
        FUZZ_CHECK(mailbox_next(&m, take, ret, &has_more) == 0);
        buf_add_char(ret, '\0');
        n++;
        FUZZ_CHECK(n == m.messages || n == 1);
    }
    FUZZ_CHECK(!buf_failed(ret));
    return n;
}

static size_t read_file(const uint8_t *data, size_t size, bool may_be_mbox,
                        struct buf *ret)
{
    int fd = memfd_create("mbox", MFD_CLOEXEC);

    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0);
    size_t n = read_all(fd, may_be_mbox, ret);
    (void)close(fd);
    return n;
}

/* Datagrams are pieces: each read gives one. */
static size_t read_pieces(const uint8_t *data, size_t size, struct buf *ret)
{
    int pair[2];
    const size_t step = 1 + size / 7;

    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    for (size_t at = 0; at < size; at += step) {
        const size_t n = size - at < step ? size - at : step;
        FUZZ_CHECK(write(pair[0], data + at, n) == (ssize_t)n);
    }
    (void)close(pair[0]);
    size_t n = read_all(pair[1], true, ret);
    (void)close(pair[1]);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole;
    struct buf box;
    struct buf pieces;

    FUZZ_CHECK(base_init() == ERR_OK);
    buf_init(&whole, ALL_MAX);
    buf_init(&box, ALL_MAX);
    buf_init(&pieces, ALL_MAX);
    FUZZ_CHECK(read_file(data, size, false, &whole) == 1 && whole.n == size + 1);
    FUZZ_CHECK(size == 0 || memcmp(whole.p, data, size) == 0);
    size_t n = read_file(data, size, true, &box);
    FUZZ_CHECK(box.n <= size + n);
    if (size > 0 && size <= PIPE_MAX) {
        FUZZ_CHECK(read_pieces(data, size, &pieces) == n);
        FUZZ_CHECK(slice_eq(buf_slice(&box), buf_slice(&pieces)));
    }
    buf_fini(&whole);
    buf_fini(&box);
    buf_fini(&pieces);
    return 0;
}
