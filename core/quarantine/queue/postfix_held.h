/*
 * postfix_held - the output of postqueue -j and postcat -qeh as held messages.
 *
 * Depends: base, quarantine.   Threads: pure.   Allocates: from the arena.
 */
#ifndef CORE_QUARANTINE_QUEUE_POSTFIX_HELD_H
#define CORE_QUARANTINE_QUEUE_POSTFIX_HELD_H

#include "core/quarantine/held.h"

/* A line of postqueue -j. False: it is no message in the queue "hold". */
bool postfix_held_read(struct slice line, struct held *ret, struct arena *arena);

/* Cuts the next message off the output of postcat -qeh. False: there is none. *retid: its queue
 * id, empty if it is in another queue than "hold". */
bool postfix_next_header(struct slice *output, struct slice *retid,
                         struct slice *retheader);

#endif
