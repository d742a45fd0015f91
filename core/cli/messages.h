/*
 * messages - the messages of files, folders and standard input, one after the other, with the
 * features of each; for check and extract.
 *
 * A file is one message or a mailbox in mbox form (core/cli/mbox.h), a folder a Maildir or a tree
 * of such files. A link to a file in a folder is read. A link to a folder is followed only if it is
 * a path of the caller; those in folders are passed over, as are sockets and pipes, and a message
 * says how many. If nothing else was there, that is EX_NOINPUT. One arena for all, emptied between
 * messages; files are read in pieces. A file that cannot be read is reported and the others go on.
 * Threads: one.
 */
#ifndef CORE_CLI_MESSAGES_H
#define CORE_CLI_MESSAGES_H

#include "core/base/arena.h"
#include "core/cli/cli.h"
#include "core/learn/vector.h"
#include "core/list/listset.h"
#include "core/message/extract/extract.h"

/* The envelope that an MTA would give (NULL: unknown), and the lists. */
struct messages_envelope {
    const char *client; /* IP address */
    const char *helo;
    const char *from;
    struct cli_values rcpt;
    bool is_authenticated;
    uint8_t addr[16];           /* of client, by messages_each */
    bool keeps_names;           /* of the terms of message.vector */
    struct list_manager *lists; /* tested for features without room; NULL: none */
};

struct message {
    struct slice
        file; /* "-" for standard input; "FILE:2" for the second of a mailbox */
    struct featureset *features;
    const struct extract_auth *auth;
    const struct extract_conversation *conversation;
    const struct slice
        *rcpt; /* the envelope's in normal form, the first EXTRACT_RECIPIENTS */
    size_t nrcpt;
    const struct rule_text *text;       /* what rules found in its text */
    const struct vector *vector;        /* its terms, for the model; NULL: no memory */
    const struct vector_reader *reader; /* that read them, for their names */
    uint64_t bytes;
    uint64_t start_mono_us;
};

/* Returns an exit status, CLI_CLEAN, CLI_HIT or an error, which are combined: the highest wins. */
typedef int message_fn(void *context, struct arena *arena, const struct message *m);

/* Calls on_message for each message; the worst status of all. cli's configuration is loaded. */
int messages_each(struct cli *cli, struct messages_envelope *envelope, char **paths,
                  message_fn *on_message, void *context);

/* The same with the bytes of each message instead of its features; longer ones than
 * MESSAGES_RAW_MAX are reported and left out. */
enum { MESSAGES_RAW_MAX = 64 << 20 };
typedef int message_raw_fn(void *context, struct slice file, struct slice bytes);
int messages_each_raw(struct cli *cli, char **paths, message_raw_fn *on_message,
                      void *context);

/* The limits of extraction with the keys of fingerprints; without the digest key there are
 * none of them, and a message says so unless there is no key at all. */
void messages_limits(const struct cli *cli, struct extract_limits *ret);

#endif
