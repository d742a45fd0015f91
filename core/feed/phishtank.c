/*
 * phishtank - the database of PhishTank: CSV with a header, or a JSON array of objects.
 *
 * Listed are URLs that were verified and are not said to be offline.
 */
#include "core/feed/parser_internal.h"

void feed_fields_phishtank(struct feed *f, struct feed_fields *r)
{
    struct slice verified = feed_field(r, "verified");
    struct slice online = feed_field(r, "online");
    struct feed_times times = {.first_seen_s =
                                   feed_time(feed_field(r, "submission_time"))};

    if (verified.n > 0 && !slice_eq_nocase(verified, SLICE_LIT("yes")) &&
        !slice_eq(verified, SLICE_LIT("true"))) {
        feed_unused(f, FEED_UNUSED_doubtful);
    } else if (slice_eq_nocase(online, SLICE_LIT("no")) ||
               slice_eq(online, SLICE_LIT("false"))) {
        feed_unused(f, FEED_UNUSED_revoked);
    } else {
        feed_emit_timed(f, feed_field(r, "url"), FEATURE_url, &times);
    }
}
