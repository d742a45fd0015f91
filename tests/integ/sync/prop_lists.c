/* prop_lists - steps as share makes them, filters as list_member_make does; read back from the
 * files. */
#include "tests/integ/sync/prop_lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/hash256.h"
#include "core/filter/bloomfile.h"
#include "core/list/reader.h"
#include "core/ring/sync/list_publisher_internal.h"

#include "tests/integ/sync/prop_world.h"

#define LIST "bad"
enum {
    TYPES = 4,
    FILTER_KEYS = 12,
    FILTER_LINES = 1,
    FILTER_K = 7,
    HOUR_S = 3600,
    AGES_AGO_S = 400 * 86400 /* what is gone had its end before */
};

static struct digest digest_of(unsigned i)
{
    struct digest d = {{(uint8_t)(i * 10), 0x5e}}; /* they rise */
    return d;
}

/* Those of the filter's generations are all different. */
static struct digest filter_digest(uint64_t generation, unsigned i)
{
    const struct hashkey key = {.id = 1};
    struct digest d;
    const uint64_t name[2] = {generation, i};
    digest_make(&key, 1, slice_of((const char *)name, sizeof(name)), &d);
    return d;
}

/* ---- what a server lists ---- */

void prop_list_change(struct listing *l, uint64_t now_s)
{
    for (unsigned n = 1 + prop_below(4); n > 0; n--) {
        const unsigned i = prop_below(ITEMS);
        l->v[i] = (struct mirror_entry){
            .digest = digest_of(i),
            .class_type = (uint16_t)(1 + prop_below(TYPES)),
            .status = (uint8_t)prop_below(ENTRY_TAKEN_BACK + 1),
            .expiry_s =
                prop_happens(700) ? 0 : (uint32_t)(now_s + prop_below(9 * HOUR_S)),
        };
    }
    l->is_told = false;
}

static struct mirror_entry listed_now(const struct listing *l, unsigned i,
                                      uint64_t now_s)
{
    struct mirror_entry own = l->v[i];
    if (own.expiry_s != 0 && own.expiry_s <= now_s) {
        own = (struct mirror_entry){.status = ENTRY_ABSENT};
    }
    own.digest = digest_of(i);
    return own;
}

enum err prop_list_publish(struct syncnode *node, struct listing *l, uint64_t now_s,
                           struct errinfo *reterr)
{
    enum err e = ERR_OK;
    bool is_again = true;
    for (unsigned pass = 0; pass < 2 && is_again && e == ERR_OK; pass++) {
        struct list_record step[ITEMS];
        struct stream_key k;
        size_t n = 0;
        const bool goes_on = sync_own_stream(node->sync, OBJECT_LIST, LIST, &k);
        is_again = false;
        for (unsigned i = 0; i < ITEMS && e == ERR_OK; i++) {
            const struct mirror_entry own = listed_now(l, i, now_s);
            struct list_record held = {.digest = own.digest};
            if (goes_on) {
                e = peerlist_get(sync_lists(node->sync), &k, &held, reterr);
            }
            const enum list_publisher_step s =
                list_publisher_step_make(&own, &held, false, now_s, &step[n]);
            n += s != LIST_PUBLISHER_STEP_NONE;
            is_again = is_again || s == LIST_PUBLISHER_STEP_AGAIN;
        }
        if (e == ERR_OK && (n > 0 || !goes_on)) {
            e = sync_publish_list(node->sync, LIST, step, n, reterr);
        }
    }
    l->is_told = e == ERR_OK;
    return e == ERR_EXISTS ? ERR_OK : e; /* what was signed before went first */
}

/* ---- its filter ---- */

void prop_filter_change(const struct syncnode *node, struct listing *l)
{
    char path[FILE_PATH_MAX];
    struct bloomfile f = {0};
    struct buf file;
    struct errinfo why;
    const struct hashkey *key = &node->keys.ring[0];
    l->generation++;
    prop_good(bloomfile_new(&f, BLOOM_ONE_LINE, FILTER_LINES, FILTER_K, key, &why),
              &why, "filter");
    for (unsigned i = 0; i < FILTER_KEYS; i++) {
        const struct digest d = filter_digest(l->generation, i);
        bloom_add(&f.bloom, &d);
    }
    f.facts = (struct bloomfile_facts){.role = BLOOMFILE_SPAM,
                                       .digest_key = key->id,
                                       .position_key = key->id,
                                       .entries = FILTER_KEYS,
                                       .capacity = FILTER_KEYS};
    (void)file_path(path, "%s/made", node->dir);
    prop_good(bloomfile_write(&f, path, &why), &why, "filter");
    bloomfile_close(&f);
    buf_init(&file, sizeof(l->file));
    prop_good(file_read(path, &file, &why), &why, "filter");
    memcpy(l->file, file.p, file.n);
    l->nfile = file.n;
    buf_fini(&file);
    (void)unlink(path);
    l->is_filter_told = false;
}

enum err prop_filter_publish(struct syncnode *node, struct listing *l,
                             struct errinfo *reterr)
{
    enum err e = sync_publish_member(node->sync, LIST, false,
                                     slice_of(l->file, l->nfile), reterr);
    l->is_filter_told = e == ERR_OK;
    return e == ERR_EXISTS ? ERR_OK : e;
}

/* ---- what is held ---- */

static void folder_of(const struct syncnode *at, const struct syncnode *of,
                      char ret[FILE_PATH_MAX])
{
    char hex[2 * OBJECT_ID_BYTES + 1];
    hex_print(of->self.origin.b, OBJECT_ID_BYTES, hex);
    (void)file_path(ret, "%s/peers/lists/%s", at->dir, hex);
}

bool prop_list_is_there(const struct syncnode *at, const struct syncnode *of)
{
    char path[FILE_PATH_MAX];
    folder_of(at, of, path);
    return access(path, F_OK) == 0;
}

bool prop_list_read(const struct syncnode *at, const struct syncnode *of,
                    struct mirror_entry ret[ITEMS])
{
    char path[FILE_PATH_MAX];
    struct list_reader *r = NULL;
    struct errinfo why;
    memset(ret, 0, ITEMS * sizeof(*ret));
    folder_of(at, of, path);
    const bool is_there =
        prop_list_is_there(at, of) &&
        list_reader_open(path, SLICE_LIT(LIST), &at->keys, &r, &why) == ERR_OK;
    for (unsigned i = 0; i < ITEMS; i++) {
        ret[i].digest = digest_of(i);
        if (is_there && mirror_get_of_reader(r, AGES_AGO_S, &ret[i], &why) != ERR_OK) {
            prop_fail("%s: %s", why.source, why.text);
        }
    }
    list_reader_close(&r);
    return is_there;
}

void prop_filter_read(struct syncnode *at, const struct stream_key *k, struct buf *ret)
{
    struct errinfo why;
    buf_clear(ret);
    enum err e = peermember_snap(sync_lists(at->sync), k, ret, &why);
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        prop_fail("%s: %s", why.source, why.text);
    }
}

void prop_list_root(const struct object_id *ring, const struct mirror_entry v[ITEMS],
                    struct hash256 *ret)
{
    struct root root = {{0}};
    for (unsigned i = 0; i < ITEMS; i++) {
        const struct list_record r = {.digest = v[i].digest,
                                      .after = v[i].status,
                                      .type = v[i].class_type,
                                      .expiry_h = v[i].expiry_s / HOUR_S};
        if (r.after != ENTRY_ABSENT) {
            root_steps(&root, ring, OBJECT_LIST, &r, 1);
        }
    }
    root_print(&root, ret);
}

/* ---- what must be held ---- */

/* True if both expire in the same hour, or if the own expiry is later and need not be published
 * yet. */
static bool is_expiry_good(uint32_t held_s, uint32_t own_s, uint64_t now_s)
{
    const uint32_t own_h = own_s / HOUR_S + (own_s % HOUR_S != 0);
    const uint32_t held_h = held_s / HOUR_S;
    return held_h == own_h || (held_h != 0 && (own_h == 0 || own_h > held_h) &&
                               held_s + HOUR_S > now_s + LIST_PUBLISHER_RENEW_S);
}

void prop_list_check(const struct listing *l, const struct mirror_entry v[ITEMS],
                     uint64_t now_s, unsigned i, unsigned o)
{
    for (unsigned k = 0; k < ITEMS; k++) {
        const struct mirror_entry own = listed_now(l, k, now_s);
        bool is_good = v[k].status == own.status;
        if (own.status == ENTRY_TAKEN_BACK) { /* or never told of */
            is_good = is_good || v[k].status == ENTRY_ABSENT;
        } else if (own.status == ENTRY_STANDS && is_good) {
            is_good = v[k].class_type == own.class_type &&
                      is_expiry_good(v[k].expiry_s, own.expiry_s, now_s);
        }
        if (!is_good) {
            prop_fail(
                "server %u holds state %u type %u expiry %" PRIu32
                " of entry %u of server %u, which says %u type %u expiry %" PRIu32,
                i, v[k].status, v[k].class_type, v[k].expiry_s, k, o, own.status,
                own.class_type, own.expiry_s);
        }
    }
}
