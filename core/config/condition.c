#include "core/config/condition.h"

#include "core/base/array.h"
#include "core/base/nearest.h"
#include "core/config/config_internal.h"

enum {
    HEAD = 1 << CONDITION_KINDS, /* of a key that names what the condition is about */
    LABEL_MAX = 160
};
#define IS(kind) (1 << CONDITION_##kind)

/* A key, and of which conditions. */
struct key {
    struct schema_row row;
    int kinds;
};

static const struct key keys[] = {
#define CONDITION_KEY(path, kinds, kind, field, min, max, def, help)       \
    {{path, def, help, offsetof(struct config_condition, field), min, max, \
      SCHEMA_##kind, true},                                                \
     kinds},
#include "core/config/condition.def"
};
_Static_assert(LENGTH(keys) <= 64, "a bit for each key that was written");

static const char *const kind_names[CONDITION_KINDS] = {
    [CONDITION_ALL] = "all",           [CONDITION_ANY] = "any",
    [CONDITION_NONE] = "none",         [CONDITION_TRAIT] = "trait",
    [CONDITION_LIST] = "list",         [CONDITION_CATEGORY] = "category",
    [CONDITION_IDENTITY] = "identity", [CONDITION_DIRECTION] = "direction",
    [CONDITION_SIZE] = "size",         [CONDITION_RULE] = "rule",
    [CONDITION_FEATURE] = "feature",   [CONDITION_TEXT] = "text",
    [CONDITION_COUNTED] = "counted",   [CONDITION_JUDGED] = "judged",
};

const char *condition_kind_name(enum condition_kind kind)
{
    return kind_names[kind];
}

const struct config_condition *config_rule_condition(const struct config_rule *rule,
                                                     size_t i)
{
    const struct config_conditions *const groups[] = {&rule->all, &rule->any,
                                                      &rule->none};

    for (size_t g = 0; g < LENGTH(groups); g++) {
        if (i < groups[g]->n) {
            return &groups[g]->v[i];
        }
        i -= groups[g]->n;
    }
    return NULL;
}

/* ---- reading ---- */

/* An open group. */
struct frame {
    const config_setting_t *list;
    unsigned next; /* of its elements */
    size_t node;   /* SIZE_MAX: the rule's own list */
};

struct reading {
    const struct value_place *place;
    struct config_conditions made;
    size_t room;
    size_t depth;
    struct frame open[CONDITION_DEPTH_MAX + 1];
};

static bool refuse_at(const struct reading *r, const config_setting_t *s, enum err code,
                      const char *what)
{
    config_errors_add(r->place->errors, code, r->place->file, s->line, "%s: %s",
                      r->place->label, what);
    return false;
}

static bool is_group_kind(int kind)
{
    return kind <= CONDITION_NONE;
}

/* What the key makes the condition, or -1: it is a further key. */
static int kind_of_key(const char *name)
{
    int kind = name_index(slice_str(name), kind_names, CONDITION_NONE + 1);

    for (size_t i = 0; kind < 0 && i < LENGTH(keys); i++) {
        if ((keys[i].kinds & HEAD) != 0 && strcmp(keys[i].row.path, name) == 0) {
            for (kind = 0; (keys[i].kinds >> kind & 1) == 0; kind++) {
            }
        }
    }
    return kind;
}

static bool refuse_headless(const struct reading *r, const config_setting_t *group)
{
    char what[VALUE_TEXT_MAX];
    const char *names[LENGTH(keys) + CONDITION_NONE + 1];
    const config_setting_t *first = config_setting_get_elem(group, 0);
    const char *near = NULL;
    size_t n = 0;

    for (size_t i = 0; i <= CONDITION_NONE; i++) {
        names[n++] = kind_names[i];
    }
    for (size_t i = 0; i < LENGTH(keys); i++) {
        if ((keys[i].kinds & HEAD) != 0) {
            names[n++] = keys[i].row.path;
        }
    }
    if (first != NULL) {
        near = nearest_name(slice_str(config_setting_name(first)), names, n);
    }
    (void)snprintf(what, sizeof(what),
                   "a condition says first what it is about: trait, list, category, "
                   "identity, direction, size_least, size_most, rule, feature, text, "
                   "counted, judged, or all, any, none%s%s%s",
                   near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                   near != NULL ? "\"?" : "");
    return refuse_at(r, first != NULL ? first : group, ERR_NOT_FOUND, what);
}

/* The kind of the condition that a group writes; false after an error. */
static bool find_kind(const struct reading *r, const config_setting_t *group,
                      enum condition_kind *ret)
{
    int found = -1;

    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        int kind = kind_of_key(config_setting_name(s));

        if (kind >= 0 && found >= 0 && kind != found) {
            char what[VALUE_TEXT_MAX];

            (void)snprintf(
                what, sizeof(what),
                "\"%s\" and \"%s\" in one condition; write a group for each: "
                "( { %s = ...; }, { %s = ...; } )",
                kind_names[found], kind_names[kind], kind_names[found],
                kind_names[kind]);
            return refuse_at(r, s, ERR_SYNTAX, what);
        }
        found = kind >= 0 ? kind : found;
    }
    if (found < 0) {
        return refuse_headless(r, group);
    }
    *ret = (enum condition_kind)found;
    return true;
}

static bool refuse_key(const struct reading *r, enum condition_kind kind,
                       const config_setting_t *s)
{
    char what[VALUE_TEXT_MAX];
    const char *names[LENGTH(keys)];
    size_t n = 0;
    const char *near = NULL;

    for (size_t i = 0; i < LENGTH(keys); i++) {
        if ((keys[i].kinds >> kind & 1) != 0) {
            names[n++] = keys[i].row.path;
        }
    }
    near = nearest_name(slice_str(config_setting_name(s)), names, n);
    (void)snprintf(what, sizeof(what),
                   "\"%.80s\" is not a key of a condition on %s%s%s%s",
                   config_setting_name(s), kind_names[kind],
                   near != NULL ? "; did you mean \"" : "; remove it",
                   near != NULL ? near : "", near != NULL ? "\"?" : "");
    return refuse_at(r, s, ERR_NOT_FOUND, what);
}

/* Stores the value of a key; *given gets its bit. */
static bool set_key(const struct reading *r, struct config_condition *v,
                    const config_setting_t *s, uint64_t *given)
{
    char label[LABEL_MAX];

    for (size_t i = 0; i < LENGTH(keys); i++) {
        if ((keys[i].kinds >> v->kind & 1) != 0 &&
            strcmp(keys[i].row.path, config_setting_name(s)) == 0) {
            struct value_place place = *r->place;

            place.row = &keys[i].row;
            place.base = v;
            place.label = label;

            (void)snprintf(label, sizeof(label), "%s.%s", r->place->label,
                           keys[i].row.path);
            *given |= UINT64_C(1) << i;
            return value_set(&place, s);
        }
    }
    return refuse_key(r, v->kind, s);
}

static bool was_given(uint64_t given, const char *path)
{
    for (size_t i = 0; i < LENGTH(keys); i++) {
        if ((given >> i & 1) != 0 && strcmp(keys[i].row.path, path) == 0) {
            return true;
        }
    }
    return false;
}

/* The values of keys that a condition does not give. */
static void set_absent(struct config_condition *v, uint64_t given)
{
    if (!was_given(given, "most")) {
        v->most = CONDITION_UNBOUNDED;
    }
    if (!was_given(given, "least")) {
        v->least = was_given(given, "most") ? 0 : 1;
    }
    if (!was_given(given, "size_most")) {
        v->size_most = UINT64_MAX;
    }
    if (!was_given(given, "window")) {
        v->window = RULE_1D;
    }
    if (!was_given(given, "against")) {
        v->against = RULE_14D;
    }
    if (!was_given(given, "any_least")) {
        v->any_least = 1;
    }
}

/* The error of keys that contradict each other, or NULL. */
static const char *contradiction(const struct config_condition *v, uint64_t given)
{
    if (v->kind == CONDITION_JUDGED && v->bad_share + v->good_share <= 0) {
        return "write bad_share = 0.99; or good_share";
    }
    if (v->bad_share > 0 && v->good_share > 0) {
        return "write bad_share or good_share, not both";
    }
    if (v->kind == CONDITION_SIZE && v->size_least > v->size_most) {
        return "size_least is above size_most: this can never hold";
    }
    if (v->kind != CONDITION_FEATURE && v->kind != CONDITION_COUNTED) {
        return v->word != NULL && *v->word == '\0'         ? "write a name"
               : v->pattern != NULL && *v->pattern == '\0' ? "write a pattern"
                                                           : NULL;
    }
    if (v->least > v->most) {
        return "least is above most: this can never hold";
    }
    if (v->ratio > 0 && v->window >= v->against) {
        return "ratio compares with a longer window; write against = \"14d\", or a "
               "shorter window";
    }
    if (was_given(given, "against") && v->ratio <= 0) {
        return "against belongs to ratio; write ratio = 5.0, too";
    }
    if ((was_given(given, "value") && v->values.n == 0) ||
        (was_given(given, "suffix") && v->suffixes.n == 0)) {
        return "an empty array of values: this can never hold; name some, or leave the "
               "key out";
    }
    return NULL;
}

static bool read_leaf(const struct reading *r, struct config_condition *v,
                      const config_setting_t *group)
{
    uint64_t given = 0;
    bool ok = true;

    for (int i = 0; i < config_setting_length(group); i++) {
        ok = set_key(r, v, config_setting_get_elem(group, (unsigned)i), &given) && ok;
    }
    set_absent(v, given);
    const char *why = ok ? contradiction(v, given) : NULL;
    return ok && (why == NULL || refuse_at(r, group, ERR_RANGE, why));
}

/* A group within: its members come next. */
static bool open_group(struct reading *r, size_t node, const config_setting_t *group)
{
    struct config_condition *v = &r->made.v[node];
    const config_setting_t *list =
        config_setting_get_member(group, kind_names[v->kind]);
    uint64_t given = 0;

    if (!config_setting_is_list(list) || config_setting_length(list) == 0) {
        return refuse_at(r, list, ERR_SYNTAX,
                         "write at least one condition: ( { trait = \"...\"; } )");
    }
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);

        if (s != list && !set_key(r, v, s, &given)) {
            return false;
        }
    }
    set_absent(v, given);
    if (v->any_least > (unsigned)config_setting_length(list)) {
        return refuse_at(r, group, ERR_RANGE,
                         "any_least is above the number of its conditions: this can "
                         "never hold");
    }
    if (r->depth > CONDITION_DEPTH_MAX) {
        return refuse_at(
            r, group, ERR_LIMIT,
            "conditions are nested too deep; make a rule of the inner ones "
            "and name it with rule = \"...\"");
    }
    r->open[r->depth++] = (struct frame){list, 0, node};
    return true;
}

static bool read_condition(struct reading *r, const config_setting_t *group,
                           unsigned file)
{
    struct config_condition v = {.file = file, .line = group->line};
    size_t node = r->made.n;

    if (!config_setting_is_group(group)) {
        return refuse_at(r, group, ERR_SYNTAX,
                         "write each condition as a group: { trait = \"html_form\"; }");
    }
    if (!find_kind(r, group, &v.kind)) {
        return false;
    }
    if (!array_room(&r->made.v, &r->room, node + 1, CONDITION_NODES_MAX, sizeof(v))) {
        return refuse_at(r, group, ERR_LIMIT,
                         "a rule has at most 256 conditions; make two rules");
    }
    v.end = (unsigned)node + 1;
    r->made.v[r->made.n++] = v;
    return is_group_kind((int)v.kind) ? open_group(r, node, group)
                                      : read_leaf(r, &r->made.v[node], group);
}

/* Goes through the groups with a stack of its own; every error of the rule is found. */
static bool read_all(struct reading *r, const config_setting_t *list, unsigned file)
{
    bool ok = true;

    r->open[r->depth++] = (struct frame){list, 0, SIZE_MAX};
    while (r->depth > 0) {
        struct frame *f = &r->open[r->depth - 1];

        if (f->next == (unsigned)config_setting_length(f->list)) {
            if (f->node != SIZE_MAX) {
                r->made.v[f->node].end = (unsigned)r->made.n;
                r->made.v[f->node].nparts = f->next;
            }
            r->depth--;
            continue;
        }
        ok = read_condition(r, config_setting_get_elem(f->list, f->next++), file) && ok;
    }
    return ok;
}

bool conditions_set(const struct value_place *place, const config_setting_t *setting)
{
    struct config_conditions *field =
        (struct config_conditions *)(void *)((char *)place->base + place->row->offset);
    struct reading r = {.place = place};

    if (!config_setting_is_list(setting)) {
        return value_refuse(
            place, setting, ERR_SYNTAX,
            "write a list of conditions: ( { trait = \"html_form\"; } )");
    }
    if (!read_all(&r, setting, place->file_index)) {
        conditions_free(&r.made);
        return false;
    }
    conditions_free(field);
    *field = r.made;
    return true;
}

void conditions_free(struct config_conditions *c)
{
    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = 0; k < LENGTH(keys); k++) {
            if ((keys[k].kinds >> c->v[i].kind & 1) != 0) {
                value_free(&keys[k].row, &c->v[i]);
            }
        }
    }
    free(c->v);
    *c = (struct config_conditions){0, NULL};
}

/* ---- writing ---- */

static bool is_absent(const struct key *key, const struct config_condition *v)
{
    const void *field = (const char *)v + key->row.offset;

    switch (key->row.kind) {
    case SCHEMA_TYPE:
    case SCHEMA_CATEGORY:
    case SCHEMA_LINE:
        return *(char *const *)field == NULL;
    case SCHEMA_TEXTS:
        return ((const struct config_strings *)field)->n == 0;
    case SCHEMA_SCORE:
    case SCHEMA_SHARE:
        return *(const double *)field <= 0;
    case SCHEMA_TIME_S:
        return *(const uint64_t *)field == 0;
    case SCHEMA_SIZE:
        return *(const uint64_t *)field == (field == &v->size_most ? UINT64_MAX : 0);
    case SCHEMA_COUNT:
        return *(const unsigned *)field ==
               (field == &v->most        ? CONDITION_UNBOUNDED
                : field == &v->least     ? (v->most == CONDITION_UNBOUNDED ? 1U : 0U)
                : field == &v->any_least ? 1U
                                         : 0U);
    case SCHEMA_WINDOW:
        return field == &v->against && v->ratio <= 0;
    case SCHEMA_BOOL:
        return !*(const bool *)field;
    default:
        return false;
    }
}

static void add_keys(const struct config_condition *v, struct buf *ret)
{
    for (size_t k = 0; k < LENGTH(keys); k++) {
        if ((keys[k].kinds >> v->kind & 1) != 0 && !is_absent(&keys[k], v)) {
            buf_printf(ret, "%s = ", keys[k].row.path);
            value_text(&keys[k].row, v, ret);
            buf_add_str(ret, "; ");
        }
    }
}

/* n nodes in their order; ends of groups are written where they are. */
static void add_nodes(const struct config_condition *v, size_t n, size_t base,
                      struct buf *ret)
{
    size_t ends[CONDITION_DEPTH_MAX + 1];
    size_t depth = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_group = is_group_kind((int)v[i].kind);

        buf_add_str(ret, "{ ");
        add_keys(&v[i], ret);
        if (is_group) {
            buf_printf(ret, "%s = ( ", kind_names[v[i].kind]);
            ends[depth++] = v[i].end - base;
        } else {
            buf_add_str(ret, "}");
        }
        for (; depth > 0 && ends[depth - 1] == i + 1; depth--) {
            buf_add_str(ret, " ); }");
        }
        if (!is_group && i + 1 < n) {
            buf_add_str(ret, ", ");
        }
    }
}

void condition_text(const struct config_condition *v, struct buf *ret)
{
    add_nodes(v, 1, 0, ret);
}

void conditions_text(const struct config_conditions *c, struct buf *ret)
{
    buf_add_str(ret, "( ");
    add_nodes(c->v, c->n, 0, ret);
    buf_add_str(ret, c->n > 0 ? " )" : ")");
}
