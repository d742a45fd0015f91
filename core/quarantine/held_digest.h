/*
 * held_digest - the mail that tells a recipient which messages are held.
 *
 * A template is text. Its first line is the subject, "Subject: ...", then comes an empty line, then
 * the body. The lines between "{each}" and "{end}" are repeated for each message. Names in braces
 * stand for values: {recipient}, {count} ("1 message"), {page}, which is a link, and of each
 * message {time}, {from}, {sender}, {subject}, {bytes}, {score}, {case}, {id}, {release} and
 * {spam}, which are links. A line with a link that is not there is left out.
 * Values of a message are decoded, shown with codes for invisible characters, and their URLs are
 * broken, so that no program makes links of them. The mail is ASCII: quoted-printable and RFC 2047.
 * Depends: base, text.   Threads: pure.   Allocates: nothing that stays.
 * Source: RFC 5322, 2045, 2047, 3834.   ADR 0072.
 */
#ifndef CORE_QUARANTINE_HELD_DIGEST_H
#define CORE_QUARANTINE_HELD_DIGEST_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    HELD_DIGEST_MAX = 4 << 20,
    HELD_DIGEST_ROWS = 500,
    HELD_TEMPLATE_MAX = 256 * 1024
};

struct held_digest {
    struct slice template;
    const char *from;      /* address of the sender */
    const char *host;      /* of the Message-ID */
    const char *recipient; /* held_digest_takes */
    const char *page_url;  /* of the recipient's own page; NULL: none */
    const json_t *rows;    /* as held.h, and the members "release_url" and "spam_url" */
    uint64_t now_s;
};

/* The template that is built in: conf/digest.txt. */
struct slice held_digest_template(void);
/* ERR_SYNTAX: the template has no subject line, an unknown name, or "{each}" without "{end}". */
enum err held_digest_check(struct slice template, struct errinfo *reterr);
/* Whether the address may stand in a header field and on a command line: printable ASCII without
 * blanks, quotes, brackets and commas, one "@", no "-" at its beginning. */
bool held_digest_takes(const char *address);
/* Appends the mail with LF line ends. The template is checked. */
void held_digest_print(const struct held_digest *d, struct buf *ret);

#endif
