/*
 * service - the state that all sessions share: the configuration in force, the lists, the arenas,
 * the numbers of sessions and messages, and the gate for an orderly end of the daemon.
 *
 * libmilter's callbacks get no argument of gillnet except the session, so there is one service per
 * process. It also keeps every session in a list: libmilter frees its contexts at the end
 * without telling us (xxfi_close is not called), and sessions that wait must be freed too.
 * Threads: any, after service_init.   Owns: one reference of the configuration in force.
 */
#ifndef MILTER_SERVICE_H
#define MILTER_SERVICE_H

#include "core/base/keyring.h"
#include "core/campaign/campaign.h"
#include "core/config/config.h"
#include "core/count/count.h"
#include "core/list/rating_input.h"
#include "core/message/extract/fingerprint.h"
#include "core/verdict/embargo/embargo.h"
#include "core/verdict/emergency/emergency.h"
#include "core/verdict/user/user_table.h"

#include "milter/session.h"

/* Takes config, borrows lists. is_inet: the socket is reached over TCP. Connections above
 * max_sessions are accepted unexamined. */
void service_init(struct config *config, struct list_manager *lists, bool is_inet,
                  unsigned max_sessions);
/* After service_close_gate: ends the messages of the sessions that are left and drops the
 * configuration. The sessions themselves stay in memory until the process ends: a callback that
 * came too late may be about to look at one. */
void service_fini(void);

/* ---- configuration ---- */

/* One reference to the configuration in force, and how many were in force before it. */
struct config *service_config(uint64_t *retgeneration);
/* Takes fresh; from now on new messages get it. */
void service_set_config(struct config *fresh);

/* Before the first message: sets the key from which those of fingerprints are derived. NULL: no
 * fingerprint that needs a key is made. */
void service_set_digest_key(const struct hashkey *ring);
/* Before the first message: guard learns the boilerplate of texts, which their fingerprints leave
 * out. Kept until the process ends; NULL: no text is boilerplate. */
void service_set_boilerplate(struct boilerplate *guard);
/* The present options of fingerprints. */
void service_imprint(struct fingerprint_options *ret);

/* Before the first message: the counts that messages add to, and the keys of their digests; NULL:
 * nothing is counted. The caller keeps both. */
void service_set_counts(const struct count_port *port, const struct keyring *keys);
const struct count_port *service_counts(const struct keyring **retkeys);

/* Before the first message: the settings of users; NULL: only those of the configuration.
 * Borrowed. */
void service_set_users(struct users *users);
struct users *service_users(void);

/* Before the first message: the counters of look-up results; NULL: they are not counted.
 * Borrowed. */
void service_set_hits(struct lookup_stats *hits);
/* The facts of the lists under config that ratings need. */
void service_voices(const struct config *config, struct rating_sources *ret);

/* Before the first message: the store of correspondents and the numbers of logins; NULL: none.
 * Borrowed. */
struct accounts;
struct contacts;
void service_set_contacts(struct contacts *contacts, struct accounts *accounts);
struct contacts *service_contacts(void);
struct accounts *service_accounts(void);
/* Before the first message: the memory of first contacts; NULL: nobody is embargoed. Borrowed. */
void service_set_embargo(struct embargo *embargo);
struct embargo *service_embargo(void);

/* Before the first message: the campaigns; NULL: messages are not grouped. Borrowed. */
void service_set_campaigns(struct campaigns *campaigns);
struct campaigns *service_campaigns(void);

/* Before the first message: emergency mode; NULL: it is never on. Borrowed. */
void service_set_emergency(struct emergency *emergency);
struct emergency *service_emergency(void);

/* Before the first message: the reports of people, and the keys of their digests; NULL: none can be
 * had. Borrowed. */
struct reports;
void service_set_reports(struct reports *reports, const struct keyring *keys);
struct reports *service_reports(const struct keyring **retkeys);

struct list_manager *service_lists(void);
bool service_is_inet(void);

/* ---- sessions ---- */

/* Enters s among the open sessions. False: there are already as many as may be; s is entered
 * nevertheless, and its messages are not to be examined. */
bool service_add_session(struct session *s);
void service_remove_session(struct session *s);
size_t service_sessions(void);

/* Protocol options of the last negotiation, for a session that an MTA continues with a new client
 * (QUIT_NC) and without a negotiation. */
void service_set_options(const struct session_options *options);
void service_get_options(struct session_options *ret);

/* ---- messages in flight ---- */

/* Returns the epoch to hand back: messages that begin after the stop began are counted
 * apart. */
unsigned service_begin_message(void);
void service_end_message(unsigned epoch);
size_t service_messages(void);

/* ---- the end ---- */

/* Waits until no session is open, at most timeout_us or until is_urgent. */
void service_await_sessions(uint64_t timeout_us, bool (*is_urgent)(void));
/* Waits at most timeout_us for the messages in flight now, then a moment longer for those that
 * began meanwhile. Calls is_urgent every few milliseconds, and ends the wait when it is true.
 * False: some messages are left. */
bool service_drain(uint64_t timeout_us, bool (*is_urgent)(void));
/* From now on no callback gets past its first line (it waits for the end of the process).
 * Returns when no callback runs, or after timeout_us. False: some still run. */
bool service_close_gate(uint64_t timeout_us);
/* Where a callback goes that came too late: it never returns. */
_Noreturn void service_wait_for_end(void);
/* After service_close_gate: calls fn with the libmilter context of every session that is left. */
void service_each_context(void (*fn)(void *ctx));

#endif
