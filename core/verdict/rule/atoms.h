/*
 * atoms - conditions to atoms, each different one once; private to compile.c and atoms.c.
 *
 * Threads: one at a time.   Owns: what its comment says until atoms_end.
 */
#ifndef CORE_VERDICT_RULE_ATOMS_H
#define CORE_VERDICT_RULE_ATOMS_H

#include "core/verdict/rule/rule_internal.h"

/* One test of a feature's values. */
struct atom_test {
    uint32_t atom;
    const char *pattern; /* NULL: of a value, suffix or set */
};

struct atoms {
    struct ruleset *set;
    struct config *config;
    struct config_errors *errors;
    size_t room;
    size_t tests_room;
    struct atom_test *tests;
    size_t nslots;
    uint32_t *slots; /* by the text of the condition */
    uint64_t *hashes; /* of each atom's */
};

/* most: atoms that there can be. False: no memory. */
bool atoms_begin(struct atoms *a, size_t most);
/* The atom of a condition that is no group; RULE_NONE after an error. of_rule: of a reference. */
uint32_t atoms_of(struct atoms *a, const struct config_condition *v, uint32_t of_rule);
/* Compiles the tests of all atoms. False: errors say why. */
bool atoms_end(struct atoms *a);
void atoms_fini(struct atoms *a);

/* An error in the line of a condition. */
void atoms_refuse(struct atoms *a, const struct config_condition *v, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

#endif
