/*
 * mailer_trait - whether a message can be of the mail program that it names.
 *
 * A table gives, for programs that always do the same, the beginnings of their boundaries, the form
 * of their Message-IDs, and a field that they always write.
 * Threads: pure.   Allocates: nothing.   Source: mail of these programs, 2002 to 2025.
 */
#ifndef CORE_MESSAGE_TRAIT_MAILER_TRAIT_H
#define CORE_MESSAGE_TRAIT_MAILER_TRAIT_H

#include "core/message/trait/trait.h"

struct mailer_facts {
    struct slice mailer;     /* the first X-Mailer or User-Agent; empty: none */
    struct slice message_id; /* field; empty: none */
    struct slice boundary;   /* of the message itself; empty: it is no multipart */
    bool has_mimeole;        /* a field X-MimeOLE */
    bool is_of_list; /* a mailing list may have put the message into a new multipart */
};

void mailer_traits(const struct mailer_facts *facts, struct traits *ret);

#endif
