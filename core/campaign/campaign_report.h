/*
 * campaign_report - the report about a whole campaign, and the votes on its keys.
 *
 * A report about a campaign votes on the keys of its texts and attachments that at least two of its
 * messages had, so its effect is that of a report about each message: the next copy has it, and
 * `gillnet report undo` ends it. Nothing about it is kept with the campaign.
 * Depends: report.   Threads: any.   Allocates: the list of campaigns, for the call.
 */
#ifndef CORE_CAMPAIGN_CAMPAIGN_REPORT_H
#define CORE_CAMPAIGN_CAMPAIGN_REPORT_H

#include "core/campaign/campaign_read.h"
#include "core/report/votes.h"

/* Adds the items of the campaign with this id, as text, to ret. ERR_NOT_FOUND: there is none.
 * ERR_UNSUPPORTED: it is one by its links or HTML alone, on which no report votes. */
enum err campaign_add_items(const char *state_dir, struct slice id, struct report *ret,
                            struct errinfo *reterr);

/* The opinion of the votes about the campaign at that time. */
void campaign_judge(struct votes *v, const struct campaign *c, uint64_t now_s,
                    struct votes_opinion *ret);

#endif
