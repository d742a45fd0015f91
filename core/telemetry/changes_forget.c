/* changes_forget - an address is overwritten in place, so that lines keep their ids. */
#include <jansson.h>

#include "core/base/file.h"
#include "core/telemetry/changes.h"
#include "core/telemetry/changes_file.h"

enum { READ_MAX = CHANGES_FILE_BYTES + 2 * CHANGES_LINE_MAX, ERASED = 'x' };

/* Bytes of an address: it must not be a part of a longer one. */
static bool is_of_address(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '-' || c == '_' || c == '+' || (c & 0x80) != 0;
}

static bool stands_at(struct slice bytes, size_t at, struct slice address)
{
    const size_t end = at + address.n;

    return slice_has_prefix_nocase(slice_from(bytes, at), address) &&
           (at == 0 || !is_of_address(bytes.p[at - 1])) &&
           (end == bytes.n || !is_of_address(bytes.p[end]));
}

static enum err forget_in(const char *path, struct slice address, uint64_t *io_n,
                          struct errinfo *reterr)
{
    char erased[CHANGES_TEXT_MAX];
    struct buf bytes;
    uint64_t n = 0;
    int fd = -1;

    memset(erased, ERASED, sizeof(erased));
    buf_init(&bytes, READ_MAX);
    enum err e = file_read(path, &bytes, reterr);
    if (e == ERR_OK) {
        fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
        e = fd >= 0 ? ERR_OK : errinfo_errno(reterr, path, "cannot be written");
    }
    for (size_t at = 0; e == ERR_OK && at + address.n <= bytes.n; at++) {
        if (!stands_at(buf_slice(&bytes), at, address)) {
            continue;
        }
        n++;
        e = file_write_at(fd, at, slice_of(erased, address.n))
                ? ERR_OK
                : errinfo_errno(reterr, path, "cannot be written");
    }
    if (e == ERR_OK && n > 0 && fdatasync(fd) != 0) {
        e = errinfo_errno(reterr, path, "cannot be synced");
    }
    fd_close(&fd);
    buf_fini(&bytes);
    *io_n += n;
    return e;
}

static enum err forget_in_all(const char *dir, struct slice address, uint64_t *io_n,
                              struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    uint32_t least = 0;
    uint32_t most = 0;
    enum err e = changes_file_names(dir, &least, &most, reterr);

    for (uint32_t i = 0; e == ERR_OK && i < CHANGES_FILES && i < most; i++) {
        e = path_make(path, reterr, "%s/" CHANGES_FILE "%" PRIu32, dir, most - i);
        THEN(e, forget_in(path, address, io_n, reterr));
        e = e == ERR_NOT_FOUND ? ERR_OK : e;
    }
    return e;
}

/* The address as a line has it. False: no memory, or it is too long to be there. */
static bool print_as_line(struct slice address, struct buf *ret)
{
    json_t *text = json_stringn(address.n > 0 ? address.p : "", address.n);
    char *line = text != NULL ? json_dumps(text, JSON_ENCODE_ANY) : NULL;

    if (line != NULL && strlen(line) > 2) {
        buf_add(ret, slice_of(line + 1, strlen(line) - 2)); /* without quotes */
    }
    json_decref(text);
    free(line);
    return ret->n > 0 && !buf_failed(ret);
}

enum err changes_forget(const char *state_dir, struct slice address, uint64_t *retn,
                        struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    struct buf text;
    uint64_t n = 0;
    int lock = -1;

    buf_init(&text, CHANGES_TEXT_MAX);
    enum err e = path_make(dir, reterr, "%s/" STATE_CHANGES_DIR, state_dir);
    if (e == ERR_OK && print_as_line(address, &text)) {
        e = changes_lock(dir, &lock, reterr);
        THEN(e, forget_in_all(dir, buf_slice(&text), &n, reterr));
    }
    fd_close(&lock);
    buf_fini(&text);
    *retn = n;
    return e == ERR_NOT_FOUND ? ERR_OK : e; /* there is no log */
}
