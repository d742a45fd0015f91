/* api_check - look-ups: values and URLs against all lists, one batch for a request. */

#include "core/base/clock.h"
#include "core/base/uninitialized.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_counts.h"
#include "core/hub/api/api_handlers.h"
#include "core/list/query.h"
#include "core/message/feature/feature_value.h"
#include "core/telemetry/stats.h"

/* What the answer says of one value. */
struct said {
    const struct query_result *result; /* NULL: the value is not valid */
    const char *why;                   /* then */
    const char *pattern; /* rule for emergency mode that the URL fits; NULL: none */
};
typedef void print_fn(struct api_call *call, const struct list_watcher_view *view,
                      struct slice value, const struct said *said);

/* Nobody counted how often such a rating is right. */
#define PATTERN_CONFIDENCE 0.5

/* One value of a batch. */
struct place {
    size_t at;       /* in the batch */
    const char *why; /* it is not in it; NULL: it is */
};

/* Adds values from first on, as many as one batch takes. Returns their number; 0: no memory. */
static size_t fill_batch(struct api_call *call, const struct api_strings *values,
                         size_t first, enum feature_type hint, struct place *places)
{
    size_t n = 0;

    while (first + n < values->n && n < QUERY_VALUES && !query_is_full(call->ask)) {
        struct errinfo info UNINITIALIZED;

        info.text[0] = '\0';
        enum err e = query_add(call->ask, values->v[first + n], hint, &info);

        places[n] = (struct place){.at = query_count(call->ask) - 1};
        if (e != ERR_OK) {
            const char *text = info.text[0] != '\0' ? info.text : err_text(e);

            places[n].why = arena_copy(call->arena, slice_str(text)).p;
        }
        if (e == ERR_NOMEM || (e != ERR_OK && places[n].why == NULL)) {
            return 0;
        }
        n++;
    }
    return n;
}

/* A request's values on their way. */
struct run {
    const struct list_watcher_view *view;
    const struct api_strings *values;
    enum feature_type hint;
    print_fn *print;
    struct place *places; /* of a batch */
    size_t done;          /* values that are answered */
    uint64_t url_checks[RATING_COUNT];
};

static bool is_allowed(const struct list_watcher_view *view,
                       const struct query_result *r, struct slice url)
{
    for (size_t i = 0; i < r->n; i++) {
        if (r->v[i].answer == LIST_CONFIRMED &&
            view->ask.v[r->v[i].list].voice.is_allow) {
            return true;
        }
    }
    return list_is_allowed(view->config, url);
}

/* In emergency mode: a URL that no list confirms, and that a rule for the mode knows by its shape,
 * gets that rating. The score of such rules marks no mail, so it asks for no blocking. */
static const char *rate_pattern(struct api_call *call, const struct run *run,
                                struct query_result *r)
{
    struct feature_entry e;
    const char *found = NULL;

    if (run->view->patterns == NULL || r->class_type != FEATURE_url ||
        r->result.rating >= RATING_MALICIOUS ||
        feature_entry_parse(r->value, run->hint, call->arena, &e, NULL) != ERR_OK ||
        is_allowed(run->view, r, e.text)) {
        return NULL;
    }
    found = link_patterns_find(run->view->patterns, e.text, call->arena);
    if (found != NULL) {
        r->result.rating = RATING_BLOCKED_PATTERN;
        r->result.confidence = PATTERN_CONFIDENCE;
    }
    return found;
}

/* As many values as one batch takes. False: no memory. */
static bool answer_batch(struct api_call *call, struct run *run)
{
    uint64_t now_s = clock_wall_us() / 1000000;

    query_begin(call->ask, &run->view->ask);
    size_t n = fill_batch(call, run->values, run->done, run->hint, run->places);

    query_test(call->ask);
    for (size_t i = 0; i < n; i++, run->done++) {
        const struct place *p = &run->places[i];
        struct query_result r;

        if (p->why == NULL && query_answer(call->ask, p->at, now_s, &r) != ERR_OK) {
            return false;
        }
        if (run->done > 0) {
            buf_add_char(&call->answer.body, ',');
        }
        struct said said = {.result = p->why == NULL ? &r : NULL, .why = p->why};
        if (p->why == NULL) {
            said.pattern = rate_pattern(call, run, &r);
            run->url_checks[r.result.rating] += r.class_type == FEATURE_url;
        }
        run->print(call, run->view, run->values->v[run->done], &said);
    }
    return n > 0;
}

static void count(struct api *a, const struct run *run)
{
    uint64_t nurls = 0;

    atomic_fetch_add_explicit(&a->values, run->values->n, memory_order_relaxed);
    for (unsigned i = 0; i < RATING_COUNT; i++) {
        nurls += run->url_checks[i];
        if (run->url_checks[i] > 0) {
            atomic_fetch_add_explicit(&a->url_checks[i], run->url_checks[i],
                                      memory_order_relaxed);
        }
    }
    stats_add(STAT_urls_checked, nurls);
}

static void answer_values(struct api_call *call, const struct api_strings *values,
                          enum feature_type hint, print_fn *print)
{
    struct buf *b = &call->answer.body;
    size_t most = values->n < QUERY_VALUES ? values->n : QUERY_VALUES;
    struct run run = {.view = list_watcher_acquire(call->api->lists),
                      .values = values,
                      .hint = hint,
                      .print = print,
                      .places = arena_array(call->arena, most, sizeof(*run.places))};
    bool ok = run.places != NULL;

    buf_add_str(b, "{\"results\":[");
    while (ok && run.done < values->n) {
        ok = answer_batch(call, &run);
    }
    buf_add_str(b, "],\"processing_time_ms\":");
    api_add_ms(b, call->begun_us);
    buf_add_str(b, "}\n");
    list_watcher_release(call->api->lists, &run.view);
    count(call->api, &run);
    call->answer.status = 200;
    if (!ok || buf_failed(b)) {
        api_refuse(call, 503, "out of memory");
    }
}

/* ---- POST /check-urls ---- */

static void print_url(struct api_call *call, const struct list_watcher_view *view,
                      struct slice value, const struct said *said)
{
    struct buf *b = &call->answer.body;
    const struct query_result *r = said->result;

    (void)view;
    buf_add(b, SLICE_LIT("{\"url\":"));
    api_add_text(b, value);
    buf_add(b, SLICE_LIT(",\"status\":\""));
    buf_add_str(b, r != NULL ? rating_name(r->result.rating) : "INVALID");
    buf_add(b, r != NULL && r->result.requires_blocking
                   ? SLICE_LIT("\",\"requires_blocking\":true}")
                   : SLICE_LIT("\",\"requires_blocking\":false}"));
}

void api_check_urls(struct api_call *call)
{
    struct api_strings urls = {.most = call->config->api.values};
    const struct api_member members[] = {{"urls", API_MEMBER_STRINGS, true, &urls}};

    if (api_read_body(call, members, 1)) {
        answer_values(call, &urls, FEATURE_url, print_url);
    }
}

/* ---- POST /v1/check ---- */

/* name: with all that stands before the value. */
static void add_member(struct buf *b, const char *name, const char *value)
{
    buf_add_str(b, name);
    if (value == NULL) {
        buf_add_str(b, "null");
    } else {
        api_add_text(b, slice_str(value));
    }
}

/* Reason why a match has no effect; NULL: it has one. */
static const char *silent_because(const struct query_list *list,
                                  const struct query_match *m)
{
    if (m->silence != LIST_NOT_SUPPRESSED) {
        return list_suppression_name(m->silence);
    }
    return list->share > 0 ? NULL : "weighs nothing here";
}

static void print_match(struct buf *b, const struct query_list *list,
                        const struct query_match *m)
{
    add_member(b, "{\"list\":", list_reader_name(list->reader));
    add_member(b, ",\"origin\":", list->origin);
    add_member(b, ",\"type\":", feature_type_name(m->key->class_type));
    buf_add_str(b, ",\"key\":");
    api_add_text(b, m->key->text);
    add_member(b, ",\"status\":", list_answer_name(m->answer));
    add_member(b, ",\"silent\":", silent_because(list, m));
    add_member(b, ",\"source\":", m->from.source);
    buf_printf(b, ",\"explicit\":%s,\"first_seen_s\":%" PRIu32 ",\"expiry_s\":",
               m->from.is_explicit ? "true" : "false", m->from.first_seen_s);
    if (m->from.expiry_s == 0) {
        buf_add_str(b, "null}");
    } else {
        buf_printf(b, "%" PRIu32 "}", m->from.expiry_s);
    }
}

static void add_counts(struct api_call *call, struct slice value)
{
    if (call->counts != NULL) {
        buf_add_str(&call->answer.body, ",\"counts\":");
        api_counts_add(call->counts, value, call->arena, &call->answer.body);
    }
}

static void print_value(struct api_call *call, const struct list_watcher_view *view,
                        struct slice value, const struct said *said)
{
    struct buf *b = &call->answer.body;
    const struct query_result *r = said->result;
    bool is_first = true;

    buf_add_str(b, "{\"value\":");
    api_add_text(b, value);
    if (r == NULL) {
        buf_add_str(b, ",\"status\":\"INVALID\",\"requires_blocking\":false,"
                       "\"matches\":[],\"detail\":");
        api_add_text(b, slice_str(said->why));
        add_counts(call, value);
        buf_add_char(b, '}');
        return;
    }
    buf_printf(b,
               ",\"status\":\"%s\",\"requires_blocking\":%s,\"confidence\":%.4f,"
               "\"matches\":[",
               rating_name(r->result.rating),
               r->result.requires_blocking ? "true" : "false", r->result.confidence);
    for (size_t i = 0; i < r->n; i++) {
        if (r->v[i].answer == LIST_FALSE_POSITIVE) {
            continue;
        }
        if (!is_first) {
            buf_add_char(b, ',');
        }
        is_first = false;
        print_match(b, &view->ask.v[r->v[i].list], &r->v[i]);
    }
    buf_add_char(b, ']');
    if (said->pattern != NULL) {
        add_member(b, ",\"pattern\":", said->pattern);
    }
    add_counts(call, value);
    buf_add_char(b, '}');
}

void api_v1_check(struct api_call *call)
{
    struct api_strings values = {.most = call->config->api.values};
    bool wants_counts = false;
    const struct api_member members[] = {
        {"values", API_MEMBER_STRINGS, true, &values},
        {"counts", API_MEMBER_BOOL, false, &wants_counts}};

    if (!api_read_body(call, members, LENGTH(members))) {
        return;
    }
    if (wants_counts && call->kind == API_INLINE) {
        call->kind = API_COUNTS; /* runs again on a worker */
        return;
    }
    if (wants_counts && values.n > API_COUNTS_VALUES) {
        api_refuse(call, 413, "counts are limited to %d values a request",
                   API_COUNTS_VALUES);
        return;
    }
    struct api_counts counts;

    if (wants_counts) {
        api_counts_begin(&counts, call->config);
        /* cppcheck-suppress autoVariables ; reset below */
        call->counts = &counts;
    }
    answer_values(call, &values, FEATURE_NONE, print_value);
    if (wants_counts) {
        call->counts = NULL;
        api_counts_end(&counts);
    }
}
