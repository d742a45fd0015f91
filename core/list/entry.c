/*
 * entry - precedence: an entry of a person is replaced only by a person.
 */
#include "core/list/entry.h"

#include "core/list/list.h"

bool entry_is_expired(const struct index_record *r, uint64_t now_s)
{
    return r->expiry_s != 0 && r->expiry_s <= now_s;
}

/* 0 means for ever. */
static bool ends_later(uint32_t expiry_s, uint32_t than_s)
{
    return than_s != 0 && (expiry_s == 0 || expiry_s > than_s);
}

bool entry_fold(struct index_record *state, bool has, const struct log_record *r)
{
    bool stands = has && !entry_is_expired(state, r->time_s);
    bool is_explicit = r->kind == RECORD_ADD || r->kind == RECORD_REVOKE;
    if (!is_explicit && stands) {
        if ((state->flags & ENTRY_FLAG_EXPLICIT) != 0 ||
            (r->kind == RECORD_IMPORT && !ends_later(r->expiry_s, state->expiry_s))) {
            return false;
        }
    }
    bool revokes = r->kind == RECORD_REVOKE;
    uint32_t first_seen_s = stands ? state->first_seen_s : r->time_s;
    if (r->kind == RECORD_FEED) {
        first_seen_s = r->first_seen_s;
    }
    *state = (struct index_record){
        .status = (uint8_t)(revokes ? ENTRY_REVOKED : ENTRY_LISTED),
        .flags = is_explicit ? ENTRY_FLAG_EXPLICIT : 0,
        .class_type = r->class_type,
        .segment = r->segment,
        .offset = r->offset,
        .first_seen_s = first_seen_s,
        .expiry_s = r->expiry_s,
    };
    return true;
}

static uint64_t *total_of(struct entry_totals *t, const struct index_record *r)
{
    return r->status == ENTRY_REVOKED ? &t->revoked : &t->listed;
}

void entry_uncount(struct entry_totals *t, const struct index_record *r)
{
    if (r->expiry_s != ENTRY_GONE_S && *total_of(t, r) > 0) {
        --*total_of(t, r);
    }
}

void entry_count(struct entry_totals *t, const struct index_record *before,
                 bool has_before, const struct index_record *after)
{
    if (has_before) {
        entry_uncount(t, before);
    }
    if (after->expiry_s != ENTRY_GONE_S) {
        ++*total_of(t, after);
    }
}

struct exact_value entry_pack(const struct index_record *r)
{
    return (struct exact_value){{
        (uint64_t)r->status | (uint64_t)r->flags << 8 | (uint64_t)r->class_type << 16 |
            (uint64_t)r->segment << 32,
        (uint64_t)r->offset | (uint64_t)r->first_seen_s << 32,
        r->expiry_s,
    }};
}

struct index_record entry_unpack(const struct exact_value *v)
{
    return (struct index_record){
        .status = (uint8_t)(v->word[0] & 0xff),
        .flags = (uint8_t)(v->word[0] >> 8 & 0xff),
        .class_type = (uint16_t)(v->word[0] >> 16 & 0xffff),
        .segment = (uint32_t)(v->word[0] >> 32),
        .offset = (uint32_t)(v->word[1] & UINT32_MAX),
        .first_seen_s = (uint32_t)(v->word[1] >> 32),
        .expiry_s = (uint32_t)(v->word[2] & UINT32_MAX),
    };
}
