/* local - files of this machine as the body of a feed. */
#include "core/feed/local.h"

#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/feed/unpack.h"

enum { BODY_MODE = 0640 };

const char *feed_local_path(const char *url)
{
    static const char scheme[] = "file://";

    return strncmp(url, scheme, sizeof(scheme) - 1) == 0 ? url + sizeof(scheme) - 1
                                                         : NULL;
}

/* ---- which files ---- */

struct files {
    char **path; /* sorted */
    size_t n;
};

static void files_free(struct files *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->path[i]);
    }
    free(f->path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum err add_file(struct files *f, const char *dir, const char *name,
                         struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];

    if (f->n == FEED_LOCAL_FILES_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, dir, 0,
                           "a folder of a feed may hold up to %d files",
                           (int)FEED_LOCAL_FILES_MAX);
    }
    enum err e = path_make(path, reterr, "%s%s%s", dir, name != NULL ? "/" : "",
                           name != NULL ? name : "");
    if (e != ERR_OK) {
        return e;
    }
    f->path[f->n] = strdup(path);
    if (f->path[f->n] == NULL) {
        return errinfo_nomem(reterr, dir);
    }
    f->n++;
    return ERR_OK;
}

static enum err list_folder(struct files *f, const char *dir, struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_NEEDED);
    enum err e = ERR_OK;
    while (e == ERR_OK && dir_walk_next(&w)) {
        if (w.name[0] != '.') {
            e = add_file(f, dir, w.name, reterr);
        }
    }
    e = dir_walk_end(&w, e, reterr);
    if (e == ERR_OK && f->n == 0) {
        e = errinfo_set(reterr, ERR_NOT_FOUND, dir, 0, "the folder holds no file");
    }
    if (e == ERR_OK) {
        qsort(f->path, f->n, sizeof(*f->path), by_name);
    }
    return e;
}

static enum err find_files(const char *path, struct files *ret, struct errinfo *reterr)
{
    struct stat st;

    *ret = (struct files){.path =
                              calloc((size_t)FEED_LOCAL_FILES_MAX, sizeof(*ret->path))};
    if (ret->path == NULL) {
        return errinfo_nomem(reterr, path);
    }
    if (stat(path, &st) != 0) {
        return errinfo_errno(reterr, path, "the feed's file cannot be read");
    }
    return S_ISDIR(st.st_mode) ? list_folder(ret, path, reterr)
                               : add_file(ret, path, NULL, reterr);
}

/* ---- what they hold ---- */

static enum err open_local_file(const char *path, int *retfd, struct stat *ret,
                                struct errinfo *reterr)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 || fstat(fd, ret) != 0) {
        enum err e = errinfo_errno(reterr, path, "the feed's file cannot be read");

        if (fd >= 0) {
            (void)close(fd);
        }
        return e;
    }
    if (!S_ISREG(ret->st_mode)) {
        (void)close(fd);
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "a feed's file must be a regular one");
    }
    *retfd = fd;
    return ERR_OK;
}

static enum err make_tag(const struct files *f, char ret[FEED_LOCAL_TAG_MAX],
                         struct errinfo *reterr)
{
    struct hash256 hash;
    struct buf all;
    enum err e = ERR_OK;

    buf_init(&all, (size_t)FEED_LOCAL_FILES_MAX * (FILE_PATH_MAX + 96));
    for (size_t i = 0; i < f->n && e == ERR_OK; i++) {
        struct stat st;

        e = stat(f->path[i], &st) == 0
                ? ERR_OK
                : errinfo_errno(reterr, f->path[i], "the feed's file cannot be read");
        buf_printf(&all, "%s %lld.%09ld %lld %llu\n", f->path[i],
                   (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                   (long long)st.st_size, (unsigned long long)st.st_ino);
    }
    if (e == ERR_OK && buf_failed(&all)) {
        e = errinfo_nomem(reterr, "");
    }
    hash256_of(buf_slice(&all), &hash);
    ret[0] = 'f';
    hex_print(hash.b, sizeof(hash.b), ret + 1);
    buf_fini(&all);
    return e;
}

/* A line of one file does not go on in the next. */
static enum err end_line(int to, const char *name, uint64_t *left,
                         struct errinfo *reterr)
{
    char last = '\n';
    off_t end = lseek(to, 0, SEEK_END);

    if (end > 0 && pread(to, &last, 1, end - 1) == 1 && last != '\n' && *left > 0) {
        (*left)--;
        return write(to, "\n", 1) == 1 ? ERR_OK
                                       : errinfo_errno(reterr, name, "cannot write");
    }
    return ERR_OK;
}

static enum err join(const struct files *f, int to, const struct config_feed *feed,
                     uint64_t *retbytes, struct errinfo *reterr)
{
    uint64_t left = feed->expanded;
    enum err e = ERR_OK;

    for (size_t i = 0; i < f->n && e == ERR_OK; i++) {
        struct stat st = {.st_size = 0};
        int fd = -1;

        e = open_local_file(f->path[i], &fd, &st, reterr);
        if (e != ERR_OK) {
            break;
        }
        *retbytes += (uint64_t)st.st_size;
        e = *retbytes > feed->bytes
                ? errinfo_set(reterr, ERR_LIMIT, f->path[i], 0,
                              "more than `download_bytes` of the feed allows")
                : feed_unpack(fd, f->path[i], to, &left, reterr);
        (void)close(fd);
        if (e == ERR_OK && i + 1 < f->n) {
            e = end_line(to, f->path[i], &left, reterr);
        }
    }
    return e;
}

enum err feed_local_read(const struct config_feed *feed, const char *tag,
                         const char *body, struct feed_local *ret,
                         struct errinfo *reterr)
{
    const char *path = feed_local_path(feed->url);
    char after[FEED_LOCAL_TAG_MAX] = "";
    struct files f = {.n = 0};
    enum err e = find_files(path, &f, reterr);
    int to = -1;

    *ret = (struct feed_local){.bytes = 0};
    THEN(e, make_tag(&f, ret->tag, reterr));
    ret->is_same = e == ERR_OK && strcmp(ret->tag, tag) == 0;
    if (e == ERR_OK && !ret->is_same) {
        to = open(body, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, BODY_MODE);
        e = to >= 0 ? join(&f, to, feed, &ret->bytes, reterr)
                    : errinfo_errno(reterr, body, "cannot be written");
    }
    if (to >= 0) {
        (void)close(to);
    }
    if (e == ERR_OK && !ret->is_same) {
        e = make_tag(&f, after, reterr);
        if (e == ERR_OK && strcmp(after, ret->tag) != 0) {
            e = errinfo_set(reterr, ERR_LOCKED, path, 0,
                            "it changed while it was read; put a finished file in "
                            "place by renaming it");
        }
    }
    files_free(&f);
    if (e != ERR_OK && to >= 0) {
        (void)unlink(body);
    }
    return e;
}
