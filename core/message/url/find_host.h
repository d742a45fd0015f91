/*
 * find_host - which words with dots are hosts, when no scheme says so.
 *
 * Known suffixes: the public suffix list without its rule for unknown ones (libpsl). A name is
 * doubtful when its top level is a word or a suffix of files ("sign.in", "main.cf",
 * "java.security") and its public suffix has no second label ("x.co.in", "x.github.io" are sure).
 * Threads: any.   Allocates: nothing but the list, once.
 */
#ifndef CORE_MESSAGE_URL_FIND_HOST_H
#define CORE_MESSAGE_URL_FIND_HOST_H

#include "core/base/slice.h"

enum find_host {
    FIND_HOST_NONE,
    FIND_HOST_DOUBTFUL, /* more often a file, an abbreviation or two words: without a path, a
                           query or "www." no client makes a link of it */
    FIND_HOST_SURE
};

/* name: UTF-8, dots as '.', case as it stands, no empty label. */
enum find_host find_host_check(struct slice name);
/* The name has a known suffix and a label before it; its letters' case does not matter. */
bool find_host_has_suffix(struct slice name);
/* It has a known suffix, but its registrable label begins or ends in a hyphen, so that no registry
 * can have registered it. */
bool find_host_is_impossible(struct slice name);
/* Whether text itself is a known top level ("com", in any script). */
bool find_host_is_top(struct slice text);

#endif
