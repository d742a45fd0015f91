/* shown_open - the stack of open elements, and which of them a tag ends. */
#include "core/html/shown_state.h"

#define NAME(literal)                   \
    {                                   \
        "" literal, sizeof(literal) - 1 \
    }

enum {
    V = SHOWN_TAG_VOID,
    I = SHOWN_TAG_INLINE,
    P = SHOWN_TAG_ENDS_P,
    S = SHOWN_TAG_SCOPE,
    L = SHOWN_TAG_LIST
};

/* In byte order. */
static const struct {
    struct slice name;
    uint32_t flags;
} tags[] = {
    {NAME("a"), SHOWN_TAG_LINK},
    {NAME("abbr"), I},
    {NAME("address"), P},
    {NAME("applet"), S},
    {NAME("area"), V},
    {NAME("article"), P},
    {NAME("aside"), P},
    {NAME("b"), I},
    {NAME("base"), V},
    {NAME("bdi"), I},
    {NAME("bdo"), I},
    {NAME("big"), I},
    {NAME("blockquote"), P},
    {NAME("body"), SHOWN_TAG_ROOT},
    {NAME("br"), V},
    {NAME("caption"), S | SHOWN_TAG_GROUP},
    {NAME("center"), P},
    {NAME("cite"), I},
    {NAME("code"), I},
    {NAME("col"), V},
    {NAME("colgroup"), SHOWN_TAG_GROUP},
    {NAME("datalist"), SHOWN_TAG_HIDES},
    {NAME("dd"), P | SHOWN_TAG_TERM},
    {NAME("del"), I},
    {NAME("details"), P},
    {NAME("dialog"), P},
    {NAME("dir"), P | L},
    {NAME("div"), P},
    {NAME("dl"), P | L},
    {NAME("dt"), P | SHOWN_TAG_TERM},
    {NAME("em"), I},
    {NAME("embed"), V},
    {NAME("fieldset"), P},
    {NAME("figcaption"), P},
    {NAME("figure"), P},
    {NAME("font"), I},
    {NAME("footer"), P},
    {NAME("form"), P},
    {NAME("h1"), P},
    {NAME("h2"), P},
    {NAME("h3"), P},
    {NAME("h4"), P},
    {NAME("h5"), P},
    {NAME("h6"), P},
    {NAME("header"), P},
    {NAME("hgroup"), P},
    {NAME("hr"), V | P},
    {NAME("html"), S | SHOWN_TAG_ROOT},
    {NAME("i"), I},
    {NAME("img"), V},
    {NAME("input"), V},
    {NAME("ins"), I},
    {NAME("kbd"), I},
    {NAME("label"), I},
    {NAME("li"), P | SHOWN_TAG_ITEM},
    {NAME("link"), V},
    {NAME("listing"), P},
    {NAME("main"), P},
    {NAME("mark"), I},
    {NAME("marquee"), S},
    {NAME("menu"), P | L},
    {NAME("meta"), V},
    {NAME("nav"), P},
    {NAME("nobr"), I},
    {NAME("object"), S},
    {NAME("ol"), P | L},
    {NAME("option"), SHOWN_TAG_OPTION},
    {NAME("p"), P | SHOWN_TAG_P},
    {NAME("param"), V},
    {NAME("plaintext"), P},
    {NAME("pre"), P},
    {NAME("q"), I},
    {NAME("s"), I},
    {NAME("samp"), I},
    {NAME("search"), P},
    {NAME("section"), P},
    {NAME("small"), I},
    {NAME("source"), V},
    {NAME("span"), I},
    {NAME("strike"), I},
    {NAME("strong"), I},
    {NAME("sub"), I},
    {NAME("summary"), P},
    {NAME("sup"), I},
    {NAME("table"), P | S | SHOWN_TAG_TABLE},
    {NAME("tbody"), SHOWN_TAG_GROUP},
    {NAME("td"), S | SHOWN_TAG_CELL},
    {NAME("template"), S | SHOWN_TAG_HIDES},
    {NAME("tfoot"), SHOWN_TAG_GROUP},
    {NAME("th"), S | SHOWN_TAG_CELL},
    {NAME("thead"), SHOWN_TAG_GROUP},
    {NAME("tr"), SHOWN_TAG_ROW},
    {NAME("track"), V},
    {NAME("tt"), I},
    {NAME("u"), I},
    {NAME("ul"), P | L},
    {NAME("var"), I},
    {NAME("wbr"), V | I},
    {NAME("xmp"), P},
};
enum { NTAGS = sizeof(tags) / sizeof(tags[0]) };

struct shown_tag shown_tag_of(struct slice name)
{
    size_t low = 0;
    size_t high = NTAGS;
    uint32_t hash = 0x811c9dc5;
    size_t i = 0;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = slice_cmp(name, tags[middle].name);

        if (order == 0) {
            return (struct shown_tag){.id = (uint32_t)middle,
                                      .flags = tags[middle].flags};
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    for (i = 0; i < name.n; i++) {
        hash = (hash ^ (unsigned char)name.p[i]) * 0x01000193;
    }
    return (struct shown_tag){.id = hash | 0x80000000U};
}

unsigned shown_flags(const struct shown *s)
{
    return (s->nopen > 0 ? s->open[s->nopen - 1].flags : 0) |
           (s->in_outlook ? SHOWN_OUTLOOK : 0);
}

/* Leaves the first n elements. */
static void close_from(struct shown *s, size_t n)
{
    s->nopen = n;
    s->nover = 0;
}

/* Ends the innermost element of the tag, unless one with a flag of bounds is in between. */
static void close_tag_within(struct shown *s, uint32_t id, uint32_t bounds)
{
    size_t i = s->nopen;

    while (i > s->floor && s->open[i - 1].tag.id != id) {
        if ((s->open[i - 1].tag.flags & bounds) != 0) {
            return;
        }
        i--;
    }
    if (i > s->floor) {
        close_from(s, i - 1);
    }
}

/* Likewise the innermost element with one of these flags. */
static void close_flags_within(struct shown *s, uint32_t flags, uint32_t bounds)
{
    size_t i = s->nopen;

    while (i > s->floor && (s->open[i - 1].tag.flags & flags) == 0) {
        if ((s->open[i - 1].tag.flags & bounds) != 0) {
            return;
        }
        i--;
    }
    if (i > s->floor) {
        close_from(s, i - 1);
    }
}

/* How many elements are open up to the innermost table, with it; the floor: there is none. */
static size_t table_depth(const struct shown *s)
{
    size_t i = s->nopen;

    while (i > s->floor && (s->open[i - 1].tag.flags & SHOWN_TAG_TABLE) == 0) {
        i--;
    }
    return i;
}

/* Ends what a part of a table ends when it begins: cells end cells, rows end rows. False: it
 * stands in no table, and browsers do not see the tag at all. */
static bool begin_table_part(struct shown *s, struct shown_tag tag)
{
    uint32_t part = tag.flags & SHOWN_TAG_TABLE_PART;
    size_t i = table_depth(s);

    if (i == s->floor) {
        return false;
    }
    while (i < s->nopen && (s->open[i].tag.flags & SHOWN_TAG_TABLE_PART) < part) {
        i++;
    }
    if (i < s->nopen) {
        close_from(s, i);
    }
    return true;
}

static void end_implied(struct shown *s, struct shown_tag tag)
{
    if ((tag.flags & SHOWN_TAG_ENDS_P) != 0) {
        close_flags_within(s, SHOWN_TAG_P, SHOWN_TAG_SCOPE);
    }
    if ((tag.flags & SHOWN_TAG_ENDS_OWN) != 0) {
        close_flags_within(s, tag.flags & SHOWN_TAG_ENDS_OWN,
                           SHOWN_TAG_SCOPE | SHOWN_TAG_LIST);
    }
}

/* The flags of an element in one with these flags. */
static unsigned styled(unsigned flags, const struct shown_style *style)
{
    const unsigned clipped = SHOWN_OVERFLOW | SHOWN_EXTENT;

    if ((style->hides & (SHOWN_DISPLAY | SHOWN_OPACITY)) != 0 ||
        (style->hides & clipped) == clipped ||
        (style->is_hidden && (style->shows & SHOWN_DISPLAY) == 0)) {
        flags |= SHOWN_NONE; /* whatever stands in the element */
    }
    if ((style->shows & SHOWN_VISIBILITY) != 0) {
        flags &= ~(unsigned)SHOWN_INVISIBLE;
    }
    if ((style->hides & SHOWN_VISIBILITY) != 0) {
        flags |= SHOWN_INVISIBLE;
    }
    if ((style->shows & SHOWN_FONT_SIZE) != 0) {
        flags &= ~(unsigned)SHOWN_TINY;
    }
    if ((style->hides & SHOWN_FONT_SIZE) != 0) {
        flags |= SHOWN_TINY;
    }
    return flags;
}

void shown_open_tag(struct shown *s)
{
    unsigned flags = 0;

    if ((s->tag.flags & SHOWN_TAG_TABLE_PART) == 0) {
        end_implied(s, s->tag);
    } else if (!begin_table_part(s, s->tag)) {
        return;
    } else {
        /* a part of the table that is open */
    }
    if ((s->tag.flags & SHOWN_TAG_VOID) != 0) {
        return;
    }
    if (s->nopen == SHOWN_DEPTH_MAX) {
        s->nover++;
        s->met_limit = true;
        return;
    }
    flags = styled(s->nopen > 0 ? s->open[s->nopen - 1].flags : 0, &s->style);
    if ((s->tag.flags & SHOWN_TAG_HIDES) != 0) {
        flags |= SHOWN_NONE;
    }
    s->open[s->nopen++] = (struct shown_open){.tag = s->tag, .flags = flags};
}

void shown_close_tag(struct shown *s, struct shown_tag tag)
{
    size_t depth = 0;

    if ((tag.flags & (SHOWN_TAG_VOID | SHOWN_TAG_ROOT)) != 0) {
        return;
    }
    if (s->nover > 0) {
        s->nover--;
        return;
    }
    if ((tag.flags & SHOWN_TAG_TABLE_PART) != 0) {
        close_tag_within(s, tag.id, SHOWN_TAG_TABLE);
    } else if ((tag.flags & SHOWN_TAG_TABLE) != 0) {
        depth = table_depth(s);
        if (depth > s->floor) {
            close_from(s, depth - 1);
        }
    } else {
        close_tag_within(s, tag.id, SHOWN_TAG_SCOPE);
    }
}
