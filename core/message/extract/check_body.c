/* check_body - what of a message a reader sees, and what stands beside it. */
#include "core/message/extract/check.h"
#include "core/message/trait/file_trait.h"

enum {
    HIDDEN_MIN = 300,   /* bytes; newsletters hide a line for the list of messages */
    COMMENTS_MIN = 1000 /* bytes */
};

/* Text that a reader sees: of the HTML where there is one. */
static uint64_t count_seen_text(const struct facts *facts)
{
    return facts->has_html ? facts->shown : facts->plain;
}

static bool has_text_part(const struct facts *facts)
{
    return facts->has_html || facts->has_plain;
}

static bool has_link(const struct facts *facts)
{
    return facts_first(facts, FEATURE_url) != NULL;
}

bool check_body_empty(const struct facts *facts)
{
    return facts->nfields > 0 && facts->shown + facts->plain == 0 &&
           facts->npictures == 0;
}

bool check_text_short_link(const struct facts *facts)
{
    return has_text_part(facts) && has_link(facts) &&
           count_seen_text(facts) < FACTS_SHOWN_FEW;
}

bool check_image_only(const struct facts *facts)
{
    return facts->has_html && facts->npictures > 0 && facts->shown < FACTS_SHOWN_FEW;
}

bool check_hidden_much(const struct facts *facts)
{
    return facts->hidden >= HIDDEN_MIN && facts->hidden > facts->shown;
}

bool check_comments_much(const struct facts *facts)
{
    return facts->comments >= COMMENTS_MIN && facts->comments > facts->shown;
}

bool check_html_only(const struct facts *facts)
{
    return facts->has_html && !facts->has_plain;
}

bool check_html_text_differs(const struct facts *facts)
{
    return facts->texts_differ;
}

/* All names of type are those of pages. */
static bool are_pages(const struct facts *facts, enum feature_type type)
{
    bool has_names = facts_count(facts, type) > 0;
    for (size_t i = 0; has_names && i < featureset_count(facts->set); i++) {
        const struct feature *f = featureset_at(facts->set, i);
        if (f->type == type && !file_is_page(f->text)) {
            return false;
        }
    }
    return has_names;
}

bool check_archive_only_pages(const struct facts *facts)
{
    return are_pages(facts, FEATURE_archive_entry);
}

bool check_attachment_page_alone(const struct facts *facts)
{
    return facts->nattachments == 1 && are_pages(facts, FEATURE_attachment_name);
}
