/* api_link - the pages behind the links of digests: a page with a button, and what the button does.
 *
 * A GET changes nothing, because scanners follow links. The pages need no script and load nothing;
 * their texts from mail are escaped. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/api/api_handlers.h"
#include "core/hub/api/api_html.h"
#include "core/quarantine/held.h"
#include "core/quarantine/held_link.h"

enum { US_PER_S = 1000000 };

static uint64_t link_now_s(void)
{
    return clock_wall_us() / US_PER_S;
}

/* ---- pages ---- */

static void answer_words(struct api_call *call, unsigned status, const char *title,
                         const char *words)
{
    struct buf *b = api_html_begin(call, status, "en", title);

    buf_printf(b, "<p>%s</p>\n", words);
    api_html_end(b);
}

static void add_shown_row(struct buf *b, const char *name, const char *value)
{
    buf_printf(b, "<dt>%s</dt>\n<dd>", name);
    api_html_add_decoded(b, value);
    buf_add_str(b, "</dd>\n");
}

static bool is_release(const json_t *link)
{
    return strcmp(held_text(link, "action"), HELD_LINK_RELEASE) == 0;
}

/* Whether the link opens the recipient's own page. */
static bool is_of_page(const json_t *link)
{
    return strcmp(held_text(link, "action"), HELD_LINK_PAGE) == 0;
}

static void answer_button(struct api_call *call, const json_t *link, struct slice token)
{
    const bool releases = is_release(link);
    struct buf *b = api_html_begin(call, 200, "en",
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
    api_html_end(b);
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

    if (link != NULL && is_of_page(link)) {
        api_own_ask(call, token);
    } else if (link != NULL) {
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

/* The link is used already. False: nothing was done. */
static bool act_on(struct api_call *call, const json_t *link)
{
    const struct api_opinion opinion = {.is_spam = !is_release(link),
                                        .reporter = held_text(link, "recipient"),
                                        .way = "digest",
                                        .id = held_text(link, "id")};
    json_t *report = api_report_held(call, &opinion);
    const bool is_reported = report != NULL;

    json_decref(report);
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

/* A user's release is a change; a report stands in the log of reports. */
static void note_release(const struct api_call *call, const json_t *link)
{
    if (is_release(link)) {
        api_note(call, &(struct change){.kind = CHANGE_held_release,
                                        .who = slice_str(held_text(link, "recipient")),
                                        .way = SLICE_LIT("link"),
                                        .object = slice_str(held_text(link, "id"))});
    }
}

static void use_for_message(struct api_call *call, const json_t *link,
                            struct slice token)
{
    json_t *rows = api_held_rows(call);
    const json_t *row = rows != NULL ? find_message(rows, link) : NULL;
    if (rows == NULL) {
        answer_words(call, 503, "This does not work now",
                     "Nothing was changed. Please try again later.");
    } else if (row == NULL) {
        answer_words(call, 410, "The message is no longer held",
                     "It was delivered or deleted.");
    } else if (is_release(link) && !api_own_may_release(call->config, row)) {
        answer_words(call, 403, "This message is not yours alone",
                     "Ask your mail administrator to deliver it.");
    } else {
        use_link(call, link, token);
        note_release(call, link);
    }
    json_decref(rows);
}

/* Opens the own page of the recipient. */
static void use_for_page(struct api_call *call, const json_t *link, struct slice token)
{
    const char *state_dir = call->config->state_dir;

    if (!held_link_use(state_dir, token)) {
        answer_words(call, 410, "This link was used", "A link works once.");
    } else if (!api_own_open(call, held_text(link, "recipient"))) {
        held_link_reopen(state_dir, token);
        answer_words(call, 503, "This does not work now",
                     "Nothing was changed. Please try again later.");
    }
}

void api_link_use(struct api_call *call)
{
    struct slice token;
    json_t *link = find_link(call, &token);

    if (link == NULL) {
        return;
    }
    if (is_of_page(link)) {
        use_for_page(call, link, token);
    } else {
        use_for_message(call, link, token);
    }
    log_use(call, link);
    json_decref(link);
}
