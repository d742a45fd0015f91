/*
 * allow - clients and senders that are accepted although a list names them; for this room and user.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_VERDICT_ALLOW_H
#define CORE_VERDICT_ALLOW_H

#include "core/verdict/verdict.h"

/* One message and the facts about it. */
struct allow_case {
    const struct config *config;
    const struct featureset *features;
    const struct verdict_context *context;
};

/* The rule of the configuration that lets the message through ("network", "login", "address",
 * "domain"), or NULL. *retvalue: the value that decided; empty for a login. */
const char *allow_by_config(const struct allow_case *c, struct slice *retvalue);

/* Whether From or the envelope sender is this address, or lies at or below this domain; with proof,
 * if it is needed. ASCII case does not matter. *retvalue: the sender. */
bool allow_has_sender(const struct allow_case *c, struct slice value, bool is_domain,
                      bool needs_proof, struct slice *retvalue);

/* A sender that allow.addresses or allow.domains names while nothing proves it; empty: none. */
struct slice allow_unproved(const struct allow_case *c);

/* Whether DMARC or DKIM proved the From domain, which *ret is; a network or a login proves none. */
bool allow_proved_from(const struct allow_case *c, struct slice *ret);

/* Whether a confirmed hit on an allow list lets the message through: of the client's address
 * always, of the sender's address or domain when the sender is authenticated. */
bool allow_by_hit(const struct allow_case *c, const struct list_hit *hit);

/* Whether an allow list hit of this type only takes its value from the other lists. */
bool allow_is_exemption(uint16_t report_type);

#endif
