/*
 * emergency - many more URL checks than usual: what gillnetd then does otherwise.
 *
 * Every EMERGENCY_SAMPLE_S seconds the rate of URL checks of mail, scans and the hub's API is
 * compared with the mean of seven days (emergency_meter.h: when the mode begins and ends). Lists
 * are looked up as always, and every hit is confirmed as always: the mode changes no look-up, so
 * nothing that is listed passes while it begins, lasts or ends. Only what cannot be confirmed (the
 * index is damaged, the deadline passed) counts with emergency.unverified. While it is on,
 *  - rules with emergency = true hold too (conf/rules.d/emergency.conf has patterns of links);
 *  - domains below which many URLs are confirmed count as listed for a while (escalation.h);
 *  - work that no verdict needs is left out (emergency_sheds): samples for the ham log, the most
 *    frequent keys and symbols of the history page, learning of boilerplate.
 * State and mean are in a file, written at each sample without a sync: kill -9 loses 10 s at most.
 * Files in reading order: emergency (what the others call), emergency_meter (when), escalation.
 * Example of a change: other work to shed is a call of emergency_sheds where it is done.
 * Depends: config, url, feature, list, verdict.   Threads: any.   Owns: the file.   ADR 0068.
 */
#ifndef CORE_VERDICT_EMERGENCY_EMERGENCY_H
#define CORE_VERDICT_EMERGENCY_EMERGENCY_H

#include "core/base/buf.h"
#include "core/verdict/verdict.h"

/* State and mean, in the state folder. */
#define STATE_EMERGENCY_FILE "counts/gillnetd.emergency"

struct emergency;
/* Goes on where the last process stopped. A file that is missing, damaged or cannot be written
 * costs the mean and nothing else. NULL: no memory. */
struct emergency *emergency_new(const char *state_dir);
void emergency_free(struct emergency **e); /* accepts NULL */

/* All of them accept NULL: then the mode is never on. */

/* checks: URL checks since the process began, or any counter that rises. To be called at least once
 * a second; samples when it is time. */
void emergency_tick(struct emergency *e, const struct config *config, uint64_t checks,
                    uint64_t now_s);
bool emergency_is_on(const struct emergency *e);
/* True while the mode is on; counts what was left out. */
bool emergency_sheds(const struct emergency *e);

/* The mode is on, and emergency.unverified lets hits count that cannot be confirmed. */
bool emergency_trusts_filters(const struct emergency *e, const struct config *config);

/* After the look-up of a message. */
void emergency_note(struct emergency *e, const struct config *config,
                    const struct featureset *features, const struct listset *lists,
                    const struct list_hits *hits, uint64_t now_s);
/* Adds ESCALATED if a URL of the message is below an escalated domain. context is the struct
 * emergency; a verdict_evidence_fn. */
void emergency_add_symbols(void *context, const struct config *config,
                           const struct featureset *features, struct arena *arena,
                           struct verdict *v);

/* Ends the entry of an escalated domain. False: there is none. */
bool emergency_drop(struct emergency *e, struct slice domain);
/* One JSON object a line for each escalated domain: {domain, urls, list, category, from_s,
 * until_s}. */
void emergency_print(struct emergency *e, uint64_t now_s, struct buf *ret);

#endif
