#include "milter/learn_self.h"

#include <pthread.h>

#include "core/base/clock.h"
#include "core/count/judged.h"

#include "milter/service.h"

enum { US_PER_S = 1000000, DAY_S = 86400, PROBES = 8 };

struct waiting {
    enum learner_source source;
    bool
        must_be_known; /* learnt only if the sender was here long ago and nobody reported it */
    struct digest sender[KEYRING_MAX]; /* of its domain, as it is counted */
    struct buf vector;
};

/* Examples of one sender on one day. */
struct sender {
    uint64_t key;
    uint32_t day;
    uint32_t n;
};

static struct {
    pthread_mutex_t lock; /* guards: all below */
    size_t n;
    struct waiting queue[LEARN_SELF_QUEUE];
    struct sender senders[LEARN_SELF_SENDERS];
    uint32_t day;
    uint32_t learnt[LEARNER_SOURCES]; /* of the day */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- bounds; under the lock ---- */

/* The row of a sender on this day; NULL: too many others wrote. */
static struct sender *find_sender(uint64_t key, uint32_t day)
{
    for (size_t i = 0; i < PROBES; i++) {
        struct sender *s = &own.senders[(key + i) % LEARN_SELF_SENDERS];
        if (s->day != day) {
            *s = (struct sender){.key = key, .day = day};
        }
        if (s->key == key) {
            return s;
        }
    }
    return NULL;
}

static bool may_learn(const struct waiting *w, uint32_t day)
{
    uint64_t key = 0;
    memcpy(&key, w->sender[0].b, sizeof(key));
    if (own.day != day) {
        own.day = day;
        memset(own.learnt, 0, sizeof(own.learnt));
    }
    struct sender *s = find_sender(key, day);
    if (own.n == LEARN_SELF_QUEUE || own.learnt[w->source] >= LEARN_SELF_DAY ||
        s == NULL || s->n >= LEARN_SELF_SENDER) {
        return false;
    }
    s->n++;
    own.learnt[w->source]++;
    return true;
}

/* ---- messages ---- */

/* sender: the domain or the login that the bound of a day is for. */
static void queue_example(const struct message *m, enum learner_source source,
                          bool must_be_known, struct slice sender)
{
    const struct keyring *keys;
    struct waiting w = {.source = source, .must_be_known = must_be_known};
    uint32_t day = (uint32_t)(clock_wall_us() / US_PER_S / DAY_S);

    (void)service_counts(&keys);
    if (m->vector.n == 0 || sender.n == 0 || keys == NULL) {
        return;
    }
    count_digest(keys, m->config, FEATURE_from_domain, sender, w.sender);
    buf_init(&w.vector, VECTOR_BYTES);
    bool has_vector = vector_encode(&m->vector, &w.vector);
    (void)pthread_mutex_lock(&own.lock);
    bool is_taken = has_vector && may_learn(&w, day);
    if (is_taken) {
        own.queue[own.n++] = w;
    }
    (void)pthread_mutex_unlock(&own.lock);
    if (!is_taken) {
        buf_fini(&w.vector);
    }
}

/* A confirmed hit scores. In emergency mode a list's symbol may be of a hit that nobody
 * confirmed. */
static bool has_list_hit(const struct verdict *v, const struct verdict_context *context)
{
    bool found = false;

    for (size_t i = 0; i < v->nsymbols && !context->is_emergency; i++) {
        const struct symbol *s = &v->symbols[i];
        found = found || (s->kind == SYMBOL_FIRM && s->score > 0 &&
                          strncmp(s->name, "LIST_", 5) == 0);
    }
    return found;
}

static void put_good(const struct message *m, const struct identity *identity,
                     struct slice domain)
{
    const struct config_model *config = &m->config->model;

    if (identity_has(identity, IDENTITY_answer)) {
        if (config->learn_outgoing) {
            queue_example(m, LEARNER_OUTGOING, false, domain);
        }
    } else if (!identity_has(identity, IDENTITY_proved)) {
        return;
    } else if (identity_has(identity, IDENTITY_correspondent)) {
        if (config->learn_known) {
            queue_example(m, LEARNER_KNOWN, false, domain);
        }
    } else if (identity_has(identity, IDENTITY_newsletter) &&
               config->learn_newsletters) {
        queue_example(m, LEARNER_NEWSLETTER, true, domain);
    }
}

void learn_self_received(const struct message *m, const struct verdict_context *context,
                         const struct featureset *features, unsigned judgements,
                         const struct verdict *v)
{
    const struct feature *from = featureset_first(features, FEATURE_from_domain);

    if (!m->config->model.enabled || from == NULL) {
        return;
    }
    if (judgements >> JUDGED_GOOD & 1) {
        put_good(m, context->identity, from->text);
    } else if ((judgements >> JUDGED_BAD & 1) && m->config->model.learn_listed &&
               has_list_hit(v, context)) {
        queue_example(m, LEARNER_LISTED, false, from->text);
    }
}

void learn_self_sent(struct message *m, const struct featureset *features)
{
    if (m->config->model.enabled && m->config->model.learn_outgoing &&
        m->reader != NULL &&
        vector_reader_finish(m->reader, m->extract, features, &m->vector)) {
        queue_example(m, LEARNER_OUTGOING, false,
                      m->user.n > 0 ? m->user : m->mail_from);
    }
}

/* ---- the thread ---- */

/* The sender has written here for two weeks, and nobody called its mail spam. */
static bool is_known(const struct waiting *w)
{
    const struct keyring *keys;
    const struct count_port *port = service_counts(&keys);
    struct count_history history = {.first_s = 0};
    struct count_called called = {.spam = 0};
    uint64_t now = clock_wall_us() / US_PER_S;

    if (port == NULL) {
        return false;
    }
    port->exact(port->context, w->sender, &history);
    if (port->called != NULL) {
        port->called(port->called_context, w->sender, 0, now, &called);
    }
    return history.first_s > 0 && history.first_s + LEARN_SELF_KNOWN_S <= now &&
           called.spam == 0;
}

/* False: nothing waits. */
static bool take_one(struct waiting *ret)
{
    (void)pthread_mutex_lock(&own.lock);
    bool found = own.n > 0;
    if (found) {
        *ret = own.queue[--own.n];
    }
    (void)pthread_mutex_unlock(&own.lock);
    return found;
}

void learn_self_take(struct learner *l)
{
    struct waiting w;

    while (take_one(&w)) {
        const struct learner_example example = {.is_spam = w.source == LEARNER_LISTED,
                                                .weight = 1,
                                                .source = w.source,
                                                .vector = buf_slice(&w.vector)};
        if (!w.must_be_known || is_known(&w)) {
            (void)learner_add(l, &example);
        }
        buf_fini(&w.vector);
    }
}

void learn_self_end(void)
{
    struct waiting w;

    while (take_one(&w)) {
        buf_fini(&w.vector);
    }
}
