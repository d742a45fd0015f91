/* fuzz_votes - any records as the votes of a server of our owner and of one of another: refused or
 * bounded, and the administrator's report here stands. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/base/le.h"
#include "core/config/config_internal.h"
#include "core/report/report_peers.h"
#include "core/report/vote_stream.h"
#include "core/store/origins.h"

#include "tests/fuzz/fuzz.h"
#include "tests/unit/tempdir.h"

enum { RECORD = 1 + 1 + 1 + 1 + 1, ENTRIES_MAX = 4096, NOW_S = 1800000000 };

struct input {
    struct mirror_entry v[ENTRIES_MAX];
    size_t n;
    size_t at;
};

static int by_digest(const void *a, const void *b)
{
    const struct mirror_entry *x = a;
    const struct mirror_entry *y = b;

    return digest_cmp(&x->digest, &y->digest);
}

/* Few ids and values, so that records meet: id, value, kind, items, expiry. */
static void read_input(const uint8_t *p, size_t size, struct input *in)
{
    size_t n = 0;

    in->n = in->at = 0;
    for (; size >= RECORD && in->n < ENTRIES_MAX; size -= RECORD, p += RECORD) {
        const struct vote_record r = {.id = p[0] & 15U,
                                      .value = p[1],
                                      .type = p[2],
                                      .nitems = p[3],
                                      .time_s = NOW_S - p[4] * UINT64_C(3600)};
        vote_record_print(&r, &in->v[in->n++]);
    }
    qsort(in->v, in->n, sizeof(*in->v), by_digest);
    for (size_t i = 0; i < in->n; i++) {
        if (n == 0 || by_digest(&in->v[n - 1], &in->v[i]) != 0) {
            in->v[n++] = in->v[i];
        }
    }
    in->n = n;
}

static bool next_entry(void *context, struct mirror_entry *ret)
{
    struct input *in = context;

    if (in->at == in->n) {
        return false;
    }
    *ret = in->v[in->at++];
    return true;
}

static void write_list(const char *dir, const struct keyring *keys,
                       const struct origin_row *row, struct input *in)
{
    char folder[FILE_PATH_MAX];
    char hex[2 * ORIGIN_BYTES + 1];
    struct list_writer *w = NULL;

    hex_print(row->origin, ORIGIN_BYTES, hex);
    FUZZ_CHECK(path_make(folder, NULL, "%s/peers/lists/%s", dir, hex) == ERR_OK &&
               mkdir(folder, 0700) == 0);
    FUZZ_CHECK(mirror_open(folder, SLICE_LIT(LIST_VOTES), keys, keys->ring[0].id, &w,
                           NULL) == ERR_OK);
    in->at = 0;
    FUZZ_CHECK(mirror_apply(w, next_entry, in, in->n, SLICE_LIT("peer"), NULL) ==
               ERR_OK);
    list_writer_close(&w);
}

static void give_own(struct votes *votes)
{
    struct report *r = calloc(1, sizeof(*r));

    FUZZ_CHECK(r != NULL);
    r->entry = REPORT_GIVEN;
    r->number = r->id = 1;
    r->is_spam = true;
    r->time_s = NOW_S + 1;
    r->reporter = SLICE_LIT(REPORT_ADMINISTRATOR);
    r->items[r->nitems++] = (struct report_item){.digest = 1, .proof = REPORT_EXACT};
    votes_note(votes, r);
    free(r);
}

static void judge(const char *dir, const struct keyring *keys, const struct input *in)
{
    struct votes *votes = votes_new(&keys->ring[0]);
    struct report_peers *peers = report_peers_new(dir, keys, votes);
    struct config *config = config_new();
    const struct votes_item item = {.digest = {1}, .n = 1, .proof = REPORT_EXACT};
    struct votes_opinion o;

    FUZZ_CHECK(votes != NULL && peers != NULL && config != NULL);
    give_own(votes);
    report_peers_look(peers, config, NOW_S);
    report_peers_until(peers, UINT64_MAX);
    FUZZ_CHECK(report_peers_count(peers) <= 2 * in->n);
    votes_judge(votes, &item, 1, 0, NOW_S, &o);
    FUZZ_CHECK(o.standing == STANDING_SPAM && o.is_decided);
    config_release(&config);
    report_peers_free(&peers);
    votes_free(&votes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct input in;
    char dir[64];
    char path[FILE_PATH_MAX];
    struct keyring keys;
    struct origin_row rows[2] = {{.origin = {1}, .cap = ORIGIN_NO_CAP, .name = "own"},
                                 {.origin = {2}, .cap = 1, .name = "other"}};
    const struct origins origins = {.self = {3}, .v = rows, .n = 2};

    FUZZ_CHECK(tempdir_make_fast(dir));
    FUZZ_CHECK(keyring_load_or_create(dir, &keys, NULL) == ERR_OK);
    for (unsigned i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof(path), "%s/peers%s", dir, i == 0 ? "" : "/lists");
        FUZZ_CHECK(mkdir(path, 0700) == 0);
    }
    FUZZ_CHECK(origins_write(dir, &origins, NULL) == ERR_OK);
    read_input(data, size, &in);
    for (unsigned i = 0; i < 2; i++) {
        write_list(dir, &keys, &rows[i], &in);
    }
    judge(dir, &keys, &in);
    (void)tempdir_remove(dir);
    return 0;
}
