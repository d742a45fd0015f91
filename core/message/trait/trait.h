/*
 * trait - traits that one value of a message decides: a name, a field, a link, a file name.
 *
 * Each function looks at one value and adds what it finds to a struct traits. Limits are named
 * constants with their reason. No function goes by the name of a product, a sender or a country.
 * A trait that needs the whole message is a check (core/message/extract/check.h).
 *
 * Files in reading order: trait (the set), look (shapes of words and hosts), sender_name,
 * subject_trait, mail_date, field_trait, mailer_trait, link_trait, link_address, file_trait.
 * To add a trait: a row in core/message/feature/trait.def, the lines that add it here, and a row
 * in tests/unit/trait. Example: git log -p -1 --grep "a link in a link".
 * Threads: pure.   Allocates: nothing, but where a function takes an arena.
 */
#ifndef CORE_MESSAGE_TRAIT_TRAIT_H
#define CORE_MESSAGE_TRAIT_TRAIT_H

#include "core/message/feature/feature.h"

enum { TRAIT_WORDS = (TRAIT_COUNT + 63) / 64 };

/* A set of traits. All zero: empty. */
struct traits {
    uint64_t bits[TRAIT_WORDS];
};

bool traits_has(const struct traits *t, enum trait trait);
void traits_add(struct traits *t, enum trait trait);
/* Adds trait if is_so. */
void traits_note(struct traits *t, enum trait trait, bool is_so);

#endif
