/* file_map - mappings of whole files, which survive that the file is cut. */
#include <sys/mman.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/base/log.h"
#include "core/base/pages.h"
#include "core/base/sigbus.h"

enum { HUGE_PAGE = 2 * 1024 * 1024 };
#define MEND_LOG_US ((uint64_t)60 * 1000000)

/* An anonymous copy of the size bytes of fd. */
static enum err map_copy(struct filemap *m, int fd, size_t size, const char *path,
                         struct errinfo *reterr)
{
    void *p = pages_new(size);
    if (p == NULL) {
        return file_sys_fail(reterr, path, "no memory for a copy of the file");
    }
    if (size >= HUGE_PAGE) {
        (void)madvise(p, size, MADV_HUGEPAGE); /* only faster */
    }
    size_t done = 0;
    while (done < size) {
        ssize_t got = file_sys_read(fd, (char *)p + done, size - done);
        if (got <= 0) {
            enum err e = got < 0
                             ? file_sys_fail(reterr, path, "cannot read the file")
                             : errinfo_set(reterr, ERR_CORRUPT, path, 0,
                                           "the file became shorter while it was read");
            (void)munmap(p, size);
            return e;
        }
        done += (size_t)got;
    }
    *m = (struct filemap){.p = p, .n = size, .fd = -1};
    return ERR_OK;
}

/* Takes the descriptor on success. */
static enum err map_fd(struct filemap *m, int *fd, size_t size, const char *path,
                       bool writable, struct errinfo *reterr)
{
    int prot = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *p = mmap(NULL, size, prot, MAP_SHARED, *fd, 0);
    if (p == MAP_FAILED) {
        return file_sys_fail(reterr, path, "cannot map the file");
    }
    enum err e = sigbus_add(p, size, writable ? SIGBUS_ZEROS : SIGBUS_ONES);
    if (e != ERR_OK) {
        (void)munmap(p, size);
        return errinfo_set(reterr, e, path, 0, "the mapping cannot be guarded: %s",
                           err_text(e));
    }
    *m = (struct filemap){.p = p, .n = size, .fd = *fd};
    *fd = -1;
    return ERR_OK;
}

enum err filemap_open(struct filemap *m, const char *path, enum filemap_mode mode,
                      struct errinfo *reterr)
{
    *m = (struct filemap){.fd = -1};
    int fd = -1;
    uint64_t size = 0;
    int flags = mode == FILEMAP_WRITE ? O_RDWR : O_RDONLY;
    enum err e = file_sys_open_regular(path, flags, &fd, &size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (size > SIZE_MAX / 2) {
        e = errinfo_set(reterr, ERR_LIMIT, path, 0, "the file is too large to map");
    } else if (size > 0 && mode == FILEMAP_COPY) {
        e = map_copy(m, fd, (size_t)size, path, reterr);
    } else if (size > 0) {
        e = map_fd(m, &fd, (size_t)size, path, mode == FILEMAP_WRITE, reterr);
    }
    fd_close(&fd);
    return e;
}

void filemap_close(struct filemap *m)
{
    if (m->p) {
        sigbus_remove(m->p);
        (void)munmap(m->p, m->n);
        fd_close(&m->fd);
    }
    *m = (struct filemap){.fd = -1};
}

enum err filemap_make(struct filemap *m, const char *path,
                      const struct filemap_new *fresh, struct errinfo *reterr)
{
    char name[FILE_PATH_MAX];
    *m = (struct filemap){.fd = -1};
    enum err e = path_make(name, reterr, "%s.new", path);
    THEN(e, file_allocate(name, fresh->size, fresh->mode, reterr));
    THEN(e, filemap_open(m, name, FILEMAP_WRITE, reterr));
    if (e == ERR_OK && m->n != fresh->size) {
        e = errinfo_set(reterr, ERR_CORRUPT, name, 0,
                        "another process changed the file");
    }
    if (e == ERR_OK && m->p != NULL) {
        fresh->fill(fresh->context, m->p);
        e = rename(name, path) == 0
                ? ERR_OK
                : file_sys_fail(reterr, path, "cannot put the new file in place");
    }
    if (e != ERR_OK) {
        filemap_close(m);
    }
    return e;
}

/* ---- damage ---- */

bool filemap_is_damaged(const struct filemap *m)
{
    struct stat st;

    if (m->p == NULL || m->fd < 0) {
        return false;
    }
    return sigbus_is_damaged(m->p) ||
           (fstat(m->fd, &st) == 0 && st.st_size < (off_t)m->n);
}

enum err filemap_check(const struct filemap *m, const char *path,
                       struct errinfo *reterr)
{
    return filemap_is_damaged(m)
               ? errinfo_set(reterr, ERR_CORRUPT, path, 0,
                             "the file was cut short, or could not be read, while it "
                             "was in use")
               : ERR_OK;
}

struct repair {
    const struct filemap *from;
    const struct filemap_new *fresh;
};

/* Other threads may be counting in it: word by word, as they do. */
static void copy_words(const struct filemap *from, unsigned char *to)
{
    const size_t whole = from->n / sizeof(uint64_t) * sizeof(uint64_t);

    for (size_t at = 0; at < whole; at += sizeof(uint64_t)) {
        const uint64_t *word = (const uint64_t *)(const void *)(from->p + at);
        uint64_t value = __atomic_load_n(word, __ATOMIC_RELAXED);
        memcpy(to + at, &value, sizeof(value));
    }
    memcpy(to + whole, from->p + whole, from->n - whole);
}

static void fill_repaired(void *context, void *p)
{
    const struct repair *r = context;

    copy_words(r->from, p);
    r->fresh->fill(r->fresh->context, p);
}

/* Maps the file of `sound` in the place of m. */
static enum err map_over(struct filemap *m, struct filemap *sound, const char *path,
                         struct errinfo *reterr)
{
    void *p =
        mmap(m->p, m->n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, sound->fd, 0);
    if (p == MAP_FAILED) {
        return file_sys_fail(reterr, path, "cannot map the new file");
    }
    sigbus_clear(m->p);
    fd_close(&m->fd);
    m->fd = sound->fd;
    sound->fd = -1;
    /* cppcheck-suppress memleak ; it is m's */
    return ERR_OK;
}

bool filemap_mend(struct filemap *m, const char *path, const char *lost,
                  const struct filemap_new *fresh)
{
    static struct clock_pace pace;
    struct repair r = {m, fresh};
    const struct filemap_new file = {m->n, fresh->mode, fill_repaired, &r};
    struct filemap sound;
    struct errinfo why = {.code = ERR_OK};

    if (!filemap_is_damaged(m)) {
        return true;
    }
    enum err e = filemap_make(&sound, path, &file, &why);
    THEN(e, map_over(m, &sound, path, &why));
    filemap_close(&sound);
    if (e == ERR_OK) {
        log_warn("event=mapped_file file=%s result=made_again: the file was cut short, "
                 "or the disk failed, while it was in use; lost: %s; find what changes "
                 "files in this folder, or check the disk",
                 path, lost);
    } else if (clock_take_turn(&pace, MEND_LOG_US)) {
        log_errinfo("mapped_file", &why);
    }
    return e == ERR_OK;
}
