/*
 * gillnetd - the milter: reads mail, looks its features up, answers the MTA.
 */
#include <getopt.h>
#include <sysexits.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/nearest.h"
#include "core/base/statedir.h"
#include "core/base/statedir_try.h"
#include "core/base/version.h"
#include "core/config/advice.h"
#include "core/config/config.h"
#include "core/config/wiring.h"
#include "core/verdict/rule/rule.h"

#include "milter/daemon.h"
#include "milter/socket.h"

enum { MTA_LINES_MAX = 8192 };

struct arguments {
    const char *config_file;
    const char *socket; /* -p; NULL: as configured */
    bool tests;
    bool logs_to_stderr;
    bool prints_version;
};

static void print_usage(FILE *to)
{
    (void)fputs(
        "usage: gillnetd [-c FILE] [-p SOCKET] [-f]\n"
        "       gillnetd -t [-c FILE] [-p SOCKET]\n"
        "  -c FILE    configuration (default " CONFIG_DEFAULT_FILE ")\n"
        "  -p SOCKET  listen here: unix:/PATH, inet:HOST:PORT or inet:PORT@HOST\n"
        "  -f         log to standard error\n"
        "  -t         test the configuration, print the MTA's lines, and exit\n"
        "  -V         print the version\n"
        "  -h         this text\n",
        to);
}

static int read_arguments(int argc, char **argv, struct arguments *ret)
{
    static const struct option longs[] = {{"config", required_argument, NULL, 'c'},
                                          {"socket", required_argument, NULL, 'p'},
                                          {"foreground", no_argument, NULL, 'f'},
                                          {"test", no_argument, NULL, 't'},
                                          {"version", no_argument, NULL, 'V'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    *ret = (struct arguments){.config_file = CONFIG_DEFAULT_FILE};
    int o;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread yet */
    while ((o = getopt_long(argc, argv, "c:p:ftVh", longs, NULL)) != -1) {
        switch (o) {
        case 'c':
            ret->config_file = optarg;
            break;
        case 'p':
            ret->socket = optarg;
            break;
        case 'f':
            ret->logs_to_stderr = true;
            break;
        case 't':
            ret->tests = true;
            break;
        case 'V':
            ret->prints_version = true;
            break;
        case 'h':
            print_usage(stdout);
            exit(EX_OK); /* NOLINT(concurrency-mt-unsafe): no other thread yet */
        default:
            nearest_option_print("gillnetd", argv[optind - 1], longs);
            print_usage(stderr);
            return EX_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "gillnetd: \"%s\" is not understood\n", argv[optind]);
        print_usage(stderr);
        return EX_USAGE;
    }
    return EX_OK;
}

static void print_error(const struct errinfo *e)
{
    char line[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];
    fprintf(stderr, "gillnetd: %s\n", errinfo_format(e, line, sizeof(line)));
}

static int load_config(const char *file, struct config **ret)
{
    return ruleset_load_or_print("gillnetd", file, ret) ? EX_OK : EX_CONFIG;
}

static void on_trouble(void *context, const char *what, const char *mend)
{
    unsigned *n = context;
    ++*n;
    fprintf(stderr, "gillnetd: %s; mend it: %s\n", what, mend);
}

/* Whether gillnetd, as the user of its unit, can use the state folder. False: the errors are
 * printed. */
static bool try_state(const char *file, const struct config *config)
{
    struct statedir_use use = {
        .dir = config->state_dir, .config_file = file, .service = STATEDIR_GILLNETD};
    struct errinfo why = {.code = ERR_OK};
    unsigned n = 0;
    if (!statedir_user(use.dir, use.service, 0, &use.user)) {
        return true;
    }
    enum err e = statedir_try(&use, on_trouble, &n, &why);
    if (e != ERR_OK && e != ERR_DENIED) {
        print_error(&why);
    }
    return n == 0;
}

/* Prints the lines for main.cf and sendmail.mc. */
static void print_mta_lines(const char *file, const struct milter_socket *s,
                            bool is_good)
{
    char port[16];
    char postfix[SOCKET_TEXT_MAX];
    char sendmail[SOCKET_TEXT_MAX];
    struct wiring w = {
        .path = s->is_unix ? s->path : NULL, .host = s->host, .port = port};
    struct buf text;

    snprintf(port, sizeof(port), "%u", s->port);
    buf_init(&text, MTA_LINES_MAX);
    buf_printf(
        &text,
        "%s %s.\n\n"
        "Socket: %s (Postfix's spelling), %s (Sendmail's); socket = takes both.\n\n"
        "`gillnet setup postfix` and `gillnet setup sendmail` write these lines for you.\n\n"
        "Postfix, main.cf:\n",
        file,
        is_good ? "is good"
                : "has no errors, but gillnetd cannot use all of the state folder",
        socket_postfix(s, postfix), socket_sendmail(s, sendmail));
    wiring_postfix_lines(&w, WIRING_QUEUE, "    ", &text);
    if (s->is_unix && !wiring_is_below(&w, WIRING_QUEUE)) {
        buf_add_str(
            &text,
            "  smtpd reaches this path only where master.cf says \"n\" under chroot "
            "for it (Debian says \"y\");\n"
            "  otherwise let gillnetd listen on unix:" WIRING_QUEUE
            "/" WIRING_BELOW_QUEUE ".\n");
    }
    buf_add_str(&text, "\nSendmail, sendmail.mc:\n    ");
    wiring_sendmail_line(&w, &text);
    printf("%.*s\n", SLICE_ARGS(buf_slice(&text)));
    buf_fini(&text);
}

static void print_advice(const struct config *config)
{
    struct config_advice a;

    for (size_t i = 0; config_advice(config, i, &a); i++) {
        fprintf(stderr, "gillnetd: warning: %s%s%s%s; %s\n",
                a.kind, a.name, *a.name == '\0' ? "" : ": ", a.what, a.todo);
    }
}

int main(int argc, char **argv)
{
    struct arguments a;
    int status = read_arguments(argc, argv, &a);
    if (status != EX_OK) {
        return status;
    }
    if (a.prints_version) {
        printf("gillnetd %s\n", GILLNET_VERSION);
        return EX_OK;
    }
    if (base_init() != ERR_OK) {
        (void)fputs("gillnetd: the cryptographic library cannot be initialised\n",
                    stderr);
        return EX_SOFTWARE;
    }
    struct config *config = NULL;
    status = load_config(a.config_file, &config);
    if (status != EX_OK) {
        return status;
    }
    struct daemon_options options = {.config_file = a.config_file,
                                     .logs_to_stderr = a.logs_to_stderr};
    struct errinfo why;
    if (socket_parse(a.socket ? a.socket : config->socket, &options.socket, &why) !=
        ERR_OK) {
        print_error(&why);
        config_release(&config);
        return a.socket ? EX_USAGE : EX_CONFIG;
    }
    if (statedir_check(config->state_dir, &why) != ERR_OK) {
        print_error(&why);
        config_release(&config);
        return EX_NOPERM;
    }
    if (a.tests) {
        bool is_good = try_state(a.config_file, config);
        print_mta_lines(a.config_file, &options.socket, is_good);
        print_advice(config);
        config_release(&config);
        /* the unit runs -t as gillnetd's user before a start: an unreadable file is no reason to
         * leave all mail unfiltered */
        return is_good || geteuid() != 0 ? EX_OK : EX_NOPERM;
    }
    return daemon_run(config, &options);
}
