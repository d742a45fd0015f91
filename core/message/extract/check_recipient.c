/* check_recipient - a message that uses what it knows of its recipient: address, name, domain. */
#include "core/message/extract/check.h"
#include "core/message/text/ascii.h"
#include "core/message/trait/look.h"
#include "core/message/url/host.h"

enum {
    RECIPIENTS_SEEN = 4, /* of more a message is not made for one */
    NAME_MIN = 5         /* bytes; shorter ones are first names and words */
};

static size_t count_seen(const struct facts *facts)
{
    return facts->nrecipients < RECIPIENTS_SEEN ? facts->nrecipients : RECIPIENTS_SEEN;
}

static struct slice local_of(struct slice address)
{
    size_t at = address.n;
    while (at > 0 && address.p[at - 1] != '@') {
        at--;
    }
    return slice_head(address, at > 0 ? at - 1 : 0);
}

static struct slice domain_of(struct slice address)
{
    struct slice host = slice_from(address, local_of(address).n + 1);
    struct slice domain = host_registrable(host);
    return domain.n > 0 ? domain : host;
}

static bool is_word_char(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || (unsigned char)c >= 0x80;
}

/* word stands in text by itself, in any case. */
static bool has_word(struct slice text, struct slice word)
{
    for (size_t i = 0; i + word.n <= text.n; i++) {
        bool begins = i == 0 || !is_word_char(text.p[i - 1]);
        bool ends = i + word.n == text.n || !is_word_char(text.p[i + word.n]);
        if (begins && ends && slice_eq_nocase(slice_of(text.p + i, word.n), word)) {
            return true;
        }
    }
    return false;
}

/* The recipient's name or domain; of one's own domain everybody speaks. */
static bool names_recipient(const struct facts *facts, struct slice text,
                            struct slice address)
{
    struct slice local = local_of(address);
    struct slice domain = domain_of(address);
    struct slice label = look_owner_label(domain);
    if (domain.n == 0 || featureset_has(facts->set, FEATURE_from_domain, domain)) {
        return false;
    }
    return (local.n >= NAME_MIN && has_word(text, local)) ||
           (label.n >= NAME_MIN && has_word(text, label)) || has_word(text, domain);
}

static bool feature_names_recipient(const struct facts *facts, enum feature_type type)
{
    for (size_t i = 0; i < count_seen(facts); i++) {
        const struct feature *f = facts_first(facts, type);
        if (f != NULL && names_recipient(facts, f->text, facts->recipients[i])) {
            return true;
        }
    }
    return false;
}

bool check_name_is_recipient(const struct facts *facts)
{
    return feature_names_recipient(facts, FEATURE_display_name);
}

bool check_subject_has_recipient(const struct facts *facts)
{
    return feature_names_recipient(facts, FEATURE_subject);
}

bool check_text_has_recipient(const struct facts *facts)
{
    for (size_t i = 0; i < count_seen(facts); i++) {
        if (featureset_has(facts->set, FEATURE_text_address, facts->recipients[i])) {
            return true;
        }
    }
    return false;
}

/* "abuse", "abuse.de", "abuse+net". */
static bool is_desk(struct slice local)
{
    static const char *const desks[] = {"abuse", "postmaster", "security", "hostmaster",
                                        "noc"};
    size_t n = 0;
    while (n < local.n && ASCII_IS(local.p[n], ASCII_ALPHA)) {
        n++;
    }
    return name_index(slice_head(local, n), desks, LENGTH(desks)) >= 0;
}

bool check_to_desk(const struct facts *facts)
{
    size_t ndesks = 0;
    for (size_t i = 0; i < facts->nrecipients; i++) {
        if (is_desk(local_of(facts->recipients[i]))) {
            ndesks++;
        } else if (!featureset_has(facts->set, FEATURE_from, facts->recipients[i])) {
            return false;
        } else {
            /* a copy for the sender */
        }
    }
    return ndesks > 0;
}

bool check_from_is_recipient_domain(const struct facts *facts)
{
    for (size_t i = 0; i < count_seen(facts); i++) {
        struct slice domain = domain_of(facts->recipients[i]);
        if (featureset_has(facts->set, FEATURE_from_domain, domain)) {
            return true;
        }
    }
    return false;
}
