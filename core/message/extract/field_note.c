/* field_note - notes fields of the message itself for the checks, and decides traits of each. */
#include "core/base/uninitialized.h"
#include "core/message/extract/extract_internal.h"
#include "core/message/mail/params.h"
#include "core/message/text/encoded_word.h"
#include "core/message/trait/field_trait.h"
#include "core/message/trait/mail_date.h"
#include "core/message/trait/mailer_trait.h"
#include "core/message/url/address.h"

/* The first value of a field. */
static void keep_first(struct extract *x, struct slice *kept, struct slice value)
{
    if (kept->n == 0) {
        *kept = arena_copy(x->arena, slice_head(slice_trim(value), FACTS_FIELD_MAX));
    }
}

static void note_named(struct extract *x, struct slice value)
{
    struct facts *f = &x->facts;
    struct address list[FACTS_NAMED_MAX] UNINITIALIZED;
    size_t room = FACTS_NAMED_MAX - f->nnamed;
    size_t n = room > 0 ? address_list_parse(x->scratch, value, list, room, NULL) : 0;
    for (size_t i = 0; i < n; i++) {
        f->named[f->nnamed] = arena_copy(x->arena, list[i].text);
        f->nnamed += f->named[f->nnamed].n > 0;
    }
    arena_reset(x->scratch);
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
