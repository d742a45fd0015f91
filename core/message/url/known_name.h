/*
 * known_name - the shipped tables of major domains, shared hosts and link shorteners.
 *
 * What is listed or escalated is never one of these whole: a major domain (major_domain.def) that a
 * list names is a mistake, and a host that many strangers share (hosting.def, shortener.def) is
 * listed by its pages or its customers' names.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_URL_KNOWN_NAME_H
#define CORE_MESSAGE_URL_KNOWN_NAME_H

#include "core/base/slice.h"

enum known_name { KNOWN_NAME_NONE, KNOWN_NAME_MAJOR, KNOWN_NAME_SHARED };
/* The kind of a whole host (not of a page there) in the tables. */
enum known_name known_name_kind(struct slice host);

/* Whether the host is a name of the tables or below one. */
bool known_name_is_below(struct slice host);

/* Rows of one of the tables (core/base/word_table.h), and how many; 0: no such table. */
size_t known_name_rows(size_t table, const struct slice **ret);

#endif
