#include "core/reader/pool/pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/reader/pool/sandbox.h"
#include "core/reader/pool/worker.h"

enum { PLACE_SIGNALS, PLACE_LISTENER, PLACES, TICK_MS = 500, LOG_EVERY_US = 10000000 };

struct child {
    pid_t pid;
    int connection; /* kept to see that the client closes its end */
    uint64_t until_us;
    bool is_killed;
};

struct pool {
    struct pool_options o;
    int signals;
    int silence; /* for the standard streams of the processes: libraries print */
    sigset_t before;
    bool is_over;
    unsigned n;
    struct child child[POOL_PROCESSES_MAX];
    struct pollfd poll[PLACES + POOL_PROCESSES_MAX];
};

/* In the child: nothing of the parent's stays open but the connection. */
static _Noreturn void become_worker(struct pool *p, int connection)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)pthread_sigmask(SIG_SETMASK, &p->before, NULL);
    (void)close(p->o.listener);
    (void)close(p->signals);
    /* of `gillnet check`: mail, and what it says of it */
    (void)dup2(p->silence, STDIN_FILENO);
    (void)dup2(p->silence, STDOUT_FILENO);
    if (!sandbox_has_sanitizer()) {
        (void)dup2(p->silence, STDERR_FILENO);
    }
    (void)close(p->silence);
    for (unsigned i = 0; i < p->n; i++) {
        (void)close(p->child[i].connection);
    }
    worker_run(connection, p->o.memory);
}

static void accept_one(struct pool *p)
{
    static struct clock_pace pace;
    const int connection = accept4(p->o.listener, NULL, NULL, SOCK_CLOEXEC);

    if (connection < 0) {
        return;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        become_worker(p, connection);
    }
    if (pid < 0) {
        if (clock_take_turn(&pace, LOG_EVERY_US)) {
            log_error("event=reader error=\"no process for a file: %s\"",
                      strerror(errno)); /* NOLINT(concurrency-mt-unsafe) */
        }
        (void)close(connection);
        return;
    }
    p->child[p->n++] =
        (struct child){.pid = pid,
                       .connection = connection,
                       .until_us = clock_mono_us() + POOL_SECONDS * UINT64_C(1000000)};
}

static void kill_child(struct child *c)
{
    if (!c->is_killed) {
        (void)kill(c->pid, SIGKILL);
        c->is_killed = true;
    }
}

/* Only deaths that nobody ordered: a library's fault, or a bound of memory or time. */
static void note_death(const struct child *c, int status)
{
    static struct clock_pace pace;

    const bool is_odd = WIFSIGNALED(status) || WEXITSTATUS(status) == WORKER_REFUSED;

    if (!is_odd || c->is_killed || !clock_take_turn(&pace, LOG_EVERY_US)) {
        return;
    }
    if (WIFSIGNALED(status)) {
        log_warn("event=reader result=died signal=%d pid=%d", WTERMSIG(status),
                 (int)c->pid);
    } else {
        log_warn("event=reader result=refused pid=%d: what came is no request, or it "
                 "is larger than --memory, or the sandbox cannot be entered",
                 (int)c->pid);
    }
}

static void reap(struct pool *p)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        unsigned i = 0;
        while (i < p->n && p->child[i].pid != pid) {
            i++;
        }
        if (i < p->n) {
            note_death(&p->child[i], status);
            (void)close(p->child[i].connection);
            p->child[i] = p->child[--p->n];
        }
    }
}

static void take_signals(struct pool *p)
{
    struct signalfd_siginfo info;

    while (read(p->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        p->is_over = p->is_over || info.ssi_signo != SIGCHLD;
    }
    reap(p);
}

static void await(struct pool *p)
{
    p->poll[PLACE_SIGNALS] = (struct pollfd){.fd = p->signals, .events = POLLIN};
    p->poll[PLACE_LISTENER] = (struct pollfd){
        .fd = p->n < p->o.processes ? p->o.listener : -1, .events = POLLIN};
    for (unsigned i = 0; i < p->n; i++) {
        p->poll[PLACES + i] =
            (struct pollfd){.fd = p->child[i].is_killed ? -1 : p->child[i].connection,
                            .events = POLLRDHUP};
    }
    if (poll(p->poll, PLACES + p->n, p->n > 0 ? TICK_MS : -1) < 0) {
        for (unsigned i = 0; i < PLACES + p->n; i++) {
            p->poll[i].revents = 0;
        }
    }
}

static void pool_step(struct pool *p)
{
    await(p);
    const uint64_t now = clock_mono_us();
    for (unsigned i = 0; i < p->n; i++) {
        if ((p->poll[PLACES + i].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0 ||
            now >= p->child[i].until_us) {
            kill_child(&p->child[i]);
        }
    }
    if (p->poll[PLACE_SIGNALS].revents != 0) {
        take_signals(p);
    }
    if (p->poll[PLACE_LISTENER].revents != 0 && p->n < p->o.processes) {
        accept_one(p);
    }
}

static enum err take_over_signals(struct pool *p, struct errinfo *reterr)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &set, &p->before);
    p->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return p->signals >= 0
               ? ERR_OK
               : errinfo_errno(reterr, "signalfd", "signals cannot be read");
}

enum err pool_run(const struct pool_options *options, struct errinfo *reterr)
{
    static struct pool p;

    p = (struct pool){.o = *options};
    worker_warm();
    enum err e = take_over_signals(&p, reterr);
    p.silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
    THEN(e, sandbox_enter(SANDBOX_POOL, reterr));
    while (e == ERR_OK && !p.is_over) {
        pool_step(&p);
    }
    for (unsigned i = 0; i < p.n; i++) {
        kill_child(&p.child[i]);
    }
    fd_close(&p.signals);
    return e;
}
