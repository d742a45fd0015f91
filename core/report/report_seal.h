/*
 * report_seal - proof that a request about reports comes from a holder of the keys.
 *
 * Every member of the group may connect to gillnetd's control socket, and in its namespace gillnetd
 * sees no other users than root and its own. The hub, which speaks for the clients of the API, proves
 * itself by a keyed digest of request and message: only the administrator, gillnetd and the hub can
 * read the keys. Others speak under names that cannot be confused with those.
 * Depends: base, telemetry.   Threads: pure.   ADR 0071.
 */
#ifndef CORE_REPORT_REPORT_SEAL_H
#define CORE_REPORT_REPORT_SEAL_H

#include "core/base/keyring.h"
#include "core/telemetry/scan_request.h"

enum { REPORT_SEAL_HEX = 2 * DIGEST_BYTES };

/* The seal of a request without one, as hexadecimal digits. False: no memory. */
bool report_seal(const struct keyring *keys, const struct scan_request *request,
                 struct slice body, char ret[REPORT_SEAL_HEX + 1]);
/* Whether the seal of the request is right. */
bool report_is_sealed(const struct keyring *keys, const struct scan_request *request,
                      struct slice body);

#endif
