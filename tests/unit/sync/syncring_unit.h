/*
 * syncring_unit - four servers of a ring, open, for one test; the clock stands in the middle of a bucket.
 */
#ifndef TESTS_UNIT_SYNC_SYNCRING_UNIT_H
#define TESTS_UNIT_SYNC_SYNCRING_UNIT_H

#include <stdio.h>

#include "core/base/clock.h"

#include "tests/unit/sync/syncring.h"
#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { NODES = 4 };
#define BUCKET SYNCRING_NOW_S

struct ring {
    char path[64];
    struct manifest m;
    struct syncnode node[NODES];
    struct errinfo why;
};

static inline void open_node(struct ring *r, unsigned i)
{
    if (syncnode_open(&r->node[i], &r->m, &r->why) != ERR_OK) {
        fail_msg("%s: %s", r->why.source, r->why.text);
    }
}

static inline int setup(void **state)
{
    struct ring *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    assert_true(tempdir_make_fast(r->path));
    assert_true(syncring_manifest(NODES, &r->m));
    clock_set_for_test((BUCKET + 30) * 1000000, 1000000000);
    for (unsigned i = 0; i < NODES; i++) {
        char dir[128];
        (void)snprintf(dir, sizeof(dir), "%s/%u", r->path, i);
        syncnode_init(&r->node[i], dir, i);
        open_node(r, i);
    }
    *state = r;
    return 0;
}

static inline int teardown(void **state)
{
    struct ring *r = *state;
    for (unsigned i = 0; i < NODES; i++) {
        syncnode_close(&r->node[i]);
    }
    manifest_fini(&r->m);
    (void)tempdir_remove(r->path);
    clock_unset_for_test();
    free(r);
    return 0;
}

static inline struct syncpull pull(struct ring *r, unsigned to, unsigned from)
{
    struct syncpull p = {.after = 0};
    assert_true(syncring_pull(&r->node[to], &r->node[from], NULL, &p));
    return p;
}

static inline struct sync_origin_stat stat_of(struct ring *r, unsigned i,
                                              unsigned origin)
{
    struct sync_origin_stat v[NODES];
    assert_int_equal(sync_stat(r->node[i].sync, v, NODES), NODES);
    return v[origin];
}

static inline void assert_offer(struct ring *r, unsigned i, struct slice object,
                                enum sync_result expected)
{
    enum sync_result got = sync_offer(r->node[i].sync, object, &r->why);
    if (got != expected) {
        fail_msg("%s, not %s: %s: %s", sync_result_name(got),
                 sync_result_name(expected), r->why.source, r->why.text);
    }
}

static inline void publish(struct ring *r, unsigned i, uint64_t start,
                           const struct count_record *v, size_t n)
{
    if (sync_publish_counts(r->node[i].sync, start, v, n, &r->why) != ERR_OK) {
        fail_msg("%s: %s", r->why.source, r->why.text);
    }
}

static inline void close_bucket(struct ring *r, unsigned i, uint64_t start)
{
    if (sync_close_counts(r->node[i].sync, start, &r->why) != ERR_OK) {
        fail_msg("%s: %s", r->why.source, r->why.text);
    }
}

static inline void tick(struct ring *r, unsigned i)
{
    if (sync_tick(r->node[i].sync, &r->why) != ERR_OK) {
        fail_msg("%s: %s", r->why.source, r->why.text);
    }
}

#endif
