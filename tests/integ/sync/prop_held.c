/* prop_held - a server holds only states that were signed, and never loses own objects that peers
 * know. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/hash256.h"
#include "core/count/runset.h"
#include "core/count/stream.h"

#include "tests/integ/sync/prop_world.h"

void prop_heads(unsigned i, struct heads *ret, struct buf *b)
{
    struct errinfo why;
    buf_init(b, SIZE_MAX);
    prop_be(i);
    if (sync_heads(world.node[i].sync, 0, b) != ERR_OK) {
        prop_fail("no heads");
    }
    prop_good(heads_parse(buf_slice(b), ret, &why), &why, "heads");
}

static unsigned server_of(const struct object_id *origin)
{
    unsigned o = 0;
    while (o < world.n &&
           memcmp(world.node[o].self.origin.b, origin->b, OBJECT_ID_BYTES) != 0) {
        o++;
    }
    if (o == world.n) {
        prop_fail("a stream of nobody");
    }
    return o;
}

/* ---- what is in the files of a stream, as its root ---- */

static void add(void *context, const struct run_record *record)
{
    root_add_counts(context, &world.ring.ring,
                    &(struct count_record){record->key, record->count}, 1);
}

static void add_run(const char *path, struct root *root)
{
    static struct run_cursor c;
    struct run *run = NULL;
    struct run_record record;
    struct errinfo why;
    prop_good(run_open(path, &run, &why), &why, "run");
    run_cursor_init(&c, run, 0, UINT64_MAX);
    while (run_cursor_next(&c, &record) == ERR_OK) {
        add(root, &record);
    }
    run_close(&run);
}

/* False: it is merged into a day, or not there: its end will tell. */
static bool count_root(unsigned i, const struct stream_key *k, struct hash256 *ret)
{
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    char name[FILE_PATH_MAX];
    struct pair_log_place r;
    struct root root = {{0}};
    struct errinfo why;
    struct run_id id = {
        .inc = k->inc, .start_s = k->start_s, .len_s = k->len_s, .key_id = k->ring_key};
    memcpy(id.origin, k->origin.b, OBJECT_ID_BYTES);
    (void)file_path(dir, "%s/peers/%s", world.node[i].dir,
                    server_of(&k->origin) == i ? "own" : "counts");
    if (stream_path(path, dir, &id) == ERR_OK && access(path, F_OK) == 0) {
        prop_good(stream_reader_open(path, &r, &why), &why, "stream");
        prop_good(stream_reader_next(&r, path, add, &root, &why), &why, "stream");
    } else if (runset_name(&id, name) == ERR_OK &&
               file_path(path, "%s/runs/%s", dir, name) == ERR_OK &&
               access(path, F_OK) == 0) {
        add_run(path, &root);
    } else {
        return false;
    }
    root_print(&root, ret);
    return true;
}

static bool root_of(unsigned i, const struct stream_key *k, struct hash256 *ret)
{
    if (k->kind == OBJECT_COUNT) {
        return count_root(i, k, ret);
    }
    if (k->kind == OBJECT_LIST) {
        struct mirror_entry v[ITEMS];
        (void)prop_list_read(&world.node[i], &world.node[server_of(&k->origin)], v);
        prop_list_root(&world.ring.ring, v, ret);
        return true;
    }
    struct buf file;
    buf_init(&file, FILTER_BYTES_MAX);
    prop_filter_read(&world.node[i], k, &file);
    hash256_of(buf_slice(&file), ret);
    buf_fini(&file);
    return true;
}

/* ---- */

/* Of several incarnations of a list the newest is the one that is held. */
static bool is_newest(const struct heads *h, const struct head *p)
{
    for (size_t i = 0; i < h->n; i++) {
        const struct stream_key *k = &h->v[i].stream;
        if (p->stream.kind != OBJECT_COUNT && k->kind == p->stream.kind &&
            memcmp(&k->origin, &p->stream.origin, sizeof(k->origin)) == 0 &&
            k->inc > p->stream.inc) {
            return false;
        }
    }
    return true;
}

void prop_check_held(unsigned i)
{
    struct heads h;
    struct buf b;
    prop_heads(i, &h, &b);
    for (size_t k = 0; k < h.n; k++) {
        const struct head *p = &h.v[k];
        struct object_id id;
        struct hash256 is_signed;
        struct hash256 is_held;
        stream_key_id(&p->stream, &id);
        if (p->stream.kind != OBJECT_COUNT && world.server[i].was_restored &&
            server_of(&p->stream.origin) == i) {
            continue; /* what was sent of that place may have reached nobody: prop_see */
        }
        if (!prop_signed_root(&id, p->seq, &is_signed) || !is_newest(&h, p) ||
            !root_of(i, &p->stream, &is_held)) {
            continue;
        }
        world.nroots++;
        if (!hash256_equal(&is_signed, &is_held)) {
            prop_fail(
                "server %u: the files of a stream of kind %u of server %u at %" PRIu64
                " are not what was signed",
                i, p->stream.kind, server_of(&p->stream.origin), p->seq);
        }
    }
    heads_fini(&h);
    buf_fini(&b);
}

void prop_check_known(unsigned i)
{
    struct heads h;
    struct buf b;
    prop_heads(i, &h, &b);
    for (size_t k = 0; k < h.n && !world.server[i].was_restored; k++) {
        struct object_id id;
        struct hash256 root;
        stream_key_id(&h.v[k].stream, &id);
        if (server_of(&h.v[k].stream.origin) == i &&
            prop_signed_root(&id, h.v[k].seq + 1, &root)) {
            prop_fail("server %u lost what its peers know of it", i);
        }
    }
    heads_fini(&h);
    buf_fini(&b);
}
