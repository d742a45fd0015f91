/* spill - byte strings that are wanted again later, in unlinked temporary files. */
#include "core/count/spill.h"

#include <pthread.h>

#include "core/base/file.h"

#define IN_MEMORY UINT32_MAX

struct spill_file {
    int fd; /* -1: free */
    uint64_t day;
    uint64_t end;
    uint64_t nrefs;
};

struct spill {
    char dir[FILE_PATH_MAX];
    pthread_mutex_t lock; /* guards: file; a file in use keeps its descriptor */
    struct spill_file file[SPILL_FILES];
    uint64_t in_files; /* bytes; written under the lock, read by any */
    uint64_t in_memory;
};

/* NOLINTNEXTLINE(readability-non-const-parameter): stored through */
static void add_figure(uint64_t *p, uint64_t v)
{
    __atomic_store_n(p, *p + v, __ATOMIC_RELAXED);
}

enum err spill_new(const char *dir, struct spill **ret)
{
    struct spill *s = calloc(1, sizeof(*s));

    if (!s) {
        return ERR_NOMEM;
    }
    if (dir && file_path(s->dir, "%s", dir) != ERR_OK) {
        free(s);
        return ERR_LIMIT;
    }
    (void)pthread_mutex_init(&s->lock, NULL);
    for (unsigned i = 0; i < SPILL_FILES; i++) {
        s->file[i].fd = -1;
    }
    *ret = s;
    return ERR_OK;
}

void spill_free(struct spill **s)
{
    if (!*s) {
        return;
    }
    for (unsigned i = 0; i < SPILL_FILES; i++) {
        fd_close(&(*s)->file[i].fd);
    }
    (void)pthread_mutex_destroy(&(*s)->lock);
    free(*s);
    *s = NULL;
}

static struct spill_file *file_of(struct spill *s, uint64_t day)
{
    struct spill_file *room = NULL;

    for (unsigned i = 0; i < SPILL_FILES; i++) {
        if (s->file[i].fd >= 0 && s->file[i].day == day) {
            return &s->file[i];
        }
        if (s->file[i].fd < 0) {
            room = &s->file[i];
        }
    }
    if (!room || s->dir[0] == 0) {
        return NULL;
    }
    int fd = file_open_nameless(s->dir);
    if (fd < 0) {
        return NULL;
    }
    *room = (struct spill_file){.fd = fd, .day = day};
    return room;
}

static void close_unused(struct spill_file *f)
{
    if (f->nrefs == 0) {
        fd_close(&f->fd);
    }
}

static bool put_in_file(struct spill *s, uint64_t day, struct slice bytes,
                        struct spill_ref *ret)
{
    struct spill_file *f = file_of(s, day);

    if (!f) {
        return false;
    }
    if (!file_write_at(f->fd, f->end, bytes)) {
        close_unused(f);
        return false;
    }
    *ret = (struct spill_ref){
        .at = f->end, .n = (uint32_t)bytes.n, .file = (uint32_t)(f - s->file)};
    f->end += bytes.n;
    f->nrefs++;
    add_figure(&s->in_files, bytes.n);
    return true;
}

static enum err put_in_memory(struct spill *s, struct slice bytes,
                              struct spill_ref *ret)
{
    if (s->in_memory + bytes.n > SPILL_MEMORY_MAX) {
        return ERR_NOSPACE;
    }
    void *p = malloc(bytes.n);
    if (!p) {
        return ERR_NOMEM;
    }
    memcpy(p, bytes.p, bytes.n);
    *ret = (struct spill_ref){.bytes = p, .n = (uint32_t)bytes.n, .file = IN_MEMORY};
    add_figure(&s->in_memory, bytes.n);
    return ERR_OK;
}

enum err spill_put(struct spill *s, uint64_t day, struct slice bytes,
                   struct spill_ref *ret)
{
    enum err e = ERR_OK;

    if (bytes.n == 0 || bytes.n > UINT32_MAX) {
        return ERR_LIMIT;
    }
    (void)pthread_mutex_lock(&s->lock);
    if (!put_in_file(s, day, bytes, ret)) {
        e = put_in_memory(s, bytes, ret);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return e;
}

static int descriptor_of(struct spill *s, const struct spill_ref *ref)
{
    (void)pthread_mutex_lock(&s->lock);
    int fd = s->file[ref->file].fd;
    (void)pthread_mutex_unlock(&s->lock);
    return fd;
}

enum err spill_get(struct spill *s, const struct spill_ref *ref, void *dst)
{
    if (spill_in_memory(ref)) {
        memcpy(dst, ref->bytes, ref->n);
        return ERR_OK;
    }
    if (file_read_at(descriptor_of(s, ref), ref->at, dst, ref->n) == ref->n) {
        return ERR_OK;
    }
    return errno == 0 ? ERR_CORRUPT : err_of_errno(errno);
}

void spill_drop(struct spill *s, struct spill_ref *ref)
{
    (void)pthread_mutex_lock(&s->lock);
    if (spill_in_memory(ref)) {
        free(ref->bytes);
        add_figure(&s->in_memory, -(uint64_t)ref->n);
    } else {
        struct spill_file *f = &s->file[ref->file];
        f->nrefs--;
        close_unused(f);
        add_figure(&s->in_files, -(uint64_t)ref->n);
    }
    (void)pthread_mutex_unlock(&s->lock);
    ref->n = 0;
}

void spill_advise(struct spill *s, const struct spill_ref *ref)
{
    if (!spill_in_memory(ref)) {
        (void)posix_fadvise(descriptor_of(s, ref), (off_t)ref->at, ref->n,
                            POSIX_FADV_WILLNEED);
    }
}

bool spill_in_memory(const struct spill_ref *ref)
{
    return ref->file == IN_MEMORY;
}

uint64_t spill_memory(const struct spill *s)
{
    return __atomic_load_n(&s->in_memory, __ATOMIC_RELAXED);
}

uint64_t spill_bytes(const struct spill *s)
{
    return __atomic_load_n(&s->in_files, __ATOMIC_RELAXED) + spill_memory(s);
}
