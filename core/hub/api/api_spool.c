#include "core/hub/api/api_spool.h"

#include "core/base/file.h"

enum { FILE_MODE = 0640, DIR_MODE = 0750, DIGITS = 32 };

static enum err spool_path(const char *state_dir, const char *name,
                           char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/reports/%s", state_dir, name);
}

static enum err put_done(const char *state_dir, uint64_t at, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    char text[DIGITS];
    enum err e = spool_path(state_dir, "done", path, reterr);

    (void)snprintf(text, sizeof(text), "%" PRIu64 "\n", at);
    THEN(e, file_write_atomic(path, slice_str(text), FILE_MODE, reterr));
    return e;
}

static uint64_t get_done(const char *state_dir)
{
    char path[FILE_PATH_MAX];
    struct buf text;
    uint64_t at = 0;

    buf_init(&text, DIGITS);
    if (spool_path(state_dir, "done", path, NULL) == ERR_OK &&
        file_read(path, &text, NULL) == ERR_OK && text.n > 0) {
        at = strtoull(text.p, NULL, 10);
    }
    buf_fini(&text);
    return at;
}

/* Renames the full file. The mark is reset first, so that after a crash in between reports are
 * handled twice rather than lost. */
static enum err turn(const char *state_dir, const char *path, struct errinfo *reterr)
{
    char former[FILE_PATH_MAX];
    enum err e = put_done(state_dir, 0, reterr);

    THEN(e, spool_path(state_dir, "spool.1", former, reterr));
    if (e == ERR_OK && rename(path, former) != 0) {
        e = errinfo_errno(reterr, path, "cannot be renamed");
    }
    return e;
}

/* Ends a line that a crash cut short. It is not valid JSON and is skipped later. */
static bool end_torn_line(int fd, off_t size)
{
    char last = '\n';

    return size == 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n' ||
           file_write_all(fd, SLICE_LIT("\n"));
}

static enum err append_line(const char *path, const char *text, struct errinfo *reterr)
{
    int fd =
        open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    struct stat st;
    enum err e = ERR_OK;

    if (fd < 0) {
        return errinfo_errno(reterr, path, "cannot be written");
    }
    if (fstat(fd, &st) != 0 || !end_torn_line(fd, st.st_size) ||
        !file_write_all(fd, slice_str(text)) || fdatasync(fd) != 0) {
        e = errinfo_errno(reterr, path, "cannot be written");
    }
    (void)close(fd);
    return e;
}

enum err api_spool_add(const char *state_dir, const json_t *line,
                       struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    struct stat st = {.st_size = 0};
    char *text = json_dumps(line, JSON_COMPACT);
    struct buf whole;
    enum err e = text != NULL ? ERR_OK : errinfo_nomem(reterr, "");

    buf_init(&whole, SPOOL_LINE_MAX);
    buf_printf(&whole, "%s\n", text != NULL ? text : "");
    free(text);
    if (buf_failed(&whole)) {
        e = ERR_NOMEM;
    }
    THEN(e, path_make(dir, reterr, "%s/reports", state_dir));
    THEN(e, spool_path(state_dir, "spool", path, reterr));
    THEN(e, file_make_dir(dir, DIR_MODE, reterr));
    bool is_new = e == ERR_OK && stat(path, &st) != 0;

    if (e == ERR_OK && st.st_size > SPOOL_BYTES_MAX) {
        e = turn(state_dir, path, reterr);
        is_new = true;
    }
    THEN(e, append_line(path, whole.p, reterr));
    THEN(e, is_new ? file_sync_dir(dir, reterr) : ERR_OK);
    buf_fini(&whole);
    return e;
}

enum err api_spool_done(const char *state_dir, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct stat st;

    return spool_path(state_dir, "spool", path, NULL) == ERR_OK && stat(path, &st) == 0
               ? put_done(state_dir, (uint64_t)st.st_size, reterr)
               : ERR_OK;
}

enum err api_spool_each_open(const char *state_dir, api_spool_fn *on_line,
                             void *context, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    uint64_t at = get_done(state_dir);
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    FILE *f =
        spool_path(state_dir, "spool", path, NULL) == ERR_OK ? fopen(path, "re") : NULL;

    if (f == NULL) {
        return errno == ENOENT ? ERR_OK : errinfo_errno(reterr, path, "cannot be read");
    }
    if (fseeko(f, 0, SEEK_END) != 0 || (uint64_t)ftello(f) < at) {
        at = 0; /* of another file */
    }
    if (fseeko(f, (off_t)at, SEEK_SET) != 0) {
        (void)fclose(f);
        return errinfo_errno(reterr, path, "cannot be read");
    }
    while ((n = getline(&line, &room, f)) > 0) {
        json_t *one = json_loadb(line, (size_t)n, 0, NULL);

        if (one != NULL) {
            on_line(context, one);
        }
        json_decref(one);
    }
    free(line);
    (void)fclose(f);
    return ERR_OK;
}
