#include "core/verdict/embargo/embargo_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/checksum.h"
#include "core/base/file.h"

#define MAGIC UINT64_C(0x314f4752424d454e) /* "NEMBRGO1" */

enum { VERSION = 1, MODE = 0640, IS_BACK = 0x8000, HOUR_S = 3600 };

/* Native byte order: the file stays on the machine. */
struct header {
    uint64_t magic;
    uint32_t version;
    uint32_t buckets;
    uint64_t sum; /* of all before it */
};

struct slot {
    uint64_t key;
    uint32_t time_s;
    uint16_t hours; /* and IS_BACK */
    uint16_t sum;   /* of all before it */
};
_Static_assert(sizeof(struct slot) == EMBARGO_ENTRY, "the layout of the file");

struct embargo_store {
    int fd;
};

/* ---- one slot ---- */

static uint16_t slot_sum(const struct slot *slot)
{
    return (uint16_t)checksum64(
        slice_of((const char *)slot, offsetof(struct slot, sum)));
}

static bool is_kept(const struct slot *slot, uint32_t now_s)
{
    uint64_t hours = slot->hours & EMBARGO_HOURS_MAX;
    return slot->key != 0 && slot_sum(slot) == slot->sum &&
           now_s < slot->time_s + hours * HOUR_S;
}

static uint64_t bucket_at(uint64_t key)
{
    return EMBARGO_HEADER + key % EMBARGO_BUCKETS * EMBARGO_SLOTS * EMBARGO_ENTRY;
}

static enum err read_bucket(const struct embargo_store *s, uint64_t key,
                            struct slot ret[EMBARGO_SLOTS])
{
    size_t bytes = EMBARGO_SLOTS * sizeof(ret[0]);
    return file_read_at(s->fd, bucket_at(key), ret, bytes) == bytes ? ERR_OK : ERR_IO;
}

enum err embargo_store_find(const struct embargo_store *s, uint64_t key, uint32_t now_s,
                            struct embargo_entry *ret)
{
    struct slot slot[EMBARGO_SLOTS];
    enum err e = read_bucket(s, key, slot);

    for (size_t i = 0; e == ERR_OK && i < EMBARGO_SLOTS; i++) {
        if (slot[i].key == key && is_kept(&slot[i], now_s)) {
            *ret = (struct embargo_entry){.key = key,
                                          .time_s = slot[i].time_s,
                                          .hours = slot[i].hours & EMBARGO_HOURS_MAX,
                                          .is_back = (slot[i].hours & IS_BACK) != 0};
            return ERR_OK;
        }
    }
    return e == ERR_OK ? ERR_NOT_FOUND : e;
}

/* The slot of the key, else a free one, else EMBARGO_SLOTS. */
static size_t place_for(const struct slot slot[EMBARGO_SLOTS], uint64_t key,
                        uint32_t now_s)
{
    size_t at = EMBARGO_SLOTS;

    for (size_t i = 0; i < EMBARGO_SLOTS; i++) {
        if (slot[i].key == key) {
            return i;
        }
        if (at == EMBARGO_SLOTS && !is_kept(&slot[i], now_s)) {
            at = i;
        }
    }
    return at;
}

enum err embargo_store_put(struct embargo_store *s, const struct embargo_entry *entry,
                           uint32_t now_s)
{
    struct slot slot[EMBARGO_SLOTS];
    enum err e = read_bucket(s, entry->key, slot);
    struct slot fresh = {.key = entry->key,
                         .time_s = entry->time_s,
                         .hours =
                             (uint16_t)(entry->hours | (entry->is_back ? IS_BACK : 0))};

    if (e != ERR_OK) {
        return e;
    }
    size_t at = place_for(slot, entry->key, now_s);
    if (at == EMBARGO_SLOTS) {
        return ERR_NOSPACE;
    }
    fresh.sum = slot_sum(&fresh);
    return file_write_at(s->fd, bucket_at(entry->key) + at * sizeof(fresh),
                         slice_of((const char *)&fresh, sizeof(fresh)))
               ? ERR_OK
               : ERR_IO;
}

/* ---- the file ---- */

static uint64_t header_sum(const struct header *h)
{
    return checksum64(slice_of((const char *)h, offsetof(struct header, sum)));
}

static bool is_sound(int fd)
{
    struct header h;
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size == EMBARGO_FILE_BYTES &&
           file_read_at(fd, 0, &h, sizeof(h)) == sizeof(h) && h.magic == MAGIC &&
           h.version == VERSION && h.buckets == EMBARGO_BUCKETS &&
           h.sum == header_sum(&h);
}

/* The header comes last: a file that a kill left half made is replaced. */
static bool make_store(int fd)
{
    struct header h = {.magic = MAGIC, .version = VERSION, .buckets = EMBARGO_BUCKETS};

    h.sum = header_sum(&h);
    return ftruncate(fd, EMBARGO_FILE_BYTES) == 0 &&
           file_write_at(fd, 0, slice_of((const char *)&h, sizeof(h)));
}

static int open_store(const char *path, int flags)
{
    return open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, MODE);
}

enum err embargo_store_open(const char *path, struct embargo_store **ret,
                            struct errinfo *reterr)
{
    int fd = open_store(path, 0);

    if (fd != -1 && !is_sound(fd)) {
        fd_close(&fd);
        (void)unlink(path);
    }
    if (fd == -1) {
        fd = open_store(path, O_CREAT | O_EXCL);
        if (fd != -1 && !make_store(fd)) {
            int why = errno;
            (void)unlink(path);
            fd_close(&fd);
            errno = why;
        }
    }
    if (fd == -1) {
        return errinfo_errno(reterr, path, "cannot be opened");
    }
    *ret = calloc(1, sizeof(**ret));
    if (*ret == NULL) {
        fd_close(&fd);
        return errinfo_set(reterr, ERR_NOMEM, path, 0, "out of memory");
    }
    (*ret)->fd = fd;
    return ERR_OK;
}

void embargo_store_close(struct embargo_store **s)
{
    if (*s != NULL) {
        fd_close(&(*s)->fd);
        free(*s);
        *s = NULL;
    }
}
