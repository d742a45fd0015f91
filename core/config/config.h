/*
 * config - one immutable, reference-counted configuration from libconfig text.
 *
 * The schema is one table (core/config/schema.def: path, type, unit, range, default, help,
 * reloadable). The main file and, beside it, conf.d/ *.conf in name order are merged; a later
 * file wins. Unknown keys, wrong types and values out of range are all refused in one run, each
 * with file, line and what to do, unknown keys with the nearest known name.
 * Files in reading order: config, config_load, config_hub, config_rule, config_sender, config_delay
 * (the structs); schema.def, feed.def, subscribe.def, condition.def, user.def and schema (the table
 * of keys); family (groups with names); load, shipped, precheck, mistake*, apply, finish,
 * config_feeds, config_subscribe, config_users, finish_rules (a load step by step,
 * config_internal.h); tuning, tuning_apply, tuning_file (the settings in the state folder);
 * config_value, keywords, arrays, form, render, unit, user_setting, user_thresholds, condition (one
 * value in and out); dump, advice, wiring (used by the commands).
 * Example of a change: a new key is one row of schema.def, one field of its struct here or in
 * config_hub.h, and its text in gillnet.conf and gillnet.conf(5); test_shipped names what is
 * missing. A new word of a key is one name in keywords.c.
 * Threads: a loaded config is constant; acquire and release from any thread.
 * Depends: base.   Owns: every string in it.
 */
#ifndef CORE_CONFIG_CONFIG_H
#define CORE_CONFIG_CONFIG_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/log.h"
#include "core/base/slice.h"
#include "core/config/config_delay.h"
#include "core/config/config_hub.h"
#include "core/config/config_load.h"
#include "core/config/config_rule.h"
#include "core/config/config_sender.h"

#define CONFIG_DEFAULT_FILE "/etc/gillnet/gillnet.conf"

/* Actions on a message, mildest first; thresholds are indexed by it. */
enum action {
    ACTION_ACCEPT,
    ACTION_HEADER,
    ACTION_QUARANTINE,
    ACTION_DEFER,
    ACTION_REJECT,
    ACTION_DISCARD,
    ACTION_COUNT
};
const char *action_name(enum action a); /* "accept", "header", ... */

/* An IP network; IPv4 is held as ::ffff:a.b.c.d with 96 added to the prefix length. */
struct ipnet {
    uint8_t addr[16];
    unsigned prefix; /* 0..128 */
};
bool ipnet_contains(const struct ipnet *net, const uint8_t addr[16]);

/* How gillnetd holds a list's filters in memory. */
enum filter_memory { FILTER_COPY, FILTER_MAP, FILTER_STORE };
/* The part of a list that peers get. */
enum list_share { LIST_SHARE_NO, LIST_SHARE_ENTRIES, LIST_SHARE_FILTERS };
const char *list_share_name(enum list_share s); /* "no", "entries", "filters" */

/* One list as configured; lists on disk that are not named here get list_default. */
struct config_list {
    char *name; /* [a-z0-9_-]{1,32} */
    bool enabled;
    bool shadow;    /* hits are shown and counted, and score nothing */
    bool is_allow;  /* category "allow": a confirmed hit accepts the message */
    bool is_learnt; /* category "ml": a model made the entries; they mark at most */
    char *category; /* phish, malware, spam, scam, promo, allow, ... */
    double weight;  /* score of a confirmed hit */
    struct config_strings
        types;          /* feature types looked up in it; empty: all that it holds */
    uint64_t max_age_s; /* older than this: doctor and stat say so; 0: never */
    bool keep_text;     /* the log keeps the entries' text (false: digests only) */
    enum filter_memory filter_memory;
    enum filter_layout filter_layout; /* of filters built from now on */
    double filter_error; /* share of false "perhaps" that they are sized for */
    uint64_t
        period_s; /* of the periods by which entries are kept and dropped; 0: none */
    uint64_t inactive_after_s; /* without a hit a period is dropped; 0: never */
    enum list_share share;
    enum list_url_match url_match;
};

struct config {
    char *file; /* the main file */
    char *state_dir;
    char *socket;       /* as written; see milter/socket.h for the spellings */
    char *socket_owner; /* "" : leave */
    char *socket_group;
    unsigned socket_mode;
    char *control_socket; /* path, never "": default STATE/gillnetd.ctl */

    bool log_target_auto; /* journal under systemd, stderr with -f, else syslog */
    enum log_target log_target;
    enum log_level log_level;
    bool log_is_json;   /* each line is a JSON object */
    bool log_addresses; /* the line of a message names sender and recipients */

    struct config_limits limits;
    uint64_t deadline_us; /* for the reply at end-of-message */
    enum action on_error; /* ACTION_ACCEPT or ACTION_DEFER */
    bool add_headers;     /* X-Gillnet-* on every message (ACTION_ACCEPT too) */

    size_t ntrusted_networks;
    struct ipnet *trusted_networks; /* not examined */
    bool outgoing; /* mail of logins and trusted networks is outgoing; false: logins are
                      examined as others are, trusted networks left alone */
    struct config_account account;
    struct config_identity identity;
    struct config_report_mail report_mail;
    struct config_strings
        trusted_authserv; /* authserv-ids whose Authentication-Results count */

    double threshold[ACTION_COUNT]; /* config_action; HUGE_VAL: off */
    char *reject_text;              /* "{id}", "{case}" and "{symbols}" are replaced */
    char *defer_text;
    struct config_embargo embargo;
    struct config_reader reader;
    struct config_emergency emergency;
    struct config_model model;

    struct config_strings
        protected_domains; /* lower-case A-labels; no peer's list touches them */

    size_t nallow_networks;
    struct ipnet *allow_networks;
    struct config_strings allow_addresses; /* normalised addresses */
    struct config_strings allow_domains; /* lower-case A-labels; subdomains included */

    struct config_count count;
    enum action bulk_alone; /* the harshest that bulk rules alone may lead to */

    struct config_journal journal;
    struct config_reports reports;
    struct config_quarantine quarantine;

    struct config_hub hub;
    struct config_store store;
    struct config_peers peers;
    struct config_api api;
    struct config_alerts alerts;

    size_t nusers;
    struct config_user *users;
    struct config_user user_default; /* name NULL */
    char *users_file; /* settings of many users, as text; "": `users` in STATE/users */
    double block_score; /* of a message from a sender that its recipient blocks */

    size_t nlists;
    struct config_list *lists;
    struct config_list list_default; /* name NULL */

    bool
        shipped_rules; /* conf/rules.d, as it was when the program was built, comes first */
    size_t nrules;
    struct config_rule *rules;
    struct config_rule rule_default; /* name NULL, type "" */

    size_t nrule_groups;
    struct config_rule_group *rule_groups;
    struct config_rule_group rule_group_default; /* name NULL */

    size_t nvalue_sets;
    struct config_value_set *value_sets;
    struct config_value_set value_set_default; /* name NULL */

    /* The rules as core/verdict/rule compiles them, and their end; NULL: no rule is evaluated. */
    struct ruleset *ruleset;
    void (*ruleset_free)(struct ruleset **s);

    size_t nsubscriptions;
    struct config_subscription *subscriptions;
    struct config_subscription subscription_default; /* name NULL */

    size_t nfeeds;
    struct config_feed *feeds;
    struct config_feed feed_default; /* name NULL */

    struct tuning *tuning; /* settings of the state folder (tuning.h); NULL: none */
    char *tuning_fault;    /* why those are not in force; NULL: they are */

    struct config_origin
        *origin; /* private: references, and where each value is from */
};

struct config *config_acquire(const struct config *c);
/* Drops one reference and nulls the pointer; the last one frees. Accepts NULL. */
void config_release(struct config **c);

/* The entry for a list by name, or c->list_default. */
const struct config_list *config_list_find(const struct config *c, struct slice name);

/* Whether the configuration has an entry of its own for the list. */
bool config_list_is_named(const struct config *c, struct slice name);

/* The factor of a peer's entries, times the weight of the list: 1.0 unless configured. */
double config_peer_weight(const struct config *c, struct slice name);
/* Whether it is an IP address in allow.networks. */
bool config_allows_address(const struct config *c, struct slice address);
/* The harshest action whose threshold the score reaches. */
enum action config_action(const struct config *c, double score);
enum action config_action_by(const double threshold[ACTION_COUNT], double score);

/* A checksum of the effective values: equal for two configurations with the same values. Never
 * 0. */
uint32_t config_id(const struct config *c);

enum config_program { CONFIG_OF_GILLNETD, CONFIG_OF_HUB };
/* Keys that program looks at only when it starts and that differ between the configuration it
 * started with and a later one: appends "key, key" and gives their number. 0: the later one is in
 * force as a whole. */
unsigned config_needs_restart(const struct config *started, const struct config *fresh,
                              enum config_program program, struct buf *ret);

/* `gillnet config dump`: every effective value with file:line or "default"; as JSON lines
 * {"key","value","source"} when json is set. */
void config_dump(const struct config *c, bool json, struct buf *ret);

/* The schema as text for documentation and tests: one "path<TAB>type<TAB>default<TAB>
 * reloadable<TAB>help" line a row. */
void config_schema(struct buf *ret);

#endif
