/* shown_open - the stack of open elements, and which of them a tag ends. */
#include "core/message/html/shown_internal.h"

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
enum { NTAGS = LENGTH(tags) };

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

/* Tags of the table have a slot each. */
static size_t tag_slot(struct shown_tag tag)
{
    return tag.id < SHOWN_SLOTS / 2
               ? tag.id
               : SHOWN_SLOTS / 2 + tag.id % (uint32_t)(SHOWN_SLOTS / 2);
}

_Static_assert(NTAGS <= SHOWN_SLOTS / 2, "a slot for each tag of the table");
_Static_assert(SHOWN_DEPTH_MAX < UINT16_MAX, "places on the stack are of 16 bits");

void shown_close_from(struct shown *s, size_t n)
{
    while (s->nopen > n) {
        const struct shown_open *top = &s->open[--s->nopen];

        s->innermost[tag_slot(top->tag)] = top->same;
    }
    s->nover = 0;
}

static const struct shown_near *near_top(const struct shown *s)
{
    static const struct shown_near nothing = {.paragraph = 0};

    return s->nopen > 0 ? &s->open[s->nopen - 1].near : &nothing;
}

/* Ends the element at this place, plus one, when it is not outside of a conditional comment. */
static void close_at(struct shown *s, size_t place)
{
    if (place > s->floor) {
        shown_close_from(s, place - 1);
    }
}

/* The innermost open element of the tag, plus one; 0: none of the few that are looked at. */
static size_t find_open(const struct shown *s, struct shown_tag tag)
{
    size_t place = s->innermost[tag_slot(tag)];
    size_t i = 0;

    for (i = 0; i < SHOWN_SAME_SLOT_MAX && place > 0; i++) {
        if (s->open[place - 1].tag.id == tag.id) {
            return place;
        }
        place = s->open[place - 1].same;
    }
    return 0;
}

static const uint32_t own_kinds[SHOWN_OWN_KINDS] = {SHOWN_TAG_LINK, SHOWN_TAG_ITEM,
                                                    SHOWN_TAG_TERM, SHOWN_TAG_OPTION};
static const uint32_t part_kinds[SHOWN_PART_KINDS] = {SHOWN_TAG_GROUP, SHOWN_TAG_ROW,
                                                      SHOWN_TAG_CELL};

/* The near elements of an element at `place` minus one with this tag; outside: those of its
 * parent. */
static struct shown_near near_in(struct shown_near outside, uint32_t tag, size_t place)
{
    struct shown_near near = outside;
    uint16_t here = (uint16_t)place;
    size_t i = 0;

    if ((tag & SHOWN_TAG_SCOPE) != 0) {
        near.scope = here;
        near.paragraph = 0;
    }
    if ((tag & SHOWN_TAG_P) != 0) {
        near.paragraph = here;
    }
    for (i = 0; i < SHOWN_OWN_KINDS; i++) {
        if ((tag & (SHOWN_TAG_SCOPE | SHOWN_TAG_LIST)) != 0) {
            near.own[i] = 0;
        }
        if ((tag & own_kinds[i]) != 0) {
            near.own[i] = here;
        }
    }
    for (i = 0; i < SHOWN_PART_KINDS; i++) {
        if ((tag & SHOWN_TAG_TABLE) != 0) {
            near.parts[i] = 0;
        } else if (near.parts[i] == 0 &&
                   (tag & SHOWN_TAG_TABLE_PART) >= part_kinds[i]) {
            near.parts[i] = here;
        } else {
            /* the outermost stays */
        }
    }
    if ((tag & SHOWN_TAG_TABLE) != 0) {
        near.table = here;
    }
    return near;
}

/* Ends what a part of a table ends when it begins: cells end cells, rows end rows. False: it
 * stands in no table, and browsers do not see the tag at all. */
static bool begin_table_part(struct shown *s, struct shown_tag tag)
{
    const struct shown_near *near = near_top(s);
    size_t i = 0;

    if (near->table <= s->floor) {
        return false;
    }
    while (i + 1 < SHOWN_PART_KINDS &&
           (tag.flags & SHOWN_TAG_TABLE_PART) > part_kinds[i]) {
        i++;
    }
    close_at(s, near->parts[i]);
    return true;
}

static void end_implied(struct shown *s, struct shown_tag tag)
{
    size_t i = 0;

    if ((tag.flags & SHOWN_TAG_ENDS_P) != 0) {
        close_at(s, near_top(s)->paragraph);
    }
    for (i = 0; i < SHOWN_OWN_KINDS; i++) {
        if ((tag.flags & own_kinds[i]) != 0) {
            close_at(s, near_top(s)->own[i]);
        }
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
    s->open[s->nopen] =
        (struct shown_open){.tag = s->tag,
                            .flags = flags,
                            .near = near_in(*near_top(s), s->tag.flags, s->nopen + 1),
                            .same = s->innermost[tag_slot(s->tag)]};
    s->nopen++;
    s->innermost[tag_slot(s->tag)] = (uint16_t)s->nopen;
}

void shown_close_tag(struct shown *s, struct shown_tag tag)
{
    const struct shown_near *near = near_top(s);
    size_t place = 0;

    if ((tag.flags & (SHOWN_TAG_VOID | SHOWN_TAG_ROOT)) != 0) {
        return;
    }
    if (s->nover > 0) {
        s->nover--;
        return;
    }
    place = find_open(s, tag);
    if ((tag.flags & SHOWN_TAG_TABLE) != 0) {
        close_at(s, near->table);
    } else if (((tag.flags & SHOWN_TAG_TABLE_PART) != 0 ? near->table : near->scope) <=
               place) {
        close_at(s, place);
    } else {
        /* it is outside of the innermost table or scope */
    }
}
