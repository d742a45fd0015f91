#include "milter/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/telemetry/stats.h"

#include "milter/negotiate.h"
#include "milter/probe.h"
#include "milter/reply.h"
#include "milter/service.h"

enum { REFUSAL_LOG_US = 60 * 1000 * 1000 };

/* A callback that comes while the daemon ends must touch nothing: libmilter may be freeing its
 * context. It waits for the end of the process. */
void connection_enter(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    bool is_closed = s->is_closed;
    s->is_inside = !is_closed;
    pthread_mutex_unlock(&s->lock);
    if (is_closed) {
        service_wait_for_end();
    }
}

sfsistat connection_leave(struct session *s, sfsistat answer)
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
struct session *connection_take(SMFICTX *ctx)
{
    struct session *s = smfi_getpriv(ctx);
    if (!s) {
        struct session_options options;
        service_get_options(&options);
        s = new_session(ctx, &options);
    }
    if (s) {
        connection_enter(s);
    }
    return s;
}

/* Without memory for a session its mail passes unexamined, with the answers agreed on. */
sfsistat connection_unexamined(unsigned long noreply_bit)
{
    struct session none = {.has_message = false};
    service_get_options(&none.options);
    return reply_continue(&none, noreply_bit);
}

const char *connection_symbol(SMFICTX *ctx, const char *name)
{
    char copy[32];
    snprintf(copy, sizeof(copy), "%s", name);
    return smfi_getsymval(ctx, copy);
}

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
sfsistat connection_on_negotiate(SMFICTX *ctx, unsigned long f0, unsigned long f1,
                                 unsigned long f2, unsigned long f3, unsigned long *pf0,
                                 unsigned long *pf1, unsigned long *pf2,
                                 unsigned long *pf3)
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

sfsistat connection_on_connect(SMFICTX *ctx, char *name, _SOCK_ADDR *addr)
{
    struct session *s = connection_take(ctx);
    if (!s) {
        return connection_unexamined(SMFIP_NR_CONN);
    }
    s->has_addr = read_sockaddr(addr, s->addr) ||
                  read_address(connection_symbol(ctx, "{client_addr}"), s->addr);
    const char *resolve = connection_symbol(ctx, "{client_resolve}");
    bool is_known = name && *name && *name != '[' && strcasecmp(name, "unknown") != 0 &&
                    (!resolve || strcmp(resolve, "OK") == 0);
    session_set_client_name(s, is_known ? name : NULL);
    return connection_leave(s, reply_connect(s));
}

sfsistat connection_on_helo(SMFICTX *ctx, char *helo)
{
    struct session *s = connection_take(ctx);
    if (!s) {
        return connection_unexamined(SMFIP_NR_HELO);
    }
    session_set_helo(s, helo);
    s->is_probe = probe_greets(helo);
    return connection_leave(s, reply_continue(s, SMFIP_NR_HELO));
}

sfsistat connection_on_close(SMFICTX *ctx)
{
    struct session *s = smfi_getpriv(ctx);
    if (!s) {
        return reply_negotiated();
    }
    connection_enter(s);
    if (s->has_message) {
        stats_add(STAT_messages_aborted, 1);
    }
    smfi_setpriv(ctx, NULL);
    session_free(&s); /* instead of leave: s is gone */
    return reply_negotiated();
}
