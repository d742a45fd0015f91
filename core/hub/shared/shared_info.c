#include "core/hub/shared/shared_info.h"

enum { DECIMAL = 10 };

void shared_info_copy(char *ret, size_t size, struct slice text)
{
    const size_t n = text.n < size ? text.n : size - 1;

    for (size_t i = 0; i < n; i++) {
        ret[i] = (char)(text.p[i] >= ' ' && text.p[i] <= '~' ? text.p[i] : '?');
    }
    ret[n] = '\0';
}

struct reading {
    struct shared_server_status *server;
    struct shared_info *info;
    uint64_t used;
    uint64_t not_counted; /* of used: buffers that maxmemory does not bound */
    bool is_sentinel;
    bool has_failed; /* to write */
};

static void read_info_number(struct reading *r, struct slice name, struct slice value)
{
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"used_memory", &r->used},
                   {"mem_not_counted_for_evict", &r->not_counted},
                   {"maxmemory", &r->server->memory_limit},
                   {"evicted_keys", &r->server->evicted},
                   {"server_time_usec", &r->info->time_us}};

    for (size_t i = 0; i < LENGTH(numbers); i++) {
        if (slice_eq(name, slice_str(numbers[i].name))) {
            (void)slice_to_u64(value, DECIMAL, INT64_MAX, numbers[i].to);
        }
    }
}

static void read_info_text(struct reading *r, struct slice name, struct slice value)
{
    struct shared_server_status *s = r->server;
    const struct {
        const char *name;
        char *to;
        size_t size;
    } texts[] = {
        {"redis_version", s->version, sizeof(s->version)},
        {"valkey_version", s->version, sizeof(s->version)}, /* it comes later */
        {"server_name", s->product, sizeof(s->product)},
        {"maxmemory_policy", s->policy, sizeof(s->policy)},
        {"run_id", r->info->run_id, sizeof(r->info->run_id)}};

    for (size_t i = 0; i < LENGTH(texts); i++) {
        if (slice_eq(name, slice_str(texts[i].name))) {
            shared_info_copy(texts[i].to, texts[i].size, value);
        }
    }
}

/* "slave0:ip=10.0.0.2,port=6379,state=online,offset=1,lag=0" */
static bool is_replica_row(struct slice name, struct slice value)
{
    const struct slice word = SLICE_LIT("slave");
    uint64_t number = 0;

    return slice_has_prefix(name, word) &&
           slice_to_u64(slice_from(name, word.n), DECIMAL, UINT32_MAX, &number) &&
           slice_find_slice(value, SLICE_LIT("state=online")) < value.n;
}

static void read_state(struct reading *r, struct slice name, struct slice value)
{
    struct shared_server_status *s = r->server;

    if (slice_eq(name, SLICE_LIT("role"))) {
        s->role = slice_eq(value, SLICE_LIT("master"))  ? SHARED_MASTER
                  : slice_eq(value, SLICE_LIT("slave")) ? SHARED_REPLICA
                                                        : SHARED_ROLE_UNKNOWN;
    } else if (slice_eq(name, SLICE_LIT("redis_mode"))) {
        r->is_sentinel = slice_eq(value, SLICE_LIT("sentinel"));
    } else if (slice_eq(name, SLICE_LIT("aof_enabled"))) {
        s->is_persistent = slice_eq(value, SLICE_LIT("1")) ? SHARED_YES : SHARED_NO;
    } else if (slice_eq(name, SLICE_LIT("loading"))) {
        r->has_failed = r->has_failed || slice_eq(value, SLICE_LIT("1"));
        s->can_write = SHARED_YES; /* so far: the section is there */
    } else if (slice_eq(name, SLICE_LIT("rdb_last_bgsave_status")) ||
               slice_eq(name, SLICE_LIT("aof_last_write_status"))) {
        r->has_failed = r->has_failed || !slice_eq(value, SLICE_LIT("ok"));
    } else if (is_replica_row(name, value)) {
        s->nreplicas++;
    }
}

void shared_info_read(struct slice text, struct shared_server_status *ret,
                      struct shared_info *retinfo)
{
    struct reading r = {.server = ret, .info = retinfo};

    ret->nreplicas = 0;
    (void)snprintf(ret->product, sizeof(ret->product), "redis");
    while (text.n > 0) {
        struct slice value = slice_trim(slice_cut(&text, '\n'));
        const struct slice name = slice_cut(&value, ':');

        read_info_number(&r, name, value);
        read_info_text(&r, name, value);
        read_state(&r, name, value);
    }
    ret->memory_bytes = r.used > r.not_counted ? r.used - r.not_counted : 0;
    if (r.is_sentinel) {
        ret->role = SHARED_SENTINEL;
    }
    if (r.has_failed) {
        ret->can_write = SHARED_NO;
    }
}
