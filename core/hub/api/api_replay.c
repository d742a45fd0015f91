/* api_replay - POST /v1/replay: the messages of the journal under other settings. The newest come
 * first, so an answer that its time cuts short rests on the newest. */
#include "core/base/clock.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/message/feature/feature_json.h"
#include "core/verdict/journal/journal_read.h"
#include "core/verdict/journal/message_row.h"
#include "core/verdict/journal/replay_tally.h"

enum {
    EXAMPLES_MOST = 20,
    SETTINGS_MOST = 2 * REPLAY_CHANGES_MAX,
    SYMBOLS_MOST = 1000,
    SAMPLE_MOST = 1000000,
    SAMPLE_MS = 200,      /* from the request to the end of a sample; */
    SAMPLE_LEAST_MS = 50, /* a worker has at least this time for it */
    WHOLE_S = 30,
    LOOK_EACH = 32, /* messages between looks at the clock and the client */
    US_PER_MS = 1000,
    US_PER_S = 1000000
};

struct replaying {
    const struct api_call *call;
    struct replay_tally tally;
    json_t *examples; /* NULL: not for this client */
    uint64_t most;    /* messages; 0: all */
    uint64_t looked_at;
    uint64_t deadline_us;
    bool is_cut; /* there are more messages */
};

/* The row of a message that would get another action. */
static json_t *example_json(const struct record *r, const struct replay_result *result)
{
    struct message_row row;
    json_t *o = NULL;

    message_row_of(r, &row);
    o = message_row_json(&row);
    if (o != NULL) {
        (void)json_object_set_new(o, "from_action",
                                  json_string(action_name(result->before)));
        (void)json_object_set_new(o, "to_action",
                                  json_string(action_name(result->after)));
        (void)json_object_set_new(o, "score_after", json_real(result->score_after));
    }
    return o;
}

static bool must_stop(const struct replaying *p)
{
    return clock_mono_us() > p->deadline_us || atomic_load(&p->call->api->stops) ||
           (p->call->is_gone != NULL && atomic_load(p->call->is_gone));
}

static bool replay_one(void *context, const struct record *r,
                       const struct journal_names *names)
{
    struct replaying *p = context;
    struct replay_result result;

    if (r->kind != RECORD_MESSAGE) {
        return true;
    }
    p->is_cut = (p->most != 0 && p->looked_at == p->most) ||
                (p->looked_at > 0 && p->looked_at % LOOK_EACH == 0 && must_stop(p));
    if (p->is_cut) {
        return false;
    }
    p->looked_at++;
    if (replay_tally_add(&p->tally, r, names, &result) &&
        result.before != result.after && p->examples != NULL &&
        json_array_size(p->examples) < EXAMPLES_MOST) {
        (void)json_array_append_new(p->examples, example_json(r, &result));
    }
    return true;
}

/* False: a setting was refused. */
static bool take_settings(struct api_call *call, const struct config *config,
                          const struct api_strings *settings, struct replay *ret)
{
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;

    replay_init(ret, config);
    for (size_t i = 0; e == ERR_OK && i < settings->n; i++) {
        const struct slice text = arena_copy(call->arena, settings->v[i]);

        e = text.p != NULL ? replay_set(ret, text.p, &why) : errinfo_nomem(&why, "");
    }
    THEN(e, replay_check(ret, &why));
    if (e == ERR_NOMEM) {
        api_refuse(call, 503, "out of memory");
    } else if (e != ERR_OK) {
        api_refuse(call, 422, "%.100s%s%s", why.source, *why.source != '\0' ? ": " : "",
                   why.text);
    }
    return e == ERR_OK;
}

static json_t *seconds_json(uint64_t at_us)
{
    return at_us > 0 ? json_integer((json_int_t)(at_us / US_PER_S)) : json_null();
}

static void answer_replay(struct api_call *call, struct replaying *p)
{
    const double ms = (double)(clock_mono_us() - call->begun_us) / US_PER_MS;
    json_t *answer = replay_tally_json(&p->tally);
    json_t *more =
        json_pack("{s:b, s:b, s:o, s:o, s:f, s:o}", "sample", (int)(p->most != 0),
                  "complete", (int)!p->is_cut, "since", seconds_json(p->tally.first_us),
                  "until", seconds_json(p->tally.last_us), "ms", ms, "symbols",
                  replay_symbols_json(&p->tally, SYMBOLS_MOST));

    if (answer != NULL && more != NULL) {
        (void)json_object_update(answer, more);
    }
    json_decref(more);
    if (answer != NULL && p->examples != NULL) {
        (void)json_object_set(answer, "examples", p->examples);
    }
    api_answer_json(call, answer);
}

static void run_replay(struct api_call *call, struct replaying *p)
{
    const struct journal_query q = {.state_dir = call->config->state_dir,
                                    .newest_first = true,
                                    .fn = replay_one,
                                    .context = p};
    struct journal_numbers numbers;
    struct errinfo why = {.text = ""};
    const bool shows_mail =
        call->who.role >= API_MESSAGES && call->who.proof != API_UNPROVEN;

    p->examples = shows_mail ? json_array() : NULL;
    enum err e = journal_read(&q, &numbers, &why);
    if (e == ERR_OK) {
        answer_replay(call, p);
    } else {
        api_refuse_change(call, e, &why);
    }
    json_decref(p->examples);
}

static uint64_t deadline_of(const struct api_call *call, bool is_sample)
{
    const uint64_t now_us = clock_mono_us();
    const uint64_t least_us = now_us + (uint64_t)SAMPLE_LEAST_MS * US_PER_MS;
    const uint64_t wanted_us = call->begun_us + (uint64_t)SAMPLE_MS * US_PER_MS;

    if (!is_sample) {
        return now_us + (uint64_t)WHOLE_S * US_PER_S;
    }
    return wanted_us > least_us ? wanted_us : least_us;
}

void api_v1_replay(struct api_call *call)
{
    struct api_strings settings = {.most = SETTINGS_MOST};
    uint64_t sample = 0;
    const struct api_member members[] = {
        {"settings", API_MEMBER_STRINGS, true, &settings},
        {"sample", API_MEMBER_NUMBER, false, &sample}};

    if (!api_read_body(call, members, LENGTH(members))) {
        return;
    }
    if (sample > SAMPLE_MOST) {
        api_refuse(call, 422, "sample: at most %d messages", SAMPLE_MOST);
        return;
    }
    if (call->kind == API_INLINE) { /* runs again on a worker */
        call->kind = sample > 0 ? API_SAMPLE : API_REPLAY;
        return;
    }
    struct replaying *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        api_refuse(call, 503, "out of memory");
        return;
    }
    struct config *config = api_config(call->api); /* that of the call may be older */
    p->call = call;
    p->most = sample;
    p->deadline_us = deadline_of(call, sample > 0);
    p->tally.has_symbols = true;
    if (take_settings(call, config, &settings, &p->tally.settings)) {
        run_replay(call, p);
    }
    config_release(&config);
    free(p);
}
