/*
 * extract_file - inside of core/message/extract: files that hold files, links or a message.
 *
 * The bytes of such a leaf are stored, and read after the leaf around it has ended. Files are read
 * one after the other; files in files follow. The bounds are the depth, the stored bytes and the
 * budget of core/message/archive.
 */
#ifndef CORE_MESSAGE_EXTRACT_EXTRACT_FILE_H
#define CORE_MESSAGE_EXTRACT_EXTRACT_FILE_H

#include "core/base/buf.h"
#include "core/base/slice.h"
#include "core/message/archive/archive.h"
#include "core/message/archive/magic.h"

enum {
    EXTRACT_LABEL_MAX = 400
}; /* bytes of the names of files that stand in each other */

struct extract;
struct html_token;
struct leaf;

enum file_kind {
    FILE_NOT, /* not opened */
    FILE_ZIP,
    FILE_PDF,
    FILE_TNEF,
    FILE_SHORTCUT,
    FILE_MESSAGE,
    FILE_SIGNED,  /* S/MIME around an entity */
    FILE_PLAIN,   /* to be read as a leaf */
    FILE_ARCHIVE, /* for the reader alone, as those that follow */
    FILE_DOCUMENT,
    FILE_PICTURE,
    FILE_DRAWN,   /* a picture that text or HTML draws */
    FILE_RTF,     /* else it is read as the text that it is */
    FILE_LOCKED,  /* once more, with passwords */
    FILE_TOGETHER /* a picture, with those of late.h behind it */
};

/* A file that waits to be looked into. */
struct extract_file {
    struct extract_file *next;
    enum file_kind kind;
    unsigned depth;
    struct buf bytes;
    struct slice part;  /* that it came in */
    struct slice name;  /* UTF-8, or empty */
    struct slice label; /* with those around it: "invoice.pdf in offer.zip" */
};

/* The entry of a file in the file at hand begins: its name, its leaf. */
void extract_entry_name(struct extract *x, struct slice name, struct slice charset);
bool extract_entry_begin(struct extract *x, const struct archive_file *entry);

/* Returns the kind of a leaf; magic is that of its first bytes. */
enum file_kind extract_file_kind(const struct extract *x, const struct leaf *leaf,
                                 const struct magic *magic);
/* Stores bytes, up to the message's limit for all. */
void extract_file_store(struct extract *x, struct buf *held, struct slice bytes);
/* Stores bytes of the leaf, up to the message's limit. */
void extract_file_hold(struct extract *x, struct slice bytes);
/* Ends the leaf and queues its stored bytes. */
void extract_file_ready(struct extract *x);
/* Takes the file into the queue. */
void extract_file_append(struct extract *x, struct extract_file *file);
/* Reads the queued files, and the files inside them. No leaf may be open. */
void extract_files_run(struct extract *x);
/* Frees the file and the room that its bytes took. */
void extract_file_drop(struct extract *x, struct extract_file **file);
void extract_files_drop(struct extract *x);
/* Queues a page in base64 from a link of the leaf. */
void extract_file_page(struct extract *x, struct slice base64);
/* Queues a picture in base64 that an attribute of the leaf holds: "data:image/png;base64,...". */
void extract_image_token(struct extract *x, const struct html_token *token);
/* Queues a picture that the leaf draws. */
void extract_file_picture(struct extract *x, struct slice pgm);
/* Begins to find uuencoded files in the text of the leaf. */
void extract_uuencode_begin(struct extract *x);

#endif
