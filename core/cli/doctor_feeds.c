/* doctor_feeds - the state of the feeds. */
#include "core/cli/doctor.h"
#include "core/cli/feed_commands.h"

enum { WHAT_MAX = 64, TROUBLE_SHOWN = 400 };

void doctor_feeds(struct doctor *d)
{
    char what[WHAT_MAX];
    json_t *rows = NULL;
    json_t *row = NULL;
    size_t i = 0;
    bool runs = false;
    int status = 0;

    rows = d->cli->config->nfeeds > 0 ? feed_rows(d->cli, &runs, &status) : NULL;
    if (rows != NULL && !runs) {
        doctor_say(d, DOCTOR_WARN, "feeds",
                   "systemctl enable --now gillnet-hub, or gillnet hub --once from a "
                   "timer",
                   "the hub, which fetches the feeds, does not run");
    }
    json_array_foreach(rows, i, row)
    {
        const char *trouble = feed_row_trouble(row);

        (void)snprintf(what, sizeof(what), "feed %.32s", feed_row_name(row));
        if (*trouble != '\0') {
            bool serves = json_integer_value(json_object_get(row, "entries")) > 0;

            doctor_say(d, DOCTOR_WARN, what,
                       serves ? "the last good version serves; gillnet feed test NAME "
                                "shows what comes now"
                              : "nothing of it serves yet; gillnet feed test NAME "
                                "shows what comes now",
                       "%.*s", (int)TROUBLE_SHOWN, trouble);
        } else {
            doctor_say(d, DOCTOR_OK, what, "", "%" JSON_INTEGER_FORMAT " entries",
                       json_integer_value(json_object_get(row, "entries")));
        }
    }
    json_decref(rows);
}
