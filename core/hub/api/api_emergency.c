/* api_emergency - emergency mode of gillnetd, and its escalated domains. */

#include "core/base/file.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/telemetry/stats.h"

enum { DOMAIN_MAX = 253 };

/* Asks gillnetd; the answer without its first line stands behind *ret. False: refused. */
static bool ask_daemon(struct api_call *call, struct slice line, struct buf *ret,
                       struct slice *retrows)
{
    const struct api_hooks *h = &call->api->hooks;
    struct errinfo why = {.text = ""};

    if (h->ask == NULL) {
        api_refuse(call, 404, "gillnetd is not asked here");
        return false;
    }
    enum err e = h->ask(h->context, line, ret, &why);
    if (e != ERR_OK) {
        api_refuse(call,
                   e == ERR_SYNTAX    ? 404
                   : e == ERR_TIMEOUT ? 504
                                      : 503,
                   "%s", why.text[0] != '\0' ? why.text : err_text(e));
        call->answer.retry_s = call->answer.status == 503 ? 5 : 0;
        return false;
    }
    *retrows = buf_slice(ret);
    (void)slice_cut(retrows, '\n');
    return true;
}

static json_t *rows_json(struct slice rows)
{
    json_t *array = json_array();

    while (rows.n > 0) {
        struct slice line = slice_cut(&rows, '\n');
        (void)json_array_append_new(array, json_loadb(line.p, line.n, 0, NULL));
    }
    return array;
}

static json_t *mode_json(const struct stats_view *s, struct slice rows)
{
    return json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:o}", "active", s->value[STAT_emergency] != 0,
        "since_s", (json_int_t)s->value[STAT_emergency_since_time], "rate",
        (json_int_t)s->value[STAT_emergency_rate], "level",
        (json_int_t)s->value[STAT_emergency_level], "mean",
        (json_int_t)s->value[STAT_emergency_mean], "escalated", rows_json(rows));
}

void api_v1_emergency(struct api_call *call)
{
    char path[FILE_PATH_MAX];
    struct stats_view stats;
    struct slice rows;
    struct buf answer;

    buf_init(&answer, call->answer.body.max);
    if (ask_daemon(call, SLICE_LIT("escalated"), &answer, &rows)) {
        if (file_path(path, "%s/%s", call->config->state_dir, STATE_STATS_FILE) ==
                ERR_OK &&
            stats_read(path, &stats, NULL) == ERR_OK) {
            api_answer_json(call, mode_json(&stats, rows));
        } else {
            api_refuse(call, 503, "the numbers of gillnetd cannot be read");
        }
    }
    buf_fini(&answer);
}

/* It becomes part of a request line. */
static bool is_domain(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] <= ' ' || s.p[i] > '~') {
            return false;
        }
    }
    return s.n > 0 && s.n <= DOMAIN_MAX;
}

void api_v1_emergency_lift(struct api_call *call)
{
    struct slice domain = SLICE_NONE;
    struct slice rows;
    struct buf line;
    struct buf answer;
    const struct api_member members[] = {{"domain", API_MEMBER_STRING, true, &domain}};

    if (!api_read_body(call, members, 1)) {
        return;
    }
    if (!is_domain(domain)) {
        api_refuse(call, 422, "domain: this is no domain");
        return;
    }
    buf_init(&line, DOMAIN_MAX + 32);
    buf_init(&answer, call->answer.body.max);
    buf_printf(&line, "escalated drop %.*s", SLICE_ARGS(domain));
    if (ask_daemon(call, buf_slice(&line), &answer, &rows)) {
        api_answer_json(call, json_pack("{s:s%, s:s}", "domain", domain.p, domain.n,
                                        "state", "lifted"));
    }
    api_note(call, &(struct change){.kind = CHANGE_emergency_lift, .object = domain});
    buf_fini(&line);
    buf_fini(&answer);
}
