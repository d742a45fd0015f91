/* message - the counts of one message, distinct ones first. */
#include "core/count/message.h"

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/le.h"
#include "core/count/distinct_log.h"
#include "core/telemetry/stats.h"

enum {
    VALUE_MAX = 4096, /* bytes of a value that make its digest, after a prefix */
    US_PER_S = 1000000,
    DAYS = 2 /* today and yesterday */
};

const char *count_distinct_name(unsigned kind)
{
    static const char *const names[DISTINCT_KINDS] = {"recipients", "networks",
                                                      "senders"};
    return kind < DISTINCT_KINDS ? names[kind] : "unknown";
}

/* ---- names of counted values ---- */

static void digests(const struct keyring *keys, uint16_t type, struct slice value,
                    struct digest ret[KEYRING_MAX])
{
    memset(ret, 0, KEYRING_MAX * sizeof(ret[0]));
    for (unsigned i = 0; i < keys->n; i++) {
        digest_make(&keys->ring[i], type, value, &ret[i]);
    }
}

static void prefixed_digests(const struct keyring *keys, struct slice prefix,
                             uint16_t type, struct slice value,
                             struct digest ret[KEYRING_MAX])
{
    char bytes[VALUE_MAX];
    size_t room = sizeof(bytes) - 1;

    if (prefix.n == 0) {
        digests(keys, type, value, ret);
        return;
    }
    prefix = slice_head(prefix, room / 2);
    value = slice_head(value, room - prefix.n);
    memcpy(bytes, prefix.p, prefix.n);
    bytes[prefix.n] = '\0';
    memcpy(bytes + prefix.n + 1, value.p, value.n);
    digests(keys, type, slice_of(bytes, prefix.n + 1 + value.n), ret);
}

void count_digest(const struct keyring *keys, const struct config *config,
                  uint16_t type, struct slice value, struct digest ret[KEYRING_MAX])
{
    prefixed_digests(keys, slice_str(config->count.prefix), type, value, ret);
}

/* kind, day and key, then a member: the keys are those of each digest key.
 * NOLINTNEXTLINE(readability-function-size): the hashed values */
static void day_digests(const struct keyring *keys, uint16_t type, unsigned kind,
                        uint64_t day, const struct digest key[KEYRING_MAX],
                        struct slice member, struct digest ret[KEYRING_MAX])
{
    char bytes[VALUE_MAX];
    size_t head = 1 + sizeof(day) + DIGEST_BYTES;

    member = slice_head(member, sizeof(bytes) - head);
    bytes[0] = (char)kind;
    le_put(bytes + 1, day, sizeof(day));
    if (member.n > 0) {
        memcpy(bytes + head, member.p, member.n);
    }
    memset(ret, 0, KEYRING_MAX * sizeof(ret[0]));
    for (unsigned i = 0; i < keys->n; i++) {
        memcpy(bytes + 1 + sizeof(day), key[i].b, DIGEST_BYTES);
        digest_make(&keys->ring[i], type, slice_of(bytes, head + member.n), &ret[i]);
        count_mark_member(&ret[i]);
    }
}

void count_distinct_digest(const struct keyring *keys,
                           const struct digest key[KEYRING_MAX],
                           enum count_distinct kind, uint64_t day,
                           struct digest ret[KEYRING_MAX])
{
    day_digests(keys, FEATURE_distinct, kind, day, key, SLICE_NONE, ret);
}

/* ---- one message ---- */

/* A message being counted. */
struct counting {
    const struct count_port *port;
    const struct keyring *keys;
    const struct config *config;
    const struct featureset *features;
    const struct message_facts *facts;
    bool is_reading;
    uint64_t day;
    struct arena *arena;
    struct message_counts *ret;
    struct count_item *items;
    size_t nitems;
};

static bool counts_distinct(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->count.distinct_types.n; i++) {
        if (strcmp(config->count.distinct_types.v[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The features that count, each with its digests. */
static void gather_features(struct counting *c)
{
    size_t n = featureset_count(c->features);
    struct message_counts *ret = c->ret;
    const struct slice prefix = slice_str(
        c->facts->prefix != NULL ? c->facts->prefix : c->config->count.prefix);

    if (n > COUNT_FEATURES_MAX) {
        n = COUNT_FEATURES_MAX;
        ret->is_cut = true;
    }
    ret->v = arena_alloc(c->arena, n * sizeof(ret->v[0]));
    if (ret->v == NULL) {
        ret->is_cut = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct feature *f = featureset_at(c->features, i);
        const struct feature_info *info = feature_info((enum feature_type)f->type);
        if (info == NULL || !info->counted) {
            continue;
        }
        struct counted *counted = &ret->v[ret->n++];
        *counted = (struct counted){
            .feature = f, .has_distinct = counts_distinct(c->config, info->name)};
        prefixed_digests(c->keys, prefix, f->type, f->text, counted->digest);
    }
}

/* The members of a kind that this message has: its recipients, or one value. */
static size_t members_of(const struct counting *c, unsigned kind, struct slice one[1],
                         const struct slice **ret)
{
    const struct feature *f = NULL;

    if (kind == DISTINCT_RCPT) {
        *ret = c->facts->rcpt;
        return c->facts->nrcpt < COUNT_RCPT_MAX ? c->facts->nrcpt : COUNT_RCPT_MAX;
    }
    if (kind == DISTINCT_NETWORK) {
        f = featureset_first(c->features, FEATURE_client_net);
    } else {
        f = featureset_first(c->features, FEATURE_from_domain);
        f = f != NULL ? f : featureset_first(c->features, FEATURE_envelope_domain);
    }
    if (f == NULL) {
        return 0;
    }
    one[0] = f->text;
    *ret = one;
    return 1;
}

static void add_item(struct counting *c, const struct digest digest[KEYRING_MAX],
                     uint64_t amount)
{
    struct count_item *item = &c->items[c->nitems++];
    *item = (struct count_item){.amount = amount};
    for (unsigned i = 0; i < KEYRING_MAX; i++) {
        item->digest[i] = digest[i];
    }
}

/* Pairs of a key and kind are items in a row; how many there are. */
static size_t add_pairs(struct counting *c, const struct counted *counted,
                        unsigned kind)
{
    struct slice one[1];
    const struct slice *members = NULL;
    size_t n = members_of(c, kind, one, &members);

    if (c->nitems + n > COUNT_PAIRS_MAX) {
        n = COUNT_PAIRS_MAX - c->nitems;
        c->ret->is_cut = true;
    }
    for (size_t i = 0; i < n; i++) {
        struct digest pair[KEYRING_MAX];
        day_digests(c->keys, FEATURE_distinct_pair, kind, c->day, counted->digest,
                    members[i], pair);
        add_item(c, pair, 1);
    }
    return n;
}

/* Tells the port of a pair that is new. */
static void report_member(const struct counting *c, const struct counted *counted,
                          unsigned kind, const struct digest *pair)
{
    struct digest number[KEYRING_MAX];

    if (c->port->member != NULL) {
        count_distinct_digest(c->keys, counted->digest, (enum count_distinct)kind,
                              c->day, number);
        c->port->member(c->port->context, &counted->digest[0], &number[0], pair);
    }
}

static void take_pair(const struct counting *c, struct counted *counted, unsigned kind,
                      const struct count_item *pair)
{
    if (pair->value.w[COUNT_1D] <= 1) {
        counted->distinct[kind]++;
        report_member(c, counted, kind, &pair->digest[0]);
    }
}

/* Of the pairs the new ones; kept for each key in distinct[], until these are counted. A day's pair
 * is new when the window of a day, which covers the day, has nothing but what we just put there. */
static void count_pairs(struct counting *c)
{
    struct message_counts *ret = c->ret;
    uint16_t(*npairs)[DISTINCT_KINDS] =
        arena_alloc(c->arena, (ret->n + 1) * sizeof(npairs[0]));

    if (npairs == NULL) {
        ret->is_cut = true;
        return;
    }
    for (size_t i = 0; i < ret->n; i++) {
        for (unsigned k = 0; k < DISTINCT_KINDS; k++) {
            bool is_wanted = ret->v[i].has_distinct && !c->is_reading;
            npairs[i][k] = is_wanted ? (uint16_t)add_pairs(c, &ret->v[i], k) : 0;
        }
    }
    c->port->batch(c->port->context, c->items, c->nitems);
    size_t at = 0;
    for (size_t i = 0; i < ret->n; i++) {
        for (unsigned k = 0; k < DISTINCT_KINDS; k++) {
            for (size_t p = 0; p < npairs[i][k]; p++) {
                take_pair(c, &ret->v[i], k, &c->items[at++]);
            }
        }
    }
    c->nitems = 0;
}

static void add_distinct(struct counting *c, const struct counted *counted)
{
    for (unsigned k = 0; k < DISTINCT_KINDS; k++) {
        for (unsigned back = 0; back < DAYS; back++) {
            struct digest d[KEYRING_MAX];
            count_distinct_digest(c->keys, counted->digest, (enum count_distinct)k,
                                  c->day - back, d);
            add_item(c, d, back == 0 ? counted->distinct[k] : 0);
        }
    }
}

/* Reads the answers for the items of add_distinct. */
static size_t take_distinct(struct counted *counted, const struct count_item *items)
{
    for (unsigned k = 0; k < DISTINCT_KINDS; k++) {
        uint64_t today = items[(size_t)k * DAYS].value.w[COUNT_14D];
        uint64_t before = items[(size_t)k * DAYS + 1].value.w[COUNT_14D];
        counted->distinct[k] = today > before ? today : before;
    }
    return (size_t)DISTINCT_KINDS * DAYS;
}

static void count_keys(struct counting *c)
{
    struct message_counts *ret = c->ret;
    bool in_deliveries = c->config->count.unit == COUNT_UNIT_DELIVERIES;
    uint64_t amount =
        in_deliveries && c->facts->ndeliveries > 0 ? c->facts->ndeliveries : 1;

    ret->amount = c->is_reading ? 0 : amount;
    for (size_t i = 0; i < ret->n; i++) {
        add_item(c, ret->v[i].digest, ret->amount);
        if (ret->v[i].has_distinct) {
            add_distinct(c, &ret->v[i]);
        }
    }
    c->port->batch(c->port->context, c->items, c->nitems);
    size_t at = 0;
    for (size_t i = 0; i < ret->n; i++) {
        ret->v[i].value = c->items[at++].value;
        if (ret->v[i].has_distinct) {
            at += take_distinct(&ret->v[i], &c->items[at]);
        }
    }
}

/* NOLINTNEXTLINE(readability-function-size): the inputs of counting */
void count_message(const struct count_port *port, const struct keyring *keys,
                   const struct config *config, const struct featureset *features,
                   const struct message_facts *facts, bool is_reading,
                   struct arena *arena, struct message_counts *ret)
{
    struct counting c = {.port = port,
                         .keys = keys,
                         .config = config,
                         .features = features,
                         .facts = facts,
                         .is_reading = is_reading,
                         .day = clock_wall_us() / US_PER_S / COUNT_DAY_S,
                         .arena = arena,
                         .ret = ret};

    *ret = (struct message_counts){.port = port, .keys = keys};
    if (port == NULL) {
        return;
    }
    gather_features(&c);
    if (ret->v == NULL) {
        return;
    }
    size_t nkeys = ret->n * (1 + (size_t)DISTINCT_KINDS * DAYS);
    size_t most = nkeys > COUNT_PAIRS_MAX ? nkeys : COUNT_PAIRS_MAX;
    c.items = arena_alloc(arena, most * sizeof(c.items[0]));
    if (c.items == NULL) {
        ret->is_cut = true;
        ret->n = 0;
        return;
    }
    count_pairs(&c);
    count_keys(&c);
    if (!is_reading) {
        stats_add(STAT_count_messages, 1);
        stats_add(STAT_count_keys, ret->n);
    }
}

bool message_counts_shares(const struct message_counts *counts, const struct counted *c,
                           struct count_breakdown *ret)
{
    const struct count_port *port = counts->port;

    *ret = (struct count_breakdown){.n = 0};
    if (port == NULL || port->shares == NULL) {
        return false;
    }
    port->shares(port->context, c->digest, ret);
    if (ret->n == 0 || ret->npeers == 0) {
        count_breakdown_fini(ret);
        return false;
    }
    return true;
}
