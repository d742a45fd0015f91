/* fuzz_subscription - a publisher's heads and objects, changed anywhere and then signed, as a subscriber takes them: what is
 * held afterwards is what some object signed says, or what was held before. The subscriber goes on with the next input.
 *
 * Input: a byte of enum say, one with the number of changes and of records, three bytes for each change (offset 16 bits,
 * XOR), the rest is the payload, unpacked. */
#include <ftw.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/ring/publish/subscription_internal.h"
#include "core/ring/stream/signature.h"

#include "tests/fuzz/fuzz.h"
#include "tests/unit/trust/identity_seed.h"

enum say {
    SAY_SNAP = 1,     /* else a DELTA */
    SAY_LENGTHS = 2,  /* they and the hash are those of the payload */
    SAY_ROOT = 4,     /* the root is that of the records */
    SAY_PACKED = 8,   /* the payload is the input's bytes as they are */
    SAY_HEADS = 16,   /* the changes are of the heads, else of the object */
    SAY_RAW = 32,     /* the rest is v1/heads, unsigned */
    SAY_KEY = 64,     /* the rest is v1/key */
    SAY_RESTART = 128 /* the subscriber is opened anew */
};
enum { ROUNDS = 256, CHANGES_MAX = 15, BYTES_MAX = 1 << 16, ENTRIES_MOST = 1000 };
#define NOW_MS UINT64_C(1800000000000)

struct reader_side {
    char dir[64];
    struct keyring keys;
    struct identity publisher;
    struct peerlists *lists;
    struct subscription *s;
    unsigned rounds;
    uint64_t now_ms;
    uint64_t publications;
    /* the newest object that was taken */
    struct hash256 hash;
    struct hash256 root;
    uint64_t seq;
};
static struct reader_side it;

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

static void close_it(void)
{
    subscription_close(&it.s);
    peerlists_close(&it.lists);
}

static void stop(void)
{
    close_it();
    if (it.dir[0] != '\0') {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
        (void)nftw(it.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

static void open_it(void)
{
    char path[128];
    struct errinfo why = {.text = ""};
    const struct subscription_map map = {"theirs", "ours"};
    struct subscription_options o = {.state_dir = it.dir,
                                     .name = "pub",
                                     .maps = &map,
                                     .nmaps = 1,
                                     .most_entries = ENTRIES_MOST};
    memcpy(o.key, it.publisher.public_key, sizeof(o.key));
    (void)snprintf(path, sizeof(path), "%s/peers", it.dir);
    FUZZ_CHECK(file_make_dir(path, 0700, &why) == ERR_OK);
    (void)snprintf(path, sizeof(path), "%s/peers/lists", it.dir);
    FUZZ_CHECK(peerlists_open_subscribed(path, &it.keys, &it.lists, &why) == ERR_OK);
    FUZZ_CHECK(subscription_open(&o, it.lists, &it.keys, &it.s, &why) == ERR_OK);
}

static void start(void)
{
    const uint8_t seed[32] = {9};
    static bool is_begun;
    if (!is_begun) {
        FUZZ_CHECK(base_init() == ERR_OK);
        (void)atexit(stop);
        log_set_level(LOG_LEVEL_ERROR);
        is_begun = true;
    }
    stop();
    it = (struct reader_side){
        .keys = {.n = 1, .ring = {{.id = 5, .bytes = {1, 2, 3}}}, .node = {.id = 6}},
        .now_ms = NOW_MS};
    identity_of_seed(seed, &it.publisher);
    clock_set_for_test(NOW_MS * 1000, 1000000);
    (void)snprintf(it.dir, sizeof(it.dir), "/dev/shm/gillnet-fuzz-XXXXXX");
    if (!mkdtemp(it.dir)) {
        (void)snprintf(it.dir, sizeof(it.dir), "/tmp/gillnet-fuzz-XXXXXX");
        FUZZ_CHECK(mkdtemp(it.dir) != NULL);
    }
    open_it();
}

/* ---- an object ---- */

static void mend_root(struct object *o, struct slice raw)
{
    const struct object_id no_ring = {{0}};
    struct payload_reader r;
    struct list_record step;
    struct root root = {{0}};
    const bool is_snap = o->type == OBJECT_SNAP;
    if (!is_snap) {
        root_parse(&it.root, &root);
    }
    if (payload_reader_init(&r, OBJECT_TEXT, is_snap, o->records, raw, NULL) ==
        ERR_OK) {
        while (payload_next_list(&r, &step)) {
            root_steps(&root, &no_ring, OBJECT_TEXT, &step, 1);
        }
    }
    root_print(&root, &o->root);
}

/* Header without signature, and the payload behind it. */
static void make(uint8_t says, uint64_t records, struct slice raw, struct object *o,
                 struct buf *payload)
{
    *o = (struct object){.type = says & SAY_SNAP ? OBJECT_SNAP : OBJECT_DELTA,
                         .seq = it.seq + 1,
                         .records = records,
                         .raw_len = raw.n,
                         .prev = it.hash,
                         .created_ms = it.now_ms,
                         .root = it.root};
    o->key_id = object_key_id(it.publisher.signing.key);
    o->stream = (struct stream_key){
        .origin = it.publisher.origin, .inc = 1, .kind = OBJECT_TEXT, .list = "theirs"};
    o->base_seq = says & SAY_SNAP ? 0 : it.seq;
    if (says & SAY_PACKED) {
        buf_add(payload, raw);
    } else if (raw.n > 0) {
        FUZZ_CHECK(payload_pack(raw, payload) == ERR_OK);
    }
    o->sent_len = 1;
    if (says & SAY_LENGTHS) {
        o->sent_len = payload->n;
        hash256_of(buf_slice(payload), &o->payload);
    }
    if (says & SAY_ROOT) {
        mend_root(o, raw);
    }
}

static void sign(const struct object *o, const uint8_t *change, size_t n,
                 struct buf *ret)
{
    uint8_t signature[OBJECT_HEADER_BYTES - OBJECT_SIGNED_BYTES];
    object_print(o, ret);
    for (size_t i = 0; i < n; i++, change += 3) {
        const size_t at = (change[0] | (size_t)change[1] << 8) % OBJECT_SIGNED_BYTES;
        ret->p[at] = (char)(ret->p[at] ^ (char)change[2]);
    }
    FUZZ_CHECK(signature_make(it.publisher.signing_secret, "gillnet-exchange/1",
                              slice_head(buf_slice(ret), OBJECT_SIGNED_BYTES),
                              signature) == ERR_OK);
    buf_add(ret, slice_of((const char *)signature, sizeof(signature)));
    FUZZ_CHECK(!buf_failed(ret));
}

/* ---- a round ---- */

/* The fields of the row that change, as bytes. */
static void change_row(struct head *row, const uint8_t *change, size_t n)
{
    struct {
        void *p;
        size_t n;
    } field[] = {{&row->seq, 8},         {&row->from, 8},
                 {&row->snap_seq, 8},    {&row->flags, 2},
                 {&row->stream.inc, 8},  {&row->stream.start_s, 8},
                 {&row->stream.kind, 2}, {&row->stream.ring_key, 4},
                 {&row->hash, 32},       {&row->snap, 32},
                 {&row->stream.list, 8}, {&row->stream.origin, 16},
                 {&row->stream.len_s, 4}};
    for (size_t i = 0; i < n; i++, change += 3) {
        const size_t k = change[0] % (sizeof(field) / sizeof(*field));
        uint8_t *p = field[k].p;
        p[change[1] % field[k].n] ^= change[2];
    }
}

static void print_heads(struct head *row, struct buf *ret)
{
    struct repository p = {.heads = {.version = ++it.publications, .v = row, .n = 1}};
    p.heartbeat = (struct object){.seq = it.publications,
                                  .created_ms = it.now_ms,
                                  .expires_ms = it.now_ms + 86400000};
    FUZZ_CHECK(repository_print(&p, &it.publisher, ret) == ERR_OK);
}

static bool hear(struct slice heads)
{
    struct errinfo why = {.text = ""};
    struct buf key;
    enum subscription_answer a = subscription_hear(it.s, 0, heads, &why);
    if (a == SUBSCRIPTION_KEY) {
        buf_init(&key, REPOSITORY_KEY_BYTES);
        repository_key_print(&it.publisher, &key);
        FUZZ_CHECK(subscription_key(it.s, buf_slice(&key), &why) == ERR_OK);
        a = subscription_hear(it.s, 0, heads, &why);
        FUZZ_CHECK(a != SUBSCRIPTION_KEY);
        buf_fini(&key);
    }
    FUZZ_CHECK(a < SUBSCRIPTION_ANSWERS);
    FUZZ_CHECK(a != SUBSCRIPTION_REFUSED || why.text[0] != '\0');
    return a == SUBSCRIPTION_NEWER;
}

/* What the file of the list says, which must be whole. */
static bool held(struct textfile *ret)
{
    char dir[128];
    struct errinfo why = {.text = ""};
    (void)snprintf(dir, sizeof(dir), "%s/peers/subscriptions/pub", it.dir);
    const enum err e = textfile_read(dir, "ours.state", ret, &why);
    FUZZ_CHECK(e == ERR_OK || e == ERR_NOT_FOUND);
    return e == ERR_OK;
}

/* Held is what was held, or what this object says. */
static void check_held(const struct object *o, const struct hash256 *hash)
{
    const struct object_id no_ring = {{0}};
    struct textfile f;
    struct hash256 root;
    if (!held(&f)) {
        FUZZ_CHECK(it.seq == 0);
        return;
    }
    textlist_root(&f.list, &no_ring, &root);
    FUZZ_CHECK(hash256_equal(&root, &f.object.root));
    FUZZ_CHECK(f.list.n <= ENTRIES_MOST);
    if (f.object.seq != it.seq) {
        FUZZ_CHECK(o && f.object.seq == o->seq && hash256_equal(&root, &o->root));
        it.seq = o->seq;
        it.root = root;
        it.hash = *hash;
    }
    FUZZ_CHECK(hash256_equal(&root, &it.root));
    textfile_fini(&f);
}

static void fetch(struct slice object)
{
    struct subscription_want want;
    struct errinfo why = {.text = ""};
    for (unsigned i = 0; subscription_wants(it.s, &want); i++) {
        FUZZ_CHECK(i < 2 * SUBSCRIPTION_HELD_MAX && want.path[0] != '\0');
        if (i == 0 && object.n <= want.most_bytes) {
            const enum err e = subscription_take(it.s, object, &why);
            FUZZ_CHECK(e == ERR_OK || why.text[0] != '\0');
        } else {
            subscription_give_up(it.s);
        }
    }
}

static void show(uint8_t says, uint64_t records, const uint8_t *change, size_t n,
                 struct slice raw)
{
    struct object o;
    struct buf payload;
    struct buf object;
    struct buf heads;
    struct hash256 hash;
    struct object parsed;
    buf_init(&payload, SIZE_MAX);
    buf_init(&object, SIZE_MAX);
    buf_init(&heads, SIZE_MAX);
    make(says, records, raw, &o, &payload);
    sign(&o, change, says & SAY_HEADS ? 0 : n, &object);
    object_hash(buf_slice(&object), &hash);
    buf_add(&object, buf_slice(&payload));
    struct head row = {.stream = o.stream, .seq = o.seq, .hash = hash, .from = o.seq};
    if (says & SAY_SNAP) {
        row.snap_seq = o.seq;
        row.snap = hash;
        row.from = o.seq + 1;
    }
    change_row(&row, change, says & SAY_HEADS ? n : 0);
    row.stream.list[OBJECT_NAME_BYTES] = '\0';
    print_heads(&row, &heads);
    if (hear(buf_slice(&heads))) {
        fetch(buf_slice(&object));
    }
    const bool is_object = object_parse(buf_slice(&object), &parsed, NULL) == ERR_OK;
    check_held(is_object ? &parsed : NULL, &hash);
    buf_fini(&payload);
    buf_fini(&object);
    buf_fini(&heads);
}

/* A list of two: the first is listed, the second is revoked. */
static void begin_list(void)
{
    static const char raw[] = "\x11\x11\1\2\x14\x14\0\0"
                              "http://a.example/http://b.example/";
    it.now_ms += 1000;
    subscription_begin(it.s, it.now_ms);
    show(SAY_SNAP | SAY_LENGTHS | SAY_ROOT, 2, NULL, 0, slice_of(raw, sizeof(raw) - 1));
    FUZZ_CHECK(it.seq == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > BYTES_MAX ||
        size < 2 + 3 * (size_t)(data[1] & CHANGES_MAX)) {
        return 0;
    }
    struct errinfo why = {.text = ""};
    const size_t n = data[1] & CHANGES_MAX;
    const uint8_t *rest = data + 2 + 3 * n;
    const struct slice raw = slice_of((const char *)rest, size - (size_t)(rest - data));
    if (!it.s || ++it.rounds >= ROUNDS) {
        start();
        begin_list();
    } else if (data[0] & SAY_RESTART) {
        close_it();
        open_it();
    }
    it.now_ms += 1000;
    subscription_begin(it.s, it.now_ms);
    if (data[0] & SAY_RAW) {
        (void)subscription_hear(it.s, 0, raw, &why);
        check_held(NULL, NULL);
    } else if (data[0] & SAY_KEY) {
        (void)subscription_key(it.s, raw, &why);
        check_held(NULL, NULL);
    } else {
        show(data[0], data[1] >> 4, data + 2, n, raw);
    }
    (void)subscription_end(it.s, &why);
    return 0;
}
