#include "milter/watcher.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/footprint.h"
#include "core/base/log.h"
#include "core/base/thread.h"
#include "core/telemetry/stats.h"
#include "core/verdict/rule/rule.h"

#include "milter/daemon.h"
#include "milter/message_log.h"
#include "milter/ring_key.h"
#include "milter/service.h"
#include "milter/tuning_fault.h"

enum {
    LOOK_MS = 250,       /* between looks at the lists */
    RELOAD_GAP_MS = 100, /* between reloads: a storm of signals costs one core little */
    RELOAD_WAIT_S = 20,  /* for who waits for a reload */
    MEMORY_LOOKS = 20,   /* looks between measurements of memory */
    RATE_LOOKS = 4,      /* and of URL checks */
    RESULT_MAX = 64 * 1024,
    LOAD_NICE = 10,           /* of a load that left idle priority */
    LOAD_PATIENCE_MS = 10000, /* with idle priority */
    LOAD_END_MS = 500,        /* that the end of the process waits for a load */
    LOAD_TELL_MS = 30000      /* between log lines about a slow load */
};
#define RESTART_FAULT "restart"
#define RELOAD_FAULT  "reload"

/* A configuration that is being read. Its rules may take seconds to compile, while lists are still
 * looked at and mail is answered. */
struct load {
    bool is_running; /* watcher thread only */
    bool is_done;    /* guarded by watch.lock; the rest is the loader's until then */
    pthread_t thread;
    uint64_t begin_us; /* watcher thread only, as the next two */
    uint64_t tell_us;
    bool is_raised;
    uint64_t upto; /* reloads asked for before it began */
    enum err code;
    struct config *fresh;
    struct config_errors errors;
};

static struct {
    pthread_mutex_t
        lock; /* guards: asked, done, result, code, is_ending, is_left, wants_look, load.is_done */
    pthread_cond_t changed;
    uint64_t asked; /* reloads asked for */
    uint64_t done;  /* asked for before the last one that was done began */
    struct buf result;
    enum err code;
    bool is_ending;
    bool is_left;    /* a load is, at the end of the process */
    bool wants_look; /* at the lists, before its time */
    bool is_started; /* main thread only, as all below */
    pthread_t thread;
    const char *config_file;
    unsigned patience_ms;
    unsigned look_ms;
    struct load load;
    struct config *started; /* what keys that need a restart are still of */
    struct list_manager *lists;
    bool lists_failed;         /* as last said */
    struct list_health *guard; /* NULL: none */
    struct users *users;       /* NULL: none */
    bool users_failed;         /* as last said */
    unsigned looks;
    uint64_t lost_lines; /* of the log, as the statistics page has it */
    bool knows_hub;      /* its page was read once */
    uint64_t hub_checks;
    uint64_t api_checks;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .patience_ms = LOAD_PATIENCE_MS,
           .look_ms = LOOK_MS};

static void refresh_lists(void)
{
    uint64_t generation;
    struct errinfo why = {.code = ERR_OK};
    struct config *config = service_config(&generation);
    /* what is wrong with one list is logged and named as a fault where it is found */
    enum err e = list_manager_refresh(watch.lists, config, &why);
    if (e != ERR_OK && !watch.lists_failed) {
        char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];
        log_errinfo("lists", &why);
        stats_fault("lists", errinfo_format(&why, text, sizeof(text)));
    } else if (e == ERR_OK && watch.lists_failed) {
        log_info("event=lists result=readable");
        stats_fault("lists", NULL);
    }
    watch.lists_failed = e != ERR_OK;
    list_manager_free_retired(watch.lists);
    config_release(&config);
}

static void refresh_users(void)
{
    struct errinfo why = {.code = ERR_OK};
    enum err e = watch.users != NULL ? users_refresh(watch.users, &why) : ERR_OK;

    if (e != ERR_OK && !watch.users_failed) {
        char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];
        log_errinfo("users", &why);
        stats_fault("users", errinfo_format(&why, text, sizeof(text)));
    } else if (e == ERR_OK && watch.users_failed) {
        log_info("event=users result=readable");
        stats_fault("users", NULL);
    }
    watch.users_failed = e != ERR_OK;
}

/* A slice of work behind each refresh, so that it delays none by more than itself. */
static void look_at_filters(void)
{
    if (watch.guard && list_health_look(watch.guard)) {
        refresh_lists();
    }
}

/* For those who read the statistics page. */
static void show_signs(void)
{
    uint64_t lost = log_dropped();

    stats_set(STAT_alive_time, clock_wall_us() / 1000000);
    stats_add(STAT_log_dropped, lost - watch.lost_lines);
    watch.lost_lines = lost;
    if (watch.looks++ % MEMORY_LOOKS == 0) {
        stats_set(STAT_memory_bytes, footprint_bytes());
        stats_set(STAT_memory_limit_bytes, footprint_limit(""));
    }
}

/* URL checks of the hub's API since the first look at its page; those of before do not count. */
static uint64_t api_checks(void)
{
    char path[FILE_PATH_MAX];
    struct stats_view hub;

    if (file_path(path, "%s/%s", watch.started->state_dir, STATE_HUB_STATS_FILE) ==
            ERR_OK &&
        stats_read(path, &hub, NULL) == ERR_OK) {
        uint64_t now = hub.value[STAT_urls_checked];
        watch.api_checks +=
            watch.knows_hub && now > watch.hub_checks ? now - watch.hub_checks : 0;
        watch.hub_checks = now;
        watch.knows_hub = true;
    }
    return watch.api_checks;
}

static void look_at_rate(void)
{
    uint64_t generation;
    struct config *config = service_config(&generation);

    if (watch.looks % RATE_LOOKS == 0) {
        emergency_tick(service_emergency(), config,
                       stats_get(STAT_urls_checked) + api_checks(),
                       clock_wall_us() / 1000000);
    }
    config_release(&config);
}

static enum err refuse_reload(struct config_errors *errors, struct buf *ret)
{
    stats_add(STAT_reloads_failed, 1);
    enum err code = errors->n ? errors->v[0].code : ERR_SYNTAX;
    for (size_t i = 0; i < errors->n; i++) {
        char line[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];
        log_errinfo("config", &errors->v[i]);
        buf_printf(ret, "%s\n", errinfo_format(&errors->v[i], line, sizeof(line)));
    }
    log_error(
        "event=reload result=refused errors=%zu: the configuration in force stays",
        errors->n);
    config_errors_free(errors);
    return code;
}

/* Names the configuration in force, and the keys of fresh that need a restart, until the file has
 * their old values again. */
static void show_config(const struct config *fresh, struct buf *ret)
{
    struct buf keys;
    buf_init(&keys, RESULT_MAX / 2);
    unsigned n = config_needs_restart(watch.started, fresh, CONFIG_OF_GILLNETD, &keys);
    stats_set(STAT_config_id, config_id(fresh));
    stats_set(STAT_config_restart_keys, n);
    if (n > 0) {
        char text[STATS_FAULT_TEXT];
        (void)snprintf(text, sizeof(text),
                       "gillnetd runs with another value than the file until it is "
                       "restarted: %s",
                       keys.p);
        stats_fault(RESTART_FAULT, text);
        buf_printf(ret, "a restart is needed for: %s\n", keys.p);
        log_warn("event=reload restart_needed=\"%s\": these keys keep their old values "
                 "until gillnetd is restarted",
                 keys.p);
    } else {
        stats_fault(RESTART_FAULT, NULL);
    }
    buf_fini(&keys);
}

/* The loaded configuration is in force from here on, or its errors are told. */
static enum err install_config(struct load *l, struct buf *ret)
{
    struct config *fresh = l->fresh;

    if (l->code != ERR_OK) {
        return refuse_reload(&l->errors, ret);
    }
    log_set_level(fresh->log_level);
    log_set_json(fresh->log_is_json);
    buf_printf(ret, "gillnetd runs configuration %08x\n", (unsigned)config_id(fresh));
    show_config(fresh, ret);
    tuning_fault_show(fresh);
    log_info("event=reload result=ok config=%08x", (unsigned)config_id(fresh));
    journal_record_configure(fresh);
    service_set_config(fresh);
    stats_add(STAT_reloads, 1);
    ring_key_look();
    if (ring_key_differs()) {
        buf_add_str(ret,
                    "a restart is needed for: keys/digest.key (the ring has another "
                    "key)\n");
    }
    return ERR_OK;
}

void watch_keep_rules(const struct config *config)
{
    struct ruleset_stat stat;

    ruleset_stat(config->ruleset, &stat);
    const char *cache = ruleset_keep(config) ? "written" : "none";
    log_info("event=rules rules=%zu patterns=%zu cache=%s", stat.rules,
             stat.patterns + stat.slow_patterns, stat.is_cached ? "hit" : cache);
}

/* Mail goes first: the calling thread runs when no other wants the processor. Without the right to
 * leave idle priority again (RLIMIT_NICE), which whoever may lower his nice value has, it keeps a
 * small share from the start: it must end on a busy machine, too. */
static void yield_to_mail(void)
{
    const struct sched_param none = {0};
    id_t self = (id_t)gettid();

    (void)setpriority(PRIO_PROCESS, self, LOAD_NICE + 1);
    if (setpriority(PRIO_PROCESS, self, LOAD_NICE) == 0) {
        (void)pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
    }
}

static void *run_load(void *context)
{
    struct load *l = context;

    yield_to_mail();
    l->code = ruleset_load(watch.config_file, &l->fresh, &l->errors);
    pthread_mutex_lock(&watch.lock);
    bool is_kept = l->code == ERR_OK && !watch.is_ending;
    pthread_mutex_unlock(&watch.lock);
    if (is_kept) {
        watch_keep_rules(l->fresh);
    }
    pthread_mutex_lock(&watch.lock);
    l->is_done = true;
    pthread_cond_broadcast(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
    return NULL;
}

static void raise_load(struct load *l)
{
    const struct sched_param none = {0};

    if (!l->is_raised) {
        l->is_raised = true;
        (void)pthread_setschedparam(l->thread, SCHED_OTHER, &none);
    }
}

/* A thread of idle priority may starve: after a while it gets a share of the processor. */
static void look_at_load(struct load *l)
{
    uint64_t now_us = clock_mono_us();
    unsigned s = 0;
    char text[STATS_FAULT_TEXT];

    if (!l->is_running || now_us < l->tell_us) {
        return;
    }
    raise_load(l);
    l->tell_us = now_us + LOAD_TELL_MS * UINT64_C(1000);
    s = (unsigned)((now_us - l->begin_us) / 1000000);
    (void)snprintf(
        text, sizeof(text),
        "the rules are still being compiled after %u s, because the processor is busy or "
        "patterns are many or large; the configuration in force stays until then",
        s);
    log_warn("event=reload state=compiling seconds=%u: %s", s, text);
    stats_fault(RELOAD_FAULT, text);
}

static void end_reload(void)
{
    struct load *l = &watch.load;
    struct buf text;

    buf_init(&text, RESULT_MAX);
    stats_fault(RELOAD_FAULT, NULL);
    (void)pthread_join(l->thread, NULL);
    l->is_running = false;
    enum err code = install_config(l, &text);
    refresh_lists();
    notify_ready("working");
    pthread_mutex_lock(&watch.lock);
    struct buf old = watch.result;
    watch.result = text;
    watch.code = code;
    watch.done = l->upto;
    pthread_cond_broadcast(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
    buf_fini(&old);
}

static void begin_reload(void)
{
    struct load *l = &watch.load;

    pthread_mutex_lock(&watch.lock);
    *l = (struct load){.upto = watch.asked, .begin_us = clock_mono_us()};
    pthread_mutex_unlock(&watch.lock);
    l->tell_us = l->begin_us + watch.patience_ms * UINT64_C(1000);
    notify_reloading();
    l->is_running = thread_start(&l->thread, run_load, l) == 0;
    if (!l->is_running) { /* no reload is done; who waits is told in time */
        log_error(
            "event=reload result=failed: no thread can be made; the configuration in "
            "force stays");
        notify_ready("working");
    }
}

static void time_after_ms(unsigned ms, struct timespec *ret)
{
    clock_gettime(CLOCK_MONOTONIC, ret);
    ret->tv_nsec += (long)(ms % 1000) * 1000000;
    ret->tv_sec += ms / 1000 + ret->tv_nsec / 1000000000;
    ret->tv_nsec %= 1000000000;
}

/* At the end of the process, which waits for it a little. A thread that still compiles is left to
 * the system: it touches nothing but its own load and the lock. */
static void drop_load(void)
{
    struct load *l = &watch.load;
    struct timespec until;
    bool is_done = false;
    int e = 0;

    if (!l->is_running) {
        return;
    }
    raise_load(l);
    time_after_ms(LOAD_END_MS, &until);
    pthread_mutex_lock(&watch.lock);
    while (e != ETIMEDOUT && !l->is_done) {
        e = pthread_cond_timedwait(&watch.changed, &watch.lock, &until);
    }
    is_done = l->is_done;
    watch.is_left = !is_done;
    pthread_mutex_unlock(&watch.lock);
    if (!is_done) {
        (void)pthread_detach(l->thread);
        log_info("event=stop state=compiling: the rules that are compiled are dropped");
        return;
    }
    (void)pthread_join(l->thread, NULL);
    l->is_running = false;
    config_errors_free(&l->errors);
    config_release(&l->fresh);
}

enum wake { WAKE_TIME, WAKE_LOOK, WAKE_RELOAD, WAKE_LOADED, WAKE_END };

/* may_reload false: not for a reload yet. The lock is held. */
static enum wake next_work(bool may_reload)
{
    if (watch.is_ending) {
        return WAKE_END;
    }
    if (watch.load.is_running && watch.load.is_done) {
        return WAKE_LOADED;
    }
    if (may_reload && !watch.load.is_running && watch.asked > watch.done) {
        return WAKE_RELOAD;
    }
    return watch.wants_look ? WAKE_LOOK : WAKE_TIME;
}

static bool is_past(const struct timespec *t)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > t->tv_sec ||
           (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

/* Waits for the next thing to do; WAKE_TIME at until, also where looks are asked for all the time.
 */
static enum wake wait_for_work(const struct timespec *until, bool may_reload)
{
    int e = 0;
    pthread_mutex_lock(&watch.lock);
    enum wake what = next_work(may_reload);
    while (e != ETIMEDOUT && what == WAKE_TIME) {
        e = pthread_cond_timedwait(&watch.changed, &watch.lock, until);
        what = next_work(may_reload);
    }
    if (what == WAKE_LOOK && is_past(until)) {
        what = WAKE_TIME;
    }
    watch.wants_look = watch.wants_look && what != WAKE_LOOK;
    pthread_mutex_unlock(&watch.lock);
    return what;
}

static void look_in_time(void)
{
    look_at_load(&watch.load);
    refresh_lists();
    refresh_users();
    ring_key_look();
    look_at_filters();
    look_at_rate();
    show_signs();
}

static void *run_watcher(void *context)
{
    (void)context;
    bool may_reload = true;
    enum wake what = WAKE_TIME;
    struct timespec until;
    do {
        if (what != WAKE_LOOK) { /* which puts nothing else off */
            time_after_ms(may_reload ? watch.look_ms : RELOAD_GAP_MS, &until);
        }
        what = wait_for_work(&until, may_reload);
        bool was_gap = !may_reload;
        may_reload = may_reload || what != WAKE_LOOK;
        if (what == WAKE_RELOAD) {
            begin_reload();
            may_reload = watch.load.is_running;
        } else if (what == WAKE_LOADED) {
            end_reload();
            may_reload = false;
        } else if (what == WAKE_LOOK) {
            refresh_lists();
        } else if (what == WAKE_TIME && !was_gap) {
            look_in_time();
        }
    } while (what != WAKE_END);
    drop_load();
    return NULL;
}

enum err watch_start(const char *config_file, struct list_manager *lists,
                     bool lists_failed)
{
    pthread_condattr_t attr;
    watch.config_file = config_file;
    watch.lists = lists;
    watch.lists_failed = lists_failed;
    watch.is_ending = false;
    watch.looks = 0;
    watch.knows_hub = false;
    uint64_t generation;
    watch.started = service_config(&generation);
    show_signs();
    stats_set(STAT_config_id, config_id(watch.started));
    stats_set(STAT_config_restart_keys, 0);
    buf_init(&watch.result, RESULT_MAX);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    int e = pthread_cond_init(&watch.changed, &attr);
    pthread_condattr_destroy(&attr);
    if (e != 0 || pthread_create(&watch.thread, NULL, run_watcher, NULL) != 0) {
        return ERR_NOMEM;
    }
    watch.is_started = true;
    return ERR_OK;
}

void watch_set_list_health(struct list_health *guard)
{
    watch.guard = guard;
}

void watch_set_patience(unsigned ms)
{
    watch.patience_ms = ms;
}

void watch_set_pace(unsigned ms)
{
    watch.look_ms = ms;
}

void watch_set_users(struct users *users)
{
    watch.users = users;
    refresh_users();
}

void watch_stop(void)
{
    if (!watch.is_started) {
        return;
    }
    pthread_mutex_lock(&watch.lock);
    watch.is_ending = true;
    pthread_cond_broadcast(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
    pthread_join(watch.thread, NULL);
    watch.is_started = false;
    watch.guard = NULL;
    watch.users = NULL;
    ring_key_set(NULL, 0);
    config_release(&watch.started);
    buf_fini(&watch.result);
    if (!watch.is_left) { /* the thread that is left still tells of its end */
        pthread_cond_destroy(&watch.changed);
    }
}

void watch_ask_look(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.wants_look = true;
    pthread_cond_broadcast(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
}

void watch_ask_reload(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.asked++;
    pthread_cond_broadcast(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
}

enum err watch_reload(struct buf *ret)
{
    struct timespec until;
    time_after_ms(RELOAD_WAIT_S * 1000, &until);
    int e = 0;
    enum err code = ERR_TIMEOUT;
    pthread_mutex_lock(&watch.lock);
    uint64_t mine = ++watch.asked;
    pthread_cond_broadcast(&watch.changed);
    while (e != ETIMEDOUT && !watch.is_ending && watch.done < mine) {
        e = pthread_cond_timedwait(&watch.changed, &watch.lock, &until);
    }
    if (watch.done >= mine) {
        code = watch.code;
        buf_add(ret, buf_slice(&watch.result));
    }
    pthread_mutex_unlock(&watch.lock);
    if (code == ERR_TIMEOUT) {
        buf_add_str(ret, "gillnetd still compiles the rules; the configuration in "
                         "force stays until they are ready; see the log\n");
    }
    return code;
}
