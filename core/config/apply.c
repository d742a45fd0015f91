/* apply - the settings of one parsed file, by the schema. */
#include "core/base/nearest.h"
#include "core/config/config_internal.h"
#include "core/config/config_value.h"
#include "core/config/user_setting.h"

enum { APPLY_LABEL_MAX = 160 };

static void refuse_label(struct load *l, enum err code, unsigned line,
                         const char *label, const char *what)
{
    config_errors_add(l->errors, code, l->file, line, "%s: %s", label, what);
}

/* Where and how the key is written: of the same group the key alone. */
static void near_form(const char *group, const char *near, char dst[SCHEMA_FORM_MAX])
{
    size_t length = strlen(group);
    bool is_sibling =
        length > 0 && strncmp(near, group, length) == 0 && near[length] == '.';

    schema_form(is_sibling ? near + length + 1 : near, "...", dst);
}

static void unknown_key(struct load *l, const char *group, const config_setting_t *s)
{
    const char *name = config_setting_name(s);
    const char *near = schema_nearest(group, name);
    char form[SCHEMA_FORM_MAX];

    if (near != NULL) {
        near_form(group, near, form);
        config_errors_add(
            l->errors, ERR_NOT_FOUND, l->file, s->line,
            "\"%.80s\" is not a known key%s%s; did you mean \"%s\"? write "
            "%s%s",
            name, *group != '\0' ? " of " : "", group, near, form,
            *group != '\0' && strchr(near, '.') == NULL
                ? " behind the end of this group"
                : "");
    } else {
        config_errors_add(l->errors, ERR_NOT_FOUND, l->file, s->line,
                          "\"%.80s\" is not a known key%s%s; remove it, or see "
                          "gillnet.conf(5) for the keys",
                          name, *group != '\0' ? " of " : "", group);
    }
}

/* One group of a family, and where it was named and each key is from. */
struct member {
    void *base;
    const char *name; /* NULL: list_defaults */
    struct config_group_origin *origin;
};

static void apply_member_key(struct load *l, const struct schema_family *f,
                             const struct member *m, const char *group,
                             const config_setting_t *s)
{
    char label[APPLY_LABEL_MAX];

    for (size_t i = 0; i < f->nrows; i++) {
        if (strcmp(f->rows[i].path, config_setting_name(s)) == 0) {
            struct value_place place = {&f->rows[i], m->base,   label,
                                        l->file,     l->errors, l->file_index};

            (void)snprintf(label, sizeof(label), "%s%s%s.%s", group,
                           m->name != NULL ? "." : "", m->name != NULL ? m->name : "",
                           f->rows[i].path);
            /* wrong conditions are conditions: the rule is not said to have none */
            if (value_set(&place, s) || f->rows[i].kind == SCHEMA_CONDITIONS) {
                m->origin->key[i] = (struct config_source){l->file_index, s->line};
            }
            return;
        }
    }
    unknown_key(l, group, s);
}

static struct member member_at(const struct config *c, size_t family, size_t i)
{
    void *base = family_at(c, family, i);

    return (struct member){base, *(char **)base, &c->origin->group[family][i]};
}

/* The member of that name, made when there is none; false after an error. */
static bool member_of(struct load *l, const struct schema_family *f,
                      const config_setting_t *s, const char *name, struct member *ret)
{
    const size_t family = (size_t)(f - schema_families);
    const size_t n = family_count(l->c, family);

    for (size_t i = 0; i < n; i++) {
        *ret = member_at(l->c, family, i);
        if (strcmp(ret->name, name) == 0) {
            return true;
        }
    }
    if (n == f->most) {
        config_errors_add(l->errors, ERR_LIMIT, l->file, s->line,
                          "%s: more than %zu %s; remove some", f->group, f->most,
                          f->group);
        return false;
    }
    if (!family_add(l->c, family, name)) {
        refuse_label(l, ERR_NOMEM, 0, f->group, "out of memory");
        return false;
    }
    *ret = member_at(l->c, family, n);
    return true;
}

static bool name_fits(const char *s)
{
    size_t n = strlen(s);

    return n >= 1 && n <= 32 && *s != '-' && *s != '_' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

/* The error in the name of a group, or NULL. */
static const char *check_name(const struct schema_family *f, const char *name)
{
    char tidied[USER_NAME_MAX + 1];

    if (f != &schema_families[SCHEMA_USERS]) {
        return name != NULL && name_fits(name)
                   ? NULL
                   : "write a text of a-z, 0-9, _ and -, at most 32 characters, "
                     "beginning with a letter or a digit";
    }
    if (name == NULL) {
        return "write a text in quotes, such as \"anna@example.org\" or \"@example.org\"";
    }
    const char *why = user_name_tidy(slice_str(name), tidied);
    return why == NULL && strcmp(tidied, name) != 0
               ? "write it in lower case, without a dot at its end"
               : why;
}

/* A key of the group that is nearly "name", or "". */
static const char *misspelt_name(const config_setting_t *group)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const char *key =
            config_setting_name(config_setting_get_elem(group, (unsigned)i));

        if (nearest_edits(slice_str(key), SLICE_LIT("name")) <= 1) {
            return key;
        }
    }
    return "";
}

/* The name that a group gives; NULL after an error. */
static const char *member_name(struct load *l, const struct schema_family *f,
                               const config_setting_t *group)
{
    const config_setting_t *s = config_setting_get_member(group, "name");
    const char *name = NULL;

    if (s == NULL) {
        const char *wrong = misspelt_name(group);

        config_errors_add(
            l->errors, ERR_NOT_FOUND, l->file, group->line,
            "%s: a %s without a name; begin it with name = \"...\";%s%s%s", f->group,
            f->one, *wrong != '\0' ? ", not with " : "", wrong,
            *wrong != '\0' ? " = ...;" : "");
        return NULL;
    }
    if (config_setting_type(s) == CONFIG_TYPE_STRING) {
        name = config_setting_get_string(s);
    }
    const char *wrong = check_name(f, name);
    if (wrong != NULL) {
        config_errors_add(l->errors, ERR_SYNTAX, l->file, s->line, "%s.name: %s",
                          f->group, wrong);
        return NULL;
    }
    return name;
}

static void forget_key(const struct member *m, size_t k)
{
    value_free(&schema_families[SCHEMA_RULES].rows[k], m->base);
    m->origin->key[k] = (struct config_source){0, 0};
}

/* The conditions of a rule are one whole: a later file that gives any of them gives all. The
 * short form (type, trait) merges key by key with itself, and either form ends the other. */
static void replace_conditions(const struct member *m, const config_setting_t *group)
{
    static const char *const tree[] = {"all", "any", "none", "any_least"};
    static const char *const brief[] = {"type", "trait"};
    const struct schema_family *f = &schema_families[SCHEMA_RULES];
    bool has_tree = false;
    bool has_brief = false;

    for (int i = 0; i < config_setting_length(group); i++) {
        struct slice name =
            slice_str(config_setting_name(config_setting_get_elem(group, (unsigned)i)));

        has_tree = has_tree || name_index(name, tree, LENGTH(tree)) >= 0;
        has_brief = has_brief || name_index(name, brief, LENGTH(brief)) >= 0;
    }
    for (size_t k = 0; k < f->nrows; k++) {
        struct slice name = slice_str(f->rows[k].path);
        bool is_tree = name_index(name, tree, LENGTH(tree)) >= 0;
        bool is_brief = name_index(name, brief, LENGTH(brief)) >= 0;

        if ((has_tree || has_brief) && (is_tree || (has_tree && is_brief))) {
            forget_key(m, k);
        }
    }
}

static void apply_member(struct load *l, const struct schema_family *f,
                         const config_setting_t *group)
{
    struct member m = {NULL, NULL, NULL};
    const char *name = NULL;

    if (!config_setting_is_group(group)) {
        config_errors_add(l->errors, ERR_SYNTAX, l->file, group->line,
                          "%s: write each %s as a group: %s", f->group, f->one,
                          f->example);
        return;
    }
    name = member_name(l, f, group);
    if (name == NULL || !member_of(l, f, group, name, &m)) {
        return;
    }
    if (m.origin->named.line != 0 && m.origin->named.file == l->file_index) {
        config_errors_add(l->errors, ERR_EXISTS, l->file, group->line,
                          "%s: \"%s\" is named twice in this file, first in line %u; "
                          "put its keys into one group",
                          f->group, name, m.origin->named.line);
        return;
    }
    m.origin->named = (struct config_source){l->file_index, group->line};
    if (f == &schema_families[SCHEMA_RULES]) {
        replace_conditions(&m, group);
    }
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);

        if (strcmp(config_setting_name(s), "name") != 0) {
            apply_member_key(l, f, &m, f->group, s);
        }
    }
}

static void apply_family(struct load *l, const struct schema_family *f,
                         const config_setting_t *s)
{
    if (!config_setting_is_list(s)) {
        config_errors_add(l->errors, ERR_SYNTAX, l->file, s->line,
                          "%s: write %s = ( %s, { ... } );", f->group, f->group,
                          f->example);
        return;
    }
    if (f == &schema_families[SCHEMA_RULES] && config_setting_length(s) == 0) {
        family_drop(l->c, SCHEMA_RULES); /* those of this and all files before */
    }
    for (int i = 0; i < config_setting_length(s); i++) {
        apply_member(l, f, config_setting_get_elem(s, (unsigned)i));
    }
}

static void apply_list_defaults(struct load *l, const config_setting_t *group)
{
    struct member defaults = {&l->c->list_default, NULL, &l->c->origin->list_default};

    if (!config_setting_is_group(group)) {
        refuse_label(l, ERR_SYNTAX, group->line, "list_defaults",
                     "write a group: list_defaults = { weight = 6.0; };");
        return;
    }
    for (int i = 0; i < config_setting_length(group); i++) {
        apply_member_key(l, &schema_families[SCHEMA_LISTS], &defaults, "list_defaults",
                         config_setting_get_elem(group, (unsigned)i));
    }
}

/* A key that is not of a list; false when there is none of that path. */
static bool apply_key(struct load *l, const char *path, const config_setting_t *s)
{
    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        if (strcmp(schema_keys[i].path, path) == 0) {
            struct value_place place = {&schema_keys[i], l->c,      path,
                                        l->file,         l->errors, l->file_index};

            if (value_set(&place, s)) {
                l->c->origin->key[i] = (struct config_source){l->file_index, s->line};
            }
            return true;
        }
    }
    return false;
}

static void apply_group(struct load *l, const config_setting_t *group)
{
    const char *name = config_setting_name(group);
    char path[APPLY_LABEL_MAX];

    if (!config_setting_is_group(group)) {
        config_errors_add(l->errors, ERR_SYNTAX, l->file, group->line,
                          "%s is a group of keys; write %s = { key = value; };", name,
                          name);
        return;
    }
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);

        (void)snprintf(path, sizeof(path), "%s.%.80s", name, config_setting_name(s));
        if (!apply_key(l, path, s)) {
            unknown_key(l, name, s);
        }
    }
}

/* The name of a key that once had another one, and kept its meaning. */
static const char *present_name(const char *name)
{
    return strcmp(name, "skip_authenticated") == 0 ? "outgoing" : name;
}

void apply_settings(struct load *l, const config_setting_t *root)
{
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *s = config_setting_get_elem(root, (unsigned)i);
        const char *name = present_name(config_setting_name(s));

        const struct schema_family *f = schema_family(name);

        if (f != NULL) {
            apply_family(l, f, s);
        } else if (strcmp(name, "list_defaults") == 0) {
            apply_list_defaults(l, s);
        } else if (schema_is_group(name)) {
            apply_group(l, s);
        } else if (!apply_key(l, name, s)) {
            unknown_key(l, "", s);
        }
    }
}
