/* main - the program gillnet-queue, which answers one request about held mail.
 *
 * systemd starts it for each connection to quarantine.socket (Accept=yes): standard input and
 * output are the connection, standard error is the journal. */
#include <sys/socket.h>
#include <sys/time.h>
#include <sysexits.h>

#include "core/base/base.h"
#include "core/base/log.h"
#include "core/quarantine/queue/queue.h"

enum { READ_S = 5, WRITE_S = 30, WORK_S = 300 };

static void set_times(void)
{
    const struct timeval reads = {.tv_sec = READ_S};
    const struct timeval writes = {.tv_sec = WRITE_S};

    (void)setsockopt(STDIN_FILENO, SOL_SOCKET, SO_RCVTIMEO, &reads, sizeof(reads));
    (void)setsockopt(STDOUT_FILENO, SOL_SOCKET, SO_SNDTIMEO, &writes, sizeof(writes));
    (void)alarm(WORK_S);
}

/* The request line without its end. False: it is too long, or does not come. */
static bool read_request(char ret[QUARANTINE_LINE_MAX], struct slice *retline)
{
    size_t n = 0;

    while (n < QUARANTINE_LINE_MAX) {
        const ssize_t got = read(STDIN_FILENO, ret + n, QUARANTINE_LINE_MAX - n);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        n += (size_t)got;
        *retline = slice_of(ret, n);
        if (slice_find(*retline, '\n') < n) {
            *retline = slice_head(*retline, slice_find(*retline, '\n'));
            return true;
        }
    }
    return false;
}

static void log_request(struct slice line, enum err e)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t length = sizeof(peer);
    char text[LOG_STR_MAX];

    (void)getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &peer, &length);
    log_info("event=queue request=\"%s\" uid=%d result=\"%s\"", log_str(text, line),
             (int)peer.uid, e == ERR_OK ? "ok" : err_text(e));
}

static int serve_request(const struct config *config)
{
    char bytes[QUARANTINE_LINE_MAX];
    struct slice line;
    struct errinfo why = {.text = ""};
    struct queue q;
    struct buf answer;

    if (!read_request(bytes, &line)) {
        log_warn("event=queue error=\"no request came, or it is too long\"");
        return EX_PROTOCOL;
    }
    buf_init(&answer, QUARANTINE_MESSAGE_BYTES + 1024);
    enum err e = queue_find(config, &q, &why);
    if (e == ERR_OK) {
        q.delivers = q.mta == QUARANTINE_POSTFIX; /* Sendmail would send from here */
        e = queue_serve(&q, line, &answer);
    } else {
        buf_printf(&answer, "error queue: %s\n", why.text);
    }
    log_request(line, e);
    const bool is_sent = file_write_all(STDOUT_FILENO, buf_slice(&answer));
    buf_fini(&answer);
    return is_sent ? EX_OK : EX_IOERR;
}

int main(int argc, char **argv)
{
    struct config *config = NULL;
    const char *file = CONFIG_DEFAULT_FILE;

    if (argc == 3 && strcmp(argv[1], "-c") == 0) {
        file = argv[2];
    } else if (argc != 1) {
        (void)fprintf(stderr, "usage: gillnet-queue [-c FILE], see gillnet-queue(8)\n");
        return EX_USAGE;
    } else if (access(file, F_OK) != 0 && errno == ENOENT) {
        file = NULL;
    }
    set_times();
    if (base_init() != ERR_OK ||
        !config_load_or_print("gillnet-queue", file, NULL, &config)) {
        return EX_CONFIG;
    }
    const int status = serve_request(config);
    config_release(&config);
    return status;
}
