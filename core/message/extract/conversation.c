/* conversation - fields of the header that name other messages and mailing lists. */
#include "core/message/extract/conversation.h"

#include "core/message/url/address.h"

enum {
    ID_MAX = 998, /* bytes of a Message-ID: a line of a message has no more */
    REPLIES = 4,  /* Message-IDs of In-Reply-To that are kept */
    NAMED = 256   /* Message-IDs of one field that are read */
};

/* The text of the next <...> in *rest; false: there is none. */
static bool next_id(struct slice *rest, struct slice *ret)
{
    *rest = slice_from(*rest, slice_find(*rest, '<') + 1);
    size_t end = slice_find(*rest, '>');

    if (rest->n == 0 || end == rest->n) {
        return false;
    }
    *ret = slice_trim(slice_head(*rest, end));
    *rest = slice_from(*rest, end + 1);
    return true;
}

static void keep_id(struct extract *x, struct slice id)
{
    struct extract_conversation *c = &x->conversation;

    if (id.n == 0 || id.n > ID_MAX || c->nreferences == EXTRACT_REFERENCES) {
        return;
    }
    struct slice copy = arena_copy(x->arena, id);
    c->reference[c->nreferences] = copy;
    c->nreferences += copy.n > 0;
}

void conversation_reply_to_id(struct extract *x, struct slice value)
{
    struct slice id;

    for (unsigned i = 0; i < REPLIES && next_id(&value, &id); i++) {
        keep_id(x, id);
    }
}

/* The oldest message of a thread comes first, and the one that is answered last. */
void conversation_references(struct extract *x, struct slice value)
{
    struct slice last[EXTRACT_REFERENCES];
    const unsigned room = EXTRACT_REFERENCES - REPLIES;
    unsigned n = 0;

    while (n < NAMED && next_id(&value, &last[n % room])) {
        n++;
    }
    unsigned first = n > room ? n - room : 0;
    for (unsigned i = first; i < n; i++) {
        keep_id(x, last[i % room]);
    }
}

void conversation_auto_submitted(struct extract *x, struct slice value)
{
    struct slice word = slice_trim(slice_head(value, slice_find(value, ';')));

    x->conversation.is_automatic |= !slice_eq_nocase(word, SLICE_LIT("no"));
}

void conversation_autoreply(struct extract *x, struct slice value)
{
    (void)value;
    x->conversation.is_automatic = true;
}

/* A bounce, or a receipt that a mail program sends by itself to anybody who asks for one. */
void conversation_type(struct extract *x, struct slice value)
{
    const struct slice type = slice_trim(slice_head(value, slice_find(value, ';')));

    x->conversation.is_automatic |=
        slice_eq_nocase(type, SLICE_LIT("multipart/report"));
}

void conversation_precedence(struct extract *x, struct slice value)
{
    static const char *const words[] = {"bulk", "junk", "list", "auto_reply"};

    value = slice_trim(value);
    for (size_t i = 0; i < LENGTH(words); i++) {
        x->conversation.is_automatic |= slice_eq_nocase(value, slice_str(words[i]));
    }
}

void conversation_list(struct extract *x, struct slice value)
{
    (void)value;
    x->conversation.is_list = true;
}

/* "<mailto:list@example.org>", or "NO" */
void conversation_list_post(struct extract *x, struct slice value)
{
    const struct slice scheme = SLICE_LIT("mailto:");
    struct address a;
    struct slice uri;

    x->conversation.is_list = true;
    if (!next_id(&value, &uri) || !slice_has_prefix_nocase(uri, scheme)) {
        return;
    }
    uri = slice_from(uri, scheme.n);
    uri = slice_head(uri, slice_find(uri, '?'));
    if (address_parse(x->scratch, uri, &a) == ERR_OK) {
        x->conversation.list_post = arena_copy(x->arena, a.text);
    }
}

void conversation_unsubscribe(struct extract *x, struct slice value)
{
    x->conversation.has_unsubscribe |= slice_trim(value).n > 0;
}
