#include "core/config/apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/origin.h"
#include "core/config/value.h"

enum { APPLY_LISTS_MAX = 256, APPLY_LABEL_MAX = 160 };

static void refuse(struct load *l, enum err code, unsigned line, const char *label,
                   const char *what)
{
    config_errors_add(l->errors, code, l->file, line, "%s: %s", label, what);
}

static void unknown_key(struct load *l, const char *group, const config_setting_t *s)
{
    const char *name = config_setting_name(s);
    const char *near = schema_nearest(group, name);

    if (near != NULL) {
        config_errors_add(l->errors, ERR_NOT_FOUND, l->file, s->line,
                          "\"%.80s\" is not a known key%s%s; did you mean \"%s\"?",
                          name, *group != '\0' ? " of " : "", group, near);
    } else {
        config_errors_add(l->errors, ERR_NOT_FOUND, l->file, s->line,
                          "\"%.80s\" is not a known key%s%s; remove it, or see "
                          "gillnet.conf(5) for the keys",
                          name, *group != '\0' ? " of " : "", group);
    }
}

static void apply_list_key(struct load *l, struct config_list *list,
                           struct config_list_origin *origin, const char *group,
                           const config_setting_t *s)
{
    char label[APPLY_LABEL_MAX];

    for (size_t i = 0; i < SCHEMA_LIST_KEYS; i++) {
        if (strcmp(schema_list_keys[i].path, config_setting_name(s)) == 0) {
            struct value_place place = {&schema_list_keys[i], list, label, l->file,
                                        l->errors};

            (void)snprintf(
                label, sizeof(label), "%s%s%s.%s", group, list->name != NULL ? "." : "",
                list->name != NULL ? list->name : "", schema_list_keys[i].path);
            if (value_set(&place, s)) {
                origin->key[i] = (struct config_source){l->file_index, s->line};
            }
            return;
        }
    }
    unknown_key(l, group, s);
}

/* The list of that name, made when there is none; NULL after an error. */
static struct config_list *list_of(struct load *l, const config_setting_t *s,
                                   const char *name,
                                   struct config_list_origin **retorigin)
{
    struct config *c = l->c;
    struct config_list *lists = NULL;
    struct config_list_origin *origins = NULL;

    for (size_t i = 0; i < c->nlists; i++) {
        if (strcmp(c->lists[i].name, name) == 0) {
            *retorigin = &c->origin->lists[i];
            return &c->lists[i];
        }
    }
    if (c->nlists == APPLY_LISTS_MAX) {
        refuse(l, ERR_LIMIT, s->line, "lists", "more than 256 lists; remove some");
        return NULL;
    }
    lists = reallocarray(c->lists, c->nlists + 1, sizeof(*lists));
    c->lists = lists != NULL ? lists : c->lists;
    origins = reallocarray(c->origin->lists, c->nlists + 1, sizeof(*origins));
    c->origin->lists = origins != NULL ? origins : c->origin->lists;
    if (lists == NULL || origins == NULL) {
        refuse(l, ERR_NOMEM, 0, "lists", "out of memory");
        return NULL;
    }
    memset(&lists[c->nlists], 0, sizeof(*lists));
    memset(&origins[c->nlists], 0, sizeof(*origins));
    lists[c->nlists].name = strdup(name);
    if (lists[c->nlists].name == NULL) {
        refuse(l, ERR_NOMEM, 0, "lists", "out of memory");
        return NULL;
    }
    *retorigin = &origins[c->nlists];
    return &lists[c->nlists++];
}

static bool list_name_fits(const char *s)
{
    size_t n = strlen(s);

    return n >= 1 && n <= 32 && *s != '-' && *s != '_' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

/* The name that a group of `lists` gives; NULL after an error. */
static const char *list_name(struct load *l, const config_setting_t *group)
{
    const config_setting_t *s = config_setting_get_member(group, "name");
    const char *name = NULL;

    if (s == NULL) {
        refuse(l, ERR_NOT_FOUND, group->line, "lists",
               "a list without a name; begin it with name = \"...\";");
        return NULL;
    }
    if (config_setting_type(s) == CONFIG_TYPE_STRING) {
        name = config_setting_get_string(s);
    }
    if (name == NULL || !list_name_fits(name)) {
        refuse(
            l, ERR_SYNTAX, s->line, "lists.name",
            "write a text of a-z, 0-9, _ and -, at most 32 characters, beginning with "
            "a letter or a digit");
        return NULL;
    }
    return name;
}

static void apply_list(struct load *l, const config_setting_t *group)
{
    struct config_list_origin *origin = NULL;
    struct config_list *list = NULL;
    const char *name = NULL;

    if (!config_setting_is_group(group)) {
        refuse(l, ERR_SYNTAX, group->line, "lists",
               "write each list as a group: { name = \"phish\"; weight = 8.0; }");
        return;
    }
    name = list_name(l, group);
    if (name == NULL) {
        return;
    }
    list = list_of(l, group, name, &origin);
    if (list == NULL) {
        return;
    }
    if (origin->named.file == l->file_index) {
        config_errors_add(
            l->errors, ERR_EXISTS, l->file, group->line,
            "lists: \"%s\" is named twice in this file, first in line %u; "
            "put its keys into one group",
            name, origin->named.line);
        return;
    }
    origin->named = (struct config_source){l->file_index, group->line};
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);

        if (strcmp(config_setting_name(s), "name") != 0) {
            apply_list_key(l, list, origin, "lists", s);
        }
    }
}

static void apply_lists(struct load *l, const config_setting_t *s)
{
    if (!config_setting_is_list(s)) {
        refuse(l, ERR_SYNTAX, s->line, "lists",
               "write lists = ( { name = \"phish\"; weight = 8.0; }, { ... } );");
        return;
    }
    for (int i = 0; i < config_setting_length(s); i++) {
        apply_list(l, config_setting_get_elem(s, (unsigned)i));
    }
}

static void apply_list_defaults(struct load *l, const config_setting_t *group)
{
    if (!config_setting_is_group(group)) {
        refuse(l, ERR_SYNTAX, group->line, "list_defaults",
               "write a group: list_defaults = { weight = 6.0; };");
        return;
    }
    for (int i = 0; i < config_setting_length(group); i++) {
        apply_list_key(l, &l->c->list_default, &l->c->origin->list_default,
                       "list_defaults", config_setting_get_elem(group, (unsigned)i));
    }
}

/* A key that is not of a list; false when there is none of that path. */
static bool apply_key(struct load *l, const char *path, const config_setting_t *s)
{
    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        if (strcmp(schema_keys[i].path, path) == 0) {
            struct value_place place = {&schema_keys[i], l->c, path, l->file,
                                        l->errors};

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
                          "%s is a group; write %s = { key = value; };", name, name);
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

void apply_settings(struct load *l, const config_setting_t *root)
{
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *s = config_setting_get_elem(root, (unsigned)i);
        const char *name = config_setting_name(s);

        if (strcmp(name, "lists") == 0) {
            apply_lists(l, s);
        } else if (strcmp(name, "list_defaults") == 0) {
            apply_list_defaults(l, s);
        } else if (schema_is_group(name)) {
            apply_group(l, s);
        } else if (!apply_key(l, name, s)) {
            unknown_key(l, "", s);
        }
    }
}
