#include "core/cli/own_reader.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "core/base/file.h"
#include "core/cli/cli.h"
#include "core/reader/client/client.h"

enum { GIVEN_SOCKET = 3, BACKLOG = 64, NAMED_PID = 40 };

static struct {
    struct reader_client *client;
    pid_t pid;
    bool was_tried;
} reader;

static void stop(void)
{
    reader_client_free(&reader.client);
    if (reader.pid > 0) {
        (void)kill(reader.pid, SIGTERM);
        while (waitpid(reader.pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

/* A listening socket under a name that the kernel chooses, in no folder. */
static int listen_somewhere(void)
{
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 &&
        (bind(fd, (const struct sockaddr *)&any, sizeof(any.sun_family)) != 0 ||
         listen(fd, BACKLOG) != 0)) {
        fd_close(&fd);
    }
    return fd;
}

/* In the child: the program finds its socket as systemd gives it, and nothing else of us. */
static _Noreturn void become_reader(const char *program, int listener, pid_t parent)
{
    char pid[NAMED_PID];
    char count[] = "LISTEN_FDS=1";
    char *const environment[] = {pid, count, NULL};
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    (void)snprintf(pid, sizeof(pid), "LISTEN_PID=%d", (int)getpid());
    if (getppid() == parent &&
        (listener == GIVEN_SOCKET ? fcntl(listener, F_SETFD, 0) == 0
                                  : dup2(listener, GIVEN_SOCKET) == GIVEN_SOCKET)) {
        (void)execle(program, program, (char *)NULL, environment);
    }
    _exit(EX_UNAVAILABLE);
}

static enum err start_program(const char *program, struct errinfo *reterr)
{
    const pid_t parent = getpid();
    int fd = listen_somewhere();
    enum err e = fd >= 0 ? reader_client_to(fd, &reader.client, reterr)
                         : errinfo_errno(reterr, program, "no socket can be made");

    if (e == ERR_OK) {
        reader.pid = fork();
        if (reader.pid == 0) {
            become_reader(program, fd, parent);
        }
        if (reader.pid < 0 || atexit(stop) != 0) {
            e = errinfo_errno(reterr, program, "cannot be started");
            stop();
        }
    }
    fd_close(&fd);
    return e;
}

static void start(void)
{
    char program[FILE_PATH_MAX];
    struct errinfo why;
    enum err e = program_find(program, PROGRAM_READER, &why);

    reader.was_tried = true;
    THEN(e, start_program(program, &why));
    if (e != ERR_OK) {
        (void)cli_fail(&why);
        cli_say("pictures, documents and archives are read in part");
    }
}

static enum reader_outcome ask_own(void *context, const struct reader_job *job,
                                   uint64_t within_us, record_fn *on_record,
                                   void *record_context)
{
    (void)context;
    if (!reader.was_tried) {
        start();
    }
    return reader.client == NULL ? READER_ABSENT
                                 : reader_client_ask(reader.client, job, within_us,
                                                     on_record, record_context);
}

void own_reader_offer(struct extract_limits *limits)
{
    static const struct reader_ask offer = {.ask = ask_own};

    limits->reader = limits->reader_us > 0 ? &offer : NULL;
}
