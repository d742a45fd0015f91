/*
 * escalation - domains that count as listed for a while, because many URLs below them are.
 *
 * A domain is escalated when emergency.escalate different URLs below it, each confirmed by a list
 * of this server, came within emergency.escalate_window. It is a registrable domain of which the
 * feature url_domain tells; a public suffix, of either section, is none. Never escalated are major
 * domains and shared hosts (core/message/url/known_name.h), protected domains and allow.domains.
 * Only memory holds the entries; each has its provenance and its end.
 * Private to this room.   Threads: one at a time.   Owns: its tables.
 */
#ifndef CORE_VERDICT_EMERGENCY_ESCALATION_H
#define CORE_VERDICT_EMERGENCY_ESCALATION_H

#include "core/config/config.h"
#include "core/list/listset.h"
#include "core/message/feature/feature.h"
#include "core/message/url/suffix.h"

enum {
    ESCALATION_URLS_MAX =
        64, /* that are remembered of a domain: most of emergency.escalate */
    ESCALATION_WATCHED_MAX = 1024,
    ESCALATION_DOMAINS_MAX = 256
};

struct escalated {
    char domain[SUFFIX_NAME_MAX + 1];
    char list[40];     /* that confirmed the last of its URLs */
    char category[40]; /* of that list */
    unsigned nurls;    /* different ones */
    uint64_t from_s;   /* Unix time */
    uint64_t until_s;
};

struct escalation;
struct escalation *escalation_new(void); /* NULL: no memory */
void escalation_free(struct escalation **e);

struct escalation_case {
    const struct config *config;
    const struct featureset *features;
    const struct listset *lists;
    const struct list_hits *hits;
    uint64_t now_s;
};
/* Takes note of the confirmed URLs of a message. Calls on_new for each domain that is escalated. */
typedef void escalation_fn(const struct escalated *domain);
void escalation_note(struct escalation *e, const struct escalation_case *c,
                     escalation_fn *on_new);
/* The entry of a domain, or NULL. */
const struct escalated *escalation_find(const struct escalation *e, struct slice domain,
                                        uint64_t now_s);
/* Ends an entry; false: there is none. */
bool escalation_drop(struct escalation *e, struct slice domain);
/* The number of entries; fills at most `most` places of at. */
size_t escalation_list(const struct escalation *e, uint64_t now_s,
                       const struct escalated **at, size_t most);

#endif
