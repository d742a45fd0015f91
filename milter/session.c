#include "milter/session.h"

#include <assert.h>

#include "core/telemetry/stats.h"
#include "core/verdict/verdict.h"

#include "milter/arenapool.h"
#include "milter/file_reader.h"
#include "milter/learn.h"
#include "milter/outgoing.h"
#include "milter/service.h"

static const struct slice own_prefix = {"X-Gillnet-", 10};
static const struct slice own_names[3] = {
    {"X-Gillnet-Status", 16}, {"X-Gillnet-Score", 15}, {"X-Gillnet-Symbols", 17}};

const char *skip_reason_name(enum skip_reason reason)
{
    switch (reason) {
    case SKIP_NONE:
        return "none";
    case SKIP_NETWORK:
        return "network";
    case SKIP_LOGIN:
        return "login";
    case SKIP_SESSIONS:
        return "sessions";
    }
    return "none";
}

struct session *session_new(void *ctx, const struct session_options *options)
{
    struct session *s = calloc(1, sizeof(*s));
    if (!s) {
        return NULL;
    }
    if (pthread_mutex_init(&s->lock, NULL) != 0) {
        free(s);
        return NULL;
    }
    s->ctx = ctx;
    s->options = *options;
    s->is_over_limit = !service_add_session(s);
    return s;
}

void session_free(struct session **s)
{
    struct session *gone = *s;
    if (!gone) {
        return;
    }
    *s = NULL;
    service_remove_session(gone);
    session_end_message(gone);
    free(gone->client_name);
    free(gone->helo);
    pthread_mutex_destroy(&gone->lock);
    free(gone);
}

static void set_text(char **text, const char *value)
{
    free(*text);
    *text = value ? strndup(value, SESSION_TEXT_MAX) : NULL;
}

void session_set_client_name(struct session *s, const char *name)
{
    set_text(&s->client_name, name);
}

void session_set_helo(struct session *s, const char *helo)
{
    set_text(&s->helo, helo);
}

static enum skip_reason reason_to_skip(const struct session *s, const struct config *c,
                                       bool is_authenticated)
{
    if (s->is_over_limit) {
        return SKIP_SESSIONS;
    }
    if (is_authenticated && c->outgoing) {
        return SKIP_LOGIN;
    }
    for (size_t i = 0; s->has_addr && i < c->ntrusted_networks; i++) {
        if (ipnet_contains(&c->trusted_networks[i], s->addr)) {
            return SKIP_NETWORK;
        }
    }
    return SKIP_NONE;
}

static void begin_extract(struct session *s, struct message *m)
{
    struct extract_limits limits;
    verdict_extract_limits(m->config, &limits);
    file_reader_offer(&limits);
    service_imprint(&limits.imprint);
    listed_init(&m->listed, service_lists());
    limits.listed = listed_find;
    limits.listed_context = &m->listed;
    m->text = verdict_read_text(m->config, m->arena, &limits);
    m->reader = learn_reader(m->config, m->arena, &limits);
    m->extract = extract_new(m->arena, &limits, m->config->trusted_authserv.v,
                             m->config->trusted_authserv.n);
    if (!m->extract) {
        m->trouble = "memory";
        return;
    }
    extract_client(m->extract, s->has_addr ? s->addr : NULL, slice_str(s->client_name));
    extract_helo(m->extract, slice_str(s->helo));
    extract_mail_from(m->extract, m->mail_from);
}

void session_begin_message(struct session *s, const char *mail_from,
                           bool is_authenticated, const char *user)
{
    if (s->has_message) {
        stats_add(STAT_messages_aborted, 1);
        session_end_message(s);
    }
    struct message *m = &s->message;
    *m = (struct message){.is_authenticated = is_authenticated};
    s->has_message = true;
    m->epoch = service_begin_message();
    m->config = service_config(&m->generation);
    for (size_t i = 0; i < 3; i++) {
        m->own[i].name = own_names[i];
    }
    m->skip = reason_to_skip(s, m->config, is_authenticated);
    m->is_outgoing =
        (m->skip == SKIP_LOGIN || m->skip == SKIP_NETWORK) && m->config->outgoing;
    m->arena = arenapool_take((size_t)m->config->limits.memory);
    if (!m->arena) {
        m->trouble = "memory";
        return;
    }
    m->mail_from = arena_copy(m->arena, slice_str(mail_from));
    m->capture.is_ours = is_authenticated || m->skip == SKIP_NETWORK;
    if (message_is_bounce(m)) {
        mail_capture_empty_sender(&m->capture);
    }
    m->user = arena_copy(m->arena, slice_head(slice_str(user), SESSION_TEXT_MAX));
    if (m->skip == SKIP_NONE || m->is_outgoing) {
        begin_extract(s, m);
    }
}

static void note_other(struct message *m, struct slice name)
{
    for (size_t i = 0; i < m->nothers; i++) {
        if (slice_eq_nocase(name, m->others[i].name)) {
            m->others[i].count++;
            return;
        }
    }
    if (!m->others && m->arena) {
        m->others = arena_array(m->arena, SESSION_FORGED_NAMES, sizeof(*m->others));
    }
    if (!m->others || m->nothers == SESSION_FORGED_NAMES ||
        name.n > SESSION_FORGED_NAME) {
        m->has_more_forged = true;
        return;
    }
    struct slice copy = arena_copy(m->arena, name);
    if (!copy.p) {
        m->has_more_forged = true;
        return;
    }
    m->others[m->nothers++] = (struct forged){.name = copy, .count = 1};
}

void message_note_header(struct message *m, struct slice name)
{
    if (!slice_has_prefix_nocase(name, own_prefix)) {
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        if (slice_eq_nocase(name, own_names[i])) {
            m->own[i].count++;
            return;
        }
    }
    note_other(m, name);
}

void session_end_message(struct session *s)
{
    if (!s->has_message) {
        return;
    }
    struct message *m = &s->message;
    size_t cap_bytes = (size_t)m->config->limits.memory;
    extract_drop(m->extract);
    listed_fini(&m->listed);
    mail_capture_free(&m->capture.bytes);
    arenapool_give(&m->arena, cap_bytes);
    config_release(&m->config);
    service_end_message(m->epoch);
    s->has_message = false;
    *m = (struct message){.epoch = 0};
}
