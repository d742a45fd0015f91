/*
 * drawn_code - inside of core/message/extract: codes that text and HTML draw.
 *
 * Each becomes a picture in the queue of files.
 */
#ifndef CORE_MESSAGE_EXTRACT_DRAWN_CODE_H
#define CORE_MESSAGE_EXTRACT_DRAWN_CODE_H

#include "core/message/html/drawn.h"

struct extract;

/* Makes x->drawn, where gillnet-reader reads pictures. False: there is no memory for it. */
bool extract_drawn_begin(struct extract *x);
/* A piece of a plain text. */
void extract_drawn_text(struct extract *x, struct slice text);
void extract_drawn_token(struct extract *x, const struct html_token *token);
/* A run of text in HTML, which lies above the next. */
void extract_drawn_run(struct extract *x, struct slice text);
/* The part is over. */
void extract_drawn_end(struct extract *x);

#endif
