#include "core/verdict/journal/pending.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/le.h"
#include "core/verdict/journal/record.h"

#define PENDING_MAGIC UINT64_C(0x31444e50524a4e47) /* "GNJRPND1" */
enum {
    PENDING_VERSION = 1,
    PENDING_MODE = 0640,
    NS_PER_US = 1000,
    NS_PER_S = 1000000000,
    READ_TRIES = 20, /* of a reader whose frames are just being freed */
    READ_REST_US = 2000
};

/* Native byte order: the ring never leaves the machine. Places only rise; the byte of a place is
 * data[place % PENDING_BYTES]. A frame lies in one piece; zeros before the end of data are
 * skipped. */
struct ring {
    uint64_t magic;
    uint32_t version;
    uint32_t size;
    _Atomic uint64_t begin; /* of what is not on disk */
    _Atomic uint64_t end;
    uint64_t number; /* of the next record */
    char head[JOURNAL_HEAD];
    char data[PENDING_BYTES];
};

struct pending {
    struct filemap map;
    struct ring *ring;
    pthread_mutex_t lock; /* guards: data behind begin, end, number, added */
    _Atomic uint64_t rests_until_us;
    uint64_t number;
    struct buf
        added; /* the frames in the ring that were not taken, should the file be cut */
    struct buf taken; /* the mover's: those that are not on disk */
    char head[JOURNAL_HEAD];
    char path[FILE_PATH_MAX];
};

struct start {
    struct slice head;
    uint64_t number;
};

static void fill_ring(void *context, void *p)
{
    const struct start *start = context;
    struct ring *r = p;

    r->magic = PENDING_MAGIC;
    r->version = PENDING_VERSION;
    r->size = PENDING_BYTES;
    r->number = start->number;
    memcpy(r->head, start->head.p, JOURNAL_HEAD);
}

enum err pending_make(const char *path, struct slice head, uint64_t number,
                      struct pending **ret, struct errinfo *reterr)
{
    struct start start = {head, number};
    const struct filemap_new fresh = {sizeof(struct ring), PENDING_MODE, fill_ring,
                                      &start};
    struct pending *p = calloc(1, sizeof(*p));

    if (p == NULL) {
        return errinfo_nomem(reterr, path);
    }
    enum err e = path_make(p->path, reterr, "%s", path);
    THEN(e, filemap_make(&p->map, path, &fresh, reterr));
    if (e != ERR_OK) {
        free(p);
        return e;
    }
    p->ring = (struct ring *)(void *)p->map.p;
    p->number = number;
    memcpy(p->head, head.p, JOURNAL_HEAD);
    buf_init(&p->added, PENDING_BYTES);
    buf_init(&p->taken, PENDING_BYTES);
    (void)pthread_mutex_init(&p->lock, NULL);
    *ret = p;
    return ERR_OK;
}

void pending_close(struct pending **p)
{
    if (*p != NULL) {
        filemap_close(&(*p)->map);
        (void)pthread_mutex_destroy(&(*p)->lock);
        buf_fini(&(*p)->added);
        buf_fini(&(*p)->taken);
        free(*p);
    }
    *p = NULL;
}

/* ---- adding ---- */

static bool take_lock(struct pending *p)
{
    struct timespec until;
    uint64_t now = clock_mono_us();

    if (pthread_mutex_trylock(&p->lock) == 0) {
        return true;
    }
    if (now < atomic_load_explicit(&p->rests_until_us, memory_order_relaxed)) {
        return false;
    }
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)PENDING_WAIT_US * NS_PER_US;
    until.tv_sec += until.tv_nsec / NS_PER_S;
    until.tv_nsec %= NS_PER_S;
    if (pthread_mutex_timedlock(&p->lock, &until) == 0) {
        return true;
    }
    atomic_store_explicit(&p->rests_until_us, now + PENDING_WAIT_US + PENDING_REST_US,
                          memory_order_relaxed);
    return false;
}

/* The place of the next frame of n bytes: it does not go over the end of data. */
static uint64_t place_for(uint64_t end, size_t n)
{
    uint64_t left = PENDING_BYTES - end % PENDING_BYTES;

    return n <= left ? end : end + left;
}

bool pending_add(struct pending *p, char *frame, size_t n)
{
    struct ring *r = p->ring;

    if (!take_lock(p)) {
        return false;
    }
    uint64_t begin = atomic_load_explicit(&r->begin, memory_order_acquire);
    uint64_t at = place_for(atomic_load_explicit(&r->end, memory_order_relaxed), n);
    bool has_room = at + n - begin <= PENDING_BYTES;
    if (has_room) {
        record_number(frame, p->number++);
        r->number = p->number;
        buf_add(&p->added, slice_of(frame, n));
        memcpy(r->data + at % PENDING_BYTES, frame, n);
        /* release: a reader that sees the end also sees the frame, in the next process, too */
        atomic_store_explicit(&r->end, at + n, memory_order_release);
    }
    pthread_mutex_unlock(&p->lock);
    return has_room;
}

/* ---- taking ---- */

/* Appends what lies between two places, without the zeros before the end of data. False: it does
 * not reach the end. */
static bool copy_out(const char *data, uint64_t begin, uint64_t end, struct buf *ret)
{
    bool is_whole = true;

    while (begin < end) {
        uint64_t left = PENDING_BYTES - begin % PENDING_BYTES;
        struct slice rest = slice_of(data + begin % PENDING_BYTES,
                                     left < end - begin ? left : end - begin);
        size_t n = 0;
        while (rest.n > 0 && record_look(rest, &n) == RECORD_WHOLE) {
            buf_add(ret, slice_head(rest, n));
            rest = slice_from(rest, n);
        }
        begin += left;
        is_whole = begin < end || rest.n == 0;
    }
    return is_whole;
}

/* Moves what was added to what is taken. Where there was no memory for the copies, those of the
 * ring serve. */
static void take_added(struct pending *p)
{
    struct ring *r = p->ring;

    buf_add(&p->taken, buf_slice(&p->added));
    if (buf_failed(&p->added) || buf_failed(&p->taken)) {
        buf_fini(&p->taken);
        buf_init(&p->taken, PENDING_BYTES);
        (void)copy_out(r->data, atomic_load_explicit(&r->begin, memory_order_relaxed),
                       atomic_load_explicit(&r->end, memory_order_acquire), &p->taken);
    }
    buf_fini(&p->added);
    buf_init(&p->added, PENDING_BYTES);
}

uint64_t pending_take(struct pending *p, struct buf *ret)
{
    pthread_mutex_lock(&p->lock);
    take_added(p);
    uint64_t end = atomic_load_explicit(&p->ring->end, memory_order_acquire);
    pthread_mutex_unlock(&p->lock);
    if (buf_failed(&p->taken)) {
        ret->failed = true;
    }
    buf_add(ret, buf_slice(&p->taken));
    return end;
}

void pending_free_to(struct pending *p, uint64_t place)
{
    struct ring *r = p->ring;
    uint64_t begin = atomic_load_explicit(&r->begin, memory_order_relaxed);

    for (uint64_t at = begin; at < place;) {
        uint64_t left = PENDING_BYTES - at % PENDING_BYTES;
        uint64_t n = left < place - at ? left : place - at;
        memset(r->data + at % PENDING_BYTES, 0, n);
        at += n;
    }
    atomic_store_explicit(&r->begin, place, memory_order_release);
    buf_clear(&p->taken);
}

/* The ring begins again with the frames that are not on disk. */
static void mend_ring(void *context, void *p)
{
    const struct pending *own = context;
    struct start start = {slice_of(own->head, JOURNAL_HEAD), own->number};
    struct ring *r = p;

    memset(p, 0, sizeof(*r));
    fill_ring(&start, r);
    if (!buf_failed(&own->taken) && own->taken.n > 0) {
        memcpy(r->data, own->taken.p, own->taken.n);
        atomic_store_explicit(&r->end, own->taken.n, memory_order_release);
    }
}

void pending_keep(struct pending *p)
{
    const struct filemap_new fresh = {sizeof(struct ring), PENDING_MODE, mend_ring, p};

    if (filemap_is_damaged(&p->map)) {
        pthread_mutex_lock(&p->lock);
        take_added(p);
        (void)filemap_mend(&p->map, p->path, "nothing", &fresh);
        pthread_mutex_unlock(&p->lock);
    }
}

/* ---- other processes ---- */

static bool is_ring(const struct filemap *m)
{
    const struct ring *r = (const struct ring *)(const void *)m->p;
    return m->n == sizeof(*r) && r->magic == PENDING_MAGIC &&
           r->version == PENDING_VERSION && r->size == PENDING_BYTES;
}

static enum err open_ring(const char *path, struct filemap *ret, struct errinfo *reterr)
{
    enum err e = filemap_open(ret, path, FILEMAP_READ, reterr);

    if (e == ERR_OK && !is_ring(ret)) {
        filemap_close(ret);
        e = errinfo_set(
            reterr, ERR_CORRUPT, path, 0,
            "not a ring of the journal of this version; its records are not "
            "in the files of the journal");
    }
    return e;
}

/* Copies the frames. False: gillnetd was just freeing some of them, or they are damaged. */
static bool copy_ring(const struct ring *r, struct buf *retframes, uint64_t *retplace)
{
    const uint64_t begin = atomic_load_explicit(&r->begin, memory_order_acquire);
    const uint64_t end = atomic_load_explicit(&r->end, memory_order_acquire);

    buf_clear(retframes);
    if (end < begin || end - begin > PENDING_BYTES || end > INT64_MAX) {
        (void)copy_out(r->data, 0, PENDING_BYTES, retframes); /* damaged: all of it */
        *retplace = PENDING_BYTES;
        return true;
    }
    *retplace = end;
    return copy_out(r->data, begin, end, retframes) &&
           atomic_load_explicit(&r->begin, memory_order_acquire) == begin;
}

enum err pending_read(const char *path, struct buf *rethead, struct buf *retframes,
                      uint64_t *retplace, struct errinfo *reterr)
{
    struct filemap m = {0};
    enum err e = open_ring(path, &m, reterr);

    if (e != ERR_OK) {
        return e;
    }
    const struct ring *r = (const struct ring *)(const void *)m.p;
    buf_add(rethead, slice_of(r->head, JOURNAL_HEAD));
    for (unsigned i = 0; !copy_ring(r, retframes, retplace) && i < READ_TRIES; i++) {
        usleep(READ_REST_US);
    }
    e = filemap_check(&m, path, reterr);
    filemap_close(&m);
    if (e != ERR_OK) {
        return e;
    }
    return buf_failed(rethead) || buf_failed(retframes) ? errinfo_nomem(reterr, path)
                                                        : ERR_OK;
}

bool pending_is_past(const char *path, uint64_t place)
{
    struct filemap m = {0};
    enum err e = open_ring(path, &m, NULL);

    if (e != ERR_OK) { /* one that was cut is made again, with its records */
        return e == ERR_NOT_FOUND;
    }
    const struct ring *r = (const struct ring *)(const void *)m.p;
    bool is_past = atomic_load_explicit(&r->begin, memory_order_acquire) >= place;
    filemap_close(&m);
    return is_past;
}
