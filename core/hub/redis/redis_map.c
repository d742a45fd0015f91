/* redis_map - which server has which slot: asked of Sentinels or of the cluster, corrected by
 * redirections. */
#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/hub/redis/redis_internal.h"

enum {
    CRC_POLYNOMIAL = 0x1021, /* XMODEM, as the cluster specification says */
    CRC_TOP = 0x8000,
    BYTE_BITS = 8,
    REFRESH_SOON_MS = 300,      /* after a refresh, when one is wanted */
    REFRESH_SENTINEL_MS = 5000, /* otherwise */
    REFRESH_CLUSTER_MS = 30 * 1000
};

unsigned redis_slot(struct slice key)
{
    const struct slice behind = slice_from(key, slice_find(key, '{') + 1);
    const size_t tag = slice_find(behind, '}');
    unsigned crc = 0;

    if (tag > 0 && tag < behind.n) {
        key = slice_head(behind, tag);
    }
    for (size_t i = 0; i < key.n; i++) {
        crc ^= (unsigned)(uint8_t)key.p[i] << BYTE_BITS;
        for (unsigned bit = 0; bit < BYTE_BITS; bit++) {
            crc = (crc & CRC_TOP) != 0 ? (crc << 1) ^ CRC_POLYNOMIAL : crc << 1;
        }
        crc &= UINT16_MAX;
    }
    return crc % REDIS_SLOTS;
}

/* ---- the map ---- */

struct redis_node *redis_map_node(struct redis *r, int slot)
{
    if (r->kind != REDIS_CLUSTER) {
        return r->slots[0];
    }
    for (int i = 0; slot == REDIS_ANY_SLOT && i < REDIS_SLOTS; i++) {
        if (r->slots[i] != NULL) {
            return r->slots[i];
        }
    }
    return slot == REDIS_ANY_SLOT ? NULL : r->slots[slot];
}

void redis_map_set(struct redis *r, int slot, struct redis_node *n)
{
    struct redis_node **place = &r->slots[r->kind == REDIS_CLUSTER ? slot : 0];

    r->nchanges += *place != NULL && *place != n ? 1 : 0;
    *place = n;
    n->is_master = true;
}

/* Calls that wait at a server that lost its slots go elsewhere. Those that were sent to it get
 * their answers or redirections. */
static void leave_former_master(struct redis *r, struct redis_node *n)
{
    struct open_calls all = TAILQ_HEAD_INITIALIZER(all);

    TAILQ_CONCAT(&all, &n->waiting, in_queue);
    while (!TAILQ_EMPTY(&all)) {
        struct open_call *call = TAILQ_FIRST(&all);

        TAILQ_REMOVE(&all, call, in_queue);
        if (call->bound != NULL || call->is_asking) {
            TAILQ_INSERT_TAIL(&n->waiting, call, in_queue);
        } else {
            redis_park(r, call);
        }
    }
}

/* ---- CLUSTER SLOTS ---- */

/* One row: first and last slot, then the master as host and port. */
struct slot_range {
    int64_t first;
    int64_t last;
    struct slice host;
    unsigned port;
    bool is_hidden; /* a server that has no name yet where names are wanted */
};

static bool read_range(const struct resp *p, size_t row, const struct redis_node *from,
                       struct slot_range *ret)
{
    const size_t first = resp_below(p, row, 0);
    const size_t last = resp_below(p, row, 1);
    const size_t master = resp_below(p, row, 2);
    const size_t host = master != 0 ? resp_below(p, master, 0) : 0;
    const size_t port = master != 0 ? resp_below(p, master, 1) : 0;

    if (host == 0 || port == 0 || p->nodes[first].kind != RESP_INTEGER ||
        p->nodes[last].kind != RESP_INTEGER || p->nodes[port].kind != RESP_INTEGER ||
        (p->nodes[host].kind != RESP_TEXT && p->nodes[host].kind != RESP_NULL)) {
        return false;
    }
    const int64_t number = p->nodes[port].number;
    ret->first = p->nodes[first].number;
    ret->last = p->nodes[last].number;
    ret->host = resp_text(p, host);
    ret->port = number > 0 && number <= UINT16_MAX ? (unsigned)number : 0;
    if (ret->host.n == 0) { /* it does not know its own address, and we do */
        ret->host = slice_str(from->host);
    }
    ret->is_hidden = slice_eq(ret->host, SLICE_LIT("?"));
    return ret->first >= 0 && ret->first <= ret->last && ret->last < REDIS_SLOTS &&
           ret->port > 0 && (ret->is_hidden || redis_host_is_plain(ret->host));
}

/* Every row has the right form, and no slot stands in two. */
static bool is_slot_table(const struct resp *p, const struct redis_node *from)
{
    size_t row = 1;
    int64_t slots = 0;

    if (p->nodes[0].kind != RESP_ARRAY) {
        return false;
    }
    for (int64_t i = 0; i < p->nodes[0].number; i++) {
        struct slot_range range;

        if (!read_range(p, row, from, &range)) {
            return false;
        }
        slots += range.last - range.first + 1;
        if (slots > REDIS_SLOTS) {
            return false;
        }
        row = p->nodes[row].end;
    }
    return true;
}

static void take_slots(struct redis *r, const struct resp *p,
                       const struct redis_node *from)
{
    size_t row = 1;

    if (!is_slot_table(p, from)) {
        redis_note(r, REDIS_FAULT_TOPOLOGY, "%s:%u gives no table of slots", from->host,
                   from->port);
        return;
    }
    const uint64_t before = checksum64(slice_of(r->slots, sizeof(r->slots)));
    memset(r->slots, 0, sizeof(r->slots));
    for (size_t i = 0; i < r->nnodes; i++) {
        r->nodes[i]->is_master = false;
    }
    for (int64_t i = 0; i < p->nodes[0].number; i++) {
        struct slot_range range = {.first = 0};
        struct redis_node *n = NULL;

        if (read_range(p, row, from, &range) && !range.is_hidden) {
            n = redis_node_get(r, range.host, range.port);
        }
        for (int64_t slot = range.first; n != NULL && slot <= range.last; slot++) {
            redis_map_set(r, (int)slot, n);
        }
        row = p->nodes[row].end;
    }
    if (checksum64(slice_of(r->slots, sizeof(r->slots))) != before) {
        r->nchanges++;
    }
}

/* ---- Sentinel ---- */

static void take_master(struct redis *r, const struct resp *p,
                        const struct redis_node *from)
{
    enum { DECIMAL = 10 };
    const size_t host_at = resp_below(p, 0, 0);
    const size_t port_at = resp_below(p, 0, 1);
    const struct slice host = resp_text(p, host_at);
    struct redis_node *n = NULL;
    uint64_t port = 0;

    if (p->nodes[0].kind == RESP_NULL) {
        redis_note(r, REDIS_FAULT_TOPOLOGY, "%s:%u knows no master \"%s\"", from->host,
                   from->port, r->master);
        return;
    }
    if (host_at == 0 || port_at == 0 || host.n == 0 || !redis_host_is_plain(host) ||
        !slice_to_u64(resp_text(p, port_at), DECIMAL, UINT16_MAX, &port) || port == 0) {
        redis_note(r, REDIS_FAULT_TOPOLOGY, "%s:%u gives no address of a master",
                   from->host, from->port);
        return;
    }
    n = redis_node_get(r, host, (unsigned)port);
    if (n != NULL && n != r->slots[0]) {
        if (r->slots[0] != NULL) {
            r->slots[0]->is_master = false;
        }
        redis_map_set(r, 0, n);
    }
}

/* ---- asking ---- */

static void take_map(void *context, const struct redis_answer *answer)
{
    struct redis *r = context;
    const struct redis_node *from = r->refresh->node;

    r->refresh_fault = answer->fault;
    if (answer->fault != REDIS_FAULT_NONE) {
        r->wants_refresh = true;
        return;
    }
    if (answer->reply->nodes[0].kind == RESP_ERROR) {
        redis_note_error(from, REDIS_FAULT_TOPOLOGY, resp_text(answer->reply, 0));
        return;
    }
    if (r->kind == REDIS_CLUSTER) {
        take_slots(r, answer->reply, from);
    } else {
        take_master(r, answer->reply, from);
    }
    for (size_t i = 0; i < r->nnodes; i++) {
        if (!r->nodes[i]->is_master) {
            leave_former_master(r, r->nodes[i]);
        }
    }
    redis_dispatch_parked(r);
}

/* The next one in turn: best one that is connected. A server that just failed has its rest. */
static struct redis_node *choose_node(struct redis *r, uint64_t now_us)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 1; i <= r->nnodes; i++) {
            const size_t at = (r->refresh_turn + i) % r->nnodes;
            struct redis_node *n = r->nodes[at];
            const bool may = n->is_seed || (r->kind == REDIS_CLUSTER && n->is_master);

            if (may && (pass == 0 ? n->state == REDIS_NODE_READY && n->nfailures == 0
                                  : redis_node_is_open(n, now_us))) {
                r->refresh_turn = at;
                return n;
            }
        }
    }
    return NULL;
}

static void ask_for_map(struct redis *r, uint64_t now_us)
{
    const struct slice slots[] = {SLICE_LIT("CLUSTER"), SLICE_LIT("SLOTS")};
    const struct slice master[] = {SLICE_LIT("SENTINEL"),
                                   SLICE_LIT("GET-MASTER-ADDR-BY-NAME"),
                                   slice_str(r->master)};
    const bool is_cluster = r->kind == REDIS_CLUSTER;
    const struct redis_call call = {.args = is_cluster ? slots : master,
                                    .nargs =
                                        is_cluster ? LENGTH(slots) : LENGTH(master),
                                    .answer = take_map,
                                    .context = r};
    struct redis_node *n = choose_node(r, now_us);

    if (n != NULL && redis_refresh(r, n, &call) == ERR_OK) {
        r->refresh_us = now_us;
        r->wants_refresh = false;
    }
}

void redis_map_tick(struct redis *r, uint64_t now_us)
{
    const uint64_t most = r->wants_refresh           ? REFRESH_SOON_MS
                          : r->kind == REDIS_CLUSTER ? REFRESH_CLUSTER_MS
                                                     : REFRESH_SENTINEL_MS;

    if (r->kind != REDIS_SINGLE && r->refresh == NULL &&
        (r->refresh_us == 0 || now_us >= r->refresh_us + most * REDIS_US_PER_MS)) {
        ask_for_map(r, now_us);
    }
}
