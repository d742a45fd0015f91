/* campaign_dump - reads paths of messages from standard input and gives each message to the
 * campaigns of the state folder that is named; prints PATH, a tab, the id of its campaign, a tab,
 * and the nanoseconds of processor time that it took. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/campaign/campaign.h"
#include "core/campaign/campaign_read.h"
#include "core/message/extract/extract.h"

enum { LINE = 1 << 14, FILE_CAP = 64 << 20, ARENA = 64 << 20, LEARNT = 1 << 17 };
enum { FIRST_S = 700 * SHINGLE_EPOCH_S + 86400, APART_S = 60 };

static struct featureset *extract_file(const char *path, struct arena *arena,
                                       const struct extract_limits *limits)
{
    struct featureset *set = NULL;
    struct buf bytes;

    buf_init(&bytes, FILE_CAP);
    arena_reset(arena);
    if (file_read(path, &bytes, NULL) == ERR_OK) {
        struct extract *x = extract_new(arena, limits, NULL, 0);
        if (x != NULL) {
            extract_raw(x, buf_slice(&bytes));
            set = extract_finish(x);
        }
    }
    buf_fini(&bytes);
    return set;
}

/* The digests of a message, as gillnetd has them from its counts. */
static void make_counts(const struct keyring *keys, const struct config *config,
                        const struct featureset *features, struct arena *arena,
                        struct message_counts *ret)
{
    *ret = (struct message_counts){.keys = keys};
    ret->v = arena_array(arena, featureset_count(features), sizeof(*ret->v));
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        const struct feature_info *info = feature_info(f->type);
        if (info != NULL && info->counted && ret->v != NULL) {
            ret->v[ret->n].feature = f;
            count_digest(keys, config, f->type, f->text, ret->v[ret->n++].digest);
        }
    }
}

static long cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct extract_limits limits = {
        .mail = {16 << 20, 32 << 20, 1000, 256 << 10, 64 << 10, 500, 32, false},
        .urls = 500,
        .recipients = 1000};
    static const struct keyring keys = {.n = 1, .ring = {{1, "key of this test"}}};
    static char line[LINE];
    static struct config config = {.journal = {.subjects = true, .addresses = true}};
    struct campaigns *campaigns = NULL;
    struct arena *arena = arena_new(ARENA);
    struct boilerplate *guard = boilerplate_new(LEARNT);
    uint64_t now_s = FIRST_S;

    if (argc != 2 || base_init() != ERR_OK || arena == NULL || guard == NULL ||
        campaigns_open(argv[1], &keys, &campaigns, NULL) != ERR_OK) {
        return 70;
    }
    shingle_keys_make(&keys.ring[0], FIRST_S, &limits.imprint.keys);
    limits.imprint.guard = guard;
    limits.imprint.learner = guard;
    while (fgets(line, sizeof(line), stdin) != NULL) {
        char id[CAMPAIGN_ID_SIZE];

        line[strcspn(line, "\n")] = '\0';
        struct featureset *set = extract_file(line, arena, &limits);
        if (set == NULL) {
            return 66;
        }
        struct message_counts counts;
        make_counts(&keys, &config, set, arena, &counts);
        struct campaign_message m = {.config = &config,
                                     .features = set,
                                     .counts = &counts,
                                     .action = ACTION_ACCEPT,
                                     .now_s = now_s += APART_S};
        long begin = cpu_ns();
        uint64_t of = campaigns_add(campaigns, &m);
        long ns = cpu_ns() - begin;
        campaign_id_print(of, id);
        printf("%s\t%s\t%ld\n", line, id, ns);
    }
    campaigns_close(&campaigns);
    boilerplate_free(&guard);
    arena_free(&arena);
    return 0;
}
