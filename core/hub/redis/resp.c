#include "core/hub/redis/resp.h"

#include "core/base/array.h"

enum { DECIMAL = 10, VERBATIM_PREFIX = 4 /* "txt:" */, LINE_END = 2 };

/* ---- between replies ---- */

static void forget_reply(struct resp *r)
{
    if (r->text.size > RESP_KEPT_BYTES) {
        buf_fini(&r->text);
    }
    if (r->room > RESP_KEPT_BYTES / sizeof(*r->nodes)) {
        free(r->nodes);
        r->nodes = NULL;
        r->room = 0;
    }
    buf_clear(&r->text);
    r->nnodes = 0;
    r->nelements = 0;
    r->nread = 0;
    r->is_whole = false;
}

void resp_init(struct resp *r)
{
    *r = (struct resp){.state = RESP_HEAD};
    buf_init(&r->text, RESP_BYTES_MAX + RESP_LINE_MAX); /* a line may be no text */
}

void resp_fini(struct resp *r)
{
    free(r->nodes);
    buf_fini(&r->text);
    *r = (struct resp){.state = RESP_HEAD};
}

/* ---- nodes ---- */

static enum resp_status resp_fail(struct resp *r, const char *why)
{
    r->fault = why;
    return RESP_FAULT;
}

/* One value is whole, and with it perhaps the aggregates that it ends. */
static enum resp_status end_value(struct resp *r)
{
    r->state = RESP_HEAD;
    while (r->depth > 0) {
        struct resp_frame *f = &r->frames[r->depth - 1];

        if (--f->left > 0) {
            return RESP_MORE;
        }
        r->depth--;
        if (f->is_attribute) { /* the value that it describes is still to come */
            r->nnodes = f->node;
            r->text.n = f->text;
            return RESP_MORE;
        }
        r->nodes[f->node].end = (uint32_t)r->nnodes;
    }
    r->is_whole = true;
    return RESP_DONE;
}

static bool add_node(struct resp *r, enum resp_kind kind, int64_t number)
{
    r->nelements++;
    if (r->nelements > RESP_ELEMENTS_MAX ||
        !array_room(&r->nodes, &r->room, r->nnodes + 1, RESP_ELEMENTS_MAX,
                    sizeof(*r->nodes))) {
        return false;
    }
    r->nodes[r->nnodes] = (struct resp_node){
        .kind = kind, .number = number, .end = (uint32_t)r->nnodes + 1};
    r->nnodes++;
    return true;
}

static enum resp_status add_value_node(struct resp *r, enum resp_kind kind,
                                       int64_t number)
{
    return add_node(r, kind, number) ? end_value(r)
                                     : resp_fail(r, "a reply of too many elements");
}

/* The text from byte `at` of r->text on. */
static enum resp_status add_text_node(struct resp *r, enum resp_kind kind, size_t at)
{
    r->nread += r->text.n - r->line_at;
    if (r->nread > RESP_BYTES_MAX) {
        return resp_fail(r, "a reply of too many bytes");
    }
    if (!add_node(r, kind, 0)) {
        return resp_fail(r, "a reply of too many elements");
    }
    r->nodes[r->nnodes - 1].at = (uint32_t)at;
    r->nodes[r->nnodes - 1].n = (uint32_t)(r->text.n - at);
    return end_value(r);
}

static enum resp_status open_aggregate(struct resp *r, uint64_t count)
{
    const bool is_attribute = r->type == '|';
    const bool has_pairs = is_attribute || r->type == '%';
    const uint64_t below = has_pairs ? 2 * count : count;
    const enum resp_kind kind = has_pairs        ? RESP_MAP
                                : r->type == '>' ? RESP_PUSH
                                                 : RESP_ARRAY;

    if (below >= RESP_ELEMENTS_MAX - r->nelements) { /* one more is the aggregate */
        return resp_fail(r, "a reply of too many elements");
    }
    if (r->type == '>' && r->depth > 0) {
        return resp_fail(r, "a push within a reply");
    }
    if (below == 0 && !is_attribute) {
        return add_value_node(r, kind, 0);
    }
    if (r->depth == RESP_DEPTH_MAX) {
        return resp_fail(r, "a reply that is nested too deep");
    }
    if (!add_node(r, kind, (int64_t)below)) {
        return resp_fail(r, "a reply of too many elements");
    }
    r->state = RESP_HEAD;
    if (below == 0) { /* an attribute without pairs */
        r->nnodes--;
        return RESP_MORE;
    }
    r->frames[r->depth++] = (struct resp_frame){.node = (uint32_t)r->nnodes - 1,
                                                .text = (uint32_t)r->text.n,
                                                .left = below,
                                                .is_attribute = is_attribute};
    return RESP_MORE;
}

/* ---- lines ---- */

static bool to_integer(struct slice s, int64_t *ret)
{
    const bool is_negative = s.n > 0 && s.p[0] == '-';
    uint64_t size = 0;

    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
        s = slice_from(s, 1);
    }
    if (!slice_to_u64(s, DECIMAL, (uint64_t)INT64_MAX + is_negative, &size)) {
        return false;
    }
    *ret = is_negative && size > 0 ? -(int64_t)(size - 1) - 1 : (int64_t)size;
    return true;
}

static bool is_number_text(struct slice s)
{
    static const char of_numbers[] = "+-.0123456789eEinfa";

    for (size_t i = 0; i < s.n; i++) {
        if (memchr(of_numbers, s.p[i], sizeof(of_numbers) - 1) == NULL) {
            return false;
        }
    }
    return s.n > 0;
}

/* "$5", "*2": how much comes. */
static enum resp_status read_length(struct resp *r, struct slice line)
{
    const bool is_body = strchr("$=!", r->type) != NULL;
    uint64_t n = 0;

    if (slice_eq(line, SLICE_LIT("-1")) && (r->type == '$' || r->type == '*')) {
        return add_value_node(r, RESP_NULL, 0);
    }
    if (!slice_to_u64(line, DECIMAL, INT64_MAX, &n)) {
        return resp_fail(r, "a length that is no number");
    }
    if (!is_body) {
        return open_aggregate(r, n);
    }
    if (n > RESP_BYTES_MAX - r->text.n) {
        return resp_fail(r, "a reply of too many bytes");
    }
    r->left = (size_t)n + LINE_END;
    r->state = RESP_BODY;
    return RESP_MORE;
}

/* A whole line without its end lies at the end of r->text. */
static enum resp_status read_resp_line(struct resp *r)
{
    const struct slice line = slice_from(buf_slice(&r->text), r->line_at);
    int64_t number = 0;

    switch (r->type) {
    case '+':
    case '-':
        return add_text_node(r, r->type == '-' ? RESP_ERROR : RESP_TEXT, r->line_at);
    case ',':
    case '(':
        return is_number_text(line) ? add_text_node(r, RESP_TEXT, r->line_at)
                                    : resp_fail(r, "a malformed number");
    default:
        break;
    }
    r->text.n = r->line_at; /* numbers are no texts; the bytes stay where they are */
    switch (r->type) {
    case ':':
        return to_integer(line, &number) ? add_value_node(r, RESP_INTEGER, number)
                                         : resp_fail(r, "a malformed integer");
    case '#':
        return slice_eq(line, SLICE_LIT("t")) ? add_value_node(r, RESP_BOOL, 1)
               : slice_eq(line, SLICE_LIT("f"))
                   ? add_value_node(r, RESP_BOOL, 0)
                   : resp_fail(r, "a malformed truth value");
    case '_':
        return line.n == 0 ? add_value_node(r, RESP_NULL, 0)
                           : resp_fail(r, "a null with a value");
    default:
        return read_length(r, line);
    }
}

static enum resp_status take_line(struct resp *r, struct slice *bytes)
{
    const size_t n = slice_find(*bytes, '\n');
    const bool is_whole = n < bytes->n;

    if (r->text.n - r->line_at + n > RESP_LINE_MAX) {
        return resp_fail(r, "a line that is too long");
    }
    buf_add(&r->text, slice_head(*bytes, n));
    *bytes = slice_from(*bytes, n + is_whole);
    if (buf_failed(&r->text)) {
        return resp_fail(r, "a reply for which there is no memory");
    }
    if (!is_whole) {
        return RESP_MORE;
    }
    if (r->text.n == r->line_at || r->text.p[r->text.n - 1] != '\r') {
        return resp_fail(r, "a line that does not end in CR LF");
    }
    r->text.n--;
    return read_resp_line(r);
}

/* ---- bodies ---- */

static enum resp_status end_body(struct resp *r)
{
    size_t at = r->line_at;

    if (r->text.p[r->text.n - 2] != '\r' || r->text.p[r->text.n - 1] != '\n') {
        return resp_fail(r, "a text that does not end in CR LF");
    }
    r->text.n -= LINE_END;
    if (r->type == '=') {
        if (r->text.n - at < VERBATIM_PREFIX || r->text.p[at + 3] != ':') {
            return resp_fail(r, "a verbatim text without its kind");
        }
        at += VERBATIM_PREFIX;
    }
    return add_text_node(r, r->type == '!' ? RESP_ERROR : RESP_TEXT, at);
}

/* Of the body and its line end. */
static enum resp_status take_body(struct resp *r, struct slice *bytes)
{
    const struct slice part = slice_head(*bytes, r->left);

    buf_add(&r->text, part);
    if (buf_failed(&r->text)) {
        return resp_fail(r, "a reply for which there is no memory");
    }
    *bytes = slice_from(*bytes, part.n);
    r->left -= part.n;
    return r->left > 0 ? RESP_MORE : end_body(r);
}

static enum resp_status take_head(struct resp *r, struct slice *bytes)
{
    static const char types[] = "+-:$*_#,(!=%~>|";

    if (r->is_whole) {
        forget_reply(r);
    }
    r->type = bytes->p[0];
    if (memchr(types, r->type, sizeof(types) - 1) == NULL) {
        return resp_fail(r, "a byte that begins no reply");
    }
    *bytes = slice_from(*bytes, 1);
    r->line_at = r->text.n;
    r->state = RESP_LINE;
    return RESP_MORE;
}

enum resp_status resp_feed(struct resp *r, struct slice *bytes)
{
    enum resp_status status = RESP_MORE;

    while (bytes->n > 0 && status == RESP_MORE) {
        switch (r->state) {
        case RESP_HEAD:
            status = take_head(r, bytes);
            break;
        case RESP_LINE:
            status = take_line(r, bytes);
            break;
        default:
            status = take_body(r, bytes);
            break;
        }
    }
    return status;
}

/* ---- reading a reply ---- */

struct slice resp_text(const struct resp *r, size_t node)
{
    const struct resp_node *n = &r->nodes[node];

    return n->kind == RESP_TEXT || n->kind == RESP_ERROR
               ? slice_of(r->text.p + n->at, n->n)
               : SLICE_NONE;
}

size_t resp_below(const struct resp *r, size_t node, size_t k)
{
    const struct resp_node *n = &r->nodes[node];
    size_t at = node + 1;

    if (n->kind < RESP_ARRAY || k >= (uint64_t)n->number) {
        return 0;
    }
    while (k-- > 0) {
        at = r->nodes[at].end;
    }
    return at;
}

size_t resp_value(const struct resp *r, size_t map, const char *key)
{
    const struct resp_node *m = &r->nodes[map];
    size_t at = map + 1;

    for (int64_t i = 0; m->kind >= RESP_ARRAY && i + 1 < m->number; i += 2) {
        const size_t value = r->nodes[at].end;

        if (slice_eq(resp_text(r, at), slice_str(key))) {
            return value;
        }
        at = r->nodes[value].end;
    }
    return 0;
}

/* ---- commands ---- */

void resp_add_command(struct buf *b, const struct slice *args, size_t nargs)
{
    buf_printf(b, "*%zu\r\n", nargs);
    for (size_t i = 0; i < nargs; i++) {
        buf_printf(b, "$%zu\r\n", args[i].n);
        buf_add(b, args[i]);
        buf_add(b, SLICE_LIT("\r\n"));
    }
}
