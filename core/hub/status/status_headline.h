/*
 * status_headline - the headline of this server, from gillnetd's pages and from the board.
 *
 * Depends: base, summary.   Threads: any.   ADR 0087.
 */
#ifndef CORE_HUB_STATUS_STATUS_HEADLINE_H
#define CORE_HUB_STATUS_STATUS_HEADLINE_H

#include "core/hub/status/status_board.h"
#include "core/summary/headline.h"

void status_headline(struct status_board *b, const char *state_dir, uint64_t now_s,
                     struct headline *ret);

#endif
