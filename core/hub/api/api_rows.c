#include "core/hub/api/api_rows.h"

#include <strings.h>

#include "core/base/hash256.h"
#include "core/hub/http/http_request.h"

enum { KEYS = 2, CURSOR_PARTS = 2 + KEYS };

/* ---- the query ---- */

static enum err bad(struct errinfo *reterr, const char *why)
{
    return errinfo_set(reterr, ERR_SYNTAX, "query", 0, "%s", why);
}

static enum err read_limit(const char *value, size_t *ret)
{
    uint64_t n = 0;
    bool ok = slice_to_u64(slice_str(value), 10, API_ROWS_MAX, &n) && *value != '0';

    *ret = n;
    return ok ? ERR_OK : ERR_SYNTAX;
}

static enum err read_sort(const char *value, const struct api_table *t,
                          struct api_rows_query *ret)
{
    ret->is_falling = *value == '-';
    value += ret->is_falling ? 1 : 0;
    for (size_t i = 0; t->sorts[i] != NULL; i++) {
        if (strcmp(t->sorts[i], value) == 0) {
            (void)snprintf(ret->sort, sizeof(ret->sort), "%s", value);
            return ERR_OK;
        }
    }
    return ERR_SYNTAX;
}

/* Checks only the form; check_cursor compares the order. */
static json_t *read_cursor(const char *value)
{
    uint8_t bytes[API_ROWS_CURSOR_MAX / 2];
    size_t n = strlen(value) / 2;

    if (n == 0 || !hex_parse(slice_str(value), bytes, n)) {
        return NULL;
    }
    json_t *v = json_loadb((const char *)bytes, n, JSON_REJECT_DUPLICATES, NULL);
    bool is_one = json_is_array(v) && json_array_size(v) == CURSOR_PARTS;

    for (size_t i = 0; is_one && i < CURSOR_PARTS; i++) {
        const json_t *part = json_array_get(v, i);
        bool is_value = i == 1 && (json_is_number(part) || json_is_null(part));

        is_one = json_is_string(part) || is_value;
    }
    if (!is_one) {
        json_decref(v);
        return NULL;
    }
    return v;
}

static bool is_own(const struct api_table *t, struct slice name)
{
    size_t i = 0;

    while (t->own != NULL && t->own[i] != NULL &&
           !slice_eq(name, slice_str(t->own[i]))) {
        i++;
    }
    return t->own != NULL && t->own[i] != NULL;
}

/* One parameter. */
static enum err read_one(struct slice name, const char *value,
                         const struct api_table *t, struct api_rows_query *ret,
                         struct errinfo *reterr)
{
    if (slice_eq(name, SLICE_LIT("limit"))) {
        return read_limit(value, &ret->limit) == ERR_OK
                   ? ERR_OK
                   : bad(reterr, "limit is a number from 1 to 1000");
    }
    if (slice_eq(name, SLICE_LIT("sort"))) {
        return read_sort(value, t, ret) == ERR_OK
                   ? ERR_OK
                   : bad(reterr, "the field that sort names cannot be sorted by");
    }
    if (slice_eq(name, SLICE_LIT("cursor"))) {
        json_decref(ret->after);
        ret->after = read_cursor(value);
        return ret->after != NULL
                   ? ERR_OK
                   : bad(reterr, "the cursor is not one of a former answer");
    }
    if (slice_eq(name, SLICE_LIT("q"))) {
        size_t n = strlen(value);

        if (n >= sizeof(ret->words)) {
            return bad(reterr, "q is longer than 255 bytes");
        }
        memcpy(ret->words, value, n + 1);
        return ERR_OK;
    }
    return is_own(t, name)
               ? ERR_OK
               : bad(reterr, "the query is made of limit, cursor, q and sort");
}

/* A cursor is valid only for the order that it was made for. */
static enum err check_cursor(const struct api_rows_query *q, struct errinfo *reterr)
{
    const char *order = json_string_value(json_array_get(q->after, 0));

    if (q->after == NULL) {
        return ERR_OK;
    }
    bool is_falling = *order == '-';
    return is_falling == q->is_falling && strcmp(order + is_falling, q->sort) == 0
               ? ERR_OK
               : bad(reterr, "the cursor is one of another order: begin again without");
}

enum err api_rows_read(struct slice query, const struct api_table *t,
                       struct api_rows_query *ret, struct errinfo *reterr)
{
    char value[API_ROWS_CURSOR_MAX + 1];
    struct slice name;
    bool is_bad = false;
    enum err e = ERR_OK;

    *ret = (struct api_rows_query){.limit = 0};
    while (e == ERR_OK &&
           http_query_next(&query, &name, value, sizeof(value), &is_bad)) {
        e = read_one(name, value, t, ret, reterr);
    }
    if (e == ERR_OK && is_bad) {
        e = bad(reterr, "the query cannot be read");
    }
    if (ret->sort[0] == '\0' && (ret->limit > 0 || ret->after != NULL)) {
        (void)snprintf(ret->sort, sizeof(ret->sort), "%s", t->sorts[0]);
    }
    THEN(e, check_cursor(ret, reterr));
    if (e != ERR_OK) {
        api_rows_fini(ret);
    }
    return e;
}

void api_rows_fini(struct api_rows_query *q)
{
    json_decref(q->after);
    q->after = NULL;
}

/* ---- rows ---- */

/* Sort keys of one row. All pointers point into the row. */
struct place {
    json_t *row;
    const char *text; /* NULL: number counts, or nothing is there */
    bool has_number;
    bool is_falling;
    double number;
    const char *key[KEYS];
};

static const char *text_of(const json_t *v)
{
    return json_is_string(v) ? json_string_value(v) : "";
}

static void set_value(struct place *p, const json_t *v)
{
    p->text = json_string_value(v);
    p->has_number = json_is_number(v) || json_is_boolean(v);
    p->number = json_is_boolean(v) ? (double)json_is_true(v) : json_number_value(v);
}

static struct place place_of_row(json_t *row, const struct api_table *t,
                                 const struct api_rows_query *q)
{
    struct place p = {.row = row, .is_falling = q->is_falling};

    set_value(&p, json_object_get(row, q->sort));
    for (size_t i = 0; i < KEYS; i++) {
        p.key[i] = "";
    }
    for (size_t i = 0; i < KEYS && t->key[i] != NULL; i++) {
        p.key[i] = text_of(json_object_get(row, t->key[i]));
    }
    return p;
}

static struct place place_after(const struct api_rows_query *q)
{
    struct place p = {.is_falling = q->is_falling};

    set_value(&p, json_array_get(q->after, 1));
    for (size_t i = 0; i < KEYS; i++) {
        p.key[i] = text_of(json_array_get(q->after, 2 + i));
    }
    return p;
}

/* Missing values come first, then numbers, then texts. */
static int compare_values(const struct place *a, const struct place *b)
{
    int kind_a = a->text != NULL ? 2 : a->has_number;
    int kind_b = b->text != NULL ? 2 : b->has_number;

    if (kind_a != kind_b) {
        return kind_a - kind_b;
    }
    if (kind_a == 2) {
        return strcasecmp(a->text, b->text);
    }
    return (a->number > b->number) - (a->number < b->number);
}

/* No two rows are equal, whatever they are sorted by. */
static int compare(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    int c = compare_values(x, y);

    c = x->is_falling ? -c : c;
    for (size_t i = 0; c == 0 && i < KEYS; i++) {
        c = strcmp(x->key[i], y->key[i]);
    }
    return c;
}

/* v: a text, or an array of texts. */
static bool has_words_in(const json_t *v, const char *words)
{
    bool has = strcasestr(text_of(v), words) != NULL;

    for (size_t i = 0; !has && i < json_array_size(v); i++) {
        has = strcasestr(text_of(json_array_get(v, i)), words) != NULL;
    }
    return has;
}

static bool has_words(const json_t *row, const struct api_table *t, const char *words)
{
    bool has = *words == '\0';

    for (size_t i = 0; !has && t->words[i] != NULL; i++) {
        has = has_words_in(json_object_get(row, t->words[i]), words);
    }
    return has;
}

static json_t *cursor_of(const struct place *p, const struct api_rows_query *q)
{
    char order[API_ROWS_SORT_MAX + 1];
    char hex[API_ROWS_CURSOR_MAX + 1];
    json_t *value = p->text != NULL ? json_string(p->text)
                    : p->has_number ? json_real(p->number)
                                    : json_null();

    (void)snprintf(order, sizeof(order), "%s%s", q->is_falling ? "-" : "", q->sort);
    json_t *parts = json_pack("[s, o, s, s]", order, value, p->key[0], p->key[1]);
    char *text = parts != NULL ? json_dumps(parts, JSON_COMPACT) : NULL;
    size_t n = text != NULL ? strlen(text) : 0;
    bool fits = n > 0 && 2 * n < sizeof(hex);

    if (fits) {
        hex_print((const uint8_t *)text, n, hex);
    }
    free(text);
    json_decref(parts);
    return fits ? json_string(hex) : NULL;
}

/* The rows after the cursor, at most q->limit. */
static enum err cut(struct place *v, size_t n, const struct api_rows_query *q,
                    struct api_rows *ret)
{
    struct place after = place_after(q);
    size_t from = 0;
    size_t to = n;

    if (q->sort[0] != '\0') {
        qsort(v, n, sizeof(*v), compare);
    }
    while (from < n && q->after != NULL && compare(&v[from], &after) <= 0) {
        from++;
    }
    to = q->limit > 0 && n - from > q->limit ? from + q->limit : n;
    for (size_t i = from; i < to; i++) {
        (void)json_array_append(ret->rows, v[i].row);
    }
    ret->next = to < n ? cursor_of(&v[to - 1], q) : json_null();
    return ret->next != NULL && json_array_size(ret->rows) == to - from ? ERR_OK
                                                                        : ERR_NOMEM;
}

enum err api_rows_page(const json_t *all, const struct api_table *t,
                       const struct api_rows_query *q, struct api_rows *ret)
{
    struct place *v = calloc(json_array_size(all) + 1, sizeof(*v));
    size_t n = 0;
    size_t i = 0;
    json_t *row = NULL;

    *ret = (struct api_rows){.rows = json_array()};
    json_array_foreach(all, i, row)
    {
        if (v != NULL && has_words(row, t, q->words)) {
            v[n++] = place_of_row(row, t, q);
        }
    }
    ret->found = n;
    enum err e = v != NULL && ret->rows != NULL ? cut(v, n, q, ret) : ERR_NOMEM;
    free(v);
    if (e != ERR_OK) {
        json_decref(ret->rows);
        json_decref(ret->next);
        *ret = (struct api_rows){.rows = NULL};
    }
    return e;
}
