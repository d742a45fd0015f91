/* doctor_quarantine - whether held mail can be reached, if gillnet holds any. */
#include <math.h>

#include "core/cli/doctor.h"
#include "core/quarantine/held_digest.h"
#include "core/quarantine/queue/queue.h"

static void check_template(struct doctor *d)
{
    const char *path = d->cli->config->quarantine.template;
    struct errinfo why = {.text = ""};
    struct buf text;

    buf_init(&text, HELD_TEMPLATE_MAX);
    if (*path != '\0' && (file_read(path, &text, &why) != ERR_OK ||
                          held_digest_check(buf_slice(&text), &why) != ERR_OK)) {
        doctor_say_why(d, DOCTOR_FAIL, "quarantine",
                       "mend quarantine.template, or leave it empty", &why);
    }
    buf_fini(&text);
}

void doctor_quarantine(struct doctor *d)
{
    const struct config *c = d->cli->config;
    struct errinfo why = {.text = ""};
    struct queue q;
    struct stat st;

    if (!isfinite(c->threshold[ACTION_QUARANTINE]) && c->quarantine.url[0] == '\0') {
        return; /* nothing is held */
    }
    check_template(d);
    if (queue_find(c, &q, &why) != ERR_OK) {
        doctor_say_why(d, DOCTOR_WARN, "quarantine",
                       "name the folder of the MTA's programs", &why);
    } else if (stat(c->quarantine.socket, &st) != 0 && errno == ENOENT) {
        doctor_say(d, DOCTOR_WARN, "quarantine",
                   "systemctl enable --now gillnet-queue.socket",
                   "%s is missing, so the hub and links in digests cannot release mail",
                   c->quarantine.socket);
    } else {
        doctor_say(d, DOCTOR_OK, "quarantine", "", "held mail of %s, %s",
                   q.mta == QUARANTINE_POSTFIX ? "Postfix" : "Sendmail",
                   c->quarantine.socket);
    }
}
