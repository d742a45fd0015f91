/*
 * arrays - values that are arrays of texts: networks, addresses, domains, words.
 *
 * Threads: as value.   Owns: nothing; the struct does.
 */
#ifndef CORE_CONFIG_ARRAYS_H
#define CORE_CONFIG_ARRAYS_H

#include "core/config/config_value.h"

/* value_set for the kinds NETWORKS, TOKENS, ADDRESSES, DOMAINS, WEIGHTS, URLS, TEXTS and LISTENS: replaces the whole array. */
bool elements_set(const struct value_place *place, const config_setting_t *setting);

/* The two members of a NETWORKS row, which always lies in struct config. */
struct elements_networks {
    size_t *n;
    struct ipnet **v;
};
struct elements_networks elements_networks_of(const struct schema_row *row,
                                              struct config *c);
const struct ipnet *elements_networks_at(const struct schema_row *row,
                                         const struct config *c, size_t *retcount);

void elements_strings_free(struct config_strings *s);
bool elements_strings_copy(struct config_strings *to,
                           const struct config_strings *from);

#endif
