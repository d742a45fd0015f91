/*
 * stix - indicators of STIX 2: bundles, and the envelopes of TAXII 2.1.
 *
 * It reads comparisons by = and IN (ISSUBSET of addresses), joined by OR within and between
 * [observations]. Values joined by AND must all be present, so they make no entry, except a
 * SHA-256, which alone identifies the file. Patterns with anything else are left out. valid_from
 * and valid_until are the times of the entries.
 * Source: STIX 2.1 (OASIS), sections 4.7 and 9.
 */

#include "core/base/uninitialized.h"
#include "core/feed/parser_internal.h"

enum { TERMS_MAX = 512, STIX_VALUE_MAX = 8192 };

struct term {
    uint16_t hint; /* FEATURE_NONE: nothing that mail has */
    bool is_checksum;
    bool is_and;        /* joined with the one before it */
    struct slice value; /* as quoted */
};

struct pattern {
    struct slice rest;
    size_t n;
    struct term term[TERMS_MAX];
    bool is_bad; /* not read: lists nothing */
};

bool feed_place_stix(const struct feed_json_path *path)
{
    return path->depth == 2 && path->level[1].open == '[' &&
           feed_path_is(path, 1, "objects");
}

/* ---- words of a pattern ---- */

static void skip_space(struct slice *s)
{
    while (s->n > 0 && strchr(" \t\r\n", s->p[0]) != NULL) {
        *s = slice_from(*s, 1);
    }
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_' || c == '.' || c == ':' || c == '\'' || c == '*' ||
           c == '[' || c == ']' || c == '"';
}

/* "file:hashes.'SHA-256'": up to white space or an operator. */
static struct slice cut_path(struct slice *s)
{
    size_t i = 0;
    bool is_quoted = false;
    while (i < s->n && is_word_byte(s->p[i]) && (is_quoted || s->p[i] != ']')) {
        is_quoted ^= s->p[i] == '\'' || s->p[i] == '"';
        i++;
    }
    struct slice path = slice_head(*s, i);
    *s = slice_from(*s, i);
    return path;
}

static bool cut_sign(struct slice *s, char c)
{
    skip_space(s);
    if (s->n == 0 || s->p[0] != c) {
        return false;
    }
    *s = slice_from(*s, 1);
    return true;
}

static bool cut_keyword(struct slice *s, const char *word)
{
    size_t n = strlen(word);
    skip_space(s);
    if (!slice_has_prefix_nocase(*s, slice_str(word)) ||
        (s->n > n && is_word_byte(s->p[n]) && s->p[n] != '\'' && s->p[n] != '[')) {
        return false;
    }
    *s = slice_from(*s, n);
    return true;
}

/* 'text' with \' and \\ in it; the quotes are dropped, the escapes stay. */
static bool cut_text(struct slice *s, struct slice *ret)
{
    if (!cut_sign(s, '\'')) {
        return false;
    }
    size_t i = 0;
    while (i < s->n && s->p[i] != '\'') {
        i += s->p[i] == '\\' ? 2 : 1;
    }
    if (i >= s->n) {
        return false;
    }
    *ret = slice_head(*s, i);
    *s = slice_from(*s, i + 1);
    return true;
}

/* ---- terms ---- */

static struct term term_of(struct slice path)
{
    static const struct {
        const char *path;
        uint16_t hint;
    } paths[] = {
        {"url:value", FEATURE_url},
        {"domain-name:value", FEATURE_domain},
        {"ipv4-addr:value", FEATURE_network},
        {"ipv6-addr:value", FEATURE_network},
        {"email-addr:value", FEATURE_address},
        {"email-message:from_ref.value", FEATURE_address},
        {"email-message:sender_ref.value", FEATURE_address},
        {"file:hashes.'SHA-256'", FEATURE_attachment},
        {"file:hashes.\"SHA-256\"", FEATURE_attachment},
        {"file:hashes.SHA256", FEATURE_attachment},
        {"file:hashes.'SHA256'", FEATURE_attachment},
        {"artifact:hashes.'SHA-256'", FEATURE_attachment},
    };
    for (size_t i = 0; i < LENGTH(paths); i++) {
        if (slice_eq_nocase(path, slice_str(paths[i].path))) {
            return (struct term){.hint = paths[i].hint};
        }
    }
    return (struct term){.is_checksum =
                             slice_find_slice(path, SLICE_LIT(":hashes")) < path.n};
}

static void add_term(struct pattern *p, struct term t)
{
    if (p->n == TERMS_MAX) {
        p->is_bad = true;
        return;
    }
    p->term[p->n++] = t;
}

/* PATH IN ('a', 'b'): any of them. */
static void read_set(struct pattern *p, struct term t)
{
    p->is_bad = t.is_and || !cut_sign(&p->rest, '(');
    do {
        p->is_bad = p->is_bad || !cut_text(&p->rest, &t.value);
        if (!p->is_bad) {
            add_term(p, t);
        }
    } while (!p->is_bad && cut_sign(&p->rest, ','));
    p->is_bad = p->is_bad || !cut_sign(&p->rest, ')');
}

/* Returns whether AND may join the next one. */
static bool read_comparison(struct pattern *p, bool is_and)
{
    skip_space(&p->rest);
    struct slice path = cut_path(&p->rest);
    struct term t = term_of(path);

    t.is_and = is_and;
    if (path.n == 0 || slice_find(path, ':') == path.n) {
        p->is_bad = true;
        return false;
    }
    if (cut_keyword(&p->rest, "IN")) {
        read_set(p, t);
        return false;
    }
    bool is_equal = cut_sign(&p->rest, '=');
    if (!is_equal && t.hint == FEATURE_network) {
        is_equal = cut_keyword(&p->rest, "ISSUBSET");
    }
    p->is_bad = !is_equal || !cut_text(&p->rest, &t.value);
    if (!p->is_bad) {
        add_term(p, t);
    }
    return true;
}

/* a OR b AND c */
static void read_observation(struct pattern *p)
{
    bool is_and = false;
    bool is_more = true;

    while (is_more && !p->is_bad) {
        bool may_join = read_comparison(p, is_and);
        is_and = !p->is_bad && may_join && cut_keyword(&p->rest, "AND");
        is_more = is_and || cut_keyword(&p->rest, "OR");
    }
}

/* [...] OR [...]; a pattern with more is left out. */
static void read_pattern(struct pattern *p)
{
    bool is_more = true;

    while (is_more && !p->is_bad) {
        p->is_bad = !cut_sign(&p->rest, '[');
        read_observation(p);
        p->is_bad = p->is_bad || !cut_sign(&p->rest, ']');
        is_more = !p->is_bad && cut_keyword(&p->rest, "OR");
    }
    skip_space(&p->rest);
    p->is_bad = p->is_bad || p->rest.n > 0;
}

/* ---- what it lists ---- */

static void emit_term(struct feed *f, const struct term *t,
                      const struct feed_times *times)
{
    char value[STIX_VALUE_MAX] UNINITIALIZED;
    size_t n = 0;

    if (t->value.n > sizeof(value)) {
        feed_bad(f, "the value is too long", t->value);
        return;
    }
    for (size_t i = 0; i < t->value.n; i++) {
        i += t->value.p[i] == '\\' && i + 1 < t->value.n;
        value[n++] = t->value.p[i];
    }
    feed_emit_timed(f, slice_of(value, n), t->hint, times);
}

/* n terms that AND joined. */
static void emit_joined(struct feed *f, const struct term *t, size_t n,
                        const struct feed_times *times)
{
    for (size_t i = 0; i < n; i++) {
        if (t[i].hint == FEATURE_attachment) {
            emit_term(f, &t[i], times);
            return;
        }
    }
    if (n == 1 && t->hint != FEATURE_NONE) {
        emit_term(f, t, times);
    } else {
        feed_unused(f, n == 1 && t->is_checksum ? FEED_UNUSED_checksum
                                                : FEED_UNUSED_other);
    }
}

static void emit_pattern(struct feed *f, struct slice text,
                         const struct feed_times *times)
{
    struct pattern p UNINITIALIZED;

    p.rest = text;
    p.n = 0;
    p.is_bad = false;
    read_pattern(&p);
    if (p.is_bad) {
        feed_unused(f, FEED_UNUSED_other);
        return;
    }
    for (size_t i = 0, n = 0; i < p.n && f->failed == ERR_OK; i += n) {
        n = 1;
        while (i + n < p.n && p.term[i + n].is_and) {
            n++;
        }
        emit_joined(f, p.term + i, n, times);
    }
}

static bool has_label(const json_t *labels, const char *word)
{
    for (size_t i = 0; i < json_array_size(labels); i++) {
        const char *label = json_string_value(json_array_get(labels, i));
        if (label != NULL && strcmp(label, word) == 0) {
            return true;
        }
    }
    return false;
}

void feed_fields_stix(struct feed *f, struct feed_fields *r)
{
    struct slice kind = feed_field(r, "pattern_type"); /* version 2.0 has none */
    struct slice confidence = feed_field(r, "confidence");
    struct feed_times times = {
        .first_seen_s = feed_time(feed_field(r, "valid_from")),
        .expiry_s = feed_time(feed_field(r, "valid_until")),
    };
    bool is_benign =
        has_label(json_object_get(r->object, "indicator_types"), "benign") ||
        has_label(json_object_get(r->object, "labels"), "benign");

    if (!slice_eq(feed_field(r, "type"), SLICE_LIT("indicator"))) {
        feed_ignored(f); /* what surrounds the indicators */
    } else if (slice_eq(feed_field(r, "revoked"), SLICE_LIT("true"))) {
        feed_unused(f, FEED_UNUSED_revoked);
    } else if (is_benign || slice_eq(confidence, SLICE_LIT("0")) ||
               (f->options.now_s != 0 && times.first_seen_s > f->options.now_s)) {
        feed_unused(f, FEED_UNUSED_doubtful); /* or not yet */
    } else if (kind.n > 0 && !slice_eq(kind, SLICE_LIT("stix"))) {
        feed_unused(f, FEED_UNUSED_other);
    } else {
        emit_pattern(f, feed_field(r, "pattern"), &times);
    }
}
