/* syncring - servers of one ring, without a network. */
#include "tests/unit/sync/syncring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"

#include "tests/unit/trust/identity_seed.h"

enum { OBJECTS_MAX = 8192, WANTS_MAX = 4096, CHAIN_BYTES = 1 << 20, RING_KEY = 7 };

void syncring_identity(unsigned number, struct identity *ret)
{
    uint8_t seed[32] = {(uint8_t)number, (uint8_t)(number >> 8), 0x5c};
    identity_of_seed(seed, ret);
}

bool syncring_manifest(unsigned n, struct manifest *ret)
{
    struct manifest m = {.version = 1,
                         .created_ms = 1,
                         .expires_ms = UINT64_MAX / 2,
                         .threshold = 1,
                         .nadmins = 1,
                         .ring_keys = {{RING_KEY, 0}},
                         .nring_keys = 1,
                         .default_cap = 10,
                         .quorum = 2,
                         .default_records_per_day = 144000000};
    memset(&m.ring, 0x11, sizeof(m.ring));
    m.members = calloc(n ? n : 1, sizeof(*m.members));
    for (unsigned i = 0; m.members && i < n; i++) {
        struct identity self;
        struct manifest_member *p = &m.members[m.nmembers++];
        syncring_identity(i, &self);
        *p = (struct manifest_member){.state = MEMBER_ACTIVE, .nkeys = 1};
        (void)snprintf(p->name, sizeof(p->name), "node%u", i);
        memcpy(p->identity, self.public_key, OBJECT_KEY_BYTES);
        p->origin = self.origin;
        p->keys[0].binding = self.signing;
    }
    *ret = m;
    return m.members != NULL;
}

void syncnode_init(struct syncnode *node, const char *dir, unsigned number)
{
    *node = (struct syncnode){.sync = NULL};
    (void)snprintf(node->dir, sizeof(node->dir), "%s", dir);
    (void)mkdir(dir, 0750);
    syncring_identity(number, &node->self);
    node->keys.n = 1;
    node->keys.ring[0].id = RING_KEY;
    memset(node->keys.ring[0].bytes, 0x33, HASHKEY_BYTES);
    node->keys.node.id = 100 + number;
    memset(node->keys.node.bytes, (int)number, HASHKEY_BYTES);
}

enum err syncnode_open(struct syncnode *node, const struct manifest *m,
                       struct errinfo *reterr)
{
    const struct sync_options options = {node->dir, &node->self, &node->keys, m,
                                         node->has_store};
    return sync_open(&options, &node->sync, reterr);
}

void syncnode_close(struct syncnode *node)
{
    sync_close(&node->sync);
}

void syncring_count_key(const struct syncnode *origin, uint64_t inc, uint64_t start_s,
                        struct stream_key *ret)
{
    *ret = (struct stream_key){.origin = origin->self.origin,
                               .inc = inc,
                               .start_s = start_s,
                               .len_s = OBJECT_BUCKET_S,
                               .ring_key = RING_KEY,
                               .kind = OBJECT_COUNT};
}

bool syncring_make(const struct identity *self, struct object *io,
                   const struct count_record *v, size_t n, struct root *root,
                   struct buf *ret)
{
    struct buf raw;
    struct buf packed;
    const bool is_snap = io->type == OBJECT_SNAP;
    buf_init(&raw, SIZE_MAX);
    buf_init(&packed, SIZE_MAX);
    payload_print_counts(v, n, &raw);
    bool is_good = is_snap || payload_pack(buf_slice(&raw), &packed) == ERR_OK;
    const struct slice payload = is_snap ? buf_slice(&raw) : buf_slice(&packed);
    if (is_snap) {
        *root = (struct root){{0}};
    }
    memset(&io->ring, 0x11, sizeof(io->ring));
    io->key_id = object_key_id(self->signing.key);
    io->base_seq = is_snap ? 0 : io->seq - 1;
    io->records = n;
    io->raw_len = raw.n;
    io->sent_len = payload.n;
    io->created_ms = io->created_ms ? io->created_ms : clock_wall_us() / 1000;
    io->total = 0;
    for (size_t i = 0; i < n; i++) {
        io->total += v[i].count;
        root_add_counts(root, &io->ring, &v[i], 1);
    }
    root_print(root, &io->root);
    hash256_of(payload, &io->payload);
    is_good = is_good && object_sign(io, self->signing_secret, ret) == ERR_OK;
    buf_add(ret, payload);
    is_good = is_good && !buf_failed(ret);
    buf_fini(&raw);
    buf_fini(&packed);
    return is_good;
}

bool syncring_cut(struct slice *rest, bool is_whole, struct slice *ret)
{
    struct object o;
    if (object_parse(*rest, &o, NULL) != ERR_OK) {
        return false;
    }
    const bool has_payload = o.type != OBJECT_SNAP || is_whole;
    const size_t n = OBJECT_HEADER_BYTES + (has_payload ? (size_t)o.sent_len : 0);
    if (n > rest->n) {
        return false;
    }
    *ret = slice_head(*rest, n);
    *rest = slice_from(*rest, n);
    return true;
}

static bool happens(const struct syncway *way, unsigned of_1000)
{
    return way && way->draw && way->draw(way->context) % 1000 < of_1000;
}

static void offer(struct syncnode *to, struct slice object, struct syncpull *io)
{
    struct errinfo why;
    enum sync_result r = sync_offer(to->sync, object, &why);
    io->results[r]++;
    io->bytes += object.n;
    if (r != SYNC_APPLIED && r != SYNC_DUPLICATE) {
        io->why = why;
    }
}

static void deliver(struct syncnode *to, struct slice bytes, bool is_whole,
                    const struct syncway *way, struct syncpull *io)
{
    static struct slice v[OBJECTS_MAX];
    size_t n = 0;
    while (n < OBJECTS_MAX && bytes.n > 0 && syncring_cut(&bytes, is_whole, &v[n])) {
        if (way && way->seen) {
            way->seen(way->context, v[n]);
        }
        n++;
    }
    const bool is_shuffled = happens(way, way ? way->shuffled : 0);
    for (size_t i = n; is_shuffled && i > 1; i--) {
        size_t k = (size_t)(way->draw(way->context) % i);
        struct slice other = v[k];
        v[k] = v[i - 1];
        v[i - 1] = other;
    }
    for (size_t i = 0; i < n; i++) {
        if (happens(way, way ? way->lost : 0)) {
            continue;
        }
        offer(to, v[i], io);
        if (happens(way, way ? way->repeated : 0)) {
            offer(to, v[i], io);
        }
    }
}

static void fetch(struct syncnode *to, struct syncnode *from, const struct want *w,
                  const struct syncway *way, struct syncpull *io)
{
    struct buf bytes;
    struct object_id id;
    struct errinfo why;
    uint64_t at = w->from;
    stream_key_id(&w->stream, &id);
    buf_init(&bytes, SIZE_MAX);
    if (w->kind == WANT_SNAP) {
        if (sync_snap(from->sync, &id, w->from, &bytes, &why) == ERR_OK) {
            deliver(to, buf_slice(&bytes), true, way, io);
        }
    }
    while (w->kind == WANT_CHAIN && at <= w->to) {
        buf_clear(&bytes);
        if (sync_chain(from->sync, &id, at, w->to, CHAIN_BYTES, &bytes) != ERR_OK) {
            break;
        }
        struct slice rest = buf_slice(&bytes);
        struct slice one;
        while (rest.n > 0 && syncring_cut(&rest, false, &one)) {
            at++;
        }
        deliver(to, buf_slice(&bytes), false, way, io);
    }
    buf_fini(&bytes);
}

bool syncring_pull(struct syncnode *to, struct syncnode *from,
                   const struct syncway *way, struct syncpull *io)
{
    struct buf answer;
    struct heads heads;
    struct want *wants = calloc(WANTS_MAX, sizeof(*wants));
    buf_init(&answer, SIZE_MAX);
    bool is_good = wants && sync_heads(from->sync, io->after, &answer) == ERR_OK &&
                   heads_parse(buf_slice(&answer), &heads, &io->why) == ERR_OK;
    if (is_good) {
        (void)sync_hear(to->sync, &heads, NULL, NULL);
        io->knew_itself = sync_knows_itself(to->sync, &heads);
        io->wants = sync_wants(to->sync, &heads, wants, WANTS_MAX);
        for (size_t i = 0; i < io->wants; i++) {
            fetch(to, from, &wants[i], way, io);
        }
        io->bytes += answer.n;
        io->after = heads.version;
        heads_fini(&heads);
    }
    buf_fini(&answer);
    free(wants);
    return is_good;
}

bool syncring_settle(struct syncnode *v, unsigned n)
{
    size_t wants = 1;
    for (unsigned round = 0; round < 100 && wants > 0; round++) {
        wants = 0;
        for (unsigned i = 0; i < n * n; i++) {
            struct syncpull pull = {.after = 0};
            if (i / n == i % n) {
                continue;
            }
            if (!syncring_pull(&v[i / n], &v[i % n], NULL, &pull)) {
                return false;
            }
            wants += pull.wants;
        }
    }
    return wants == 0;
}
