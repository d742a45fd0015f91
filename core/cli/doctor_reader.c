/* doctor_reader - whether gillnet-reader answers gillnetd, if files of messages are to be read. */
#include "core/base/clock.h"
#include "core/base/statedir_try.h"
#include "core/cli/doctor.h"
#include "core/cli/services.h"
#include "core/reader/client/client.h"

struct visit {
    const char *socket;
    uint64_t within_us;
};

static bool ignore_record(void *context, const struct record *record)
{
    (void)context;
    (void)record;
    return true;
}

/* Hands over an empty file: a process must begin, shut its sandbox and answer. 0 or an errno. */
static int call_reader(const void *context)
{
    const struct visit *v = context;
    const struct reader_job empty = {.limits = {.entries = 1, .bytes = 1, .ratio = 1}};
    struct reader_client *c = NULL;

    if (access(v->socket, W_OK) != 0) {
        return errno;
    }
    if (reader_client_new(v->socket, &c, &(struct errinfo){0}) != ERR_OK) {
        return ENAMETOOLONG;
    }
    const enum reader_outcome outcome =
        reader_client_ask(c, &empty, v->within_us, ignore_record, NULL);
    reader_client_free(&c);
    return outcome == READER_READ ? 0 : outcome == READER_AWAY ? ETIMEDOUT : EPROTO;
}

/* As gillnetd's user, if that is another one and this is root. */
static int call_as_gillnetd(const struct config *c, const struct visit *v)
{
    struct daemon_view view;
    struct trial_user user;
    const bool runs = daemon_look(c, &view, NULL) == ERR_OK && view.is_running;

    return statedir_user(c->state_dir, STATEDIR_GILLNETD,
                         runs ? view.stats.value[STAT_pid] : 0, &user)
               ? trial_call(&user, call_reader, v)
               : call_reader(v);
}

void doctor_reader(struct doctor *d)
{
    const struct config *c = d->cli->config;
    const struct visit v = {c->reader.socket, c->limits.reader_us};

    if (v.within_us == 0) {
        return; /* nobody asks it */
    }
    const int error = call_as_gillnetd(c, &v);
    if (error == 0) {
        doctor_say(d, DOCTOR_OK, "reader", "", "%s answers", v.socket);
    } else if (error == ENOENT) {
        doctor_say(d, DOCTOR_WARN, "reader",
                   "install the package gillnet-reader and run systemctl enable --now "
                   "gillnet-reader.socket, or set limits.reader = \"0s\"",
                   "%s is missing, so pictures, documents and archives are not read",
                   v.socket);
    } else if (error == EACCES && geteuid() != 0) {
        doctor_say(d, DOCTOR_WARN, "reader", "run as root to see whether it answers",
                   "this user may not connect to %s", v.socket);
    } else if (error == EACCES) {
        doctor_say(d, DOCTOR_FAIL, "reader",
                   "SocketUser of gillnet-reader.socket must be the user of gillnetd",
                   "gillnetd's user may not connect to %s", v.socket);
    } else {
        doctor_say(d, DOCTOR_FAIL, "reader",
                   "systemctl restart gillnet-reader.socket gillnet-reader; see "
                   "journalctl -u gillnet-reader",
                   error == ETIMEDOUT ? "nobody answers at %s within limits.reader"
                                      : "what answers at %s reads no file",
                   v.socket);
    }
}
