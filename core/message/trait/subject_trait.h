/*
 * subject_trait - traits of a subject.
 *
 * Threads: any.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_TRAIT_SUBJECT_TRAIT_H
#define CORE_MESSAGE_TRAIT_SUBJECT_TRAIT_H

#include "core/message/trait/trait.h"

enum {
    SUBJECT_CAPS_MIN = 10, /* letters; fewer are an abbreviation or a name */
    SUBJECT_SPACED_MIN =
        4,              /* letters that stand alone, one after the other: "l i k e" */
    SUBJECT_GAP_MIN = 6 /* blanks on end: what follows them is out of sight */
};

/* raw: as the field has it. text: decoded, UTF-8. */
void subject_traits(struct slice raw, struct slice text, struct traits *ret);

/* Begins with "Re:". */
bool subject_is_reply(struct slice text);

/* True for letters of several scripts in one word, styled letters, or invisible characters between
 * letters. */
bool subject_is_folded(struct slice text);

#endif
