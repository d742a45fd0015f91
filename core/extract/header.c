#include "core/extract/inside.h"
#include "core/feature/normal.h"
#include "core/text/address.h"
#include "core/text/encoded_word.h"
#include "core/text/fold.h"

enum { MESSAGE_ID_MAX = 998 };

/* Fields in which no sender's URL stands, or only those that servers on the way wrote. */
static bool has_no_links(struct slice name)
{
    static const char *const names[] = {"Received",
                                        "DKIM-Signature",
                                        "Authentication-Results",
                                        "References",
                                        "Message-ID",
                                        "In-Reply-To",
                                        "Received-SPF",
                                        "X-Google-DKIM-Signature",
                                        "DomainKey-Signature",
                                        "Content-Type",
                                        "MIME-Version",
                                        "Date",
                                        "Delivered-To",
                                        "Content-Transfer-Encoding"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (slice_eq_nocase(name, slice_str(names[i]))) {
            return true;
        }
    }
    return slice_has_prefix_nocase(name, SLICE_LIT("ARC-")) ||
           slice_has_prefix_nocase(name, SLICE_LIT("X-Gillnet-"));
}

static void add_addresses(struct extract *x, enum feature_type type,
                          enum feature_type domain_type, struct slice value)
{
    struct address list[EXTRACT_ADDRESSES_MAX];
    bool more = false;
    size_t n =
        address_list_parse(x->scratch, value, list, EXTRACT_ADDRESSES_MAX, &more);
    for (size_t i = 0; i < n; i++) {
        extract_add_address(x, type, domain_type, list[i].text, list[i].domain);
    }
    if (more) {
        featureset_set_limit(x->set, LIMIT_FLAG(addresses));
    }
}

static void add_subject(struct extract *x, struct slice value)
{
    struct slice text = encoded_word_decode(x->scratch, value);
    featureset_add(x->set, FEATURE_subject, feature_normal_subject(x->scratch, text));
    featureset_add(x->set, FEATURE_subject_skeleton, fold_subject(x->scratch, text));
}

static void keep_message_id(struct extract *x, struct slice value)
{
    if (x->message_id.n == 0) {
        x->message_id = arena_copy(x->arena, slice_head(value, MESSAGE_ID_MAX));
    }
}

/* A field of the message itself. */
static void own_field(struct extract *x, struct slice name, struct slice value)
{
    if (slice_eq_nocase(name, SLICE_LIT("Subject"))) {
        add_subject(x, value);
    } else if (slice_eq_nocase(name, SLICE_LIT("From"))) {
        add_addresses(x, FEATURE_from, FEATURE_from_domain, value);
    } else if (slice_eq_nocase(name, SLICE_LIT("Reply-To"))) {
        add_addresses(x, FEATURE_reply_to, FEATURE_reply_to_domain, value);
    } else if (slice_eq_nocase(name, SLICE_LIT("Sender"))) {
        add_addresses(x, FEATURE_sender, FEATURE_sender_domain, value);
    } else if (slice_eq_nocase(name, SLICE_LIT("Message-ID"))) {
        keep_message_id(x, value);
    } else if (slice_eq_nocase(name, SLICE_LIT("Authentication-Results"))) {
        extract_auth_field(x, value);
    } else if (slice_eq_nocase(name, SLICE_LIT("Return-Path")) && x->is_raw &&
               !x->has_mail_from) {
        extract_add_mail_from(x, value);
    }
}

void extract_links_of_field(struct extract *x, struct slice name, struct slice value)
{
    /* A URL has a dot: most fields of most mails end here. */
    if (slice_find(value, '.') == value.n && slice_find(value, '?') == value.n) {
        return;
    }
    if (!has_no_links(name)) {
        /* Not in scratch: that is reset for each URL. */
        struct slice text = encoded_word_decode(x->text, value);
        if (slice_eq_nocase(name, SLICE_LIT("Subject"))) {
            extract_links_in(x, text, 0);
        } else {
            extract_header_links(x, text);
        }
        arena_reset(x->text);
    }
}

void extract_on_header(void *context, const struct mail_part *part, struct slice name,
                       struct slice value)
{
    struct extract *x = context;
    if (x->stopped) {
        return;
    }
    extract_cpu_step(x, value.n);
    extract_place(x, part, name);
    if (part == NULL) {
        own_field(x, name, value);
        arena_reset(x->scratch);
    }
    extract_links_of_field(x, name, value);
    extract_place(x, NULL, SLICE_NONE); /* name is not ours */
}
