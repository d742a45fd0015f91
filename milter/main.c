/*
 * gillnetd - the milter: reads mail, looks its features up, answers the MTA.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "core/base/base.h"
#include "core/base/nearest.h"
#include "core/base/version.h"
#include "core/config/config.h"
#include "core/feature/feature.h"

#include "milter/daemon.h"
#include "milter/socket.h"

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

/* Behind getopt's message: the nearest option to the one it refused. */
static void print_nearest(const char *option)
{
    static const char *const names[] = {"--config", "--socket",  "--foreground",
                                        "--test",   "--version", "--help"};
    const char *near =
        nearest_name(slice_str(option), names, sizeof names / sizeof names[0]);

    if (near != NULL && strcmp(near, option) != 0) {
        fprintf(stderr, "gillnetd: did you mean \"%s\"?\n", near);
    }
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
            print_nearest(argv[optind - 1]);
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
    fprintf(stderr, "gillnetd: %s\n", errinfo_format(e, line, sizeof line));
}

static int load(const char *file, struct config **ret)
{
    static const struct config_types types = {.is_sought = feature_is_sought,
                                              .is_counted = feature_is_counted,
                                              .is_sign = sign_is_known};
    struct config_errors errors = {.n = 0};
    if (config_load(file, &types, ret, &errors) == ERR_OK) {
        return EX_OK;
    }
    for (size_t i = 0; i < errors.n; i++) {
        print_error(&errors.v[i]);
    }
    config_errors_free(&errors);
    return EX_CONFIG;
}

/* What to write into main.cf and sendmail.mc. */
static void print_mta_lines(const char *file, const struct milter_socket *s)
{
    static const char spool[] = "/var/spool/postfix/";
    char postfix[SOCKET_TEXT_MAX];
    char sendmail[SOCKET_TEXT_MAX];
    socket_postfix(s, postfix);
    socket_sendmail(s, sendmail);
    printf("%s is good.\n\n"
           "Socket: %s (Postfix's spelling), %s (Sendmail's); socket = takes both.\n\n"
           "Postfix, main.cf:\n"
           "    smtpd_milters = { %s, default_action=accept, content_timeout=30s }\n"
           "    non_smtpd_milters = $smtpd_milters\n",
           file, postfix, sendmail, postfix);
    if (s->is_unix && strncmp(s->path, spool, sizeof spool - 1) == 0) {
        printf("  where smtpd runs chrooted (Debian's default):\n"
               "    smtpd_milters = { unix:%s, default_action=accept, "
               "content_timeout=30s }\n",
               s->path + sizeof spool - 1);
    } else if (s->is_unix) {
        printf("  smtpd reaches this path only where master.cf says \"n\" under chroot "
               "for it;\n"
               "  otherwise put the socket under %s.\n",
               spool);
    }
    printf("\nSendmail, sendmail.mc:\n"
           "    INPUT_MAIL_FILTER(`gillnet', `S=%s, T=C:30s;S:10s;R:30s;E:5m')dnl\n",
           sendmail);
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
    status = load(a.config_file, &config);
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
    if (a.tests) {
        print_mta_lines(a.config_file, &options.socket);
        config_release(&config);
        return EX_OK;
    }
    return daemon_run(config, &options);
}
