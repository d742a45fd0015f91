/*
 * leafsum - one line about a leaf part, the same from our parser and from an oracle:
 * "PART type size sha256 filename". Line ends count as LF however they were written, and blanks
 * before them not at all (RFC 2045 has quoted-printable lose them; GMime and Python keep them);
 * file names are percent-encoded, "-" when there is none.
 */
#ifndef TESTS_INTEG_MIME_LEAFSUM_H
#define TESTS_INTEG_MIME_LEAFSUM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/checksum.h"

enum { LEAFSUM_OUT = 4096 };

struct leafsum {
    struct sha256 sum;
    uint64_t bytes;
    uint64_t nblanks; /* spaces and tabs that may be the last of their line */
    char blanks[LEAFSUM_OUT];
    char out[LEAFSUM_OUT];
    size_t nout;
    bool last_was_cr;
};

void leafsum_begin(struct leafsum *l);
void leafsum_add(struct leafsum *l, struct slice bytes);
void leafsum_print(struct leafsum *l, struct slice type, struct slice filename);

#endif
