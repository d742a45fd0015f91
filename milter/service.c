#include "milter/service.h"

#include <assert.h>
#include <pthread.h>

#include "core/base/clock.h"
#include "core/telemetry/stats.h"

#include "milter/arenapool.h"

enum {
    US_PER_SECOND = 1000000,
    WAIT_STEP_US = 5 * 1000,
    DRAIN_LATE_US = 500 * 1000 /* for messages that began while we waited */
};

static struct {
    pthread_mutex_t lock; /* guards: all below but those that are constant */
    struct config *config;
    uint64_t generation;
    struct session *sessions;
    struct session *left; /* never freed: see service_fini */
    size_t nsessions;
    size_t max_sessions;
    struct session_options options;
    unsigned epoch;      /* 0 until the end begins, then 1 */
    size_t nmessages[2]; /* in flight, by the epoch they began in */
    bool is_gate_closed;
    struct list_manager *lists; /* constant */
    bool is_inet;               /* constant */
    bool has_ring;              /* constant, as is ring */
    struct hashkey ring;
    struct boilerplate *guard;       /* constant; never freed: see service_fini */
    const struct count_port *counts; /* constant, as is count_keys; NULL: none */
    const struct keyring *count_keys;
    struct lookup_stats *hits; /* constant; NULL: none */
    struct contacts *contacts; /* constant, as is accounts; NULL: none */
    struct accounts *accounts;
    struct users *users;         /* constant; NULL: none */
    struct embargo *embargo;     /* constant; NULL: none */
    struct emergency *emergency; /* constant; NULL: none */
    struct campaigns *campaigns; /* constant; NULL: none */
    struct reports *reports;     /* constant, as is report_keys; NULL: none */
    const struct keyring *report_keys;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

void service_init(struct config *config, struct list_manager *lists, bool is_inet,
                  unsigned max_sessions)
{
    assert(!service.config && !service.sessions);
    service.config = config;
    service.lists = lists;
    service.is_inet = is_inet;
    service.max_sessions = max_sessions;
    service.generation = 0;
    service.epoch = 0;
    service.nmessages[0] = 0;
    service.nmessages[1] = 0;
    service.is_gate_closed = false;
    service.options = (struct session_options){.actions = 0};
}

void service_set_digest_key(const struct hashkey *ring)
{
    service.has_ring = ring != NULL;
    if (ring != NULL) {
        service.ring = *ring;
    }
}

void service_set_boilerplate(struct boilerplate *guard)
{
    service.guard = guard;
}

void service_imprint(struct fingerprint_options *ret)
{
    *ret = (struct fingerprint_options){
        .guard = service.guard,
        .learner = emergency_sheds(service.emergency) ? NULL : service.guard};
    if (service.has_ring) {
        shingle_keys_make(&service.ring, clock_wall_us() / US_PER_SECOND, &ret->keys);
    }
}

void service_set_counts(const struct count_port *port, const struct keyring *keys)
{
    service.counts = port;
    service.count_keys = keys;
}

const struct count_port *service_counts(const struct keyring **retkeys)
{
    *retkeys = service.count_keys;
    return service.counts;
}

void service_set_users(struct users *users)
{
    service.users = users;
}

struct users *service_users(void)
{
    return service.users;
}

void service_set_hits(struct lookup_stats *hits)
{
    service.hits = hits;
}

void service_set_embargo(struct embargo *embargo)
{
    service.embargo = embargo;
}

struct embargo *service_embargo(void)
{
    return service.embargo;
}

void service_set_campaigns(struct campaigns *campaigns)
{
    service.campaigns = campaigns;
}

struct campaigns *service_campaigns(void)
{
    return service.campaigns;
}

void service_set_emergency(struct emergency *emergency)
{
    service.emergency = emergency;
}

struct emergency *service_emergency(void)
{
    return service.emergency;
}

void service_set_reports(struct reports *reports, const struct keyring *keys)
{
    service.reports = reports;
    service.report_keys = keys;
}

struct reports *service_reports(const struct keyring **retkeys)
{
    *retkeys = service.report_keys;
    return service.reports;
}

void service_voices(const struct config *config, struct rating_sources *ret)
{
    *ret = (struct rating_sources){.config = config, .hits = service.hits};
}

void service_set_contacts(struct contacts *contacts, struct accounts *accounts)
{
    service.contacts = contacts;
    service.accounts = accounts;
}

struct contacts *service_contacts(void)
{
    return service.contacts;
}

struct accounts *service_accounts(void)
{
    return service.accounts;
}

void service_fini(void)
{
    for (struct session *s = service.sessions; s; s = s->next) {
        session_end_message(s);
        if (!s->next) {
            s->next = service.left;
            service.left = service.sessions;
            break;
        }
    }
    service.sessions = NULL;
    service.nsessions = 0;
    config_release(&service.config);
    arenapool_clear();
}

struct config *service_config(uint64_t *retgeneration)
{
    pthread_mutex_lock(&service.lock);
    struct config *c = config_acquire(service.config);
    *retgeneration = service.generation;
    pthread_mutex_unlock(&service.lock);
    return c;
}

void service_set_config(struct config *fresh)
{
    pthread_mutex_lock(&service.lock);
    struct config *old = service.config;
    service.config = fresh;
    service.generation++;
    pthread_mutex_unlock(&service.lock);
    config_release(&old);
}

struct list_manager *service_lists(void)
{
    return service.lists;
}

bool service_is_inet(void)
{
    return service.is_inet;
}

_Noreturn void service_wait_for_end(void)
{
    for (;;) {
        pause();
    }
}

bool service_add_session(struct session *s)
{
    pthread_mutex_lock(&service.lock);
    if (service.is_gate_closed) {
        pthread_mutex_unlock(&service.lock);
        service_wait_for_end();
    }
    bool has_room = service.nsessions < service.max_sessions;
    s->prev = NULL;
    s->next = service.sessions;
    if (s->next) {
        s->next->prev = s;
    }
    service.sessions = s;
    service.nsessions++;
    stats_set(STAT_sessions_open, service.nsessions);
    pthread_mutex_unlock(&service.lock);
    stats_add(STAT_sessions, 1);
    return has_room;
}

void service_remove_session(struct session *s)
{
    pthread_mutex_lock(&service.lock);
    if (s->next) {
        s->next->prev = s->prev;
    }
    if (s->prev) {
        s->prev->next = s->next;
    } else {
        service.sessions = s->next;
    }
    service.nsessions--;
    stats_set(STAT_sessions_open, service.nsessions);
    pthread_mutex_unlock(&service.lock);
}

size_t service_sessions(void)
{
    pthread_mutex_lock(&service.lock);
    size_t n = service.nsessions;
    pthread_mutex_unlock(&service.lock);
    return n;
}

void service_set_options(const struct session_options *options)
{
    pthread_mutex_lock(&service.lock);
    service.options = *options;
    pthread_mutex_unlock(&service.lock);
}

void service_get_options(struct session_options *ret)
{
    pthread_mutex_lock(&service.lock);
    *ret = service.options;
    pthread_mutex_unlock(&service.lock);
}

unsigned service_begin_message(void)
{
    pthread_mutex_lock(&service.lock);
    unsigned epoch = service.epoch;
    service.nmessages[epoch]++;
    stats_set(STAT_messages_open, service.nmessages[0] + service.nmessages[1]);
    pthread_mutex_unlock(&service.lock);
    return epoch;
}

void service_end_message(unsigned epoch)
{
    pthread_mutex_lock(&service.lock);
    assert(service.nmessages[epoch] > 0);
    service.nmessages[epoch]--;
    stats_set(STAT_messages_open, service.nmessages[0] + service.nmessages[1]);
    pthread_mutex_unlock(&service.lock);
}

static void count_messages(size_t retcount[2])
{
    pthread_mutex_lock(&service.lock);
    retcount[0] = service.nmessages[0];
    retcount[1] = service.nmessages[1];
    pthread_mutex_unlock(&service.lock);
}

size_t service_messages(void)
{
    size_t n[2];
    count_messages(n);
    return n[0] + n[1];
}

static void sleep_step(void)
{
    struct timespec t = {.tv_nsec = WAIT_STEP_US * 1000L};
    nanosleep(&t, NULL);
}

void service_await_sessions(uint64_t timeout_us, bool (*is_urgent)(void))
{
    uint64_t end = clock_mono_us() + timeout_us;

    while (service_sessions() > 0 && clock_mono_us() < end && !is_urgent()) {
        sleep_step();
    }
}

bool service_drain(uint64_t timeout_us, bool (*is_urgent)(void))
{
    pthread_mutex_lock(&service.lock);
    service.epoch = 1;
    pthread_mutex_unlock(&service.lock);
    uint64_t end = clock_mono_us() + timeout_us;
    uint64_t late_end = 0; /* set once the messages of epoch 0 are through */
    for (;;) {
        size_t n[2];
        count_messages(n);
        uint64_t now = clock_mono_us();
        if (n[0] + n[1] == 0) {
            return true;
        }
        if (n[0] == 0 && late_end == 0) {
            late_end = now + DRAIN_LATE_US;
        }
        if (now >= end || (late_end && now >= late_end) || is_urgent()) {
            return false;
        }
        sleep_step();
    }
}

/* Closes every session to new callbacks; how many have one inside. The one place where two
 * locks are held: the service's, so that no session goes away, then a session's. */
static size_t close_sessions(void)
{
    size_t ninside = 0;
    pthread_mutex_lock(&service.lock);
    service.is_gate_closed = true;
    for (struct session *s = service.sessions; s; s = s->next) {
        pthread_mutex_lock(&s->lock);
        s->is_closed = true;
        ninside += s->is_inside;
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&service.lock);
    return ninside;
}

bool service_close_gate(uint64_t timeout_us)
{
    uint64_t end = clock_mono_us() + timeout_us;
    while (close_sessions() > 0) {
        if (clock_mono_us() >= end) {
            return false;
        }
        sleep_step();
    }
    return true;
}

void service_each_context(void (*fn)(void *ctx))
{
    /* The gate is closed: the list no longer changes. */
    for (const struct session *s = service.sessions; s; s = s->next) {
        fn(s->ctx);
    }
}
