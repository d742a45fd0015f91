/*
 * rule_internal - a compiled set and the work space of a message; shared by the files of this room.
 *
 *   compile.c   conditions to atoms, rules to trees, their order
 *   watch.c     the atoms that wake a rule
 *   work.c      the pool of work spaces
 *   text_scan.c the text while it is read
 *   evidence.c  the atoms of a message
 *   counted.c   atoms of counts, exactly
 *   evaluate.c  trees, scores, details
 */
#ifndef CORE_VERDICT_RULE_RULE_INTERNAL_H
#define CORE_VERDICT_RULE_RULE_INTERNAL_H

#include <pthread.h>

#include "core/verdict/rule/pattern.h"
#include "core/verdict/rule/rule.h"
#include "core/verdict/rule/value_table.h"

enum truth { IS_FALSE, IS_TRUE, IS_UNDECIDED };

enum { RULE_NODES_MAX = 3 * CONDITION_NODES_MAX + 8 }; /* of one rule */
#define RULE_NONE UINT32_MAX

/* A condition that rules ask, once. */
struct atom {
    const struct config_condition *from; /* that asked it first; of the configuration */
    enum condition_kind kind;
    uint16_t type;    /* of a feature or count */
    uint16_t ntests;  /* of a feature's value: all must be met; 0: any value */
    uint32_t of_rule; /* of CONDITION_RULE: in config->rules; RULE_NONE: never true */
    unsigned word;    /* of CONDITION_IDENTITY */
    uint32_t watch;   /* the first of the rules that it wakes, in watchers */
    uint32_t nwatch;
    uint32_t next_presence; /* of the same type, without a test; RULE_NONE: the last */
};

struct node {
    enum condition_kind kind; /* a group, or any other: an atom */
    bool is_negated;          /* in an odd number of `none` */
    uint16_t parent;          /* in the rule's nodes; of the first: 0 */
    uint16_t nparts;
    uint16_t least; /* of CONDITION_ANY */
    uint32_t atom;
};

struct made_rule {
    uint32_t rule;  /* in config->rules */
    uint32_t nodes; /* the first */
    uint16_t nnodes;
    bool is_of_counts;
    bool asks_counts;
    bool reads_judgements; /* or a rule that it names does */
    uint32_t group;        /* in config->rule_groups, or RULE_NONE */
    const char *prefix;
};

/* A hit of a rule, until it is shown. */
struct work {
    struct work *next; /* in the pool */
    struct pattern_work *patterns;
    uint8_t *state;    /* enum truth, for each atom */
    uint8_t *given_up; /* of a feature: PCRE2 did */
    uint32_t *hits;    /* of a feature: values that match */
    uint32_t *first;   /* its first feature, or the counted one; RULE_NONE */
    uint32_t *met;     /* tests of the value at hand */
    uint32_t *met_of;  /* the value that met counts, plus one */
    uint32_t *seen;    /* for each test: the value that met it last, plus one */
    size_t ntouched;   /* atoms of features with a hit, or given up */
    uint32_t *touched;
    uint64_t *candidates; /* by rank */
    uint64_t *held;       /* by rank */
};

struct ruleset {
    const struct config *config;
    size_t nrules;
    struct made_rule *rules; /* in the order of evaluation: by rank */
    uint32_t *rank_of;       /* of config->rules; RULE_NONE: not enabled */
    uint32_t *atom_of_rule;  /* of config->rules: that names it; RULE_NONE: none */
    size_t nnodes;
    struct node *nodes;
    size_t natoms;
    struct atom *atoms;
    size_t nwatchers;
    uint32_t *watchers; /* ranks */
    size_t nalways;
    uint32_t *always; /* ranks of rules that nothing need wake */
    struct config_condition
        *brief; /* type and trait of rules, as conditions; two each */
    size_t ntests;
    uint32_t *tests;  /* the atom of each test of a value */
    uint8_t *initial; /* enum truth of each atom, of a message that has nothing */
    size_t nfacts;
    uint32_t *facts; /* atoms that are neither of features nor of the text */
    struct value_table values;
    uint32_t presence[VALUE_TABLE_TYPES]; /* first atom without a test, or RULE_NONE */
    struct pattern_set *patterns[VALUE_TABLE_TYPES]; /* of features; ids are tests */
    struct pattern_set *text;                        /* ids are atoms */
    bool counts_type[VALUE_TABLE_TYPES];             /* an atom reads counts of it */
    struct ruleset_stat stat;
    pthread_mutex_t lock; /* guards: pool */
    struct work *pool;
    struct pattern_work *model; /* that work spaces are cloned of */
};

/* compile.c */
void ruleset_free(struct ruleset **s);

/* watch.c. Returns false without memory. */
bool watch_rules(struct ruleset *s);

/* work.c: NULL: no memory. work_clear before a message is judged. */
struct work *work_take(struct ruleset *s);
void work_clear(const struct ruleset *s, struct work *w);
void work_give(struct ruleset *s, struct work *w);
void work_free_all(struct ruleset *s);

/* Called for each atom that is true. */
typedef void evidence_fn(void *context, uint32_t atom);
/* text_scan.c: sets the state of the atoms of the text. t NULL: undecided. */
void rule_text_report(const struct rule_text *t, const struct ruleset *s,
                      struct work *w, evidence_fn *on_true, void *context);
/* evidence.c: sets the state of every atom but those of counts and rules. */
void evidence_gather(const struct ruleset *s, const struct rule_case *c, struct work *w,
                     evidence_fn *on_true, void *context);

/* Of counts: undecided until the exact ones are read. */
static inline bool condition_is_counted(enum condition_kind kind)
{
    return kind == CONDITION_COUNTED || kind == CONDITION_JUDGED;
}

static inline bool condition_is_group(enum condition_kind kind)
{
    return kind <= CONDITION_NONE;
}

#endif
