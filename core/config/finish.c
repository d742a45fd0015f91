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

void config_finish(struct config *c, struct config_errors *errors)
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
}
