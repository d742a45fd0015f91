/*
 * link_address - an e-mail address that a link carries: whom it was sent to.
 *
 * As it is, percent-encoded, in base64 of either alphabet, or in hexadecimal digits; in the path,
 * the query or the fragment.
 * Linear. Threads: any.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_TRAIT_LINK_ADDRESS_H
#define CORE_MESSAGE_TRAIT_LINK_ADDRESS_H

#include "core/base/slice.h"

enum {
    LINK_ADDRESS_MAX = 128, /* bytes of an address that is found */
    LINK_ADDRESS_MIN = 6,   /* "a@b.co" */
    LINK_TOKENS_MAX = 64    /* words of a link that are decoded */
};

struct link_address {
    char text[LINK_ADDRESS_MAX]; /* in lower case */
    size_t n;
    bool is_coded;       /* in base64 or hexadecimal digits */
    bool is_in_fragment; /* behind '#': no server needs it, only a script */
};

/* The first address behind the host of a link. False: it carries none. */
bool link_address_find(struct slice link, struct link_address *ret);

#endif
