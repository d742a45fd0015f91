/*
 * verdict - evidence -> symbols -> score -> action, and the reason for it.
 *
 * A list hit that the exact index confirmed becomes the symbol LIST_NAME with the weight of the
 * list (once per list, however many hits). Possible, revoked and false positive hits are shown and
 * score 0. Only where emergency.unverified says so, possible hits of a local list score too, in
 * emergency mode: symbol and limits say "unverified", no rule sees them, and nothing learns from
 * them. The harshest action whose threshold the score reaches applies. Allow rules come first; a
 * message that one of them accepts has score 0. A network accepts by itself, and so does a login
 * where logins are outgoing mail (outgoing). An address or a domain accepts
 * only an authenticated sender: in a trusted network, after a login, or with a pass for that domain
 * in a trusted Authentication-Results (From: DMARC, or a DKIM d= between the domain and its
 * registrable domain; envelope sender: SPF). On an allow list a client address, From or envelope
 * sender follows the same rules; a URL, attachment, body or subject there removes that value from
 * the other lists; other types have no effect. The lists of peers come next (peers.h): one symbol
 * for each list name, by the strongest origin. A value that was revoked here, or that an allow list
 * or `protected` covers, gives no symbol. A known correspondent or an answer then takes score away
 * (credit, ADR 0062). What people reported adds REPORTED_SPAM, which leads to a header at most, or
 * takes score away as REPORTED_HAM (ADR 0071). The text of a URL that no list knows adds
 * ML_SUSPICIOUS or ML_DETECTED_MALICIOUS (ADR 0076), and lists of category ml lead to a header at
 * most, too. The rules come last, for messages that no allow rule accepts (core/verdict/rule): a
 * rule that holds becomes RULE_NAME with its score; BULK_NAME and TRAIT_NAME are those written in
 * short. Rules that read only counts lead to bulk_alone at
 * most; a harsher action needs a score that reaches it without them.
 * Files in reading order: verdict (limits, score), list_symbols, allow (senders with proof), credit
 * (known senders), reported (what people reported), unknown_url (what the model says of URLs),
 * peers (quorum and weight), verdict_shown (what headers and log lines show), rule/ (rules),
 * identity/ (words about the sender), explain (the result as JSON), verdict_config.
 * Example of a change: a new source of evidence is one file with NAME_judge, which reports symbols
 * to a callback as peers_judge does, and one call in verdict_make; allow rules are applied before
 * it.
 * Depends: config, feature, extract, learn, list, count, identity, report, rule.   Threads: pure.
 * Allocates: from the arena.
 */
#ifndef CORE_VERDICT_VERDICT_H
#define CORE_VERDICT_VERDICT_H

#include "core/base/arena.h"
#include "core/config/config.h"
#include "core/count/judged.h"
#include "core/learn/model.h"
#include "core/list/listset.h"
#include "core/message/extract/extract.h"
#include "core/report/votes.h"
#include "core/verdict/identity/identity.h"

enum {
    VERDICT_SYMBOLS_MAX = 128,
    VERDICT_SYMBOL_NAME = 48,
    VERDICT_RULE_HITS_MAX = 512 /* whose names the verdict keeps */
};

/* The harshest action of a symbol's score; the numbers are on disk (core/verdict/journal). */
enum symbol_kind {
    SYMBOL_FIRM, /* any action */
    SYMBOL_BULK, /* bulk_alone, if nothing else leads further */
    SYMBOL_UNSURE, /* a header: a quorum of peers is missing, or people or the model say so */
    SYMBOL_KINDS
};

struct symbol {
    char name[VERDICT_SYMBOL_NAME]; /* [A-Z0-9_]+, such as LIST_PHISH */
    double score;                   /* 0 for shadow and allow symbols */
    enum symbol_kind kind;
    bool is_word;   /* says what was done, and scores nothing: EMBARGO, ALLOW_NAME */
    bool is_helper; /* of a rule with score 0, which other rules name; not in shadow */
    struct slice detail; /* "url_domain=evil.example (+2 more)"; in the arena */
};

/* A rule that held. */
struct rule_hit {
    uint16_t rule; /* in config->rules */
    bool is_shadow;
    float score; /* that it added */
};

struct verdict {
    enum action action;
    double score;
    double
        firm; /* of score: without rules on judgements (core/count/judged.h), without peers
               * that lack a quorum, and without unverified hits */
    double
        required; /* threshold of the action, of recipients who agree (user.h); 0: the site's */
    size_t nsymbols;
    struct symbol symbols[VERDICT_SYMBOLS_MAX];
    bool is_embargoed; /* answer 451 whatever the action is; see core/verdict/embargo */
    size_t nrule_hits;
    struct rule_hit *rule_hits; /* in the arena; NULL: none */
    const char *
        allow; /* which allow rule decided, or NULL: "network", "login", "address", ... */
    struct slice
        unproved;    /* a sender in allow without proof, or empty; of the features */
    unsigned limits; /* LIMIT_FLAG bits met by extraction or look-up */
    size_t nmalicious;
    struct slice
        malicious[VECTOR_URLS]; /* URLs of ML_DETECTED_MALICIOUS; of the features */
    enum list_fault fault;      /* of the lists that were looked up */
    uint64_t lookup_us;         /* verdict_evaluate: time of the look-up in lists */
    uint64_t judge_us;          /* and of all that came after it */
};

/* Evidence of another room: adds symbols, which count like those of lists. */
typedef void verdict_evidence_fn(void *context, const struct config *config,
                                 const struct featureset *features, struct arena *arena,
                                 struct verdict *v);

/* Facts that are not in the features. */
struct verdict_context {
    bool is_trusted_network;
    bool is_authenticated;
    const uint8_t *client_addr; /* 16 bytes or NULL */
    const struct extract_auth *auth;
    const struct message_counts *counts; /* how often all of it was seen; may be NULL */
    const struct identity *identity;     /* who sent it; NULL: nothing is known */
    struct votes *votes;                 /* what people reported; NULL: nothing */
    const struct keyring *vote_keys;     /* of their items */
    const struct model_answer *model;    /* NULL: no model was asked */
    const struct rule_text *text;  /* verdict_read_text; NULL: no rule asked for it */
    bool is_outgoing;              /* of a login or a trusted network */
    bool is_emergency;             /* rules for emergency mode hold too */
    bool trusts_filters;           /* hits that cannot be confirmed count, unverified */
    uint64_t bytes;                /* headers and body */
    verdict_evidence_fn *evidence; /* NULL: none; not called for allowed messages */
    void *evidence_context;
    uint64_t deadline_mono_us; /* of exact counts; verdict_evaluate sets it; 0: none */
};

/* The score from which the action applies; of ACTION_ACCEPT that of the mildest other one.
 * HUGE_VAL: off. */
double verdict_required(const struct config *config, enum action action);
/* The same for this verdict, by whosever settings it was made. NULL: nothing was judged. */
double verdict_threshold(const struct config *config, const struct verdict *v);

/* Makes text a part of a symbol's name, in place: upper case, '_' for other characters. */
void verdict_symbol_name(char *text);
/* Adds a symbol, whose name is made of prefix and name, and its score. */
void verdict_add_symbol(struct verdict *v, const char *prefix, const char *name,
                        double score, struct slice detail);
/* The same for a word about the action. */
void verdict_add_word(struct verdict *v, const char *prefix, const char *name,
                      struct slice detail);

/* The symbols that headers, replies and log lines show, and their number: words about the action,
 * then the others by absolute score, highest first, equal ones as they were found. Rules with score
 * 0 that are not in shadow are left out. A caller without room cuts at the end, where the least
 * stands. */
size_t verdict_shown(const struct verdict *v,
                     const struct symbol *ret[VERDICT_SYMBOLS_MAX]);

/* How the message is counted for its values: bits 1U << JUDGED_GOOD and so on, for judged_add.
 * Bad: its firm score reaches the mildest threshold, and it is marked or worse. Good: accepted, in
 * full examined, and the firm score is below half of that threshold. Mail between these two is
 * neither, and so is mail that an allow rule accepts (the rule says nothing about the values in
 * other mail) and outgoing mail (a forged sender would inherit its good name). */
unsigned verdict_judgements(const struct config *config, const struct verdict *v,
                            const struct verdict_context *context);

/* The thresholds of an action, and of what bulk rules alone may lead to. */
struct verdict_scale {
    double threshold[ACTION_COUNT]; /* HUGE_VAL: off */
    enum action bulk_alone;
};
void verdict_scale_of(const struct config *config, struct verdict_scale *ret);
/* The action of a score. sure: of it without SYMBOL_UNSURE; firm: of SYMBOL_FIRM alone. */
enum action verdict_action(const struct verdict_scale *scale, double score, double sure,
                           double firm);

/* How the configuration lets the model judge. */
void verdict_model_options(const struct config *config, struct model_options *ret);

/* The limits of extraction as configured. */
void verdict_extract_limits(const struct config *config, struct extract_limits *ret);

/* After verdict_extract_limits: sets in limits what rules want to see of the text. Goes into
 * verdict_context; lives in arena. */
struct rule_text *verdict_read_text(const struct config *config, struct arena *arena,
                                    struct extract_limits *limits);

void verdict_make(const struct config *config, const struct featureset *features,
                  const struct listset *lists, const struct list_hits *hits,
                  const struct verdict_context *context, struct arena *arena,
                  struct verdict *ret);

/* The whole evaluation of a finished message: look-up in a snapshot that the caller has pinned,
 * then verdict_make. deadline_mono_us as in listset_lookup. */
void verdict_evaluate(const struct config *config, const struct listset *set,
                      struct featureset *features,
                      const struct verdict_context *context, uint64_t deadline_mono_us,
                      struct arena *arena, struct verdict *ret,
                      struct list_hits *rethits);

#endif
