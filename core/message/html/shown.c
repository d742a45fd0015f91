/* shown - runs of text, links and conditional comments, token by token. */
#include "core/message/html/shown.h"

#include "core/message/html/shown_internal.h"

_Static_assert(LONGURL_MAX <= SHOWN_RUN_MAX / 2, "a run with a long URL in it goes on");

enum {
    RUN_TAIL = 1024, /* a full run is cut at white space within it */
    UTF8_TAIL = 3,   /* bytes after the first of a character, at most */
    UNSEEN = SHOWN_NONE | SHOWN_INVISIBLE | SHOWN_TINY
};

struct shown_open_link *shown_link_of(struct shown *s)
{
    return &s->links[s->in_outlook ? 1 : 0];
}

static void tell_run(struct shown *s, const struct shown_run *run, size_t n)
{
    struct shown_text text = {.where = run->where,
                              .flags = run->flags,
                              .at = run->at,
                              .text = slice_of(run->bytes, n)};

    s->events->text(s->context, &text);
    if (run->where == SHOWN_STYLE) {
        shown_css_urls(s, text.text);
    }
}

static void end_run(struct shown *s, struct shown_run *run)
{
    size_t n = run->n;

    run->n = 0;
    if (n > 0) {
        tell_run(s, run, n);
    }
}

/* A conditional comment does not divide the words on both sides of it. */
static void end_runs(struct shown *s)
{
    if (!s->in_outlook) {
        end_run(s, &s->seen);
    }
    end_run(s, &s->unseen);
}

/* The border of the last character. */
static size_t last_character(const struct shown_run *run)
{
    size_t i = run->n;

    while (i > run->n - UTF8_TAIL &&
           ((unsigned char)run->bytes[i - 1] & 0xc0) == 0x80) {
        i--;
    }
    return (unsigned char)run->bytes[i - 1] >= 0xc0 ? i - 1 : run->n;
}

/* Where a full run is cut: after white space; before a URL that may go on, of which what says
 * where it leads is kept; at least at the border of a character. */
static size_t run_cut(struct shown_run *run)
{
    size_t i = run->n;

    while (i > run->n - RUN_TAIL) {
        if ((unsigned char)run->bytes[i - 1] <= ' ') {
            return i;
        }
        i--;
    }
    i = longurl_at_end(slice_of(run->bytes, run->n));
    if (i == run->n) {
        return last_character(run);
    }
    run->n = i + longurl_shorten(run->bytes + i, run->n - i);
    return i;
}

static void add_run(struct shown *s, struct shown_run *run, struct slice text)
{
    while (text.n > 0) {
        struct slice piece = slice_head(text, SHOWN_RUN_MAX - run->n);

        memcpy(run->bytes + run->n, piece.p, piece.n);
        run->n += piece.n;
        text = slice_from(text, piece.n);
        if (run->n == SHOWN_RUN_MAX) {
            size_t n = run_cut(run);

            if (n > 0) {
                tell_run(s, run, n);
            }
            run->n -= n;
            run->at += n; /* or more, where there were tags in it */
            memmove(run->bytes, run->bytes + n, run->n);
        }
    }
}

static void add_link_text(struct shown_open_link *link, struct slice text)
{
    struct slice kept = slice_head(text, SHOWN_LINK_TEXT_MAX - link->ntext);

    link->is_cut = link->is_cut || kept.n < text.n;
    if (kept.n > 0) {
        memcpy(link->text + link->ntext, kept.p, kept.n);
        link->ntext += kept.n;
    }
}

static void add_to_run(struct shown *s, enum shown_where where, struct slice text)
{
    unsigned flags = shown_flags(s);
    bool is_seen = (flags & UNSEEN) == 0 && where == SHOWN_BODY;
    struct shown_run *run = is_seen && !s->in_outlook ? &s->seen : &s->unseen;

    if (run->n > 0 && (run->where != where || run->flags != flags)) {
        end_run(s, run);
    }
    if (run->n == 0) {
        run->at = s->at;
    }
    run->where = where;
    run->flags = flags;
    add_run(s, run, text);
    if (is_seen && shown_link_of(s)->is_open) {
        add_link_text(shown_link_of(s), text);
    }
}

static enum shown_where where_of(struct slice raw)
{
    static const struct {
        struct slice tag;
        enum shown_where where;
    } table[] = {
        {{"script", 6}, SHOWN_SCRIPT},    {{"style", 5}, SHOWN_STYLE},
        {{"title", 5}, SHOWN_TITLE},      {{"iframe", 6}, SHOWN_FALLBACK},
        {{"noembed", 7}, SHOWN_FALLBACK}, {{"noframes", 8}, SHOWN_FALLBACK},
    };
    size_t i = 0;

    for (i = 0; i < LENGTH(table); i++) {
        if (slice_eq(raw, table[i].tag)) {
            return table[i].where;
        }
    }
    return SHOWN_BODY; /* textarea, xmp, plaintext */
}

static void end_link(struct shown *s)
{
    struct shown_open_link *open = shown_link_of(s);

    if (open->is_open) {
        struct shown_link link = {.target = slice_of(open->target, open->ntarget),
                                  .text = slice_of(open->text, open->ntext),
                                  .has_image = open->has_image,
                                  .is_cut = open->is_cut,
                                  .at = open->at};

        open->is_open = false;
        if (s->events->link != NULL) {
            s->events->link(s->context, &link);
        }
    }
}

static void begin_tag(struct shown *s, struct slice name, bool is_start)
{
    s->tag = shown_tag_of(name);
    s->long_value = SHOWN_LONG_NOT;
    s->style = (struct shown_style){0};
    s->is_start = is_start;
    s->has_href = false;
    if ((s->tag.flags & SHOWN_TAG_INLINE) == 0) {
        end_runs(s);
    }
    if ((s->tag.flags & SHOWN_TAG_LINK) != 0) {
        end_link(s);
    }
    if (!is_start) {
        shown_close_tag(s, s->tag);
    }
}

static void end_start_tag(struct shown *s, struct slice name)
{
    struct shown_open_link *link = shown_link_of(s);

    s->is_start = false;
    shown_open_tag(s);
    if (s->has_href) {
        link->is_open = true;
        link->has_image = false;
        link->ntext = 0;
        link->at = s->at;
    } else if (link->is_open && slice_eq(name, SLICE_LIT("img"))) {
        link->has_image = true;
    } else {
        /* no part of a link */
    }
}

static void add_comment(struct shown *s, struct slice text, bool is_cut)
{
    add_to_run(s, SHOWN_COMMENT, text);
    if (!is_cut) {
        end_run(s, &s->unseen);
    }
}

/* A comment inside of a conditional comment has no conditions of its own. */
static void on_outlook(void *context, const struct html_token *token)
{
    if (token->kind == HTML_COMMENT) {
        add_comment(context, token->value, token->is_cut);
    } else {
        shown_take(context, token);
    }
}

/* Whether the comment is "[if ...]>" and HTML; ret is what follows. */
static bool is_condition(struct slice comment, struct slice *ret)
{
    size_t end = slice_find(comment, '>');

    if (!slice_has_prefix_nocase(slice_trim(comment), SLICE_LIT("[if")) ||
        end == comment.n) {
        return false;
    }
    *ret = slice_from(comment, end + 1);
    return true;
}

static bool begin_outlook(struct shown *s)
{
    if (s->outlook == NULL) {
        s->outlook = html_new(s->arena, on_outlook, s);
        s->met_limit = s->met_limit || s->outlook == NULL;
    }
    return s->outlook != NULL;
}

/* Elements and links that the comment opens are open in it only, and it ends none outside. */
static void enter_outlook(struct shown *s)
{
    s->in_outlook = true;
    end_runs(s);
    s->floor = s->nopen;
    s->nover_outside = s->nover;
    s->nover = 0;
}

static void leave_outlook(struct shown *s)
{
    html_end(s->outlook);
    end_runs(s);
    end_link(s);
    shown_close_from(s, s->floor);
    s->nover = s->nover_outside;
    s->floor = 0;
    s->in_outlook = false;
}

static void on_comment(struct shown *s, const struct html_token *token)
{
    struct slice text = token->value;
    bool is_first = !s->is_cut;

    s->is_cut = token->is_cut;
    if (is_first) {
        s->is_conditional = is_condition(text, &text) && begin_outlook(s);
        if (s->is_conditional) {
            enter_outlook(s);
        } else {
            end_run(s, &s->unseen);
        }
    }
    if (!s->is_conditional) {
        add_comment(s, text, s->is_cut);
        return;
    }
    html_feed(s->outlook, text);
    if (!s->is_cut) {
        leave_outlook(s);
    }
}

void shown_take(struct shown *s, const struct html_token *token)
{
    if (!s->in_outlook) {
        s->at = token->at;
    }
    switch (token->kind) {
    case HTML_TEXT:
        add_to_run(s, SHOWN_BODY, token->value);
        break;
    case HTML_RAW_TEXT:
        add_to_run(s, where_of(token->tag), token->value);
        break;
    case HTML_START_TAG:
        begin_tag(s, token->tag, true);
        break;
    case HTML_ATTRIBUTE:
        shown_attribute(s, token);
        break;
    case HTML_END_TAG:
        begin_tag(s, token->tag, false);
        break;
    case HTML_TAG_END:
        if (s->is_start) {
            end_start_tag(s, token->tag);
        }
        break;
    case HTML_COMMENT:
        on_comment(s, token);
        break;
    case HTML_DOCTYPE:
    case HTML_NUL:
        break;
    }
}

struct shown *shown_new(struct arena *arena, const struct shown_events *events,
                        void *context)
{
    struct shown *s = arena_alloc(arena, sizeof(*s));
    char *seen = arena_bytes(arena, SHOWN_RUN_MAX);
    char *unseen = arena_bytes(arena, SHOWN_RUN_MAX);

    if (s == NULL || seen == NULL || unseen == NULL) {
        return NULL;
    }
    s->seen.bytes = seen;
    s->unseen.bytes = unseen;
    s->events = events;
    s->context = context;
    s->arena = arena;
    return s;
}

void shown_end(struct shown *s)
{
    end_runs(s);
    end_link(s);
    shown_close_from(s, 0);
}

bool shown_met_value(const struct shown *s)
{
    return s->met_value;
}

bool shown_met_limit(const struct shown *s)
{
    return s->met_limit || (s->outlook != NULL && html_met_limit(s->outlook));
}
