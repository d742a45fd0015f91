/*
 * suffix - the public suffix list, with the answers about names that come often kept at hand.
 *
 * Names are in the list's form: lower case, A-labels, no dot at either end. The list is libpsl's:
 * the distribution's file where it is newer than the library. An answer costs libpsl 1 to 2 us,
 * and the hosts of a message come many times: answers are kept in a table of the process, each
 * under 64 bits of a hash keyed per process.
 * Threads: any.   Allocates: nothing but the list, once.
 */
#ifndef CORE_MESSAGE_URL_SUFFIX_H
#define CORE_MESSAGE_URL_SUFFIX_H

#include "core/base/slice.h"

enum { SUFFIX_NAME_MAX = 253 /* bytes; a longer name has no suffix */ };

/* Bytes of the registrable domain at the end of name, the list's private section included; 0 for
 * public suffixes and single labels. */
size_t suffix_registrable(struct slice name);
/* The same by the section of the registries alone, and only where the list names the suffix or
 * one label more ("co.ck"). The label before the suffix may be anything, even empty. */
size_t suffix_registered(struct slice name);
/* By both sections and the rule for unknown top levels. A name that the list has only as "*.NAME"
 * is one here, because all below it are of different owners, and registrable above, by the list's
 * own algorithm. */
bool suffix_is_public(struct slice name);
/* The list names this top level. */
bool suffix_is_top(struct slice label);

/* Takes the list in a file in place of the distribution's; false, and nothing changes, when it
 * cannot be read. For tests of other lists: no other thread may use this module then. */
bool suffix_load(const char *path);

#endif
