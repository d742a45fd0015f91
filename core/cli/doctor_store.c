/* doctor_store - the store that the servers of the ring share: the hub uses it, and it is set up
 * so that it keeps what it is given. */
#include "core/cli/doctor.h"
#include "core/cli/print.h"
#include "core/cli/services.h"
#include "core/cli/store_commands.h"

static void say_finding(void *context, const struct store_finding *f)
{
    doctor_say(context, f->is_broken ? DOCTOR_FAIL : DOCTOR_WARN, "store", f->advice,
               "%s", f->text);
}

void doctor_store(struct doctor *d)
{
    const struct config *c = d->cli->config;
    struct errinfo why = {.code = ERR_OK};
    char first[CONTROL_FIRST_MAX] = "";
    char text[STORE_TEXT_MAX];
    json_t *rows = NULL;

    if (c->store.kind == STORE_OFF) {
        return;
    }
    enum err e = control_ask_rows(c->hub.control_socket, "store", first, &rows, &why);
    if (e == ERR_NOT_FOUND) {
        doctor_say(d, DOCTOR_FAIL, "store", "start it: systemctl start gillnet-hub",
                   "the hub, which alone speaks to the store, does not run");
    } else if (e != ERR_OK) {
        doctor_say_why(d, DOCTOR_FAIL, "store", "", &why);
    } else if (strncmp(first, "ok", 2) != 0) {
        doctor_say(d, DOCTOR_FAIL, "store", "gillnet reload, or restart gillnet-hub",
                   "%s", first);
    } else {
        const unsigned before = d->nwarn + d->nfail;

        store_findings(json_array_get(rows, 0), say_finding, d);
        store_summary(json_array_get(rows, 0), text);
        if (before == d->nwarn + d->nfail) {
            doctor_say(d, DOCTOR_OK, "store", "", "%s", text);
        }
    }
    json_decref(rows);
}
