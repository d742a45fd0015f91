/* api_errors - the newest warnings and errors of gillnetd and of this hub. */
#include "core/hub/api/api_handlers.h"
#include "core/telemetry/log_rows.h"

/* Adds the rows of a program's answer. */
static void add_rows(json_t *array, const char *program, struct slice answer)
{
    (void)slice_cut(&answer, '\n'); /* "ok" */
    while (answer.n > 0) {
        struct slice line = slice_cut(&answer, '\n');
        json_t *row = json_loadb(line.p, line.n, 0, NULL);
        (void)json_object_set_new(row, "program", json_string(program));
        (void)json_array_append_new(array, row);
    }
}

/* Why gillnetd's are missing, or null. */
static json_t *add_daemon(struct api_call *call, json_t *array)
{
    const struct api_hooks *h = &call->api->hooks;
    struct errinfo why = {.text = ""};
    struct buf answer;
    enum err e = h->ask == NULL ? ERR_NOT_FOUND : ERR_OK;

    buf_init(&answer, call->answer.body.max);
    if (e == ERR_OK) {
        e = h->ask(h->context, SLICE_LIT("errors"), &answer, &why);
    }
    if (e == ERR_OK) {
        add_rows(array, "gillnetd", buf_slice(&answer));
    }
    buf_fini(&answer);
    return e == ERR_OK ? json_null()
                       : json_string(why.text[0] != '\0' ? why.text : err_text(e));
}

void api_v1_errors(struct api_call *call)
{
    json_t *array = json_array();
    struct buf own;

    buf_init(&own, (size_t)LOG_ROWS_BYTES_MAX * 2);
    log_rows_print(&own);
    add_rows(array, "gillnet-hub", buf_slice(&own));
    buf_fini(&own);
    json_t *missing = add_daemon(call, array);
    api_answer_json(call, json_pack("{s:o, s:o}", "errors", array, "missing", missing));
}
