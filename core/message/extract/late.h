/*
 * late - inside of core/message/extract: files that are read once more at the end of the message.
 *
 * A locked file is tried with the passwords that the text names, before or behind it. Pictures
 * without a code are looked at together: a code may be cut over them. At most half of the stored
 * bytes may wait so, locked files before pictures; LIMIT_FLAG(reader) says that one could not.
 */
#ifndef CORE_MESSAGE_EXTRACT_LATE_H
#define CORE_MESSAGE_EXTRACT_LATE_H

#include "core/message/extract/password.h"

struct extract;
struct extract_file;

enum {
    LATE_PICTURES = 16,              /* that are looked at together */
    LATE_PICTURE_BYTES = 512 * 1024, /* a larger one is a photograph */
    LATE_US = 500 * 1000, /* of the reader, for all: the MTA waits for the end */
    LATE_LOCKED = 8       /* files */
};

struct extract_late {
    bool is_locked;  /* of the file that was read last: a password may open it */
    bool is_now;     /* the files that wait are read */
    unsigned ncodes; /* in that file */
    size_t bytes;
    unsigned npictures;
    struct extract_file *picture[LATE_PICTURES];
    size_t npasswords;
    struct slice password[PASSWORD_CANDIDATES];
    unsigned nlocked;
    struct extract_file *locked[LATE_LOCKED];
};

/* Keeps a file that was read just now, if it shall be read again. False: the caller keeps it. */
bool extract_late_keep(struct extract *x, struct extract_file *file);
/* Reads them, and the files in them. */
void extract_late_run(struct extract *x);
void extract_late_drop(struct extract *x);

#endif
