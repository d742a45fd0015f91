#include "core/verdict/journal/message_filter.h"

#include "core/verdict/journal/message_query_internal.h"

/* Bytes of usual texts, the frequent ones first; others are rarer. */
static const char frequent[] = "eaoinrtsl 0123456789dcmu.phgbfyvkw@-_xjqz";

static bool is_between(int c, int first, int last)
{
    return c >= first && c <= last;
}

static int other_case(int c)
{
    return is_between(c, 'a', 'z') || is_between(c, 'A', 'Z') ? c ^ ('a' ^ 'A') : c;
}

static size_t rarity_of(int c)
{
    const int low = is_between(c, 'A', 'Z') ? other_case(c) : c;
    const char *at = c != '\0' ? strchr(frequent, low) : NULL;

    return at != NULL ? (size_t)(at - frequent) : sizeof(frequent);
}

/* Where the rarest byte stands. */
static size_t find_rarest(struct slice s)
{
    size_t rarest = 0;

    for (size_t i = 1; i < s.n; i++) {
        rarest = rarity_of(s.p[i]) > rarity_of(s.p[rarest]) ? i : rarest;
    }
    return rarest;
}

/* Whether it may be a part of a case id or an address. */
static bool may_be_id(struct slice s)
{
    bool may = true;

    for (size_t i = 0; may && i < s.n; i++) {
        const int c = (unsigned char)s.p[i];
        may = is_between(c, '0', ':') || is_between(c, 'a', 'z') ||
              is_between(c, 'A', 'Z') || c == '.';
    }
    return may;
}

/* False: the filter cannot say anything of this term. */
static bool fill_sought(const struct query_term *t, struct message_sought *ret)
{
    const bool is_any = t->field == QUERY_ANY;

    *ret = (struct message_sought){
        .word = t->text,
        .is_of_texts = is_any || t->field == QUERY_FROM || t->field == QUERY_TO ||
                       t->field == QUERY_SUBJECT,
        .is_of_ids = t->field == QUERY_CLIENT || (is_any && may_be_id(t->text)),
        .has_symbol = is_any || t->field == QUERY_SYMBOL};
    ret->at = find_rarest(ret->word);
    return !t->is_negated && (t->text.n > 0 || t->field == QUERY_SYMBOL) &&
           (ret->is_of_texts || ret->is_of_ids || ret->has_symbol);
}

void message_filter_of(const struct message_query *q, struct message_filter *ret)
{
    ret->n = 0;
    ret->needs_ids = false;
    for (size_t i = 0; i < q->n; i++) {
        if (fill_sought(&q->term[i], &ret->term[ret->n])) {
            ret->needs_ids = ret->needs_ids || ret->term[ret->n].is_of_ids;
            ret->n++;
        }
    }
}

bool message_filter_seeks(const struct message_query *q, struct slice name)
{
    const struct record_symbol symbol = {.name = name};
    const struct message_row row = {.symbol = &symbol, .nsymbols = 1};
    bool seeks = false;

    for (size_t i = 0; !seeks && i < q->n; i++) {
        const struct query_term *t = &q->term[i];
        seeks = (t->field == QUERY_SYMBOL || t->field == QUERY_ANY) &&
                message_term_is_true(t, &row);
    }
    return seeks;
}

/* Whether the word stands where this is its rarest byte. */
static bool is_word(const struct message_sought *s, struct slice texts,
                    const char *rarest)
{
    const size_t before = (size_t)(rarest - texts.p);

    return before >= s->at &&
           slice_has_prefix_nocase(slice_from(texts, before - s->at), s->word);
}

/* False: no text has the word. c: its rarest byte. */
static bool may_have_word(const struct message_sought *s, struct slice texts, int c)
{
    const char *end = texts.p + texts.n;
    const char *at = texts.p;

    for (unsigned i = 0; i < MESSAGE_FILTER_TRIES; i++) {
        at = memchr(at, c, (size_t)(end - at));
        if (at == NULL) {
            return false;
        }
        if (is_word(s, texts, at)) {
            return true;
        }
        at++;
    }
    return true;
}

static bool may_have(const struct message_sought *s, struct slice texts)
{
    if (texts.n == 0) {
        return false;
    }
    const int c = (unsigned char)s->word.p[s->at];
    const int other = other_case(c);

    return may_have_word(s, texts, c) || (other != c && may_have_word(s, texts, other));
}

bool message_filter_passes(const struct message_filter *f, struct slice texts,
                           struct slice ids, bool has_symbol)
{
    bool passes = true;

    for (size_t i = 0; passes && i < f->n; i++) {
        const struct message_sought *s = &f->term[i];
        passes = (s->has_symbol && has_symbol) ||
                 (s->is_of_texts && may_have(s, texts)) ||
                 (s->is_of_ids && may_have(s, ids));
    }
    return passes;
}
