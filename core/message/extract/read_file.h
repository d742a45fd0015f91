/*
 * read_file - inside of core/message/extract: what gillnet-reader finds in a file.
 *
 * Its records become features: a text is read like an attached text, a contained file like an entry
 * of a zip file, a code like a link. Each file may take half of the time that is left.
 */
#ifndef CORE_MESSAGE_EXTRACT_READ_FILE_H
#define CORE_MESSAGE_EXTRACT_READ_FILE_H

#include "core/message/extract/extract_file.h"

/* Whether the reader is there for a file of this kind. */
bool extract_may_read(const struct extract *x, enum file_kind kind);
/* False: it was not read to its end, by whatever fault. */
bool extract_read(struct extract *x, const struct extract_file *file);
/* Reads what one of the message's passwords opens. */
void extract_read_locked(struct extract *x, const struct extract_file *file);
/* Looks for codes that are cut over this picture and others that wait. */
void extract_read_together(struct extract *x, const struct extract_file *file);

#endif
