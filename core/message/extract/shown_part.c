/* shown_part - chooses the parts that a reader sees, and gives their text to the fingerprints. */
#include "core/message/extract/extract_internal.h"
#include "core/message/trait/text_trait.h"

/* Text that a mail program shows in its window: not attachments, data or second readings. */
static bool is_shown(const struct extract *x, const struct mail_part *part)
{
    static const char *const data[] = {
        "text/calendar", "text/vcard", "text/x-vcard",       "text/directory",
        "text/css",      "text/csv",   "text/rfc822-headers"};
    if ((x->kind != TEXT_PLAIN && x->kind != TEXT_HTML) || part->is_extra ||
        slice_eq(part->disposition, SLICE_LIT("attachment"))) {
        return false;
    }
    return x->kind == TEXT_HTML || (slice_has_prefix(part->type, SLICE_LIT("text/")) &&
                                    name_index(part->type, data, LENGTH(data)) < 0);
}

void extract_shown_begin(struct extract *x, const struct mail_part *part)
{
    enum fingerprint_group group = FINGERPRINT_OTHER;
    if (part->is_container) {
        if (x->alternative_depth == 0 &&
            slice_eq(part->type, SLICE_LIT("multipart/alternative"))) {
            x->alternative_depth = part->depth + 1;
        }
        x->is_shown = false;
        return;
    }
    x->is_shown = is_shown(x, part);
    if (!x->is_shown) {
        return;
    }
    if (x->imprint == NULL) {
        x->imprint = fingerprint_new(x->arena, &x->limits.imprint);
        if (x->imprint == NULL) {
            x->is_shown = false; /* extract_finish says limit=memory */
            return;
        }
    }
    if (x->alternative_depth > 0) {
        group = x->kind == TEXT_HTML ? FINGERPRINT_HTML : FINGERPRINT_PLAIN;
    }
    fingerprint_part(x->imprint, group);
    if (x->limits.on_text != NULL) {
        x->limits.on_text_part(x->limits.text_context);
    }
    x->facts.has_html = x->facts.has_html || x->kind == TEXT_HTML;
    x->facts.has_plain = x->facts.has_plain || x->kind != TEXT_HTML;
}

static void note_plain(struct extract *x, struct slice text)
{
    struct traits found = {0};
    x->facts.plain += slice_trim(text).n;
    if (!traits_has(&x->traits, TRAIT_text_blank_lines)) {
        text_piece_traits(text, &found);
        extract_traits(x, &found);
    }
}

void extract_shown_end(struct extract *x, const struct mail_part *part)
{
    if (part->is_container && part->depth + 1 == x->alternative_depth) {
        x->alternative_depth = 0;
    }
    if (x->is_shown) {
        password_finder_break(&x->passwords);
    }
    x->is_shown = false;
}

void extract_shown_text(struct extract *x, struct slice text)
{
    if (x->is_shown && x->limits.on_text != NULL) {
        x->limits.on_text(x->limits.text_context, text);
    }
    if (x->is_shown && x->may_have_files) {
        password_finder_text(&x->passwords, text);
        if (x->kind == TEXT_HTML) {
            password_finder_text(&x->passwords, SLICE_LIT("\n"));
        }
    }
    if (x->is_shown && x->kind == TEXT_HTML) {
        imprint_line(x->imprint, text);
    } else if (x->is_shown) {
        fingerprint_text(x->imprint, text);
        note_plain(x, text);
    } else {
        /* for others to read */
    }
}

void extract_shown_finish(struct extract *x)
{
    if (x->limits.on_text != NULL) {
        x->limits.on_text_end(x->limits.text_context);
        x->limits.on_text = NULL;
    }
}

void extract_shown_tag(struct extract *x, struct slice name)
{
    if (x->is_shown) {
        fingerprint_tag(x->imprint, name);
        if (x->limits.watch != NULL) {
            x->limits.watch->tag(x->limits.watch->context, name);
        }
    }
}
