#include "core/learn/vector_store.h"

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/base/file.h"
#include "core/base/le.h"

enum {
    FILE_MAX = 64 << 20,
    RECORD_MAX = VECTOR_BYTES + 64,
    REWRITE_MIN = 1024, /* records; a shorter file is left as it is */
    FILE_MODE = 0640,
    CLASSES = 2,
    VECTOR_LEAST = 4, /* bytes of its head */
    WEIGHT_MOST = 1000
};

const char store_magic[8] = {'G', 'N', 'V', 'E', 'C', 'T', 'S', '1'};

static void add_record(struct buf *to, struct slice body)
{
    buf_add_u32(to, (uint32_t)body.n);
    buf_add_u32(to, checksum32(body));
    buf_add(to, body);
}

void store_add_example(struct buf *to, const struct learner_example *e)
{
    struct buf body;
    uint32_t weight = 0;
    buf_init(&body, RECORD_MAX);
    memcpy(&weight, &e->weight, sizeof(weight));
    buf_add_u8(&body, e->is_spam ? RECORD_SPAM : RECORD_HAM);
    buf_add_u64(&body, e->number);
    buf_add_u8(&body, (uint8_t)e->source);
    buf_add_u32(&body, weight);
    buf_add(&body, e->vector);
    add_record(to, buf_slice(&body));
    to->failed = to->failed || buf_failed(&body);
    buf_fini(&body);
}

static void add_kept(struct buf *to, const struct kept *k)
{
    const struct learner_example e = {.number = k->number,
                                      .is_spam = k->is_spam,
                                      .weight = k->weight,
                                      .source = (enum learner_source)k->source,
                                      .vector = slice_of(k->bytes, k->n)};
    store_add_example(to, &e);
}

void store_add_number(struct buf *to, enum record_kind kind, uint64_t value)
{
    char body[9];
    body[0] = (char)kind;
    le_put(body + 1, value, sizeof(value));
    add_record(to, slice_of(body, sizeof(body)));
}

/* ---- in memory ---- */

static void drop_kept(struct store *s, size_t at)
{
    struct kept *k = &s->kept[at];
    s->count[k->kind][k->is_spam]--;
    free(k->bytes);
    s->n--;
    memmove(k, k + 1, (s->n - at) * sizeof(*k));
}

bool kept_is_unproved(const struct kept *k)
{
    return k->source == LEARNER_REPORTED && k->weight < 1;
}

/* Drops the oldest of the class: of this kind, or of the unproved ones. */
static void drop_oldest(struct store *s, bool is_spam, unsigned kind, bool is_unproved)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct kept *k = &s->kept[i];
        if (k->is_spam == is_spam &&
            (is_unproved ? kept_is_unproved(k) : k->kind == kind)) {
            drop_kept(s, i);
            return;
        }
    }
}

/* Room for one more of the class. */
static void make_room_in_class(struct store *s, bool is_spam)
{
    size_t sum = 0;
    size_t nunproved = 0;
    unsigned most = 0;
    for (unsigned k = 0; k < VECTOR_KINDS; k++) {
        sum += s->count[k][is_spam];
        most = s->count[k][is_spam] > s->count[most][is_spam] ? k : most;
    }
    if (sum < LEARNER_STORE) {
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        nunproved += s->kept[i].is_spam == is_spam && kept_is_unproved(&s->kept[i]);
    }
    drop_oldest(s, is_spam, most, nunproved >= STORE_UNPROVED);
}

static struct kept *keep_example(struct store *s, const struct learner_example *e)
{
    unsigned kind = e->vector.n > 3 ? (uint8_t)e->vector.p[1] : VECTOR_KINDS;
    uint8_t *bytes = malloc(e->vector.n + 1);
    if (bytes == NULL || kind >= VECTOR_KINDS) {
        free(bytes);
        return NULL;
    }
    make_room_in_class(s, e->is_spam);
    memcpy(bytes, e->vector.p, e->vector.n);
    struct kept *k = &s->kept[s->n++];
    *k = (struct kept){.number = e->number,
                       .weight = e->weight,
                       .is_spam = e->is_spam,
                       .source = (uint8_t)e->source,
                       .kind = (uint8_t)kind,
                       .group = (uint16_t)le_get(e->vector.p + 2, 2),
                       .n = (uint16_t)e->vector.n,
                       .bytes = bytes};
    s->count[kind][e->is_spam]++;
    s->applied = e->number > s->applied ? e->number : s->applied;
    return k;
}

struct kept *store_add(struct store *s, const struct learner_example *e)
{
    struct kept *k = keep_example(s, e);
    if (k != NULL) {
        add_kept(&s->pending, k);
        s->written++;
    }
    return k;
}

static bool remove_number(struct store *s, uint64_t number)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->kept[i].number == number) {
            drop_kept(s, i);
            return true;
        }
    }
    return false;
}

bool store_remove(struct store *s, uint64_t number)
{
    if (number == 0 || !remove_number(s, number)) {
        return false;
    }
    store_add_number(&s->pending, RECORD_REMOVED, number);
    s->written++;
    return true;
}

static size_t remove_source(struct store *s, uint64_t source)
{
    size_t n = 0;
    for (size_t i = 0; s->kept != NULL && i < s->n;) {
        if (s->kept[i].source == source) {
            drop_kept(s, i);
            n++;
        } else {
            i++;
        }
    }
    return n;
}

size_t store_remove_source(struct store *s, enum learner_source source)
{
    size_t n = remove_source(s, source);
    if (n > 0) {
        store_add_number(&s->pending, RECORD_OUT, source);
        s->written++;
    }
    return n;
}

/* ---- records ---- */

/* The example of a record. False: it is none. */
static bool parse_example(bool is_spam, struct cursor *c, struct learner_example *ret)
{
    struct learner_example e = {.is_spam = is_spam};
    e.number = cursor_u64(c);
    e.source = (enum learner_source)cursor_u8(c);
    uint32_t weight = cursor_u32(c);
    memcpy(&e.weight, &weight, sizeof(weight));
    e.vector = c->rest;
    if (!cursor_ok(c) || e.source >= LEARNER_SOURCES || e.vector.n < VECTOR_LEAST ||
        e.vector.n > VECTOR_BYTES || !(e.weight > 0) || e.weight > WEIGHT_MOST) {
        return false;
    }
    *ret = e;
    return true;
}

static bool read_example(struct store *s, bool is_spam, struct cursor *c)
{
    struct learner_example e;
    if (!parse_example(is_spam, c, &e)) {
        return false;
    }
    /* Vectors of another version say nothing here; their numbers were learnt all the same. */
    if ((uint8_t)e.vector.p[0] != VECTOR_VERSION) {
        s->applied = e.number > s->applied ? e.number : s->applied;
        return true;
    }
    return keep_example(s, &e) != NULL;
}

static bool read_record(struct store *s, struct slice body)
{
    struct cursor c = cursor_of(body);
    unsigned kind = cursor_u8(&c);
    if (kind == RECORD_HAM || kind == RECORD_SPAM) {
        return read_example(s, kind == RECORD_SPAM, &c);
    }
    uint64_t value = cursor_u64(&c);
    if (!cursor_done(&c)) {
        return false;
    }
    if (kind == RECORD_REMOVED) {
        (void)remove_number(s, value);
    } else if (kind == RECORD_OUT) {
        (void)remove_source(s, value);
    } else if (kind == RECORD_APPLIED) {
        s->applied = value > s->applied ? value : s->applied;
    } else {
        return false;
    }
    return true;
}

/* ---- the inbox ---- */

static bool has_example(const struct store *s, const struct learner_example *e)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct kept *k = &s->kept[i];
        if (k->n == e->vector.n && (bool)k->is_spam == e->is_spam &&
            memcmp(k->bytes, e->vector.p, k->n) == 0) {
            return true;
        }
    }
    return false;
}

static bool take_record(struct store *s, struct slice body)
{
    struct cursor c = cursor_of(body);
    struct learner_example e;
    unsigned kind = cursor_u8(&c);
    if (kind == RECORD_OUT) {
        return store_remove_source(s, (enum learner_source)cursor_u64(&c)) > 0;
    }
    return (kind == RECORD_HAM || kind == RECORD_SPAM) &&
           parse_example(kind == RECORD_SPAM, &c, &e) && e.number == 0 &&
           (uint8_t)e.vector.p[0] == VECTOR_VERSION && !has_example(s, &e) &&
           store_add(s, &e) != NULL;
}

bool store_take_inbox(struct store *s, const char *path)
{
    struct buf bytes;
    bool is_changed = false;
    buf_init(&bytes, FILE_MAX);
    if (file_read(path, &bytes, NULL) == ERR_OK) {
        struct cursor c = cursor_of(slice_from(buf_slice(&bytes), sizeof(store_magic)));
        while (c.rest.n > 0) {
            uint32_t n = cursor_u32(&c);
            uint32_t sum = cursor_u32(&c);
            struct slice body = cursor_bytes(&c, n);
            if (!cursor_ok(&c) || checksum32(body) != sum) {
                break;
            }
            is_changed = take_record(s, body) || is_changed;
        }
    }
    buf_fini(&bytes);
    return is_changed;
}

/* ---- the file ---- */

/* Reads records until one is not whole; returns whether all were. */
static bool read_records(struct store *s, struct slice bytes)
{
    struct cursor c = cursor_of(bytes);
    while (c.rest.n > 0) {
        uint32_t n = cursor_u32(&c);
        uint32_t sum = cursor_u32(&c);
        struct slice body = cursor_bytes(&c, n);
        if (!cursor_ok(&c) || checksum32(body) != sum || !read_record(s, body)) {
            return false;
        }
        s->written++;
    }
    return true;
}

/* The whole file again. */
static enum err rewrite(struct store *s, struct errinfo *reterr)
{
    struct buf all;
    buf_init(&all, FILE_MAX);
    buf_add(&all, slice_of(store_magic, sizeof(store_magic)));
    store_add_number(&all, RECORD_APPLIED, s->applied);
    for (size_t i = 0; i < s->n; i++) {
        add_kept(&all, &s->kept[i]);
    }
    enum err e = buf_failed(&all)
                     ? errinfo_nomem(reterr, s->path)
                     : file_write_atomic(s->path, buf_slice(&all), FILE_MODE, reterr);
    buf_fini(&all);
    if (e == ERR_OK) {
        s->written = s->n + 1;
        buf_fini(&s->pending);
    }
    return e;
}

enum err store_open(struct store *s, const char *path, struct errinfo *reterr)
{
    struct buf bytes;
    struct errinfo why = {.code = ERR_OK};
    *s = (struct store){.n = 0};
    buf_init(&s->pending, FILE_MAX);
    enum err e = path_make(s->path, reterr, "%s", path);
    s->kept = calloc(CLASSES * LEARNER_STORE + 1, sizeof(*s->kept));
    if (e == ERR_OK && s->kept == NULL) {
        e = errinfo_nomem(reterr, path);
    }
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&bytes, FILE_MAX);
    e = file_read(path, &bytes, &why);
    struct slice all = buf_slice(&bytes);
    bool is_whole = e == ERR_OK && all.n >= sizeof(store_magic) &&
                    memcmp(all.p, store_magic, sizeof(store_magic)) == 0 &&
                    read_records(s, slice_from(all, sizeof(store_magic)));
    buf_fini(&bytes);
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        if (reterr != NULL) {
            *reterr = why;
        }
        return e;
    }
    return is_whole ? ERR_OK : rewrite(s, reterr);
}

void store_close(struct store *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->kept[i].bytes);
    }
    free(s->kept);
    buf_fini(&s->pending);
    *s = (struct store){.n = 0};
}

bool store_is_dirty(const struct store *s)
{
    return s->pending.n > 0 || s->pending.failed;
}

static enum err append(struct store *s, struct errinfo *reterr)
{
    int fd = open(s->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errinfo_errno(reterr, s->path, "cannot be opened");
    }
    bool is_done = file_write_all(fd, buf_slice(&s->pending)) && fdatasync(fd) == 0;
    enum err e = is_done ? ERR_OK : errinfo_errno(reterr, s->path, "cannot be written");
    (void)close(fd);
    return e;
}

enum err store_save(struct store *s, struct errinfo *reterr)
{
    if (!store_is_dirty(s)) {
        return ERR_OK;
    }
    bool is_long = s->written > REWRITE_MIN && s->written > 2 * s->n;
    if (is_long || buf_failed(&s->pending)) {
        return rewrite(s, reterr);
    }
    enum err e = append(s, reterr);
    if (e != ERR_OK) {
        return rewrite(s, reterr); /* half a record may stand at the end */
    }
    buf_fini(&s->pending); /* the memory of many at once, too */
    return e;
}
