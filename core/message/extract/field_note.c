/* field_note - notes fields of the message itself for the checks, and decides traits of each. */
#include "core/message/extract/extract_internal.h"
#include "core/message/mail/params.h"
#include "core/message/text/ascii.h"
#include "core/message/trait/field_trait.h"
#include "core/message/trait/mail_date.h"
#include "core/message/trait/mailer_trait.h"

/* The first value of a field. */
static void keep_first(struct extract *x, struct slice *kept, struct slice value)
{
    if (kept->n == 0) {
        *kept = arena_copy(x->arena, slice_head(slice_trim(value), FACTS_FIELD_MAX));
    }
}

static bool is_of_address(char c)
{
    return ASCII_IS(c, ASCII_ATEXT) || c == '.';
}

static struct slice copy_lower(struct arena *arena, struct slice text)
{
    char *p = arena_bytes(arena, text.n);
    for (size_t i = 0; p != NULL && i < text.n; i++) {
        p[i] = ASCII_LOWER(text.p[i]);
    }
    return slice_of(p, p != NULL ? text.n : 0);
}

/* Addresses as they stand, in lower case: those of odd forms are not compared with others. */
static void note_named(struct extract *x, struct slice value)
{
    struct facts *f = &x->facts;
    size_t i = slice_find(value, '@');
    while (i < value.n && f->nnamed < FACTS_NAMED_MAX) {
        size_t begin = i;
        size_t end = i + 1;
        while (begin > 0 && is_of_address(value.p[begin - 1])) {
            begin--;
        }
        while (end < value.n && is_of_address(value.p[end])) {
            end++;
        }
        f->named[f->nnamed] =
            copy_lower(x->arena, slice_of(value.p + begin, end - begin));
        f->nnamed += f->named[f->nnamed].n > 0;
        i = end + slice_find(slice_from(value, end), '@');
    }
}

/* "1 (Highest)", "urgent", "High". */
static bool is_urgent(struct slice value)
{
    static const char *const words[] = {"1", "2", "urgent", "high"};
    for (size_t i = 0; i < LENGTH(words); i++) {
        if (slice_has_prefix_nocase(value, slice_str(words[i]))) {
            return true;
        }
    }
    return false;
}

static void note_type(struct extract *x, struct slice value)
{
    if (slice_has_prefix_nocase(value, SLICE_LIT("multipart/"))) {
        keep_first(x, &x->facts.boundary,
                   param_token(x->scratch, value, SLICE_LIT("boundary")));
        arena_reset(x->scratch);
    }
}

void extract_note_field(struct extract *x, enum noted_field field, struct slice value)
{
    struct facts *f = &x->facts;
    f->fields[field]++;
    f->has_8bit = f->has_8bit || (field != NOTED_RECEIVED && !charset_is_ascii(value));
    switch (field) {
    case NOTED_TO:
    case NOTED_CC:
        note_named(x, value);
        break;
    case NOTED_DATE:
        keep_first(x, &f->date, value);
        break;
    case NOTED_RECEIVED:
        keep_first(x, &f->received, mail_date_of_received(value));
        break;
    case NOTED_MAILER:
        keep_first(x, &f->mailer, value);
        break;
    case NOTED_MESSAGE_ID:
        keep_first(x, &f->message_id, value);
        break;
    case NOTED_TYPE:
        note_type(x, value);
        break;
    case NOTED_PRIORITY:
        f->is_urgent = f->is_urgent || is_urgent(value);
        break;
    case NOTED_OTHER:
    case NOTED_FROM:
    case NOTED_SUBJECT:
    case NOTED_ANSWER:
    case NOTED_MIME_VERSION:
    case NOTED_TRANSFER:
    case NOTED_MIMEOLE:
    case NOTED_REPLY_TO:
    case NOTED_SENDER:
    case NOTED_COUNT:
        break;
    }
}

void extract_note_fields_end(struct extract *x)
{
    const struct facts *f = &x->facts;
    struct traits found = {0};
    const struct mailer_facts mailer = {.mailer = f->mailer,
                                        .message_id = f->message_id,
                                        .boundary = f->boundary,
                                        .has_mimeole = f->fields[NOTED_MIMEOLE] > 0,
                                        .is_of_list =
                                            mailing_list_key(&x->list, x->set) != 0};
    if (f->fields[NOTED_MESSAGE_ID] > 0) {
        message_id_traits(f->message_id, &found);
    }
    if (f->fields[NOTED_DATE] > 0) {
        date_traits(f->date, f->received, &found);
    }
    boundary_traits(f->boundary, &found);
    mailer_traits(&mailer, &found);
    extract_traits(x, &found);
}
