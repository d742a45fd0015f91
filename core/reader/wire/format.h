/*
 * format - the readers of formats: one function each.
 *
 * A reader takes one file in memory and says what it found. It opens nothing, starts nothing and
 * trusts nothing; it may end the process by a fault of its library, and nobody else is harmed.
 * To add a format: a function here, its room, a row in core/reader/pool/dispatch.c.
 */
#ifndef CORE_READER_WIRE_FORMAT_H
#define CORE_READER_WIRE_FORMAT_H

#include "core/reader/wire/found.h"

typedef void format_read_fn(const struct reader_job *job, struct found *f);

/* core/reader/unpack: archives and compressed files. */
format_read_fn unpack_read;
/* To be called before the sandbox closes, by the thread that forks: sets the thread's locale, with
 * which the library takes names for UTF-8. */
void unpack_warm(void);
/* core/reader/picture: pictures of all formats. */
format_read_fn picture_read;
/* By the first bytes. */
bool picture_knows(struct slice bytes);
/* core/reader/document */
format_read_fn pdf_read_whole;
format_read_fn ole_read; /* doc, xls, ppt, msg, msi and encrypted documents of today */
format_read_fn onenote_read;
format_read_fn rtf_read;

/* Loads what the libraries of pdf_read_whole load from files: fonts' configuration, tables of
 * Chinese, Japanese and Korean text. The process that forks the readers calls it once before it
 * forks; a reader without it reads less of old documents in these scripts. */
void pdf_warm(void);

#endif
