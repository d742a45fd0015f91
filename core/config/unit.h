/*
 * unit - "16M", "250ms", "0660", "10.0.0.0/8": strict readers of the texts in configuration.
 *
 * Nothing may follow, overflow is refused, and each has a writer that gives the shortest text
 * that reads back as the same value.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_CONFIG_UNIT_H
#define CORE_CONFIG_UNIT_H

#include "core/config/config.h"

enum { UNIT_TEXT_MAX = 64, UNIT_DAY_S = 86400 };

/* Digits and B, K, M or G (powers of 1024). */
bool unit_size(const char *text, uint64_t *ret);
void unit_size_text(uint64_t bytes, char dst[UNIT_TEXT_MAX]);

/* Digits and ms, s, m, h, d or w. */
bool unit_time_us(const char *text, uint64_t *ret);
void unit_time_us_text(uint64_t us, char dst[UNIT_TEXT_MAX]);

/* 3 or 4 octal digits up to 0777. */
bool unit_mode(const char *text, unsigned *ret);

/* "2027-06-30": the end of that day (UTC), as unix time; "": 0. */
bool unit_date(const char *text, uint64_t *ret);
void unit_date_text(uint64_t end_s, char dst[UNIT_TEXT_MAX]);

/* "a.b.c.d/len", "v6/len", or an address alone. *retwhy says what is wrong on failure. */
bool unit_network(const char *text, struct ipnet *ret, const char **retwhy);
void unit_network_text(const struct ipnet *net, char dst[UNIT_TEXT_MAX]);

#endif
