/* main - the program gillnet-reader, which reads files of messages in processes without rights.
 *
 * systemd gives it a listening socket (gillnet-reader.socket); so does `gillnet check`. */
#include <getopt.h>
#include <signal.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>

#include "core/base/base.h"
#include "core/base/log.h"
#include "core/base/unix_place.h"
#include "core/base/version.h"
#include "core/reader/picture/ocr.h"
#include "core/reader/pool/pool.h"

enum { MEMORY_MIB = 512, MEMORY_MIB_LEAST = 64, MEMORY_MIB_MOST = 1 << 20 };

struct arguments {
    const char *socket; /* NULL: one is given */
    unsigned processes;
    uint64_t memory_mib;
    const char *languages; /* NULL: no text in pictures is read */
    bool prints_version;
};

static int usage(FILE *to)
{
    (void)fprintf(
        to,
        "usage: gillnet-reader [--socket PATH] [--processes N] [--memory MIB]\n"
        "                      [--ocr LANGUAGES]\n"
        "Reads files of messages for gillnetd, each in a process without rights.\n"
        "  --socket PATH   listen there; without it systemd gives the socket\n"
        "  --processes N   files that are read at a time (1 to %d; default: "
        "processors)\n"
        "  --memory MIB    memory of each process (default %d)\n"
        "  --ocr LANGUAGES text in pictures is read by tesseract: eng, or eng+deu\n",
        POOL_PROCESSES_MAX, MEMORY_MIB);
    return to == stdout ? EX_OK : EX_USAGE;
}

static bool read_option(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
    return slice_to_u64(slice_str(text), 10, most, ret) && *ret >= least;
}

static int read_arguments(int argc, char **argv, struct arguments *ret)
{
    static const struct option options[] = {{"socket", required_argument, NULL, 's'},
                                            {"processes", required_argument, NULL, 'p'},
                                            {"memory", required_argument, NULL, 'm'},
                                            {"ocr", required_argument, NULL, 'o'},
                                            {"version", no_argument, NULL, 'V'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = processors > 0 ? (uint64_t)processors : 1;
    int c;

    *ret = (struct arguments){.memory_mib = MEMORY_MIB};
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    while ((c = getopt_long(argc, argv, "V", options, NULL)) != -1) {
        if (c == 's') {
            ret->socket = optarg;
        } else if (c == 'o') {
            ret->languages = optarg;
        } else if (c == 'V') {
            ret->prints_version = true;
        } else if (c == 'h') {
            exit(usage(stdout)); /* NOLINT(concurrency-mt-unsafe) */
        } else if ((c == 'p' && read_option(optarg, 1, POOL_PROCESSES_MAX, &n)) ||
                   (c == 'm' && read_option(optarg, MEMORY_MIB_LEAST, MEMORY_MIB_MOST,
                                            &ret->memory_mib))) {
            continue;
        } else {
            return usage(stderr);
        }
    }
    ret->processes = (unsigned)(n < POOL_PROCESSES_MAX ? n : POOL_PROCESSES_MAX);
    return optind == argc ? EX_OK : usage(stderr);
}

/* The socket that systemd gives, or one of our own. */
static enum err get_listener(const struct arguments *a, struct unix_place *place,
                             int *retfd, struct errinfo *reterr)
{
    if (a->socket != NULL) {
        return unix_place_listen(place, a->socket, "--socket", POOL_BACKLOG, retfd,
                                 reterr);
    }
    if (sd_listen_fds(1) != 1) {
        return errinfo_set(reterr, ERR_NOT_FOUND, "gillnet-reader", 0,
                           "no socket is given: start gillnet-reader.socket, or name "
                           "one with --socket PATH");
    }
    *retfd = SD_LISTEN_FDS_START;
    (void)fcntl(*retfd, F_SETFL, fcntl(*retfd, F_GETFL) | O_NONBLOCK);
    return ERR_OK;
}

int main(int argc, char **argv)
{
    struct arguments a;
    struct unix_place place = {.is_placed = false};
    struct errinfo why;
    struct pool_options options;
    int status = read_arguments(argc, argv, &a);

    if (status != EX_OK) {
        return status;
    }
    if (a.prints_version) {
        (void)printf("gillnet-reader %s\n", GILLNET_VERSION);
        return EX_OK;
    }
    (void)signal(SIGPIPE, SIG_DFL); /* who writes to nobody may end */
    enum err e = base_init();
    if (a.languages != NULL) {
        THEN(e, ocr_warm(a.languages, &why));
    }
    THEN(e, get_listener(&a, &place, &options.listener, &why));
    if (e == ERR_OK) {
        options.processes = a.processes;
        options.memory = a.memory_mib << 20;
        e = pool_run(&options, &why);
    }
    if (e != ERR_OK) {
        log_errinfo("reader", &why);
    }
    /* the sandbox lets neither the socket's file be removed, which the next start replaces, nor
     * libraries end as they would */
    _exit(e == ERR_OK ? EX_OK : EX_OSERR);
}
