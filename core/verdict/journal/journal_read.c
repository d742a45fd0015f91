#include "core/verdict/journal/journal_read.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/array.h"
#include "core/verdict/journal/journal_internal.h"
#include "core/verdict/journal/pending.h"

enum { US_PER_S = 1000000, FRAMES_MAX = 1 << 24, CUT_TRIES = 3 };

/* One call of journal_read. */
struct reading {
    const struct journal_query *q;
    struct journal_numbers *numbers;
    struct journal_names *names;
    struct record *record;
    uint64_t last_number;
    uint64_t
        below; /* of the newest file: the ring gave this number and higher ones; 0: none */
    bool is_stopped;
    struct slice *frames; /* of one file, to give them backwards */
    size_t room;
};

static void note_damage(struct reading *r, const char *path, const char *what)
{
    if (r->numbers->damaged++ == 0) {
        (void)snprintf(r->numbers->damage, sizeof(r->numbers->damage), "%.300s: %.150s",
                       path, what);
    }
}

static void note_time(struct journal_numbers *n, uint64_t at_us)
{
    n->first_us = n->first_us == 0 || at_us < n->first_us ? at_us : n->first_us;
    n->last_us = at_us > n->last_us ? at_us : n->last_us;
}

/* False: fn stopped the reading. */
static bool give_record(struct reading *r, const char *path, struct slice frame)
{
    const struct journal_query *q = r->q;

    r->numbers->records++;
    if (!record_parse(frame, r->record)) {
        note_damage(r, path, "a record is of no form that this version knows");
        return true;
    }
    uint64_t at = r->record->time_us;
    note_time(r->numbers, at);
    if (at < q->since_us || (q->until_us != 0 && at >= q->until_us)) {
        return true;
    }
    return q->fn == NULL || q->fn(q->context, r->record, r->names);
}

static void note_walk(struct reading *r, const char *path, const struct journal_walk *w)
{
    char what[96];

    if (w->damaged > 0) {
        (void)snprintf(what, sizeof(what),
                       "%llu damaged places, the first at byte %llu",
                       (unsigned long long)w->damaged,
                       (unsigned long long)(w->damaged_at + JOURNAL_HEAD));
        note_damage(r, path, what);
        r->numbers->damaged += w->damaged - 1;
    }
}

static void give_reversed(struct reading *r, const char *path, struct slice frames)
{
    struct journal_walk w = journal_walk_begin(frames);
    struct slice frame;
    size_t n = 0;

    while (journal_walk_next(&w, &frame) &&
           array_room(&r->frames, &r->room, n + 1, FRAMES_MAX, sizeof(*r->frames))) {
        r->frames[n++] = frame;
    }
    while (!r->is_stopped && n > 0) {
        const struct slice last = r->frames[--n];
        const uint64_t number = record_number_of(last.p);

        if (r->below == 0 || number < r->below) {
            r->is_stopped = !give_record(r, path, last);
        }
    }
    note_walk(r, path, &w);
}

/* above: frames of this number and less were given already. */
static void give_frames(struct reading *r, const char *path, struct slice frames,
                        uint64_t above)
{
    struct journal_walk w = journal_walk_begin(frames);
    struct slice frame;

    while (!r->is_stopped && journal_walk_next(&w, &frame)) {
        uint64_t number = record_number_of(frame.p);
        if (number > above) {
            r->last_number = number;
            r->is_stopped = !give_record(r, path, frame);
        }
    }
    note_walk(r, path, &w);
}

static enum err give_file(struct reading *r, const char *dir,
                          const struct journal_name_of *name, struct errinfo *reterr)
{
    char text[JOURNAL_FILE_NAME];
    char path[FILE_PATH_MAX];
    struct filemap m = {0};
    struct errinfo why = {.code = ERR_OK};

    journal_file_print(name, text);
    enum err e = path_make(path, reterr, "%s/%s", dir, text);
    /* a copy: gillnetd may cut the file, and the hub must not end by that */
    for (unsigned tries = 0; tries < CUT_TRIES && e == ERR_OK && m.p == NULL; tries++) {
        e = filemap_open(&m, path, FILEMAP_COPY, reterr);
        e = e == ERR_CORRUPT && tries + 1 < CUT_TRIES ? ERR_OK : e; /* just cut */
    }
    if (e == ERR_NOT_FOUND) {
        return ERR_OK; /* it was just removed */
    }
    if (e != ERR_OK) {
        return e;
    }
    struct slice bytes = slice_of(m.p, m.n);
    if (journal_head_parse(bytes, path, r->names, &why) == ERR_OK) {
        r->numbers->files++;
        r->numbers->bytes += m.n;
        if (r->q->newest_first) {
            give_reversed(r, path, slice_from(bytes, JOURNAL_HEAD));
        } else {
            give_frames(r, path, slice_from(bytes, JOURNAL_HEAD), r->q->after);
        }
    } else {
        note_damage(r, path, why.text);
    }
    filemap_close(&m);
    return ERR_OK;
}

/* Days before since and after until need not be read. */
static bool is_of_days(const struct journal_query *q,
                       const struct journal_name_of *name)
{
    uint64_t begin_us = name->day * JOURNAL_DAY_S * US_PER_S;
    uint64_t end_us = begin_us + (uint64_t)JOURNAL_DAY_S * US_PER_S;

    return name->kind == JOURNAL_MESSAGES && end_us > q->since_us &&
           (q->until_us == 0 || begin_us < q->until_us);
}

struct ring_copy {
    struct buf head;
    struct buf frames;
    char path[FILE_PATH_MAX];
};

static enum err copy_ring(const char *dir, struct ring_copy *ret,
                          struct errinfo *reterr)
{
    uint64_t place = 0;

    buf_init(&ret->head, JOURNAL_HEAD);
    buf_init(&ret->frames, PENDING_BYTES);
    enum err e = path_make(ret->path, reterr, "%s/" JOURNAL_PENDING, dir);
    THEN(e, pending_read(ret->path, &ret->head, &ret->frames, &place, reterr));
    return e == ERR_NOT_FOUND || e == ERR_CORRUPT ? ERR_OK : e;
}

/* 0: there is no frame. */
static uint64_t first_number_in(struct slice frames)
{
    struct journal_walk w = journal_walk_begin(frames);
    struct slice frame;

    return journal_walk_next(&w, &frame) ? record_number_of(frame.p) : 0;
}

/* Records of the ring that are in no file. */
static void give_ring(struct reading *r, const struct ring_copy *ring)
{
    uint64_t before = r->numbers->records;

    if (!r->is_stopped && ring->frames.n > 0 &&
        journal_head_parse(buf_slice(&ring->head), ring->path, r->names, NULL) ==
            ERR_OK) {
        if (r->q->newest_first) {
            give_reversed(r, ring->path, buf_slice(&ring->frames));
            r->below = first_number_in(buf_slice(&ring->frames));
        } else {
            give_frames(r, ring->path, buf_slice(&ring->frames), r->last_number);
        }
        r->numbers->waiting = r->numbers->records - before;
    }
}

/* The number of a file's first record; 0: it has none, or that one is damaged. */
static uint64_t first_number(const char *dir, const struct journal_name_of *name)
{
    char text[JOURNAL_FILE_NAME];
    char path[FILE_PATH_MAX];
    char frame[RECORD_MAX];
    ssize_t got = -1;
    size_t n = 0;

    journal_file_print(name, text);
    int fd = path_make(path, NULL, "%s/%s", dir, text) == ERR_OK
                 ? open(path, O_RDONLY | O_CLOEXEC)
                 : -1;
    if (fd >= 0) {
        got = pread(fd, frame, sizeof(frame), JOURNAL_HEAD);
        (void)close(fd);
    }
    bool is_whole =
        got > 0 && record_look(slice_of(frame, (size_t)got), &n) == RECORD_WHOLE;
    return is_whole ? record_number_of(frame) : 0;
}

/* The file from which on there are records of numbers above `after`. */
static size_t first_file(const struct reading *r, const char *dir,
                         const struct journal_files *files)
{
    size_t at = r->q->after == 0 ? 0 : files->n;
    bool is_before = false;

    while (at > 0 && !is_before) {
        const struct journal_name_of *name = &files->v[--at];
        uint64_t number = name->kind == JOURNAL_MESSAGES ? first_number(dir, name) : 0;
        is_before = number > 0 && number <= r->q->after;
    }
    return at;
}

/* The ring is copied before the files are listed: records that leave it meanwhile are in them. */
static enum err read_all(struct reading *r, const char *dir, struct errinfo *reterr)
{
    struct journal_files files;
    struct ring_copy ring;
    enum err e = copy_ring(dir, &ring, reterr);

    if (e == ERR_OK) {
        e = journal_files_list(dir, &files, reterr);
    }
    if (e == ERR_OK) {
        if (r->q->newest_first) {
            give_ring(r, &ring);
        }
        for (size_t i = first_file(r, dir, &files);
             e == ERR_OK && !r->is_stopped && i < files.n; i++) {
            size_t at = r->q->newest_first ? files.n - 1 - i : i;
            if (is_of_days(r->q, &files.v[at])) {
                e = give_file(r, dir, &files.v[at], reterr);
                r->below = 0;
            }
        }
        if (e == ERR_OK && !r->q->newest_first) {
            give_ring(r, &ring);
        }
        journal_files_fini(&files);
    }
    buf_fini(&ring.frames);
    buf_fini(&ring.head);
    return e;
}

enum err journal_read(const struct journal_query *q, struct journal_numbers *ret,
                      struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    struct reading r = {.q = q,
                        .numbers = ret,
                        .last_number = q->after,
                        .names = calloc(1, sizeof(*r.names)),
                        .record = calloc(1, sizeof(*r.record))};
    enum err e = path_make(dir, reterr, "%s/" STATE_JOURNAL_DIR, q->state_dir);

    *ret = (struct journal_numbers){.records = 0};
    if (r.names == NULL || r.record == NULL) {
        e = errinfo_nomem(reterr, dir);
    } else if (e == ERR_OK && access(dir, R_OK | X_OK) != 0) {
        e = errno == ENOENT ? errinfo_set(reterr, ERR_NOT_FOUND, dir, 0,
                                          "there is no journal: gillnetd has written "
                                          "none yet, or journal.keep is 0s")
                            : errinfo_errno(reterr, dir, "cannot read the journal");
    }
    THEN(e, read_all(&r, dir, reterr));
    free(r.frames);
    free(r.names);
    free(r.record);
    return e;
}
