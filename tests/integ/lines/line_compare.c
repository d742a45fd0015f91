/*
 * line_compare - asks the same keys of a list's filters as a copy and by lines of the hub.
 *
 * Usage: line_compare STATE LIST FIRST LAST BATCH BUDGET_US
 * Keys are the domains value-N.example for N of FIRST to LAST-1, BATCH of them in one question that
 * waits at most BUDGET_US. Prints one JSON line: keys, hits of the copy, keys that differ, keys in
 * batches for which some line did not come, and the longest wait. Batches without all lines are not
 * compared: they must have no hit that the copy does not have.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/list/line_query.h"
#include "core/list/line_wire.h"

enum { BATCH_MAX = 4096, TEXT = 64 };

struct compared {
    uint64_t keys;
    uint64_t hits;
    uint64_t differ;
    uint64_t silent;
    uint64_t longest_us;
};

static struct list_reader *open_as(const char *state, const char *list,
                                   enum bloomfile_hold hold)
{
    struct keyring keys;
    struct errinfo why;
    struct list_reader *r = NULL;
    const struct reader_opening how = {.hold = hold};

    if (keyring_load(state, &keys, &why) != ERR_OK ||
        list_reader_open_held(state, slice_str(list), &keys, &how, &r, &why) !=
            ERR_OK) {
        (void)fprintf(stderr, "%s: %s\n", why.source, why.text);
        exit(2);
    }
    return r;
}

static void compare(const struct list_reader *copy, const struct list_reader *remote,
                    struct line_client *client, uint64_t budget_us, uint64_t first,
                    size_t n, struct compared *c)
{
    static struct digest d[BATCH_MAX];
    static uint8_t want[BATCH_MAX];
    static uint8_t got[BATCH_MAX];
    char text[TEXT];
    struct line_query *q = line_query_new();
    for (size_t i = 0; i < n; i++) {
        int length =
            snprintf(text, sizeof(text), "value-%" PRIu64 ".example", first + i);
        digest_make(list_reader_key(copy), FEATURE_domain,
                    slice_of(text, (size_t)length), &d[i]);
    }
    list_reader_test(copy, d, n, want);
    uint64_t begin_us = clock_mono_us();
    line_query_add(q, remote, d, n);
    line_query_ask(q, client, budget_us);
    uint64_t took_us = clock_mono_us() - begin_us;
    bool is_whole = line_query_test(q, remote, d, n, got);
    line_query_free(&q);
    c->longest_us = took_us > c->longest_us ? took_us : c->longest_us;
    c->keys += n;
    c->silent += is_whole ? 0 : n;
    for (size_t i = 0; i < n; i++) {
        c->hits += want[i];
        c->differ += is_whole ? want[i] != got[i] : got[i] && !want[i];
    }
}

int main(int argc, char **argv)
{
    char path[FILE_PATH_MAX];
    struct compared c = {.keys = 0};

    base_init();
    if (argc != 7 || file_path(path, "%s/" LINE_SOCKET, argv[1]) != ERR_OK) {
        (void)fputs("usage: line_compare STATE LIST FIRST LAST BATCH BUDGET_US\n",
                    stderr);
        return 2;
    }
    uint64_t first = strtoull(argv[3], NULL, 10);
    uint64_t last = strtoull(argv[4], NULL, 10);
    size_t batch = strtoull(argv[5], NULL, 10);
    uint64_t budget_us = strtoull(argv[6], NULL, 10);
    struct list_reader *copy = open_as(argv[1], argv[2], BLOOMFILE_COPY);
    struct list_reader *remote = open_as(argv[1], argv[2], BLOOMFILE_REMOTE);
    struct line_client *client = line_client_new(path);
    bool is_remote = remote->has_remote;
    batch = batch < 1 || batch > BATCH_MAX ? BATCH_MAX : batch;
    for (uint64_t at = first; at < last; at += batch) {
        compare(copy, remote, client, budget_us, at,
                last - at < batch ? (size_t)(last - at) : batch, &c);
    }
    line_client_free(&client);
    list_reader_close(&remote);
    list_reader_close(&copy);
    (void)printf("{\"remote\": %s, \"keys\": %" PRIu64 ", \"hits\": %" PRIu64
                 ", \"differ\": %" PRIu64 ", \"silent\": %" PRIu64
                 ", \"longest_us\": %" PRIu64 "}\n",
                 is_remote ? "true" : "false", c.keys, c.hits, c.differ, c.silent,
                 c.longest_us);
    return 0;
}
