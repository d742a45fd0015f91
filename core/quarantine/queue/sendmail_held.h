/*
 * sendmail_held - Sendmail's queue file hf..., the envelope of a quarantined message.
 *
 * Source: Sendmail Installation and Operation Guide, appendix B ("Queue file format").
 * Depends: base, quarantine.   Threads: pure.   Allocates: from the arena.
 */
#ifndef CORE_QUARANTINE_QUEUE_SENDMAIL_HELD_H
#define CORE_QUARANTINE_QUEUE_SENDMAIL_HELD_H

#include "core/base/buf.h"
#include "core/quarantine/held.h"

/* Reads the whole file; the header's values too. False: the message is not
 * quarantined. The caller sets id and bytes. */
bool sendmail_held_read(struct slice file, struct held *ret, struct arena *arena);

/* Appends the header fields of the message, without those that Sendmail adds only for some
 * mailers ("H?P?Return-Path"). */
void sendmail_held_header(struct slice file, struct buf *ret);

/* The folder of the df file, if the hf file names another one than its own ("d" line). */
struct slice sendmail_held_data_folder(struct slice file);

#endif
