/*
 * drop - the DROP lists of Spamhaus: "CIDR ; SBL number" a line, or a JSON object a line.
 */
#include "core/feed/parser_internal.h"

void feed_line_drop(struct feed *f, struct slice line)
{
    struct slice text = slice_trim(slice_head(line, slice_find(line, ';')));

    if (text.n == 0) {
        feed_ignored(f);
    } else {
        feed_emit(f, text, FEATURE_network);
    }
}

void feed_fields_drop(struct feed *f, struct feed_fields *r)
{
    struct slice cidr = feed_field(r, "cidr");

    if (slice_eq(feed_field(r, "type"), SLICE_LIT("metadata"))) {
        f->counts.made_s = feed_time(feed_field(r, "timestamp"));
        feed_ignored(f);
    } else if (cidr.n == 0) {
        feed_unused(f, FEED_UNUSED_other); /* AS numbers, in the list of these */
    } else {
        feed_emit(f, cidr, FEATURE_network);
    }
}
