/*
 * lookup - under which names a feature may be listed, and how a list entry is read.
 *
 * A feature of a message expands to keys {class, text}: an address to itself and the domains of
 * its host, a host to itself (class host) and each suffix down to its registrable domain (class
 * domain), an IP address to every prefix length that entries may have. List entries are stored
 * under exactly one such key. So "evil.example" listed as a domain is found in URLs, senders and
 * HELO alike, and a URL entry never widens to its host. Entries that match more than one URL are
 * of classes of their own: url_folded and url_template, and url_expression and url_hash, which cost
 * so much that they are asked only when some list names the type (feature_url_expressions, ADR 13).
 * Threads: pure (libpsl's built-in list is constant).
 * Depends: text (host, url, urlkey, safebrowsing, address).
 */
#ifndef CORE_FEATURE_LOOKUP_H
#define CORE_FEATURE_LOOKUP_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/feature/feature.h"

enum { FEATURE_KEYS_MAX = 64, FEATURE_EXPRESSIONS_BYTES = 1024 * 1024 };

/* What is asked only where a list names the type: bits. */
enum {
    FEATURE_EXPRESSIONS = 1,      /* as keys of class url_expression */
    FEATURE_EXPRESSION_HASHES = 2 /* their SHA-256, as keys of class url_hash */
};
/* The bit of a class of entries; 0: it is asked of all lists. */
unsigned feature_expressions_bit(uint16_t class_type);

struct feature_key {
    uint16_t class_type; /* what the digest is made with */
    uint16_t
        report_type;   /* the feature type shown for a hit: from -> from_domain, ... */
    struct slice text; /* points into the feature's text or the scratch arena */
};

/* Writes at most FEATURE_KEYS_MAX keys, returns their number. Arena holds texts that must be
 * made (networks). */
size_t feature_keys(const struct feature *f, struct arena *scratch,
                    struct feature_key ret[FEATURE_KEYS_MAX]);

/* The Safe Browsing expressions of a feature of type url, of the kinds in `which`: path
 * prefixes of the host, and of its suffixes down to the registrable domain, private suffixes
 * included: a listing of one customer's folder on shared hosting finds nothing of another's. */
/* 0 for another type. Together with feature_keys of it at most FEATURE_KEYS_MAX, and scratch gives
 * less than FEATURE_EXPRESSIONS_BYTES. */
size_t feature_url_expressions(const struct feature *f, unsigned which,
                               struct arena *scratch,
                               struct feature_key ret[FEATURE_KEYS_MAX]);

/* One list entry, normalised. */
struct feature_entry {
    uint16_t class_type; /* domain, host, address, network, url, attachment, ... */
    struct slice text;
};

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
