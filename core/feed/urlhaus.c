/*
 * urlhaus - the exports of abuse.ch URLhaus: CSV with the header as a comment, or a JSON object
 * of arrays of objects. The lists of hosts are hosts, the lists of URLs plain.
 *
 * Listed are URLs that are not said to be offline.
 */
#include "core/feed/parser_internal.h"

void feed_fields_urlhaus(struct feed *f, struct feed_fields *r)
{
    struct slice added = feed_field(r, "dateadded");
    struct feed_times times = {
        .first_seen_s = feed_time(added.n > 0 ? added : feed_field(r, "date_added"))};

    if (slice_eq(feed_field(r, "url_status"), SLICE_LIT("offline"))) {
        feed_unused(f, FEED_UNUSED_revoked);
        return;
    }
    feed_emit_timed(f, feed_field(r, "url"), FEATURE_url, &times);
}
