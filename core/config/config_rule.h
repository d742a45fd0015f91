/*
 * config_rule - the part of struct config that says what evidence scores: rules, their conditions,
 * groups of rules with a cap, sets of values, counting; see config.h.
 *
 * The conditions of a rule are a flat array in the order in which they are written, a group before
 * its members (condition.h reads them, condition.def has their keys).
 * Threads: as config.h.   Owns: every string in it.
 */
#ifndef CORE_CONFIG_CONFIG_RULE_H
#define CORE_CONFIG_CONFIG_RULE_H

#include "core/base/buf.h"
#include "core/config/config_hub.h"

/* The unit of a count: messages, or their recipients. */
enum count_unit { COUNT_UNIT_MESSAGES, COUNT_UNIT_DELIVERIES };

struct config_count {
    unsigned messages_per_day; /* what counting is sized for; 0: no counting */
    enum count_unit unit;
    char *prefix;       /* goes before every value that is counted: "in" */
    double noise_floor; /* a window whose canaries read more is not used for verdicts */
    struct config_strings distinct_types; /* feature types with distinct counts */
    struct config_strings judged_types;   /* whose values' judgements are counted */
};

/* The windows of counts, in the order of enum count_window. */
enum rule_window { RULE_10M, RULE_1H, RULE_1D, RULE_14D, RULE_WINDOWS };
const char *rule_window_name(enum rule_window w); /* "10m", ... */
/* Of what a rule wants distinct ones, in the order of enum count_distinct. */
enum rule_distinct { RULE_RECIPIENTS, RULE_NETWORKS, RULE_SENDERS, RULE_DISTINCTS };

/* Groups of conditions, then what a single one is about. */
enum condition_kind {
    CONDITION_ALL,
    CONDITION_ANY,
    CONDITION_NONE,
    CONDITION_TRAIT,
    CONDITION_LIST,
    CONDITION_CATEGORY, /* of lists */
    CONDITION_IDENTITY,
    CONDITION_DIRECTION,
    CONDITION_SIZE,
    CONDITION_RULE,
    CONDITION_FEATURE,
    CONDITION_TEXT,
    CONDITION_COUNTED,
    CONDITION_JUDGED,
    CONDITION_KINDS
};
enum condition_direction { DIRECTION_IN, DIRECTION_OUT };

enum {
    CONDITION_DEPTH_MAX = 6, /* groups inside each other, in a rule */
    RULE_TEXT_TOP = 4096,
    CONDITION_NODES_MAX = 256, /* conditions and groups of a rule */
    CONDITION_UNBOUNDED = INT32_MAX
};

/* One condition, or a group of them. The keys that its kind does not have are empty or 0. */
struct config_condition {
    enum condition_kind kind;
    unsigned file; /* for config_file_name */
    unsigned line;
    unsigned end;    /* behind its last member; of a single one: behind itself */
    unsigned nparts; /* of a group: conditions and groups directly in it */
    /* of a trait, list, category, identity or rule: its name; of a feature or count: its type */
    char *word;
    unsigned any_least; /* of CONDITION_ANY */
    enum condition_direction direction;
    uint64_t size_least; /* bytes */
    uint64_t size_most;
    unsigned least; /* distinct values of a feature, or times that one was counted */
    unsigned most;
    char *pattern;  /* of a feature or of the text; NULL: none */
    bool is_at_top; /* of the text: only in its first RULE_TEXT_TOP bytes */
    char *set;      /* name of a value set; NULL: none */
    struct config_strings values;
    struct config_strings suffixes;
    enum rule_window window;
    enum rule_window against; /* of ratio */
    unsigned distinct[RULE_DISTINCTS];
    double burst;
    double ratio; /* 0: any, like the five before it */
    double
        bad_share; /* of messages with the value that were judged; 0: any, like the next */
    double good_share;
    uint64_t first_seen_s;
    uint64_t last_seen_s;
};

struct config_conditions {
    size_t n;
    struct config_condition *v;
};

/* One rule as configured. */
struct config_rule {
    char *name;        /* [a-z0-9_-]{1,32} */
    char *description; /* or "" */
    char *type;        /* name of a counted feature type, or "" */
    char *trait;       /* that the message must have, or "" */
    double burst; /* fullest bucket of the last day over the mean, at least; 0: any */
    double score;
    enum rule_window window;
    unsigned count;                    /* least number of times in the window */
    unsigned distinct[RULE_DISTINCTS]; /* on one day, at least; 0: any */
    /* type and trait, if they are set, and these must all hold. */
    struct config_conditions all;
    struct config_conditions any; /* any_least of them; n 0: there is no such group */
    struct config_conditions none;
    unsigned any_least;
    char *group;      /* of rule_groups, or "" */
    uint64_t until_s; /* the rule rests from this time on; 0: never */
    bool enabled;
    bool only_in_emergency;
    bool shadow;             /* what it finds is shown, and scores nothing */
    bool spares_newsletters; /* one authenticated sender domain scores nothing */
};

/* Rules whose scores together are at most cap. */
struct config_rule_group {
    char *name;
    double cap;
};

/* A user or a domain with settings of its own. */
struct config_user {
    char *name; /* "user@domain" or "@domain", as user_name_tidy makes it */
    struct config_strings set; /* "KEY=VALUE": core/config/user_setting.h */
};

/* Values that conditions on features name together. */
struct config_value_set {
    char *name;
    struct config_strings values;
    char *file; /* more of them, one a line; or "" */
};

/* The i-th condition or group of a rule: of all, any, none. NULL: there are no more. */
const struct config_condition *config_rule_condition(const struct config_rule *rule,
                                                     size_t i);
/* One condition as it would be written, without its place: equal for two that ask the same. */
void condition_text(const struct config_condition *v, struct buf *ret);
/* "feature": the key that says what it is about. */
const char *condition_kind_name(enum condition_kind kind);

/* ---- for messages about rules ---- */

struct config;
struct config_errors;
/* The name of a file that was loaded. */
const char *config_file_name(const struct config *c, unsigned file);
/* Where a rule, or a value set, was named last. */
void config_rule_place(const struct config *c, size_t rule, unsigned *retfile,
                       unsigned *retline);
void config_set_place(const struct config *c, size_t set, unsigned *retfile,
                      unsigned *retline);
/* Adds an error of that place to those of a load. */
void config_refuse(const struct config *c, struct config_errors *errors, unsigned file,
                   unsigned line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
