/* doctor_postfix - whether Postfix uses gillnetd, and whether it leaves smuggling open. */

#include "core/cli/doctor.h"
#include "core/cli/postfix.h"

enum { ADVICE_MAX = 2048 };

struct asked {
    struct doctor *d;
    struct postfix p;
    struct slice ours; /* the entry of gillnetd in smtpd_milters */
};

/* ---- the socket ---- */

/* Whether a list of milters names gillnetd; *retmilter is its whole entry. */
static bool names_ours(const struct asked *a, struct slice milters, bool is_chrooted,
                       struct slice *retmilter)
{
    struct slice milter;

    while ((milter = postfix_next_milter(&milters)).n > 0) {
        if (postfix_is_at(&a->p, &a->d->socket, milter, is_chrooted)) {
            *retmilter = milter;
            return true;
        }
    }
    return false;
}

/* Whether a service of master.cf overrides smtpd_milters with a list that has gillnetd. */
static bool a_service_names_ours(const struct asked *a, struct slice *retmilter)
{
    struct slice rest = buf_slice(&a->p.expanded);
    struct slice key;
    struct slice value;

    while (postfix_next_setting(&rest, &key, &value)) {
        if (slice_has_suffix_nocase(key, SLICE_LIT("/smtpd_milters")) &&
            names_ours(a, value, a->p.is_chrooted, retmilter)) {
            return true;
        }
    }
    return false;
}

/* Writes the lines of main.cf on one line; for a socket that a chrooted smtpd cannot reach, the
 * advice to run setup. */
static void put_lines(const struct asked *a, const char *name, char dst[ADVICE_MAX])
{
    const struct socket_name *s = &a->d->socket;
    struct wiring w = socket_name_wiring(s);
    char queue[SOCKET_NAME_PATH];
    struct buf text;

    (void)snprintf(queue, sizeof(queue), "%.*s",
                   SLICE_ARGS(slice_head(a->p.queue_directory, SOCKET_NAME_PATH - 1)));
    buf_init(&text, ADVICE_MAX);
    if (s->is_unix && a->p.is_chrooted && !wiring_is_below(&w, queue)) {
        buf_printf(
            &text,
            "gillnet setup postfix (it lets gillnetd listen on unix:%s/" WIRING_BELOW_QUEUE
            ", which smtpd can reach, and writes both sides' lines)",
            queue);
    } else {
        buf_printf(&text,
                   "gillnet setup postfix, or by hand: postconf -e '" WIRING_PARAMETER
                   " = ");
        wiring_postfix_milter(&w, queue, &text);
        buf_printf(&text, "' '%s = " WIRING_USE "' (behind what stands there)", name);
    }
    (void)snprintf(dst, ADVICE_MAX, "%.*s", SLICE_ARGS(buf_slice(&text)));
    buf_fini(&text);
}

static void check_smtpd(struct asked *a)
{
    struct slice smtpd = postfix_value(&a->p.main, "smtpd_milters");
    struct slice other = SLICE_NONE;
    char advice[ADVICE_MAX];

    put_lines(a, "smtpd_milters", advice);
    if (names_ours(a, smtpd, a->p.is_chrooted, &a->ours) ||
        a_service_names_ours(a, &a->ours)) {
        doctor_say(a->d, DOCTOR_OK, "postfix smtpd_milters", "",
                   "names gillnetd's socket");
    } else if (a->p.is_chrooted && names_ours(a, smtpd, false, &other)) {
        doctor_say(a->d, DOCTOR_FAIL, "postfix smtpd_milters", advice,
                   "smtpd is chrooted in %.*s and cannot see %s",
                   SLICE_ARGS(a->p.queue_directory), a->d->socket.path);
    } else {
        doctor_say(a->d, DOCTOR_FAIL, "postfix smtpd_milters", advice,
                   "does not name gillnetd's socket (%.*s)",
                   SLICE_ARGS(slice_head(smtpd, 256)));
    }
}

static void check_local(struct asked *a)
{
    struct slice local = postfix_value(&a->p.main, "non_smtpd_milters");
    struct slice other = SLICE_NONE;
    char lines[ADVICE_MAX];
    char advice[ADVICE_MAX + 64];

    /* cleanup may be chrooted, or not: either will do */
    if (names_ours(a, local, false, &other)) {
        doctor_say(a->d, DOCTOR_OK, "postfix non_smtpd_milters", "",
                   "names gillnetd's socket");
        return;
    }
    if (names_ours(a, local, true, &other)) {
        doctor_say(a->d, DOCTOR_OK, "postfix non_smtpd_milters", "",
                   "names gillnetd's socket as a chrooted cleanup sees it");
        return;
    }
    put_lines(a, "non_smtpd_milters", lines);
    (void)snprintf(advice, sizeof(advice),
                   "if mail sent on this machine shall be examined: %s", lines);
    doctor_say(
        a->d, DOCTOR_WARN, "postfix non_smtpd_milters", advice,
        "does not name gillnetd's socket; mail from sendmail(1) is not examined");
}

/* ---- other settings ---- */

/* A milter's own "default_action=accept" in braces goes before milter_default_action. */
static struct slice default_action(const struct asked *a)
{
    struct slice rest = a->ours;

    while (rest.n > 0) {
        struct slice value = slice_cut(&rest, ',');
        struct slice key = slice_trim(slice_cut(&value, '='));

        if (slice_eq(key, SLICE_LIT("default_action"))) {
            return slice_trim(value);
        }
    }
    return postfix_value(&a->p.main, "milter_default_action");
}

static void check_default_action(struct asked *a)
{
    struct slice v = default_action(a);

    if (slice_eq(v, SLICE_LIT("accept")) || slice_eq(v, SLICE_LIT("quarantine"))) {
        doctor_say(a->d, DOCTOR_OK, "postfix milter_default_action", "", "%.*s",
                   SLICE_ARGS(v));
    } else {
        doctor_say(a->d, DOCTOR_WARN, "postfix milter_default_action",
                   "postconf -e 'milter_default_action = accept', if mail shall flow "
                   "without gillnetd",
                   "%.*s: mail is refused while gillnetd is away",
                   SLICE_ARGS(slice_head(v, 64)));
    }
}

static void check_protocol(struct asked *a)
{
    struct slice v = postfix_value(&a->p.main, "milter_protocol");

    if (v.n == 1 && v.p[0] >= '2' && v.p[0] <= '5') {
        doctor_say(a->d, DOCTOR_WARN, "postfix milter_protocol",
                   "postconf -e 'milter_protocol = 6'",
                   "%.*s: each step of a message costs an answer more", SLICE_ARGS(v));
    }
}

static void check_smuggling(struct asked *a)
{
    struct slice v = postfix_value(&a->p.main, "smtpd_forbid_bare_newline");

    if (slice_eq_nocase(v, SLICE_LIT("yes")) ||
        slice_eq_nocase(v, SLICE_LIT("normalize")) ||
        slice_eq_nocase(v, SLICE_LIT("reject"))) {
        doctor_say(a->d, DOCTOR_OK, "postfix smuggling", "",
                   "smtpd_forbid_bare_newline = %.*s", SLICE_ARGS(v));
    } else if (v.p == NULL) {
        doctor_say(a->d, DOCTOR_WARN, "postfix smuggling",
                   "update Postfix, then postconf -e 'smtpd_forbid_bare_newline = "
                   "normalize'",
                   "this Postfix cannot close SMTP smuggling (CVE-2023-51764)");
    } else {
        doctor_say(a->d, DOCTOR_WARN, "postfix smuggling",
                   "postconf -e 'smtpd_forbid_bare_newline = normalize' (yes is the "
                   "same) and 'smtpd_forbid_bare_newline_exclusions = $mynetworks'",
                   "smtpd_forbid_bare_newline = %.*s leaves SMTP smuggling open "
                   "(CVE-2023-51764): forged mail passes as one more message",
                   SLICE_ARGS(slice_head(v, 64)));
    }
}

void doctor_postfix(struct doctor *d)
{
    struct asked a = {.d = d};
    const char *program = d->postconf != NULL ? d->postconf : POSTCONF_DEFAULT;
    struct errinfo why = {0};

    if (access(program, X_OK) != 0) {
        if (d->postconf_dir != NULL || d->postconf != NULL) {
            doctor_say(d, DOCTOR_FAIL, "postfix", "name it with --postconf FILE",
                       "%s cannot be run", program);
        }
        return;
    }
    d->has_mta = true;
    postfix_init(&a.p, d->postconf, d->postconf_dir);
    if (postfix_read(&a.p, &why) != ERR_OK) {
        doctor_say(d, DOCTOR_WARN, "postfix",
                   "run postconf by hand; is main.cf in order?", "%s %s", why.source,
                   why.text);
    } else {
        check_smtpd(&a);
        check_local(&a);
        check_default_action(&a);
        check_protocol(&a);
        check_smuggling(&a);
    }
    postfix_fini(&a.p);
}
