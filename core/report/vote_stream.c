#include "core/report/vote_stream.h"

#include "core/base/le.h"

enum { TYPE_BITS = 8, TYPE_MASK = 255 };
enum { HOUR_S = 3600, HALF = 8, PROOFS = REPORT_EXACT + 1, KINDS = 2 * BALLOT_PEER };

void vote_record_print(const struct vote_record *r, struct mirror_entry *ret)
{
    uint64_t hours = (r->time_s + VOTE_TRAVEL_S + HOUR_S - 1) / HOUR_S;
    char bytes[DIGEST_BYTES];

    *ret = (struct mirror_entry){.class_type =
                                     (uint16_t)(r->type | r->nitems << TYPE_BITS),
                                 .status = ENTRY_LISTED,
                                 .expiry_s = (uint32_t)(hours * HOUR_S)};
    le_put(bytes, r->id, HALF);
    le_put(bytes + HALF, r->value, HALF);
    memcpy(ret->digest.b, bytes, DIGEST_BYTES);
}

static bool is_kind(const struct vote_record *r)
{
    if (r->type >= VOTE_REPORT && r->type < VOTE_REPORT + KINDS) {
        return r->nitems > 0 && r->nitems <= VOTE_ITEMS_MAX;
    }
    return r->nitems == 0 && (r->type == VOTE_LISTED || r->type == VOTE_TIME ||
                              (r->type >= VOTE_ITEM && r->type < VOTE_ITEM + PROOFS));
}

bool vote_record_parse(const struct mirror_entry *e, struct vote_record *ret)
{
    char bytes[DIGEST_BYTES];

    memcpy(bytes, e->digest.b, DIGEST_BYTES);
    *ret = (struct vote_record){.id = le_get(bytes, HALF),
                                .value = le_get(bytes + HALF, HALF),
                                .type = e->class_type & TYPE_MASK,
                                .nitems = (uint8_t)(e->class_type >> TYPE_BITS)};
    return e->status == ENTRY_LISTED && ret->id != 0 && is_kind(ret);
}
