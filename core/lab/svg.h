/*
 * svg - the parts that our pictures share: a head with title and styles, text, lines.
 *
 * A picture is one file that needs nothing else, readable on light and dark paper. Classes: paper,
 * grid, axis, guide, quiet (text), curve, point, and the colours l1 to l5 of curves.
 * Threads: pure.   Allocates: in the buffer.
 */
#ifndef CORE_LAB_SVG_H
#define CORE_LAB_SVG_H

#include "core/base/buf.h"
#include "core/base/err.h"

enum { SVG_MAX = 512 * 1024 };

/* Opens the picture and sets its title, on the paper too, from x = left. */
void svg_head(struct buf *b, const char *title, int width, int height, int left);
void svg_text(struct buf *b, const char *text); /* escaped, without an element */
void svg_line(struct buf *b, const char *class, double x1, double y1, double x2,
              double y2);
/* Closes the picture and writes it. */
enum err svg_write(struct buf *b, const char *path, struct errinfo *reterr);

#endif
