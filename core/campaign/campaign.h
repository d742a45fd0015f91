/*
 * campaign - near replicas, link sets and templates that move together, each with a sample.
 *
 * gillnetd gives each incoming message that it judged to campaigns_add. The message's keys
 * (campaign_evidence.h) are looked up in a table of keys, each of which belongs to one campaign and
 * has a weight. The message joins the campaign with the highest sum if that reaches CAMPAIGN_JOIN,
 * otherwise it begins one. A campaign of one message is not shown. Purity comes before
 * completeness:
 *  - campaigns never merge, and a key never changes its campaign. A message with keys of two
 *    campaigns joins one of them, and its keys of the other count as seen with strangers;
 *  - a key seen with strangers often (boilerplate, links of a giant) no longer counts;
 *  - a key that few messages of its campaign have counts half.
 * Everything is in one mapped file of a fixed size below 8 MiB. A new message may end a campaign of
 * one message, and never a shown one. Of too many shown campaigns the small and old ones end first.
 * After CAMPAIGN_DAYS without a message a campaign ends. kill -9 loses nothing; a stop of the
 * machine loses what the system had not written, at most half a minute.
 * Files in reading order: campaign_evidence (keys of a message), campaign_page (the file),
 * distinct, keys, slots, campaign (gillnetd's side), campaign_read (everybody's side),
 * campaign_report (votes), campaign_json.
 * Example of a change: another kind of key is a row of the table in campaign_evidence.c.
 * Depends: base, config, feature, count, report.   Threads: any.   Owns: the mapping.   ADR 0073.
 */
#ifndef CORE_CAMPAIGN_CAMPAIGN_H
#define CORE_CAMPAIGN_CAMPAIGN_H

#include "core/count/message.h"

#define CAMPAIGNS_DIR "campaigns"

enum {
    CAMPAIGNS_MAX = 8192, /* shown; there is room for as many others of one message */
    CAMPAIGN_DAYS = 14,
    CAMPAIGN_SUBJECT_MAX = 80, /* bytes of the sample */
    CAMPAIGN_SENDER_MAX = 60
};

struct campaigns;
/* The caller keeps keys. ERR_LOCKED: another process has them; campaigns_add tries again later, as
 * after any other failure. NULL only for ERR_NOMEM. */
enum err campaigns_open(const char *state_dir, const struct keyring *keys,
                        struct campaigns **ret, struct errinfo *reterr);
void campaigns_close(struct campaigns **c); /* accepts NULL */

/* A judged message. */
struct campaign_message {
    const struct config *config;
    const struct featureset *features;
    const struct message_counts *counts; /* with the digests; NULL: not counted */
    enum action action;                  /* that it got */
    double score;
    uint64_t now_s; /* Unix time */
};
/* Adds the message to its campaign, whose id it returns; 0: it is in none. Accepts NULL, as do all
 * below. */
uint64_t campaigns_add(struct campaigns *c, const struct campaign_message *m);
/* Ends campaigns and keys that are too old, a few with each call: all within an hour of calls every
 * second. */
void campaigns_tick(struct campaigns *c, uint64_t now_s);
/* Campaigns that are shown. */
uint64_t campaigns_count(struct campaigns *c);

#endif
