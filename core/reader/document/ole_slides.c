/* ole_slides - texts, links and objects of a presentation. Source: MS-PPT 2.3 to 2.13.
 *
 * Records that hold others are entered by reading on behind their head, so the walk is flat. */

#include "core/base/cursor.h"
#include "core/message/archive/inflate.h"
#include "core/reader/document/ole_text.h"

enum record_type {
    PPT_SLIDE = 0x03ee,
    PPT_NOTES = 0x03f0,
    PPT_MASTER = 0x03f8,
    PPT_HANDOUT = 0x0fc9,
    PPT_TEXT_WIDE = 0x0fa0,
    PPT_TEXT_NARROW = 0x0fa8,
    PPT_STRING = 0x0fba,
    PPT_LINK = 0x0fd7,
    PPT_HEADERS = 0x0fd9,
    PPT_OBJECT = 0x1011,
    PPT_COMMENT = 0x2ee0
};

enum { CONTAINER = 0x0f, STRING_TARGET = 1, STRING_LOCATION = 3 };

struct slides {
    struct ole *o;
    struct buf text;
    unsigned inside; /* type of the last record that holds others */
    unsigned nslides;
    struct archive_budget budget;
};

static void begin_container(struct slides *s, unsigned type)
{
    s->inside = type;
    if (type != PPT_SLIDE && type != PPT_NOTES && type != PPT_MASTER &&
        type != PPT_HANDOUT) {
        return;
    }
    text_flush(s->o, &s->text);
    if (type == PPT_SLIDE) {
        s->nslides++;
        ole_at(s->o, "slide %u", s->nslides);
    } else {
        ole_at(s->o, "%s", type == PPT_NOTES ? "notes" : "slide master");
    }
}

static void end_text(struct slides *s)
{
    buf_add_char(&s->text, '\n');
    text_step(s->o, &s->text);
}

/* Ends of paragraphs and of lines are controls. */
static void add_slide_text(struct slides *s, struct slice bytes, bool is_wide)
{
    const size_t from = s->text.n;

    if (is_wide) {
        text_add_wide(&s->text, bytes);
    } else {
        for (size_t i = 0; i < bytes.n; i++) {
            text_add_char(&s->text, (unsigned char)bytes.p[i]);
        }
    }
    for (size_t i = from; i < s->text.n; i++) {
        if (s->text.p[i] == '\r' || s->text.p[i] == '\v') {
            s->text.p[i] = '\n';
        }
    }
    end_text(s);
}

static void read_string(struct slides *s, unsigned instance, struct slice bytes)
{
    if (s->inside == PPT_HEADERS || (s->inside == PPT_COMMENT && instance == 1)) {
        add_slide_text(s, bytes, true);
    } else if (s->inside == PPT_LINK &&
               (instance == STRING_TARGET || instance == STRING_LOCATION)) {
        struct buf link;
        buf_init(&link, FOUND_VALUE_MAX);
        text_add_wide(&link, slice_head(bytes, FOUND_VALUE_MAX));
        ole_keep(s->o, found_link(s->o->f, buf_slice(&link)));
        buf_fini(&link);
    } else {
        /* names of tags and of designs */
    }
}

static bool on_object(void *context, struct slice bytes)
{
    struct slides *s = context;

    ole_keep(s->o, found_file_data(s->o->f, bytes));
    return !s->o->is_over;
}

static void note_limits(struct slides *s)
{
    if ((s->budget.limits_met & ARCHIVE_LIMIT_RATIO) != 0) {
        ole_keep(s->o, found_fact(s->o->f, RECORD_RATIO));
    }
    if ((s->budget.limits_met & ARCHIVE_LIMIT_INFLATED) != 0) {
        ole_keep(s->o, found_fact(s->o->f, RECORD_BYTES));
    }
}

/* An embedded object or the project of macros: a compound file, packed where instance is 1. */
static void read_object(struct slides *s, unsigned instance, struct slice bytes)
{
    bool is_whole = true;

    s->o->object++;
    ole_at(s->o, "object %u", s->o->object);
    if (instance != 1) {
        ole_file(s->o, SLICE_NONE, SLICE_NONE, bytes);
        return;
    }
    bytes = slice_from(bytes, 4); /* size behind the packing */
    if (found_file_begin(s->o->f, SLICE_NONE, SLICE_NONE)) {
        (void)inflate_stream(&s->budget, bytes, INFLATE_ZLIB, on_object, s, &is_whole);
        ole_keep(s->o, found_file_end(s->o->f, is_whole));
        note_limits(s);
    } else {
        ole_keep(s->o, false);
    }
}

static void read_atom(struct slides *s, unsigned type, unsigned instance,
                      struct slice bytes)
{
    switch (type) {
    case PPT_TEXT_WIDE:
        add_slide_text(s, bytes, true);
        break;
    case PPT_TEXT_NARROW:
        add_slide_text(s, bytes, false);
        break;
    case PPT_STRING:
        read_string(s, instance, bytes);
        break;
    case PPT_OBJECT:
        text_flush(s->o, &s->text);
        read_object(s, instance, bytes);
        break;
    default:
        break;
    }
}

void slides_read(struct ole *o, const struct ole_folder *folder, struct slice bytes)
{
    struct slides s = {.o = o, .budget = archive_budget_start()};
    struct cursor c = cursor_of(bytes);

    (void)folder;
    s.budget.inflated = found_room(o->f);
    s.budget.ratio = o->job->limits.ratio;
    buf_init(&s.text, 4 * bytes.n + 2 * (size_t)OLE_TEXT_STEP);
    while (c.rest.n > 0 && !o->is_over) {
        const unsigned version = cursor_u16(&c);
        const unsigned type = cursor_u16(&c);
        const uint32_t n = cursor_u32(&c);
        if (!cursor_ok(&c)) {
            break;
        }
        if ((version & CONTAINER) == CONTAINER) {
            begin_container(&s, type);
        } else {
            read_atom(&s, type, version >> 4,
                      cursor_bytes(&c, n < c.rest.n ? n : c.rest.n));
        }
    }
    text_flush(o, &s.text);
    ole_at(o, "%s", "");
    buf_fini(&s.text);
}
