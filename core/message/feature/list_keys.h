/*
 * list_keys - keys under which a feature may be listed, and the form of list entries.
 *
 * A feature of a message expands to keys {class, text}: an address to itself and the domains of its
 * host, a host to itself (class host) and each suffix down to its registrable domain (class
 * domain), an IP address to every prefix length that entries may have. List entries are stored
 * under exactly one such key. So "evil.example" listed as a domain is found in URLs, senders and
 * HELO alike, and a URL entry never widens to its host. A URL is sought in its normal form (class
 * url), as it was written (url_exact) and as its template; the classes derived from it, which cost
 * more or are rare, only where some list holds them (feature_derived_keys, ADR 45). An address is
 * sought as it was written and as the mailbox that it reaches (core/message/url/mailbox.h), under
 * one class. Threads: pure (libpsl's built-in list is constant).
 * Depends: text (host, url, urlkey, safebrowsing, address).
 */
#ifndef CORE_MESSAGE_FEATURE_LIST_KEYS_H
#define CORE_MESSAGE_FEATURE_LIST_KEYS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/message/feature/feature.h"

enum { FEATURE_KEYS_MAX = 68, FEATURE_EXPRESSIONS_BYTES = 1024 * 1024 };

/* ---- classes ---- */

enum { FEATURE_CLASSES_WORDS = 4, FEATURE_CLASSES_MAX = 64 * FEATURE_CLASSES_WORDS };

/* Which classes of entries there are: a bit for each number. Bit 0: any, for nobody knows. */
struct feature_classes {
    uint64_t word[FEATURE_CLASSES_WORDS];
};
#define FEATURE_CLASSES_UNKNOWN ((struct feature_classes){{1}})
bool feature_classes_are_known(const struct feature_classes *c);
/* Where they are not known every class may be there. */
bool feature_classes_have(const struct feature_classes *c, uint16_t class_type);
/* A class that has no bit makes c unknown. */
void feature_classes_add(struct feature_classes *c, uint16_t class_type);
void feature_classes_join(struct feature_classes *c,
                          const struct feature_classes *more);

/* Keys that are made only where some list holds their class: bits. */
enum {
    FEATURE_EXPRESSIONS = 1,       /* of url: as keys of class url_expression */
    FEATURE_EXPRESSION_HASHES = 2, /* their SHA-256, as keys of class url_hash */
    FEATURE_FOLDED = 4,            /* of url: as key of class url_folded */
    FEATURE_FORMER =
        8 /* of url_exact: without tracking parameters, and that folded, as lists hold
                          them that were made before there was a normal form */
};
/* The bit of a class of entries; 0: it is made without one. */
unsigned feature_derived_bit(uint16_t class_type);
/* The bits whose keys a list with these classes is asked for; `named`: classes that its `types`
 * name. Of one that does not know its classes, those that cost much only where they are named. */
unsigned feature_derived(const struct feature_classes *held,
                         const struct feature_classes *named);

struct feature_key {
    uint16_t class_type; /* what the digest is made with */
    uint16_t
        report_type;   /* the feature type shown for a hit: from -> from_domain, ... */
    struct slice text; /* points into the feature's text or the scratch arena */
};

/* Writes at most FEATURE_KEYS_MAX keys of classes that `asked` has (NULL: any), returns their
 * number. Arena holds texts that must be made (networks, mailboxes). */
size_t feature_keys(const struct feature *f, const struct feature_classes *asked,
                    struct arena *scratch, struct feature_key ret[FEATURE_KEYS_MAX]);

/* The keys of the kinds in `which` (FEATURE_EXPRESSIONS, ...). The expressions of Safe Browsing for
 * a URL are path prefixes on its host and on the host's suffixes down to the registrable domain.
 * Private suffixes count, so a listed folder of one customer on shared hosting hits no other
 * customer. 0 for other types than url and url_exact. Together with feature_keys of it at most
 * FEATURE_KEYS_MAX, and scratch gives less than FEATURE_EXPRESSIONS_BYTES. */
size_t feature_derived_keys(const struct feature *f, unsigned which,
                            struct arena *scratch,
                            struct feature_key ret[FEATURE_KEYS_MAX]);

/* ---- entries ---- */

/* How the URLs of a list match. Numbers are stable: on disk. */
enum url_match { URL_MATCH_EXACT, URL_MATCH_NORMAL, URL_MATCH_FOLDED };

/* One list entry, normalised. */
struct feature_entry {
    uint16_t class_type; /* domain, host, address, network, url, attachment, ... */
    struct slice text;   /* the key under which it is listed */
    struct slice
        written; /* of a URL or address: as it was written, which more keys can be
                             made of; else text, or {NULL, 0} */
};
/* Whether two addresses reach one mailbox (core/message/url/mailbox.h). */
bool feature_same_mailbox(struct slice a, struct slice b);
/* The entry in the form of such a list: a URL under the class of url_match. Other entries, and
 * those without `written`, stay as they are. Text in arena; {NULL, 0}: the arena is full. */
struct feature_entry feature_entry_matched(const struct feature_entry *e,
                                           enum url_match match, struct arena *arena);

/* The key of an entry of this class that a list's log keeps as `written`. In arena, or the text
 * itself; {NULL, 0}: it is no entry, or the arena is full. */
struct slice feature_entry_key(uint16_t class_type, struct slice written,
                               struct arena *arena);

/* Reads one entry as people and feeds write it. hint FEATURE_NONE: by its look (scheme or slash:
 * URL; @: address; IP or CIDR: network; 64 hexadecimal digits: attachment checksum; else a
 * domain), and "TYPE:VALUE" with a name of the table forces the type. Refused with a reason:
 * public suffixes, localhost, empty labels, networks wider than /8 or /19 (IPv6), ...
 * The text lies in arena. */
enum err feature_entry_parse(struct slice text, enum feature_type hint,
                             struct arena *arena, struct feature_entry *ret,
                             struct errinfo *reterr);
/* As feature_entry_parse; *returl is the URL where the entry is one, and else as it was. */
struct url;
enum err feature_entry_parse_url(struct slice text, enum feature_type hint,
                                 struct arena *arena, struct feature_entry *ret,
                                 struct url *returl, struct errinfo *reterr);

#endif
