#include "core/report/report_json.h"

#include "core/base/case_id.h"
#include "core/message/feature/feature_json.h"

static const char *kind_name(bool is_spam)
{
    return is_spam ? "spam" : "ham";
}

static json_t *id_json(uint64_t id)
{
    char text[CASE_ID_SIZE];

    return id != 0 ? json_string(case_id_print(id, text)) : json_null();
}

/* ---- answers ---- */

static const char *detail_of(const struct report *r, const struct reports_outcome *o)
{
    if (o->is_again) {
        return "this reporter said so before; nothing was changed";
    }
    if (r->message == 0 && r->nitems == 0) {
        return "`gillnet explain` shows it; without the message it votes on nothing and "
               "teaches nothing";
    }
    if (!o->is_counted) {
        return "the reporter gave more reports today than count; it is kept without votes";
    }
    return o->votes == 0
               ? "nothing in it belongs to one message alone, so it votes on no message"
               : NULL;
}

json_t *report_outcome_json(const struct report *r, const struct reports_outcome *o)
{
    json_t *changed = json_array();

    if (!o->is_again && o->is_counted && o->votes > 0) {
        (void)json_array_append_new(changed, json_pack("{s:s, s:I}", "status", "voted",
                                                       "items", (json_int_t)o->votes));
    }
    if (!o->is_again && o->is_counted && r->vector.n > 0) {
        (void)json_array_append_new(changed, json_pack("{s:s}", "status", "taught"));
    }
    if (o->replaced != 0) {
        (void)json_array_append_new(changed,
                                    json_pack("{s:s, s:o}", "status", "replaced",
                                              "report", id_json(o->replaced)));
    }
    if (o->overruled > 0) {
        (void)json_array_append_new(changed,
                                    json_pack("{s:s, s:I}", "status", "overruled",
                                              "reports", (json_int_t)o->overruled));
    }
    return json_pack("{s:o, s:s, s:o, s:o, s:b, s:s, s:f, s:o, s:s*}", "id",
                     id_json(o->id), "kind", kind_name(r->is_spam), "reporter",
                     json_text(r->reporter), "way", json_text(r->way), "again",
                     (int)o->is_again, "standing", standing_name(o->after), "trust",
                     o->trust, "changed", changed, "detail", detail_of(r, o));
}

static bool has_row(const json_t *rows, const json_t *row)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (json_equal(json_array_get(rows, i), row) == 1) {
            return true;
        }
    }
    return false;
}

json_t *report_listed_json(const struct listset *lists, struct featureset *features,
                           struct arena *arena)
{
    struct list_hits hits = {.n = 0};
    json_t *rows = json_array();

    (void)listset_lookup(lists, features, 0, arena, &hits);
    for (size_t i = 0; i < hits.n; i++) {
        const struct list_hit *hit = &hits.v[i];
        if (hit->answer != LIST_CONFIRMED || !report_may_revoke(hit->report_type) ||
            listset_config(lists, hit->list)->is_allow) {
            continue;
        }
        json_t *row = json_pack("{s:s, s:s, s:o}", "list",
                                list_reader_name(listset_reader(lists, hit->list)),
                                "type", feature_type_name(hit->report_type), "value",
                                json_text(hit->value));
        if (row != NULL && !has_row(rows, row)) {
            (void)json_array_append(rows, row);
        }
        json_decref(row);
    }
    return rows;
}

/* ---- entries ---- */

json_t *report_entry_json(const struct report *r)
{
    return json_pack("{s:o, s:I, s:s, s:o, s:o, s:o, s:o, s:I, s:b, s:b, s:[]}", "id",
                     id_json(r->id), "time", (json_int_t)r->time_s, "kind",
                     kind_name(r->is_spam), "reporter", json_text(r->reporter), "way",
                     json_text(r->way), "case", id_json(r->case_id), "queue_id",
                     r->queue_id.n > 0 ? json_text(r->queue_id) : json_null(), "items",
                     (json_int_t)r->nitems, "taught", (int)(r->vector.n > 0), "undone",
                     0, "changed");
}

struct listing {
    const struct report_wanted *wanted;
    json_t *rows;
    json_t *by_id; /* borrowed rows */
};

static void note_later(const struct report *r, json_t *row)
{
    if (r->entry == REPORT_UNDONE) {
        (void)json_object_set_new(row, "undone", json_true());
        (void)json_object_set_new(row, "undone_by", json_text(r->reporter));
        return;
    }
    json_t *rows = json_loadb(r->changed.p, r->changed.n, 0, NULL);

    if (json_is_array(rows)) {
        (void)json_array_extend(json_object_get(row, "changed"), rows);
    }
    json_decref(rows);
}

static bool is_report_wanted(const struct report_wanted *w, const struct report *r)
{
    const bool is_about = r->case_id != 0
                              ? r->case_id == w->case_id
                              : w->queue_id.n > 0 && slice_eq(r->queue_id, w->queue_id);

    return r->time_s >= w->since_s && (w->id == 0 || r->id == w->id) &&
           (w->case_id == 0 || is_about);
}

static bool list_entry(void *context, const struct report *r)
{
    struct listing *l = context;
    char text[CASE_ID_SIZE];
    const char *id = case_id_print(r->id, text);
    json_t *row = json_object_get(l->by_id, id);

    if (r->entry != REPORT_GIVEN) {
        if (row != NULL) {
            note_later(r, row);
        }
        return true;
    }
    if (!is_report_wanted(l->wanted, r)) {
        return true;
    }
    json_t *fresh = report_entry_json(r);

    (void)json_array_append_new(l->rows, fresh);
    (void)json_object_set(l->by_id, id, fresh);
    if (json_array_size(l->rows) > l->wanted->most) {
        const char *oldest =
            json_string_value(json_object_get(json_array_get(l->rows, 0), "id"));
        (void)json_object_del(l->by_id, oldest);
        (void)json_array_remove(l->rows, 0);
    }
    return true;
}

enum err report_list_json(const struct report_wanted *wanted, json_t **ret,
                          struct errinfo *reterr)
{
    struct listing l = {.wanted = wanted, .rows = json_array(), .by_id = json_object()};
    enum err e = report_log_each(wanted->state_dir, list_entry, &l, NULL, reterr);

    json_decref(l.by_id);
    *ret = l.rows;
    return e;
}

static json_t *trust_of(struct votes *votes, const json_t *reporter, uint64_t now_s)
{
    const struct slice name =
        slice_of(json_string_value(reporter), json_string_length(reporter));
    const bool is_sure = slice_eq(name, SLICE_LIT(REPORT_ADMINISTRATOR)) ||
                         slice_eq(name, SLICE_LIT(REPORT_TRAP));

    return votes == NULL ? json_null()
                         : json_real(is_sure ? 1 : votes_trust(votes, name, now_s));
}

void report_trust_json(json_t *rows, struct votes *votes, uint64_t now_s)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        (void)json_object_set_new(
            row, "trust", trust_of(votes, json_object_get(row, "reporter"), now_s));
    }
}
