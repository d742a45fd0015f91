#include "core/reader/document/pdf_parts.h"

enum {
    PALE_MIN = 0xc000,     /* of 0xffff, in each channel: nearly white on white paper */
    SIZE_LEAST_TENTHS = 10 /* of a point; smaller text is a line of dust */
};

/* The text of a page with what poppler knows of each character. */
struct text {
    char *bytes; /* UTF-8 */
    size_t nbytes;
    GList *attributes;
    PopplerRectangle *box; /* one for each character */
    guint nboxes;
};

static void text_init(struct text *t, PopplerPage *page)
{
    *t = (struct text){.bytes = poppler_page_get_text(page)};
    if (t->bytes != NULL && !g_utf8_validate(t->bytes, -1, NULL)) {
        char *valid = g_utf8_make_valid(t->bytes, -1);
        g_free(t->bytes);
        t->bytes = valid;
    }
    t->nbytes = t->bytes != NULL ? strlen(t->bytes) : 0;
    if (t->nbytes > 0) {
        t->attributes = poppler_page_get_text_attributes(page);
    }
}

static void text_fini(struct text *t)
{
    g_free(t->bytes);
    g_free(t->box);
    poppler_page_free_text_attributes(t->attributes);
}

static bool is_pale(const PopplerTextAttributes *a)
{
    return a->color.red >= PALE_MIN && a->color.green >= PALE_MIN &&
           a->color.blue >= PALE_MIN;
}

static bool is_dust(const PopplerTextAttributes *a)
{
    return a->font_size * 10 < SIZE_LEAST_TENTHS;
}

/* Whether words may be hidden, so that only the drawn page tells. */
static bool is_dubious(const struct text *t)
{
    for (const GList *l = t->attributes; l != NULL; l = l->next) {
        if (is_pale(l->data)) {
            return true;
        }
    }
    return false;
}

/* --- words --- */

/* Reads a text from its begin; the attributes go along. */
struct reading {
    const struct text *text;
    const char *at;
    gint index; /* of the character there */
    const GList *attribute;
    bool is_hidden; /* of the run that is open */
    const char *run;
};

static bool is_white(const char *p)
{
    return *p == ' ' || *p == '\n' || *p == '\r' || *p == '\t' || *p == '\f';
}

static const PopplerTextAttributes *attribute_at(struct reading *r)
{
    while (r->attribute != NULL &&
           ((const PopplerTextAttributes *)r->attribute->data)->end_index < r->index) {
        r->attribute = r->attribute->next;
    }
    return r->attribute != NULL ? r->attribute->data : NULL;
}

static void widen(PopplerRectangle *all, const PopplerRectangle *one)
{
    all->x1 = MIN(all->x1, one->x1);
    all->y1 = MIN(all->y1, one->y1);
    all->x2 = MAX(all->x2, one->x2);
    all->y2 = MAX(all->y2, one->y2);
}

/* Goes behind the word at r->at: no blank, and one look. Returns its box. */
static PopplerRectangle take_drawn_word(struct reading *r,
                                        const PopplerTextAttributes *a)
{
    PopplerRectangle box = {0};
    bool is_first = true;

    while (*r->at != '\0' && !is_white(r->at) && (is_first || attribute_at(r) == a)) {
        if ((guint)r->index < r->text->nboxes) {
            const PopplerRectangle *one = &r->text->box[r->index];
            if (is_first) {
                box = *one;
            } else {
                widen(&box, one);
            }
        }
        is_first = false;
        r->at += (unsigned char)g_utf8_skip[(unsigned char)*r->at];
        r->index++;
    }
    return box;
}

static bool is_hidden_word(struct reading *r, struct pdf_seen *seen)
{
    const PopplerTextAttributes *a = attribute_at(r);
    const PopplerRectangle box = take_drawn_word(r, a);

    return a != NULL && (is_dust(a) || (seen != NULL && r->text->nboxes > 0 &&
                                        !pdf_is_seen(seen, &box, &a->color)));
}

/* Gives out the run up to `end` and opens the next one there. */
static bool give_run(struct pdf *p, struct reading *r, const char *end)
{
    const struct slice run = slice_of(r->run, (size_t)(end - r->run));

    r->run = end;
    return run.n == 0 || found_text(p->found, run, r->is_hidden);
}

static bool give_words(struct pdf *p, const struct text *t, struct pdf_seen *seen)
{
    struct reading r = {
        .text = t, .at = t->bytes, .attribute = t->attributes, .run = t->bytes};
    bool is_more = true;

    while (is_more && *r.at != '\0') {
        if (is_white(r.at)) {
            r.at++;
            r.index++;
            continue;
        }
        const char *begin = r.at;
        const bool is_hidden = is_hidden_word(&r, seen);
        if (is_hidden != r.is_hidden) {
            is_more = give_run(p, &r, begin);
            r.is_hidden = is_hidden;
        }
    }
    return is_more && give_run(p, &r, r.at) &&
           found_text(p->found, SLICE_LIT("\n"), false);
}

bool pdf_text(struct pdf *p, PopplerPage *page, const struct raster *drawn,
              bool may_wait, struct pdf_page *ret)
{
    const size_t number = (size_t)poppler_page_get_index(page);
    const bool is_unpainted = number < p->npages && p->invisible[number] != 0;
    struct text t;
    bool is_more = true;

    text_init(&t, page);
    ret->nchars = (uint32_t)(t.nbytes < UINT32_MAX ? t.nbytes : UINT32_MAX);
    ret->is_later = may_wait && t.nbytes > 0 && (is_unpainted || is_dubious(&t));
    if (!ret->is_later && t.nbytes > 0) {
        double width = 0;
        double height = 0;
        struct pdf_seen seen = {.drawn = drawn, .left = PDF_COMPARED_MAX};
        poppler_page_get_size(page, &width, &height);
        if (drawn != NULL && width > 0) {
            seen.scale = drawn->width / width;
            seen.may_be_unpainted = is_unpainted;
            (void)poppler_page_get_text_layout(page, &t.box, &t.nboxes);
        }
        found_at(p->found, "page %zu", number + 1);
        is_more = give_words(p, &t, drawn != NULL ? &seen : NULL);
    }
    text_fini(&t);
    return is_more;
}
