/*
 * config_parts - groups of the configuration that are of the exchange between servers; see config.h.
 *
 * Threads: as config.h.   Owns: every string in it.
 */
#ifndef CORE_CONFIG_CONFIG_PARTS_H
#define CORE_CONFIG_CONFIG_PARTS_H

#include <stddef.h>
#include <stdint.h>

struct config_strings {
    size_t n;
    char **v;
};

/* The companion service. */
struct config_hub {
    char *listen;         /* "auto", "off", "HOST:PORT" or "[IPV6]:PORT" */
    char *control_socket; /* path, never "": default STATE/peers/hub.ctl */
    struct config_strings
        connect;          /* members to call; empty: all that have an address */
    uint64_t bytes_per_s; /* of answers to one peer */
};
/* What peers may say here; never more than the ring's manifest lets them. */
struct config_peers {
    unsigned cap;          /* of one peer's counts in a verdict; 0: the manifest's */
    unsigned quorum;       /* peers that must have counted it; 0: the manifest's */
    unsigned quorum_lists; /* peers that must list it for more than a header */
    struct config_strings weights; /* "NAME=NUMBER"; see config_peer_weight */
};

/* A publisher whose lists are followed. */
struct config_subscription {
    char *name; /* [a-z0-9_-]{1,32}; peers.weights knows it by this name */
    struct config_strings urls;
    char *key;                   /* 64 hexadecimal digits */
    struct config_strings lists; /* "THEIRS" or "THEIRS=OURS" */
    uint64_t interval_s;
    unsigned entries; /* most of one list */
    double change;    /* share of a list that one update may change; 0: any */
};

#endif
