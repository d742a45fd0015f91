#include "core/verdict/journal/tuning_values.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/message/feature/feature_json.h"
#include "core/telemetry/control_client.h"
#include "core/verdict/journal/journal_replay.h"

enum { LINES_MAX = 256 << 10, ANSWER_MAX = 64 << 10, US_PER_S = 1000000, WAIT_S = 25 };

/* ---- the tuning ---- */

static json_t *setting_json(const struct tuning_setting *s)
{
    char was[TUNING_VALUE_MAX];
    struct slice value;
    struct slice key = tuning_key(s, &value);

    return json_pack("{s:s%, s:s%, s:s?, s:b}", "key", key.p, key.n, "value", value.p,
                     value.n, "configured",
                     s->is_gone ? NULL : tuning_configured(s, was), "gone",
                     (int)s->is_gone);
}

json_t *tuning_json(const struct config *c)
{
    static const struct tuning none = {.version = 0};
    const struct tuning *t = c->tuning != NULL ? c->tuning : &none;
    json_t *settings = json_array();
    struct buf lines;

    buf_init(&lines, LINES_MAX);
    tuning_conf_lines(t, &lines);
    for (size_t i = 0; i < t->n; i++) {
        (void)json_array_append_new(settings, setting_json(&t->v[i]));
    }
    json_t *fault =
        c->tuning_fault != NULL ? json_text(slice_str(c->tuning_fault)) : json_null();
    json_t *o =
        json_pack("{s:I, s:I, s:I, s:s, s:s, s:o, s:o, s:o}", "version",
                  (json_int_t)t->version, "former", (json_int_t)t->former, "at",
                  (json_int_t)t->at_s, "who", t->who, "why", t->why, "fault", fault,
                  "settings", settings, "lines", json_text(buf_slice(&lines)));
    buf_fini(&lines);
    return o;
}

/* ---- effective values ---- */

static json_t *thresholds_json(const struct config *c)
{
    json_t *array = json_array();

    for (unsigned a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        (void)json_array_append_new(
            array,
            json_pack("{s:s, s:o}", "action", action_name((enum action)a), "value",
                      isfinite(c->threshold[a]) ? json_real(c->threshold[a])
                                                : json_null()));
    }
    return array;
}

json_t *tuning_list_json(const struct config_list *l, const char *name)
{
    char symbol[VERDICT_SYMBOL_NAME];

    replay_list_symbol(name, symbol);
    return json_pack("{s:s, s:f, s:b, s:b, s:b, s:s}", "name", name, "weight",
                     l->weight, "shadow", (int)l->shadow, "enabled", (int)l->enabled,
                     "allow", (int)l->is_allow, "symbol", symbol);
}

static json_t *rule_json(const struct config_rule *r)
{
    char symbol[VERDICT_SYMBOL_NAME];

    replay_symbol(r, symbol);
    return json_pack("{s:s, s:f, s:b, s:b, s:s, s:o}", "name", r->name, "score",
                     r->score, "shadow", (int)r->shadow, "enabled", (int)r->enabled,
                     "symbol", symbol, "description",
                     json_text(slice_str(r->description)));
}

json_t *tuning_values_json(const struct config *c)
{
    json_t *lists = json_array();
    json_t *rules = json_array();

    for (size_t i = 0; i < c->nlists; i++) {
        (void)json_array_append_new(lists,
                                    tuning_list_json(&c->lists[i], c->lists[i].name));
    }
    for (size_t i = 0; i < c->nrules; i++) {
        (void)json_array_append_new(rules, rule_json(&c->rules[i]));
    }
    return json_pack("{s:o, s:o, s:o}", "thresholds", thresholds_json(c), "lists",
                     lists, "rules", rules);
}

/* ---- reload ---- */

static enum tuning_reload reload_one(const char *who, const char *path, struct buf *ret)
{
    const uint64_t until_us = clock_mono_us() + (uint64_t)WAIT_S * US_PER_S;
    struct errinfo why = {.text = ""};
    struct buf answer;

    buf_init(&answer, ANSWER_MAX);
    enum err e = control_client_ask(path, SLICE_LIT("reload"), SLICE_NONE, until_us,
                                    &answer, &why);
    struct slice rest = buf_slice(&answer);
    (void)slice_cut(&rest, '\n');
    switch (e) {
    case ERR_OK:
        buf_printf(ret, "%.*s", SLICE_ARGS(rest));
        break;
    case ERR_NOT_FOUND:
        buf_printf(ret, "%s does not run; it takes this at its next start\n", who);
        break;
    default:
        buf_printf(ret, "%s: %s\n%.*s", who, why.text, SLICE_ARGS(rest));
        break;
    }
    buf_fini(&answer);
    /* gillnetd still compiles */
    bool is_late = e == ERR_SYNTAX && strcmp(why.text, err_text(ERR_TIMEOUT)) == 0;
    return is_late              ? TUNING_UNKNOWN
           : e == ERR_OK        ? TUNING_RELOADED
           : e == ERR_NOT_FOUND ? TUNING_NOT_RUNNING
           : e == ERR_SYNTAX    ? TUNING_REFUSED
                                : TUNING_UNKNOWN;
}

enum tuning_reload tuning_reload_programs(void *context, struct buf *ret)
{
    const struct config *c = context;
    enum tuning_reload daemon = reload_one("gillnetd", c->control_socket, ret);

    if (daemon != TUNING_REFUSED) {
        (void)reload_one("gillnet-hub", c->hub.control_socket, ret);
    }
    return daemon;
}
