/* cmd_setup - `gillnet setup postfix|sendmail`: binds the MTA and gillnetd together, or takes them
 * apart. */
#include <stdarg.h>
#include <sysexits.h>

#include "core/cli/print.h"
#include "core/cli/setup.h"

enum { LINE_MAX_BYTES = 4096 };

__attribute__((format(printf, 3, 0))) static void say(struct setup *s, const char *step,
                                                      const char *format, va_list args)
{
    char text[LINE_MAX_BYTES];

    (void)vsnprintf(text, sizeof(text), format, args);
    if (!s->cli->json) {
        (void)printf("%-5s  %s\n", step, text);
        (void)fflush(stdout); /* a step may take long */
    } else if (!json_line(json_pack("{s:s, s:o}", "step", step, "text",
                                    json_text(slice_str(text))))) {
        s->broken = true;
    }
}

void setup_say(struct setup *s, const char *step, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(s, step, format, args);
    va_end(args);
}

void setup_did(struct setup *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(s, s->is_dry ? "would" : "done", format, args);
    va_end(args);
    s->nchanges++;
}

void setup_note(struct setup *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(s, "note", format, args);
    va_end(args);
    s->nnotes++;
}

int setup_fail(struct setup *s, const struct errinfo *why)
{
    int status = cli_fail(why);

    if (s->nfiles > 0 || s->nfolders > 0) {
        setup_put_back(s);
        setup_gillnetd_again(s);
        cli_say(
            "everything is as it was; mend what is said above, then run `gillnet setup "
            "%s` again (with --dry-run it only shows what it would change)",
            s->mta);
    }
    return status;
}

void setup_say_found(struct setup *s, const struct milter_chain *c,
                     const char *settings)
{
    struct buf text;

    buf_init(&text, LINE_MAX_BYTES);
    milter_chain_print(c, &text);
    setup_say(s, "found", "%s, settings in %s, milters: %.*s", s->program, settings,
              SLICE_ARGS(buf_slice(&text)));
    buf_fini(&text);
}

void setup_test(struct setup *s, const char *host, const char *port, bool runs)
{
    char given[LINE_MAX_BYTES];
    char *colon = NULL;

    (void)snprintf(given, sizeof(given), "%s", s->smtp != NULL ? s->smtp : "");
    colon = strrchr(given, ':');
    if (colon != NULL) {
        *colon = '\0';
        host = given;
        port = colon + 1;
    }
    if (s->is_dry) {
        setup_say(s, "would",
                  "send a test message to %s at %s port %s; gillnetd drops it",
                  s->program, host, port);
    } else if (runs && setup_gillnetd_answers(s)) {
        setup_probe(s, host, port);
    }
}

void setup_order(struct setup *s, const struct milter_chain *c, const char *mta_name)
{
    struct milter_chain proving = {.n = 0};
    struct buf names;
    bool is_read = false;
    bool is_behind = false;

    s->nauthservs =
        milter_chain_authservs(c, s->etc, mta_name, s->authservs, SETUP_AUTHSERVS);
    for (size_t i = 0; i < c->n; i++) {
        const struct milter_kind *k = c->v[i].kind;

        is_behind = is_behind || c->v[i].is_ours;
        is_read = is_read || (is_behind && k != NULL && k->reads);
        if (k != NULL && k->proves) {
            (void)milter_chain_add(&proving, SLICE_LIT(""), k, false);
        }
    }
    buf_init(&names, LINE_MAX_BYTES);
    milter_chain_print(&proving, &names);
    if (proving.n > 0) {
        setup_say(
            s, "why",
            "gillnetd stands behind %.*s: their results (Authentication-Results) show "
            "which senders are genuine; allow.domains and allow.addresses need that",
            SLICE_ARGS(buf_slice(&names)));
    } else {
        setup_say(
            s, "why",
            "nothing here proves senders: without OpenDKIM or OpenDMARC in front of "
            "gillnetd allow.domains and allow.addresses let nobody through; run this again "
            "when one is there");
    }
    if (is_read) {
        setup_say(
            s, "why",
            "it stands in front of rspamd, which can weigh gillnetd's header fields");
    }
    buf_fini(&names);
}

/* ---- the command ---- */

static int begin_setup(struct setup *s)
{
    int status = cli_config(s->cli);

    if (status != 0) {
        return status;
    }
    if (!socket_name_read(slice_str(s->cli->config->socket), &s->now)) {
        return cli_error(EX_CONFIG,
                         "%s: socket \"%s\" cannot be understood; write unix:/PATH or "
                         "inet:HOST:PORT",
                         s->cli->config_file, s->cli->config->socket);
    }
    s->wanted = s->now;
    if (!s->is_dry && geteuid() != 0) {
        return cli_error(EX_NOPERM,
                         "setup changes the MTA's settings: run it as root; --dry-run "
                         "shows what it would change");
    }
    return 0;
}

static void sum_up(struct setup *s)
{
    if (s->nchanges == 0) {
        setup_say(s, "found", "nothing to change");
    } else if (s->is_dry) {
        setup_say(s, "note", "this was a dry run: nothing was changed");
    } else if (!s->is_undo) {
        setup_say(
            s, "note",
            "`gillnet setup %s --undo` takes this away again; `gillnet doctor` looks "
            "at all of it",
            s->mta);
    }
}

int cmd_setup(struct cli *cli, int argc, char **argv)
{
    struct setup s = {.cli = cli, .etc = "/etc"};
    const struct cli_option table[] = {
        {"--dry-run", NULL, &s.is_dry, NULL},
        {"--undo", NULL, &s.is_undo, NULL},
        {"--postconf", &s.postconf, NULL, NULL},
        {"--postconf-dir", &s.postconf_dir, NULL, NULL},
        {"--sendmail-mc", &s.sendmail_mc, NULL, NULL},
        {"--sendmail-cf", &s.sendmail_cf, NULL, NULL},
        {"--cf-dir", &s.cf_dir, NULL, NULL},
        {"--etc", &s.etc, NULL, NULL},
        {"--smtp", &s.smtp, NULL, NULL},
    };
    int status = cli_options(cli_command("setup"), table, LENGTH(table), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc != 2 ||
        (strcmp(argv[1], "postfix") != 0 && strcmp(argv[1], "sendmail") != 0)) {
        return cli_usage("setup", "name the MTA: postfix or sendmail");
    }
    s.mta = argv[1];
    status = begin_setup(&s);
    if (status == 0) {
        status = strcmp(s.mta, "postfix") == 0 ? setup_postfix(&s) : setup_sendmail(&s);
        if (status == 0) {
            sum_up(&s);
            status = s.nnotes > 0 && !s.is_dry ? CLI_HIT : CLI_CLEAN;
        }
    }
    setup_forget(&s);
    return s.broken ? EX_OSERR : status;
}
