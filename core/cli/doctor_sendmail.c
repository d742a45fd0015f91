/* doctor_sendmail - whether sendmail.cf names gillnetd. */

#include "core/base/buf.h"
#include "core/cli/doctor.h"
#include "core/cli/milters.h"

#define SENDMAIL_CF "/etc/mail/sendmail.cf"
enum { CF_MAX = 4 << 20, NAME_BYTES = 128 };

/* The name in "XNAME, S=SOCKET, F=..." of the milter at gillnetd's socket; empty: none. */
static struct slice our_filter(const struct doctor *d, struct slice cf,
                               struct slice *retrow)
{
    while (cf.n > 0) {
        struct slice line = slice_cut(&cf, '\n');
        struct slice rest = slice_from(line, 1);
        struct slice name;

        if (line.n == 0 || line.p[0] != 'X') {
            continue;
        }
        name = slice_trim(slice_cut(&rest, ','));
        while (rest.n > 0) {
            struct slice field = slice_trim(slice_cut(&rest, ','));
            struct socket_name theirs;

            if (slice_has_prefix(field, SLICE_LIT("S=")) &&
                socket_name_read(slice_from(field, 2), &theirs) &&
                socket_name_meets(&d->socket, &theirs, "/")) {
                *retrow = line;
                return name;
            }
        }
    }
    return SLICE_NONE;
}

/* Whether "O InputMailFilters=" has that name. */
static bool is_used(struct slice cf, struct slice name)
{
    while (cf.n > 0) {
        struct slice line = slice_cut(&cf, '\n');

        if (!slice_has_prefix(line, SLICE_LIT("O InputMailFilters="))) {
            continue;
        }
        line = slice_from(line, sizeof("O InputMailFilters=") - 1);
        while (line.n > 0) {
            struct slice one = slice_cut(&line, ',');

            if (slice_eq(slice_trim(slice_cut(&one, ';')), name)) {
                return true;
            }
        }
    }
    return false;
}

static void check_cf(struct doctor *d, struct slice cf)
{
    struct slice row = SLICE_NONE;
    struct slice name = our_filter(d, cf, &row);
    size_t f = slice_find_slice(row, SLICE_LIT("F=T"));

    if (name.n == 0) {
        struct wiring w = socket_name_wiring(&d->socket);
        char advice[SOCKET_NAME_PATH + SOCKET_NAME_HOST + NAME_BYTES];
        struct buf line;

        buf_init(&line, sizeof(advice));
        wiring_sendmail_line(&w, &line);
        (void)snprintf(
            advice, sizeof(advice),
            "gillnet setup sendmail, or by hand into sendmail.mc: %.*s, then make "
            "-C /etc/mail",
            SLICE_ARGS(buf_slice(&line)));
        buf_fini(&line);
        doctor_say(d, DOCTOR_FAIL, "sendmail", advice,
                   "no filter of sendmail.cf is at gillnetd's socket");
    } else if (!is_used(cf, name)) {
        doctor_say(d, DOCTOR_FAIL, "sendmail",
                   "use INPUT_MAIL_FILTER, or name it in confINPUT_MAIL_FILTERS",
                   "filter %.*s is defined but not in InputMailFilters",
                   SLICE_ARGS(slice_head(name, NAME_BYTES)));
    } else if (f < row.n) {
        doctor_say(d, DOCTOR_WARN, "sendmail", "leave F=T out, if mail shall flow",
                   "with F=T mail is refused while gillnetd is away");
    } else {
        doctor_say(d, DOCTOR_OK, "sendmail", "", "filter %.*s is gillnetd",
                   SLICE_ARGS(slice_head(name, NAME_BYTES)));
    }
}

bool doctor_sendmail_user(const struct doctor *d, char ret[DOCTOR_USER_MAX])
{
    struct errinfo why = {0};
    struct buf cf;

    buf_init(&cf, CF_MAX);
    bool is_there = file_read(d->sendmail_cf != NULL ? d->sendmail_cf : SENDMAIL_CF,
                              &cf, &why) == ERR_OK;
    struct slice user = sendmail_cf_value(buf_slice(&cf), "O RunAsUser=");
    user = slice_head(slice_head(user, slice_find(user, ':')), DOCTOR_USER_MAX - 1);
    (void)snprintf(ret, DOCTOR_USER_MAX, "%.*s",
                   SLICE_ARGS(user.n > 0 ? user : SLICE_LIT("root")));
    buf_fini(&cf);
    return is_there;
}

void doctor_sendmail(struct doctor *d)
{
    const char *path = d->sendmail_cf != NULL ? d->sendmail_cf : SENDMAIL_CF;
    struct errinfo why = {0};
    struct buf cf;

    buf_init(&cf, CF_MAX);
    if (file_read(path, &cf, &why) == ERR_OK) {
        d->has_mta = true;
        check_cf(d, buf_slice(&cf));
    } else if (why.code != ERR_NOT_FOUND || d->sendmail_cf != NULL) {
        doctor_say_why(d, DOCTOR_WARN, "sendmail", "name the file with --sendmail-cf",
                       &why);
    }
    buf_fini(&cf);
}
