/*
 * growth_table - shapes of hostile mail that can be made as large as wanted.
 */
#ifndef TESTS_INTEG_GROWTH_GROWTH_TABLE_H
#define TESTS_INTEG_GROWTH_GROWTH_TABLE_H

#include <stddef.h>

enum growth_shape {
    GROWTH_BODY,   /* head, which ends the header; then the unit; then the tail */
    GROWTH_FIELD,  /* fields of up to 60 KB: head, the unit, a line end */
    GROWTH_FIELDS, /* the unit is whole fields */
    GROWTH_URLS    /* a body of URLs of up to 8 KB: head, the unit, a line end */
};

/* A byte 1 in head or unit stands for a number that is another each time. */
struct growth_shape_row {
    const char *name;
    enum growth_shape shape;
    const char *head;
    const char *unit;
    const char *tail; /* GROWTH_BODY; may be NULL */
};

extern const struct growth_shape_row growth_rows[];
extern const size_t growth_nrows;

#endif
