/*
 * config_load - how programs load a configuration; see config.h.
 *
 * Threads: any; one load, one thread.   Allocates: the configuration, or the errors.
 */
#ifndef CORE_CONFIG_CONFIG_LOAD_H
#define CORE_CONFIG_CONFIG_LOAD_H

#include "core/base/err.h"
#include "core/base/slice.h"

struct config;

/* All errors of one load. */
struct config_errors {
    size_t n;
    struct errinfo *v;
};
void config_errors_free(struct config_errors *e);

/* Whether there is a feature type of this name, of some sort. */
typedef bool config_is_type_fn(struct slice name);

/* The feature types, which this room may not name. */
struct config_types {
    config_is_type_fn *is_sought;  /* in lists: feature_is_sought */
    config_is_type_fn *is_counted; /* feature_is_counted */
    config_is_type_fn *is_trait;   /* trait_is_known */
    /* NULL of these: any name */
    config_is_type_fn *is_format;   /* of feeds: feed_format_is_known */
    config_is_type_fn *is_feature;  /* of messages: feature_is_of_message */
    config_is_type_fn *is_identity; /* identity_is_known */
};

/* Whether a file of this name in conf.d is read: it ends in ".conf" and begins with no dot. */
bool config_reads_file(const char *name);
/* Loads file, its conf.d and the settings of the state folder; names of feature types that types
 * denies are errors (NULL: any name may stand there). On ERR_OK *ret is one reference, which the
 * caller owns; on failure reterrors holds every error found (at least one) and must be freed. */
enum err config_load(const char *file, const struct config_types *types,
                     struct config **ret, struct config_errors *reterrors);
/* The same with the settings of this file instead; "": without any. */
enum err config_load_tuned(const char *file, const char *tuning,
                           const struct config_types *types, struct config **ret,
                           struct config_errors *reterrors);
/* For the start of a program, which must not fail because of the settings in the state folder: if
 * the configuration can be loaded only without them, it is, and its tuning_fault says why. */
enum err config_load_start(const char *file, const struct config_types *types,
                           struct config **ret, struct config_errors *reterrors);

/* A line on standard error if the configuration has a tuning_fault. */
void config_print_tuning_fault(const char *program, const struct config *c);
/* config_load_start that prints: each error as "PROGRAM: FILE:LINE: ...", and a tuning_fault; false
 * after errors. */
bool config_load_or_print(const char *program, const char *file,
                          const struct config_types *types, struct config **ret);

#endif
