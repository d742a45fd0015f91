/* vector_link - form of links and of the sender; signs. */
#include "core/learn/vector_internal.h"
#include "core/message/text/ascii.h"

enum { WORD_MIN = 3, WORD_MAX = 24, LOCAL_LONG = 16, LABELS_MAX = 6 };

/* Runs of letters in a host or path. */
static void add_link_words(struct vector_reader *r, struct slice text)
{
    size_t i = 0;
    while (i < text.n) {
        size_t begin = i;
        while (i < text.n && (text.p[i] | 32) >= 'a' && (text.p[i] | 32) <= 'z') {
            i++;
        }
        if (i - begin >= WORD_MIN) {
            char word[WORD_MAX];
            size_t n = 0;
            while (n < WORD_MAX && begin + n < i) {
                word[n] = ASCII_LOWER(text.p[begin + n]);
                n++;
            }
            if (!vector_is_name(r, slice_of(word, n))) {
                vector_add(r, VECTOR_LINK_WORD, slice_of(word, n));
            }
        }
        i += i == begin;
    }
}

static unsigned count_char(struct slice s, char c)
{
    unsigned n = 0;
    for (size_t i = 0; i < s.n; i++) {
        n += s.p[i] == c;
    }
    return n;
}

static struct slice last_label(struct slice host)
{
    size_t at = host.n;
    while (at > 0 && host.p[at - 1] != '.') {
        at--;
    }
    return slice_from(host, at);
}

static void add_host(struct vector_reader *r, struct slice host)
{
    unsigned digits = 0;
    bool is_address = true;
    for (size_t i = 0; i < host.n; i++) {
        bool is_digit = ASCII_IS(host.p[i], ASCII_DIGIT);
        digits += is_digit;
        is_address = is_address && (is_digit || host.p[i] == '.');
    }
    unsigned labels = count_char(host, '.') + 1;
    vector_add_pair(r, VECTOR_LINK,
                    "top=", is_address ? SLICE_LIT("address") : last_label(host));
    vector_add_number(r, VECTOR_LINK,
                      "labels=", labels < LABELS_MAX ? labels : LABELS_MAX);
    vector_add_number(r, VECTOR_LINK, "host=", vector_log2(host.n));
    if (digits > 3 && !is_address) {
        vector_add(r, VECTOR_LINK, SLICE_LIT("host-digits"));
    }
    if (count_char(host, '-') >= 2) {
        vector_add(r, VECTOR_LINK, SLICE_LIT("host-hyphens"));
    }
}

static void add_link_path(struct vector_reader *r, struct slice path,
                          struct slice query)
{
    char extension[LABELS_MAX];
    size_t at = path.n;
    unsigned depth = count_char(path, '/');
    vector_add_number(r, VECTOR_LINK,
                      "depth=", depth < LABELS_MAX ? depth : LABELS_MAX);
    vector_add_number(r, VECTOR_LINK, "path=", vector_log2(path.n));
    vector_add_number(r, VECTOR_LINK, "query=", vector_log2(query.n));
    if (query.n > 0) {
        unsigned n = count_char(query, '=');
        vector_add_number(r, VECTOR_LINK,
                          "parameters=", n < LABELS_MAX ? n : LABELS_MAX);
    }
    while (at > 0 && path.n - at < LABELS_MAX &&
           ASCII_IS(path.p[at - 1], ASCII_ALPHA)) {
        extension[path.n - at] = path.p[at - 1];
        at--;
    }
    if (at > 0 && path.p[at - 1] == '.' && path.n - at >= 2) {
        struct slice backwards = slice_of(extension, path.n - at);
        vector_add_pair(r, VECTOR_LINK, "extension=", backwards);
    }
    if (slice_find(path, '%') < path.n || slice_find(query, '%') < query.n) {
        vector_add(r, VECTOR_LINK, SLICE_LIT("percent"));
    }
    if (slice_find(query, '@') < query.n || slice_find(path, '@') < path.n) {
        vector_add(r, VECTOR_LINK, SLICE_LIT("at"));
    }
}

void vector_add_links(struct vector_reader *r, const struct featureset *set)
{
    size_t n = 0;
    for (size_t i = 0; i < featureset_count(set) && n < VECTOR_LINKS; i++) {
        const struct feature *f = featureset_at(set, i);
        if (f->type != FEATURE_url) {
            continue;
        }
        size_t slash = slice_find(f->text, '/');
        size_t mark = slice_find(f->text, '?');
        size_t end = slash < mark ? slash : mark;
        struct slice host = slice_head(f->text, end);
        struct slice path = slice_head(slice_from(f->text, end), mark - end);
        host = slice_head(host, slice_find(host, ':'));
        n++;
        add_host(r, host);
        add_link_path(r, path, slice_from(f->text, mark));
        add_link_words(r, host);
        add_link_words(r, path);
    }
    vector_add_number(r, VECTOR_LINK,
                      "links=", vector_log2(featureset_count_type(set, FEATURE_url)));
    vector_add_number(r, VECTOR_LINK, "domains=",
                      vector_log2(featureset_count_type(set, FEATURE_url_domain)));
}

static void add_local_part(struct vector_reader *r, struct slice local)
{
    unsigned digits = 0;
    for (size_t i = 0; i < local.n; i++) {
        digits += ASCII_IS(local.p[i], ASCII_DIGIT);
    }
    if (digits >= 3) {
        vector_add(r, VECTOR_FIELD, SLICE_LIT("from-digits"));
    }
    if (local.n > LOCAL_LONG) {
        vector_add(r, VECTOR_FIELD, SLICE_LIT("from-long"));
    }
}

/* Whether links lead to the sender's domain: "own", "mixed", "away". */
static void add_link_owner(struct vector_reader *r, const struct featureset *set,
                           struct slice own)
{
    size_t n = 0;
    size_t nown = 0;
    for (size_t i = 0; i < featureset_count(set); i++) {
        const struct feature *f = featureset_at(set, i);
        if (f->type == FEATURE_url_domain) {
            n++;
            nown += slice_eq(f->text, own);
        }
    }
    if (n > 0) {
        vector_add_pair(r, VECTOR_RELATION, "links=",
                        nown == 0   ? SLICE_LIT("away")
                        : nown == n ? SLICE_LIT("own")
                                    : SLICE_LIT("mixed"));
    }
}

/* Who wrote, by domain, and whether links and answers go there. A domain that a signature proves is
 * another term than one that anybody can write. */
static void add_domain(struct vector_reader *r, const struct featureset *set)
{
    const struct feature *from = featureset_first(set, FEATURE_from_domain);
    const struct feature *reply = featureset_first(set, FEATURE_reply_to_domain);
    const struct feature *signer = featureset_first(set, FEATURE_dkim_domain);
    if (from == NULL) {
        return;
    }
    bool is_proved = signer != NULL && slice_is_at_or_below(signer->text, from->text);
    vector_add_pair(r, VECTOR_SENDER, is_proved ? "proved=" : "from=", from->text);
    add_link_owner(r, set, from->text);
    if (reply != NULL) {
        vector_add_pair(r, VECTOR_RELATION, "reply=",
                        slice_eq(reply->text, from->text) ? SLICE_LIT("own")
                                                          : SLICE_LIT("away"));
    }
}

void vector_add_sender(struct vector_reader *r, const struct featureset *set)
{
    const struct feature *from = featureset_first(set, FEATURE_from);
    const struct feature *name = featureset_first(set, FEATURE_display_name);
    if (from == NULL) {
        return; /* a gatherer took it out */
    }
    size_t at = slice_find(from->text, '@');
    add_local_part(r, slice_head(from->text, at));
    add_domain(r, set);
    vector_add_pair(r, VECTOR_FIELD, "from-top=", last_label(from->text));
    if (name == NULL) {
        vector_add(r, VECTOR_FIELD, SLICE_LIT("no-name"));
    } else {
        vector_words(r, VECTOR_NAME, name->text);
    }
}

/* Traits that tell of the way of the message or of the gatherer more than of its sender. */
static bool is_of_the_way(struct slice trait)
{
    static const char *const traits[] = {
        "date_ahead",          "date_behind",    "date_missing",     "date_odd",
        "envelope_elsewhere",  "field_repeated", "from_missing",     "from_odd",
        "message_id_missing",  "message_id_odd", "message_id_local", "to_missing",
        "reply_to_list",       "header_8bit",    "to_desk",          "mailer_lies",
        "message_id_no_mailer"};
    return name_index(trait, traits, LENGTH(traits)) >= 0 ||
           slice_has_prefix(trait, SLICE_LIT("limit_"));
}

void vector_add_signs(struct vector_reader *r, const struct featureset *set)
{
    for (size_t i = 0; i < featureset_count(set); i++) {
        const struct feature *f = featureset_at(set, i);
        if (f->type == FEATURE_trait && !is_of_the_way(f->text)) {
            vector_add(r, VECTOR_SIGN, f->text);
        }
    }
}
