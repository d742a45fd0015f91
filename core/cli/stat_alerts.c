/* stat_alerts - the alerts that fire in the hub. */
#include "core/cli/stat_alerts.h"

#include "core/cli/daemon_control.h"
#include "core/cli/print_json.h"

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text != NULL ? text : "";
}

json_t *stat_alerts(const struct cli *cli)
{
    static const char first[] = "ok\n";
    struct buf answer;
    char *line = NULL;
    json_t *rows = NULL;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    if (control_ask(cli->config->hub.control_socket, "alerts", &answer, NULL) ==
            ERR_OK &&
        strncmp(answer.p, first, sizeof(first) - 1) == 0) {
        line = answer.p + sizeof(first) - 1;
        rows = json_array();
    }
    while (line != NULL && *line != '\0') {
        char *end = strchr(line, '\n');
        json_t *row = NULL;

        if (end != NULL) {
            *end++ = '\0';
        }
        row = json_loads(line, 0, NULL);
        if (row != NULL) {
            (void)json_object_set_new(row, "type", json_string("alert"));
            (void)json_array_append_new(rows, row);
        }
        line = end;
    }
    buf_fini(&answer);
    return rows;
}

void stat_alerts_print(json_t *alerts)
{
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(alerts, i, row)
    {
        (void)printf("alert %s (%s): %s; %s\n", text_of(row, "name"),
                     text_of(row, "severity"), text_of(row, "message"),
                     text_of(row, "action"));
    }
}
