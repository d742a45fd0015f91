/* api_list - the entries of one list, and changes of them. */
#include "core/base/clock.h"
#include "core/config/unit.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/api/api_list_change.h"
#include "core/list/browse_json.h"
#include "core/list/entry_source.h"

enum {
    LIMIT_DEFAULT = 100,
    LIMIT_MOST = 1000,
    DECIMAL = 10,
    HEX = 16,
    US_PER_S = 1000000,
    NAME_MAX_BYTES = 64,
    CURSOR_MAX = 64
};

/* ---- GET /v1/list ---- */

/* The parameters of a request. */
struct wanted {
    char name[NAME_MAX_BYTES + 1];
    char origin[NAME_MAX_BYTES + 1];
    char q[BROWSE_TEXT_MAX + 1];
    struct browse_place from;
    uint64_t limit;
};

/* "l", then three numbers. */
static bool read_cursor(struct slice s, struct browse_place *ret)
{
    uint64_t v[3] = {0};

    if (!slice_has_prefix(s, SLICE_LIT("l"))) {
        return false;
    }
    s = slice_from(s, 1);
    for (size_t i = 0; i < LENGTH(v); i++) {
        if (!slice_to_u64(slice_cut(&s, '-'), HEX, i == 0 ? INT64_MAX : UINT32_MAX,
                          &v[i])) {
            return false;
        }
    }
    *ret = (struct browse_place){v[0], (uint32_t)v[1], (uint32_t)v[2]};
    return s.p == NULL && ret->created_s > 0 && ret->segment > 0;
}

static json_t *cursor_json(const struct browsed *found)
{
    const struct browse_place *p = &found->next;

    return found->has_more
               ? json_sprintf("l%llx-%lx-%lx", (unsigned long long)p->created_s,
                              (unsigned long)p->segment, (unsigned long)p->offset)
               : json_null();
}

static bool take_text(char *dst, size_t size, const char *value)
{
    const size_t n = strlen(value);

    if (n >= size) {
        return false;
    }
    memcpy(dst, value, n + 1);
    return true;
}

static bool read_parameter(struct slice name, const char *value, struct wanted *ret)
{
    const struct slice v = slice_str(value);

    if (slice_eq(name, SLICE_LIT("name"))) {
        return list_name_is_valid(v) && take_text(ret->name, sizeof(ret->name), value);
    }
    if (slice_eq(name, SLICE_LIT("origin"))) {
        return take_text(ret->origin, sizeof(ret->origin), value);
    }
    if (slice_eq(name, SLICE_LIT("q"))) {
        return take_text(ret->q, sizeof(ret->q), value);
    }
    if (slice_eq(name, SLICE_LIT("limit"))) {
        return slice_to_u64(v, DECIMAL, LIMIT_MOST, &ret->limit) && ret->limit > 0;
    }
    return read_cursor(v, &ret->from);
}

/* False: it was refused. */
static bool read_browse(struct api_call *call, struct wanted *ret)
{
    struct slice rest = call->request.query;
    char value[BROWSE_TEXT_MAX + 1];
    struct slice name;
    bool is_bad = false;

    *ret = (struct wanted){.limit = LIMIT_DEFAULT};
    while (!is_bad && http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        is_bad = !read_parameter(name, value, ret);
    }
    if (is_bad || ret->name[0] == '\0') {
        api_refuse(call, 422,
                   "name is the name of a list, q has at most %d bytes, limit is 1 to "
                   "%d, and cursor is the next of an earlier answer",
                   BROWSE_TEXT_MAX, LIMIT_MOST);
        return false;
    }
    return true;
}

static const struct list_reader *find_reader(const struct listset *set,
                                             const struct wanted *w)
{
    for (size_t i = 0; i < listset_total(set); i++) {
        const char *origin = listset_origin(set, i);
        const struct list_reader *r = listset_reader(set, i);

        if (strcmp(list_reader_name(r), w->name) == 0 &&
            strcmp(origin == NULL ? "" : origin, w->origin) == 0) {
            return r;
        }
    }
    return NULL;
}

struct page {
    json_t *rows;
    uint64_t limit;
};

static bool add_to_page(void *context, const struct browse_entry *e)
{
    struct page *p = context;

    (void)json_array_append_new(p->rows, browse_entry_json(e));
    return json_array_size(p->rows) < p->limit;
}

/* The entry that q names stands first on the first page, and nowhere else. */
static bool add_exact(struct api_call *call, const struct list_reader *r,
                      const struct wanted *w, struct page *p, struct digest *ret)
{
    struct browse_found found;

    if (w->q[0] == '\0' ||
        list_browse_value(r, slice_str(w->q), clock_wall_us() / US_PER_S, call->arena,
                          &found, NULL) != ERR_OK) {
        return false;
    }
    if (w->from.created_s == 0) {
        const struct browse_entry e = {&found.from, found.changed_s};
        (void)add_to_page(p, &e);
    }
    *ret = found.from.digest;
    return true;
}

static void answer_page(struct api_call *call, const struct list_reader *r,
                        const struct wanted *w)
{
    struct page page = {json_array(), w->limit};
    struct errinfo why = {.text = ""};
    struct digest exact;
    struct browsed found;
    uint64_t listed = 0;
    uint64_t revoked = 0;
    const bool has_exact = add_exact(call, r, w, &page, &exact);
    const struct browse b = {.text = slice_str(w->q),
                             .but = has_exact ? &exact : NULL,
                             .now_s = clock_wall_us() / US_PER_S,
                             .fn = add_to_page,
                             .context = &page};
    enum err e = list_browse(r, &b, &w->from, &found, &why);

    if (e != ERR_OK) {
        json_decref(page.rows);
        api_refuse(call, e == ERR_NOT_FOUND ? 410 : 503, "%s", why.text);
        return;
    }
    list_reader_totals(r, &listed, &revoked);
    api_answer_json(call,
                    json_pack("{s:s, s:s?, s:o, s:o, s:I, s:f, s:I, s:I, s:I}", "name",
                              list_reader_name(r), "origin",
                              w->origin[0] == '\0' ? NULL : w->origin, "entries",
                              page.rows, "next", cursor_json(&found), "searched",
                              (json_int_t)found.records, "share", found.share,
                              "without_text", (json_int_t)found.without_text, "listed",
                              (json_int_t)listed, "revoked", (json_int_t)revoked));
}

void api_v1_list(struct api_call *call)
{
    struct wanted w;

    if (!read_browse(call, &w)) {
        return;
    }
    const struct list_watcher_view *view = list_watcher_acquire(call->api->lists);
    const struct list_reader *r = find_reader(view->set, &w);

    if (r != NULL) {
        answer_page(call, r, &w);
    } else {
        api_refuse(call, 404, "there is no list of this name");
    }
    list_watcher_release(call->api->lists, &view);
}

/* ---- POST /v1/list/add, /v1/list/revoke ---- */

/* The members of a body. */
struct asked {
    struct slice list;
    struct api_strings values;
    struct slice reason;
    struct slice type;
    struct slice expires;
};

static bool refuse_value(struct api_call *call, const char *why)
{
    api_refuse(call, 422, "%s", why);
    return false;
}

/* "7d" from now. */
static bool read_expiry(struct slice text, uint32_t *ret)
{
    const uint64_t now_s = clock_wall_us() / US_PER_S;
    char copy[CURSOR_MAX];
    uint64_t us = 0;

    if (text.n == 0) {
        return true;
    }
    if (text.n >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    if (!unit_time_us(copy, &us) || us < US_PER_S ||
        us / US_PER_S > UINT32_MAX - now_s) {
        return false;
    }
    *ret = (uint32_t)(now_s + us / US_PER_S);
    return true;
}

static bool read_type(struct slice name, enum feature_type *ret)
{
    const struct feature_info *info = name.n == 0 ? NULL : feature_info_by_name(name);

    *ret = info == NULL ? FEATURE_NONE : info->type;
    return name.n == 0 || info != NULL;
}

/* False: it was refused. */
static bool read_change(struct api_call *call, struct asked *a, struct api_change *io)
{
    struct errinfo why = {.text = ""};

    if (!list_name_is_valid(a->list)) {
        return refuse_value(call, "\"list\" is no name of a list");
    }
    if (a->reason.n == 0) {
        return refuse_value(call, "\"reason\" is empty");
    }
    if (entry_reason_check(a->reason, &why) != ERR_OK) {
        return refuse_value(call, why.text);
    }
    if (!read_type(a->type, &io->type)) {
        return refuse_value(call, "\"type\" is no type of feature");
    }
    if (!read_expiry(a->expires, &io->expiry_s)) {
        return refuse_value(call, "\"expires\" is a time from now such as 12h or 7d");
    }
    io->reason = a->reason;
    return api_list_is_there(call, a->list);
}

static void change_list(struct api_call *call, bool is_revoke)
{
    struct asked a = {.values = {.most = call->config->api.values}};
    const struct api_member members[] = {
        {"list", API_MEMBER_STRING, true, &a.list},
        {"values", API_MEMBER_STRINGS, true, &a.values},
        {"reason", API_MEMBER_STRING, true, &a.reason},
        {"type", API_MEMBER_STRING, false, &a.type},
        {"expires", API_MEMBER_STRING, false, &a.expires}};
    struct errinfo why = {.text = ""};

    if (!api_read_body(call, members, LENGTH(members) - (is_revoke ? 1 : 0))) {
        return;
    }
    struct api_change c = api_change_of(call);

    if (!read_change(call, &a, &c)) {
        json_decref(c.rows);
        return;
    }
    enum err e = is_revoke ? api_change_revoke(&c, a.list, a.values.v, a.values.n, &why)
                           : api_change_add(&c, a.list, a.values.v, a.values.n, &why);

    api_answer_changes(call, e, &why, NULL, c.rows);
    api_note_rows(call, &c, is_revoke ? CHANGE_list_revoke : CHANGE_list_add,
                  a.values.n);
    json_decref(c.rows);
}

void api_v1_list_add(struct api_call *call)
{
    change_list(call, false);
}

void api_v1_list_revoke(struct api_call *call)
{
    change_list(call, true);
}
