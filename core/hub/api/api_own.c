/* api_own - a user's own page, which a one-time link of a digest opens for a while: held mail, and
 * whom the user allows and blocks. No script and no account. The session is a cookie for this path
 * alone, and each form has a secret of the session. ADR 0091. */
#include <openssl/crypto.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/markup.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/api/api_html.h"
#include "core/hub/api/own_session.h"
#include "core/hub/api/own_text.h"
#include "core/quarantine/held.h"
#include "core/quarantine/held_link.h"

enum {
    FORM_MAX = 4096,
    VALUE_MAX = 512,
    ROWS_SHOWN = 200,
    ENTRIES_MAX = 40, /* of one list */
    TIME_MAX = 64
};
#define COOKIE "gillnet-own="

/* One page on its way. */
struct own_page {
    struct api_call *call;
    size_t language;
    struct slice token;
    char recipient[OWN_RECIPIENT_SIZE];
    char key[OWN_TOKEN_SIZE]; /* of its forms */
    struct buf *to;
};

static const char *own_says(const struct own_page *p, enum own_text text)
{
    return own_text(text, p->language);
}

static void own_begin(struct own_page *p, unsigned status)
{
    p->to = api_html_begin(p->call, status, own_language_name(p->language),
                           own_says(p, OWN_title));
}

static void answer_ended(struct own_page *p)
{
    own_begin(p, 403);
    buf_printf(p->to, "<p>%s</p>\n", own_says(p, OWN_ended));
    api_html_end(p->to);
}

/* ---- the session ---- */

static struct slice own_cookie(struct slice cookies)
{
    while (cookies.n > 0) {
        const struct slice one = slice_trim(slice_cut(&cookies, ';'));

        if (slice_has_prefix(one, SLICE_LIT(COOKIE))) {
            return slice_from(one, sizeof(COOKIE) - 1);
        }
    }
    return SLICE_NONE;
}

/* False: it was answered. */
static bool own_enter(struct api_call *call, struct own_page *ret)
{
    *ret = (struct own_page){.call = call,
                             .language = own_language(call->request.languages),
                             .token = own_cookie(call->request.cookies)};
    if (own_session_find(call->api->own, ret->token, clock_mono_us(), ret->recipient) &&
        own_session_key(ret->token, ret->key)) {
        return true;
    }
    answer_ended(ret);
    return false;
}

static void set_cookie(struct api_call *call, const char *token, unsigned life_s)
{
    const struct slice prefix = api_html_prefix(call->config);
    const bool is_https =
        slice_has_prefix(slice_str(call->config->quarantine.url), SLICE_LIT("https:"));

    (void)snprintf(call->answer.cookie, sizeof(call->answer.cookie),
                   COOKIE "%s; Path=%.*s/own; Max-Age=%u; HttpOnly; SameSite=Strict%s",
                   token, SLICE_ARGS(prefix), life_s,
                   is_https || call->api->tls != NULL ? "; Secure" : "");
}

void api_own_ask(struct api_call *call, struct slice token)
{
    struct own_page p = {.call = call,
                         .language = own_language(call->request.languages)};

    own_begin(&p, 200);
    buf_printf(p.to,
               "<p>%s</p>\n<form method=\"post\" action=\"%.*s/use\">\n"
               "<button type=\"submit\">%s</button>\n</form>\n",
               own_says(&p, OWN_open_words), SLICE_ARGS(token), own_says(&p, OWN_open));
    api_html_end(p.to);
}

bool api_own_open(struct api_call *call, const char *recipient)
{
    const struct slice prefix = api_html_prefix(call->config);
    char token[OWN_TOKEN_SIZE];
    struct own_page p = {.call = call,
                         .language = own_language(call->request.languages)};

    if (!own_session_open(call->api->own, recipient, clock_mono_us(), token)) {
        return false;
    }
    own_begin(&p, 303);
    api_html_end(p.to);
    set_cookie(call, token, OWN_SESSION_S);
    (void)snprintf(call->answer.location, sizeof(call->answer.location), "%.*s/own",
                   SLICE_ARGS(prefix));
    explicit_bzero(token, sizeof(token));
    return true;
}

/* ---- forms ---- */

static void begin_form(const struct own_page *p)
{
    const struct slice prefix = api_html_prefix(p->call->config);

    buf_printf(p->to,
               "<form method=\"post\" action=\"%.*s/own/change\">\n"
               "<input type=\"hidden\" name=\"key\" value=\"%s\">\n",
               SLICE_ARGS(prefix), p->key);
}

static void add_hidden(const struct own_page *p, const char *name, struct slice value)
{
    buf_printf(p->to, "<input type=\"hidden\" name=\"%s\" value=\"", name);
    markup_add(p->to, value);
    buf_add_str(p->to, "\">\n");
}

/* about: the name of the button for those who do not see where it stands. */
static void add_button(const struct own_page *p, const char *action, enum own_text text,
                       struct slice about)
{
    buf_printf(p->to,
               "<button type=\"submit\" name=\"do\" value=\"%s\" aria-label=\"%s ",
               action, own_says(p, text));
    markup_add(p->to, about);
    buf_printf(p->to, "\">%s</button>\n", own_says(p, text));
}

/* ---- held mail ---- */

bool api_own_may_release(const struct config *c, const json_t *row)
{
    return c->quarantine.user_release == QUARANTINE_USERS_ANY ||
           (c->quarantine.user_release == QUARANTINE_USERS_OWN &&
            held_number(row, "nrcpt") == 1);
}

static void add_held_time(struct buf *b, const json_t *row)
{
    const time_t t = (time_t)held_number(row, "time_s");
    char text[TIME_MAX] = "";
    struct tm tm;

    if (gmtime_r(&t, &tm) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm) > 0) {
        buf_add_str(b, text);
    }
}

static void add_held_message(const struct own_page *p, const json_t *row)
{
    const struct slice id = slice_str(held_text(row, "id"));

    buf_printf(p->to, "<dl>\n<dt>%s</dt>\n<dd>", own_says(p, OWN_from));
    api_html_add_decoded(p->to, held_text(row, "from"));
    buf_printf(p->to, "</dd>\n<dt>%s</dt>\n<dd>", own_says(p, OWN_subject));
    api_html_add_decoded(p->to, held_text(row, "subject"));
    buf_printf(p->to, "</dd>\n<dt>%s</dt>\n<dd>", own_says(p, OWN_time));
    add_held_time(p->to, row);
    buf_add_str(p->to, "</dd>\n</dl>\n");
    begin_form(p);
    add_hidden(p, "id", id);
    buf_printf(p->to, "<input type=\"hidden\" name=\"time\" value=\"%" PRIu64 "\">\n",
               held_number(row, "time_s"));
    if (api_own_may_release(p->call->config, row)) {
        add_button(p, "release", OWN_release, id);
        add_button(p, "delete", OWN_delete, id);
    }
    add_button(p, "spam", OWN_spam, id);
    buf_add_str(p->to, "</form>\n");
}

/* rows NULL: not known. */
static void add_messages(const struct own_page *p, const json_t *rows)
{
    size_t shown = 0;

    buf_printf(p->to, "<h2>%s</h2>\n", own_says(p, OWN_held));
    for (size_t i = 0; i < json_array_size(rows) && shown < ROWS_SHOWN; i++) {
        const json_t *row = json_array_get(rows, i);

        if (held_is_gillnets(row) && held_has_recipient(row, p->recipient)) {
            add_held_message(p, row);
            shown++;
        }
    }
    if (shown == 0) {
        buf_printf(p->to, "<p>%s</p>\n",
                   own_says(p, rows == NULL ? OWN_not_known : OWN_none_held));
    }
}

/* ---- whom the user allows and blocks ---- */

/* The settings of the recipient alone, with one blank between. */
static bool read_own(const struct own_page *p, char name[USER_NAME_MAX + 1],
                     struct buf *ret)
{
    struct errinfo why = {.text = ""};
    char path[FILE_PATH_MAX];
    struct buf text;

    if (user_name_tidy(slice_str(p->recipient), name) != NULL || *name == '@') {
        return false;
    }
    buf_init(&text, USERS_FILE_BYTES);
    enum err e = users_file_path(p->call->config, path, &why);
    THEN(e, users_file_read(path, &text, &why));
    if (e == ERR_OK) {
        user_settings_find(p->call->config, buf_slice(&text), name, ret);
    }
    buf_fini(&text);
    return e == ERR_OK;
}

/* The value of a key, "a,b"; empty: not set. */
static struct slice own_value(struct slice words, struct slice key)
{
    while (words.n > 0) {
        struct slice word = slice_cut(&words, ' ');

        if (slice_eq(slice_cut(&word, '='), key)) {
            return word;
        }
    }
    return SLICE_NONE;
}

static size_t add_entries(const struct own_page *p, struct slice words, const char *key)
{
    struct slice values = own_value(words, slice_str(key));
    size_t n = 0;

    while (values.n > 0) {
        const struct slice value = slice_cut(&values, ',');

        buf_add_str(p->to, "<li><bdi>");
        markup_add(p->to, value);
        buf_add_str(p->to, "</bdi>\n");
        begin_form(p);
        add_hidden(p, "list", slice_str(key));
        add_hidden(p, "value", value);
        add_button(p, "remove", OWN_remove, value);
        buf_add_str(p->to, "</form></li>\n");
        n++;
    }
    return n;
}

static void add_list(const struct own_page *p, struct slice words, bool is_block)
{
    const char *word = is_block ? "block" : "allow";
    size_t n = 0;

    buf_printf(p->to, "<h2>%s</h2>\n<ul>\n",
               own_says(p, is_block ? OWN_blocked : OWN_allowed));
    n += add_entries(p, words, is_block ? "block.addresses" : "allow.addresses");
    n += add_entries(p, words, is_block ? "block.domains" : "allow.domains");
    buf_add_str(p->to, "</ul>\n");
    if (n == 0) {
        buf_printf(p->to, "<p>%s</p>\n", own_says(p, OWN_none_listed));
    }
    begin_form(p);
    buf_printf(p->to,
               "<input type=\"hidden\" name=\"list\" value=\"%s\">\n"
               "<label>%s <input name=\"value\" maxlength=\"%d\" required></label>\n",
               word, own_says(p, OWN_entry), USER_NAME_MAX);
    add_button(p, "add", OWN_add,
               slice_str(own_says(p, is_block ? OWN_blocked : OWN_allowed)));
    buf_add_str(p->to, "</form>\n");
}

/* ---- the page ---- */

/* says: what came of a button; OWN_TEXTS: nothing. */
static void answer_own(struct own_page *p, unsigned status, enum own_text says)
{
    char name[USER_NAME_MAX + 1];
    struct buf words;

    buf_init(&words, USERS_LINE_MAX);
    json_t *rows = api_held_rows(p->call); /* which may answer itself */
    own_begin(p, status);
    buf_add_str(p->to, "<p><bdi>");
    markup_add(p->to, slice_str(p->recipient));
    buf_add_str(p->to, "</bdi></p>\n");
    if (says != OWN_TEXTS) {
        buf_printf(p->to, "<p role=\"status\"><strong>%s</strong></p>\n",
                   own_says(p, says));
    }
    add_messages(p, rows);
    if (read_own(p, name, &words)) {
        add_list(p, buf_slice(&words), false);
        add_list(p, buf_slice(&words), true);
    }
    begin_form(p);
    add_button(p, "close", OWN_close, SLICE_NONE);
    buf_add_str(p->to, "</form>\n");
    api_html_end(p->to);
    json_decref(rows);
    buf_fini(&words);
}

void api_own_page(struct api_call *call)
{
    struct own_page p;

    if (own_enter(call, &p)) {
        answer_own(&p, 200, OWN_TEXTS);
    }
}

/* ---- what a button does ---- */

struct own_form {
    char key[OWN_TOKEN_SIZE];
    char action[16];
    char id[QUARANTINE_ID_MAX + 1];
    char time[24];
    char list[24];
    char value[VALUE_MAX];
};

/* False: it is none of our forms. */
static bool read_form(const struct api_call *call, struct own_form *ret)
{
    struct {
        struct slice name;
        char *to;
        size_t size;
    } const fields[] = {{SLICE_LIT("key"), ret->key, sizeof(ret->key)},
                        {SLICE_LIT("do"), ret->action, sizeof(ret->action)},
                        {SLICE_LIT("id"), ret->id, sizeof(ret->id)},
                        {SLICE_LIT("time"), ret->time, sizeof(ret->time)},
                        {SLICE_LIT("list"), ret->list, sizeof(ret->list)},
                        {SLICE_LIT("value"), ret->value, sizeof(ret->value)}};
    struct slice rest = call->body;
    char value[VALUE_MAX];
    struct slice name;
    bool is_bad =
        call->body.n > FORM_MAX ||
        !http_type_is(call->request.type, "application/x-www-form-urlencoded");

    *ret = (struct own_form){.key = ""};
    while (!is_bad && http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        size_t i = 0;

        while (i < LENGTH(fields) && !slice_eq(name, fields[i].name)) {
            i++;
        }
        is_bad = i == LENGTH(fields) || strlen(value) >= fields[i].size;
        if (!is_bad) {
            memcpy(fields[i].to, value, strlen(value) + 1);
        }
    }
    return !is_bad;
}

/* Reports the message. False: it was not kept. */
static bool own_report(const struct own_page *p, const struct api_opinion *opinion)
{
    json_t *report = api_report_held(p->call, opinion);
    const bool is_kept = report != NULL;

    json_decref(report);
    return is_kept;
}

static enum own_text change_message(struct own_page *p, const struct own_form *f)
{
    json_t *rows = api_held_rows(p->call);
    const json_t *row = rows != NULL ? held_find(rows, f->id) : NULL;
    const struct api_opinion opinion = {.is_spam = strcmp(f->action, "release") != 0,
                                        .reporter = p->recipient,
                                        .way = "digest",
                                        .id = f->id};
    enum own_text says = rows == NULL ? OWN_failed : OWN_gone;
    uint64_t time_s = 0;

    if (row != NULL && slice_to_u64(slice_str(f->time), 10, UINT64_MAX, &time_s) &&
        held_number(row, "time_s") == time_s && held_is_gillnets(row) &&
        held_has_recipient(row, p->recipient)) {
        const bool is_report = strcmp(f->action, "spam") == 0;

        if (!is_report && !api_own_may_release(p->call->config, row)) {
            says = OWN_not_yours;
        } else if (is_report) {
            says = own_report(p, &opinion) ? OWN_done : OWN_failed;
        } else {
            if (!opinion.is_spam) {
                (void)own_report(p, &opinion);
            }
            says = api_change_held(p->call, f->action, f->id) ? OWN_done : OWN_failed;
        }
    }
    json_decref(rows);
    return says;
}

/* The key of a new entry, "" for a text that is neither an address nor a domain. */
static const char *key_of_entry(const char *list, const char *value)
{
    const bool is_block = strcmp(list, "block") == 0;
    const bool is_address = strchr(value, '@') != NULL;

    return is_address ? is_block ? "block.addresses" : "allow.addresses"
           : is_block ? "block.domains"
                      : "allow.domains";
}

/* The values with one more or without one. False: there are too many. */
static bool print_values(struct slice values, struct slice value, bool is_removed,
                         struct buf *ret)
{
    size_t n = 0;

    while (values.n > 0) {
        const struct slice one = slice_cut(&values, ',');

        if (!slice_eq_nocase(one, value)) {
            buf_printf(ret, "%s%.*s", n++ > 0 ? "," : "", SLICE_ARGS(one));
        }
    }
    if (!is_removed) {
        buf_printf(ret, "%s%.*s", n++ > 0 ? "," : "", SLICE_ARGS(value));
    }
    return n <= ENTRIES_MAX && ret->n < USER_VALUES_MAX - VALUE_MAX / 4;
}

static void on_wrong_own_line(void *context, unsigned line, const char *why)
{
    const char **ret = context;

    (void)line;
    *ret = why;
}

static enum own_text put_entry(struct own_page *p, const char *name, const char *key,
                               struct slice values)
{
    const char *wrong = NULL;
    struct errinfo why = {.text = ""};
    struct buf word;
    struct buf before;
    struct buf after;
    enum own_text says = OWN_done;

    buf_init(&word, USERS_LINE_MAX);
    buf_init(&before, USERS_LINE_MAX);
    buf_init(&after, USERS_LINE_MAX);
    buf_printf(&word, "%s=%.*s", key, SLICE_ARGS(values));
    const struct slice words[] = {buf_slice(&word)};
    const struct user_change u = {.config = p->call->config,
                                  .name = name,
                                  .words = words,
                                  .nwords = 1,
                                  .on_error = on_wrong_own_line,
                                  .context = &wrong};
    const enum err e = user_settings_change(&u, &before, &after, &why);
    p->call->answer.status = e == ERR_OK ? 200 : 503;
    api_note(p->call, &(struct change){.kind = CHANGE_user_set,
                                       .who = slice_str(p->recipient),
                                       .way = SLICE_LIT("link"),
                                       .object = slice_str(name),
                                       .before = change_state(buf_slice(&before)),
                                       .after = change_state(buf_slice(&after))});
    if (e != ERR_OK) {
        says = e == ERR_SYNTAX && wrong == NULL ? OWN_wrong : OWN_failed;
    }
    buf_fini(&word);
    buf_fini(&before);
    buf_fini(&after);
    return says;
}

static enum own_text change_entry(struct own_page *p, struct own_form *f)
{
    static const char *const keys[] = {"allow.addresses", "allow.domains",
                                       "block.addresses", "block.domains"};
    const bool is_removed = strcmp(f->action, "remove") == 0;
    char name[USER_NAME_MAX + 1];
    struct buf words;
    struct buf values;
    enum own_text says = OWN_failed;

    for (char *c = f->value; *c != '\0'; c++) {
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    }
    struct slice value = slice_trim(slice_str(f->value));
    value = slice_from(value, slice_has_prefix(value, SLICE_LIT("@")) ? 1 : 0);
    const char *key =
        is_removed ? f->list : key_of_entry(f->list, value.n > 0 ? value.p : "");

    if (name_index(slice_str(key), keys, LENGTH(keys)) < 0 || value.n == 0 ||
        slice_find(value, ',') < value.n) {
        return OWN_wrong;
    }
    buf_init(&words, USERS_LINE_MAX);
    buf_init(&values, USERS_LINE_MAX);
    if (read_own(p, name, &words)) {
        const struct slice old = own_value(buf_slice(&words), slice_str(key));

        says = print_values(old, value, is_removed, &values)
                   ? put_entry(p, name, key, buf_slice(&values))
                   : OWN_full;
    }
    buf_fini(&words);
    buf_fini(&values);
    return says;
}

static enum own_text own_act(struct own_page *p, struct own_form *f)
{
    static const char *const of_messages[] = {"release", "delete", "spam"};
    static const char *const of_entries[] = {"add", "remove"};
    const struct slice action = slice_str(f->action);

    if (name_index(action, of_messages, LENGTH(of_messages)) >= 0) {
        return quarantine_is_id(slice_str(f->id)) ? change_message(p, f) : OWN_gone;
    }
    return name_index(action, of_entries, LENGTH(of_entries)) >= 0 ? change_entry(p, f)
                                                                   : OWN_failed;
}

static void log_own(const struct own_page *p, const struct own_form *f,
                    enum own_text says)
{
    char who[LOG_STR_MAX];
    char what[LOG_STR_MAX];

    log_info("event=own action=%s recipient=%s from=%s done=%s",
             log_str(what, slice_str(f->action)), log_str(who, slice_str(p->recipient)),
             p->call->from, says == OWN_done ? "yes" : "no");
}

void api_own_change(struct api_call *call)
{
    struct own_page p;
    struct own_form f;

    if (!own_enter(call, &p)) {
        return;
    }
    if (!read_form(call, &f) || CRYPTO_memcmp(f.key, p.key, sizeof(p.key)) != 0) {
        answer_own(&p, 403, OWN_failed);
        return;
    }
    if (strcmp(f.action, "close") == 0) {
        own_session_close(call->api->own, p.token);
        answer_ended(&p);
        call->answer.status = 200;
        set_cookie(call, "", 0);
        return;
    }
    enum own_text says = OWN_failed;
    if (own_session_take_change(call->api->own, p.token)) {
        says = own_act(&p, &f);
    }
    if (says == OWN_done && quarantine_is_id(slice_str(f.id)) &&
        strcmp(f.action, "spam") != 0) {
        call->answer.status = 200;
        api_note(call, &(struct change){.kind = strcmp(f.action, "delete") == 0
                                                    ? CHANGE_held_delete
                                                    : CHANGE_held_release,
                                        .who = slice_str(p.recipient),
                                        .way = SLICE_LIT("link"),
                                        .object = slice_str(f.id)});
    }
    log_own(&p, &f, says);
    answer_own(&p, says == OWN_done ? 200 : says == OWN_failed ? 503 : 422, says);
}
