/*
 * mail_date - the date of a Date or Received field.
 *
 * Threads: pure.   Allocates: nothing.   Source: RFC 5322, 3.3 and 4.3.
 */
#ifndef CORE_MESSAGE_TRAIT_MAIL_DATE_H
#define CORE_MESSAGE_TRAIT_MAIL_DATE_H

#include "core/base/slice.h"

struct mail_date {
    int64_t unix_time;
    bool
        is_exact; /* as RFC 5322 wants it, obsolete forms and comments too; the day of the week
                    * fits, if there is one */
};

/* "Fri, 21 Nov 1997 09:55:06 -0600"; lenient. False: no date. */
bool mail_date_parse(struct slice text, struct mail_date *ret);

/* The part of a Received field behind its last ';'. */
struct slice mail_date_of_received(struct slice value);

#endif
