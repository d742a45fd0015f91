#include "core/message/extract/extract_internal.h"

static bool is_attachment(const struct mail_part *part)
{
    return slice_eq(part->disposition, SLICE_LIT("attachment")) ||
           part->filename.n > 0 ||
           (!slice_has_prefix(part->type, SLICE_LIT("text/")) &&
            !slice_has_prefix(part->type, SLICE_LIT("multipart/")));
}

static bool is_uuencoded(struct slice transfer)
{
    return slice_eq(transfer, SLICE_LIT("x-uuencode")) ||
           slice_eq(transfer, SLICE_LIT("uuencode")) ||
           slice_eq(transfer, SLICE_LIT("x-uue"));
}

struct leaf extract_leaf_of(const struct mail_part *part)
{
    return (struct leaf){.type = part->type,
                         .charset = part->charset,
                         .name = part->filename,
                         .may_sniff = !part->has_type,
                         .is_attachment = is_attachment(part),
                         .is_uuencoded = is_uuencoded(part->transfer),
                         .is_base64 =
                             slice_eq_nocase(part->transfer, SLICE_LIT("base64"))};
}

/* Text outside the parts of a multipart stands in that. */
static void place(struct extract *x, const struct mail_part *part)
{
    struct mail_part at = *part;
    at.depth -= part->is_stray ? 1 : 0;
    extract_place(x, &at, SLICE_NONE);
}

void extract_add_part_names(struct extract *x, const struct mail_part *part)
{
    extract_add_name(x, FEATURE_attachment_name, part->filename, SLICE_NONE);
    extract_add_name(x, FEATURE_attachment_name, part->other_name, SLICE_NONE);
}

void extract_on_part_begin(void *context, const struct mail_part *part)
{
    struct extract *x = context;
    if (part->is_container) {
        x->kind = TEXT_NOT;
        x->is_attachment = false;
        x->is_shown = false;
        x->may_have_files = x->may_have_files ||
                            !slice_eq(part->type, SLICE_LIT("multipart/alternative"));
    }
    place(x, part);
    if (x->limits.watch != NULL) {
        x->limits.watch->part(x->limits.watch->context, part);
    }
    if (!part->is_over) {
        extract_add_part_names(x, part);
    }
    if (!part->is_container) {
        struct leaf leaf = extract_leaf_of(part);
        leaf.is_attachment = leaf.is_attachment && !part->is_over;
        extract_leaf_begin(x, &leaf);
    }
    extract_shown_begin(x, part);
}

void extract_on_part_data(void *context, const struct mail_part *part,
                          struct slice bytes)
{
    (void)part;
    extract_leaf_data(context, bytes);
}

bool extract_is_text(void *context, const struct mail_part *part)
{
    const struct extract *x = context;
    (void)part;
    return !x->is_decided || x->kind != TEXT_NOT;
}

void extract_on_part_end(void *context, const struct mail_part *part)
{
    struct extract *x = context;
    if (!part->is_container) {
        extract_leaf_end(x, !part->is_cut);
    }
    extract_shown_end(x, part);
    extract_files_run(x);
}
