/* count_history - what the running table adds to the history of a key. */
#include "core/count/runset.h"

static void add(uint64_t *to, uint64_t count)
{
    *to = *to + count < count ? UINT64_MAX : *to + count;
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
        add(&h->bucket[h->now - bucket], count);
    }
    if (day <= today && today - day <= COUNT_DAYS) {
        add(&h->day[today - day], count);
    }
    if (h->first_s == 0 || start_s < h->first_s) {
        h->first_s = start_s;
    }
    if (start_s + COUNT_BUCKET_S > h->last_s) {
        h->last_s = start_s + COUNT_BUCKET_S;
    }
}
