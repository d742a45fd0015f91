/*
 * outgoing - mail of logins and trusted networks: counted apart, learnt from, never judged or
 * marked.
 *
 * Its features are counted under the prefix OUTGOING_PREFIX. Its recipients become correspondents,
 * unless the message is automatic, of a list, or of a login that is held; recipients in the
 * sender's own domain, or in `protected`, do not. Recipients that the sender's domain never wrote
 * to are the strangers of the login (core/verdict/account/account.h).
 * Threads: the callback's; outgoing_tick in the thread of the store.   ADR 0062, 0063.
 */
#ifndef MILTER_OUTGOING_H
#define MILTER_OUTGOING_H

#include "core/verdict/identity/identity.h"

#include "milter/reply.h"
#include "milter/session.h"

#define OUTGOING_PREFIX "out"

/* The end of an outgoing message. When it returns, all that it learnt survives kill -9. */
enum outgoing_answer outgoing_learn(struct message *m);
/* A message from outside was judged: its sender is learnt if it was accepted without a mark, and a
 * bounce counts for the login that it came back to. */
void outgoing_note_answer(const struct identity_case *c, bool is_clean);
/* Whether the envelope sender is empty. */
bool message_is_bounce(const struct message *m);

/* Opens the store and the numbers of logins in the state folder, and gives them to the service.
 * A store that cannot be opened is logged and becomes a fault; then nothing is learnt. */
void outgoing_open(const struct config *config, const struct keyring *keys);
/* After the last callback. */
void outgoing_close(void);

#endif
