#include "core/reader/pool/worker.h"

#include "core/base/file.h"
#include "core/reader/pool/dispatch.h"
#include "core/reader/pool/sandbox.h"
#include "core/reader/wire/format.h"
#include "core/reader/wire/request.h"

void worker_warm(void)
{
    unpack_warm();
    pdf_warm();
}

static bool receive_all(int fd, char *to, size_t n)
{
    while (n > 0) {
        const ssize_t got = read(fd, to, n);
        if (got <= 0 && !(got < 0 && errno == EINTR)) {
            return false;
        }
        to += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool on_records(void *context, struct slice bytes)
{
    const int *fd = context;

    return file_write_all(*fd, bytes);
}

/* Says that a process has begun. The client can tell a long file from a dead reader then. */
static bool say_ready(int fd)
{
    char bytes[RECORD_HEAD_BYTES] = {RECORD_READY};

    return file_write_all(fd, slice_of(bytes, sizeof(bytes)));
}

static int serve_file(int fd, uint64_t memory)
{
    char head[REQUEST_HEAD_BYTES];
    struct request_read request;
    struct errinfo why;
    char *rest = NULL;

    if (!say_ready(fd) || !receive_all(fd, head, sizeof(head))) {
        return WORKER_GONE;
    }
    const uint64_t n = request_rest(head);
    if (n == 0 || n > memory || (rest = malloc((size_t)n)) == NULL ||
        !receive_all(fd, rest, (size_t)n) ||
        !request_parse(slice_of(rest, (size_t)n), &request)) {
        return WORKER_REFUSED;
    }
    if (sandbox_bound(memory, request.cpu_s, &why) != ERR_OK ||
        sandbox_enter(SANDBOX_FILE, &why) != ERR_OK) {
        return WORKER_REFUSED;
    }
    struct found *f = found_new(&request.job, on_records, &fd);
    if (f == NULL) {
        return WORKER_REFUSED;
    }
    reader_read(&request.job, f);
    found_free(&f);
    return WORKER_DONE;
}

_Noreturn void worker_run(int connection, uint64_t memory)
{
    _exit(serve_file(connection, memory));
}
