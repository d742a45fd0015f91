/* runset_history - one key's counts from all runs. */
#include "core/count/runset_internal.h"

struct runset_place runset_place_of(const struct runset_item *item, uint64_t now)
{
    const struct run_id *id = &item->entry->id;
    const uint64_t today = now / COUNT_DAY_BUCKETS;
    const uint64_t bucket = id->start_s / COUNT_BUCKET_S;
    const uint64_t day = id->start_s / COUNT_DAY_S;
    struct runset_place p = {COUNT_BUCKETS + 1, COUNT_DAYS + 1};
    if (bucket > now) { /* of the future: a clock that was wrong */
        return p;
    }
    if (id->len_s == COUNT_BUCKET_S && now - bucket <= COUNT_BUCKETS) {
        p.bucket = now - bucket;
    }
    if (today - day <= COUNT_DAYS && !item->is_in_day) {
        p.day = today - day;
    }
    return p;
}

bool runset_place_is_none(struct runset_place p)
{
    return p.bucket > COUNT_BUCKETS && p.day > COUNT_DAYS;
}

const uint64_t *runset_key_for(const uint64_t *keys, const uint32_t *key_ids,
                               unsigned nkeys, uint32_t id)
{
    for (unsigned i = 0; i < nkeys; i++) {
        if (key_ids[i] == id) {
            return &keys[i];
        }
    }
    return NULL;
}

void count_history_take(struct count_history *h, struct runset_place p, uint64_t count)
{
    if (p.bucket <= COUNT_BUCKETS) {
        h->bucket[p.bucket] = run_sum(h->bucket[p.bucket], count);
    }
    if (p.day <= COUNT_DAYS) {
        h->day[p.day] = run_sum(h->day[p.day], count);
    }
}

/* Begin of the oldest count: of the oldest day, or exact where its buckets have all that it has. */
static uint64_t oldest(const struct count_history *h)
{
    const uint64_t today = h->now / COUNT_DAY_BUCKETS;
    uint64_t d = COUNT_DAYS;
    while (d > 0 && h->day[d] == 0) {
        d--;
    }
    uint64_t left = h->day[d];
    uint64_t at = 0; /* of a bucket, as far back as one of that day has counts */
    for (uint64_t i = 0; i <= COUNT_BUCKETS && i <= h->now; i++) {
        if (h->bucket[i] > 0 && (h->now - i) / COUNT_DAY_BUCKETS == today - d) {
            left -= h->bucket[i] < left ? h->bucket[i] : left;
            at = h->now - i;
        }
    }
    return h->day[d] > 0 && left == 0 ? at * COUNT_BUCKET_S : (today - d) * COUNT_DAY_S;
}

static uint64_t newest_end(const struct count_history *h)
{
    const uint64_t today = h->now / COUNT_DAY_BUCKETS;
    for (uint64_t i = 0; i <= COUNT_BUCKETS; i++) {
        if (h->bucket[i] > 0) {
            return (h->now - i + 1) * COUNT_BUCKET_S;
        }
    }
    for (uint64_t d = 0; d <= COUNT_DAYS; d++) {
        if (h->day[d] > 0) {
            return (today - d + 1) * COUNT_DAY_S;
        }
    }
    return 0;
}

void count_history_end(struct count_history *h)
{
    h->last_s = newest_end(h);
    h->first_s = h->last_s == 0 ? 0 : oldest(h);
}

void runset_history(struct runset *s, const uint64_t *keys, const uint32_t *key_ids,
                    unsigned nkeys, uint64_t now, struct count_history *ret)
{
    *ret = (struct count_history){.now = now};
    struct runset_list *list = runset_pin(s);
    for (size_t i = 0; i < list->n; i++) {
        const struct runset_entry *e = list->v[i].entry;
        const uint64_t *key = runset_key_for(keys, key_ids, nkeys, e->id.key_id);
        struct runset_place p = runset_place_of(&list->v[i], now);
        uint64_t count = 0;
        if (!key || runset_place_is_none(p)) {
            continue;
        }
        enum err got = e->run ? run_get(e->run, *key, &count) : ERR_CORRUPT;
        if (got == ERR_OK) {
            count_history_take(ret, p, count);
        } else if (got != ERR_NOT_FOUND) {
            ret->ndamaged++;
        }
    }
    runset_unpin(s, &list);
    count_history_end(ret);
}

static uint64_t sum(const uint64_t *v, size_t n)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        total = run_sum(total, v[i]);
    }
    return total;
}

void count_history_windows(const struct count_history *h, uint64_t ret[4])
{
    ret[0] = sum(h->bucket, 2);
    ret[1] = sum(h->bucket, 7);
    ret[2] = sum(h->bucket, COUNT_BUCKETS + 1);
    ret[3] = sum(h->day, COUNT_DAYS + 1);
}

/* Days before the one that begins at day_s. */
static uint64_t days_before(const struct count_history *h, uint64_t day_s)
{
    uint64_t today = h->now / COUNT_DAY_BUCKETS;
    uint64_t total = 0;

    for (uint64_t d = 0; d <= COUNT_DAYS && d <= today; d++) {
        if ((today - d) * COUNT_DAY_S < day_s) {
            total = run_sum(total, h->day[d]);
        }
    }
    return total;
}

/* All before an edge: whole days, less the buckets of its day that begin at the edge or later. */
static uint64_t before_edge(const struct count_history *h, uint64_t edge_s)
{
    uint64_t day_end_s = (edge_s + COUNT_DAY_S - 1) / COUNT_DAY_S * COUNT_DAY_S;
    uint64_t total = days_before(h, day_end_s);
    uint64_t later = 0;

    for (uint64_t i = 0; i <= COUNT_BUCKETS && i <= h->now; i++) {
        uint64_t start_s = (h->now - i) * COUNT_BUCKET_S;
        if (start_s >= edge_s && start_s < day_end_s) {
            later = run_sum(later, h->bucket[i]);
        }
    }
    return total > later ? total - later : 0;
}

/* The edge at or before t_s; after it with is_end. */
static uint64_t edge_of(const struct count_history *h, uint64_t t_s, bool is_end)
{
    uint64_t oldest_s = h->now < COUNT_BUCKETS ? 0 : (h->now - COUNT_BUCKETS) * COUNT_BUCKET_S;
    uint64_t unit_s = t_s >= oldest_s ? COUNT_BUCKET_S : COUNT_DAY_S;
    uint64_t ret = (t_s + (is_end ? unit_s - 1 : 0)) / unit_s * unit_s;
    uint64_t end_s = (h->now + 1) * COUNT_BUCKET_S;

    return ret < end_s ? ret : end_s;
}

uint64_t count_history_range(const struct count_history *h, uint64_t *from_s,
                             uint64_t *to_s)
{
    *from_s = edge_of(h, *from_s, false);
    *to_s = edge_of(h, *to_s, true);
    uint64_t before = before_edge(h, *from_s);
    uint64_t end = before_edge(h, *to_s);

    return end > before ? end - before : 0;
}

void count_history_add(struct count_history *h, uint64_t start_s, uint64_t count)
{
    uint64_t bucket = start_s / COUNT_BUCKET_S;
    uint64_t day = start_s / COUNT_DAY_S;
    uint64_t today = h->now / COUNT_DAY_BUCKETS;

    if (count == 0) {
        return;
    }
    if (bucket <= h->now && h->now - bucket <= COUNT_BUCKETS) {
        h->bucket[h->now - bucket] = run_sum(h->bucket[h->now - bucket], count);
    }
    if (day <= today && today - day <= COUNT_DAYS) {
        h->day[today - day] = run_sum(h->day[today - day], count);
    }
    if (h->first_s == 0 || start_s < h->first_s) {
        h->first_s = start_s;
    }
    if (start_s + COUNT_BUCKET_S > h->last_s) {
        h->last_s = start_s + COUNT_BUCKET_S;
    }
}
