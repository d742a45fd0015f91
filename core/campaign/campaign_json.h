/*
 * campaign_json - a campaign as a JSON object, for the command and the API.
 *
 * {id, first, last, messages, networks, senders, accepted, marked, held, refused, score, sender,
 * subject, picture {step_s, messages}, standing, reported_spam, reported_ham}; times are Unix
 * seconds. The picture has the messages of equal times from the first one on (picture.h). Texts
 * that are not kept or not to be shown are null.
 * Threads: pure.   Allocates: the object.
 */
#ifndef CORE_CAMPAIGN_CAMPAIGN_JSON_H
#define CORE_CAMPAIGN_CAMPAIGN_JSON_H

#include <jansson.h>

#include "core/campaign/campaign_report.h"
#include "core/config/config.h"

/* The texts as the configuration allows them now: it may have allowed more when they were kept. */
struct slice campaign_subject(const struct campaign *c, const struct config *config);
struct slice campaign_sender(const struct campaign *c, const struct config *config);

/* votes NULL: they are not known, and the last three are null. NULL: no memory. */
json_t *campaign_json(const struct campaign *c, const struct config *config,
                      struct votes *votes);

/* The keys: [{type, digest, messages}], those that most messages have first. */
json_t *campaign_keys_json(const struct campaign *c);

#endif
