#include "core/config/finish.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/origin.h"
#include "core/config/value.h"

static void inherit(struct config *c, size_t list, struct config_errors *errors)
{
    struct config_list *l = &c->lists[list];
    struct config_list_origin *o = &c->origin->lists[list];

    for (size_t i = 0; i < SCHEMA_LIST_KEYS; i++) {
        if (o->key[i].file != 0) {
            continue;
        }
        if (!value_copy(&schema_list_keys[i], l, &c->list_default)) {
            config_errors_add(errors, ERR_NOMEM, "", 0, "%s", "out of memory");
            return;
        }
        o->key[i] = c->origin->list_default.key[i];
    }
    l->is_allow = strcmp(l->category, "allow") == 0;
}

static void finish_control_socket(struct config *c, struct config_errors *errors)
{
    char *path = NULL;

    if (*c->control_socket != '\0') {
        return;
    }
    if (asprintf(&path, "%s/gillnetd.ctl", c->state_dir) < 0) {
        config_errors_add(errors, ERR_NOMEM, "", 0, "%s", "out of memory");
        return;
    }
    free(c->control_socket);
    c->control_socket = path;
}

/* The source of the threshold of an action; file 0 when it was not set. */
static struct config_source threshold_source(const struct config *c, enum action a)
{
    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        if (schema_keys[i].offset ==
            offsetof(struct config, threshold) + (size_t)a * sizeof(c->threshold[0])) {
            return c->origin->key[i];
        }
    }
    return (struct config_source){0, 0};
}

static void check_thresholds(const struct config *c, struct config_errors *errors)
{
    enum action milder = ACTION_ACCEPT;

    for (enum action a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        struct config_source source = threshold_source(c, a);

        /* a default says nothing about the administrator's wish */
        if (source.file == 0 || c->threshold[a] == HUGE_VAL) {
            continue;
        }
        if (milder != ACTION_ACCEPT && c->threshold[a] < c->threshold[milder]) {
            config_errors_add(
                errors, ERR_RANGE, c->origin->files[source.file], source.line,
                "thresholds.%s: %g is below thresholds.%s (%g), which would "
                "never apply; let the scores rise with the harshness, or "
                "set that one to \"off\"",
                action_name(a), c->threshold[a], action_name(milder),
                c->threshold[milder]);
        }
        milder = a;
    }
}

/* The source of the types of a list, or of list_default. */
static struct config_source types_source(const struct config_list_origin *o)
{
    size_t key = 0;

    while (schema_list_keys[key].offset != offsetof(struct config_list, types)) {
        key++;
    }
    return o->key[key];
}

static bool has_name(const struct config_strings *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(names->v[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void refuse_type(const struct config *c, struct config_source source,
                        const char *list, const char *type,
                        struct config_errors *errors)
{
    config_errors_add(errors, ERR_NOT_FOUND, c->origin->files[source.file], source.line,
                      "%s.types: \"%s\" is not a feature type that is looked up in "
                      "lists; `gillnet extract --types` shows them",
                      list, type);
}

/* Each name once: what a list has from list_default was looked at there. */
static void check_types(const struct config *c, config_is_type_fn *is_type,
                        struct config_errors *errors)
{
    const struct config_strings *common = &c->list_default.types;

    for (size_t i = 0; i < common->n; i++) {
        if (!is_type(slice_str(common->v[i]))) {
            refuse_type(c, types_source(&c->origin->list_default), "list_defaults",
                        common->v[i], errors);
        }
    }
    for (size_t n = 0; n < c->nlists; n++) {
        const struct config_strings *own = &c->lists[n].types;

        for (size_t i = 0; i < own->n; i++) {
            if (!is_type(slice_str(own->v[i])) && !has_name(common, own->v[i])) {
                refuse_type(c, types_source(&c->origin->lists[n]), c->lists[n].name,
                            own->v[i], errors);
            }
        }
    }
}

void config_finish(struct config *c, config_is_type_fn *is_type,
                   struct config_errors *errors)
{
    struct config_list *d = &c->list_default;

    if (errors->n > 0 && (c->state_dir == NULL || d->category == NULL)) {
        return; /* without memory not even the defaults are there */
    }
    d->is_allow = strcmp(d->category, "allow") == 0;
    for (size_t i = 0; i < c->nlists; i++) {
        inherit(c, i, errors);
    }
    finish_control_socket(c, errors);
    check_thresholds(c, errors);
    if (is_type != NULL) {
        check_types(c, is_type, errors);
    }
}
