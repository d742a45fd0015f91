/* services - gillnetd and the hub, seen from the command line. */
#include "core/cli/services.h"

#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "core/base/file.h"

/* ---- control sockets ---- */

static enum err refuse_connect(struct errinfo *reterr, int errnum, const char *path)
{
    if (errnum == ENOENT || errnum == ECONNREFUSED) {
        return errinfo_set(reterr, ERR_NOT_FOUND, path, 0,
                           "nobody listens there; is gillnetd running with this "
                           "configuration (state_dir, control_socket)?");
    }
    if (errnum == EACCES || errnum == EPERM) {
        return errinfo_set(reterr, ERR_DENIED, path, 0,
                           "no right to connect; run as root or as gillnetd's user");
    }
    return errinfo_set(reterr, err_of_errno(errnum), path, 0, "cannot connect: %s",
                       strerrordesc_np(errnum));
}

/* The address of path; a long one as /proc/self/fd/FOLDER/NAME, *retdir then open. */
static enum err address_of(const char *path, struct sockaddr_un *ret, int *retdir,
                           struct errinfo *reterr)
{
    const char *slash = strrchr(path, '/');
    char dir[FILE_PATH_MAX];

    memset(ret, 0, sizeof(*ret));
    ret->sun_family = AF_UNIX;
    *retdir = -1;
    if (strlen(path) < sizeof(ret->sun_path)) {
        memcpy(ret->sun_path, path, strlen(path));
        return ERR_OK;
    }
    if (slash == NULL || strlen(slash) > 64 ||
        path_make(dir, NULL, "%.*s", (int)(slash - path), path) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, path, 0,
                           "the path is too long; set control_socket to a shorter one");
    }
    *retdir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*retdir < 0) {
        return refuse_connect(reterr, errno, path);
    }
    (void)snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d%s", *retdir,
                   slash);
    return ERR_OK;
}

enum err control_connect(const char *path, int *retfd, struct errinfo *reterr)
{
    struct sockaddr_un address;
    int dir = -1;
    int fd = -1;
    int errnum = 0;
    enum err e = address_of(path, &address, &dir, reterr);

    if (e != ERR_OK) {
        return e;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        errnum = errno;
    }
    fd_close(&dir);
    if (errnum != 0) {
        fd_close(&fd);
        return refuse_connect(reterr, errnum, path);
    }
    *retfd = fd;
    return ERR_OK;
}

enum err control_dial(const char *host, const char *port, int wait_s, int *retfd,
                      struct errinfo *reterr)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const struct timeval wait = {.tv_sec = wait_s};
    struct addrinfo *found = NULL;
    int failed = getaddrinfo(host, port, &hints, &found);
    int fd = -1;

    if (failed != 0) {
        return errinfo_set(reterr, ERR_SYNTAX, host, 0, "%s", gai_strerror(failed));
    }
    errno = ECONNREFUSED;
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0) {
            (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
            (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
        }
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            int errnum = errno;

            fd_close(&fd);
            errno = errnum;
        }
    }
    int errnum = errno;
    freeaddrinfo(found);
    *retfd = fd;
    return fd >= 0 ? ERR_OK
                   : errinfo_set(reterr, err_of_errno(errnum), host, 0, "%s",
                                 strerrordesc_np(errnum));
}

bool control_listens(const char *path)
{
    int fd = -1;
    bool is_heard = control_connect(path, &fd, NULL) == ERR_OK;

    fd_close(&fd);
    return is_heard;
}

static enum err broken(struct errinfo *reterr, int errnum, const char *path)
{
    if (errnum == EAGAIN) {
        return errinfo_set(reterr, ERR_TIMEOUT, path, 0,
                           "no answer within %d s; see the log of gillnetd",
                           (int)CONTROL_WAIT_S);
    }
    return errinfo_set(reterr, err_of_errno(errnum), path, 0,
                       "gillnetd broke the connection off: %s; see its log",
                       strerrordesc_np(errnum));
}

static enum err exchange(int fd, const char *path, struct slice line,
                         struct buf *retanswer, struct errinfo *reterr)
{
    struct timeval wait = {.tv_sec = CONTROL_WAIT_S};
    char chunk[4096];
    ssize_t n = 0;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    while (line.n > 0) {
        n = send(fd, line.p, line.n, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return broken(reterr, errno, path);
        }
        line = slice_from(line, n > 0 ? (size_t)n : 0);
    }
    n = 0;
    while (!buf_failed(retanswer)) {
        n = recv(fd, chunk, sizeof(chunk), 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        buf_add(retanswer, slice_of(chunk, (size_t)n));
    }
    if (n < 0) {
        return broken(reterr, errno, path);
    }
    if (buf_failed(retanswer)) {
        return errinfo_set(
            reterr, ERR_LIMIT, path, 0,
            "the answer is too long; is it gillnetd that listens there?");
    }
    if (slice_find(buf_slice(retanswer), '\n') == retanswer->n) {
        return errinfo_set(reterr, ERR_SYNTAX, path, 0,
                           "no answer came; see the log of gillnetd");
    }
    return ERR_OK;
}

enum err control_ask(const char *path, const char *request, struct buf *retanswer,
                     struct errinfo *reterr)
{
    struct buf line;
    int fd = -1;
    enum err e = control_connect(path, &fd, reterr);

    if (e != ERR_OK) {
        return e;
    }
    buf_init(&line, CONTROL_ANSWER_MAX);
    buf_printf(&line, "%s\n", request);
    if (buf_failed(&line)) {
        e = errinfo_nomem(reterr, path);
    } else {
        e = exchange(fd, path, buf_slice(&line), retanswer, reterr);
    }
    buf_fini(&line);
    close(fd);
    return e;
}

enum err control_ask_rows(const char *path, const char *request,
                          char retfirst[CONTROL_FIRST_MAX], json_t **ret,
                          struct errinfo *reterr)
{
    struct buf answer;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    enum err e = control_ask(path, request, &answer, reterr);
    if (e == ERR_OK) {
        struct slice rest = buf_slice(&answer);
        struct slice first = slice_head(slice_cut(&rest, '\n'), CONTROL_FIRST_MAX);

        (void)snprintf(retfirst, CONTROL_FIRST_MAX, "%.*s", SLICE_ARGS(first));
        *ret = json_array();
        while (rest.n > 0) {
            struct slice line = slice_cut(&rest, '\n');

            (void)json_array_append_new(*ret, json_loadb(line.p, line.n, 0, NULL));
        }
    }
    buf_fini(&answer);
    return e;
}

/* ---- gillnetd's page ---- */

/* Numbers of processes are used again, so the name is looked at too. */
static bool is_gillnetd(uint64_t pid)
{
    char path[64];
    char name[32] = "";
    FILE *f = NULL;

    if (pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno == ESRCH)) {
        return false;
    }
    (void)snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)pid);
    f = fopen(path, "re");
    if (f == NULL) {
        return errno != ENOENT; /* /proc may be hidden from us */
    }
    if (fgets(name, sizeof(name), f) == NULL) {
        name[0] = '\0';
    }
    (void)fclose(f);
    return strcmp(name, "gillnetd\n") == 0;
}

enum err daemon_look(const struct config *config, struct daemon_view *ret,
                     struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/%s", config->state_dir, STATE_STATS_FILE);

    memset(ret, 0, sizeof(*ret));
    THEN(e, stats_read(path, &ret->stats, reterr));
    if (e != ERR_OK) {
        return e == ERR_NOT_FOUND ? ERR_OK : e;
    }
    ret->has_page = true;
    ret->is_running = is_gillnetd(ret->stats.value[STAT_pid]);
    return ERR_OK;
}

/* ---- the running configuration ---- */

enum { HEX = 16 };

/* "config=1a2b3c4d" among the words of a line. */
static uint32_t id_in(struct slice line)
{
    const struct slice name = SLICE_LIT("config=");
    uint64_t id = 0;

    while (line.n > 0) {
        struct slice word = slice_cut(&line, ' ');

        if (slice_has_prefix(word, name) &&
            slice_to_u64(slice_from(word, name.n), HEX, UINT32_MAX, &id)) {
            break;
        }
    }
    return (uint32_t)id;
}

static void look_at_hub(const char *socket_path, struct running *ret)
{
    const struct slice restart = SLICE_LIT("restart ");
    struct buf answer;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    if (control_ask(socket_path, "ping", &answer, NULL) == ERR_OK) {
        struct slice rest = buf_slice(&answer);

        ret->has_hub = true;
        ret->hub = id_in(slice_cut(&rest, '\n'));
        if (slice_has_prefix(rest, restart)) {
            struct slice keys = slice_from(slice_cut(&rest, '\n'), restart.n);

            (void)snprintf(ret->hub_restart, sizeof(ret->hub_restart), "%.*s",
                           SLICE_ARGS(keys));
        }
    }
    buf_fini(&answer);
}

void running_look(const struct config *config, const struct daemon_view *d,
                  struct running *ret)
{
    *ret = (struct running){.file = config_id(config)};
    if (d->is_running) {
        ret->daemon = (uint32_t)d->stats.value[STAT_config_id];
    }
    look_at_hub(config->hub.control_socket, ret);
}

static void add_other(const struct running *r, const char *who, uint32_t id,
                      struct buf *ret)
{
    if (id != 0 && id != r->file) {
        buf_printf(ret,
                   "%s runs configuration %08x and the file is %08x: gillnet reload\n",
                   who, (unsigned)id, (unsigned)r->file);
    }
}

void running_troubles(const struct running *r, struct buf *ret)
{
    add_other(r, "gillnetd", r->daemon, ret);
    add_other(r, "gillnet-hub", r->hub, ret);
    if (r->hub_restart[0] != '\0') {
        buf_printf(ret,
                   "gillnet-hub runs with another value than the file until it is "
                   "restarted: %s\n",
                   r->hub_restart);
    }
}
