#include "milter/daemon.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/version.h"
#include "core/list/line_client.h"
#include "core/list/line_wire.h"
#include "core/list/lookup_stats.h"
#include "core/telemetry/history.h"
#include "core/telemetry/periods.h"
#include "core/telemetry/stats.h"

#include "milter/callbacks.h"
#include "milter/control.h"
#include "milter/file_reader.h"
#include "milter/learn.h"
#include "milter/libmilter.h"
#include "milter/mail_report.h"
#include "milter/mapped_files.h"
#include "milter/message_log.h"
#include "milter/outgoing.h"
#include "milter/packet.h"
#include "milter/report_request.h"
#include "milter/ring_key.h"
#include "milter/scan.h"
#include "milter/service.h"
#include "milter/signals.h"
#include "milter/tuning_fault.h"
#include "milter/watcher.h"

enum {
    HANDOVER_US =
        5 * 1000 * 1000, /* for open sessions, when the next gillnetd takes new ones */
    DRAIN_US = 15 * 1000 * 1000, /* for messages in flight when we are to stop */
    GATE_US = 5 * 1000 * 1000,   /* for callbacks that run when the gate closes */
    SETTLE_US = 20 * 1000,       /* for libmilter's own steps between callbacks */
    SESSIONS_MIN = 16,
    COUNTS_TRIES = 20, /* to take the counts, while a command has them */
    COUNTS_WAIT_US = 150 * 1000,
    TEMPS_OLD_S = 3600 /* a file in the state folder is written in minutes */
};

enum stop_state { STOP_NONE, STOP_UNDER_WAY, STOP_DONE };

static struct {
    struct milter_listener
        listener; /* main's until smfi_main, then the stop's, then main's */
    struct list_manager *lists;
    struct line_client *lines;
    struct lookup_stats *hits; /* NULL: they cannot be counted */
    struct list_health *guard;
    struct users *users; /* their settings */
    bool has_keys;
    struct emergency *emergency;
    struct campaigns *campaigns; /* NULL: no keys, or no memory */
    struct embargo *embargo;     /* NULL: no keys, or no memory */
    struct ham_log *ham_log;     /* NULL: none; closed when the sessions are */
    struct journal *journal;     /* NULL: none; closed when the sessions are */
    struct reports *reports;     /* NULL: none can be had */
    struct keyring keys;
    struct count *counts; /* NULL: nothing is counted */
    struct count_port port;
    pthread_mutex_t lock; /* guards: stop, is_gate_closed */
    pthread_cond_t stopped;
    enum stop_state stop;
    bool is_gate_closed; /* no callback runs: memory may be freed */
} daemon_state = {.lock = PTHREAD_MUTEX_INITIALIZER,
                  .stopped = PTHREAD_COND_INITIALIZER,
                  .is_gate_closed = true};

/* Makes room for as many descriptors as we may have; how many that is. */
static rlim_t raise_descriptors(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) != 0) {
        return 1024;
    }
    if (r.rlim_cur < r.rlim_max) {
        struct rlimit all = {.rlim_cur = r.rlim_max, .rlim_max = r.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &all) == 0) {
            return all.rlim_cur;
        }
    }
    return r.rlim_cur;
}

/* Half of the descriptors at most: without any left libmilter could not even accept. */
static unsigned session_limit(const struct config *config)
{
    rlim_t half = raise_descriptors() / 2;
    unsigned most = half > 1000000 ? 1000000 : (unsigned)half;
    if (most < SESSIONS_MIN) {
        most = SESSIONS_MIN;
    }
    if (config->limits.sessions > most) {
        log_warn(
            "event=start limits.sessions=%u used=%u: only that many fit the limit of "
            "open files; raise LimitNOFILE",
            config->limits.sessions, most);
    }
    return config->limits.sessions && config->limits.sessions < most
               ? config->limits.sessions
               : most;
}

static void open_log(const struct config *config, bool to_stderr)
{
    enum log_target target = config->log_target;
    if (to_stderr) {
        target = LOG_TARGET_STDERR;
    } else if (config->log_target_auto) {
        target = log_target_auto();
    }
    log_set_json(config->log_is_json);
    if (log_start("gillnetd", target, config->log_level) != ERR_OK) {
        log_error("event=start error=log: the log cannot be opened; lines go to "
                  "standard error");
    }
}

static void report_fault(const char *event, const char *key, const struct errinfo *why)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];
    log_errinfo(event, why);
    stats_fault(key, errinfo_format(why, text, sizeof(text)));
}

/* Opens the file of hours and days, which may need what the page of the day has. */
static void open_periods(const struct config *config, const char *history_path)
{
    char periods[FILE_PATH_MAX];
    struct errinfo why;
    enum err e =
        path_make(periods, &why, "%s/%s", config->state_dir, STATE_PERIODS_FILE);
    THEN(e, periods_open(periods, history_path, &why));
    if (e != ERR_OK) {
        report_fault("periods", "periods", &why);
    }
}

/* Opens the history; mail is filtered also without it. */
static void open_history(const struct config *config)
{
    char path[FILE_PATH_MAX];
    struct errinfo why;
    enum err e = path_make(path, &why, "%s/%s", config->state_dir, STATE_HISTORY_FILE);
    if (e == ERR_OK) {
        open_periods(config, path);
        e = history_open(path, clock_wall_us() / 1000000, &why);
    }
    if (e != ERR_OK) {
        report_fault("history", "history", &why);
    }
}

/* Opens the ham log, for the feeds of the companion service. */
static void open_ham_log(const struct config *config)
{
    char path[FILE_PATH_MAX];
    struct errinfo why;
    const struct hashkey *key = &daemon_state.keys.ring[0];
    enum err e = path_make(path, &why, "%s/%s", config->state_dir, STATE_HAM_LOG_FILE);
    THEN(e, ham_log_open(path, key->id, &daemon_state.ham_log, &why));
    if (e != ERR_OK) {
        report_fault("ham_log", "ham log", &why);
        return;
    }
    ham_record_use(daemon_state.ham_log, key);
}

/* Opens the journal; mail is filtered also without it. */
static void open_journal(const struct config *config)
{
    struct errinfo why;
    const struct journal_options options = {.state_dir = config->state_dir,
                                            .key = &daemon_state.keys.ring[0],
                                            .keep_s = config->journal.keep_s,
                                            .size_max = config->journal.size};
    enum err e = journal_open(&options, &daemon_state.journal, &why);
    for (unsigned i = 0; e == ERR_LOCKED && i < COUNTS_TRIES; i++) {
        usleep(COUNTS_WAIT_US);
        e = journal_open(&options, &daemon_state.journal, &why);
    }
    if (e != ERR_OK && !daemon_state.journal) {
        report_fault("journal", "journal", &why);
    }
    journal_record_use(daemon_state.journal, options.key);
}

static void open_stats(const struct config *config)
{
    char folder[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    struct errinfo why;
    enum err e = path_make(folder, &why, "%s/counts", config->state_dir);
    THEN(e, path_make(path, &why, "%s/%s", config->state_dir, STATE_STATS_FILE));
    THEN(e, file_make_dir(folder, 02750, &why));
    THEN(e, stats_open(path, &why));
    if (e != ERR_OK) {
        report_fault("stats", "stats", &why);
    }
    stats_set(STAT_start_time, clock_wall_us() / 1000000);
    stats_set(STAT_pid, (uint64_t)getpid());
}

/* Mail is filtered also without reports. */
static void open_reports(const struct config *config)
{
    struct errinfo why;

    if (daemon_state.has_keys && report_open(config, &daemon_state.keys,
                                             &daemon_state.reports, &why) != ERR_OK) {
        report_fault("reports", "reports", &why);
    }
    service_set_reports(daemon_state.reports, &daemon_state.keys);
    daemon_state.port.called = daemon_state.reports != NULL ? reports_called : NULL;
    daemon_state.port.called_context = reports_votes(daemon_state.reports);
}

static void open_embargo(const struct config *config)
{
    if (daemon_state.has_keys) {
        daemon_state.embargo =
            embargo_new(config->state_dir, &daemon_state.keys.ring[0]);
    }
    service_set_embargo(daemon_state.embargo);
}

/* Opens the campaigns; mail is filtered also without them. */
static void open_campaigns(const struct config *config)
{
    struct errinfo why;

    if (daemon_state.has_keys) {
        enum err e = campaigns_open(config->state_dir, &daemon_state.keys,
                                    &daemon_state.campaigns, &why);
        if (e != ERR_OK && e != ERR_LOCKED) {
            report_fault("campaigns", "campaigns", &why);
        }
    }
    service_set_campaigns(daemon_state.campaigns);
}

/* Counts the results of look-ups from here on; look-ups work also without the file. */
static void open_hits(const struct config *config)
{
    char path[FILE_PATH_MAX];
    struct errinfo why;
    enum err e =
        path_make(path, &why, "%s/%s", config->state_dir, STATE_LOOKUP_STATS_FILE);
    THEN(e,
         lookup_stats_open(path, clock_wall_us() / 1000000, &daemon_state.hits, &why));
    if (e != ERR_OK) {
        report_fault("hits", "hits", &why);
        return;
    }
    service_set_hits(daemon_state.hits);
    list_manager_set_stats(daemon_state.lists, daemon_state.hits);
    /* a failure here was already logged by the first refresh; the watcher tries again */
    (void)list_manager_refresh(daemon_state.lists, config, NULL);
}

/* ERR_LOCKED: another process counts here, for longer than a command does that counts a message. */
static enum err wait_for_counts(const struct config *config, struct errinfo *reterr)
{
    const struct count_options options = {.state_dir = config->state_dir,
                                          .keys = &daemon_state.keys,
                                          .messages_per_day =
                                              config->count.messages_per_day,
                                          .has_store = config->store.kind != STORE_OFF};
    enum err e = count_open(&options, &daemon_state.counts, reterr);
    for (unsigned i = 0; e == ERR_LOCKED && i < COUNTS_TRIES; i++) {
        usleep(COUNTS_WAIT_US);
        e = count_open(&options, &daemon_state.counts, reterr);
    }
    return e;
}

/* Counts, then the statistics page, which belongs to the process that counts. Without counts only
 * lists filter mail. */
static void open_counts(const struct config *config)
{
    struct errinfo why = {.code = ERR_OK};
    bool is_wanted = daemon_state.has_keys && config->count.messages_per_day > 0;
    enum err e = is_wanted ? wait_for_counts(config, &why) : ERR_OK;

    if (e != ERR_LOCKED) {
        open_stats(config);
        tuning_fault_show(config);
        open_history(config);
    }
    if (e != ERR_LOCKED && daemon_state.has_keys) {
        open_ham_log(config);
        open_journal(config);
    }
    if (is_wanted && e == ERR_OK) {
        e = count_start(daemon_state.counts, &why);
    }
    if (!is_wanted) {
        log_info("event=counts result=off reason=%s",
                 daemon_state.has_keys ? "messages_per_day" : "keys");
    } else if (e != ERR_OK) {
        report_fault("counts", "counts-open", &why);
        log_error("event=counts result=off: no message is counted until this is mended "
                  "and gillnetd started again");
    } else {
        daemon_state.port = count_port_of(daemon_state.counts);
        service_set_counts(&daemon_state.port, &daemon_state.keys);
        control_set_count(&daemon_state.port, &daemon_state.keys);
    }
}

/* Without memory for it, filters of filter_memory = "store" are mapped. */
static void set_lines(const struct config *config, struct list_manager *lists)
{
    char path[FILE_PATH_MAX];

    if (lists && file_path(path, "%s/" LINE_SOCKET, config->state_dir) == ERR_OK) {
        daemon_state.lines = line_client_new(path);
        list_manager_set_lines(lists, daemon_state.lines);
    }
}

/* The lists, and the keys; without keys no list is read. *retfailed: the lists were not to be
 * had. */
static struct list_manager *open_lists(const struct config *config, bool *retfailed)
{
    struct keyring keys;
    struct errinfo why;
    bool has_keys = keyring_load_or_create(config->state_dir, &keys, &why) == ERR_OK;
    daemon_state.has_keys = has_keys;
    if (has_keys) {
        daemon_state.keys = keys;
        ring_key_set(config->state_dir, keys.ring[0].id);
    } else {
        report_fault("keys", "keys", &why);
        log_error(
            "event=start lists=none: without keys no list can be read; until they "
            "are mended mail is passed on without looking anything up");
    }
    service_set_digest_key(has_keys ? &keys.ring[0] : NULL);
    if (has_keys && config->count.messages_per_day >
                        0) { /* without memory no text counts as boilerplate */
        service_set_boilerplate(
            boilerplate_new(boilerplate_size(config->count.messages_per_day)));
    }
    struct list_manager *lists =
        list_manager_new(config->state_dir, has_keys ? &keys : NULL);
    set_lines(config, lists);
    *retfailed = lists && list_manager_refresh(lists, config, &why) != ERR_OK;
    if (*retfailed) {
        report_fault("lists", "lists", &why);
    }
    return lists;
}

/* ---- hooks ---- */

static void on_tick(void)
{
    /* A sign of life only if the locks that mail needs can be had. */
    (void)service_messages();
    notify_watchdog();
    mapped_files_keep(daemon_state.hits, daemon_state.ham_log);
    campaigns_tick(service_campaigns(), clock_wall_us() / 1000000);
    stats_set(STAT_campaigns, campaigns_count(service_campaigns()));
}

static void forget_context(void *ctx)
{
    smfi_setpriv(ctx, NULL);
}

/* No new connections; messages in flight end; then no callback runs. */
static bool end_service(void)
{
    log_info("event=stop sessions=%zu messages=%zu", service_sessions(),
             service_messages());
    notify_stopping();
    control_stop();
    scan_stop();
    report_spool_stop();
    milter_listener_remove(&daemon_state.listener);
    milter_listener_shut(&daemon_state.listener);
    if (daemon_state.listener.is_kept) {
        /* new connections wait for the next gillnetd; one that is cut between two messages would be
         * answered by the MTA's default action until its client is gone */
        service_await_sessions(HANDOVER_US, signals_is_urgent);
    }
    if (!service_drain(DRAIN_US, signals_is_urgent)) {
        log_warn(
            "event=stop cut=%zu: messages still in flight are answered by the MTA's "
            "default action",
            service_messages());
    }
    bool is_closed = service_close_gate(GATE_US);
    if (is_closed) {
        usleep(SETTLE_US);
        service_each_context(forget_context);
    }
    return is_closed;
}

/* Before libmilter hears that it is to stop: it would drop what waits and free what runs. Also
 * after smfi_main, which may return by itself. Returns when the end has been done, once. */
static void stop_once(void)
{
    pthread_mutex_lock(&daemon_state.lock);
    bool is_first = daemon_state.stop == STOP_NONE;
    if (is_first) {
        daemon_state.stop = STOP_UNDER_WAY;
    }
    while (!is_first && daemon_state.stop != STOP_DONE) {
        pthread_cond_wait(&daemon_state.stopped, &daemon_state.lock);
    }
    pthread_mutex_unlock(&daemon_state.lock);
    if (!is_first) {
        return;
    }
    bool is_closed = end_service();
    pthread_mutex_lock(&daemon_state.lock);
    daemon_state.stop = STOP_DONE;
    daemon_state.is_gate_closed = is_closed;
    pthread_cond_broadcast(&daemon_state.stopped);
    pthread_mutex_unlock(&daemon_state.lock);
}

/* ---- up and down ---- */

static int start_failed(const struct errinfo *why, int status)
{
    log_errinfo("start", why);
    return status;
}

static int open_sockets(const struct config *config,
                        const struct daemon_options *options)
{
    struct errinfo why;
    char postfix[SOCKET_TEXT_MAX];
    char sendmail[SOCKET_TEXT_MAX];
    if (!callbacks_register()) {
        errinfo_set(&why, ERR_UNSUPPORTED, "libmilter", 0,
                    "this libmilter refuses our callbacks; it must be of Sendmail 8.14 "
                    "or later");
        return start_failed(&why, EX_SOFTWARE);
    }
    smfi_settimeout((int)config->limits.session_idle_s);
    smfi_setmaxdatasize(PACKET_DATA_MAX);
    enum err e = control_open(config->control_socket, &why);
    if (e == ERR_EXISTS) {
        return start_failed(&why, EX_UNAVAILABLE);
    }
    if (e != ERR_OK) {
        report_fault("control", "control", &why);
    }
    e = milter_listen(&daemon_state.listener, &options->socket, config, &why);
    if (e != ERR_OK) {
        return start_failed(&why, EX_UNAVAILABLE);
    }
    open_counts(config); /* only now: they may be another instance's, which runs */
    open_hits(config);
    if (daemon_state.has_keys) {
        outgoing_open(config, &daemon_state.keys);
    }
    open_embargo(config);
    open_campaigns(config);
    file_reader_open(config);
    open_reports(config);
    daemon_state.emergency = emergency_new(config->state_dir);
    service_set_emergency(daemon_state.emergency);
    learn_open(config);
    daemon_state.users = users_new(config->state_dir); /* NULL: none has settings */
    service_set_users(daemon_state.users);
    log_info("event=listen socket=%s sendmail=%s control=%s",
             socket_postfix(&options->socket, postfix),
             socket_sendmail(&options->socket, sendmail), config->control_socket);
    return EX_OK;
}

static int start_threads(const struct daemon_options *options, bool lists_failed)
{
    static const struct signal_hooks hooks = {
        .reload = watch_ask_reload, .tick = on_tick, .stop = stop_once};
    struct errinfo why;
    daemon_state.guard = list_health_new(daemon_state.lists, daemon_state.hits);
    watch_set_list_health(daemon_state.guard);
    watch_set_users(daemon_state.users);
    if (!daemon_state.guard ||
        watch_start(options->config_file, daemon_state.lists, lists_failed) != ERR_OK ||
        !scan_start() || !report_spool_start() || !learn_start() ||
        !mail_report_start() || !control_start() || signals_start(&hooks) != ERR_OK) {
        errinfo_set(&why, ERR_NOMEM, "threads", 0,
                    "a thread cannot be started; raise TasksMax or the user's limit of "
                    "processes");
        return start_failed(&why, EX_OSERR);
    }
    return EX_OK;
}

static bool is_stopping(void)
{
    pthread_mutex_lock(&daemon_state.lock);
    bool is = daemon_state.stop != STOP_NONE;
    pthread_mutex_unlock(&daemon_state.lock);
    return is;
}

/* A stop that comes before libmilter listens closes its socket under it, which it calls a
 * failure. */
static int serve(void)
{
    notify_ready("working");
    int status = smfi_main() == MI_SUCCESS || is_stopping() ? EX_OK : EX_UNAVAILABLE;
    if (status != EX_OK) {
        log_error(
            "event=stop error=libmilter: it cannot go on; see the mail log for its "
            "reason");
    }
    stop_once();
    return status;
}

static void tear_down(void)
{
    signals_stop();
    watch_stop();
    learn_stop();
    list_health_free(&daemon_state.guard);
    control_stop();
    scan_stop();
    report_spool_stop();
    mail_report_stop();
    milter_listener_remove(&daemon_state.listener);
    if (daemon_state.is_gate_closed) {
        outgoing_close();
        service_fini();
        learn_close();
        list_manager_free(&daemon_state.lists);
        line_client_free(&daemon_state.lines);
        users_free(&daemon_state.users);
        lookup_stats_close(&daemon_state.hits);
        count_close(&daemon_state.counts);
        ham_record_use(NULL, NULL);
        ham_log_close(&daemon_state.ham_log);
        journal_record_use(NULL, NULL);
        journal_close(&daemon_state.journal);
        reports_close(&daemon_state.reports);
        embargo_free(&daemon_state.embargo);
        campaigns_close(&daemon_state.campaigns);
        file_reader_close();
        emergency_free(&daemon_state.emergency);
    } else {
        log_warn("event=stop error=busy: a message is still being examined; its memory "
                 "is left to the system");
    }
    stats_set(STAT_pid, 0);
    stats_close();
    history_close();
    periods_close();
    log_info("event=stopped");
    log_stop();
}

int daemon_run(struct config *config, const struct daemon_options *options)
{
    bool lists_failed;
    signals_block();
    open_log(config, options->logs_to_stderr);
    log_info("event=start version=%s pid=%ld config=%s config_id=%08x", GILLNET_VERSION,
             (long)getpid(), config->file, (unsigned)config_id(config));
    unsigned most = session_limit(config);
    daemon_state.lists = open_lists(config, &lists_failed);
    int status = EX_OSERR;
    if (!daemon_state.lists) {
        log_error("event=start error=memory: out of memory");
        config_release(&config);
        log_stop();
        return status;
    }
    (void)file_sweep_old_temps(config->state_dir, TEMPS_OLD_S, NULL);
    watch_keep_rules(config);
    service_init(config, daemon_state.lists, !options->socket.is_unix, most);
    status = open_sockets(config, options);
    if (status == EX_OK) {
        status = start_threads(options, lists_failed);
    }
    if (status == EX_OK) {
        status = serve();
    }
    tear_down();
    return status;
}
