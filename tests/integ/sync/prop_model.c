/* prop_model - files of servers, read without sync. */
#include "tests/integ/sync/prop_model.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/count/stream.h"
#include "core/store/run.h"

enum { OBJECTS = 1 << 17, COPY_BYTES = 1 << 16, FOLDERS_OPEN = 16 };

uint64_t prop_key(unsigned i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (z ^ (z >> 29)) | 1;
}

uint64_t prop_start(unsigned bucket)
{
    return SYNCRING_NOW_S + (uint64_t)bucket * 600 - (uint64_t)BUCKETS_BEFORE * 600;
}

unsigned prop_bucket(uint64_t start_s)
{
    const uint64_t first = prop_start(0);
    return start_s < first || (start_s - first) / 600 >= BUCKETS
               ? BUCKETS
               : (unsigned)((start_s - first) / 600);
}

/* ---- files ---- */

static void add(void *context, const struct run_record *record)
{
    uint64_t *row = context;
    for (unsigned i = 0; i < KEYS; i++) {
        row[i] += prop_key(i) == record->key ? record->count : 0;
    }
}

static struct tally *tally_of(const struct syncnode *v, unsigned n,
                              const uint8_t *origin, struct holding *h)
{
    for (unsigned i = 0; i < n; i++) {
        if (memcmp(v[i].self.origin.b, origin, OBJECT_ID_BYTES) == 0) {
            return &h->of[i];
        }
    }
    prop_fail("a file of nobody");
}

static void read_stream(const char *path, const struct syncnode *v, unsigned n,
                        struct holding *ret)
{
    struct pair_log_place r;
    struct errinfo why;
    if (stream_reader_open(path, &r, &why) != ERR_OK) {
        prop_fail("%s: %s", path, why.text);
    }
    const unsigned bucket = prop_bucket(r.id.start_s);
    if (bucket < BUCKETS &&
        stream_reader_next(&r, path, add, tally_of(v, n, r.id.origin, ret)->v[bucket],
                           &why) != ERR_OK) {
        prop_fail("%s: %s", path, why.text);
    }
}

static void read_run(const char *path, const struct syncnode *v, unsigned n,
                     struct holding *ret)
{
    static struct run_cursor c;
    struct run *run = NULL;
    struct run_record record;
    struct errinfo why;
    if (run_open(path, &run, &why) != ERR_OK) {
        prop_fail("%s: %s", path, why.text);
    }
    const unsigned bucket = prop_bucket(run_id(run)->start_s);
    run_cursor_init(&c, run, 0, UINT64_MAX);
    while (bucket < BUCKETS && run_cursor_next(&c, &record) == ERR_OK) {
        add(tally_of(v, n, run_id(run)->origin, ret)->v[bucket], &record);
    }
    run_close(&run);
}

static bool ends_in(const char *name, const char *end)
{
    return slice_has_suffix_nocase(slice_str(name), slice_str(end));
}

static void read_folder(const char *dir, const struct syncnode *v, unsigned n,
                        struct holding *ret)
{
    const struct dirent *entry = NULL;
    DIR *d = opendir(dir);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    while (d && (entry = readdir(d)) != NULL) {
        char path[FILE_PATH_MAX];
        if (entry->d_name[0] == '.' ||
            file_path(path, "%s/%s", dir, entry->d_name) != ERR_OK) {
            continue;
        }
        if (ends_in(path, ".stream")) {
            read_stream(path, v, n, ret);
        } else if (ends_in(path, ".run")) {
            read_run(path, v, n, ret);
        } else {
            prop_fail("%s is left over", path);
        }
    }
    if (d) {
        (void)closedir(d);
    }
}

void prop_read(const struct syncnode *v, unsigned n, unsigned node, struct holding *ret)
{
    static const char *const tops[] = {"counts", "own"};
    memset(ret, 0, sizeof(*ret));
    for (unsigned t = 0; t < 2; t++) {
        char path[FILE_PATH_MAX];
        (void)file_path(path, "%s/peers/%s/runs", v[node].dir, tops[t]);
        read_folder(path, v, n, ret);
        for (unsigned i = 0; i < n; i++) {
            char hex[2 * OBJECT_ID_BYTES + 1];
            hex_print(v[i].self.origin.b, OBJECT_ID_BYTES, hex);
            (void)file_path(path, "%s/peers/%s/%s", v[node].dir, tops[t], hex);
            read_folder(path, v, n, ret);
        }
    }
}

/* ---- objects ---- */

struct seen {
    struct object_id stream;
    uint64_t seq; /* 0: free */
    struct hash256 hash;
    struct hash256 root;
};
static struct seen seen[OBJECTS];
static size_t nseen;

void prop_forget_objects(void)
{
    memset(seen, 0, sizeof(seen));
    nseen = 0;
}

/* Where it is, or could be put. */
static struct seen *place_of(const struct object_id *stream, uint64_t seq)
{
    uint64_t at = 0;
    memcpy(&at, stream->b, sizeof(at));
    at = (at + seq * UINT64_C(0x9e3779b97f4a7c15)) % OBJECTS;
    while (seen[at].seq != 0 &&
           (seen[at].seq != seq ||
            memcmp(seen[at].stream.b, stream->b, OBJECT_ID_BYTES) != 0)) {
        at = (at + 1) % OBJECTS;
    }
    return &seen[at];
}

bool prop_signed_root(const struct object_id *stream, uint64_t seq, struct hash256 *ret)
{
    const struct seen *p = place_of(stream, seq);
    *ret = p->root;
    return p->seq != 0;
}

bool prop_note_object(struct slice object)
{
    struct object o;
    struct seen s;
    if (object_parse(object, &o, NULL) != ERR_OK) {
        prop_fail("what was sent is no object");
    }
    stream_key_id(&o.stream, &s.stream);
    s.seq = o.seq;
    s.root = o.root;
    object_hash(object, &s.hash);
    struct seen *p = place_of(&s.stream, s.seq);
    if (p->seq != 0) {
        const bool is_same = hash256_equal(&p->hash, &s.hash);
        *p = s;
        return is_same;
    }
    if (++nseen > OBJECTS / 2) {
        prop_fail("too many objects");
    }
    *p = s;
    return true;
}

/* ---- folders ---- */

static const char *copy_from;
static const char *copy_to;

static void copy_file(const char *from, const char *to)
{
    static char bytes[COPY_BYTES];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    ssize_t n = 0;
    if (in < 0 || out < 0) {
        prop_fail("cannot copy %s", from);
    }
    while ((n = read(in, bytes, sizeof(bytes))) > 0) {
        if (write(out, bytes, (size_t)n) != n) {
            prop_fail("cannot write %s", to);
        }
    }
    (void)close(in);
    (void)close(out);
}

static int copy_one(const char *path, const struct stat *st, int kind,
                    struct FTW *where)
{
    char to[FILE_PATH_MAX];
    (void)where;
    (void)st;
    (void)file_path(to, "%s%s", copy_to, path + strlen(copy_from));
    if (kind == FTW_D) {
        return mkdir(to, 0750);
    }
    copy_file(path, to);
    return 0;
}

void prop_copy(const char *from, const char *to)
{
    copy_from = from;
    copy_to = to;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    if (nftw(from, copy_one, FOLDERS_OPEN, FTW_PHYS) != 0) {
        prop_fail("cannot copy %s", from);
    }
}

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

void prop_remove(const char *dir)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    (void)nftw(dir, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}
