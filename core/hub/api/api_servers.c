/* api_servers - the headline, the servers of this owner, and the history of each or of all. */

#include "core/base/clock.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/status/status_headline.h"
#include "core/summary/summary_json.h"

enum { US_PER_S = 1000000 };

void api_v1_now(struct api_call *call)
{
    call->answer.status = 200;
    status_board_add(call->api->board, STATUS_BOARD_NOW, &call->answer.body);
    buf_add_char(&call->answer.body, '\n');
}

static struct servers_ask ask_of(struct api_call *call, enum period period,
                                 struct headline *self)
{
    struct servers_ask ask = {.state_dir = call->config->state_dir,
                              .now_s = clock_wall_us() / US_PER_S,
                              .period = period,
                              .self = self};

    status_headline(call->api->board, ask.state_dir, ask.now_s, self);
    return ask;
}

static void answer(struct api_call *call, enum err e, json_t *all,
                   const struct errinfo *why)
{
    if (e == ERR_OK) {
        api_answer_json(call, all);
    } else {
        api_refuse(call, e == ERR_NOT_FOUND ? 404 : 503, "%s", why->text);
    }
}

void api_v1_servers(struct api_call *call)
{
    struct headline self;
    struct errinfo why = {.text = ""};
    json_t *all = NULL;
    struct servers_ask ask = ask_of(call, PERIOD_DAY, &self);
    enum err e = servers_json(&ask, &all, &why);

    answer(call, e, all, &why);
}

/* ---- history ---- */

struct history_query {
    enum period period;
    char server[ORIGIN_NAME_MAX + 1]; /* "": not said */
    bool is_plain; /* the day of this server, with all that is known of it */
};

/* False: it was refused. */
static bool read_history_query(struct api_call *call, struct history_query *ret)
{
    struct slice rest = call->request.query;
    struct slice name;
    char value[ORIGIN_NAME_MAX + 1];
    bool is_bad = false;

    *ret = (struct history_query){.period = PERIOD_DAY};
    while (http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        if (slice_eq(name, SLICE_LIT("server"))) {
            memcpy(ret->server, value, sizeof(value));
            is_bad = value[0] == '\0';
        } else {
            is_bad = !period_find(slice_str(value), &ret->period);
        }
        if (is_bad) {
            break;
        }
    }
    if (is_bad) {
        api_refuse(call, 400,
                   "period is day, week, month, year or years, and server the name of "
                   "a server, or all");
    }
    ret->is_plain = ret->period == PERIOD_DAY && ret->server[0] == '\0';
    return !is_bad;
}

static void answer_day(struct api_call *call)
{
    const struct api_hooks *h = &call->api->hooks;

    if (h->history == NULL) {
        api_refuse(call, 404, "there is no history here");
    } else {
        api_answer_json(call, h->history(h->context));
    }
}

void api_v1_history(struct api_call *call)
{
    struct history_query q;
    struct headline self;
    struct errinfo why = {.text = ""};
    json_t *all = NULL;

    if (!read_history_query(call, &q)) {
        return;
    }
    if (q.is_plain) {
        answer_day(call);
        return;
    }
    struct servers_ask ask = ask_of(call, q.period, &self);
    enum err e = servers_history_json(&ask, slice_str(q.server), &all, &why);

    answer(call, e, all, &why);
}
