#include "milter/record.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/stats.h"

#include "milter/chronicle.h"
#include "milter/replytext.h"

static void client_text(const struct session *s, char ret[INET6_ADDRSTRLEN])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool is_v4 = memcmp(s->addr, mapped, sizeof mapped) == 0;
    if (!s->has_addr ||
        !inet_ntop(is_v4 ? AF_INET : AF_INET6,
                   is_v4 ? s->addr + sizeof mapped : s->addr, ret, INET6_ADDRSTRLEN)) {
        snprintf(ret, INET6_ADDRSTRLEN, "unknown");
    }
}

static void count_action(enum action done)
{
    switch (done) {
    case ACTION_ACCEPT:
        stats_add(STAT_action_accept, 1);
        break;
    case ACTION_HEADER:
        stats_add(STAT_action_header, 1);
        break;
    case ACTION_QUARANTINE:
        stats_add(STAT_action_quarantine, 1);
        break;
    case ACTION_DEFER:
        stats_add(STAT_action_defer, 1);
        break;
    case ACTION_REJECT:
        stats_add(STAT_action_reject, 1);
        break;
    case ACTION_DISCARD:
        stats_add(STAT_action_discard, 1);
        break;
    case ACTION_COUNT:
        break;
    }
}

static void count_limits(unsigned limits)
{
    _Static_assert(STAT_limit_noise - STAT_limit_message_bytes == LIMIT_FLAG_COUNT - 1,
                   "each limit has its number, in the order of the bits");
    if (limits != 0) {
        stats_add(STAT_limits, 1);
    }
    for (unsigned bit = 0; limits >> bit != 0; bit++) {
        if ((limits >> bit & 1U) != 0) {
            stats_add((enum stat_id)(STAT_limit_message_bytes + bit), 1);
        }
    }
}

static uint64_t count_outcome(const struct message *m, const struct verdict *v,
                              const struct outcome *o, uint64_t us)
{
    uint64_t size = m->extract ? extract_message_bytes(m->extract) : m->bytes;
    stats_add(STAT_messages, 1);
    stats_add(STAT_bytes, size);
    stats_add(STAT_eom_us, us);
    if (m->skip != SKIP_NONE || (v && v->allow)) {
        stats_add(STAT_messages_skipped, 1);
    }
    if (m->skip == SKIP_NONE && !v) {
        stats_add(STAT_on_error, 1);
    } else {
        count_action(o->done);
    }
    count_limits(v ? v->limits : 0);
    if (v && (v->limits & LIMIT_FLAG(deadline))) {
        stats_add(STAT_deadline, 1);
    }
    return size;
}

/* " reason=network wanted=quarantine stripped=2 forged=left", what of it applies. */
static void rare_keys(const char *reason, const struct outcome *o, char *ret,
                      size_t size)
{
    int n = 0;
    ret[0] = '\0';
    if (reason) {
        n += snprintf(ret, size, " reason=%s", reason);
    }
    if (o->wanted != o->done) {
        n += snprintf(ret + n, size - (size_t)n, " wanted=%s", action_name(o->wanted));
    }
    if (o->nstripped) {
        n += snprintf(ret + n, size - (size_t)n, " stripped=%zu", o->nstripped);
    }
    if (o->left_forged) {
        snprintf(ret + n, size - (size_t)n, " forged=left");
    }
}

void record_message(const struct session *s, const struct verdict *v,
                    const char *reason, const struct outcome *o, uint64_t us)
{
    const struct message *m = &s->message;
    char client[INET6_ADDRSTRLEN];
    char symbols[512] = "-";
    char limits[256] = "-";
    char rare[160];
    char qid[LOG_STR_MAX];
    char from[LOG_STR_MAX];
    char mid[LOG_STR_MAX];
    uint64_t size = count_outcome(m, v, o, us);
    chronicle_message(m, v, o, size, us);

    client_text(s, client);
    if (v) {
        replytext_symbol_names(v, symbols, sizeof symbols);
        replytext_limits(v->limits, limits, sizeof limits);
    }
    rare_keys(reason, o, rare, sizeof rare);
    log_info("%s: action=%s score=%.1f symbols=%s client=[%s] from=%s nrcpt=%u mid=%s "
             "size=%llu limits=%s config=%llu us=%llu%s",
             log_str(qid, slice_str(m->queue_id)), action_name(o->done),
             v ? v->score : 0.0, symbols, client, log_str(from, m->mail_from), m->nrcpt,
             log_str(mid, v ? extract_message_id(m->extract) : SLICE_NONE),
             (unsigned long long)size, limits, (unsigned long long)m->generation,
             (unsigned long long)us, rare);
}

void record_hits(const struct list_hits *hits)
{
    stats_add(STAT_lookup_keys, hits->keys);
    stats_add(STAT_filter_hits, hits->filter_hits);
    for (size_t i = 0; i < hits->n; i++) {
        switch (hits->v[i].answer) {
        case LIST_CONFIRMED:
            stats_add(STAT_list_confirmed, 1);
            break;
        case LIST_REVOKED:
            stats_add(STAT_list_revoked, 1);
            break;
        case LIST_FALSE_POSITIVE:
            stats_add(STAT_list_false_positive, 1);
            break;
        case LIST_NO:
        case LIST_POSSIBLE:
            break;
        }
    }
}
