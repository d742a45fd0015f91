/* doctor_sendmail - does sendmail.cf ask gillnetd? */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/cli/doctor.h"

#define SENDMAIL_CF "/etc/mail/sendmail.cf"
enum { CF_MAX = 4 << 20, NAME_BYTES = 128 };

/* "XNAME, S=SOCKET, F=..." of a milter at our socket; the name, or an empty slice. */
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
        char advice[SOCKET_NAME_PATH + SOCKET_NAME_HOST + NAME_BYTES];
        const struct socket_name *s = &d->socket;

        (void)snprintf(advice, sizeof(advice),
                       "into sendmail.mc: INPUT_MAIL_FILTER(`gillnet', "
                       "`S=%s%s%s%.255s, T=C:30s;S:10s;R:30s;E:5m')dnl, then make -C "
                       "/etc/mail",
                       s->is_unix ? "local:" : "inet:", s->is_unix ? s->path : s->port,
                       s->is_unix ? "" : "@",
                       s->is_unix ? "" : (*s->host != '\0' ? s->host : "127.0.0.1"));
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

void doctor_sendmail(struct doctor *d)
{
    const char *path = d->sendmail_cf != NULL ? d->sendmail_cf : SENDMAIL_CF;
    struct errinfo why = {0};
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 32];
    struct buf cf;

    buf_init(&cf, CF_MAX);
    if (file_read(path, &cf, &why) == ERR_OK) {
        d->has_mta = true;
        check_cf(d, buf_slice(&cf));
    } else if (why.code != ERR_NOT_FOUND || d->sendmail_cf != NULL) {
        doctor_say(d, DOCTOR_WARN, "sendmail", "name the file with --sendmail-cf", "%s",
                   errinfo_format(&why, text, sizeof(text)));
    }
    buf_fini(&cf);
}
