/* api_link - the pages behind the links of digests: a page with a button, and what the button does.
 *
 * A GET changes nothing, because scanners follow links. The pages need no script and load nothing;
 * their texts from mail are escaped. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/api/api_handlers.h"
#include "core/quarantine/held.h"
#include "core/quarantine/held_link.h"

#define LINK_POLICY                                                             \
    "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors " \
    "'none'"

enum { US_PER_S = 1000000, SHOWN_BYTES = 4096 };

static uint64_t link_now_s(void)
{
    return clock_wall_us() / US_PER_S;
}

/* ---- pages ---- */

static void add_escaped(struct buf *b, struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        switch (s.p[i]) {
        case '&':
            buf_add_str(b, "&amp;");
            break;
        case '<':
            buf_add_str(b, "&lt;");
            break;
        case '>':
            buf_add_str(b, "&gt;");
            break;
        case '"':
            buf_add_str(b, "&quot;");
            break;
        case '\'':
            buf_add_str(b, "&#39;");
            break;
        default:
            buf_add_char(b, s.p[i]);
            break;
        }
    }
}

/* The page up to its text. Same-origin, because with no-referrer a browser sends the form with the
 * origin "null". */
static struct buf *begin_page(struct api_call *call, unsigned status, const char *title)
{
    struct api_answer *a = &call->answer;

    buf_clear(&a->body);
    a->status = status;
    a->type = call->route->type;
    a->policy = LINK_POLICY;
    a->referrer = "same-origin";
    buf_printf(&a->body,
               "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width\">\n"
               "<meta name=\"robots\" content=\"noindex\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n"
               "<title>%s</title>\n<main>\n<h1>%s</h1>\n",
               title, title);
    return &a->body;
}

static void end_page(struct buf *b)
{
    buf_add_str(b, "</main>\n</html>\n");
}

static void answer_words(struct api_call *call, unsigned status, const char *title,
                         const char *words)
{
    struct buf *b = begin_page(call, status, title);

    buf_printf(b, "<p>%s</p>\n", words);
    end_page(b);
}

static void add_shown_row(struct buf *b, const char *name, const char *value)
{
    struct buf shown;

    buf_init(&shown, SHOWN_BYTES);
    held_add_decoded(&shown, value);
    buf_printf(b, "<dt>%s</dt>\n<dd>", name);
    add_escaped(b, buf_slice(&shown));
    buf_add_str(b, "</dd>\n");
    buf_fini(&shown);
}

static bool is_release(const json_t *link)
{
    return strcmp(held_text(link, "action"), HELD_LINK_RELEASE) == 0;
}

static void answer_button(struct api_call *call, const json_t *link, struct slice token)
{
    const bool releases = is_release(link);
    struct buf *b = begin_page(call, 200,
                               releases ? "Deliver this message?"
                                        : "Report this message as unwanted?");

    buf_add_str(b, "<dl>\n");
    add_shown_row(b, "From", held_text(link, "from"));
    add_shown_row(b, "Subject", held_text(link, "subject"));
    add_shown_row(b, "Held for", held_text(link, "recipient"));
    buf_printf(b,
               "</dl>\n<form method=\"post\" action=\"%.*s/use\">\n"
               "<button type=\"submit\">%s</button>\n</form>\n<p>%s</p>\n",
               SLICE_ARGS(token), releases ? "Deliver it" : "Report it",
               releases ? "The filter will hold such mail less. Deliver only what you "
                          "expect."
                        : "The message stays held, and nobody gets it.");
    end_page(b);
}

/* ---- links ---- */

/* The open link of the request; NULL: it was answered. */
static json_t *find_link(struct api_call *call, struct slice *rettoken)
{
    json_t *link = NULL;

    if (!api_path_token(call->route->path, call->request.path, rettoken)) {
        *rettoken = SLICE_NONE;
    }
    switch (held_link_read(call->config->state_dir, *rettoken, link_now_s(), &link)) {
    case HELD_LINK_OPEN:
        break;
    case HELD_LINK_USED:
        answer_words(call, 410, "This link was used", "A link works once.");
        break;
    case HELD_LINK_EXPIRED:
        answer_words(call, 410, "This link has expired",
                     "Ask your mail administrator about the message.");
        break;
    case HELD_LINK_UNKNOWN:
        answer_words(call, 404, "This link is not known",
                     "It may be old, or not whole: copy it from the mail as a whole.");
        break;
    }
    return link;
}

void api_link_page(struct api_call *call)
{
    struct slice token;
    json_t *link = find_link(call, &token);

    if (link != NULL) {
        answer_button(call, link, token);
    }
    json_decref(link);
}

/* ---- the button ---- */

/* Queue ids are used again, so the message must also have the time. */
static const json_t *find_message(const json_t *rows, const json_t *link)
{
    const json_t *row = held_find(rows, held_text(link, "id"));

    return row != NULL && held_number(row, "time_s") == held_number(link, "time_s") &&
                   held_has_recipient(row, held_text(link, "recipient"))
               ? row
               : NULL;
}

static bool users_may_release(const struct config *c, const json_t *row)
{
    return c->quarantine.user_release == QUARANTINE_USERS_ANY ||
           (c->quarantine.user_release == QUARANTINE_USERS_OWN &&
            held_number(row, "nrcpt") == 1);
}

/* The link is used already. False: nothing was done. */
static bool act_on(struct api_call *call, const json_t *link)
{
    const struct api_opinion opinion = {.is_spam = !is_release(link),
                                        .reporter = held_text(link, "recipient"),
                                        .way = "digest",
                                        .id = held_text(link, "id")};
    const bool is_reported = api_report_held(call, &opinion);

    return is_release(link) ? api_change_held(call, "release", opinion.id)
                            : is_reported;
}

static void use_link(struct api_call *call, const json_t *link, struct slice token)
{
    const char *state_dir = call->config->state_dir;

    if (!held_link_use(state_dir, token)) {
        answer_words(call, 410, "This link was used", "A link works once.");
        return;
    }
    if (!act_on(call, link)) {
        held_link_reopen(state_dir, token);
        answer_words(call, 503, "This does not work now",
                     "Nothing was changed. Please try again later.");
    } else if (is_release(link)) {
        answer_words(call, 200, "The message is on its way",
                     "It should arrive within some minutes.");
    } else {
        answer_words(call, 200, "Thank you",
                     "The message was reported as unwanted. It stays held.");
    }
}

static void log_use(const struct api_call *call, const json_t *link)
{
    char who[LOG_STR_MAX];

    log_info("event=link action=%s id=%s recipient=\"%s\" from=%s result=%u",
             held_text(link, "action"), held_text(link, "id"),
             log_str(who, slice_str(held_text(link, "recipient"))), call->from,
             call->answer.status);
}

void api_link_use(struct api_call *call)
{
    struct slice token;
    json_t *link = find_link(call, &token);
    json_t *rows = link != NULL ? api_held_rows(call) : NULL;

    if (link == NULL) {
        return;
    }
    const json_t *row = rows != NULL ? find_message(rows, link) : NULL;
    if (rows == NULL) {
        answer_words(call, 503, "This does not work now",
                     "Nothing was changed. Please try again later.");
    } else if (row == NULL) {
        answer_words(call, 410, "The message is no longer held",
                     "It was delivered or deleted.");
    } else if (is_release(link) && !users_may_release(call->config, row)) {
        answer_words(call, 403, "This message is not yours alone",
                     "Ask your mail administrator to deliver it.");
    } else {
        use_link(call, link, token);
    }
    log_use(call, link);
    json_decref(rows);
    json_decref(link);
}
