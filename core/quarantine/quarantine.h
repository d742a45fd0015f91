/*
 * quarantine - mail that the MTA holds for gillnet, and the digests for its recipients.
 *
 * Two rooms. `quarantine` knows no MTA: rows of held messages (held), digests (held_digest), links
 * (held_link). `queue` (core/quarantine/queue/queue.h) runs the programs of Postfix or Sendmail and
 * is the program gillnet-queue, to which the hub speaks, because it has no right to the queue.
 *
 * A request is a line "list", "show ID", "release ID" or "delete ID". The answer is a line "ok" or
 * "error WHY", then for list one JSON object a line, for show the message with LF line ends.
 * Example of a change: a new member of a row is a field of struct held, a line in held_json, and
 * its reader in postfix_held.c or sendmail_held.c.
 * Depends: base, config, text, feature.   Threads: one object, one thread.   ADR 0072.
 */
#ifndef CORE_QUARANTINE_QUARANTINE_H
#define CORE_QUARANTINE_QUARANTINE_H

#include "core/base/slice.h"

enum {
    QUARANTINE_LINE_MAX = 64,            /* of a request */
    QUARANTINE_LIST_BYTES = 32 << 20,    /* of an answer to list */
    QUARANTINE_MESSAGE_BYTES = 64 << 20, /* of a message that is shown */
    QUARANTINE_ID_MIN = 5,               /* letters and digits of a queue id */
    QUARANTINE_ID_MAX = 32,
};

/* Whether s may be a queue id of one of the two MTAs: ASCII letters and digits. So it is no option,
 * and too long for the word ALL of postsuper. */
bool quarantine_is_id(struct slice s);

#endif
