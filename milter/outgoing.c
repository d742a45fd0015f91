#include "milter/outgoing.h"

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/count/message.h"
#include "core/message/url/host.h"
#include "core/telemetry/stats.h"
#include "core/verdict/account/account.h"
#include "core/verdict/identity/proof.h"

#include "milter/learn_self.h"
#include "milter/message_log.h"
#include "milter/service.h"

#define FAULT_CONTACTS "correspondents"
#define FAULT_ACCOUNT  "account"

static struct {
    struct contacts *contacts;
    struct accounts *accounts;
    unsigned ticks; /* of the thread's */
} stores;

enum { SAVE_TICKS = 12 }; /* a minute */

bool message_is_bounce(const struct message *m)
{
    return m->mail_from.n == 0 || slice_eq(m->mail_from, SLICE_LIT("<>"));
}

/* ---- one message ---- */

/* Recipients outside, and those of them to whom nobody of the sender's domain has written. */
struct recipients {
    struct slice from; /* ours, in normal form; empty: none */
    size_t n;
    size_t nstrangers;
    size_t nfirsts;
    struct slice outside[EXTRACT_RECIPIENTS];
    struct slice stranger[EXTRACT_RECIPIENTS];
};
_Static_assert((int)ACCOUNT_RECIPIENTS >= (int)EXTRACT_RECIPIENTS, "of one message");

static bool is_own_domain(const struct config *config, struct slice from,
                          struct slice domain)
{
    if (slice_eq_nocase(proof_domain_of(from), domain)) {
        return true;
    }
    for (size_t i = 0; i < config->protected_domains.n; i++) {
        if (slice_is_at_or_below(domain, slice_str(config->protected_domains.v[i]))) {
            return true;
        }
    }
    return false;
}

static bool knows_domain(struct contacts *contacts, struct slice domain)
{
    struct slice registrable = host_registrable(domain);
    return contacts_has_domain(contacts, registrable.n > 0 ? registrable : domain);
}

static void sort_recipients(const struct message *m, const struct featureset *features,
                            struct contacts *contacts, struct recipients *ret)
{
    const struct feature *from = featureset_first(features, FEATURE_envelope_from);
    const struct slice *rcpt = NULL;
    size_t n = extract_recipients(m->extract, &rcpt);

    *ret = (struct recipients){.from = from != NULL ? from->text : SLICE_NONE};
    for (size_t i = 0; i < n; i++) {
        const struct slice domain = proof_domain_of(rcpt[i]);
        if (is_own_domain(m->config, ret->from, domain)) {
            continue;
        }
        ret->outside[ret->n++] = rcpt[i];
        if (!contacts_wrote(contacts, ret->from, rcpt[i])) {
            ret->stranger[ret->nstrangers++] = rcpt[i];
            ret->nfirsts += !knows_domain(contacts, domain);
        }
    }
}

static void say_account(const struct message *m, const struct account_numbers *n)
{
    static const char *const actions[] = {"warn", "hold", "defer"};

    char user[LOG_STR_MAX];

    (void)log_str(user, m->user);
    stats_add(STAT_account_alerts, 1);
    log_warn("event=account user=%s strangers=%" PRIu64 " most=%u recipients=%" PRIu64
             " messages=%" PRIu64 " first=%" PRIu64 " bounces=%" PRIu64
             " complaints=%" PRIu64 " action=%s: account %s sends to %" PRIu64
             " strangers; see whether its password was stolen",
             user, n->strangers, m->config->account.recipients, n->recipients,
             n->messages, n->firsts, n->bounces, n->complaints,
             actions[m->config->account.action], user, n->strangers);
}

static enum outgoing_answer judge_account(const struct message *m,
                                          const struct recipients *r)
{
    const struct config_account *config = &m->config->account;
    struct account_numbers n;
    const struct account_mail mail = {.user = m->user,
                                      .from = r->from,
                                      .stranger = r->stranger,
                                      .nstrangers = r->nstrangers,
                                      .nrecipients = m->nrcpt,
                                      .nfirsts = r->nfirsts};

    if (m->user.n == 0 || service_accounts() == NULL) {
        return OUTGOING_PASS;
    }
    if (accounts_add(service_accounts(), &mail, config->recipients, &n)) {
        say_account(m, &n);
    }
    if (n.strangers <= config->recipients || config->action == ACCOUNT_WARN) {
        return OUTGOING_PASS;
    }
    return config->action == ACCOUNT_HOLD ? OUTGOING_HOLD : OUTGOING_DEFER;
}

/* The text in <>, or all of it. */
static struct slice bare_id(struct slice id)
{
    id = slice_from(id, slice_find(id, '<') < id.n ? slice_find(id, '<') + 1 : 0);
    return slice_trim(slice_head(id, slice_find(id, '>')));
}

static void learn_sent(struct message *m, const struct featureset *features,
                       const struct recipients *r)
{
    const struct extract_conversation *v = extract_conversation(m->extract);
    const struct contacts_sent sent = {.from = r->from,
                                       .rcpt = r->outside,
                                       .nrcpt = r->n,
                                       .message_id =
                                           bare_id(extract_message_id(m->extract))};

    if (r->from.n > 0 && r->n > 0 && !v->is_automatic && !v->is_list) {
        (void)contacts_learn_sent(service_contacts(), &sent);
        learn_self_sent(m, features);
    }
}

static void count_apart(struct message *m, const struct featureset *features)
{
    static const struct list_hits none = {.n = 0};
    const struct keyring *keys;
    const struct count_port *port = service_counts(&keys);
    struct message_facts facts = {.ndeliveries = m->nrcpt, .prefix = OUTGOING_PREFIX};
    struct message_counts counts;

    facts.nrcpt = extract_recipients(m->extract, &facts.rcpt);
    count_message(port, keys, m->config, features, &facts, false, m->arena, &counts);
    const struct verdict_context context = {.counts = &counts};
    const struct journal_case c = {m->config, features, NULL, &none, &context, NULL};
    journal_record_evidence(m, &c);
}

enum outgoing_answer outgoing_learn(struct message *m)
{
    const struct featureset *features =
        m->extract != NULL ? extract_finish(m->extract) : NULL;
    struct recipients r;

    stats_add(STAT_outgoing_messages, 1);
    stats_add(STAT_outgoing_recipients, m->nrcpt);
    if (features == NULL || service_contacts() == NULL) {
        return OUTGOING_PASS;
    }
    sort_recipients(m, features, service_contacts(), &r);
    stats_add(STAT_outgoing_strangers, r.nstrangers);
    enum outgoing_answer answer = judge_account(m, &r);
    if (answer == OUTGOING_PASS) {
        learn_sent(m, features, &r);
    }
    count_apart(m, features);
    return answer;
}

void outgoing_note_received(const struct identity_case *c, bool is_clean)
{
    if (c->has_empty_sender && service_accounts() != NULL) {
        for (size_t i = 0; i < c->nrcpt; i++) {
            accounts_add_bounce(service_accounts(), c->rcpt[i]);
        }
    }
    if (is_clean) {
        identity_learn(c);
    }
}

/* ---- the stores ---- */

static void on_fault(const char *text)
{
    if (text != NULL) {
        log_error(
            "event=correspondents error: %s; what is learnt stays in memory and in "
            "its log until this is mended",
            text);
    }
    stats_fault(FAULT_CONTACTS, text);
}

static void show_accounts(void)
{
    char user[ACCOUNT_USER_MAX + 1] = "";
    char text[ACCOUNT_USER_MAX + 256];
    struct account_numbers n;
    uint64_t generation;
    struct config *config = service_config(&generation);
    size_t above =
        accounts_above(stores.accounts, config->account.recipients, user, &n);

    config_release(&config);
    stats_set(STAT_accounts_above, above);
    (void)snprintf(text, sizeof(text),
                   "account %s sends to %" PRIu64 " strangers today, in %" PRIu64
                   " messages (%zu such accounts); see whether its password was stolen",
                   user, n.strangers, n.messages, above);
    stats_fault(FAULT_ACCOUNT, above > 0 ? text : NULL);
}

static void show_numbers(void)
{
    struct contacts_numbers n;
    struct errinfo why;

    contacts_numbers(stores.contacts, &n);
    stats_set(STAT_contacts, n.folded + n.recent);
    stats_set(STAT_contacts_bytes, n.bytes);
    stats_set(STAT_contacts_dropped, n.dropped);
    if (stores.accounts == NULL) {
        return;
    }
    show_accounts();
    if (++stores.ticks % SAVE_TICKS == 0 &&
        accounts_save(stores.accounts, &why) != ERR_OK) {
        log_errinfo("account", &why);
    }
}

static void open_failed(const struct errinfo *why)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];

    log_errinfo(FAULT_CONTACTS, why);
    stats_fault(FAULT_CONTACTS, errinfo_format(why, text, sizeof(text)));
}

static void open_accounts(const struct config *config)
{
    char path[FILE_PATH_MAX];
    struct errinfo why = {.code = ERR_OK};
    enum err e =
        path_make(path, &why, "%s/" CONTACTS_DIR "/accounts", config->state_dir);

    THEN(e, accounts_open(path, &stores.accounts, &why));
    if (e != ERR_OK) {
        open_failed(&why);
    }
}

void outgoing_open(const struct config *config, const struct keyring *keys)
{
    static const struct contacts_hooks hooks = {.on_tick = show_numbers,
                                                .on_fault = on_fault};
    struct errinfo why = {.code = ERR_OK};
    enum err e = contacts_open(config->state_dir, keys, &stores.contacts, &why);

    if (e == ERR_OK) {
        open_accounts(config);
        e = contacts_start(stores.contacts, &hooks, &why);
    }
    if (e != ERR_OK) {
        open_failed(&why);
    }
    service_set_contacts(stores.contacts, stores.accounts);
}

void outgoing_close(void)
{
    struct errinfo why;
    struct contacts *contacts =
        stores.contacts; /* its thread looks until it has ended */

    service_set_contacts(NULL, NULL);
    contacts_close(&contacts);
    stores.contacts = NULL;
    if (stores.accounts != NULL && accounts_save(stores.accounts, &why) != ERR_OK) {
        log_errinfo("account", &why);
    }
    accounts_close(&stores.accounts);
}
