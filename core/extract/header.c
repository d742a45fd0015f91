#include "core/base/unfilled.h"
#include "core/extract/inside.h"
#include "core/feature/normal.h"
#include "core/text/encoded_word.h"
#include "core/text/fold.h"
#include "core/url/address.h"
#include "core/url/host.h"

enum { MESSAGE_ID_MAX = 998, LIST_ID_MAX = 255 };

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

/* Decoded, white space as in subjects. */
static void add_text(struct extract *x, enum feature_type type, struct slice value)
{
    struct slice text = encoded_word_decode(x->scratch, value);
    featureset_add(x->set, type, feature_normal_subject(x->scratch, text));
}

static void add_addresses(struct extract *x, enum feature_type type,
                          enum feature_type domain_type, struct slice value)
{
    struct address list[EXTRACT_ADDRESSES_MAX] UNFILLED;
    bool more = false;
    size_t n =
        address_list_parse(x->scratch, value, list, EXTRACT_ADDRESSES_MAX, &more);
    for (size_t i = 0; i < n; i++) {
        extract_add_address(x, type, domain_type, list[i].text, list[i].domain);
        if (type == FEATURE_from && list[i].display.n > 0) {
            add_text(x, FEATURE_display_name, list[i].display);
        }
    }
    if (more) {
        featureset_set_limit(x->set, LIMIT_FLAG(addresses));
    }
}

static void on_subject(struct extract *x, struct slice value)
{
    struct slice text = encoded_word_decode(x->scratch, value);
    featureset_add(x->set, FEATURE_subject, feature_normal_subject(x->scratch, text));
    featureset_add(x->set, FEATURE_subject_skeleton, fold_subject(x->scratch, text));
}

static void on_from(struct extract *x, struct slice value)
{
    add_addresses(x, FEATURE_from, FEATURE_from_domain, value);
}

static void on_reply_to(struct extract *x, struct slice value)
{
    add_addresses(x, FEATURE_reply_to, FEATURE_reply_to_domain, value);
}

static void on_sender(struct extract *x, struct slice value)
{
    add_addresses(x, FEATURE_sender, FEATURE_sender_domain, value);
}

/* In a file the first one is the envelope; what comes with a message says so itself. */
static void on_return_path(struct extract *x, struct slice value)
{
    if (x->is_raw && !x->has_mail_from) {
        extract_add_mail_from(x, value);
    } else {
        add_addresses(x, FEATURE_return_path, FEATURE_return_path_domain, value);
    }
}

/* What is in the last <>, or all of the value. */
static struct slice without_angles(struct slice value)
{
    size_t end = value.n;
    while (end > 0 && value.p[end - 1] != '>') {
        end--;
    }
    return end > 0 ? slice_head(value, end - 1) : value;
}

static void on_message_id(struct extract *x, struct slice value)
{
    struct slice id = without_angles(value);
    size_t at = id.n;
    struct host host;
    if (x->message_id.n == 0) {
        x->message_id = arena_copy(x->arena, slice_head(value, MESSAGE_ID_MAX));
    }
    while (at > 0 && id.p[at - 1] != '@') {
        at--;
    }
    if (at > 0 &&
        host_parse(x->scratch, slice_trim(slice_from(id, at)), &host) == ERR_OK) {
        featureset_add(x->set, FEATURE_message_id_domain, host.text);
    }
}

static void on_list_id(struct extract *x, struct slice value)
{
    struct slice id = feature_normal_list_id(x->scratch, value);
    featureset_add(x->set, FEATURE_list_id, slice_head(id, LIST_ID_MAX));
}

static void on_mailer(struct extract *x, struct slice value)
{
    add_text(x, FEATURE_mailer, value);
}

/* A field of the message itself. */
static void own_field(struct extract *x, struct slice name, struct slice value)
{
    static const struct {
        struct slice name;
        void (*read)(struct extract *x, struct slice value);
    } fields[] = {
        {{"Subject", 7}, on_subject},
        {{"From", 4}, on_from},
        {{"Reply-To", 8}, on_reply_to},
        {{"Sender", 6}, on_sender},
        {{"Message-ID", 10}, on_message_id},
        {{"Authentication-Results", 22}, extract_auth_field},
        {{"Return-Path", 11}, on_return_path},
        {{"List-Id", 7}, on_list_id},
        {{"X-Mailer", 8}, on_mailer},
        {{"User-Agent", 10}, on_mailer},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (slice_eq_nocase(name, fields[i].name)) {
            fields[i].read(x, value);
            return;
        }
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
