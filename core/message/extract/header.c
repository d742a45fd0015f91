#include "core/base/uninitialized.h"
#include "core/message/extract/conversation.h"
#include "core/message/extract/extract_internal.h"
#include "core/message/feature/normalize.h"
#include "core/message/text/encoded_word.h"
#include "core/message/text/fold.h"
#include "core/message/trait/sender_name.h"
#include "core/message/trait/subject_trait.h"
#include "core/message/url/address.h"
#include "core/message/url/host.h"

enum { MESSAGE_ID_MAX = 998, LIST_ID_MAX = 255 };

/* Decoded, white space as in subjects. */
static void add_text(struct extract *x, enum feature_type type, struct slice value)
{
    struct slice text = encoded_word_decode(x->scratch, value);
    featureset_add(x->set, type, feature_normal_subject(x->scratch, text));
}

/* The name beside an address of From. */
static void add_name(struct extract *x, const struct address *a)
{
    struct traits found = {0};
    struct slice name =
        feature_normal_subject(x->scratch, encoded_word_decode(x->scratch, a->display));
    featureset_add(x->set, FEATURE_display_name, name);
    sender_name_traits(x->scratch, a->display, name, a->domain, &found);
    extract_traits(x, &found);
}

/* One address of a field: kept, or only looked up. */
static void add_listed(struct extract *x, enum feature_type type,
                       enum feature_type domain_type, const struct address *a,
                       bool has_room)
{
    if (!has_room) {
        featureset_overflow(x->set, type, a->text);
        return;
    }
    extract_add_address(x, type, domain_type, a->text, a->domain);
    if (type == FEATURE_from && a->display.n > 0) {
        add_name(x, a);
    }
}

static void add_addresses(struct extract *x, enum feature_type type,
                          enum feature_type domain_type, struct slice value)
{
    struct address list[EXTRACT_ADDRESSES_STEP] UNINITIALIZED;
    size_t nkept = 0;
    size_t n = 0;
    do {
        n = address_list_parse(x->scratch, value, list, EXTRACT_ADDRESSES_STEP, &value);
        for (size_t i = 0; i < n; i++) {
            add_listed(x, type, domain_type, &list[i], nkept < x->limits.addresses);
            nkept++;
        }
        arena_reset(x->scratch);
    } while (n > 0 && value.n > 0);
    if (nkept > x->limits.addresses) {
        featureset_set_limit(x->set, LIMIT_FLAG(addresses));
    }
}

static void on_subject(struct extract *x, struct slice value)
{
    struct traits found = {0};
    struct slice text = encoded_word_decode(x->scratch, value);
    featureset_add(x->set, FEATURE_subject, feature_normal_subject(x->scratch, text));
    featureset_add(x->set, FEATURE_subject_skeleton, fold_subject(x->scratch, text));
    subject_traits(value, text, &found);
    extract_traits(x, &found);
    x->facts.has_subject = x->facts.has_subject || slice_trim(text).n > 0;
    x->facts.is_reply = x->facts.is_reply || subject_is_reply(text);
}

static void on_from(struct extract *x, struct slice value)
{
    size_t before = featureset_count(x->set);
    add_addresses(x, FEATURE_from, FEATURE_from_domain, value);
    struct slice name = sender_name_broken(value);
    bool is_one = slice_find(slice_from(value, slice_find(value, '@') + 1), '@') ==
                  value.n - slice_find(value, '@') - 1;
    if (name.n > 0 && is_one && featureset_count(x->set) > before) {
        extract_trait(x, TRAIT_name_broken);
        add_text(x, FEATURE_display_name, name);
    }
}

static void on_reply_to(struct extract *x, struct slice value)
{
    add_addresses(x, FEATURE_reply_to, FEATURE_reply_to_domain, value);
}

static void on_sender(struct extract *x, struct slice value)
{
    add_addresses(x, FEATURE_sender, FEATURE_sender_domain, value);
}

/* In a file the first one is the envelope; over SMTP the MTA gives the envelope. */
static void on_return_path(struct extract *x, struct slice value)
{
    if (x->is_raw && !x->has_mail_from) {
        extract_add_mail_from(x, value);
    } else {
        add_addresses(x, FEATURE_return_path, FEATURE_return_path_domain, value);
    }
}

/* The text in the last <>, or the whole value. */
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
    mailing_list_id(&x->list, id);
    conversation_list(x, value);
}

static void on_list_address(struct extract *x, struct slice value)
{
    mailing_list_address(&x->list, value);
    conversation_list(x, value);
}

static void on_precedence(struct extract *x, struct slice value)
{
    mailing_list_precedence(&x->list, value);
    conversation_precedence(x, value);
}

static void on_mailer(struct extract *x, struct slice value)
{
    add_text(x, FEATURE_mailer, value);
}

/* Which URLs are taken from a field. */
enum field_links {
    LINKS_NONE,
    LINKS_TEXT,    /* as from running text: a reader sees it so */
    LINKS_MARKED,  /* with a scheme or "www.": the rest are names and addresses */
    LINKS_SOUGHT,  /* the same, looked up only: the sender or a mailing list wrote it */
    LINKS_EXTERNAL /* parameters that say where the body is */
};

struct field {
    struct slice name;
    enum field_links links; /* of every part, and of messages in the message */
    enum noted_field noted; /* of the message itself */
    void (*read)(struct extract *x,
                 struct slice value); /* of the message itself; or NULL */
};

/* Every field that is read. The links are of those that a sender writes for a reader or for the
 * reader's client, which shows them or opens them. All other fields, known or not, are written by
 * servers, filters and lists on the way, or are seen by nobody. */
static const struct field fields[] = {
    {{"Subject", 7}, LINKS_TEXT, NOTED_SUBJECT, on_subject},
    {{"From", 4}, LINKS_MARKED, NOTED_FROM, on_from},
    {{"Sender", 6}, LINKS_MARKED, NOTED_SENDER, on_sender},
    {{"Reply-To", 8}, LINKS_MARKED, NOTED_REPLY_TO, on_reply_to},
    {{"To", 2}, LINKS_MARKED, NOTED_TO, NULL},
    {{"Cc", 2}, LINKS_MARKED, NOTED_CC, NULL},
    {{"Comments", 8}, LINKS_MARKED, NOTED_OTHER, NULL},
    {{"Keywords", 8}, LINKS_MARKED, NOTED_OTHER, NULL},
    {{"Organization", 12}, LINKS_MARKED, NOTED_OTHER, NULL},
    {{"Organisation", 12}, LINKS_MARKED, NOTED_OTHER, NULL},
    {{"X-Message-Flag", 14},
     LINKS_MARKED,
     NOTED_OTHER,
     NULL}, /* Outlook shows it above the text */
    {{"Content-Description", 19}, LINKS_MARKED, NOTED_OTHER, NULL},
    {{"Content-Location", 16}, LINKS_MARKED, NOTED_OTHER, NULL},
    {{"Content-Base", 12}, LINKS_MARKED, NOTED_OTHER, NULL},
    {{"Content-Type", 12}, LINKS_EXTERNAL, NOTED_TYPE, conversation_type},
    {{"List-Unsubscribe", 16}, LINKS_SOUGHT, NOTED_OTHER, conversation_unsubscribe},
    {{"Message-ID", 10}, LINKS_NONE, NOTED_MESSAGE_ID, on_message_id},
    {{"Authentication-Results", 22}, LINKS_NONE, NOTED_OTHER, extract_auth_field},
    {{"Return-Path", 11}, LINKS_NONE, NOTED_OTHER, on_return_path},
    {{"List-Id", 7}, LINKS_NONE, NOTED_OTHER, on_list_id},
    {{"Mailing-List", 12}, LINKS_NONE, NOTED_OTHER, on_list_address},
    {{"X-Mailing-List", 14}, LINKS_NONE, NOTED_OTHER, on_list_address},
    {{"X-BeenThere", 11}, LINKS_NONE, NOTED_OTHER, on_list_address},
    {{"Precedence", 10}, LINKS_NONE, NOTED_OTHER, on_precedence},
    {{"X-Mailer", 8}, LINKS_NONE, NOTED_MAILER, on_mailer},
    {{"User-Agent", 10}, LINKS_NONE, NOTED_MAILER, on_mailer},
    {{"Date", 4}, LINKS_NONE, NOTED_DATE, NULL},
    {{"Received", 8}, LINKS_NONE, NOTED_RECEIVED, NULL},
    {{"MIME-Version", 12}, LINKS_NONE, NOTED_MIME_VERSION, NULL},
    {{"Content-Transfer-Encoding", 25}, LINKS_NONE, NOTED_TRANSFER, NULL},
    {{"In-Reply-To", 11}, LINKS_NONE, NOTED_ANSWER, conversation_reply_to_id},
    {{"References", 10}, LINKS_NONE, NOTED_ANSWER, conversation_references},
    {{"Thread-Index", 12}, LINKS_NONE, NOTED_ANSWER, NULL},
    {{"X-Priority", 10}, LINKS_NONE, NOTED_PRIORITY, NULL},
    {{"Priority", 8}, LINKS_NONE, NOTED_PRIORITY, NULL},
    {{"Importance", 10}, LINKS_NONE, NOTED_PRIORITY, NULL},
    {{"X-MimeOLE", 9}, LINKS_NONE, NOTED_MIMEOLE, NULL},
    {{"Auto-Submitted", 14}, LINKS_NONE, NOTED_OTHER, conversation_auto_submitted},
    {{"X-Autoreply", 11}, LINKS_NONE, NOTED_OTHER, conversation_autoreply},
    {{"X-Autorespond", 13}, LINKS_NONE, NOTED_OTHER, conversation_autoreply},
    {{"List-Post", 9}, LINKS_NONE, NOTED_OTHER, conversation_list_post},
};

/* NULL: not read. */
static const struct field *field_of(struct slice name)
{
    for (size_t i = 0; i < LENGTH(fields); i++) {
        if (name.n == fields[i].name.n && slice_eq_nocase(name, fields[i].name)) {
            return &fields[i];
        }
    }
    return NULL;
}

static void add_links(struct extract *x, enum field_links links, struct slice value)
{
    /* A URL has a dot: most fields of most mails end here. */
    if (links == LINKS_NONE ||
        (slice_find(value, '.') == value.n && slice_find(value, '?') == value.n)) {
        return;
    }
    if (links == LINKS_EXTERNAL) {
        extract_external_body(x, value);
        return;
    }
    /* Not in scratch: that is reset for each URL. */
    struct slice text = encoded_word_decode(x->text, value);
    if (links == LINKS_TEXT) {
        extract_links_in(x, text, 0);
    } else if (links == LINKS_MARKED) {
        extract_header_links(x, text);
    } else {
        extract_field_urls(x, text);
    }
    arena_reset(x->text);
}

void extract_links_of_field(struct extract *x, struct slice name, struct slice value)
{
    const struct field *field = field_of(name);
    if (field != NULL) {
        add_links(x, field->links, value);
    }
}

void extract_on_header(void *context, const struct mail_part *part, struct slice name,
                       struct slice value)
{
    struct extract *x = context;
    extract_cpu_step(x, value.n);
    const struct field *field = field_of(name);
    x->facts.nfields += part == NULL;
    if (part == NULL && x->limits.watch != NULL) {
        x->limits.watch->field(x->limits.watch->context, name, value);
    }
    if (field == NULL) {
        return;
    }
    extract_place(x, part, name);
    if (part == NULL && field->noted != NOTED_OTHER) {
        extract_note_field(x, field->noted, value);
    }
    if (part == NULL && field->read != NULL) {
        field->read(x, value);
        arena_reset(x->scratch);
    }
    add_links(x, field->links, value);
    extract_place(x, NULL, SLICE_NONE); /* name is not ours */
}
