/* span - ranges of numbers. */
#ifndef CORE_SPAN_SPAN_H
#define CORE_SPAN_SPAN_H

/* How many numbers are in both [a, b) and [c, d). */
unsigned span_common(unsigned a, unsigned b, unsigned c, unsigned d);

/* How many decimal digits n has. */
unsigned span_digits(unsigned n);

#endif
