/*
 * gillnet-hub - the companion service: exchanges lists and counts with the servers of its ring.
 */
#include <curl/curl.h>
#include <getopt.h>
#include <signal.h>
#include <sysexits.h>

#include "core/base/base.h"
#include "core/base/nearest.h"
#include "core/base/statedir.h"
#include "core/base/version.h"
#include "core/feed/feed.h"
#include "core/hub/api/api_auth.h"
#include "core/hub/main/hub.h"
#include "core/message/feature/feature.h"
#include "core/ring/trust/invite.h"

struct arguments {
    struct hub_options o;
    const char *token; /* join; NULL: the service */
    const char *name;  /* token: name to be made or revoked; NULL: another command */
    bool lists_tokens;
    bool revokes_token;
    const char *role;
    bool prints_version;
};

static void print_usage(FILE *to)
{
    (void)fputs("usage: gillnet hub [-c FILE] [-f] [--once]\n"
                "       gillnet-hub [-c FILE] join TOKEN|-\n"
                "       gillnet hub [-c FILE] token NAME read|report|messages|admin\n"
                "       gillnet hub [-c FILE] token --list\n"
                "       gillnet hub [-c FILE] token --revoke NAME\n"
                "  -c FILE    configuration (default " CONFIG_DEFAULT_FILE ")\n"
                "  -f         log to standard error\n"
                "  --once     one exchange with every peer, then exit\n"
                "  -V         print the version\n"
                "  -h         this text\n",
                to);
}

static int read_arguments(int argc, char **argv, struct arguments *ret)
{
    static const struct option longs[] = {{"config", required_argument, NULL, 'c'},
                                          {"foreground", no_argument, NULL, 'f'},
                                          {"once", no_argument, NULL, 'o'},
                                          {"version", no_argument, NULL, 'V'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    *ret = (struct arguments){.o.config_file = CONFIG_DEFAULT_FILE};
    int o;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread yet */
    while ((o = getopt_long(argc, argv, "+c:fVh", longs, NULL)) != -1) {
        switch (o) {
        case 'c':
            ret->o.config_file = optarg;
            break;
        case 'f':
            ret->o.logs_to_stderr = true;
            break;
        case 'o':
            ret->o.is_once = true;
            ret->o.logs_to_stderr = true;
            break;
        case 'V':
            ret->prints_version = true;
            break;
        case 'h':
            print_usage(stdout);
            exit(EX_OK); /* NOLINT(concurrency-mt-unsafe): no other thread yet */
        default:
            nearest_option_print("gillnet-hub", argv[optind - 1], longs);
            print_usage(stderr);
            return EX_USAGE;
        }
    }
    if (argc - optind == 2 && strcmp(argv[optind], "join") == 0) {
        ret->token = argv[optind + 1];
        return EX_OK;
    }
    if (argc - optind == 2 && strcmp(argv[optind], "token") == 0 &&
        strcmp(argv[optind + 1], "--list") == 0) {
        ret->lists_tokens = true;
        return EX_OK;
    }
    if (argc - optind == 3 && strcmp(argv[optind], "token") == 0 &&
        strcmp(argv[optind + 1], "--revoke") == 0) {
        ret->revokes_token = true;
        ret->name = argv[optind + 2];
        return EX_OK;
    }
    if (argc - optind == 3 && strcmp(argv[optind], "token") == 0) {
        ret->name = argv[optind + 1];
        ret->role = argv[optind + 2];
        return EX_OK;
    }
    if (optind < argc) {
        fprintf(stderr, "gillnet-hub: \"%s\" is not understood\n", argv[optind]);
        print_usage(stderr);
        return EX_USAGE;
    }
    return EX_OK;
}

static int load_config(const char *file, struct config **ret)
{
    static const struct config_types types = {.is_sought = feature_is_sought,
                                              .is_counted = feature_is_counted,
                                              .is_trait = trait_is_known,
                                              .is_format = feed_format_is_known,
                                              .is_feature = feature_is_of_message};
    return config_load_or_print("gillnet-hub", file, &types, ret) ? EX_OK : EX_CONFIG;
}

int main(int argc, char **argv)
{
    struct arguments a;
    struct config *config = NULL;
    int status = read_arguments(argc, argv, &a);

    if (status != EX_OK) {
        return status;
    }
    if (a.prints_version) {
        printf("gillnet-hub %s\n", GILLNET_VERSION);
        return EX_OK;
    }
    if (base_init() != ERR_OK || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        (void)fputs("gillnet-hub: a library cannot be initialised\n", stderr);
        return EX_SOFTWARE;
    }
    status = load_config(a.o.config_file, &config);
    if (status != EX_OK) {
        return status;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)umask(0027);
    if (a.token != NULL) {
        char line[INVITE_TOKEN_MAX + 2] = "";

        if (strcmp(a.token, "-") == 0) { /* so that it is in no list of processes */
            a.token = fgets(line, sizeof(line), stdin);
            line[strcspn(line, "\r\n")] = '\0';
        }
        status = join_run(config, a.token != NULL ? a.token : "");
        statedir_settle(config->state_dir);
        config_release(&config);
    } else if (a.lists_tokens) {
        status = token_list(config);
        config_release(&config);
    } else if (a.name != NULL) {
        status = a.revokes_token ? token_revoke(config, a.name)
                                 : token_make(config, a.name, a.role);
        statedir_settle(config->state_dir);
        config_release(&config);
    } else {
        status = hub_run(config, &a.o);
    }
    curl_global_cleanup();
    return status;
}
