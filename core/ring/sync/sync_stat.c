/* sync_stat - statistics of each origin. */

#include "core/ring/sync/sync_modules.h"

static bool is_stale(const struct sync *s, const struct origin *o)
{
    const uint64_t now = sync_now_ms();
    const uint64_t seen =
        o->heartbeat_ms > s->opened_ms ? o->heartbeat_ms : s->opened_ms;
    return o->state == MEMBER_ACTIVE && !sync_is_self(s, &o->id) &&
           now > seen + SYNC_LIFE_S * UINT64_C(1000);
}

static uint64_t newest_bucket(const struct origin *o)
{
    uint64_t newest = 0;
    for (const struct stream *st = o->streams; st; st = st->of_origin) {
        newest = st->key.start_s > newest ? st->key.start_s : newest;
    }
    return newest;
}

size_t sync_stat(struct sync *s, struct sync_origin_stat *ret, size_t most)
{
    const size_t n = s->norigins < most ? s->norigins : most;
    for (size_t i = 0; i < n; i++) {
        const struct origin *o = s->origins[i];
        struct sync_origin_stat *r = &ret[i];
        *r = (struct sync_origin_stat){.origin = o->id,
                                       .streams = o->nstreams,
                                       .records = o->records,
                                       .bytes = o->bytes,
                                       .applied = o->applied,
                                       .quota = sync_quota(s, o),
                                       .is_stale = is_stale(s, o),
                                       .is_distrusted = o->is_distrusted};
        memcpy(r->name, o->name, sizeof(r->name));
        memcpy(r->refused, o->refused, sizeof(r->refused));
        r->quota_used = sync_quota_used(o, newest_bucket(o));
        r->seen_ms = o->heartbeat_ms > o->object_ms ? o->heartbeat_ms : o->object_ms;
    }
    return n;
}
