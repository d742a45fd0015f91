/* check_field - fields that are missing, repeated or of a form that programs do not write. */
#include "core/message/extract/check.h"
#include "core/message/trait/look.h"

/* Text without any field is no message that a program made, and proves nothing. */
static bool is_missing(const struct facts *facts, enum noted_field field)
{
    return facts->nfields > 0 && facts->fields[field] == 0;
}

bool check_date_missing(const struct facts *facts)
{
    return is_missing(facts, NOTED_DATE);
}

bool check_message_id_missing(const struct facts *facts)
{
    return is_missing(facts, NOTED_MESSAGE_ID);
}

bool check_from_missing(const struct facts *facts)
{
    return is_missing(facts, NOTED_FROM);
}

bool check_from_odd(const struct facts *facts)
{
    return facts->fields[NOTED_FROM] > 0 && facts_first(facts, FEATURE_from) == NULL;
}

/* "undisclosed-recipients:;" is no address. */
bool check_to_missing(const struct facts *facts)
{
    return facts->nfields > 0 && facts->nnamed == 0;
}

bool check_to_is_from(const struct facts *facts)
{
    for (size_t i = 0; i < facts->nnamed; i++) {
        if (featureset_has(facts->set, FEATURE_from, facts->named[i])) {
            return true;
        }
    }
    return false;
}

bool check_subject_empty(const struct facts *facts)
{
    return facts->nfields > 0 && !facts->has_subject;
}

bool check_reply_fake(const struct facts *facts)
{
    return facts->is_reply && facts->fields[NOTED_ANSWER] == 0;
}

bool check_field_repeated(const struct facts *facts)
{
    static const enum noted_field once[] = {NOTED_FROM, NOTED_SUBJECT, NOTED_DATE,
                                            NOTED_TO, NOTED_MESSAGE_ID};
    for (size_t i = 0; i < LENGTH(once); i++) {
        if (facts->fields[once[i]] > 1) {
            return true;
        }
    }
    return false;
}

bool check_header_8bit(const struct facts *facts)
{
    return facts->has_8bit;
}

bool check_mime_version_missing(const struct facts *facts)
{
    return facts->fields[NOTED_TYPE] + facts->fields[NOTED_TRANSFER] > 0 &&
           facts->fields[NOTED_MIME_VERSION] == 0;
}

bool check_priority_no_mailer(const struct facts *facts)
{
    return facts->is_urgent && facts->fields[NOTED_MAILER] == 0;
}

bool check_message_id_elsewhere(const struct facts *facts)
{
    const struct feature *id = facts_first(facts, FEATURE_message_id_domain);
    const struct feature *from = facts_first(facts, FEATURE_from_domain);
    return id != NULL && from != NULL && !slice_is_at_or_below(id->text, from->text);
}

bool check_from_lookalike(const struct facts *facts)
{
    const struct feature *from = facts_first(facts, FEATURE_from_domain);
    return from != NULL && look_is_lookalike_host(from->text);
}
