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

enum vector_kind vector_kind_of(const struct extract_conversation *c,
                                const struct vector_look *look)
{
    if (is_other_language(look)) {
        return VECTOR_LANGUAGE;
    }
    if (c->list_post.n > 0) {
        return VECTOR_LIST;
    }
    if (c->has_unsubscribe || c->is_list || c->is_automatic) {
        return VECTOR_NOTICE;
    }
    return VECTOR_PERSON;
}
