/*
 * rpz - response policy zones, read from a zone file.
 *
 * Read are $ORIGIN and $TTL, "@", relative names, owners left out, comments, strings, records in
 * parentheses. Listed are names and networks whose records block or rewrite; passthru and
 * tcp-only rules and the triggers that mail has no use for (rpz-nsdname, rpz-nsip,
 * rpz-client-ip) are ignored. $INCLUDE and $GENERATE are not followed.
 * Source: RFC 1035 5.1; draft-vixie-dnsop-dns-rpz-00 sections 3 and 4.
 */

#include "core/feed/parser_internal.h"
#include "core/message/url/host.h"

/* Parentheses do not nest (RFC 1035). */
enum { RPZ_WORDS = 8, PARENS_BAD = 2 };

struct words {
    bool has_owner; /* the line began with one */
    size_t n;
    struct slice v[RPZ_WORDS];
};

static bool is_any_of(char c, const char *bytes)
{
    return c != '\0' && strchr(bytes, c) != NULL;
}

/* Length of the word at the beginning of s; strings and escapes stay whole. */
static size_t word_length(struct slice s)
{
    bool is_quoted = false;
    size_t i = 0;

    while (i < s.n) {
        char c = s.p[i];
        if (c == '\n') {
            break;
        }
        if (c == '\\' && i + 1 < s.n && s.p[i + 1] != '\n') {
            i++;
        } else if (c == '"') {
            is_quoted = !is_quoted;
        } else if (!is_quoted && is_any_of(c, " \t\r();")) {
            break;
        }
        i++;
    }
    return i;
}

/* Parentheses open behind this line (PARENS_BAD: they do not match). Strings end with it. */
static unsigned parens_after(struct slice line, unsigned depth)
{
    size_t i = 0;
    while (i < line.n && line.p[i] != ';') {
        size_t n = word_length(slice_from(line, i));
        char c = line.p[i];
        i += n > 0 ? n : 1;
        if (n > 0 || (c != '(' && c != ')')) {
            continue;
        }
        if ((c == '(') == (depth > 0)) {
            return PARENS_BAD;
        }
        depth = c == '(';
    }
    return depth;
}

static void split(struct slice s, struct words *ret)
{
    size_t i = 0;

    ret->n = 0;
    ret->has_owner = s.n > 0 && !is_any_of(s.p[0], " \t(;");
    while (i < s.n) {
        size_t n = word_length(slice_from(s, i));
        if (n > 0) {
            if (ret->n < RPZ_WORDS) {
                ret->v[ret->n++] = slice_of(s.p + i, n);
            }
            i += n;
        } else if (s.p[i] == ';') {
            i += slice_find(slice_from(s, i), '\n');
        } else {
            i++;
        }
    }
}

static struct slice name_slice(const struct rpz_name *name)
{
    return slice_of(name->p, name->n);
}

/* Full name without final dot: relative ones get the origin. */
static bool full_name(const struct feed_rpz *z, struct slice text, struct rpz_name *ret)
{
    struct rpz_name name = {.n = 0};
    bool is_absolute = text.n > 0 && text.p[text.n - 1] == '.';

    if (slice_eq(text, SLICE_LIT("@"))) {
        text = SLICE_NONE;
    }
    if (is_absolute) {
        text.n--;
    }
    size_t rest = is_absolute ? 0 : z->origin.n;
    if (text.n + 1 + rest > RPZ_NAME_MAX) {
        return false;
    }
    if (text.n > 0 && text.p != NULL) {
        memcpy(name.p, text.p, text.n);
        name.n = text.n;
    }
    if (rest > 0) {
        if (name.n > 0) {
            name.p[name.n++] = '.';
        }
        memcpy(name.p + name.n, z->origin.p, rest);
        name.n += rest;
    }
    *ret = name;
    return true;
}

static void directive(struct feed *f, const struct words *w, struct slice line)
{
    struct feed_rpz *z = &f->rpz;
    struct rpz_name origin;

    if (slice_eq_nocase(w->v[0], SLICE_LIT("$TTL"))) {
        feed_ignored(f);
        return;
    }
    if (!slice_eq_nocase(w->v[0], SLICE_LIT("$ORIGIN"))) {
        feed_bad(f, "this directive is not followed", line);
        return;
    }
    if (w->n < 2 || !full_name(z, w->v[1], &origin)) {
        feed_bad(f, "$ORIGIN has no name, or one that is too long", line);
        return;
    }
    z->origin = origin;
    z->has_origin = true;
    if (!z->has_soa && !z->has_apex) {
        z->apex = origin;
        z->has_apex = true;
    }
    feed_ignored(f);
}

/* Sets z->owner from the words; says why it cannot be read. */
static const char *read_owner(struct feed_rpz *z, struct slice text)
{
    bool is_absolute = text.n > 0 && text.p[text.n - 1] == '.';

    z->owner_is_known = false;
    if (memchr(text.p, '\\', text.n) != NULL) {
        return "names with escapes are not read";
    }
    if (!full_name(z, text, &z->owner)) {
        return "the name is too long";
    }
    z->owner_is_known = z->has_apex || (!is_absolute && !z->has_origin);
    return NULL;
}

/* The owner below the apex: the trigger. Empty for the apex itself; p == NULL: not below. */
static struct slice trigger_of(const struct feed_rpz *z)
{
    struct slice owner = name_slice(&z->owner);
    struct slice apex = name_slice(&z->apex);

    if (apex.n == 0) {
        return owner;
    }
    if (slice_eq_nocase(owner, apex)) {
        return slice_of(owner.p, 0);
    }
    if (owner.n <= apex.n + 1 || owner.p[owner.n - apex.n - 1] != '.' ||
        !slice_has_suffix_nocase(owner, apex)) {
        return SLICE_NONE;
    }
    return slice_head(owner, owner.n - apex.n - 1);
}

/* Whether records with this type and target list their owner. */
static bool lists(struct slice type, struct slice target, struct slice trigger)
{
    static const char *const passing[] = {"rpz-passthru", "rpz-tcp-only"};

    if (slice_eq_nocase(type, SLICE_LIT("A")) ||
        slice_eq_nocase(type, SLICE_LIT("AAAA"))) {
        return true;
    }
    if (!slice_eq_nocase(type, SLICE_LIT("CNAME"))) {
        return false;
    }
    if (target.n > 1 && target.p[target.n - 1] == '.') {
        target.n--;
    }
    for (size_t i = 0; i < LENGTH(passing); i++) {
        if (slice_eq_nocase(target, slice_str(passing[i]))) {
            return false;
        }
    }
    return !slice_eq_nocase(target, trigger); /* the old spelling of passthru */
}

/* "24.zz.db8.2001" -> "2001:db8::/24", "32.4.2.0.192" -> "192.0.2.4/32". */
static bool network_text(struct slice labels, char *dst, size_t size)
{
    struct slice part[10];
    size_t n = 0;
    size_t used = 0;

    while (labels.p != NULL && n < 10) {
        part[n] = slice_cut(&labels, '.');
        if (part[n].n == 0 || part[n].n > 4) {
            return false;
        }
        n++;
    }
    bool has_zz = false;
    for (size_t i = 1; i < n; i++) {
        has_zz = has_zz || slice_eq_nocase(part[i], SLICE_LIT("zz"));
    }
    if (labels.p != NULL || n < 3 || (!has_zz && n != 5 && n != 9)) {
        return false;
    }
    char separator = n == 5 && !has_zz ? '.' : ':';
    for (size_t i = n - 1; i >= 1; i--) {
        bool is_zz = slice_eq_nocase(part[i], SLICE_LIT("zz"));
        /* "::" takes the colon before it along, and is whole where it stands first */
        const char *gap = i == n - 1 ? "::" : ":";
        int k = is_zz ? snprintf(dst + used, size - used, "%s", gap)
                      : snprintf(dst + used, size - used, "%.*s%.*s",
                                 SLICE_ARGS(part[i]), i > 1 ? 1 : 0, &separator);
        used += (size_t)k;
    }
    (void)snprintf(dst + used, size - used, "/%.*s", SLICE_ARGS(part[0]));
    return true;
}

static void emit_trigger(struct feed *f, struct slice trigger)
{
    static const char *const unused[] = {".rpz-nsdname", ".rpz-nsip", ".rpz-client-ip"};
    struct slice ip = SLICE_LIT(".rpz-ip");
    char text[64];

    for (size_t i = 0; i < LENGTH(unused); i++) {
        if (slice_has_suffix_nocase(trigger, slice_str(unused[i]))) {
            feed_ignored(f);
            return;
        }
    }
    if (slice_has_suffix_nocase(trigger, ip)) {
        if (!network_text(slice_head(trigger, trigger.n - ip.n), text, sizeof(text))) {
            feed_bad(f, "this is no network as rpz-ip writes it", trigger);
            return;
        }
        feed_emit(f, slice_str(text), FEATURE_network);
    } else if (slice_has_prefix(trigger, SLICE_LIT("*."))) {
        feed_emit(f, slice_from(trigger, 2), FEATURE_domain);
    } else {
        feed_emit(f, trigger, FEATURE_host);
    }
}

static bool is_ttl_or_class(struct slice word)
{
    return (word.n > 0 && word.p[0] >= '0' && word.p[0] <= '9') ||
           slice_eq_nocase(word, SLICE_LIT("IN")) ||
           slice_eq_nocase(word, SLICE_LIT("CH")) ||
           slice_eq_nocase(word, SLICE_LIT("HS"));
}

/* The zone's own name comes from its SOA record. */
static void read_soa(struct feed *f)
{
    struct feed_rpz *z = &f->rpz;
    z->has_soa = true;
    z->apex = z->owner;
    z->has_apex = z->owner.n > 0 || z->has_origin;
    feed_ignored(f);
}

static void read_rpz_record(struct feed *f, struct slice record, const struct words *w)
{
    struct feed_rpz *z = &f->rpz;
    size_t i = w->has_owner ? 1 : 0;

    if (w->has_owner) {
        const char *reason = read_owner(z, w->v[0]);
        if (reason != NULL) {
            feed_bad(f, reason, record);
            return;
        }
    }
    while (i < w->n && is_ttl_or_class(w->v[i])) {
        i++;
    }
    if (i < w->n && slice_eq_nocase(w->v[i], SLICE_LIT("SOA"))) {
        read_soa(f);
        return;
    }
    if (i + 1 >= w->n) {
        feed_bad(f, "this is no zone record", record);
        return;
    }
    struct slice trigger = trigger_of(z);
    bool is_apex = trigger.n == 0 && trigger.p != NULL; /* the zone's own NS, A */
    if (is_apex || !lists(w->v[i], w->v[i + 1], trigger)) {
        feed_ignored(f);
    } else if (trigger.p == NULL || !z->owner_is_known) {
        feed_bad(f, "the name does not lie in the zone; a $ORIGIN line must name it",
                 record);
    } else {
        emit_trigger(f, trigger);
    }
}

void feed_line_rpz(struct feed *f, struct slice line)
{
    struct words w;
    struct slice record = line;
    bool is_open = f->record.lines > 0;
    unsigned depth = parens_after(line, is_open ? 1 : 0);

    if (is_open || depth == 1) {
        if (!feed_record_add(f, line,
                             "a parenthesis is not closed within 16384 bytes") ||
            depth == 1) {
            return;
        }
        record = slice_of(f->record.p, f->record.n);
    }
    split(record, &w);
    if (depth == PARENS_BAD) {
        feed_bad(f, "parentheses do not match", record);
    } else if (w.n == 0) {
        feed_ignored(f);
    } else if (w.has_owner && w.v[0].p[0] == '$') {
        directive(f, &w, record);
    } else {
        read_rpz_record(f, record, &w);
    }
    feed_record_end(f);
}
