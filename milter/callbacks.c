#include "milter/callbacks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/count/message.h"
#include "core/telemetry/stats.h"

#include "milter/message_log.h"
#include "milter/negotiate.h"
#include "milter/probe.h"
#include "milter/reply.h"
#include "milter/service.h"

enum {
    PROGRESS_AFTER_US = 1000 * 1000, /* a later final answer is announced */
    DEADLINE_MARGIN_US = 50 * 1000,  /* kept for the answer itself */
    REFUSAL_LOG_US = 60 * 1000 * 1000
};

/* ---- entering and leaving ---- */

/* A callback that comes while the daemon ends must touch nothing: libmilter may be freeing its
 * context. It waits for the end of the process. */
static void enter_session(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    bool is_closed = s->is_closed;
    s->is_inside = !is_closed;
    pthread_mutex_unlock(&s->lock);
    if (is_closed) {
        service_wait_for_end();
    }
}

static sfsistat leave(struct session *s, sfsistat answer)
{
    pthread_mutex_lock(&s->lock);
    s->is_inside = false;
    pthread_mutex_unlock(&s->lock);
    return answer;
}

/* At most one line a minute. */
static void log_refusal(void)
{
    static struct clock_pace turns;
    if (clock_take_turn(&turns, REFUSAL_LOG_US)) {
        log_warn("event=sessions_limit open=%zu: connections over limits.sessions are "
                 "accepted unexamined; raise it and LimitNOFILE, or limit the MTA",
                 service_sessions());
    }
}

static struct session *new_session(SMFICTX *ctx, const struct session_options *options)
{
    struct session *s = session_new(ctx, options);
    if (!s) {
        return NULL;
    }
    if (smfi_setpriv(ctx, s) != MI_SUCCESS) {
        session_free(&s);
        return NULL;
    }
    if (s->is_over_limit) {
        stats_add(STAT_sessions_refused, 1);
        log_refusal();
    }
    return s;
}

/* The session of ctx, entered. Makes one if ctx has none: an MTA that goes on with another client
 * negotiates only once. NULL without memory. */
static struct session *take_session(SMFICTX *ctx)
{
    struct session *s = smfi_getpriv(ctx);
    if (!s) {
        struct session_options options;
        service_get_options(&options);
        s = new_session(ctx, &options);
    }
    if (s) {
        enter_session(s);
    }
    return s;
}

/* Without memory for a session its mail passes unexamined, with the answers agreed on. */
static sfsistat answer_without_session(unsigned long noreply_bit)
{
    struct session none = {.has_message = false};
    service_get_options(&none.options);
    return reply_continue(&none, noreply_bit);
}

static const char *symbol(SMFICTX *ctx, const char *name)
{
    char copy[32];
    snprintf(copy, sizeof(copy), "%s", name);
    return smfi_getsymval(ctx, copy);
}

/* ---- connection ---- */

static void ask_for_symbols(SMFICTX *ctx)
{
    char connect[] = "{client_addr} {client_resolve}";
    char mail[] = "i {auth_authen} {auth_type}";
    char data[] = "i";
    char eom[] = "i";
    smfi_setsymlist(ctx, SMFIM_CONNECT, connect);
    smfi_setsymlist(ctx, SMFIM_ENVFROM, mail);
    smfi_setsymlist(ctx, SMFIM_DATA, data);
    smfi_setsymlist(ctx, SMFIM_EOM, eom);
}

/* NOLINTNEXTLINE(readability-function-size): libmilter's parameters */
static sfsistat on_negotiate(SMFICTX *ctx, unsigned long f0, unsigned long f1,
                             unsigned long f2, unsigned long f3, unsigned long *pf0,
                             unsigned long *pf1, unsigned long *pf2, unsigned long *pf3)
{
    (void)f2;
    (void)f3;
    struct negotiation n;
    bool is_inet = service_is_inet();
    negotiate(f0, f1, is_inet, false, &n);
    service_set_options(&n.options);
    if (probe_is_waiting()) { /* an MTA sends a HELO that is not answered with what follows */
        n.options.noreply &= ~(unsigned long)SMFIP_NR_HELO;
        n.steps &= ~(unsigned long)SMFIP_NR_HELO;
    }
    struct session *old = smfi_getpriv(ctx);
    session_free(&old);
    struct session *s = new_session(ctx, &n.options);
    if (s && s->is_over_limit) {
        negotiate(f0, f1, is_inet, true, &n);
        s->options = n.options;
    }
    if (n.has_symlist) {
        ask_for_symbols(ctx);
    }
    *pf0 = n.actions;
    *pf1 = n.steps;
    *pf2 = 0;
    *pf3 = 0;
    return reply_negotiated();
}

static void map_v4(const struct in_addr *in, uint8_t ret[16])
{
    memset(ret, 0, 10);
    ret[10] = 0xff;
    ret[11] = 0xff;
    memcpy(ret + 12, in, 4);
}

static bool read_sockaddr(const struct sockaddr *sa, uint8_t ret[16])
{
    if (sa && sa->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, sa, sizeof(in));
        map_v4(&in.sin_addr, ret);
        return true;
    }
    if (sa && sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, sa, sizeof(in6));
        memcpy(ret, &in6.sin6_addr, 16);
        return true;
    }
    return false;
}

/* "192.0.2.1", "2001:db8::1" or "IPv6:2001:db8::1" */
static bool read_address(const char *text, uint8_t ret[16])
{
    struct in_addr in;
    if (!text) {
        return false;
    }
    if (strncasecmp(text, "IPv6:", 5) == 0) {
        text += 5;
    }
    if (inet_pton(AF_INET, text, &in) == 1) {
        map_v4(&in, ret);
        return true;
    }
    return inet_pton(AF_INET6, text, ret) == 1;
}

static sfsistat on_connect(SMFICTX *ctx, char *name, _SOCK_ADDR *addr)
{
    struct session *s = take_session(ctx);
    if (!s) {
        return answer_without_session(SMFIP_NR_CONN);
    }
    s->has_addr = read_sockaddr(addr, s->addr) ||
                  read_address(symbol(ctx, "{client_addr}"), s->addr);
    const char *resolve = symbol(ctx, "{client_resolve}");
    bool is_known = name && *name && *name != '[' && strcasecmp(name, "unknown") != 0 &&
                    (!resolve || strcmp(resolve, "OK") == 0);
    session_set_client_name(s, is_known ? name : NULL);
    return leave(s, reply_connect(s));
}

static sfsistat on_helo(SMFICTX *ctx, char *helo)
{
    struct session *s = take_session(ctx);
    if (!s) {
        return answer_without_session(SMFIP_NR_HELO);
    }
    session_set_helo(s, helo);
    s->is_probe = probe_greets(helo);
    return leave(s, reply_continue(s, SMFIP_NR_HELO));
}

/* ---- message ---- */

static bool is_set(const char *text)
{
    return text && *text;
}

static void note_queue_id(SMFICTX *ctx, struct message *m)
{
    const char *id = symbol(ctx, "i");
    if (is_set(id)) {
        snprintf(m->queue_id, sizeof(m->queue_id), "%s", id);
    }
}

static sfsistat on_mail(SMFICTX *ctx, char **argv)
{
    struct session *s = take_session(ctx);
    if (!s) {
        return answer_without_session(SMFIP_NR_MAIL);
    }
    bool is_authenticated =
        is_set(symbol(ctx, "{auth_authen}")) || is_set(symbol(ctx, "{auth_type}"));
    session_begin_message(s, argv ? argv[0] : NULL, is_authenticated);
    note_queue_id(ctx, &s->message);
    return leave(s, reply_continue(s, SMFIP_NR_MAIL));
}

static void note_rcpt(struct message *m, struct slice rcpt)
{
    if (m->nrcpt < SESSION_RCPTS && m->arena && m->config->log_addresses) {
        m->rcpt[m->nrcpt] = arena_copy(m->arena, slice_head(rcpt, SESSION_RCPT_MAX));
    }
    m->nrcpt++;
}

static sfsistat on_rcpt(SMFICTX *ctx, char **argv)
{
    struct session *s = take_session(ctx);
    if (!s) {
        return answer_without_session(SMFIP_NR_RCPT);
    }
    if (s->has_message) {
        note_rcpt(&s->message, slice_str(argv ? argv[0] : NULL));
    }
    if (s->has_message && s->message.extract) {
        extract_rcpt_to(s->message.extract, slice_str(argv ? argv[0] : NULL));
    }
    return leave(s, reply_continue(s, SMFIP_NR_RCPT));
}

static sfsistat on_data(SMFICTX *ctx)
{
    struct session *s = take_session(ctx);
    if (!s) {
        return answer_without_session(SMFIP_NR_DATA);
    }
    if (s->has_message) {
        note_queue_id(ctx, &s->message);
    }
    return leave(s, reply_continue(s, SMFIP_NR_DATA));
}

static sfsistat on_header_field(SMFICTX *ctx, char *name, char *value)
{
    struct session *s = take_session(ctx);
    if (!s) {
        return answer_without_session(SMFIP_NR_HDR);
    }
    if (s->has_message) {
        message_note_header(&s->message, slice_str(name));
    }
    if (s->has_message && s->message.extract && !s->message.has_ended_headers) {
        extract_header(s->message.extract, slice_str(name), slice_str(value));
    }
    return leave(s, reply_continue(s, SMFIP_NR_HDR));
}

static void end_headers(struct message *m)
{
    if (m->extract && !m->has_ended_headers) {
        m->has_ended_headers = true;
        extract_end_of_headers(m->extract);
    }
}

static sfsistat on_eoh(SMFICTX *ctx)
{
    struct session *s = take_session(ctx);
    if (!s) {
        return answer_without_session(SMFIP_NR_EOH);
    }
    if (s->has_message) {
        end_headers(&s->message);
    }
    return leave(s, reply_continue(s, SMFIP_NR_EOH));
}

static sfsistat on_body_bytes(SMFICTX *ctx, unsigned char *bytes, size_t n)
{
    struct session *s = take_session(ctx);
    if (!s) {
        return answer_without_session(SMFIP_NR_BODY);
    }
    bool wants_more = false;
    struct message *m = &s->message;
    if (s->has_message) {
        m->bytes += n;
    }
    if (s->has_message && m->extract) {
        end_headers(m);
        extract_body(m->extract, slice_of((const char *)bytes, n));
        wants_more = true; /* text may follow whatever came so far */
    }
    return leave(s, reply_body(s, wants_more));
}

/* ---- verdict ---- */

static uint64_t deadline_after(uint64_t begin_us, uint64_t deadline_us)
{
    uint64_t quarter = deadline_us / 4;
    uint64_t margin = quarter < DEADLINE_MARGIN_US ? quarter : DEADLINE_MARGIN_US;
    return begin_us + deadline_us - margin;
}

/* How often what is in the message was seen, this time included. */
static void add_to_counts(struct message *m, const struct featureset *features,
                          struct message_counts *ret)
{
    uint64_t begin_us = clock_mono_us();
    const struct keyring *keys;
    const struct count_port *port = service_counts(&keys);
    struct message_facts facts = {.ndeliveries = m->nrcpt};
    facts.nrcpt = extract_recipients(m->extract, &facts.rcpt);
    count_message(port, keys, m->config, features, &facts, false, m->arena, ret);
    m->count_us = clock_mono_us() - begin_us;
}

/* The look-up and the verdict, in one snapshot of the lists. */
static void judge_message(const struct message *m, struct featureset *features,
                          const struct verdict_context *context, uint64_t begin_us,
                          struct verdict *ret)
{
    struct list_hits hits;
    const struct listset *lists = list_manager_acquire(service_lists());
    verdict_evaluate(m->config, lists, features, context,
                     deadline_after(begin_us, m->config->deadline_us), m->arena, ret,
                     &hits);
    message_log_add_hits(&hits);
    history_record_evidence(m, features, lists, &hits, context->counts, ret);
    list_manager_release(service_lists(), &lists);
}

/* NULL, or the error in gillnet that prevents a verdict. */
static const char *evaluate(struct session *s, uint64_t begin_us, struct verdict *ret)
{
    struct message *m = &s->message;
    if (m->trouble) {
        return m->trouble;
    }
    end_headers(m);
    m->parse_us = extract_time_us(m->extract);
    struct featureset *features = extract_finish(m->extract);
    m->parse_us += clock_mono_us() - begin_us;
    if (!features) {
        return "memory";
    }
    struct message_counts counts;
    add_to_counts(m, features, &counts);
    struct verdict_context context = {
        .is_authenticated = m->is_authenticated,
        .client_addr = s->has_addr ? s->addr : NULL,
        .auth = extract_auth(m->extract),
        .counts = &counts,
    };
    judge_message(m, features, &context, begin_us, ret);
    ham_record_message(features, ret);
    return reply_shortfall(m->config, ret);
}

static void finish_message(SMFICTX *ctx, struct session *s, struct outcome *ret)
{
    uint64_t begin_us = clock_mono_us();
    struct message *m = &s->message;
    struct verdict verdict;
    const char *trouble = NULL;
    if (m->skip == SKIP_NONE) {
        trouble = evaluate(s, begin_us, &verdict);
    }
    if (clock_mono_us() - begin_us >= PROGRESS_AFTER_US) {
        smfi_progress(ctx);
    }
    const char *reason = trouble;
    if (m->skip != SKIP_NONE) {
        reason = skip_reason_name(m->skip);
        reply_skipped(ctx, s, ret);
    } else if (trouble) {
        reply_trouble(ctx, s, trouble, ret);
    } else {
        reply_verdict(ctx, s, &verdict, ret);
    }
    message_log_write(s, reason ? NULL : &verdict, reason, ret,
                      clock_mono_us() - begin_us);
}

static sfsistat on_eom(SMFICTX *ctx)
{
    struct session *s = take_session(ctx);
    if (!s) {
        stats_add(STAT_on_error, 1);
        return reply_nothing();
    }
    if (!s->has_message) {
        return leave(s, reply_nothing());
    }
    if (s->is_probe) {
        session_end_message(s);
        probe_end();
        return leave(s, reply_probe());
    }
    struct outcome outcome;
    note_queue_id(ctx, &s->message);
    finish_message(ctx, s, &outcome);
    session_end_message(s);
    return leave(s, outcome.code);
}

static sfsistat on_abort(SMFICTX *ctx)
{
    struct session *s = smfi_getpriv(ctx);
    if (!s) {
        return reply_negotiated();
    }
    enter_session(s);
    if (s->has_message) {
        stats_add(STAT_messages_aborted, 1);
        session_end_message(s);
    }
    return leave(s, reply_negotiated());
}

static sfsistat on_close(SMFICTX *ctx)
{
    struct session *s = smfi_getpriv(ctx);
    if (!s) {
        return reply_negotiated();
    }
    enter_session(s);
    if (s->has_message) {
        stats_add(STAT_messages_aborted, 1);
    }
    smfi_setpriv(ctx, NULL);
    session_free(&s); /* instead of leave: s is gone */
    return reply_negotiated();
}

void callbacks_describe(struct smfiDesc *ret)
{
    static char name[] = "gillnetd";
    *ret = (struct smfiDesc){
        .xxfi_name = name,
        .xxfi_version = SMFI_VERSION,
        .xxfi_flags = SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_QUARANTINE,
        .xxfi_connect = on_connect,
        .xxfi_helo = on_helo,
        .xxfi_envfrom = on_mail,
        .xxfi_envrcpt = on_rcpt,
        .xxfi_header = on_header_field,
        .xxfi_eoh = on_eoh,
        .xxfi_body = on_body_bytes,
        .xxfi_eom = on_eom,
        .xxfi_abort = on_abort,
        .xxfi_close = on_close,
        .xxfi_data = on_data,
        .xxfi_negotiate = on_negotiate,
    };
}

bool callbacks_register(void)
{
    struct smfiDesc description;
    callbacks_describe(&description);
    return smfi_register(description) == MI_SUCCESS;
}
