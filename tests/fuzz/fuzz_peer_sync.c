/* fuzz_peer_sync - objects of a member of the ring changed anywhere and then signed, offered to a server: taken or refused
 * with a reason, and the server goes on. Its folder is made anew each ROUNDS inputs, so that what is held has a part in it. */
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/ring/stream/signature.h"

#include "tests/fuzz/peer_signed.h"
#include "tests/unit/sync/syncring.h"

enum { ROUNDS = 256, MEMBERS = 2, WRITER = 1 };

struct server {
    char dir[64];
    struct syncnode node;
    struct manifest m;
    struct identity writer;
    unsigned rounds;
};
static struct server server;

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

static void stop(void)
{
    if (server.node.sync) {
        syncnode_close(&server.node);
        manifest_fini(&server.m);
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
        (void)nftw(server.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

static void start(void)
{
    struct errinfo why = {.text = ""};
    static bool is_begun;
    if (!is_begun) {
        FUZZ_CHECK(base_init() == ERR_OK);
        (void)atexit(stop);
        log_set_level(LOG_LEVEL_ERROR);
        is_begun = true;
    }
    stop();
    clock_set_for_test(SYNCRING_NOW_S * 1000000, 1000000);
    (void)snprintf(server.dir, sizeof(server.dir), "/dev/shm/gillnet-fuzz-XXXXXX");
    if (!mkdtemp(server.dir)) {
        (void)snprintf(server.dir, sizeof(server.dir), "/tmp/gillnet-fuzz-XXXXXX");
        FUZZ_CHECK(mkdtemp(server.dir) != NULL);
    }
    syncring_identity(WRITER, &server.writer);
    syncnode_init(&server.node, server.dir, 0);
    FUZZ_CHECK(syncring_manifest(MEMBERS, &server.m));
    FUZZ_CHECK(syncnode_open(&server.node, &server.m, &why) == ERR_OK);
    server.rounds = 0;
}

/* The example as a member of this ring would have made it now. */
static void make_ours(struct example *e, uint8_t number)
{
    struct object *o = &e->o;
    o->ring = server.m.ring;
    o->stream.origin = server.writer.origin;
    o->key_id = object_key_id(server.writer.signing.key);
    o->created_ms = SYNCRING_NOW_S * 1000;
    o->expires_ms = o->expires_ms ? o->created_ms + 180000 : 0;
    if (o->stream.kind == OBJECT_COUNT) {
        o->stream.start_s = SYNCRING_NOW_S;
    }
    if (o->stream.kind != OBJECT_NONE) {
        o->stream.inc = 1U + number;
    }
    if (o->stream.ring_key) {
        o->stream.ring_key = server.m.ring_keys[0].id;
    }
}

static void offer(struct slice header, struct slice payload)
{
    struct buf whole;
    struct errinfo why = {.text = ""};
    buf_init(&whole, header.n + payload.n);
    buf_add(&whole, header);
    buf_add(&whole, payload);
    enum sync_result r = sync_offer(server.node.sync, buf_slice(&whole), &why);
    FUZZ_CHECK(r < SYNC_RESULTS && r != SYNC_TROUBLE);
    FUZZ_CHECK(r == SYNC_APPLIED || r == SYNC_DUPLICATE || why.text[0] != '\0');
    if (r == SYNC_APPLIED) { /* once is once */
        r = sync_offer(server.node.sync, buf_slice(&whole), &why);
        FUZZ_CHECK(r != SYNC_APPLIED);
    }
    if (r == SYNC_FORK || r == SYNC_REVOKED) {
        server.rounds = ROUNDS; /* distrusted: nothing more is taken */
    }
    buf_fini(&whole);
}

/* As run_signed, with another key; the byte of the object has the incarnation too. */
static void run(const uint8_t *data, size_t size)
{
    struct example e;
    uint8_t sealed[OBJECT_HEADER_BYTES];
    const size_t changes = data[2] & CHANGES_MAX;
    const uint8_t *change = data + 3;
    const uint8_t *rest = change + 3 * changes;
    FUZZ_CHECK(example_make((enum example_kind)(data[0] % EXAMPLES), SLICE_NONE, &e));
    make_ours(&e, data[0] >> 5);
    e.o.records = data[2] & 0x10 ? (uint64_t)data[2] >> 5 : e.o.records;
    set_payload(&e, data[1],
                slice_of((const char *)rest, size - (size_t)(rest - data)));
    struct buf b;
    buf_init(&b, OBJECT_HEADER_BYTES);
    object_print(&e.o, &b);
    for (size_t i = 0; i < changes; i++, change += 3) {
        const size_t at = (change[0] | (size_t)change[1] << 8) % OBJECT_SIGNED_BYTES;
        b.p[at] = (char)(b.p[at] ^ (char)change[2]);
    }
    memcpy(sealed, b.p, OBJECT_SIGNED_BYTES);
    FUZZ_CHECK(signature_make(server.writer.signing_secret, "gillnet-exchange/1",
                              buf_slice(&b), sealed + OBJECT_SIGNED_BYTES) == ERR_OK);
    offer(slice_of((const char *)sealed, sizeof(sealed)), buf_slice(&e.payload));
    buf_fini(&b);
    example_fini(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size < 3 + 3 * (size_t)(data[2] & CHANGES_MAX)) {
        return 0;
    }
    if (!server.node.sync || ++server.rounds >= ROUNDS) {
        start();
    }
    run(data, size);
    return 0;
}
