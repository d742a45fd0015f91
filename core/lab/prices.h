/*
 * prices - the price file of `gillnet plan`: prices of memory, machines and errors.
 *
 * A libconfig file of its own, all keys of it numbers; missing keys keep their values.
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_LAB_PRICES_H
#define CORE_LAB_PRICES_H

#include "core/config/config.h"

enum {
    PRICES_GRID_MAX = 16,       /* numbers of `errors` and of `items` */
    PRICES_FILE_MAX = 64 * 1024 /* bytes */
};

struct prices_numbers {
    double v[PRICES_GRID_MAX];
    size_t n;
};

struct prices {
    double memory_gb; /* of 10^9 bytes, a month */
    double instance;  /* a month */
    double instance_gb;
    double instances;
    double false_positive_query;
    double false_positive;
    double unconfirmed; /* 0..1 */
    double queries_per_day;
    double max_error;             /* 0..1 */
    struct prices_numbers errors; /* each 0..1 */
    struct prices_numbers items;
};

/* Reads file over *p, which then holds only numbers from 0 to 1e15. On failure *p is not to be
 * used and reterrors (empty at first) has every error with its line. */
enum err prices_load(const char *file, struct prices *p,
                     struct config_errors *reterrors);

#endif
