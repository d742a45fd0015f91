/* vector_kind - sort of mail, as the message itself shows. */
#include "core/learn/vector_internal.h"

enum {
    WORDS_MIN = 20,    /* a shorter text has no language */
    ENGLISH_SHARE = 16 /* of English, one word in so many is in the table at least */
};

static bool is_other_language(const struct vector_look *look)
{
    uint32_t n = look->nwords < VECTOR_ENGLISH ? look->nwords : VECTOR_ENGLISH;
    return n >= WORDS_MIN && look->nenglish * ENGLISH_SHARE < n;
}

uint16_t vector_group_of(const struct featureset *set, const struct vector *v)
{
    const struct feature *f = featureset_first(set, FEATURE_list_id);
    f = f != NULL ? f : featureset_first(set, FEATURE_from_domain);
    if (f != NULL) {
        return (uint16_t)vector_mix(0, f->text);
    }
    uint32_t sum = 0;
    for (size_t i = 0; i < v->n; i++) {
        sum += v->term[i];
    }
    return (uint16_t)sum;
}

enum vector_kind vector_kind_of(const struct extract_conversation *c,
                                const struct vector_look *look, bool is_page)
{
    if (is_other_language(look)) {
        return VECTOR_LANGUAGE;
    }
    if (is_page || (c->list_post.n == 0 &&
                    (c->has_unsubscribe || c->is_list || c->is_automatic))) {
        return VECTOR_NOTICE;
    }
    return c->list_post.n > 0 ? VECTOR_LIST : VECTOR_PERSON;
}
