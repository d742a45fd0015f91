/*
 * config_internal - what struct config keeps to itself: references, and where each value comes from.
 *
 * Threads: the count is atomic; the rest is constant once loaded.
 */
#ifndef CORE_CONFIG_CONFIG_INTERNAL_H
#define CORE_CONFIG_CONFIG_INTERNAL_H

#include <stdatomic.h>

#include "core/config/config.h"
#include "core/config/schema.h"

struct config_source {
    unsigned file; /* index into files; 0: the built-in default */
    unsigned line;
};

struct config_list_origin {
    struct config_source named; /* where the list was named last */
    struct config_source key[SCHEMA_LIST_KEYS];
};

struct config_rule_origin {
    struct config_source named; /* where the rule was named last; file 0: built in */
    struct config_source key[SCHEMA_RULE_KEYS];
};

struct config_subscription_origin {
    struct config_source named; /* where the subscription was named last */
    struct config_source key[SCHEMA_SUBSCRIBE_KEYS];
};

struct config_feed_origin {
    struct config_source named; /* where the feed was named last */
    struct config_source key[SCHEMA_FEED_KEYS];
};

struct config_origin {
    /* Partner: itself. Acquire adds relaxed (the caller holds a reference); release subtracts
     * with acq_rel so that every use happens before the free. */
    atomic_uint refs;
    struct config *self;
    size_t nfiles;
    char **files; /* [0] is "default" */
    struct config_source key[SCHEMA_KEYS];
    struct config_list_origin *lists; /* as many as config.nlists */
    struct config_list_origin list_default;
    struct config_rule_origin *rules;                 /* as many as config.nrules */
    struct config_subscription_origin *subscriptions; /* of config.nsubscriptions */
    struct config_feed_origin *feeds;                 /* of config.nfeeds */
};

/* A configuration in which every value is empty, with one reference; NULL without memory. */
struct config *config_new(void);

/* Frees every rule; the array stays. */
void config_drop_rules(struct config *c);

/* Appends an error; past CONFIG_ERRORS_MAX only one more, which says so. */
enum { CONFIG_ERRORS_MAX = 200 };
void config_errors_add(struct config_errors *e, enum err code, const char *source,
                       unsigned line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
