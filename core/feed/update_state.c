/*
 * update_state - state.json: the state of a feed between updates.
 */
#include <jansson.h>

#include "core/feed/update_internal.h"

enum { FAILURES_MAX = 1000000 };

static uint64_t number(const json_t *o, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(o, key));
    return v > 0 ? (uint64_t)v : 0;
}

static void text(const json_t *o, const char *key, char *ret, size_t size)
{
    const char *v = json_string_value(json_object_get(o, key));
    (void)snprintf(ret, size, "%s", v ? v : "");
}

static struct update_version version_parse(const json_t *o)
{
    return (struct update_version){.number = number(o, "number"),
                                   .at_s = number(o, "at_s"),
                                   .entries = number(o, "entries")};
}

static bool versions_parse(const json_t *list, struct update_saved *s)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct update_version v = version_parse(json_array_get(list, i));
        bool rises =
            s->nversions == 0 || v.number > s->version[s->nversions - 1].number;
        if (v.number == 0 || !rises || s->nversions == UPDATE_VERSIONS_MAX) {
            return false;
        }
        s->version[s->nversions++] = v;
    }
    return true;
}

static bool has_version(const struct update_saved *s, uint64_t wanted)
{
    for (size_t i = 0; i < s->nversions; i++) {
        if (s->version[i].number == wanted) {
            return true;
        }
    }
    return wanted == 0;
}

static void shown_parse(const json_t *o, struct update_state *s)
{
    char format[32];
    const json_t *refusal = json_object_get(o, "refusal");
    s->version = number(o, "version");
    s->entries = number(o, "entries");
    s->good_s = number(o, "good_s");
    s->changed_s = number(o, "changed_s");
    s->added_total = number(o, "added_total");
    s->is_pinned = json_is_true(json_object_get(o, "pinned"));
    text(o, "format", format, sizeof(format));
    s->format = feed_format_by_name(slice_str(format));
    s->format = s->format == FEED_FORMAT_COUNT ? FEED_AUTO : s->format;
    text(o, "etag", s->etag, sizeof(s->etag));
    text(o, "last_modified", s->last_modified, sizeof(s->last_modified));
    text(refusal, "reason", s->refusal.reason, sizeof(s->refusal.reason));
    text(refusal, "text", s->refusal.text, sizeof(s->refusal.text));
    s->refusal.at_s = number(refusal, "at_s");
    uint64_t failures = number(o, "failures");
    s->failures = failures < FAILURES_MAX ? (unsigned)failures : FAILURES_MAX;
    text(o, "trouble", s->trouble, sizeof(s->trouble));
}

enum err saved_parse(struct slice bytes, struct update_saved *ret)
{
    struct update_saved s = {.nversions = 0};
    json_t *o =
        json_loadb(bytes.p ? bytes.p : "", bytes.n, JSON_REJECT_DUPLICATES, NULL);
    const json_t *pending = json_object_get(o, "pending");
    bool is_right = json_is_object(o) && number(o, "gillnet_feed_state") == 1 &&
                    versions_parse(json_object_get(o, "versions"), &s);
    shown_parse(o, &s.shown);
    s.pending.version = version_parse(pending);
    s.pending.is_rollback = json_is_true(json_object_get(pending, "rollback"));
    s.pending.entered = number(pending, "added");
    s.last = number(o, "last");
    s.compared_s = number(o, "compared_s");
    text(o, "list", s.list, sizeof(s.list));
    s.is_lost = json_is_true(json_object_get(o, "lost"));
    s.is_silent = json_is_true(json_object_get(o, "silent"));
    s.shown.versions = s.nversions;
    is_right = is_right && has_version(&s, s.shown.version) &&
               (s.list[0] == '\0' || list_name_is_valid(slice_str(s.list)));
    json_decref(o);
    *ret = s;
    return is_right ? ERR_OK : ERR_CORRUPT;
}

static json_t *version_json(const struct update_version *v)
{
    return json_pack("{s:I, s:I, s:I}", "number", (json_int_t)v->number, "at_s",
                     (json_int_t)v->at_s, "entries", (json_int_t)v->entries);
}

/* Validators are bytes of a server's. */
static json_t *text_json(const char *s)
{
    json_t *t = json_string(s);
    return t ? t : json_string("");
}

static json_t *saved_json(const struct update_saved *s)
{
    const struct update_state *w = &s->shown;
    json_t *versions = json_array();
    for (size_t i = 0; i < s->nversions; i++) {
        (void)json_array_append_new(versions, version_json(&s->version[i]));
    }
    json_t *o = json_pack(
        "{s:i, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:o, s:o, s:I, s:I, s:b, s:b, s:s, s:o}",
        "gillnet_feed_state", 1, "version", (json_int_t)w->version, "entries",
        (json_int_t)w->entries, "good_s", (json_int_t)w->good_s, "changed_s",
        (json_int_t)w->changed_s, "added_total", (json_int_t)w->added_total, "pinned",
        (int)w->is_pinned, "format", feed_format_name(w->format), "etag",
        text_json(w->etag), "last_modified", text_json(w->last_modified), "last",
        (json_int_t)s->last, "compared_s", (json_int_t)s->compared_s, "silent",
        (int)s->is_silent, "lost", (int)s->is_lost, "list", s->list, "versions",
        versions);
    if (o && w->refusal.reason[0] != '\0') {
        (void)json_object_set_new(
            o, "refusal",
            json_pack("{s:s, s:o, s:I}", "reason", w->refusal.reason, "text",
                      text_json(w->refusal.text), "at_s", (json_int_t)w->refusal.at_s));
    }
    if (o && w->failures > 0) {
        (void)json_object_set_new(o, "failures", json_integer(w->failures));
        (void)json_object_set_new(o, "trouble", text_json(w->trouble));
    }
    if (o && s->pending.version.number != 0) {
        json_t *p = version_json(&s->pending.version);
        (void)json_object_set_new(p, "rollback", json_boolean(s->pending.is_rollback));
        (void)json_object_set_new(p, "added",
                                  json_integer((json_int_t)s->pending.entered));
        (void)json_object_set_new(o, "pending", p);
    }
    return o;
}

enum err saved_print(const struct update_saved *s, struct buf *ret)
{
    json_t *o = saved_json(s);
    char *dump = o ? json_dumps(o, JSON_INDENT(2)) : NULL;
    buf_add_str(ret, dump ? dump : "");
    buf_add_char(ret, '\n');
    enum err e = dump && !buf_failed(ret) ? ERR_OK : ERR_NOMEM;
    free(dump);
    json_decref(o);
    return e;
}
