/*
 * judged - how messages with a value were judged here, and what people called them.
 *
 * For each value of a type in count.judged_types the messages that gillnetd judged good and bad,
 * and those of a first contact. Beside them stand the people who called a counted value spam or good
 * (count_port.called): the reports that hold, of people whose word weighs. A value that they call
 * good, and that belongs to one message alone, has no bad ones. The counts are like all others: keys
 * of their own in the same buckets and runs, exact,
 * for 14 days, under kill -9 too. Their keys derive from the key of this node, which never leaves
 * it: peers can neither read nor raise them, and only counts of this server are ever used.
 * A message that is marked adds to its own values' numbers, so a rule that reads them could keep
 * itself alive. verdict_judgements prevents that: it judges without the score of such rules.
 * Example of a change: another number is one name in enum judgement and in judgement_name.
 * Depends: base, config, feature, message.h.   Threads: any.   Allocates: nothing.   ADR 0065.
 */
#ifndef CORE_COUNT_JUDGED_H
#define CORE_COUNT_JUDGED_H

#include "core/count/message.h"

enum judgement {
    JUDGED_GOOD,    /* delivered, far from a mark; see verdict_judgements */
    JUDGED_BAD,     /* marked, or worse */
    CALLED_SPAM,    /* by people; read from their reports, and not counted here */
    CALLED_GOOD,    /* by people: "this is no spam" */
    FIRST_CONTACTS, /* neither good nor bad: nobody here knew the sender */
    JUDGEMENTS
};
const char *judgement_name(unsigned kind); /* "good", "bad", "called_spam", ... */

enum {
    JUDGED_KEYS_MAX =
        64 /* values of one message that gillnetd judges; the first ones */
};

/* The digests under which one number of a key (count_digest) is counted. */
void judged_digest(const struct keyring *keys, const struct digest key[KEYRING_MAX],
                   enum judgement kind, struct digest ret[KEYRING_MAX]);

/* The exact numbers of one key in all windows. A number that the sketch denies costs no look at the
 * runs. */
struct judged {
    uint64_t n[COUNT_WINDOWS][JUDGEMENTS];
    bool is_partial; /* a run is damaged: the numbers may be too low */
};
void judged_exact(const struct count_port *port, const struct keyring *keys,
                  const struct digest key[KEYRING_MAX], struct judged *ret);
/* The same of one window, for a rule. Without counts all are 0. */
void judged_read(const struct message_counts *counts, const struct counted *c,
                 enum count_window w, uint64_t ret[JUDGEMENTS]);

/* Adds the message, as often as it was counted, to the numbers in kinds: 1U << JUDGED_BAD and so
 * on. Does nothing for a message that was only read. */
void judged_add(const struct config *config, const struct message_counts *counts,
                unsigned kinds);

#endif
