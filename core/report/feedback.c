#include "core/report/feedback.h"

#include "core/message/mail/mail.h"
#include "core/report/feedback_internal.h"

enum { DEPTH = 16, PARTS = 500, HEADERS = 1000, FIELD = 64 << 10 };

enum part_use {
    USE_NONE,
    USE_ABUSE,   /* message/feedback-report */
    USE_STATUS,  /* message/delivery-status */
    USE_MESSAGE, /* an attached message */
    USE_HEADER   /* the header of one, as text */
};

struct reading {
    struct feedback *ret;
    char *data; /* of all parts that are used; one part is open at a time */
    size_t ndata;
    size_t room;
    size_t begin; /* of the open part */
    enum part_use use;
    bool is_report; /* the mail is a multipart/report */
    bool is_redirected;
};

static bool is_one_of(struct slice type, const char *const *types)
{
    size_t i = 0;

    while (types[i] != NULL && !slice_eq(type, slice_str(types[i]))) {
        i++;
    }
    return types[i] != NULL;
}

static enum part_use use_of(const struct reading *r, const struct mail_part *part)
{
    static const char *const messages[] = {"message/rfc822", "message/global",
                                           "message/news", NULL};
    static const char *const statuses[] = {"message/delivery-status",
                                           "message/global-delivery-status", NULL};
    static const char *const headers[] = {"text/rfc822-headers", "text/rfc822-header",
                                          "message/global-headers", NULL};

    if (part->is_extra || part->is_container) {
        return USE_NONE;
    }
    if (is_one_of(part->type, messages) ||
        slice_has_suffix_nocase(part->filename, SLICE_LIT(".eml"))) {
        return USE_MESSAGE;
    }
    if (!r->is_report) {
        return USE_NONE;
    }
    if (slice_eq(part->type, SLICE_LIT("message/feedback-report"))) {
        return USE_ABUSE;
    }
    if (is_one_of(part->type, headers)) {
        return USE_HEADER;
    }
    return is_one_of(part->type, statuses) ? USE_STATUS : USE_NONE;
}

static void on_header(void *context, const struct mail_part *part, struct slice name,
                      struct slice value)
{
    struct reading *r = context;

    if (part == NULL && value.n > 0) {
        r->is_redirected =
            r->is_redirected || slice_eq_nocase(name, SLICE_LIT("Resent-From"));
    }
}

static void on_begin(void *context, const struct mail_part *part)
{
    struct reading *r = context;

    if (part->number == 0 && !part->is_extra) {
        r->is_report = slice_eq(part->type, SLICE_LIT("multipart/report"));
    }
    r->use = use_of(r, part);
    r->begin = r->ndata;
}

static void on_data(void *context, const struct mail_part *part, struct slice bytes)
{
    struct reading *r = context;
    struct slice taken = slice_head(bytes, r->room - r->ndata);

    (void)part;
    if (r->use == USE_NONE) {
        return;
    }
    r->ret->is_cut = r->ret->is_cut || taken.n < bytes.n;
    if (taken.n > 0) {
        memcpy(r->data + r->ndata, taken.p, taken.n);
        r->ndata += taken.n;
    }
}

/* Where the body begins; text.n: there is none. */
static size_t body_at(struct slice text)
{
    struct slice rest = text;

    while (rest.n > 0 && slice_trim(slice_cut(&rest, '\n')).n > 0) {
    }
    return text.n - rest.n;
}

static void add_message(struct feedback *ret, struct slice text)
{
    if (!feedback_is_mail(text)) {
        return;
    }
    if (ret->nmessages == FEEDBACK_MESSAGES) {
        ret->is_cut = true;
        return;
    }
    struct slice id = feedback_field(text, SLICE_LIT("Message-ID"));
    ret->message[ret->nmessages++] = (struct feedback_message){
        .bytes = text,
        .message_id = feedback_bare(id),
        .has_body = slice_trim(slice_from(text, body_at(text))).n > 0};
}

static void on_end(void *context, const struct mail_part *part)
{
    struct reading *r = context;
    struct slice text = slice_of(r->data + r->begin, r->ndata - r->begin);

    if (r->use == USE_NONE) {
        return;
    }
    r->ret->is_cut = r->ret->is_cut || part->is_cut;
    if (r->use == USE_ABUSE) {
        r->ret->kind = FEEDBACK_ABUSE;
        feedback_read_abuse(text, r->ret);
    } else if (r->use == USE_STATUS) {
        r->ret->kind = FEEDBACK_BOUNCE;
        feedback_read_status(text, r->ret);
    } else {
        add_message(r->ret, text);
    }
    r->use = USE_NONE;
}

static void on_body(void *context, struct slice bytes)
{
    (void)context;
    (void)bytes;
}

/* The mail without its Resent fields: the message that its recipient got. */
static void add_redirected(struct reading *r, struct slice bytes)
{
    size_t begin = r->ndata;
    bool is_dropped = false;

    while (bytes.n > 0 &&
           slice_trim(slice_head(bytes, slice_find(bytes, '\n'))).n > 0) {
        struct slice line = slice_head(bytes, slice_find(bytes, '\n') + 1);
        bool is_folded = line.p[0] == ' ' || line.p[0] == '\t';
        is_dropped = is_folded ? is_dropped
                               : slice_has_prefix_nocase(line, SLICE_LIT("Resent-"));
        bytes = slice_from(bytes, line.n);
        line = slice_head(line, is_dropped ? 0 : r->room - r->ndata);
        memcpy(r->data + r->ndata, line.p, line.n);
        r->ndata += line.n;
    }
    bytes = slice_head(bytes, r->room - r->ndata);
    if (bytes.n > 0) {
        memcpy(r->data + r->ndata, bytes.p, bytes.n);
        r->ndata += bytes.n;
    }
    r->ret->kind = FEEDBACK_REDIRECTED;
    add_message(r->ret, slice_of(r->data + begin, r->ndata - begin));
}

void feedback_read(struct arena *arena, struct slice bytes, struct feedback *ret)
{
    static const struct mail_events events = {.header = on_header,
                                              .part_begin = on_begin,
                                              .part_data = on_data,
                                              .part_end = on_end,
                                              .body = on_body};
    /* A lone CR or LF becomes two bytes. */
    const struct mail_limits limits = {.message_bytes = bytes.n,
                                       .decoded_bytes = 2 * (uint64_t)bytes.n,
                                       .headers = HEADERS,
                                       .header_bytes = bytes.n,
                                       .header_field = FIELD,
                                       .parts = PARTS,
                                       .depth = DEPTH,
                                       .keeps_messages = true};
    struct reading r = {.ret = ret, .room = 2 * bytes.n};

    *ret = (struct feedback){.kind = FEEDBACK_NONE};
    r.data = arena_bytes(arena, r.room);
    struct mail *m = mail_new(arena, &limits, &events, &r);
    if (r.data == NULL || m == NULL) {
        ret->is_cut = true;
        return;
    }
    mail_raw(m, bytes);
    mail_end(m);
    ret->is_cut = ret->is_cut || mail_limits_met(m) != 0;
    if (ret->kind == FEEDBACK_NONE && ret->nmessages > 0) {
        ret->kind = FEEDBACK_ATTACHED;
    }
    if (ret->kind == FEEDBACK_NONE && r.is_redirected) {
        add_redirected(&r, bytes);
    }
}
