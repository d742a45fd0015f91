/*
 * look - shapes of words and of host names: random, spelt with look-alikes.
 *
 * Threads: any.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_TRAIT_LOOK_H
#define CORE_MESSAGE_TRAIT_LOOK_H

#include "core/base/slice.h"

enum {
    LOOK_RANDOM_MIN = 8, /* bytes; shorter words are abbreviations and model names */
    /* Changes between digits and letters. "web2mail4u" has 4, "covid19" 1. */
    LOOK_CHANGES_MIN = 5,
    /* "rechtsschutz" has 7 consonants on end, 2 vowels of 12 letters; "freshrpms" has 6, 1 of 9. */
    LOOK_CONSONANTS_MIN = 6,
    LOOK_VOWEL_SHARE = 10,  /* fewer than one vowel in so many letters */
    LOOK_HEX_MIN = 12,      /* hexadecimal digits alone, ... */
    LOOK_HEX_DIGITS_MIN = 3 /* ... so many of them 0 to 9, and a letter */
};

/* True for ASCII letters and digits that no language, name or count would put so. */
bool look_is_random(struct slice word);

/* True if each character of a label (UTF-8) passes for an ASCII letter, digit or hyphen, and at
 * least one is a letter of another script. */
bool look_is_lookalike(struct slice label);
/* The same of some label of a host in normal form: its A-labels are decoded. */
bool look_is_lookalike_host(struct slice host);

/* True if both are one domain, or differ in the public suffix alone ("shop.de", "shop.co.uk").
 * Both are registrable domains. */
bool look_is_same_owner(struct slice domain, struct slice other);
/* The label of a registrable domain before its public suffix. */
struct slice look_owner_label(struct slice domain);

#endif
