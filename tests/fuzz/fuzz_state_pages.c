/*
 * fuzz_state_pages - files of gillnetd that are mapped, with changes: statistics, history, periods, look-ups,
 * emergency mode, the embargo, the journal's ring, campaigns, the sample of good mail. A reader refuses the file with a text or reads it,
 * and who writes it goes on with it or a new one, which is then read.
 *
 * Input: a byte that chooses the file, then changes (patched.h) of its first KEPT bytes.
 */
#include "core/base/base.h"
#include "core/base/log.h"
#include "core/campaign/campaign.h"
#include "core/campaign/campaign_read.h"
#include "core/list/lookup_stats.h"
#include "core/summary/headline.h"
#include "core/telemetry/ham_log.h"
#include "core/telemetry/periods.h"
#include "core/telemetry/stats.h"
#include "core/verdict/embargo/embargo_store.h"
#include "core/verdict/emergency/emergency.h"
#include "core/verdict/journal/pending.h"

#include "tests/fuzz/patched.h"
#include "tests/fuzz/state.h"

enum { KEPT = 1 << 18, NOW_S = 1700000000 };

static const uint64_t numbers[HISTORY_NUMBERS] = {3, 1, 1, 0, 0, 1};

/* ---- each file: made or gone on with, and read ---- */

static bool stats_go_on(void)
{
    struct errinfo why;
    enum err e = stats_open(state_path(STATE_STATS_FILE), &why);

    stats_add((enum stat_id)0, 1);
    stats_fault("disk", "full");
    stats_close();
    return e == ERR_OK;
}

static enum err stats_look(struct errinfo *why)
{
    static struct stats_view v;
    struct headline h;

    headline_read(state_folder(), NOW_S, &h);
    enum err e = stats_read(state_path(STATE_STATS_FILE), &v, why);
    FUZZ_CHECK(e != ERR_OK || v.nfaults <= STATS_FAULTS_MAX);
    for (unsigned i = 0; e == ERR_OK && i < v.nfaults; i++) {
        FUZZ_CHECK(memchr(v.fault[i], '\0', STATS_FAULT_TEXT) != NULL);
    }
    return e;
}

static bool history_go_on(void)
{
    struct errinfo why;
    const double score = 4.5;
    struct history_key k = {.type = 1, .day = 50, .at_s = NOW_S, .n = 3, .text = "abc"};
    enum err e = history_open(state_path(STATE_HISTORY_FILE), NOW_S, &why);

    history_message(NOW_S, numbers, &score);
    history_symbol(NOW_S, SLICE_LIT("LIST_PHISH"));
    history_time(HISTORY_PARSE, 1000, 1);
    history_key(&k);
    history_close();
    return e == ERR_OK;
}

static enum err history_look(struct errinfo *why)
{
    static struct history_view v;
    enum err e = history_read(state_path(STATE_HISTORY_FILE), NOW_S, &v, why);

    FUZZ_CHECK(v.nsymbols <= HISTORY_SYMBOLS + 1 && v.nkeys <= HISTORY_KEYS);
    for (size_t i = 0; i < v.nsymbols; i++) {
        FUZZ_CHECK(memchr(v.symbol[i].name, '\0', HISTORY_SYMBOL_NAME) != NULL);
    }
    for (size_t i = 0; i < v.nkeys; i++) {
        FUZZ_CHECK(v.key[i].n <= HISTORY_KEY_TEXT);
    }
    return e;
}

static bool periods_go_on(void)
{
    struct errinfo why;
    enum err e = periods_open(state_path(STATE_PERIODS_FILE), "/nonexistent", &why);

    periods_message(NOW_S, numbers);
    periods_close();
    return e == ERR_OK;
}

static enum err periods_look(struct errinfo *why)
{
    static struct period_view v;
    uint64_t sum[HISTORY_NUMBERS];
    enum err e = period_read(state_folder(), PERIOD_YEAR, NOW_S, &v, why);

    FUZZ_CHECK(v.n <= PERIOD_BUCKETS_MAX);
    period_sum(&v, sum);
    return e;
}

static bool lookups_go_on(void)
{
    struct errinfo why;
    struct lookup_stats *h = NULL;
    const struct lookup_stats_sums sums = {.number = {5, 1}, .last_hit_s = NOW_S};
    enum err e =
        lookup_stats_open(state_path(STATE_LOOKUP_STATS_FILE), NOW_S, &h, &why);

    if (e == ERR_OK) {
        struct lookup_stats_row *row =
            lookup_stats_row(h, SLICE_LIT("phish"), LOOKUP_STATS_WHOLE, NOW_S);
        if (row != NULL) {
            lookup_stats_add(row, &sums);
        }
        lookup_stats_alive(h, NOW_S);
        lookup_stats_close(&h);
    }
    return e == ERR_OK;
}

static enum err lookups_look(struct errinfo *why)
{
    struct hits_view *v = NULL;
    struct lookup_stats_counts c;
    enum err e = lookup_stats_read(state_path(STATE_LOOKUP_STATS_FILE), &v, why);

    if (e == ERR_OK) {
        (void)lookup_stats_view_find(v, SLICE_LIT("phish"), LOOKUP_STATS_WHOLE, &c);
        (void)lookup_stats_view_find(v, SLICE_LIT("other"), 7, &c);
        lookup_stats_view_free(&v);
    }
    return e;
}

static bool emergency_go_on(void)
{
    static const struct config config;
    struct emergency *e = emergency_new(state_folder());

    FUZZ_CHECK(e != NULL);
    for (uint64_t i = 0; i < 3; i++) {
        emergency_tick(e, &config, i * 10, NOW_S + i * 10);
    }
    (void)emergency_is_on(e);
    emergency_free(&e);
    return true;
}

static enum err nothing_to_look_at(struct errinfo *why)
{
    (void)why;
    return ERR_OK;
}

static bool embargo_go_on(void)
{
    struct embargo_store *s = NULL;
    struct errinfo why;
    const struct embargo_entry one = {.key = 64, .time_s = NOW_S, .hours = 24};
    struct embargo_entry got;
    enum err e = embargo_store_open(state_path("counts/embargo"), &s, &why);

    if (e == ERR_OK) {
        if (embargo_store_put(s, &one, NOW_S) == ERR_OK) {
            FUZZ_CHECK(embargo_store_find(s, one.key, NOW_S, &got) == ERR_OK);
            FUZZ_CHECK(got.key == one.key && got.time_s == one.time_s);
        }
        embargo_store_close(&s);
    }
    return e == ERR_OK;
}

static bool pending_go_on(void)
{
    struct pending *p = NULL;
    struct buf head;
    struct errinfo why;

    buf_init(&head, JOURNAL_HEAD);
    journal_head_print(9, &head);
    enum err e =
        pending_make(state_path("journal/pending"), buf_slice(&head), 1, &p, &why);
    buf_fini(&head);
    pending_close(&p);
    return e == ERR_OK;
}

static enum err pending_look(struct errinfo *why)
{
    struct buf head;
    struct buf frames;
    uint64_t place = 0;

    buf_init(&head, JOURNAL_HEAD);
    buf_init(&frames, PENDING_BYTES);
    enum err e =
        pending_read(state_path("journal/pending"), &head, &frames, &place, why);
    FUZZ_CHECK(e != ERR_OK || (head.n == JOURNAL_HEAD && frames.n <= PENDING_BYTES));
    buf_fini(&head);
    buf_fini(&frames);
    return e;
}

static bool campaigns_go_on(void)
{
    struct campaigns *c = NULL;
    struct errinfo why;
    static const struct keyring keys = {.n = 1, .ring = {{.id = 9}}};
    enum err e = campaigns_open(state_folder(), &keys, &c, &why);

    campaigns_tick(c, NOW_S);
    campaigns_close(&c);
    return e == ERR_OK;
}

static enum err campaigns_look(struct errinfo *why)
{
    struct campaign_list list = {.n = 0};
    enum err e = campaigns_read(state_folder(), &list, why);

    for (size_t i = 0; e == ERR_OK && i < list.n; i++) {
        FUZZ_CHECK(list.v[i].subject.n <= CAMPAIGN_SUBJECT_MAX);
        FUZZ_CHECK(campaign_find(&list, list.v[i].id) != NULL);
    }
    campaign_list_fini(&list);
    return e;
}

static bool ham_go_on(void)
{
    struct ham_log *j = NULL;
    struct errinfo why;
    static const struct ham_log_message m = {.time_s = NOW_S, .n = 2, .key = {3, 4}};
    enum err e = ham_log_open(state_path(STATE_HAM_LOG_FILE), 9, &j, &why);

    if (e == ERR_OK) {
        ham_log_add(j, &m);
        ham_log_keep(j);
        ham_log_close(&j);
    }
    return e == ERR_OK;
}

static void see_message(void *context, const struct ham_log_message *m)
{
    (void)context;
    FUZZ_CHECK(m->time_s >= NOW_S && m->n <= HAM_LOG_KEYS);
}

static enum err ham_look(struct errinfo *why)
{
    uint32_t key_id = 0;

    return ham_log_read(state_path(STATE_HAM_LOG_FILE), NOW_S, see_message, NULL,
                        &key_id, why);
}

/* ---- the files ---- */

static struct page {
    const char *name;
    bool (*go_on)(void);
    enum err (*look)(struct errinfo *why);
    uint8_t *bytes; /* the first ones, as they were made */
    size_t n;
} pages[] = {
    {STATE_STATS_FILE, stats_go_on, stats_look, NULL, 0},
    {STATE_HISTORY_FILE, history_go_on, history_look, NULL, 0},
    {STATE_PERIODS_FILE, periods_go_on, periods_look, NULL, 0},
    {STATE_LOOKUP_STATS_FILE, lookups_go_on, lookups_look, NULL, 0},
    {STATE_EMERGENCY_FILE, emergency_go_on, nothing_to_look_at, NULL, 0},
    {"counts/embargo", embargo_go_on, nothing_to_look_at, NULL, 0},
    {"journal/pending", pending_go_on, pending_look, NULL, 0},
    {CAMPAIGNS_DIR "/table", campaigns_go_on, campaigns_look, NULL, 0},
    {STATE_HAM_LOG_FILE, ham_go_on, ham_look, NULL, 0},
};

static void make_pages(void)
{
    if (pages[0].bytes != NULL) {
        return;
    }
    FUZZ_CHECK(base_init() == ERR_OK);
    log_set_level(LOG_LEVEL_ERROR);
    for (size_t i = 0; i < LENGTH(pages); i++) {
        struct page *p = &pages[i];
        (void)state_path(p->name); /* makes its folder */
        FUZZ_CHECK(p->go_on());
        int fd = open(state_path(p->name), O_RDONLY | O_CLOEXEC);
        p->bytes = malloc(KEPT);
        FUZZ_CHECK(fd >= 0 && p->bytes != NULL);
        ssize_t n = read(fd, p->bytes, KEPT);
        FUZZ_CHECK(n > 0);
        p->n = (size_t)n;
        (void)close(fd);
    }
}

/* Writes into the file that is there: what lies behind KEPT stays. */
static void write_page(const struct page *p, const uint8_t *bytes, size_t n)
{
    int fd = open(state_path(p->name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    FUZZ_CHECK(fd >= 0 && pwrite(fd, bytes, n, 0) == (ssize_t)n);
    FUZZ_CHECK(n == p->n || ftruncate(fd, (off_t)n) == 0);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[KEPT];
    struct slice input = slice_of((const char *)data, size);
    struct errinfo why = {.text = ""};

    make_pages();
    const struct page *p = &pages[patched_number(&input, 1) % LENGTH(pages)];
    memcpy(bytes, p->bytes, p->n);
    size_t n = patched_apply(bytes, p->n, &input);
    write_page(p, bytes, n);
    FUZZ_CHECK(p->look(&why) == ERR_OK || why.text[0] != '\0');
    FUZZ_CHECK(p->go_on() && p->look(&why) == ERR_OK);
    return 0;
}
