/*
 * config_internal - the private part of struct config: references, sources of the values, and the
 * steps of a load.
 *
 * Threads: the count is atomic; the rest is constant once loaded.
 */
#ifndef CORE_CONFIG_CONFIG_INTERNAL_H
#define CORE_CONFIG_CONFIG_INTERNAL_H

#include <libconfig.h>
#include <stdatomic.h>

#include "core/config/config.h"
#include "core/config/schema.h"

struct config_source {
    unsigned file; /* index into files; 0: the built-in default */
    unsigned line;
};

/* Of a group of a family, or of list_defaults. */
struct config_group_origin {
    struct config_source named; /* where it was named last; file 0: built in */
    struct config_source key[SCHEMA_FAMILY_KEYS_MAX];
};

struct config_origin {
    /* Partner: itself. Acquire adds relaxed (the caller holds a reference); release subtracts
     * with acq_rel so that every use happens before the free. */
    atomic_uint refs;
    struct config *self;
    size_t nfiles;
    char **files;    /* [0] is "default", then the shipped ones */
    size_t nshipped; /* of them */
    struct config_source key[SCHEMA_KEYS];
    struct config_group_origin *group[SCHEMA_FAMILIES]; /* as many as the family has */
    struct config_group_origin list_default;
};

/* The groups of a family: their number, one of them or its defaults, a new one at the end. */
size_t family_count(const struct config *c, size_t family);
void *family_at(const struct config *c, size_t family, size_t i);
void *family_defaults(const struct config *c, size_t family);
bool family_add(struct config *c, size_t family,
                const char *name); /* false: no memory */
/* Gives each group the defaults for the keys that no file sets in it; false: no memory. */
bool family_inherit(struct config *c, size_t family);
/* Frees every group; the array stays. */
void family_drop(struct config *c, size_t family);
/* Frees the array and the values of the defaults too. */
void family_free(struct config *c, size_t family);

/* A configuration in which every value is empty, with one reference; NULL without memory. */
struct config *config_new(void);

/* Appends an error; past CONFIG_ERRORS_MAX only one more, which says so. */
enum { CONFIG_ERRORS_MAX = 200 };
void config_errors_add(struct config_errors *e, enum err code, const char *source,
                       unsigned line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- the steps of a load, in their order; all errors of a step are collected ---- */

/* A configuration that is being loaded. */
struct load {
    struct config *c;
    struct config_errors *errors;
    const char *file;    /* being read */
    unsigned file_index; /* of it in origin->files */
};
/* Puts the settings of one parsed file into the configuration: checks each key against the schema
 * and each value against its row. A wrong one is an error, and the others are taken. */
void apply_settings(struct load *l, const config_setting_t *root);
/* After all files: the settings of the state folder, from the file that l is at (tuning.h). A rule
 * that they name and that is gone is no error. */
void apply_tuning(struct load *l);

/* After the last file: groups inherit the defaults, control sockets get their paths, and keys that
 * must agree are checked: thresholds that were set rise with the harshness of the action, rules can
 * apply, feature types are known to types (which may be NULL). */
void config_finish(struct config *c, const struct config_types *types,
                   struct config_errors *errors);
/* Where the key of a field was set: in struct config, or in a group of a family. Line 0:
 * nowhere. */
struct config_source config_key_source(const struct config *c, size_t offset);
struct config_source config_group_source(size_t family,
                                         const struct config_group_origin *origin,
                                         size_t offset);
bool config_strings_has(const struct config_strings *names, const char *name);
/* Part of it: each subscription has urls, key and lists; no two have the same publisher, and no two
 * lists of one are the same list here. */
void config_finish_subscriptions(struct config *c, struct config_errors *errors);
/* Part of it: each rule asks something, of types, traits and words that there are; distinct counts
 * that rules read are made. */
void config_finish_rules(struct config *c, const struct config_types *types,
                         struct config_errors *errors);
/* Part of it: each setting of a user can be read, and is about a rule that exists. */
void config_finish_users(struct config *c, struct config_errors *errors);
/* Part of it: an enabled feed has a url, each list holds one feed, types are known. */
void config_finish_feeds(struct config *c, const struct config_types *types,
                         struct config_errors *errors);

#endif
