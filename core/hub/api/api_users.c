/* api_users - settings of users and domains: listed, shown for one, and changed, as by
 * `gillnet user`. */
#include <math.h>

#include "core/hub/api/api_body.h"
#include "core/hub/api/api_handlers.h"
#include "core/message/feature/feature_json.h"
#include "core/verdict/user/user_verdict.h"

enum {
    LIMIT_DEFAULT = 100,
    LIMIT_MOST = 1000,
    DECIMAL = 10,
    VALUE_MAX = 512,
    LEVELS = 3 /* of one user: the domain, the user, the user with an extension */
};

/* The rows that a request wants, and the rows that were found. */
struct user_rows {
    struct api_call *call;
    const char *const *names; /* only these; NULL: all */
    char words[VALUE_MAX];
    uint64_t after; /* rows to skip */
    uint64_t limit;
    uint64_t at; /* rows that were seen */
    bool has_more;
    json_t *rows;
};

static json_t *words_json(struct slice words)
{
    json_t *set = json_array();

    while (words.n > 0) {
        (void)json_array_append_new(set, json_text(slice_cut(&words, ' ')));
    }
    return set;
}

static bool has_text(struct slice text, struct slice part)
{
    for (size_t i = 0; i + part.n <= text.n; i++) {
        if (slice_has_prefix_nocase(slice_from(text, i), part)) {
            return true;
        }
    }
    return false;
}

static bool is_user_wanted(const struct user_rows *r, const char *name,
                           struct slice words)
{
    const struct slice part = slice_str(r->words);
    bool is_named = r->names == NULL;

    for (size_t i = 0; !is_named && i < LEVELS && r->names[i] != NULL; i++) {
        is_named = strcmp(r->names[i], name) == 0;
    }
    return is_named && (has_text(slice_str(name), part) || has_text(words, part));
}

/* False: that was the last row. */
static bool add_user_row(struct user_rows *r, const char *name, const char *source,
                         struct slice words)
{
    if (!is_user_wanted(r, name, words)) {
        return true;
    }
    r->at++;
    if (r->at <= r->after) {
        return true;
    }
    r->has_more = json_array_size(r->rows) == r->limit;
    if (!r->has_more) {
        (void)json_array_append_new(
            r->rows, json_pack("{s:o, s:s, s:o}", "name", json_text(slice_str(name)),
                               "source", source, "set", words_json(words)));
    }
    return !r->has_more;
}

/* Those of the file, then those of the configuration. */
static void add_rows(struct user_rows *r, struct slice text)
{
    const struct config *c = r->call->config;
    struct users_line *line = malloc(sizeof(*line));
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;
    unsigned number = 0;
    bool goes_on = line != NULL;

    while (goes_on && users_file_next(c, &text, &number, line, &e, &why)) {
        goes_on =
            e != ERR_OK || add_user_row(r, line->name, "file", slice_str(line->words));
    }
    for (size_t i = 0; goes_on && i < c->nusers; i++) {
        const struct config_user *u = &c->users[i];

        for (size_t k = 0; goes_on && k < u->set.n; k++) {
            goes_on = add_user_row(r, u->name, "configuration", slice_str(u->set.v[k]));
        }
    }
    free(line);
}

/* False: it was refused. */
static bool find_rows(struct user_rows *r)
{
    struct errinfo why = {.text = ""};
    char path[FILE_PATH_MAX];
    struct buf text;
    enum err e = users_file_path(r->call->config, path, &why);

    buf_init(&text, USERS_FILE_BYTES);
    THEN(e, users_file_read(path, &text, &why));
    if (e == ERR_OK) {
        r->rows = json_array();
        add_rows(r, buf_slice(&text));
    } else {
        api_refuse(r->call, 503, "the settings of users cannot be read: %s", why.text);
    }
    buf_fini(&text);
    return e == ERR_OK;
}

/* ---- GET /v1/users ---- */

void api_v1_users(struct api_call *call)
{
    struct user_rows r = {.call = call, .limit = LIMIT_DEFAULT};
    struct slice rest = call->request.query;
    char value[VALUE_MAX];
    struct slice name;
    bool is_bad = false;

    while (!is_bad && http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        const struct slice v = slice_str(value);

        if (slice_eq(name, SLICE_LIT("q"))) {
            (void)snprintf(r.words, sizeof(r.words), "%s", value);
        } else if (slice_eq(name, SLICE_LIT("limit"))) {
            is_bad = !slice_to_u64(v, DECIMAL, LIMIT_MOST, &r.limit) || r.limit == 0;
        } else {
            is_bad = !slice_to_u64(v, DECIMAL, INT64_MAX, &r.after);
        }
    }
    if (is_bad) {
        api_refuse(call, 422,
                   "q is a part of a name or setting, limit is 1 to %d, and after is "
                   "the next of an earlier answer",
                   LIMIT_MOST);
        return;
    }
    if (find_rows(&r)) {
        json_t *next = r.has_more ? json_sprintf("%" PRIu64, r.at - 1) : json_null();

        api_answer_json(call, json_pack("{s:o, s:o}", "users", r.rows, "next", next));
    }
}

/* ---- GET /v1/user ---- */

static json_t *thresholds_json(const struct api_call *call, const char *name)
{
    double t[ACTION_COUNT];
    json_t *object = json_object();
    struct users *users = users_new(call->config->state_dir);

    if (users == NULL) {
        return object;
    }
    (void)users_refresh(users, NULL); /* without a table there are those of the site */
    users_thresholds(call->config, users, slice_str(name), t);
    users_free(&users);
    for (unsigned a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        (void)json_object_set_new(object, action_name((enum action)a),
                                  isfinite(t[a]) ? json_real(t[a]) : json_null());
    }
    return object;
}

/* False: it was refused. */
static bool tidy_name(struct api_call *call, struct slice name,
                      char ret[USER_NAME_MAX + 1])
{
    const char *wrong = user_name_tidy(name, ret);

    if (wrong != NULL) {
        api_refuse(call, 422, "name: %s", wrong);
    }
    return wrong == NULL;
}

void api_v1_user(struct api_call *call)
{
    struct slice rest = call->request.query;
    char value[VALUE_MAX] = "";
    char name[USER_NAME_MAX + 1];
    char base[USER_NAME_MAX + 1];
    struct slice key;
    bool is_bad = false;

    (void)http_query_next(&rest, &key, value, sizeof(value), &is_bad);
    if (is_bad || rest.n > 0) {
        api_refuse(call, 422, "the query is ?name= and USER@DOMAIN or @DOMAIN");
        return;
    }
    if (!tidy_name(call, slice_str(value), name)) {
        return;
    }
    memcpy(base, name, sizeof(base));
    const char *own = user_name_drop_extension(base) ? name : NULL;
    const char *domain = strrchr(name, '@');
    const char *const names[LEVELS] = {domain, *name == '@' ? NULL : base, own};
    struct user_rows r = {.call = call, .names = names, .limit = LIMIT_MOST};

    if (find_rows(&r)) {
        api_answer_json(call, json_pack("{s:o, s:o, s:o}", "name",
                                        json_text(slice_str(name)), "settings", r.rows,
                                        "thresholds", thresholds_json(call, name)));
    }
}

/* ---- POST /v1/user/set ---- */

struct wrong_line {
    unsigned number; /* of the first; 0: none */
    char why[ERRINFO_TEXT_MAX];
};

static void on_wrong_line(void *context, unsigned line, const char *why)
{
    struct wrong_line *w = context;

    if (w->number == 0) {
        w->number = line;
        (void)snprintf(w->why, sizeof(w->why), "%s", why);
    }
}

void api_set_user(struct api_call *call, const struct user_change *asked)
{
    struct wrong_line wrong = {.number = 0};
    struct errinfo why = {.text = ""};
    struct user_change u = *asked;
    struct buf before;
    struct buf after;

    u.config = call->config;
    u.on_error = on_wrong_line;
    u.context = &wrong;
    buf_init(&before, USERS_LINE_MAX);
    buf_init(&after, USERS_LINE_MAX);
    enum err e = user_settings_change(&u, &before, &after, &why);
    if (e == ERR_OK) {
        api_answer_json(call, json_pack("{s:s, s:o, s:o}", "name", u.name, "before",
                                        words_json(buf_slice(&before)), "set",
                                        words_json(buf_slice(&after))));
    } else if (wrong.number > 0) {
        api_refuse(call, 422, "line %u of the settings of users: %s", wrong.number,
                   wrong.why);
    } else if (e == ERR_NOT_FOUND || e == ERR_EXISTS) { /* a rule; u.was */
        api_refuse(call, e == ERR_EXISTS ? 409 : 422, "%s", why.text);
    } else {
        api_refuse_change(call, e, &why);
    }
    if (e != ERR_OK || !slice_eq(buf_slice(&before), buf_slice(&after))) {
        api_note(call, &(struct change){.kind = CHANGE_user_set,
                                        .object = slice_str(u.name),
                                        .before = change_state(buf_slice(&before)),
                                        .after = change_state(buf_slice(&after))});
    }
    buf_fini(&before);
    buf_fini(&after);
}

void api_v1_user_set(struct api_call *call)
{
    char name[USER_NAME_MAX + 1];
    struct slice given = SLICE_NONE;
    struct api_strings set = {.most = LIMIT_MOST};
    bool does_clear = false;
    const struct api_member members[] = {
        {"name", API_MEMBER_STRING, true, &given},
        {"set", API_MEMBER_STRINGS, false, &set},
        {"clear", API_MEMBER_BOOL, false, &does_clear}};

    if (!api_is_proven(call) || !api_read_body(call, members, LENGTH(members)) ||
        !tidy_name(call, given, name)) {
        return;
    }
    if (set.n == 0 && !does_clear) {
        api_refuse(call, 422,
                   "\"set\" is an array of KEY=VALUE, and KEY= takes one out; "
                   "\"clear\": true takes all out first");
        return;
    }
    struct user_change u = {
        .name = name, .does_clear = does_clear, .words = set.v, .nwords = set.n};
    api_set_user(call, &u);
}
