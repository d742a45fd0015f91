/*
 * file_trait - traits of the name of an attachment, or of an entry of an archive.
 *
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_TRAIT_FILE_TRAIT_H
#define CORE_MESSAGE_TRAIT_FILE_TRAIT_H

#include "core/message/trait/trait.h"

/* name: in the normal form of attachment_name. in_archive: it is an entry. */
void file_traits(struct slice name, bool in_archive, struct traits *ret);

/* A system that opens a file of this name runs it, installs it, or mounts it as a disk. */
bool file_is_run(struct slice name);
/* A browser that opens a file of this name shows it as a page. */
bool file_is_page(struct slice name);

#endif
