/* cmd_doctor - `gillnet doctor`: checks of the whole installation, with advice. */
#include <grp.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "core/cli/doctor.h"
#include "core/cli/print.h"
#include "core/config/advice.h"

enum { DETAIL_MAX = 1024 };

void doctor_say(struct doctor *d, enum doctor_level level, const char *what,
                const char *advice, const char *format, ...)
{
    static const char *const names[] = {
        [DOCTOR_OK] = "ok", [DOCTOR_WARN] = "warn", [DOCTOR_FAIL] = "fail"};
    char detail[DETAIL_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    d->nwarn += level == DOCTOR_WARN;
    d->nfail += level == DOCTOR_FAIL;
    if (!d->cli->json) {
        (void)printf("%-4s  %s: ", names[level], what);
        text_show(stdout, detail);
        (void)printf("%s%s\n", *advice != '\0' ? " - " : "", advice);
    } else if (!json_line(json_pack("{s:s, s:s, s:o, s:o}", "check", what, "status",
                                    names[level], "detail",
                                    json_text(slice_str(detail)), "advice",
                                    json_text(slice_str(advice))))) {
        d->broken = true;
    }
}

void doctor_say_why(struct doctor *d, enum doctor_level level, const char *what,
                    const char *advice, const struct errinfo *why)
{
    char text[DETAIL_MAX];

    doctor_say(d, level, what, advice, "%s", errinfo_format(why, text, sizeof(text)));
}

int doctor_call_as(const struct trial_user *user, doctor_path_fn *fn, const char *path)
{
    pid_t pid = fork();
    int status = 0;

    if (pid < 0) {
        return errno;
    }
    if (pid == 0) {
        bool is_user = setgroups((size_t)user->ngroups, user->groups) == 0 &&
                       setresgid(user->gid, user->gid, user->gid) == 0 &&
                       setresuid(user->uid, user->uid, user->uid) == 0;

        _exit(is_user ? fn(path) : EPERM);
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static bool check_config(struct doctor *d)
{
    struct cli *cli = d->cli;

    struct config_errors none = {0, NULL};
    struct config_advice advice;
    int status = 0;

    if (geteuid() != 0 && access(cli->config_file, R_OK) != 0 && errno == EACCES &&
        config_load(NULL, NULL, &cli->config, &none) == ERR_OK) {
        doctor_say(
            d, DOCTOR_WARN, "configuration", "run as root to have all of it looked at",
            "this user may not read %s; the checks below use the built-in defaults",
            cli->config_file);
        d->is_hidden = true;
        return socket_name_read(slice_str(cli->config->socket), &d->socket);
    }
    status = cli_rules(cli);
    if (status != 0) {
        doctor_say(d, DOCTOR_FAIL, "configuration",
                   "mend what standard error names, then run `gillnet config check`",
                   "%s does not load", cli->config_file);
        return false;
    }
    if (!socket_name_read(slice_str(cli->config->socket), &d->socket)) {
        doctor_say(d, DOCTOR_FAIL, "configuration",
                   "write unix:/PATH, inet:PORT@HOST or inet:HOST:PORT",
                   "socket \"%s\" cannot be understood", cli->config->socket);
        return false;
    }
    doctor_say(d, DOCTOR_OK, "configuration", "", "%s",
               *cli->config->file != '\0' ? cli->config->file : "built-in defaults");
    for (size_t i = 0; config_advice(cli->config, i, &advice); i++) {
        doctor_say(d, DOCTOR_WARN, "configuration", advice.todo, "%s%s%s%s",
                   advice.kind, advice.name, *advice.name == '\0' ? "" : ": ",
                   advice.what);
    }
    return true;
}

/* Reports to an ordinary user once which checks are left out, instead of a fault a file. */
static bool may_look_inside(struct doctor *d)
{
    const char *dir = d->cli->config->state_dir;

    if (d->is_hidden) {
        return false; /* the place of the state folder is not known */
    }
    if (geteuid() == 0 || access(dir, R_OK | X_OK) == 0 || errno != EACCES) {
        return true;
    }
    doctor_say(
        d, DOCTOR_WARN, "state folder", "run as root or as gillnetd's user",
        "this user may not look into %s: keys, lists, counts, gillnetd's numbers, ring "
        "and feeds are left out",
        dir);
    return false;
}

static void look_inside(struct doctor *d)
{
    doctor_state(d);
    doctor_lists(d);
    doctor_counts(d);
    doctor_identity(d);
    doctor_daemon(d);
    doctor_reader(d);
    doctor_peers(d);
    doctor_store(d);
    doctor_journal(d);
    doctor_reports(d);
    doctor_feeds(d);
    doctor_users(d);
    doctor_api(d);
    doctor_quarantine(d);
}

int cmd_doctor(struct cli *cli, int argc, char **argv)
{
    static const char options[] =
        "the options are --postconf-dir DIR, --postconf /PATH, "
        "--sendmail-cf FILE and --mta-user NAME";
    struct doctor d = {.cli = cli};
    const struct cli_option table[] = {
        {"--postconf-dir", &d.postconf_dir, NULL, NULL},
        {"--postconf", &d.postconf, NULL, NULL},
        {"--mta-user", &d.mta_user, NULL, NULL},
        {"--sendmail-cf", &d.sendmail_cf, NULL, NULL},
    };
    int status = cli_arguments(CLI_FORM("doctor", table, 0, 0, options), &argc, argv);

    if (status == 0 && d.postconf != NULL && *d.postconf != '/') {
        status = cli_usage("doctor", options);
    }
    if (status != 0) {
        return status;
    }
    if (check_config(&d)) {
        if (may_look_inside(&d)) {
            look_inside(&d);
        }
        doctor_socket(&d);
        doctor_postfix(&d);
        doctor_sendmail(&d);
        if (!d.has_mta) {
            doctor_say(&d, DOCTOR_WARN, "mta",
                       "if it runs elsewhere, look at its settings there",
                       "neither Postfix nor Sendmail is on this machine");
        }
    }
    if (d.broken) {
        return EX_OSERR;
    }
    return d.nwarn + d.nfail > 0 ? CLI_HIT : CLI_CLEAN;
}
