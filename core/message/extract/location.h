/*
 * location - inside of core/message/extract: where features stand, as `gillnet extract` tells.
 * Threads: one at a time.   Allocates: nothing; the set keeps what a feature needs.
 */
#ifndef CORE_MESSAGE_EXTRACT_LOCATION_H
#define CORE_MESSAGE_EXTRACT_LOCATION_H

#include "core/base/slice.h"
#include "core/message/mail/mail.h"

struct extract;

enum {
    EXTRACT_PATH_DEPTH = 32, /* ordinals in the name of a part; deeper ones are cut */
    EXTRACT_PATH_MAX = 256
};

struct extract_place {
    const char *found_in; /* the text that finds lie in, */
    size_t found_at;      /* and its own offset */
    size_t npath;
    struct {
        unsigned number; /* of the last part at this depth */
        unsigned ordinal;
    } level[EXTRACT_PATH_DEPTH + 2];
    char path[EXTRACT_PATH_MAX]; /* of the part at hand */
};

/* Later features are of this part (NULL: of the message itself), in the field header, or in its
 * text where header is empty. Parts come in the order of their numbers. */
void extract_place(struct extract *x, const struct mail_part *part,
                   struct slice header);

#endif
