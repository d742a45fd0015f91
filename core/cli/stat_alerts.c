/* stat_alerts - the alerts that fire in the hub. */
#include "core/cli/stat_alerts.h"

#include <stdio.h>
#include <string.h>

#include "core/cli/control.h"
#include "core/cli/json.h"

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text != NULL ? text : "";
}

/* Takes the row. */
static bool show(const struct cli *cli, json_t *row)
{
    if (cli->json) {
        json_object_set_new(row, "type", json_string("alert"));
        return json_line(row);
    }
    bool ok = printf("alert %s (%s): %s; %s\n", text_of(row, "name"),
                     text_of(row, "severity"), text_of(row, "message"),
                     text_of(row, "action")) >= 0;

    json_decref(row);
    return ok;
}

bool stat_alerts_show(const struct cli *cli)
{
    static const char first[] = "ok\n";
    struct buf answer;
    char *line = NULL;
    bool ok = true;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    if (control_ask(cli->config->hub.control_socket, "alerts", &answer, NULL) ==
            ERR_OK &&
        strncmp(answer.p, first, sizeof first - 1) == 0) {
        line = answer.p + sizeof first - 1;
    }
    while (ok && line != NULL && *line != '\0') {
        char *end = strchr(line, '\n');
        json_t *row = NULL;

        if (end != NULL) {
            *end++ = '\0';
        }
        row = json_loads(line, 0, NULL);
        ok = row == NULL || show(cli, row);
        line = end;
    }
    buf_fini(&answer);
    return ok;
}
