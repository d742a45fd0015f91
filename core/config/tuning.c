#include "core/config/tuning.h"

#include <math.h>

#include "core/base/array.h"
#include "core/base/utf8.h"
#include "core/base/visible.h"

enum { DECIMAL = 10, ERRORS_MAX = 20 };
#define FIRST_LINE "gillnet-tuning 1"
#define LAST_LINE  "end"
#define BEGIN_TEXT                                                                   \
    "# gillnet wrote this file for `gillnet tune` and the page. Its settings stand " \
    "above those of\n# gillnet.conf and conf.d.\n"

struct tuning *tuning_new(void)
{
    return calloc(1, sizeof(struct tuning));
}

void tuning_free(struct tuning **t)
{
    if (*t != NULL) {
        free((*t)->v);
        free(*t);
        *t = NULL;
    }
}

/* ---- settings ---- */

struct slice tuning_key(const struct tuning_setting *s, struct slice *retvalue)
{
    *retvalue = slice_str(s->text);
    return slice_cut(retvalue, '=');
}

/* A number is written as gillnet.conf wants it: libconfig tells 8 and 8.0 apart. */
static const char *number_text(double v, char ret[TUNING_VALUE_MAX])
{
    if (isinf(v)) {
        return "\"off\"";
    }
    (void)snprintf(ret, TUNING_VALUE_MAX, "%.10g", v);
    if (strpbrk(ret, ".en") == NULL) {
        (void)snprintf(ret + strlen(ret), TUNING_VALUE_MAX - strlen(ret), ".0");
    }
    return ret;
}

const char *tuning_configured(const struct tuning_setting *s,
                              char ret[TUNING_VALUE_MAX])
{
    if (s->set.key == USER_SHADOW) {
        return s->configured_flag ? "true" : "false";
    }
    if (isinf(s->configured_number)) {
        return "off";
    }
    (void)snprintf(ret, TUNING_VALUE_MAX, "%.10g", s->configured_number);
    return ret;
}

/* The names of lists and rules begin with a letter or a digit. */
static bool may_be_tuned(const struct user_setting *s)
{
    return s->key == USER_THRESHOLD ||
           ((s->key == USER_SCORE || s->key == USER_SHADOW) && s->name.n > 0 &&
            *s->name.p != '-' && *s->name.p != '_');
}

/* Reads "KEY=VALUE" into a setting, whose name then points into its text. */
static enum err read_setting(struct slice text, struct tuning_setting *ret,
                             struct errinfo *reterr)
{
    if (text.n >= TUNING_TEXT_MAX || slice_find(text, '\0') < text.n) {
        return errinfo_set(reterr, ERR_SYNTAX, "", 0,
                           "a setting is KEY=VALUE, at most %d bytes of text",
                           TUNING_TEXT_MAX - 1);
    }
    *ret = (struct tuning_setting){.line = 0};
    memcpy(ret->text, text.n > 0 ? text.p : "", text.n);
    enum err e = user_setting_parse(slice_str(ret->text), &ret->set, reterr);
    if (e == ERR_NOT_FOUND || (e == ERR_OK && !may_be_tuned(&ret->set))) {
        e = errinfo_set(
            reterr, ERR_UNSUPPORTED, "", 0,
            "%.60s: a tuning has thresholds.ACTION, lists.NAME.weight, "
            "lists.NAME.shadow, rules.NAME.score and rules.NAME.shadow; write all "
            "other keys into gillnet.conf",
            ret->text);
    }
    return e;
}

/* The place of a key, or t->n. */
static size_t find_key(const struct tuning *t, struct slice key)
{
    struct slice value;
    size_t at = 0;

    while (at < t->n && !slice_eq(tuning_key(&t->v[at], &value), key)) {
        at++;
    }
    return at;
}

/* Names point into the texts, which have moved. */
static void point_names(struct tuning *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct user_setting *set = &t->v[i].set;
        size_t at = strlen(set->is_list ? "lists." : "rules.");

        if (set->name.n > 0) {
            set->name.p = t->v[i].text + at;
        }
    }
}

static enum err add_setting(struct tuning *t, const struct tuning_setting *s,
                            struct errinfo *reterr)
{
    if (t->n == TUNING_SETTINGS_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, "", 0,
                           "a tuning has at most %d settings; write some into "
                           "gillnet.conf",
                           TUNING_SETTINGS_MAX);
    }
    if (!array_room(&t->v, &t->room, t->n + 1, TUNING_SETTINGS_MAX, sizeof(*t->v))) {
        return errinfo_nomem(reterr, "");
    }
    t->v[t->n++] = *s;
    point_names(t);
    return ERR_OK;
}

enum err tuning_change(struct tuning *t, struct slice setting, struct errinfo *reterr)
{
    struct tuning_setting s;
    struct slice value = setting;
    struct slice key = slice_cut(&value, '=');
    size_t at = find_key(t, key);

    if (value.p != NULL && value.n == 0 && key.n > 0) {
        if (at == t->n) {
            return errinfo_set(reterr, ERR_NOT_FOUND, "", 0,
                               "%.*s: the tuning has no such setting",
                               SLICE_ARGS(slice_head(key, TUNING_TEXT_MAX)));
        }
        memmove(&t->v[at], &t->v[at + 1], (t->n - at - 1) * sizeof(*t->v));
        t->n--;
        point_names(t);
        return ERR_OK;
    }
    enum err e = read_setting(setting, &s, reterr);
    if (e == ERR_OK && at < t->n) {
        t->v[at] = s;
        point_names(t);
    } else if (e == ERR_OK) {
        e = add_setting(t, &s, reterr);
    }
    return e;
}

/* ---- text ---- */

const char *tuning_check_text(struct slice text, size_t most)
{
    if (text.n > most) {
        return "the text is too long";
    }
    for (size_t at = 0; at < text.n;) {
        uint32_t code = 0;
        size_t n = utf8_decode(text.p + at, text.n - at, &code);

        if (n == 0) {
            return "the text is no UTF-8";
        }
        if (!visible_is(code)) {
            return "the text has a control character or an invisible one";
        }
        at += n;
    }
    return NULL;
}

void tuning_print(const struct tuning *t, struct buf *ret)
{
    buf_add_str(ret, BEGIN_TEXT FIRST_LINE "\n");
    buf_printf(ret, "version %llu\nformer %llu\nat %llu\n",
               (unsigned long long)t->version, (unsigned long long)t->former,
               (unsigned long long)t->at_s);
    buf_printf(ret, "who %s\nwhy %s\n", t->who, t->why);
    for (size_t i = 0; i < t->n; i++) {
        buf_printf(ret, "%s\n", t->v[i].text);
    }
    buf_add_str(ret, LAST_LINE "\n");
}

/* A file that is being read. */
struct reading {
    struct tuning *t;
    scan_finding_fn *on_finding;
    void *context;
    unsigned line;
    unsigned nerrors;
    bool has_begun;
    bool has_ended;
    bool has_version;
};

static void refuse_tuning_line(struct reading *r, enum err code, const char *text)
{
    if (r->nerrors++ < ERRORS_MAX) {
        r->on_finding(r->context, r->line, code, text);
    }
}

static void read_head_number(struct reading *r, struct slice text, uint64_t *ret)
{
    if (!slice_to_u64(text, DECIMAL, INT64_MAX, ret)) {
        refuse_tuning_line(r, ERR_SYNTAX, "a number is wanted");
    }
}

static void read_head_text(struct reading *r, struct slice text, char *ret, size_t most)
{
    const char *why = tuning_check_text(text, most);

    if (why != NULL) {
        refuse_tuning_line(r, ERR_SYNTAX, why);
        return;
    }
    memcpy(ret, text.n > 0 ? text.p : "", text.n);
    ret[text.n] = '\0';
}

/* "version 7", "who anna". */
static void read_head_line(struct reading *r, struct slice line)
{
    struct slice rest = line;
    struct slice word = slice_cut(&rest, ' ');

    if (slice_eq(word, SLICE_LIT("version"))) {
        read_head_number(r, rest, &r->t->version);
        r->has_version = true;
    } else if (slice_eq(word, SLICE_LIT("former"))) {
        read_head_number(r, rest, &r->t->former);
    } else if (slice_eq(word, SLICE_LIT("at"))) {
        read_head_number(r, rest, &r->t->at_s);
    } else if (slice_eq(word, SLICE_LIT("who"))) {
        read_head_text(r, rest, r->t->who, TUNING_WHO_MAX);
    } else if (slice_eq(word, SLICE_LIT("why"))) {
        read_head_text(r, rest, r->t->why, TUNING_WHY_MAX);
    } else {
        refuse_tuning_line(
            r, ERR_SYNTAX,
            "this line is not understood; a tuning has thresholds, weight and "
            "shadow of lists, score and shadow of rules, each as KEY=VALUE");
    }
}

static void read_setting_line(struct reading *r, struct slice line)
{
    struct errinfo why = {.text = ""};
    struct slice value = line;
    struct slice key = slice_cut(&value, '=');
    struct tuning_setting s;
    enum err e = find_key(r->t, key) < r->t->n
                     ? errinfo_set(&why, ERR_EXISTS, "", 0,
                                   "%.*s stands there twice; remove one",
                                   SLICE_ARGS(slice_head(key, TUNING_TEXT_MAX)))
                     : read_setting(line, &s, &why);

    if (e == ERR_OK) {
        s.line = r->line;
        e = add_setting(r->t, &s, &why);
    }
    if (e != ERR_OK) {
        refuse_tuning_line(r, e, why.text);
    }
}

static void read_tuning_line(struct reading *r, struct slice line)
{
    if (line.n == 0 || *line.p == '#') {
        return;
    }
    if (r->has_ended) {
        refuse_tuning_line(r, ERR_SYNTAX, "something stands behind the last line");
    } else if (!r->has_begun) {
        r->has_begun = true;
        if (!slice_eq(line, SLICE_LIT(FIRST_LINE))) {
            refuse_tuning_line(r, ERR_VERSION,
                               "the file does not begin with \"" FIRST_LINE
                               "\": it is damaged, or "
                               "of a newer gillnet");
        }
    } else if (slice_eq(line, SLICE_LIT(LAST_LINE))) {
        r->has_ended = true;
    } else if (slice_find(line, '=') < slice_find(line, ' ')) {
        read_setting_line(r, line);
    } else {
        read_head_line(r, line);
    }
}

bool tuning_parse(struct slice text, scan_finding_fn *on_finding, void *context,
                  struct tuning *t)
{
    struct reading r = {.t = t, .on_finding = on_finding, .context = context};

    if (memchr(text.n > 0 ? text.p : "", '\0', text.n) != NULL) {
        refuse_tuning_line(&r, ERR_CORRUPT, "the file has a byte of 0: it is damaged");
        return false;
    }
    while (text.n > 0 && r.nerrors < ERRORS_MAX) {
        r.line++;
        read_tuning_line(&r, slice_trim(slice_cut(&text, '\n')));
    }
    if (r.nerrors == 0 && !r.has_ended) {
        refuse_tuning_line(&r, ERR_CORRUPT,
                           "the file ends before its last line: it is damaged");
    }
    if (r.nerrors == 0 && (!r.has_version || t->version == 0)) {
        refuse_tuning_line(&r, ERR_SYNTAX, "the line \"version NUMBER\" is missing");
    }
    return r.nerrors == 0;
}

/* ---- lines for gillnet.conf ---- */

static void add_conf_value(const struct tuning_setting *s, const char *key,
                           struct buf *ret)
{
    char text[TUNING_VALUE_MAX];

    buf_printf(ret, " %s = %s;", key,
               s->set.key != USER_SHADOW ? number_text(s->set.number, text)
               : s->set.flag             ? "true"
                                         : "false");
}

static void add_thresholds(const struct tuning *t, struct buf *ret)
{
    bool is_first = true;

    for (size_t i = 0; i < t->n; i++) {
        const struct tuning_setting *s = &t->v[i];

        if (s->set.key == USER_THRESHOLD) {
            buf_add_str(ret, is_first ? "thresholds = {" : "");
            add_conf_value(s, action_name(s->set.action), ret);
            is_first = false;
        }
    }
    buf_add_str(ret, is_first ? "" : " };\n");
}

static bool is_of_family(const struct tuning_setting *s, bool is_list)
{
    return s->set.key != USER_THRESHOLD && s->set.is_list == is_list;
}

/* Whether an earlier setting is about the same list or rule. */
static bool is_done(const struct tuning *t, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (is_of_family(&t->v[i], t->v[at].set.is_list) &&
            slice_eq(t->v[i].set.name, t->v[at].set.name)) {
            return true;
        }
    }
    return false;
}

static void add_conf_group(const struct tuning *t, size_t first, struct buf *ret)
{
    const struct user_setting *set = &t->v[first].set;

    buf_printf(ret, "  { name = \"%.*s\";", SLICE_ARGS(set->name));
    for (size_t i = first; i < t->n; i++) {
        const struct tuning_setting *s = &t->v[i];

        if (is_of_family(s, set->is_list) && slice_eq(s->set.name, set->name)) {
            add_conf_value(s,
                           s->set.key == USER_SHADOW ? "shadow"
                           : s->set.is_list          ? "weight"
                                                     : "score",
                           ret);
        }
    }
    buf_add_str(ret, " }");
}

static void add_family(const struct tuning *t, bool is_list, struct buf *ret)
{
    bool is_first = true;

    for (size_t i = 0; i < t->n; i++) {
        if (is_of_family(&t->v[i], is_list) && !is_done(t, i)) {
            buf_add_str(ret, !is_first ? ",\n"
                             : is_list ? "lists = (\n"
                                       : "rules = (\n");
            add_conf_group(t, i, ret);
            is_first = false;
        }
    }
    buf_add_str(ret, is_first ? "" : "\n);\n");
}

void tuning_conf_lines(const struct tuning *t, struct buf *ret)
{
    add_thresholds(t, ret);
    add_family(t, true, ret);
    add_family(t, false, ret);
}
