#include "milter/mail_report.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/resource.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/message/url/address.h"
#include "core/report/feedback.h"
#include "core/telemetry/stats.h"
#include "core/verdict/account/account.h"
#include "core/verdict/identity/contacts.h"
#include "core/verdict/identity/proof.h"

#include "milter/report_request.h"
#include "milter/service.h"

#define FAULT_KEY "report-mail"

enum {
    NICE = 10,
    REPORTER_MAX = REPORT_NAME_MAX + 1,
    FAULT_LASTS_US = 600 * 1000 * 1000 /* after the last drop */
};

enum mail_source {
    SOURCE_TRAP,
    SOURCE_USER,     /* a login or a trusted network */
    SOURCE_PROVIDER, /* a domain of feedback.senders */
    SOURCE_BOUNCE
};

/* A mail that waits. */
struct job {
    struct job *next;
    enum mail_source source;
    bool is_spam; /* by the address it came to */
    struct buf bytes;
    char reporter[REPORTER_MAX];
    char rcpt[ADDRESS_BYTES_MAX + 1]; /* of a bounce: whose message came back */
    char queue_id[SESSION_QUEUE_ID_MAX];
    char case_text[CASE_ID_SIZE];
};

static struct {
    pthread_mutex_t lock; /* guards all below but thread */
    pthread_cond_t work;
    struct job *first;
    struct job *last;
    size_t n;
    bool is_started;
    bool is_ending;
    uint64_t end_us;     /* when the stop no longer waits */
    uint64_t dropped_us; /* the last time; 0: no fault */
    pthread_t thread;
} mails = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

/* ---- one mail, in the thread ---- */

/* One message that a mail reports. gillnetd changes no lists: a report of ham takes back votes, and
 * what is listed stays listed. */
static void give_report(const struct job *job, bool is_spam, struct slice bytes)
{
    static const char *const ways[] = {
        [SOURCE_TRAP] = "trap", [SOURCE_USER] = "mail", [SOURCE_PROVIDER] = "feedback"};
    struct errinfo why = {.code = ERR_OK};
    struct scan_request line = {.say = is_spam ? SLICE_LIT("spam") : SLICE_LIT("ham"),
                                .way = slice_str(ways[job->source])};

    if (job->source == SOURCE_TRAP) {
        line.id[line.nids++] = slice_str(job->case_text);
    }
    json_t *answer = report_keep(&line, slice_str(job->reporter), bytes, &why);
    if (answer == NULL) {
        log_errinfo("report", &why);
        stats_add(STAT_report_mail_dropped, 1);
    }
    json_decref(answer);
}

static bool is_own_address(struct slice address)
{
    uint64_t generation;
    struct config *config = service_config(&generation);
    struct slice domain = proof_domain_of(address);
    bool is = false;

    for (size_t i = 0; i < config->protected_domains.n && !is; i++) {
        is = slice_is_at_or_below(domain, slice_str(config->protected_domains.v[i]));
    }
    config_release(&config);
    return is;
}

/* Mail of the login that uses this address was refused as spam, or called spam. */
static void add_complaint(const struct job *job, struct slice address, const char *why)
{
    char text[LOG_STR_MAX];

    if (service_accounts() == NULL || address.n == 0) {
        return;
    }
    stats_add(STAT_account_complaints, 1);
    accounts_add_complaint(service_accounts(), address);
    log_info("event=complaint address=%s reason=%s qid=%s", log_str(text, address), why,
             job->queue_id);
}

static bool went_out_here(const struct feedback *f)
{
    struct contacts *contacts = service_contacts();
    bool has_gone = false;

    for (size_t i = 0; contacts != NULL && i < f->nmessages && !has_gone; i++) {
        struct slice id = f->message[i].message_id;
        has_gone = id.n > 0 && f->original.rcpt.n > 0 &&
                   contacts_sent_id(contacts, id, f->original.rcpt);
    }
    return has_gone;
}

static void read_bounce(const struct job *job, const struct feedback *f)
{
    if (f->kind == FEEDBACK_BOUNCE && f->is_refused_as_spam && went_out_here(f)) {
        add_complaint(job, slice_str(job->rcpt), "bounce");
    }
}

/* A feedback loop tells us of our own mail; other abuse reports are about mail that came in. */
static void read_abuse(const struct job *job, const struct feedback *f)
{
    if (f->kind != FEEDBACK_ABUSE || f->opinion == FEEDBACK_SILENT) {
        return;
    }
    if (is_own_address(f->original.mail_from) || went_out_here(f)) {
        if (f->opinion == FEEDBACK_SPAM) {
            add_complaint(job, f->original.mail_from, "feedback");
        }
        return;
    }
    for (size_t i = 0; i < f->nmessages; i++) {
        if (f->message[i].has_body) {
            give_report(job, f->opinion == FEEDBACK_SPAM, f->message[i].bytes);
        }
    }
}

static void read_user(const struct job *job, const struct feedback *f)
{
    bool is_spam =
        f->opinion == FEEDBACK_SILENT ? job->is_spam : f->opinion == FEEDBACK_SPAM;
    size_t n = 0;

    for (size_t i = 0; f->kind != FEEDBACK_BOUNCE && i < f->nmessages; i++) {
        if (f->message[i].has_body) {
            n++;
            give_report(job, is_spam, f->message[i].bytes);
        }
    }
    if (n == 0) {
        stats_add(STAT_report_mail_refused, 1);
        log_warn(
            "event=report result=refused reason=empty qid=%s: the mail has no message "
            "attached; forward it as an attachment, or redirect it",
            job->queue_id);
    }
}

static void read_job(const struct job *job)
{
    struct slice bytes = buf_slice(&job->bytes);
    struct arena *arena = NULL;
    struct feedback f;

    if (job->source == SOURCE_TRAP) {
        give_report(job, true, bytes);
        return;
    }
    arena = arena_new(FEEDBACK_ARENA(bytes.n));
    if (arena == NULL) {
        return;
    }
    feedback_read(arena, bytes, &f);
    if (job->source == SOURCE_BOUNCE) {
        read_bounce(job, &f);
    } else if (job->source == SOURCE_PROVIDER) {
        read_abuse(job, &f);
    } else {
        read_user(job, &f);
    }
    arena_free(&arena);
}

/* ---- the queue ---- */

static void free_job(struct job *job)
{
    mail_capture_free(&job->bytes);
    free(job);
}

static void note_drop(void)
{
    stats_add(STAT_report_mail_dropped, 1);
    mails.dropped_us = clock_mono_us();
    stats_fault(FAULT_KEY,
                "reports that came by mail were dropped: more came than could be "
                "taken up, or one was larger than 8M");
}

static void end_fault(void)
{
    if (mails.dropped_us != 0 && clock_mono_us() - mails.dropped_us > FAULT_LASTS_US) {
        mails.dropped_us = 0;
        stats_fault(FAULT_KEY, NULL);
    }
}

/* Mails that may wait when one of this source comes. */
static size_t room_for(enum mail_source source)
{
    if (source == SOURCE_USER) {
        return MAIL_REPORT_QUEUE;
    }
    return source == SOURCE_BOUNCE ? MAIL_REPORT_BOUNCES : MAIL_REPORT_STRANGERS;
}

/* Takes job. */
static void add_job(struct job *job)
{
    pthread_mutex_lock(&mails.lock);
    bool has_room =
        mails.is_started && !mails.is_ending && mails.n < room_for(job->source);
    if (has_room) {
        if (mails.first == NULL) {
            mails.first = job;
        } else {
            mails.last->next = job;
        }
        mails.last = job;
        mails.n++;
        pthread_cond_signal(&mails.work);
    } else {
        note_drop();
    }
    pthread_mutex_unlock(&mails.lock);
    if (!has_room) {
        free_job(job);
    }
}

/* Under the lock. NULL: the queue is empty. */
static struct job *take_job(void)
{
    struct job *job = mails.first;

    if (job != NULL) {
        mails.first = job->next;
        mails.n--;
    }
    return job;
}

static void *take_up_mails(void *context)
{
    (void)context;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    pthread_mutex_lock(&mails.lock);
    for (;;) {
        while (!mails.is_ending && mails.first == NULL) {
            pthread_cond_wait(&mails.work, &mails.lock);
        }
        if (mails.first == NULL ||
            (mails.is_ending && clock_mono_us() > mails.end_us)) {
            break;
        }
        struct job *job = take_job();
        end_fault();
        pthread_mutex_unlock(&mails.lock);
        read_job(job);
        free_job(job);
        pthread_mutex_lock(&mails.lock);
    }
    pthread_mutex_unlock(&mails.lock);
    return NULL;
}

bool mail_report_start(void)
{
    pthread_mutex_lock(&mails.lock);
    mails.is_ending = false;
    mails.is_started = pthread_create(&mails.thread, NULL, take_up_mails, NULL) == 0;
    bool is_started = mails.is_started;
    pthread_mutex_unlock(&mails.lock);
    return is_started;
}

void mail_report_stop(void)
{
    size_t nleft = 0;
    struct job *job = NULL;

    pthread_mutex_lock(&mails.lock);
    bool was_started = mails.is_started;
    mails.is_ending = true;
    mails.end_us = clock_mono_us() + (uint64_t)MAIL_REPORT_STOP_MS * 1000;
    pthread_cond_broadcast(&mails.work);
    pthread_mutex_unlock(&mails.lock);
    if (was_started) {
        pthread_join(mails.thread, NULL);
    }
    pthread_mutex_lock(&mails.lock);
    mails.is_started = false;
    while ((job = take_job()) != NULL) {
        nleft++;
        free_job(job);
    }
    pthread_mutex_unlock(&mails.lock);
    if (nleft > 0) {
        log_warn("event=stop reports=%zu: mails that report were not taken up", nleft);
    }
}

/* ---- the end of a message ---- */

/* The sender wrote to the trap because somebody of its domain wrote to the sender, and the sender
 * is proved. */
static bool is_correspondent(const struct message *m, const struct featureset *features)
{
    const struct feature *from = featureset_first(features, FEATURE_from);

    return from != NULL && service_contacts() != NULL &&
           proof_covers(features, extract_auth(m->extract),
                        proof_domain_of(from->text)) &&
           contacts_wrote(service_contacts(), m->capture.trap, from->text);
}

/* The domain of From, if it is proved and in feedback.senders. */
static struct slice provider_of(const struct message *m,
                                const struct featureset *features)
{
    const struct config_strings *senders = &m->config->report_mail.senders;
    const struct feature *from = featureset_first(features, FEATURE_from);
    struct slice sender = from != NULL ? proof_domain_of(from->text) : SLICE_NONE;

    for (size_t i = 0; i < senders->n; i++) {
        struct slice allowed = slice_str(senders->v[i]);
        if (slice_is_at_or_below(sender, allowed) &&
            proof_covers(features, extract_auth(m->extract), sender)) {
            return allowed;
        }
    }
    return SLICE_NONE;
}

static void name_user(const struct session *s, char ret[REPORTER_MAX])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    char text[INET6_ADDRSTRLEN] = "unknown";
    const struct message *m = &s->message;
    bool is_v4 = memcmp(s->addr, mapped, sizeof(mapped)) == 0;

    if (m->user.n > 0) {
        (void)snprintf(ret, REPORTER_MAX, "user/%.*s", SLICE_ARGS(m->user));
        return;
    }
    if (s->has_addr) {
        (void)inet_ntop(is_v4 ? AF_INET : AF_INET6,
                        is_v4 ? s->addr + sizeof(mapped) : s->addr, text, sizeof(text));
    }
    (void)snprintf(ret, REPORTER_MAX, "client/%s", text);
}

/* A message of a stranger. False: it reports nothing. */
static bool fill_received(const struct message *m, struct job *job)
{
    const unsigned addresses = MAIL_CAPTURE_SPAM | MAIL_CAPTURE_HAM;
    const unsigned targets = m->capture.targets;
    const struct featureset *features = extract_finish(m->extract);
    const struct slice *rcpt = NULL;

    if (features == NULL) {
        return false;
    }
    if ((targets & MAIL_CAPTURE_TRAP) != 0) {
        job->source = SOURCE_TRAP;
        (void)snprintf(job->case_text, sizeof(job->case_text), "%s", m->case_text);
        (void)snprintf(job->reporter, sizeof(job->reporter), REPORT_TRAP);
        return !is_correspondent(m, features);
    }
    if ((targets & addresses) != 0) {
        struct slice domain = provider_of(m, features);
        job->source = SOURCE_PROVIDER;
        if (domain.n > 0) {
            (void)snprintf(job->reporter, sizeof(job->reporter), "feedback/%.*s",
                           SLICE_ARGS(domain));
        }
        return domain.n > 0;
    }
    job->source = SOURCE_BOUNCE;
    if (extract_recipients(m->extract, &rcpt) != 1 || rcpt[0].n > ADDRESS_BYTES_MAX) {
        return false; /* a bounce has one recipient */
    }
    (void)snprintf(job->rcpt, sizeof(job->rcpt), "%.*s", SLICE_ARGS(rcpt[0]));
    return true;
}

/* False: the message reports nothing. */
static bool fill_job(const struct session *s, struct job *job)
{
    const unsigned addresses = MAIL_CAPTURE_SPAM | MAIL_CAPTURE_HAM;
    const struct message *m = &s->message;

    (void)snprintf(job->queue_id, sizeof(job->queue_id), "%s", m->queue_id);
    job->is_spam = (m->capture.targets & MAIL_CAPTURE_SPAM) != 0;
    if ((m->capture.targets & addresses) == addresses) {
        return false; /* spam and ham at once */
    }
    if (!m->capture.is_ours) {
        return m->extract != NULL && fill_received(m, job);
    }
    job->source = SOURCE_USER;
    name_user(s, job->reporter);
    return (m->capture.targets & addresses) != 0;
}

void mail_report_end(struct session *s, const struct outcome *o)
{
    struct message *m = &s->message;
    bool is_bounce = m->capture.targets == MAIL_CAPTURE_EMPTY_SENDER;
    struct job *job = NULL;

    if (m->capture.targets == 0 || o->done == ACTION_DEFER ||
        m->skip == SKIP_SESSIONS) {
        return; /* a deferred message comes again */
    }
    mail_capture_end_headers(&m->capture);
    job = calloc(1, sizeof(*job));
    if (job == NULL || m->capture.is_lost) {
        pthread_mutex_lock(&mails.lock);
        note_drop();
        pthread_mutex_unlock(&mails.lock);
        free(job);
        return;
    }
    if (!fill_job(s, job)) {
        stats_add(STAT_report_mail_refused, is_bounce ? 0 : 1);
        free(job);
        return;
    }
    stats_add(STAT_report_mail, is_bounce ? 0 : 1);
    job->bytes = mail_capture_take(&m->capture);
    add_job(job);
}
