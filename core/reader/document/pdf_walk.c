#include "core/reader/document/pdf_parts.h"

enum {
    OBJECTS_MAX =
        1 << 20, /* that are visited; an honest document of 5000 pages has 200,000 */
    PAGES_MAX = 100 * 1000,
    CONTENT_MAX = 1 << 20,   /* of a page, searched for hidden text */
    CONTENTS_MAX = 64 << 20, /* of all pages */
    PARENTS_MAX = 32,        /* of a page */
    SEEN_BITS_MIN = 10,
    GENERATION_BITS = 16
};

/* Objects that were visited, by number: an open table that doubles. */
struct seen {
    uint64_t *slot; /* 0: free */
    size_t n;
    unsigned bits;
};

struct list {
    qpdf_oh *item;
    size_t n;
    size_t size;
};

struct walk {
    struct pdf *pdf;
    struct seen seen;
    struct list todo;
    size_t next; /* of todo */
    size_t nvisited;
    size_t content_left;
    bool is_page; /* only what belongs to one page is visited */
};

/* Keys that lead to nothing that a viewer acts on. */
static const char *const passive_keys[] = {
    "/Resources", "/Contents",       "/Metadata",     "/PieceInfo",
    "/Thumb",     "/StructTreeRoot", "/OutputIntents"};
/* Keys that lead away from a page. */
static const char *const leaving_keys[] = {"/P",  "/Parent", "/Dest", "/Kids",
                                           "/AP", "/IRT",    "/B"};

static uint64_t mix(uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

/* False: the table holds the key already. */
static bool seen_put(struct seen *s, uint64_t key)
{
    const size_t mask = ((size_t)1 << s->bits) - 1;
    size_t at = (size_t)(mix(key) >> (64 - s->bits));

    while (s->slot[at] != 0) {
        if (s->slot[at] == key) {
            return false;
        }
        at = (at + 1) & mask;
    }
    s->slot[at] = key;
    s->n++;
    return true;
}

static bool seen_grow(struct seen *s)
{
    struct seen larger = {.bits = s->bits == 0 ? SEEN_BITS_MIN : s->bits + 1};

    larger.slot = calloc((size_t)1 << larger.bits, sizeof(*larger.slot));
    if (larger.slot == NULL) {
        return false;
    }
    for (size_t i = 0; s->bits > 0 && i < (size_t)1 << s->bits; i++) {
        if (s->slot[i] != 0) {
            (void)seen_put(&larger, s->slot[i]);
        }
    }
    free(s->slot);
    *s = larger;
    return true;
}

static bool seen_first_time(struct seen *s, uint64_t key)
{
    if ((s->bits == 0 || s->n >= ((size_t)1 << s->bits) / 2) && !seen_grow(s)) {
        return false;
    }
    return seen_put(s, key);
}

static bool list_add(struct list *l, qpdf_oh item)
{
    if (l->n == l->size) {
        const size_t size = l->size == 0 ? 64 : 2 * l->size;
        qpdf_oh *grown = realloc(l->item, size * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        l->item = grown;
        l->size = size;
    }
    l->item[l->n++] = item;
    return true;
}

/* Whether an object is visited for the first time. An object inside of
 * another one has no number and is always visited. */
static bool is_first_visit(struct walk *w, qpdf_oh object)
{
    const int id = qpdf_oh_get_object_id(w->pdf->objects, object);
    const int generation = qpdf_oh_get_generation(w->pdf->objects, object);

    return id <= 0 || seen_first_time(&w->seen, (uint64_t)id << GENERATION_BITS |
                                                    (uint16_t)generation);
}

static bool is_among(const char *key, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Notes an object for a visit, or lets it go. */
static void note(struct walk *w, qpdf_oh object)
{
    qpdf_data q = w->pdf->objects;

    if (w->nvisited + (w->todo.n - w->next) < OBJECTS_MAX &&
        !qpdf_oh_is_scalar(q, object) && list_add(&w->todo, object)) {
        return;
    }
    qpdf_oh_release(q, object);
}

/* The place where an action goes: an array that begins with a page. */
static bool is_destination(struct walk *w, const char *key, qpdf_oh value)
{
    return strcmp(key, "/D") == 0 && qpdf_oh_is_array(w->pdf->objects, value);
}

static void note_values(struct walk *w, qpdf_oh dictionary)
{
    qpdf_data q = w->pdf->objects;

    qpdf_oh_begin_dict_key_iter(q, dictionary);
    while (qpdf_oh_dict_more_keys(q)) {
        const char *key = qpdf_oh_dict_next_key(q);
        if (is_among(key, passive_keys, LENGTH(passive_keys)) ||
            (w->is_page && is_among(key, leaving_keys, LENGTH(leaving_keys)))) {
            continue;
        }
        const qpdf_oh value = qpdf_oh_get_key(q, dictionary, key);
        if (w->is_page && is_destination(w, key, value)) {
            qpdf_oh_release(q, value);
        } else {
            note(w, value);
        }
    }
}

static void note_items(struct walk *w, qpdf_oh array)
{
    qpdf_data q = w->pdf->objects;
    const int n = qpdf_oh_get_array_n_items(q, array);

    for (int i = 0; i < n && w->nvisited + (w->todo.n - w->next) < OBJECTS_MAX; i++) {
        note(w, qpdf_oh_get_array_item(q, array, i));
    }
}

static bool visit(struct walk *w, qpdf_oh object)
{
    qpdf_data q = w->pdf->objects;
    bool is_more = true;

    w->nvisited++;
    if (!is_first_visit(w, object)) {
        return true;
    }
    if (qpdf_oh_is_array(q, object)) {
        note_items(w, object);
    } else if (qpdf_oh_is_stream(q, object)) {
        note(w, qpdf_oh_get_dict(q, object));
    } else if (qpdf_oh_is_dictionary(q, object)) {
        is_more = pdf_action(w->pdf, object);
        note_values(w, object);
    }
    return is_more;
}

/* Breadth first, so that the actions of the document itself come first. */
static bool visit_all(struct walk *w)
{
    bool is_more = true;

    for (; w->next < w->todo.n && is_more; w->next++) {
        is_more = visit(w, w->todo.item[w->next]);
        qpdf_oh_release(w->pdf->objects, w->todo.item[w->next]);
    }
    w->todo.n = 0;
    w->next = 0;
    return is_more;
}

/* --- pages --- */

struct content {
    size_t left;
    char
        last[3]; /* tokens: the three bytes before this one, white space as one blank */
    bool is_unpainted;
};

/* Seeks "3 Tr" and "7 Tr": text that paints nothing. */
static bool seek_unpainted(void *context, struct slice bytes)
{
    struct content *c = context;

    for (size_t i = 0; i < bytes.n && c->left > 0; i++, c->left--) {
        const char byte =
            (char)(strchr("\t\r\n\f", bytes.p[i]) != NULL ? ' ' : bytes.p[i]);
        if (byte == ' ' && c->last[2] == ' ') {
            continue;
        }
        if (byte == 'r' && c->last[2] == 'T' && c->last[1] == ' ' &&
            (c->last[0] == '3' || c->last[0] == '7')) {
            c->is_unpainted = true;
        }
        c->last[0] = c->last[1];
        c->last[1] = c->last[2];
        c->last[2] = byte;
    }
    return c->left > 0 && !c->is_unpainted;
}

static bool is_unpainted(struct walk *w, qpdf_oh page)
{
    qpdf_data q = w->pdf->objects;
    const size_t most = CONTENT_MAX < w->content_left ? CONTENT_MAX : w->content_left;
    struct content c = {.left = most, .last = "   "};
    const qpdf_oh contents = qpdf_oh_get_key(q, page, "/Contents");

    if (qpdf_oh_is_stream(q, contents)) {
        (void)pdf_stream(w->pdf, contents, seek_unpainted, &c);
    } else if (qpdf_oh_is_array(q, contents)) {
        const int n = qpdf_oh_get_array_n_items(q, contents);
        for (int i = 0; i < n && c.left > 0 && !c.is_unpainted; i++) {
            const qpdf_oh part = qpdf_oh_get_array_item(q, contents, i);
            if (qpdf_oh_is_stream(q, part)) {
                (void)pdf_stream(w->pdf, part, seek_unpainted, &c);
            }
            c.left -= c.left > 0 ? 1 : 0; /* an empty part costs too */
            qpdf_oh_release(q, part);
        }
    }
    w->content_left -= most - c.left;
    return c.is_unpainted;
}

/* Whether the glyphs of a font stand in the file, so that it is drawn wherever it is read. */
static bool is_embedded(struct walk *w, qpdf_oh font)
{
    static const char *const keys[] = {"/FontFile", "/FontFile2", "/FontFile3"};
    qpdf_data q = w->pdf->objects;
    const qpdf_oh parts = qpdf_oh_get_key_if_dict(q, font, "/DescendantFonts");

    if (qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key_if_dict(q, font, "/Subtype"),
                                   "/Type3")) {
        return true;
    }
    if (qpdf_oh_is_array(q, parts) && qpdf_oh_get_array_n_items(q, parts) > 0) {
        font = qpdf_oh_get_array_item(q, parts, 0);
    }
    const qpdf_oh descriptor = qpdf_oh_get_key_if_dict(q, font, "/FontDescriptor");
    for (size_t i = 0; i < LENGTH(keys); i++) {
        if (qpdf_oh_is_stream(q, qpdf_oh_get_key_if_dict(q, descriptor, keys[i]))) {
            return true;
        }
    }
    return false;
}

/* A page inherits its resources. */
static qpdf_oh fonts_of(struct walk *w, qpdf_oh page)
{
    qpdf_data q = w->pdf->objects;
    qpdf_oh node = page;

    for (unsigned i = 0; i < PARENTS_MAX; i++) {
        const qpdf_oh resources = qpdf_oh_get_key_if_dict(q, node, "/Resources");
        if (qpdf_oh_is_dictionary(q, resources)) {
            return qpdf_oh_get_key(q, resources, "/Font");
        }
        node = qpdf_oh_get_key_if_dict(q, node, "/Parent");
    }
    return w->pdf->none;
}

static bool has_only_embedded_fonts(struct walk *w, qpdf_oh page)
{
    qpdf_data q = w->pdf->objects;
    const qpdf_oh fonts = fonts_of(w, page);
    bool is_so = qpdf_oh_is_dictionary(q, fonts) != QPDF_FALSE;

    if (is_so) {
        qpdf_oh_begin_dict_key_iter(q, fonts);
        while (qpdf_oh_dict_more_keys(q)) {
            const char *key = qpdf_oh_dict_next_key(q);
            is_so = is_so && is_embedded(w, qpdf_oh_get_key(q, fonts, key));
        }
    }
    return is_so;
}

static bool visit_page(struct walk *w, qpdf_oh page)
{
    const size_t number = w->pdf->npages++;

    w->pdf->invisible[number] =
        is_unpainted(w, page) && has_only_embedded_fonts(w, page) ? 1 : 0;
    found_at(w->pdf->found, "page %zu", number + 1);
    w->is_page = true;
    note(w, page);
    const bool is_more = visit_all(w);
    w->is_page = false;
    return is_more;
}

/* Puts the children of a node of the page tree on the stack, the first one on top. */
static void push_children(struct walk *w, struct list *stack, qpdf_oh kids)
{
    qpdf_data q = w->pdf->objects;

    for (int i = qpdf_oh_get_array_n_items(q, kids); i-- > 0;) {
        if (stack->n >= PAGES_MAX ||
            !list_add(stack, qpdf_oh_get_array_item(q, kids, i))) {
            return;
        }
    }
}

/* The page tree in its order. */
static bool visit_pages(struct walk *w, qpdf_oh top)
{
    qpdf_data q = w->pdf->objects;
    struct seen nodes = {0};
    struct list stack = {0};
    bool is_more = list_add(&stack, top);

    while (is_more && stack.n > 0 && w->pdf->npages < PAGES_MAX) {
        const qpdf_oh node = stack.item[--stack.n];
        const qpdf_oh kids = qpdf_oh_is_dictionary(q, node)
                                 ? qpdf_oh_get_key(q, node, "/Kids")
                                 : w->pdf->none;
        const int id = qpdf_oh_get_object_id(q, node);
        if (id > 0 && !seen_first_time(&nodes, (uint64_t)id)) {
            continue; /* it stands in the tree twice, or in a ring */
        }
        if (qpdf_oh_is_array(q, kids)) {
            push_children(w, &stack, kids);
        } else if (qpdf_oh_is_dictionary(q, node)) {
            is_more = visit_page(w, node);
        }
    }
    free(stack.item);
    free(nodes.slot);
    return is_more;
}

bool pdf_walk(struct pdf *p)
{
    struct walk w = {.pdf = p, .content_left = CONTENTS_MAX};
    const qpdf_oh root = qpdf_get_root(p->objects);
    const qpdf_oh uri = qpdf_oh_get_key_if_dict(p->objects, root, "/URI");
    bool is_more = true;

    p->invisible = calloc(PAGES_MAX, 1);
    if (p->invisible == NULL) {
        return true;
    }
    pdf_string(p, qpdf_oh_get_key_if_dict(p->objects, uri, "/Base"), &p->base);
    is_more = visit_pages(&w, qpdf_oh_get_key_if_dict(p->objects, root, "/Pages"));
    found_at(p->found, "%s", "");
    if (is_more) {
        note(&w, root);
        is_more = visit_all(&w);
    }
    if (w.nvisited >= OBJECTS_MAX) {
        (void)found_fact(p->found, RECORD_ENTRIES);
    }
    free(w.todo.item);
    free(w.seen.slot);
    return is_more;
}
