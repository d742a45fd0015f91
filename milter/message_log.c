#include "milter/message_log.h"

#include <arpa/inet.h>

#include "core/base/log.h"
#include "core/telemetry/stats.h"

#include "milter/logline.h"

static void client_text(const struct session *s, char ret[INET6_ADDRSTRLEN])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool is_v4 = memcmp(s->addr, mapped, sizeof(mapped)) == 0;
    if (!s->has_addr ||
        !inet_ntop(is_v4 ? AF_INET : AF_INET6,
                   is_v4 ? s->addr + sizeof(mapped) : s->addr, ret, INET6_ADDRSTRLEN)) {
        snprintf(ret, INET6_ADDRSTRLEN, "unknown");
    }
}

_Static_assert((int)LOGLINE_RCPTS == (int)SESSION_RCPTS, "as many as are kept");

static void count_action(enum action done)
{
    _Static_assert(STAT_action_discard - STAT_action_accept == ACTION_DISCARD,
                   "one counter for each action, in the same order");
    stats_add((enum stat_id)(STAT_action_accept + (int)done), 1);
}

static void count_limits(unsigned limits)
{
    _Static_assert(STAT_limit_reader - STAT_limit_message_bytes == LIMIT_FLAG_COUNT - 1,
                   "each limit has its number, in the order of the bits");
    if (limits != 0) {
        stats_add(STAT_limits, 1);
    }
    for (unsigned bit = 0; bit < LIMIT_FLAG_COUNT; bit++) {
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
    if (v && v->fault >= LIST_FAULT_LIST_UNREADABLE) {
        stats_add(STAT_messages_unread, 1);
    }
    count_limits(v ? v->limits : 0);
    if (v && (v->limits & LIMIT_FLAG(deadline))) {
        stats_add(STAT_deadline, 1);
    }
    return size;
}

static void log_message(const struct session *s, const struct verdict *v,
                        const char *reason, const struct outcome *o, uint64_t size,
                        uint64_t us)
{
    const struct message *m = &s->message;
    char client[INET6_ADDRSTRLEN];
    client_text(s, client);
    const struct logline l = {
        .queue_id = m->queue_id,
        .verdict = v,
        .reason = reason,
        .case_id = m->case_text,
        .done = o->done,
        .wanted = o->wanted,
        .required = verdict_threshold(m->config, v),
        .client_address = client,
        .client_name = slice_str(s->client_name),
        .helo = slice_str(s->helo),
        .has_addresses = m->config->log_addresses,
        .from = m->mail_from,
        .rcpt = m->rcpt,
        .nrcpt = m->nrcpt,
        .message_id = v ? extract_message_id(m->extract) : SLICE_NONE,
        .size = size,
        .generation = m->generation,
        .us = us,
        .nstripped = o->nstripped,
        .left_forged = o->left_forged,
    };
    char *line = m->config->log_is_json ? logline_json(&l) : logline_text(&l);
    log_info("%s", line ? line : "event=message error=memory: its line cannot be made");
    free(line);
}

void message_log_write(const struct session *s, const struct verdict *v,
                       const char *reason, const struct outcome *o, uint64_t us)
{
    uint64_t size = count_outcome(&s->message, v, o, us);
    journal_record_message(s, v, reason, o, us);
    history_record_message(&s->message, v, o, size, us);
    log_message(s, v, reason, o, size, us);
}

void message_log_add_hits(const struct list_hits *hits)
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
        case LIST_UNVERIFIED:
            break;
        }
    }
}
