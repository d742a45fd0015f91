#include "core/verdict/journal/replay_tally.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/digest.h"
#include "core/message/feature/feature_json.h"

/* ---- adding ---- */

size_t replay_bin(double score)
{
    double at = floor(score) - REPLAY_BIN_FIRST;
    return at < 0 ? 0 : at >= REPLAY_BINS ? REPLAY_BINS - 1 : (size_t)at;
}

static void note_reason(struct replay_tally *t, const char *why)
{
    t->undecided++;
    for (size_t i = 0; i < REPLAY_REASONS; i++) {
        if (t->reason[i].n == 0 || t->reason[i].why == why) {
            t->reason[i].why = why;
            t->reason[i].n++;
            return;
        }
    }
}

static void note_symbol(struct replay_tally *t, const struct record_symbol *s)
{
    const struct slice name = slice_head(s->name, RECORD_NAME_MAX);
    size_t at = (size_t)hash_local(name) & (REPLAY_SYMBOLS - 1);

    while (t->symbol[at].messages > 0 &&
           !slice_eq(slice_str(t->symbol[at].name), name)) {
        at = (at + 1) & (REPLAY_SYMBOLS - 1);
    }
    struct replay_symbol_count *c = &t->symbol[at];
    if (c->messages == 0) {
        if (name.n == 0 || t->nsymbols >= REPLAY_SYMBOLS / 2) {
            return;
        }
        t->nsymbols++;
        memcpy(c->name, name.p, name.n);
    }
    c->messages++;
    c->score += s->score;
}

static void note_time(struct replay_tally *t, uint64_t at_us)
{
    t->first_us = t->first_us == 0 || at_us < t->first_us ? at_us : t->first_us;
    t->last_us = at_us > t->last_us ? at_us : t->last_us;
}

bool replay_tally_add(struct replay_tally *t, const struct record *r,
                      const struct journal_names *names, struct replay_result *ret)
{
    note_time(t, r->time_us);
    if (r->is_outgoing) {
        t->outgoing++;
        return false;
    }
    replay_judge(&t->settings, r, names, ret);
    t->messages++;
    for (size_t i = 0; t->has_symbols && i < r->nsymbols; i++) {
        note_symbol(t, &r->symbol[i]);
    }
    if (ret->undecided != NULL) {
        note_reason(t, ret->undecided);
        return false;
    }
    t->moved[ret->before][ret->after]++;
    t->bin_before[replay_bin(ret->score_before)]++;
    t->bin_after[replay_bin(ret->score_after)]++;
    t->estimates += ret->before != ret->after && ret->is_estimate;
    return true;
}

/* ---- sums ---- */

uint64_t replay_total(const struct replay_tally *t, enum action action, bool is_after)
{
    uint64_t n = 0;

    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        n += is_after ? t->moved[a][action] : t->moved[action][a];
    }
    return n;
}

uint64_t replay_changed(const struct replay_tally *t)
{
    uint64_t n = 0;

    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        n += replay_total(t, (enum action)a, false) - t->moved[a][a];
    }
    return n;
}

static json_t *actions_json(const struct replay_tally *t)
{
    json_t *o = json_object();

    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        (void)json_object_set_new(
            o, action_name((enum action)a),
            json_pack("{s:I, s:I}", "before",
                      (json_int_t)replay_total(t, (enum action)a, false), "after",
                      (json_int_t)replay_total(t, (enum action)a, true)));
    }
    return o;
}

static json_t *moved_json(const struct replay_tally *t)
{
    json_t *array = json_array();

    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        for (unsigned b = 0; b < ACTION_COUNT; b++) {
            if (a != b && t->moved[a][b] > 0) {
                (void)json_array_append_new(
                    array,
                    json_pack("{s:s, s:s, s:I}", "from", action_name((enum action)a),
                              "to", action_name((enum action)b), "messages",
                              (json_int_t)t->moved[a][b]));
            }
        }
    }
    return array;
}

static json_t *bins_json(const struct replay_tally *t)
{
    json_t *array = json_array();

    for (size_t i = 0; i < REPLAY_BINS; i++) {
        if (t->bin_before[i] > 0 || t->bin_after[i] > 0) {
            (void)json_array_append_new(
                array, json_pack("{s:i, s:I, s:I}", "score", REPLAY_BIN_FIRST + (int)i,
                                 "before", (json_int_t)t->bin_before[i], "after",
                                 (json_int_t)t->bin_after[i]));
        }
    }
    return array;
}

static json_t *reasons_json(const struct replay_tally *t)
{
    json_t *o = json_object();

    for (size_t i = 0; i < REPLAY_REASONS && t->reason[i].n > 0; i++) {
        (void)json_object_set_new(o, t->reason[i].why,
                                  json_integer((json_int_t)t->reason[i].n));
    }
    return o;
}

json_t *replay_tally_json(const struct replay_tally *t)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "messages",
                     (json_int_t)t->messages, "outgoing", (json_int_t)t->outgoing,
                     "changed", (json_int_t)replay_changed(t), "estimates",
                     (json_int_t)t->estimates, "undecided", (json_int_t)t->undecided,
                     "undecided_by_reason", reasons_json(t), "actions", actions_json(t),
                     "moved", moved_json(t), "scores", bins_json(t));
}

static int by_messages(const void *a, const void *b)
{
    const struct replay_symbol_count *x = a;
    const struct replay_symbol_count *y = b;

    if (x->messages != y->messages) {
        return x->messages > y->messages ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

json_t *replay_symbols_json(const struct replay_tally *t, size_t most)
{
    struct replay_symbol_count *sorted = calloc(REPLAY_SYMBOLS, sizeof(*sorted));
    json_t *array = json_array();
    size_t n = 0;

    if (sorted == NULL) {
        json_decref(array);
        return NULL;
    }
    for (size_t i = 0; i < REPLAY_SYMBOLS; i++) {
        if (t->symbol[i].messages > 0) {
            sorted[n++] = t->symbol[i];
        }
    }
    qsort(sorted, n, sizeof(*sorted), by_messages);
    for (size_t i = 0; i < n && i < most; i++) {
        (void)json_array_append_new(
            array, json_pack("{s:o, s:I, s:f}", "symbol",
                             json_text(slice_str(sorted[i].name)), "messages",
                             (json_int_t)sorted[i].messages, "score", sorted[i].score));
    }
    free(sorted);
    return array;
}
