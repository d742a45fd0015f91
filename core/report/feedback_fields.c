/* feedback_fields - header fields, and the fields of abuse reports and delivery status. */
#include "core/report/feedback_internal.h"

enum { NAME_MAX_BYTES = 77 };

/* ---- lines ---- */

/* The next field of *rest, with its folded lines; empty at a line that is no field. */
struct field {
    struct slice name;
    struct slice value;
    bool is_blank; /* an empty line */
};

static bool is_folded(struct slice rest)
{
    return rest.n > 0 && (rest.p[0] == ' ' || rest.p[0] == '\t');
}

static bool is_field_name(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] <= ' ' || s.p[i] >= 0x7f) {
            return false;
        }
    }
    return s.n > 0 && s.n <= NAME_MAX_BYTES;
}

static struct field next_field(struct slice *rest)
{
    const char *begin = rest->p;
    struct slice line = slice_cut(rest, '\n');
    size_t colon = 0;
    size_t n = line.n;

    if (slice_trim(line).n == 0) {
        return (struct field){.is_blank = true};
    }
    while (is_folded(*rest)) {
        line = slice_cut(rest, '\n');
        n = (size_t)(line.p - begin) + line.n;
    }
    struct slice all = slice_of(begin, n);
    colon = slice_find(all, ':');
    struct slice name = slice_trim(slice_head(all, colon));
    if (colon == n || !is_field_name(name)) {
        return (struct field){.is_blank = false};
    }
    struct slice value = slice_trim(slice_from(all, colon + 1));
    return (struct field){.name = name, .value = slice_head(value, FEEDBACK_VALUE_MAX)};
}

struct slice feedback_field(struct slice text, struct slice name)
{
    while (text.n > 0) {
        struct field f = next_field(&text);
        if (f.is_blank) {
            break;
        }
        if (slice_eq_nocase(f.name, name)) {
            return f.value;
        }
    }
    return SLICE_NONE;
}

bool feedback_is_mail(struct slice text)
{
    if (slice_has_prefix(text, SLICE_LIT("From "))) {
        (void)slice_cut(&text, '\n');
    }
    return next_field(&text).name.n > 0;
}

struct slice feedback_bare(struct slice value)
{
    size_t open = slice_find(value, '<');

    if (open < value.n) {
        value = slice_from(value, open + 1);
        value = slice_head(value, slice_find(value, '>'));
    }
    return slice_trim(value);
}

/* The first one stays. */
static void set_first(struct slice *field, struct slice value)
{
    if (field->n == 0) {
        *field = value;
    }
}

/* ---- RFC 5965 ---- */

/* Without the types that are not about content: auth-failure, opt-out, other. */
static enum feedback_opinion opinion_of(struct slice type)
{
    static const struct {
        const char *word;
        enum feedback_opinion opinion;
    } words[] = {{"abuse", FEEDBACK_SPAM},
                 {"fraud", FEEDBACK_SPAM},
                 {"virus", FEEDBACK_SPAM},
                 {"not-spam", FEEDBACK_HAM}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (slice_eq_nocase(type, slice_str(words[i].word))) {
            return words[i].opinion;
        }
    }
    return FEEDBACK_SILENT;
}

/* Some gateways put an empty line before the fields, so empty lines end nothing. */
void feedback_read_abuse(struct slice text, struct feedback *ret)
{
    bool has_type = false;

    while (text.n > 0) {
        struct field f = next_field(&text);
        if (slice_eq_nocase(f.name, SLICE_LIT("Feedback-Type")) && !has_type) {
            ret->opinion = opinion_of(f.value);
            has_type = true;
        } else if (slice_eq_nocase(f.name, SLICE_LIT("Original-Mail-From"))) {
            set_first(&ret->original.mail_from, feedback_bare(f.value));
        } else if (slice_eq_nocase(f.name, SLICE_LIT("Original-Rcpt-To"))) {
            set_first(&ret->original.rcpt, feedback_bare(f.value));
        } else if (slice_eq_nocase(f.name, SLICE_LIT("Source-IP"))) {
            set_first(&ret->original.source_ip, f.value);
        }
    }
}

/* ---- RFC 3464 ---- */

/* "rfc822; ann@example.org" without its type. */
static struct slice typed_value(struct slice value)
{
    size_t semicolon = slice_find(value, ';');

    return feedback_bare(semicolon < value.n ? slice_from(value, semicolon + 1)
                                             : value);
}

/* The fields of one recipient. */
struct recipient {
    struct slice original;
    struct slice final;
    struct slice status;
    bool has_failed;
};

/* 5.7.0, 5.7.1 and codes of providers, such as 5.7.350. The registered ones between (5.7.2 to
 * 5.7.99) are about authentication, encryption and routes. */
static bool is_spam_status(struct slice status)
{
    enum { DECIMAL = 10, REGISTERED_MAX = 99, ANY_MAX = 999 };
    uint64_t detail = 0;

    return slice_has_prefix(status, SLICE_LIT("5.7.")) &&
           slice_to_u64(slice_from(status, 4), DECIMAL, ANY_MAX, &detail) &&
           (detail < 2 || detail > REGISTERED_MAX);
}

static void end_recipient(const struct recipient *r, struct feedback *ret)
{
    struct slice address = r->original.n > 0 ? r->original : r->final;
    bool is_spam = r->has_failed && is_spam_status(r->status);

    if (!r->has_failed || address.n == 0 || ret->is_refused_as_spam ||
        (ret->original.rcpt.n > 0 && !is_spam)) {
        return;
    }
    ret->original.rcpt = address;
    ret->original.status = r->status;
    ret->is_refused_as_spam = is_spam;
}

void feedback_read_status(struct slice text, struct feedback *ret)
{
    struct recipient r = {.has_failed = false};

    while (text.n > 0) {
        struct field f = next_field(&text);
        if (f.is_blank) {
            end_recipient(&r, ret);
            r = (struct recipient){.has_failed = false};
        } else if (slice_eq_nocase(f.name, SLICE_LIT("Original-Recipient"))) {
            r.original = typed_value(f.value);
        } else if (slice_eq_nocase(f.name, SLICE_LIT("Final-Recipient"))) {
            r.final = typed_value(f.value);
        } else if (slice_eq_nocase(f.name, SLICE_LIT("Status"))) {
            r.status = slice_head(f.value, slice_find(f.value, ' '));
        } else if (slice_eq_nocase(f.name, SLICE_LIT("Action"))) {
            r.has_failed = slice_has_prefix_nocase(f.value, SLICE_LIT("failed"));
        }
    }
    end_recipient(&r, ret);
}
