/*
 * milters - the milters beside gillnetd, and its place among them.
 *
 * gillnetd belongs behind the milters that write Authentication-Results, because it trusts their
 * results, and in front of rspamd, which can weigh gillnetd's header fields.
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_MILTERS_H
#define CORE_CLI_MILTERS_H

#include "core/base/buf.h"
#include "core/cli/socket_name.h"

enum { MILTERS_MAX = 32, MILTERS_TEXT = 512, MILTERS_NAME = 256 };

/* A milter that gillnet knows. */
struct milter_kind {
    const char *name; /* "OpenDKIM" */
    const char *word; /* in the path of its socket, or its name in sendmail.mc */
    const char *conf; /* its configuration below /etc, or NULL */
    const char *port; /* where it listens by default */
    bool proves;      /* writes Authentication-Results */
    bool reads;       /* can weigh gillnetd's header fields */
};

/* The kind of the milter at that socket; NULL: unknown. etc: "/etc". folder: before a relative
 * path; path_is_inside: absolute paths begin there, too. */
const struct milter_kind *milter_kind_at(const struct socket_name *theirs,
                                         const char *etc, const char *folder,
                                         bool path_is_inside);
/* By a name such as "opendkim". */
const struct milter_kind *milter_kind_named(struct slice name);

/* The rest of the first line of sendmail.cf that begins so; SLICE_NONE: there is none. */
struct slice sendmail_cf_value(struct slice cf, const char *begin);

/* The milters of one list, in order. */
struct milter_chain {
    size_t n;
    struct milter_chain_link {
        char text[MILTERS_TEXT]; /* as it stands in the list */
        const struct milter_kind *kind;
        bool is_ours;
    } v[MILTERS_MAX];
};

/* Adds one; false: no room. */
bool milter_chain_add(struct milter_chain *c, struct slice text,
                      const struct milter_kind *kind, bool is_ours);
/* Puts ours (text, where there is none) in its place. Whether that changed the order. */
bool milter_chain_place(struct milter_chain *c, const char *text);
/* Prints "OpenDKIM, OpenDMARC, gillnetd, rspamd", an unknown milter by its text, "none" for an
 * empty chain. */
void milter_chain_print(const struct milter_chain *c, struct buf *ret);

/* The names that the milters of the chain write into Authentication-Results, each once, at most
 * max: AuthservID of their configuration below etc, or the MTA's own name. */
size_t milter_chain_authservs(const struct milter_chain *c, const char *etc,
                              const char *mta_name, char (*ret)[MILTERS_NAME],
                              size_t max);

#endif
