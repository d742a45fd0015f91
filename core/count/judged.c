#include "core/count/judged.h"

#include "core/base/clock.h"
#include "core/base/digest.h"

enum {
    US_PER_S = 1000000,
    TYPES = 128 /* more than the number of any feature type */
};

const char *judgement_name(unsigned kind)
{
    static const char *const names[JUDGEMENTS] = {"good", "bad", "called_spam",
                                                  "called_good", "first_contacts"};
    return kind < JUDGEMENTS ? names[kind] : "unknown";
}

/* ---- keys ---- */

static void secret_of(const struct keyring *keys, struct hashkey *ret)
{
    uint8_t bytes[KEYRING_DERIVED_BYTES];

    keyring_derive(&keys->node, "judgements", 0, bytes);
    *ret = (struct hashkey){.id = keys->node.id};
    memcpy(ret->bytes, bytes, sizeof(ret->bytes));
}

static void digests_of(const struct hashkey *secret, unsigned nkeys,
                       const struct digest key[KEYRING_MAX], enum judgement kind,
                       struct digest ret[KEYRING_MAX])
{
    memset(ret, 0, KEYRING_MAX * sizeof(ret[0]));
    for (unsigned i = 0; i < nkeys; i++) {
        digest_make(secret, (uint16_t)kind, slice_of(key[i].b, DIGEST_BYTES), &ret[i]);
    }
}

void judged_digest(const struct keyring *keys, const struct digest key[KEYRING_MAX],
                   enum judgement kind, struct digest ret[KEYRING_MAX])
{
    struct hashkey secret;

    secret_of(keys, &secret);
    digests_of(&secret, keys->n, key, kind, ret);
}

/* ---- reading ---- */

static void read_exact(const struct count_port *port, const struct count_item *item,
                       unsigned kind, struct judged *ret)
{
    struct count_history history;
    uint64_t windows[COUNT_WINDOWS];

    port->exact(port->context, item->digest, &history);
    count_history_windows(&history, windows);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        ret->n[w][kind] = windows[w];
    }
    ret->is_partial = ret->is_partial || history.ndamaged > 0;
}

/* What people called it: no counts, but the reports that hold. */
static void read_called(const struct count_port *port,
                        const struct digest key[KEYRING_MAX], struct judged *ret)
{
    static const uint64_t window_s[COUNT_WINDOWS] = {600, 3600, 86400,
                                                     UINT64_C(14) * 86400};
    uint64_t now_s = clock_wall_us() / US_PER_S;

    for (unsigned w = 0; port->called != NULL && w < COUNT_WINDOWS; w++) {
        struct count_called called = {.spam = 0};
        port->called(port->called_context, key, now_s - window_s[w], now_s, &called);
        ret->n[w][CALLED_SPAM] = called.spam;
        ret->n[w][CALLED_GOOD] = called.good;
        if (called.is_cleared) {
            ret->n[w][JUDGED_BAD] = 0;
        }
    }
}

void judged_exact(const struct count_port *port, const struct keyring *keys,
                  const struct digest key[KEYRING_MAX], struct judged *ret)
{
    struct count_item items[JUDGEMENTS];
    struct hashkey secret;

    memset(ret, 0, sizeof(*ret));
    secret_of(keys, &secret);
    for (unsigned kind = 0; kind < JUDGEMENTS; kind++) {
        items[kind] = (struct count_item){.amount = 0};
        digests_of(&secret, keys->n, key, (enum judgement)kind, items[kind].digest);
    }
    port->batch(port->context, items, JUDGEMENTS);
    for (unsigned kind = 0; kind < JUDGEMENTS; kind++) {
        bool is_called = kind == CALLED_SPAM || kind == CALLED_GOOD;
        if (!is_called && items[kind].value.w[COUNT_14D] > 0) {
            read_exact(port, &items[kind], kind, ret);
        }
    }
    read_called(port, key, ret);
}

void judged_read(const struct message_counts *counts, const struct counted *c,
                 enum count_window w, uint64_t ret[JUDGEMENTS])
{
    struct judged all;

    memset(ret, 0, JUDGEMENTS * sizeof(ret[0]));
    if (counts->port != NULL && counts->keys != NULL) {
        judged_exact(counts->port, counts->keys, c->digest, &all);
        memcpy(ret, all.n[w], sizeof(all.n[w]));
    }
}

/* ---- adding ---- */

/* Numbers to be raised together. */
struct raising {
    const struct count_port *port;
    struct hashkey secret;
    unsigned nkeys;
    uint64_t amount;
    size_t n;
    struct count_item items[JUDGED_KEYS_MAX];
};

static void raise_begin(struct raising *r, const struct count_port *port,
                        const struct keyring *keys, uint64_t amount)
{
    r->port = port;
    r->nkeys = keys->n;
    r->amount = amount;
    r->n = 0;
    secret_of(keys, &r->secret);
}

static void raise_end(struct raising *r)
{
    if (r->n > 0) {
        r->port->batch(r->port->context, r->items, r->n);
        r->n = 0;
    }
}

static void raise_key(struct raising *r, const struct digest key[KEYRING_MAX],
                      enum judgement kind)
{
    if (r->n == LENGTH(r->items)) {
        raise_end(r);
    }
    struct count_item *item = &r->items[r->n++];
    *item = (struct count_item){.amount = r->amount};
    digests_of(&r->secret, r->nkeys, key, kind, item->digest);
}

static void find_types(const struct config *config, bool ret[TYPES])
{
    const struct config_strings *names = &config->count.judged_types;

    memset(ret, 0, TYPES * sizeof(ret[0]));
    for (size_t i = 0; i < names->n; i++) {
        const struct feature_info *info = feature_info_by_name(slice_str(names->v[i]));
        if (info != NULL && (unsigned)info->type < TYPES) {
            ret[info->type] = true;
        }
    }
}

void judged_add(const struct config *config, const struct message_counts *counts,
                unsigned kinds)
{
    struct raising r;
    bool is_wanted[TYPES];
    size_t nkeys = 0;

    if (kinds == 0 || counts->amount == 0 || counts->n == 0) {
        return;
    }
    find_types(config, is_wanted);
    raise_begin(&r, counts->port, counts->keys, counts->amount);
    for (size_t i = 0; i < counts->n && nkeys < JUDGED_KEYS_MAX; i++) {
        uint16_t type = counts->v[i].feature->type;
        if (type >= TYPES || !is_wanted[type]) {
            continue;
        }
        nkeys++;
        for (unsigned kind = 0; kind < JUDGEMENTS; kind++) {
            if ((kinds >> kind & 1U) != 0) {
                raise_key(&r, counts->v[i].digest, (enum judgement)kind);
            }
        }
    }
    raise_end(&r);
}
