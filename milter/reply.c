#include "milter/reply.h"

#include "core/telemetry/stats.h"

#include "milter/replytext.h"

/* libmilter's parameters are not const, though it changes nothing. */
static char header_status[] = "X-Gillnet-Status";
static char header_score[] = "X-Gillnet-Score";
static char header_symbols[] = "X-Gillnet-Symbols";

sfsistat reply_continue(const struct session *s, unsigned long noreply_bit)
{
    return s->options.noreply & noreply_bit ? SMFIS_NOREPLY : SMFIS_CONTINUE;
}

sfsistat reply_connect(const struct session *s)
{
    sfsistat r = reply_continue(s, SMFIP_NR_CONN);
    return r == SMFIS_CONTINUE && s->is_over_limit ? SMFIS_ACCEPT : r;
}

sfsistat reply_body(const struct session *s, bool wants_more)
{
    sfsistat r = reply_continue(s, SMFIP_NR_BODY);
    return r == SMFIS_CONTINUE && s->options.may_skip && !wants_more ? SMFIS_SKIP : r;
}

sfsistat reply_negotiated(void)
{
    return SMFIS_CONTINUE;
}

sfsistat reply_nothing(void)
{
    return SMFIS_CONTINUE;
}

sfsistat reply_probe(void)
{
    return SMFIS_DISCARD;
}

/* From the highest index down: Postfix counts again after each removal. */
static size_t strip_name(SMFICTX *ctx, const struct forged *f, bool *retleft)
{
    char name[SESSION_FORGED_NAME + 1];
    size_t n = 0;
    memcpy(name, f->name.p, f->name.n);
    name[f->name.n] = '\0';
    for (unsigned i = f->count; i > 0; i--) {
        if (smfi_chgheader(ctx, name, (int)i, NULL) == MI_SUCCESS) {
            n++;
        } else {
            *retleft = true;
        }
    }
    return n;
}

static void strip_forged(SMFICTX *ctx, const struct session *s, struct outcome *ret)
{
    const struct message *m = &s->message;
    bool may_change = (s->options.actions & SMFIF_CHGHDRS) != 0;
    ret->left_forged = m->has_more_forged;
    for (size_t i = 0; i < 3 + m->nothers; i++) {
        const struct forged *f = i < 3 ? &m->own[i] : &m->others[i - 3];
        if (f->count == 0) {
            continue;
        }
        if (may_change) {
            ret->nstripped += strip_name(ctx, f, &ret->left_forged);
        } else {
            ret->left_forged = true;
        }
    }
    stats_add(STAT_headers_stripped, ret->nstripped);
}

/* Below the MTA's own Received field, above everything the message had. */
static bool insert_header(SMFICTX *ctx, char *name, char *value)
{
    return smfi_insheader(ctx, 1, name, value) == MI_SUCCESS;
}

static bool insert_verdict(SMFICTX *ctx, const struct session *s,
                           const struct verdict *v, enum action done)
{
    double required = verdict_threshold(s->message.config, v);
    char value[REPLYTEXT_HEADER_SIZE];
    /* each goes above the one before */
    replytext_symbols(v, value);
    bool ok = insert_header(ctx, header_symbols, value);
    replytext_score(v, value);
    ok = insert_header(ctx, header_score, value) && ok;
    replytext_status(v, done, required, s->message.case_text, value);
    return insert_header(ctx, header_status, value) && ok;
}

static bool quarantine(SMFICTX *ctx, const struct session *s, const struct verdict *v)
{
    char symbols[256];
    char reason[300];
    if (!(s->options.actions & SMFIF_QUARANTINE)) {
        return false;
    }
    replytext_symbol_names(v, symbols, sizeof(symbols));
    snprintf(reason, sizeof(reason), "gillnet: %s", symbols);
    return smfi_quarantine(ctx, reason) == MI_SUCCESS;
}

/* A text that libmilter would not take leaves the MTA's own. */
static void set_reply(SMFICTX *ctx, bool is_reject, char *text)
{
    char reject_code[] = "550";
    char defer_code[] = "451";
    char reject_status[] = "5.7.1";
    char defer_status[] = "4.7.1";
    smfi_setreply(ctx, is_reject ? reject_code : defer_code,
                  is_reject ? reject_status : defer_status, text);
}

/* A message without a verdict: no template, but a case id. */
static void defer_with_case(SMFICTX *ctx, const struct session *s, const char *why)
{
    char text[REPLYTEXT_REPLY_MAX];

    (void)snprintf(text, sizeof(text), "%s, case %s", why, s->message.case_text);
    set_reply(ctx, false, text);
}

/* Accepts with what the action calls for; falls back to milder ones. */
static void deliver(SMFICTX *ctx, const struct session *s, const struct verdict *v,
                    struct outcome *ret)
{
    ret->code = SMFIS_CONTINUE;
    if (ret->done == ACTION_QUARANTINE && !quarantine(ctx, s, v)) {
        ret->done = ACTION_HEADER;
    }
    if (ret->done == ACTION_ACCEPT && !s->message.config->add_headers) {
        return;
    }
    bool may_add = (s->options.actions & SMFIF_ADDHDRS) != 0;
    if ((!may_add || !insert_verdict(ctx, s, v, ret->done)) &&
        ret->done == ACTION_HEADER) {
        ret->done = ACTION_ACCEPT;
    }
}

static void defer(SMFICTX *ctx, const struct session *s, const struct verdict *v,
                  const char *template, struct outcome *ret)
{
    const struct replytext_names names = {s->message.queue_id, s->message.case_text};
    char text[REPLYTEXT_REPLY_SIZE];

    replytext_reply(template, &names, v, text);
    set_reply(ctx, false, text);
    *ret = (struct outcome){
        .done = ACTION_DEFER, .wanted = ACTION_DEFER, .code = SMFIS_TEMPFAIL};
}

void reply_verdict(SMFICTX *ctx, struct session *s, const struct verdict *v,
                   struct outcome *ret)
{
    const struct config *c = s->message.config;
    const struct replytext_names names = {s->message.queue_id, s->message.case_text};
    char text[REPLYTEXT_REPLY_SIZE];
    *ret = (struct outcome){.done = v->action, .wanted = v->action};
    if (v->is_embargoed) {
        defer(ctx, s, v, c->embargo.text, ret);
        return;
    }
    switch (v->action) {
    case ACTION_DEFER:
        defer(ctx, s, v, c->defer_text, ret);
        return;
    case ACTION_REJECT:
        replytext_reply(c->reject_text, &names, v, text);
        set_reply(ctx, true, text);
        ret->code = SMFIS_REJECT;
        return;
    case ACTION_DISCARD:
        ret->code = SMFIS_DISCARD;
        return;
    case ACTION_ACCEPT:
    case ACTION_HEADER:
    case ACTION_QUARANTINE:
    case ACTION_COUNT:
        break;
    }
    strip_forged(ctx, s, ret);
    deliver(ctx, s, v, ret);
}

static bool hold(SMFICTX *ctx, const struct session *s)
{
    char reason[] = "gillnet: the login sends to too many strangers";
    return (s->options.actions & SMFIF_QUARANTINE) &&
           smfi_quarantine(ctx, reason) == MI_SUCCESS;
}

void reply_outgoing(SMFICTX *ctx, struct session *s, enum outgoing_answer answer,
                    struct outcome *ret)
{
    *ret = (struct outcome){.done = ACTION_ACCEPT, .code = SMFIS_CONTINUE};
    if (answer == OUTGOING_DEFER) {
        defer_with_case(ctx, s,
                        "too many new recipients today, ask your administrator");
        ret->done = ret->wanted = ACTION_DEFER;
        ret->code = SMFIS_TEMPFAIL;
        return;
    }
    if (answer == OUTGOING_HOLD) {
        ret->wanted = ACTION_QUARANTINE;
        ret->done = hold(ctx, s) ? ACTION_QUARANTINE : ACTION_ACCEPT;
    }
    strip_forged(ctx, s, ret);
}

void reply_trouble(SMFICTX *ctx, struct session *s, const char *reason,
                   struct outcome *ret)
{
    enum action on_error = s->message.config->on_error;
    *ret =
        (struct outcome){.done = on_error, .wanted = on_error, .code = SMFIS_CONTINUE};
    if (on_error == ACTION_DEFER) {
        defer_with_case(ctx, s, "message could not be examined, try again later");
        ret->code = SMFIS_TEMPFAIL;
        return;
    }
    strip_forged(ctx, s, ret);
    if (s->options.actions & SMFIF_ADDHDRS) {
        char value[REPLYTEXT_HEADER_SIZE];
        replytext_unchecked(reason, s->message.case_text, value);
        insert_header(ctx, header_status, value);
    }
}

const char *reply_shortfall(const struct config *config, const struct verdict *v)
{
    bool is_cut_short = (v->limits & LIMIT_FLAG(deadline)) != 0;
    return is_cut_short && v->action == ACTION_ACCEPT && !v->allow &&
                   config->on_error == ACTION_DEFER
               ? "deadline"
               : NULL;
}
