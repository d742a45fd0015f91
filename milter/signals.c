#include "milter/signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/log.h"

#include "milter/readahead.h"

enum {
    TICK_S = 1,
    ACCEPT_PAUSE_MS = 100, /* without descriptors */
    SHUT_PAUSE_MS = 10,    /* with a listening socket that is shut down */
    BURST_US = 1000,       /* connections closer together than this are a burst */
    BURST_PAUSE_US = 200,  /* between connections of a burst */
    ACCEPT_LOG_US = 60 * 1000 * 1000
};

static struct {
    pthread_mutex_t lock; /* guards: hooks, is_ending */
    struct signal_hooks hooks;
    bool is_ending;
    bool is_started; /* main thread only */
    pthread_t thread;
} signals = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void reload_set(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGHUP);
    sigaddset(ret, SIGUSR1);
}

static void stop_set(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGTERM);
    sigaddset(ret, SIGINT);
}

void signals_block(void)
{
    sigset_t set;
    reload_set(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static bool is_ending(void)
{
    pthread_mutex_lock(&signals.lock);
    bool ending = signals.is_ending;
    pthread_mutex_unlock(&signals.lock);
    return ending;
}

static void *run_signals(void *context)
{
    (void)context;
    sigset_t set;
    reload_set(&set);
    pthread_mutex_lock(&signals.lock);
    struct signal_hooks hooks = signals.hooks;
    pthread_mutex_unlock(&signals.lock);
    uint64_t next_tick = 0;
    while (!is_ending()) {
        struct timespec t = {.tv_sec = TICK_S};
        int sig = sigtimedwait(&set, NULL, &t);
        if (sig > 0 && !is_ending()) {
            hooks.reload();
        }
        uint64_t now = clock_mono_us();
        if (now >= next_tick) {
            next_tick = now + (uint64_t)TICK_S * 1000000;
            hooks.tick();
        }
    }
    return NULL;
}

enum err signals_start(const struct signal_hooks *hooks)
{
    pthread_mutex_lock(&signals.lock);
    signals.hooks = *hooks;
    signals.is_ending = false;
    pthread_mutex_unlock(&signals.lock);
    if (pthread_create(&signals.thread, NULL, run_signals, NULL) != 0) {
        return ERR_NOMEM;
    }
    signals.is_started = true;
    return ERR_OK;
}

void signals_stop(void)
{
    if (!signals.is_started) {
        return;
    }
    pthread_mutex_lock(&signals.lock);
    signals.is_ending = true;
    pthread_mutex_unlock(&signals.lock);
    pthread_kill(signals.thread, SIGUSR1); /* blocked there: it ends the wait */
    pthread_join(signals.thread, NULL);
    signals.is_started = false;
}

bool signals_is_urgent(void)
{
    sigset_t set;
    struct timespec now = {.tv_sec = 0};
    stop_set(&set);
    return sigtimedwait(&set, NULL, &now) > 0;
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000 * 1000};
    nanosleep(&t, NULL);
}

/* In place of the C library's; see the header. */
__attribute__((visibility("default"))) int sigwait(const sigset_t *set, int *sig)
{
    sigset_t mine = *set;
    sigdelset(&mine, SIGHUP);
    int got;
    do {
        got = sigwaitinfo(&mine, NULL);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return errno;
    }
    if (got == SIGTERM || got == SIGINT) {
        pthread_mutex_lock(&signals.lock);
        void (*stop)(void) = signals.hooks.stop;
        signals.hooks.stop = NULL;
        pthread_mutex_unlock(&signals.lock);
        if (stop) {
            stop();
        }
        got = SIGTERM; /* INT would make libmilter break off its sessions */
    }
    *sig = got;
    return 0;
}

static void log_exhausted(int errnum)
{
    static struct clock_pace turns;
    if (clock_take_turn(&turns, ACCEPT_LOG_US)) {
        log_error("event=accept error=%s: new connections of the MTA wait; raise "
                  "LimitNOFILE or lower limits.sessions",
                  strerrorname_np(errnum));
    }
}

/* In a burst of connections libmilter's pool counts a worker as idle until it has woken up, and
 * gives it all of them, one after the other: a client that stops in the middle of a packet would
 * hold up those behind it. A moment's pause lets the worker wake. One thread calls this. */
static void pace(void)
{
    static uint64_t last_us;
    uint64_t now = clock_mono_us();
    if (now - last_us < BURST_US) {
        struct timespec t = {.tv_nsec = BURST_PAUSE_US * 1000L};
        nanosleep(&t, NULL);
    }
    last_us = now;
}

__attribute__((visibility("default"))) int accept(int fd, __SOCKADDR_ARG addr,
                                                  socklen_t *restrict n)
{
    pace();
    int got = accept4(fd, addr, n, SOCK_CLOEXEC);
    if (got >= READAHEAD_DESCRIPTORS) {
        close(got);
        got = -1;
        errno = EMFILE;
    }
    if (got >= 0) {
        (void)readahead_open(got);
        return got;
    }
    int e = errno;
    if (e == EMFILE || e == ENFILE || e == ENOBUFS || e == ENOMEM) {
        log_exhausted(e);
        pause_ms(ACCEPT_PAUSE_MS);
        e = EAGAIN;
    } else if (e == EINVAL) {
        pause_ms(SHUT_PAUSE_MS);
        e = EAGAIN;
    }
    errno = e;
    return -1;
}
