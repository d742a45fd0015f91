/*
 * extract_file - inside of core/message/extract: files that hold files, links or a message.
 *
 * The bytes of such a leaf are stored, and read after the leaf around it has ended. Files are read
 * one after the other; files in files follow. The bounds are the depth, the stored bytes and the
 * budget of core/message/archive.
 */
#ifndef CORE_MESSAGE_EXTRACT_EXTRACT_FILE_H
#define CORE_MESSAGE_EXTRACT_EXTRACT_FILE_H

#include "core/base/slice.h"
#include "core/message/archive/magic.h"

struct extract;
struct leaf;

enum file_kind {
    FILE_NOT, /* not opened */
    FILE_ZIP,
    FILE_PDF,
    FILE_TNEF,
    FILE_SHORTCUT,
    FILE_MESSAGE,
    FILE_SIGNED, /* S/MIME around an entity */
    FILE_PLAIN   /* to be read as a leaf */
};

/* Returns the kind of a leaf; magic is that of its first bytes. */
enum file_kind extract_file_kind(const struct leaf *leaf, const struct magic *magic);
/* Stores bytes of the leaf, up to the message's limit. */
void extract_file_hold(struct extract *x, struct slice bytes);
/* Ends the leaf and queues its stored bytes. */
void extract_file_ready(struct extract *x);
/* Reads the queued files, and the files inside them. No leaf may be open. */
void extract_files_run(struct extract *x);
void extract_files_drop(struct extract *x);
/* Queues a page in base64 from a link of the leaf. */
void extract_file_page(struct extract *x, struct slice base64);
/* Begins to find uuencoded files in the text of the leaf. */
void extract_uuencode_begin(struct extract *x);

#endif
