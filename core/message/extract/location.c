/* location - the names of parts: their ordinals, from the outermost part on. */

#include "core/message/extract/extract_internal.h"

/* Appends ".2". A name always fits: EXTRACT_PATH_DEPTH ordinals of at most 7 digits. */
static void add_ordinal(struct extract *x, unsigned ordinal)
{
    int n = snprintf(x->place.path + x->place.npath, EXTRACT_PATH_MAX - x->place.npath,
                     "%s%u", x->place.npath > 0 ? "." : "", ordinal);
    if (n > 0 && x->place.npath + (size_t)n < EXTRACT_PATH_MAX) {
        x->place.npath += (size_t)n;
    }
}

/* A part that is seen for the first time is the next of its parent, and has no children yet. */
static void name_part(struct extract *x, const struct mail_part *part)
{
    unsigned depth = part->depth;
    x->place.npath = 0;
    if (depth == 0) {
        add_ordinal(x, 1); /* the only one */
        return;
    }
    if (depth > EXTRACT_PATH_DEPTH) {
        depth = EXTRACT_PATH_DEPTH;
    }
    if (x->place.level[depth].number != part->number) {
        x->place.level[depth].number = part->number;
        x->place.level[depth].ordinal++;
        x->place.level[depth + 1].number = 0;
        x->place.level[depth + 1].ordinal = 0;
    }
    for (unsigned i = 1; i <= depth; i++) {
        add_ordinal(x, x->place.level[i].ordinal);
    }
}

void extract_place(struct extract *x, const struct mail_part *part, struct slice header)
{
    if (part == NULL) {
        featureset_set_place(x->set, SLICE_NONE, header);
        return;
    }
    name_part(x, part);
    featureset_set_place(x->set, slice_of(x->place.path, x->place.npath), header);
}
