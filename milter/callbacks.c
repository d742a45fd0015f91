#include "milter/callbacks.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/count/message.h"
#include "core/report/reports.h"
#include "core/telemetry/stats.h"
#include "core/verdict/user/user_verdict.h"

#include "milter/connection.h"
#include "milter/learn.h"
#include "milter/learn_self.h"
#include "milter/learn_url.h"
#include "milter/mail_report.h"
#include "milter/message_log.h"
#include "milter/outgoing.h"
#include "milter/probe.h"
#include "milter/reply.h"
#include "milter/report_request.h"
#include "milter/service.h"

enum {
    PROGRESS_AFTER_US = 1000 * 1000, /* a later final answer is announced */
    DEADLINE_MARGIN_US = 50 * 1000,  /* kept for the answer itself */
    US_PER_S = 1000 * 1000
};

static bool is_set(const char *text)
{
    return text && *text;
}

static void note_queue_id(SMFICTX *ctx, struct message *m)
{
    const char *id = connection_symbol(ctx, "i");
    if (is_set(id)) {
        snprintf(m->queue_id, sizeof(m->queue_id), "%s", id);
    }
}

static sfsistat on_mail(SMFICTX *ctx, char **argv)
{
    struct session *s = connection_take(ctx);
    if (!s) {
        return connection_unexamined(SMFIP_NR_MAIL);
    }
    const char *user = connection_symbol(ctx, "{auth_authen}");
    bool is_authenticated =
        is_set(user) || is_set(connection_symbol(ctx, "{auth_type}"));
    session_begin_message(s, argv ? argv[0] : NULL, is_authenticated, user);
    note_queue_id(ctx, &s->message);
    return connection_leave(s, reply_continue(s, SMFIP_NR_MAIL));
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
    struct session *s = connection_take(ctx);
    if (!s) {
        return connection_unexamined(SMFIP_NR_RCPT);
    }
    if (s->has_message) {
        note_rcpt(&s->message, slice_str(argv ? argv[0] : NULL));
    }
    if (s->has_message) {
        mail_capture_rcpt(&s->message.capture, s->message.config, s->message.arena,
                          slice_str(argv ? argv[0] : NULL));
    }
    if (s->has_message && s->message.extract) {
        extract_rcpt_to(s->message.extract, slice_str(argv ? argv[0] : NULL));
    }
    return connection_leave(s, reply_continue(s, SMFIP_NR_RCPT));
}

static sfsistat on_data(SMFICTX *ctx)
{
    struct session *s = connection_take(ctx);
    if (!s) {
        return connection_unexamined(SMFIP_NR_DATA);
    }
    if (s->has_message) {
        note_queue_id(ctx, &s->message);
    }
    return connection_leave(s, reply_continue(s, SMFIP_NR_DATA));
}

static sfsistat on_header_field(SMFICTX *ctx, char *name, char *value)
{
    struct session *s = connection_take(ctx);
    if (!s) {
        return connection_unexamined(SMFIP_NR_HDR);
    }
    if (s->has_message) {
        message_note_header(&s->message, slice_str(name));
        mail_capture_header(&s->message.capture, slice_str(name), slice_str(value));
    }
    if (s->has_message && s->message.extract && !s->message.has_ended_headers) {
        extract_header(s->message.extract, slice_str(name), slice_str(value));
    }
    return connection_leave(s, reply_continue(s, SMFIP_NR_HDR));
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
    struct session *s = connection_take(ctx);
    if (!s) {
        return connection_unexamined(SMFIP_NR_EOH);
    }
    if (s->has_message) {
        end_headers(&s->message);
        mail_capture_end_headers(&s->message.capture);
    }
    return connection_leave(s, reply_continue(s, SMFIP_NR_EOH));
}

static sfsistat on_body_bytes(SMFICTX *ctx, unsigned char *bytes, size_t n)
{
    struct session *s = connection_take(ctx);
    if (!s) {
        return connection_unexamined(SMFIP_NR_BODY);
    }
    bool wants_more = false;
    struct message *m = &s->message;
    if (s->has_message) {
        m->bytes += n;
        mail_capture_body(&m->capture, slice_of((const char *)bytes, n));
        wants_more = mail_capture_wants(&m->capture);
    }
    if (s->has_message && m->extract) {
        end_headers(m);
        extract_body(m->extract, slice_of((const char *)bytes, n));
        wants_more = true; /* text may follow whatever came so far */
    }
    return connection_leave(s, reply_body(s, wants_more));
}

/* ---- verdict ---- */

static uint64_t deadline_after(uint64_t begin_us, uint64_t deadline_us)
{
    uint64_t quarter = deadline_us / 4;
    uint64_t margin = quarter < DEADLINE_MARGIN_US ? quarter : DEADLINE_MARGIN_US;
    return begin_us + deadline_us - margin;
}

/* What is known of the sender, from the store as it is now. */
static void identify(const struct message *m, const struct featureset *features,
                     const struct message_counts *counts, struct identity_case *retcase,
                     struct identity *ret)
{
    *retcase = (struct identity_case){
        .features = features,
        .auth = extract_auth(m->extract),
        .conversation = extract_conversation(m->extract),
        .counts = counts,
        .contacts = service_contacts(),
        .has_empty_sender = message_is_bounce(m),
    };
    retcase->nrcpt = extract_recipients(m->extract, &retcase->rcpt);
    identity_make(retcase, ret);
}

/* How often what is in the message was seen, this time included. */
static void add_to_counts(struct message *m, const struct featureset *features,
                          bool is_reading, struct message_counts *ret)
{
    uint64_t begin_us = clock_mono_us();
    const struct keyring *keys;
    const struct count_port *port = service_counts(&keys);
    struct message_facts facts = {.ndeliveries = m->nrcpt};
    facts.nrcpt = extract_recipients(m->extract, &facts.rcpt);
    count_message(port, keys, m->config, features, &facts, is_reading, m->arena, ret);
    m->count_us = clock_mono_us() - begin_us;
}

/* The look-up and the verdict, in one snapshot of the lists. */
static void judge_message(struct message *m, struct featureset *features,
                          const struct verdict_context *context, uint64_t begin_us,
                          struct verdict *ret)
{
    struct list_hits hits;
    const struct listset *lists = list_manager_acquire(service_lists());
    verdict_evaluate(m->config, lists, features, context,
                     deadline_after(begin_us, m->config->deadline_us), m->arena, ret,
                     &hits);
    message_log_add_hits(&hits);
    if (!context->is_outgoing) {
        learn_url_note(m->config, ret);
    }
    emergency_note(service_emergency(), m->config, features, lists, &hits,
                   clock_wall_us() / US_PER_S);
    history_record_evidence(m, features, lists, &hits, context->counts, ret);
    report_listed_note(m->config, features, lists, &hits, ret);
    const struct journal_case c = {m->config, features, lists, &hits, context, ret};
    journal_record_evidence(m, &c);
    list_manager_release(service_lists(), &lists);
}

/* The verdict by the settings of the recipients. */
static void apply_users(const struct message *m, const struct featureset *features,
                        const struct verdict_context *context, struct verdict *ret)
{
    struct user_case c = {.config = m->config,
                          .users = service_users(),
                          .features = features,
                          .context = context,
                          .nall = m->nrcpt,
                          .arena = m->arena};

    c.nrcpt = extract_recipients(m->extract, &c.rcpt);
    users_judge(&c, ret);
}

/* Adds the message to its campaign, with the action that it gets. */
static void add_to_campaign(const struct message *m, const struct featureset *features,
                            const struct message_counts *counts,
                            const struct verdict *v)
{
    const struct campaign_message c = {
        .config = m->config,
        .features = features,
        .counts = counts,
        .action = v->is_embargoed ? ACTION_DEFER : v->action,
        .score = v->score,
        .now_s = clock_wall_us() / US_PER_S,
    };
    (void)campaigns_add(service_campaigns(), &c);
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
    struct model_answer answer;
    const struct model_answer *model =
        learn_judge(m->config, m->reader, m->extract, features, &m->vector, &answer);
    struct message_counts counts;
    struct identity_case sender;
    struct identity identity;
    struct embargo_recall recall;
    struct embargo_case embargo = {.config = m->config,
                                   .features = features,
                                   .ndeliveries = m->nrcpt,
                                   .now_s = clock_wall_us() / US_PER_S};
    embargo.nrcpt = extract_recipients(m->extract, &embargo.rcpt);
    embargo_recall(service_embargo(), &embargo, &recall);
    add_to_counts(m, features, embargo_is_retry(&recall), &counts);
    const struct keyring *vote_keys;
    struct votes *votes = reports_votes(service_reports(&vote_keys));
    struct verdict_context context = {
        .is_authenticated = m->is_authenticated,
        .client_addr = s->has_addr ? s->addr : NULL,
        .auth = extract_auth(m->extract),
        .counts = &counts,
        .identity = &identity,
        .votes = votes,
        .vote_keys = vote_keys,
        .is_emergency = emergency_is_on(service_emergency()),
        .trusts_filters = emergency_trusts_filters(service_emergency(), m->config),
        .evidence = emergency_add_symbols,
        .evidence_context = service_emergency(),
        .model = model,
        .text = m->text,
        .bytes = extract_message_bytes(m->extract),
    };
    identify(m, features, &counts, &sender, &identity);
    judge_message(m, features, &context, begin_us, ret);
    ham_record_message(features, ret);
    unsigned judgements = verdict_judgements(m->config, ret, &context);
    apply_users(m, features, &context, ret);
    embargo.context = &context;
    embargo_judge(service_embargo(), &embargo, &recall, m->arena, ret);
    if (!embargo_is_retry(&recall)) {
        add_to_campaign(m, features, &counts, ret);
    }
    if (!ret->is_embargoed) { /* it is judged when it comes back */
        learn_self_received(m, &context, features, judgements, ret);
        outgoing_note_received(&sender, ret->action == ACTION_ACCEPT);
        judged_add(m->config, &counts, judgements);
    }
    return reply_shortfall(m->config, ret);
}

static void finish_message(SMFICTX *ctx, struct session *s, struct outcome *ret)
{
    uint64_t begin_us = clock_mono_us();
    struct message *m = &s->message;
    struct verdict verdict;
    const char *trouble = NULL;
    enum outgoing_answer answer = OUTGOING_PASS;

    m->case_id = case_id_next(clock_wall_us() / US_PER_S);
    case_id_print(m->case_id, m->case_text);
    if (m->is_outgoing) {
        end_headers(m);
        answer = outgoing_learn(m);
    } else if (m->skip == SKIP_NONE) {
        trouble = evaluate(s, begin_us, &verdict);
    }
    if (clock_mono_us() - begin_us >= PROGRESS_AFTER_US) {
        smfi_progress(ctx);
    }
    const char *reason = trouble;
    if (m->skip != SKIP_NONE) {
        reason = skip_reason_name(m->skip);
        reply_outgoing(ctx, s, answer, ret);
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
    struct session *s = connection_take(ctx);
    if (!s) {
        stats_add(STAT_on_error, 1);
        return reply_nothing();
    }
    if (!s->has_message) {
        return connection_leave(s, reply_nothing());
    }
    if (s->is_probe) {
        session_end_message(s);
        probe_end();
        return connection_leave(s, reply_probe());
    }
    struct outcome outcome;
    note_queue_id(ctx, &s->message);
    finish_message(ctx, s, &outcome);
    mail_report_end(s, &outcome);
    session_end_message(s);
    return connection_leave(s, outcome.code);
}

static sfsistat on_abort(SMFICTX *ctx)
{
    struct session *s = smfi_getpriv(ctx);
    if (!s) {
        return reply_negotiated();
    }
    connection_enter(s);
    if (s->has_message) {
        stats_add(STAT_messages_aborted, 1);
        session_end_message(s);
    }
    return connection_leave(s, reply_negotiated());
}

void callbacks_describe(struct smfiDesc *ret)
{
    static char name[] = "gillnetd";
    *ret = (struct smfiDesc){
        .xxfi_name = name,
        .xxfi_version = SMFI_VERSION,
        .xxfi_flags = SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_QUARANTINE,
        .xxfi_connect = connection_on_connect,
        .xxfi_helo = connection_on_helo,
        .xxfi_envfrom = on_mail,
        .xxfi_envrcpt = on_rcpt,
        .xxfi_header = on_header_field,
        .xxfi_eoh = on_eoh,
        .xxfi_body = on_body_bytes,
        .xxfi_eom = on_eom,
        .xxfi_abort = on_abort,
        .xxfi_close = connection_on_close,
        .xxfi_data = on_data,
        .xxfi_negotiate = connection_on_negotiate,
    };
}

bool callbacks_register(void)
{
    struct smfiDesc description;
    callbacks_describe(&description);
    return smfi_register(description) == MI_SUCCESS;
}
