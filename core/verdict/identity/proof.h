/*
 * proof - whether Authentication-Results prove the domain of From.
 *
 * Anybody can write any From. A domain is proved by a DMARC pass for it, or by a good DKIM
 * signature of it or of a domain between it and its registrable domain. With several From domains
 * nothing is proved: nobody knows which one the results are about (RFC 7489, 6.6.1).
 * Threads: pure.   Allocates: nothing.   Source: RFC 7489 3.1 (alignment), RFC 8601.
 */
#ifndef CORE_VERDICT_IDENTITY_PROOF_H
#define CORE_VERDICT_IDENTITY_PROOF_H

#include "core/message/extract/extract.h"

/* Behind the last @; empty without one. */
struct slice proof_domain_of(struct slice address);
/* Whether domain, which stands in From, is proved. auth may be NULL. */
bool proof_covers(const struct featureset *features, const struct extract_auth *auth,
                  struct slice domain);
/* Whether SPF or DKIM passed for the registrable domain of From, or below it. */
bool proof_is_aligned(const struct featureset *features,
                      const struct extract_auth *auth);

#endif
