/*
 * leaf - inside of core/message/extract: facts about a leaf, and what is noted of its bytes.
 */
#ifndef CORE_MESSAGE_EXTRACT_LEAF_H
#define CORE_MESSAGE_EXTRACT_LEAF_H

#include "core/base/slice.h"
#include "core/message/archive/office.h"

enum { LEAF_MACRO_BYTES = 24 }; /* of the name of the storage of macros */

enum text_kind { TEXT_NOT, TEXT_PLAIN, TEXT_HTML, TEXT_SCRIPT, TEXT_XML };

/* Facts about a leaf before its bytes; slices are borrowed until extract_leaf_end. */
struct leaf {
    struct slice type; /* as declared; empty when it was not */
    struct slice charset;
    struct slice name;
    bool may_sniff;        /* nobody said that it is plain text: HTML counts as such */
    bool is_attachment;    /* its checksum and type are features */
    bool is_text;          /* it is read as such, whatever its first bytes say */
    bool is_uuencoded;     /* by its transfer encoding */
    bool is_base64;        /* likewise */
    unsigned depth;        /* of files in files; 0 for a part of the message */
    enum office_role role; /* of an entry of an office document */
};

/* Of the open leaf. */
struct leaf_watch {
    bool may_have_macro;
    size_t nlast;
    char last[2 * LEAF_MACRO_BYTES]; /* bytes, while may_have_macro */
    bool asks_ascii;                 /* is_ascii is kept */
    bool is_ascii;                   /* all bytes so far */
    uint64_t nbytes;
};

#endif
