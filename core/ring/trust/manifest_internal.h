/*
 * manifest_internal - the body of a manifest as JSON; private to manifest.
 *
 * Depends: base, jansson.   Threads: any.   Owns: nothing.
 */
#ifndef CORE_RING_TRUST_MANIFEST_INTERNAL_H
#define CORE_RING_TRUST_MANIFEST_INTERNAL_H

#include "core/ring/trust/manifest.h"

/* Form and bounds of one line of JSON, and what must be unique. m is empty; after a failure manifest_fini is due. */
enum err manifest_body_parse(struct slice body, struct manifest *m,
                             struct errinfo *reterr);
void manifest_body_print(const struct manifest *m, struct buf *ret);

#endif
