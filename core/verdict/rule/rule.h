/*
 * rule - the rules of a configuration, compiled, and their evaluation for one message.
 *
 * A rule is a tree of conditions. Each different condition is one atom, which is decided once a
 * message for all rules. Values of features are looked up in one hash table, and in one vectorscan
 * database for each type. One streaming database reads the text while it is extracted. Counts are
 * read from the sketch first, and exactly before a rule holds. An atom, and so a rule, is true,
 * false or undecided: without counts, in a noisy window, past the deadline, or where PCRE2 gave up
 * on a value. An undecided rule does not hold. A rule is looked at only when an atom that it needs
 * is true or may become true.
 * Patterns see UTF-8, without regard to case; bytes that are no UTF-8 are U+FFFD. The text is that
 * of all parts that a mail program shows, in both alternatives, all of it; white space is one
 * space, and the end of a line or block is white space. Features are those that the message keeps
 * (limits.features, limits.urls). A type of host or address matches a set or value also by the
 * domains above it.
 * Score: of each rule once; rules of a group together at most its cap; a shadow rule, and a rule on
 * counts of a newsletter, 0; a rule that reads only counts (is_of_counts) is bulk (ADR 0027).
 * Files in reading order: atoms, compile, watch (conditions, trees, the atoms that wake a rule),
 * value_table, pattern, pattern_size, pattern_cache (look-up), text_scan (the text), evidence
 * (atoms of a message), counted (counts), evaluate (rules).
 * Example of a change: a new kind of condition is a key in core/config/condition.def, a name in
 * enum condition_kind, and a case in evidence.c (decided from facts) or counted.c (from counts).
 * Depends: config, feature, extract, count, identity.   Threads: a compiled set may judge in any
 * number of threads.   Allocates: details from the arena; work space is kept in a pool, which a
 * full arena does not touch.   ADR 0059, 0060.
 */
#ifndef CORE_VERDICT_RULE_RULE_H
#define CORE_VERDICT_RULE_RULE_H

#include "core/base/arena.h"
#include "core/config/config.h"
#include "core/count/judged.h"
#include "core/message/extract/extract.h"
#include "core/verdict/identity/identity.h"

enum {
    RULE_LISTS_MAX = 256,       /* confirmed hits that conditions on lists see */
    RULE_PATTERNS_MAX = 10000,  /* different ones of a configuration */
    RULE_PCRE_MATCH_MAX = 5000, /* steps of PCRE2 in one value; then it gives up */
    RULE_PCRE_DEPTH_MAX = 250,
    RULE_PCRE_HEAP_KB = 256,
    RULE_PCRE_VALUE_MAX = 1024,   /* bytes of a value that PCRE2 sees */
    RULE_PCRE_RUNS_MAX = 2000,    /* in one message */
    RULE_PCRE_GIVEN_UP_MAX = 16,  /* values of a message; then PCRE2 rests */
    RULE_SET_FILE_MAX = 16 << 20, /* bytes of the file of a value set */
    RULE_SET_VALUE_MAX = 255      /* bytes of a line in it */
};

/* ---- compiling ---- */

/* The names that rules may use. */
const struct config_types *rule_config_types(void);

/* Compiles the rules of c, which owns the result from then on. On failure every error is in errors,
 * with its line: unknown names of rules, groups and sets, circles, patterns that match
 * the empty text or cannot be compiled. */
enum err ruleset_compile(struct config *c, struct config_errors *errors);
/* Writes the compiled patterns of c to the state folder's cache, from which ruleset_compile takes
 * them, unless they are all from there. False: nothing was written. */
bool ruleset_keep(const struct config *c);
/* config_load, then ruleset_compile. */
enum err ruleset_load(const char *file, struct config **ret,
                      struct config_errors *reterrors);
/* As config_load_or_print. */
bool ruleset_load_or_print(const char *program, const char *file, struct config **ret);

struct ruleset_stat {
    size_t rules; /* that are enabled */
    size_t atoms;
    size_t patterns;      /* of vectorscan */
    size_t slow_patterns; /* of PCRE2 */
    bool is_cached;       /* no pattern had to be compiled */
};
void ruleset_stat(const struct ruleset *s, struct ruleset_stat *ret);
/* Whether a rule reads counts of the feature type. s may be NULL: none does. */
bool ruleset_counts_type(const struct ruleset *s, uint16_t type);

/* ---- the text of a message ---- */

/* Reads the text of a message as it comes; NULL: no rule asks for it, or there is no memory. Lives
 * in arena. limits->on_text... get it to extract, which ends it. */
struct rule_text *rule_text_new(const struct ruleset *s, struct arena *arena,
                                struct extract_limits *limits);

/* ---- one message ---- */

/* A list with a confirmed hit that counts. */
struct rule_list {
    const char *name;
    const char *category;
    struct slice value;
};

/* One that a rule, or what it found, leads to. */
struct rule_symbol {
    const char *prefix; /* "RULE_", "BULK_", "TRAIT_" or "" */
    const char *name;
    double score;
    struct slice detail;
    size_t rule; /* in config->rules; SIZE_MAX: a note beside a rule's */
    bool is_shadow;
    bool is_of_counts;
    bool is_of_judgements; /* its score would keep up the judgements that it reads */
};
typedef void rule_symbol_fn(void *context, const struct rule_symbol *s);
/* Whether an allow list takes the value from the rules. */
typedef bool rule_exempt_fn(const void *context, struct slice value);

struct rule_case {
    const struct config *config; /* with its ruleset */
    const struct featureset *features;
    const struct message_counts *counts; /* or NULL */
    const struct identity *identity;     /* or NULL */
    const struct rule_text *text;        /* or NULL */
    const struct rule_list *lists;
    size_t nlists;
    bool is_outgoing;
    bool is_emergency; /* rules for that hold too */
    bool is_proved;    /* DMARC or DKIM proved the From domain */
    struct slice proved_domain;
    uint64_t bytes;
    uint64_t deadline_mono_us; /* no exact count is read after it; 0: none */
    struct arena *arena;
    rule_symbol_fn *on_symbol; /* rules of counts come last */
    rule_exempt_fn *is_exempt;
    void *context; /* of both */
};

/* Evaluates the rules. Returns LIMIT_FLAG bits. */
unsigned ruleset_judge(const struct rule_case *c);

#endif
