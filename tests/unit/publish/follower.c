#include "tests/unit/publish/follower.h"

#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/random.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/trust/identity_seed.h"
#include "tests/unit/unit.h"

enum { READ_MAX = 64 << 20 };

static const char list_name[] = "theirs";

void follower_init(struct follower *f, uint64_t seed)
{
    uint8_t bytes[32] = {7};
    memset(f, 0, sizeof(*f));
    assert_true(tempdir_make_fast(f->dir));
    (void)snprintf(f->publisher, sizeof(f->publisher), "%s/publisher", f->dir);
    (void)snprintf(f->place, sizeof(f->place), "%s/place", f->dir);
    (void)snprintf(f->subscriber, sizeof(f->subscriber), "%s/subscriber", f->dir);
    assert_int_equal(mkdir(f->publisher, 0700), 0);
    assert_int_equal(mkdir(f->subscriber, 0700), 0);
    identity_of_seed(bytes, &f->self);
    f->keys = (struct keyring){.n = 1,
                               .ring = {{.id = 5, .bytes = {1, 2, 3}}},
                               .node = {.id = 6, .bytes = {4, 5, 6}}};
    f->now_ms = UINT64_C(1800000000000);
    f->valid_ms = UINT64_C(2) * 86400 * 1000;
    f->most_entries = 1000000;
    f->random = seed * 2 + 1;
    for (unsigned i = 0; i < FOLLOWER_ENTRIES; i++) {
        bool is_url = i % 3 != 0;
        (void)snprintf(f->text[i], FOLLOWER_TEXT,
                       is_url ? "e%u.example/%u/x" : "evil%u.example", i, i);
        f->entry[i].type = is_url ? FEATURE_url : FEATURE_domain;
        f->entry[i].text = slice_str(f->text[i]);
    }
}

void follower_close(struct follower *f)
{
    subscription_close(&f->s);
    peerlists_close(&f->lists);
}

void follower_fini(struct follower *f)
{
    follower_close(f);
    assert_int_equal(tempdir_remove(f->dir), 0);
}

uint64_t follower_random(struct follower *f, uint64_t below)
{
    f->random =
        f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (f->random >> 33) % below;
}

void follower_change(struct follower *f, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct list_record *r = &f->entry[follower_random(f, FOLLOWER_ENTRIES)];
        r->after = (uint8_t)follower_random(f, 3);
        r->expiry_h =
            follower_random(f, 2) == 0 ? 0 : (uint32_t)(600000 + follower_random(f, 3));
        if (r->after == ENTRY_ABSENT) {
            r->expiry_h = 0;
        }
    }
}

static void gather(struct follower *f, struct textlist *ret)
{
    *ret = (struct textlist){0};
    for (unsigned i = 0; i < FOLLOWER_ENTRIES; i++) {
        if (f->entry[i].after != ENTRY_ABSENT) {
            assert_int_equal(textlist_add(ret, &f->entry[i]), ERR_OK);
        }
    }
    assert_int_equal(textlist_sort(ret), ERR_OK);
}

enum err follower_publish(struct follower *f, bool is_anew, struct errinfo *reterr)
{
    struct publish_options o = {.state_dir = f->publisher,
                                .place = f->place,
                                .self = &f->self,
                                .keys = &f->keys,
                                .now_ms = f->now_ms,
                                .valid_ms = f->valid_ms,
                                .is_anew = is_anew};
    struct publish *p = NULL;
    struct textlist entries;
    gather(f, &entries);
    enum err e = publish_open(&o, &p, reterr);
    if (e == ERR_OK) {
        e = publish_entries(p, list_name, &entries, &f->published, reterr);
    }
    if (e == ERR_OK) {
        e = publish_commit(p, reterr);
    }
    publish_close(&p);
    textlist_fini(&entries);
    return e;
}

static enum err open_follower(struct follower *f, struct errinfo *reterr)
{
    struct subscription_map map = {"theirs", "ours"};
    struct subscription_options o = {.state_dir = f->subscriber,
                                     .name = "pub",
                                     .maps = &map,
                                     .nmaps = 1,
                                     .most_entries = f->most_entries,
                                     .most_change = f->most_change};
    char dir[FILE_PATH_MAX];
    memcpy(o.key, f->self.public_key, sizeof(o.key));
    (void)snprintf(dir, sizeof(dir), "%s/peers", f->subscriber);
    enum err e = file_make_dir(dir, 0700, reterr);
    (void)snprintf(dir, sizeof(dir), "%s/peers/lists", f->subscriber);
    if (e == ERR_OK && !f->lists) {
        e = peerlists_open_subscribed(dir, &f->keys, &f->lists, reterr);
    }
    return e == ERR_OK && !f->s
               ? subscription_open(&o, f->lists, &f->keys, &f->s, reterr)
               : e;
}

static bool fetch(struct follower *f, const char *place, const char *path,
                  struct buf *ret)
{
    char file[FILE_PATH_MAX];
    (void)snprintf(file, sizeof(file), "%s/%s", place, path);
    buf_init(ret, READ_MAX);
    f->fetched++;
    bool is_there = file_read(file, ret, NULL) == ERR_OK;
    f->fetched_bytes += ret->n;
    return is_there;
}

static void hear(struct follower *f, const char *place, unsigned i,
                 struct errinfo *reterr)
{
    struct buf heads;
    struct buf key;
    if (fetch(f, place, "v1/heads", &heads)) {
        enum subscription_answer a =
            subscription_hear(f->s, i, buf_slice(&heads), reterr);
        if (a == SUBSCRIPTION_KEY) {
            if (fetch(f, place, "v1/key", &key) &&
                subscription_key(f->s, buf_slice(&key), reterr) == ERR_OK) {
                (void)subscription_hear(f->s, i, buf_slice(&heads), reterr);
            }
            buf_fini(&key);
        }
    }
    buf_fini(&heads);
}

enum err follower_round(struct follower *f, const char *const *places, unsigned n,
                        struct errinfo *reterr)
{
    struct subscription_want want;
    struct buf bytes;
    struct errinfo why;
    enum err e = open_follower(f, reterr);
    if (e != ERR_OK) {
        return e;
    }
    subscription_begin(f->s, f->now_ms);
    for (unsigned i = 0; i < n; i++) {
        hear(f, places[i], i, &why);
    }
    f->fetched = 0;
    f->fetched_bytes = 0;
    while (subscription_wants(f->s, &want)) {
        if (fetch(f, places[want.place], want.path, &bytes)) {
            assert_true(bytes.n <= want.most_bytes);
            (void)subscription_take(f->s, buf_slice(&bytes), &why);
        } else {
            subscription_give_up(f->s);
        }
        buf_fini(&bytes);
    }
    return subscription_end(f->s, reterr);
}

void follower_assert_same(struct follower *f)
{
    char dir[FILE_PATH_MAX];
    struct textfile state;
    struct textlist want;
    struct errinfo why;
    (void)snprintf(dir, sizeof(dir), "%s/peers/subscriptions/pub", f->subscriber);
    assert_int_equal(textfile_read(dir, "ours.state", &state, &why), ERR_OK);
    gather(f, &want);
    assert_int_equal(state.list.n, want.n);
    for (size_t i = 0; i < want.n; i++) {
        assert_int_equal(textlist_compare(&want.v[i], &state.list.v[i]), 0);
        assert_int_equal(want.v[i].after, state.list.v[i].after);
        assert_int_equal(want.v[i].expiry_h, state.list.v[i].expiry_h);
    }
    struct stream_key k = {.inc = state.object.stream.inc,
                           .ring_key = f->keys.ring[0].id,
                           .kind = OBJECT_LIST,
                           .list = "ours"};
    subscription_place("pub", f->self.public_key, &k.origin);
    for (unsigned i = 0; i < FOLLOWER_ENTRIES; i++) {
        struct list_record r = {.after = 9};
        digest_make(&f->keys.ring[0], f->entry[i].type, f->entry[i].text, &r.digest);
        assert_int_equal(peerlist_get(f->lists, &k, &r, &why), ERR_OK);
        assert_int_equal(r.after, f->entry[i].after);
        if (r.after != ENTRY_ABSENT) {
            assert_int_equal(r.expiry_h, f->entry[i].expiry_h);
        }
    }
    textlist_fini(&want);
    textfile_fini(&state);
}

static void copy_tree(const char *from, const char *to)
{
    DIR *d = opendir(from);
    const struct dirent *entry = NULL;
    assert_non_null(d);
    (void)mkdir(to, 0755);
    while ((entry = readdir(d)) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
        char a[FILE_PATH_MAX];
        char b[FILE_PATH_MAX];
        struct stat st;
        struct buf bytes;
        if (entry->d_name[0] == '.') {
            continue;
        }
        (void)snprintf(a, sizeof(a), "%s/%s", from, entry->d_name);
        (void)snprintf(b, sizeof(b), "%s/%s", to, entry->d_name);
        assert_int_equal(stat(a, &st), 0);
        if (S_ISDIR(st.st_mode)) {
            copy_tree(a, b); /* NOLINT(misc-no-recursion): four deep */
            continue;
        }
        buf_init(&bytes, READ_MAX);
        assert_int_equal(file_read(a, &bytes, NULL), ERR_OK);
        assert_int_equal(file_write_atomic(b, buf_slice(&bytes), 0644, NULL), ERR_OK);
        buf_fini(&bytes);
    }
    (void)closedir(d);
}

void follower_copy_place(const struct follower *f, const char *name,
                         char ret[FOLLOWER_PATH])
{
    (void)snprintf(ret, FOLLOWER_PATH, "%s/%s", f->dir, name);
    (void)tempdir_remove(ret);
    copy_tree(f->place, ret);
}
