/*
 * identity - the sender of a message, and its proofs.
 *
 * The words are one table, identity.def. A word that is absent says nothing: without results of a
 * trusted server a message has neither dmarc_pass nor dmarc_fail.
 * Files in reading order: proof (the domain of From, by Authentication-Results), contacts (the
 * store of correspondents), identity (the words).
 * Example of a change: a new word is a row of identity.def and a line of identity_make;
 * gillnet(1) and gillnet.conf(5) list the words.
 * Depends: base, url, feature, extract, count, filter, store.   Threads: any; the store has a lock.
 * Allocates: nothing.   ADR 0062.
 */
#ifndef CORE_VERDICT_IDENTITY_IDENTITY_H
#define CORE_VERDICT_IDENTITY_IDENTITY_H

#include "core/count/message.h"
#include "core/message/extract/extract.h"
#include "core/verdict/identity/contacts.h"

enum identity_word {
#define IDENTITY(name, help) IDENTITY_##name,
#include "core/verdict/identity/identity.def"
#undef IDENTITY
    IDENTITY_WORDS
};

struct identity {
    uint64_t words;      /* a bit for each enum identity_word */
    struct slice domain; /* organisational domain of From that is proved; empty: none */
};

static inline bool identity_has(const struct identity *i, enum identity_word word)
{
    return i != NULL && (i->words >> word & 1) != 0;
}

/* All facts about one message. */
struct identity_case {
    const struct featureset *features;
    const struct extract_auth *auth;
    const struct extract_conversation *conversation;
    const struct message_counts *counts; /* NULL: none */
    struct contacts *contacts;           /* NULL: no store */
    const struct slice *rcpt;            /* envelope recipients in normal form */
    size_t nrcpt;
    bool has_empty_sender; /* the envelope says <> */
};
void identity_make(const struct identity_case *c, struct identity *ret);

/* "proved"; NULL beyond the table. */
const char *identity_name(unsigned word);

/* Learns from a message from outside that was accepted without a mark: its sender's domain, and the
 * address of a mailing list that proves its own domain. */
void identity_learn(const struct identity_case *c);

#endif
