#include "core/summary/headline.h"

#include "core/base/file.h"
#include "core/base/version.h"
#include "core/telemetry/stats.h"

enum {
    MINUTE_S = 60,
    HOUR_S = 3600,
    DAY_S = 86400,
    TWICE = 2, /* of a unit: from then on the next one is used */
    DIGITS_MAX = 32,
    GROUP = 3
};

const char *headline_state_name(enum headline_state s)
{
    static const char *const names[HEADLINE_STATES] = {"well", "needs", "down", "new"};
    return names[s];
}

void headline_read(const char *state_dir, uint64_t now_s, struct headline *ret)
{
    char path[FILE_PATH_MAX];
    struct stats_view stats;
    struct period_view *day = malloc(sizeof(*day));

    *ret = (struct headline){.at_s = now_s};
    (void)snprintf(ret->version, sizeof(ret->version), "%s", GILLNET_VERSION);
    ret->has_run = file_path(path, "%s/%s", state_dir, STATE_STATS_FILE) == ERR_OK &&
                   stats_read(path, &stats, NULL) == ERR_OK;
    ret->is_running = ret->has_run && stats_is_alive(&stats, now_s);
    ret->needs = ret->is_running ? stats.nfaults : 0;
    if (day != NULL) { /* without a page there are no messages */
        (void)period_read(state_dir, PERIOD_DAY, now_s, day, NULL);
        period_sum(day, ret->today);
    }
    free(day);
}

void headline_add_feeds(struct headline *h, const json_t *rows)
{
    const json_t *row = NULL;
    size_t i = 0;

    for (; i < json_array_size(rows); i++) {
        row = json_array_get(rows, i);
        json_int_t good_s = json_integer_value(json_object_get(row, "good_s"));
        uint64_t at_s = good_s > 0 ? (uint64_t)good_s : 0;

        if (json_is_true(json_object_get(row, "enabled"))) {
            h->feed_good_s =
                h->has_feeds && h->feed_good_s < at_s ? h->feed_good_s : at_s;
            h->has_feeds = true;
        }
    }
}

void headline_add_alerts(struct headline *h, const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *name = json_string_value(json_object_get(row, "name"));

        if (!json_is_true(json_object_get(row, "firing")) || name == NULL) {
            continue;
        }
        h->needs++;
        if (h->nalerts < HEADLINE_ALERTS) {
            (void)snprintf(h->alert[h->nalerts++], HEADLINE_ALERT_MAX, "%s", name);
        }
    }
}

enum headline_state headline_state(const struct headline *h)
{
    if (!h->has_run) {
        return HEADLINE_NEW;
    }
    return !h->is_running ? HEADLINE_DOWN
           : h->needs > 0 ? HEADLINE_NEEDS
                          : HEADLINE_WELL;
}

uint64_t headline_refused(const struct headline *h)
{
    return h->today[HISTORY_REJECT] + h->today[HISTORY_DISCARD];
}

/* ---- the sentence ---- */

/* "1,234,567" */
static void print_count(uint64_t n, struct buf *ret)
{
    char digits[DIGITS_MAX];
    size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n);

    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % GROUP == 0) {
            buf_add_char(ret, ',');
        }
        buf_add_char(ret, digits[i]);
    }
}

static void print_state(const struct headline *h, struct buf *ret)
{
    switch (headline_state(h)) {
    case HEADLINE_WELL:
        buf_add_str(ret, "Well.");
        break;
    case HEADLINE_NEEDS:
        print_count(h->needs, ret);
        buf_add_str(ret, h->needs == 1 ? " thing needs you." : " things need you.");
        break;
    case HEADLINE_DOWN:
        buf_add_str(ret, "gillnetd does not run.");
        break;
    case HEADLINE_NEW:
    case HEADLINE_STATES:
        buf_add_str(ret, "gillnetd has not run yet.");
        break;
    }
}

static void print_age(uint64_t age_s, struct buf *ret)
{
    static const struct {
        uint64_t s;
        const char *name;
    } units[] = {{1, "s"}, {MINUTE_S, "min"}, {HOUR_S, "h"}, {DAY_S, "d"}};
    size_t i = 0;

    while (i + 1 < LENGTH(units) && age_s >= TWICE * units[i + 1].s) {
        i++;
    }
    print_count(age_s / units[i].s, ret);
    buf_printf(ret, " %s", units[i].name);
}

static void print_actions(const struct headline *h, struct buf *ret)
{
    const struct {
        uint64_t n;
        const char *word;
        bool always;
    } parts[] = {{headline_refused(h), "refused", true},
                 {h->today[HISTORY_HEADER], "marked", true},
                 {h->today[HISTORY_QUARANTINE], "held", false},
                 {h->today[HISTORY_DEFER], "deferred", false}};

    for (size_t i = 0; i < LENGTH(parts); i++) {
        if (parts[i].n > 0 || parts[i].always) {
            buf_add_str(ret, ", ");
            print_count(parts[i].n, ret);
            buf_printf(ret, " %s", parts[i].word);
        }
    }
}

void headline_print(const struct headline *h, uint64_t now_s, struct buf *ret)
{
    uint64_t n = h->today[HISTORY_MESSAGES];

    print_state(h, ret);
    buf_add_char(ret, ' ');
    print_count(n, ret);
    buf_add_str(ret, n == 1 ? " message today" : " messages today");
    print_actions(h, ret);
    buf_add_char(ret, '.');
    if (h->has_feeds) {
        buf_add_str(ret, " Oldest feed: ");
        if (h->feed_good_s == 0) {
            buf_add_str(ret, "never");
        } else {
            print_age(now_s > h->feed_good_s ? now_s - h->feed_good_s : 0, ret);
        }
        buf_add_char(ret, '.');
    }
}
