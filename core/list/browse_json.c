#include "core/list/browse_json.h"

#include "core/list/entry_source.h"
#include "core/message/feature/feature_json.h"

static json_t *text_or_null(struct slice s)
{
    return s.n > 0 ? json_text(s) : json_null();
}

static json_t *time_or_null(uint64_t s)
{
    return s > 0 ? json_integer((json_int_t)s) : json_null();
}

json_t *browse_entry_json(const struct browse_entry *e)
{
    const struct list_provenance *from = e->from;
    struct slice who;
    struct slice reason;

    entry_source_split(slice_str(from->source), &who, &reason);
    return json_pack(
        "{s:s, s:o, s:s, s:b, s:o, s:o, s:I, s:o, s:o}", "type",
        feature_type_name(from->class_type), "value", text_or_null(from->text),
        "status", from->status == ENTRY_REVOKED ? "revoked" : "listed", "explicit",
        (int)from->is_explicit, "who", text_or_null(who), "reason",
        text_or_null(reason), "first_seen_s", (json_int_t)from->first_seen_s,
        "changed_s", time_or_null(e->changed_s), "expires_s",
        time_or_null(from->expiry_s));
}
