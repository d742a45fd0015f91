#include "milter/logline.h"

#include <math.h>

#include "core/base/buf.h"
#include "core/base/log.h"
#include "core/message/feature/feature_json.h"

#include "milter/replytext.h"

/* ---- text ---- */

/* Untrusted bytes, at most max bytes of result; those of also are escaped, too. */
static void add_escaped(struct buf *b, struct slice s, size_t max, const char *also)
{
    enum { DOTS = 3, ESCAPED = 4 };
    size_t start = b->n;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool is_plain =
            c > ' ' && c < 0x7f && c != '"' && c != '\\' && !strchr(also, c);
        size_t width = is_plain ? 1 : ESCAPED;
        bool is_last = i + 1 == s.n;
        if (b->n - start + width > max - (is_last ? 0 : DOTS)) {
            buf_add_str(b, "...");
            return;
        }
        if (is_plain) {
            buf_add_char(b, (char)c);
        } else {
            buf_printf(b, "\\x%02x", c);
        }
    }
    if (s.n == 0) {
        buf_add_char(b, '-');
    }
}

static void add_symbol(struct buf *b, const struct symbol *s)
{
    buf_printf(b, "%s(%.1f)", s->name, s->score);
    if (s->detail.n > 0) {
        buf_add_char(b, '[');
        add_escaped(b, s->detail, LOGLINE_DETAIL, "[],");
        buf_add_char(b, ']');
    }
}

static void add_symbols(struct buf *b, const struct verdict *v)
{
    size_t start = b->n;
    const struct symbol *shown[VERDICT_SYMBOLS_MAX];
    size_t n = v ? verdict_shown(v, shown) : 0;
    for (size_t i = 0; i < n; i++) {
        buf_add_str(b, i > 0 ? "," : "");
        if (b->n - start > LOGLINE_SYMBOLS) {
            buf_printf(b, "+%zu", n - i);
            return;
        }
        add_symbol(b, shown[i]);
    }
    if (n == 0) {
        buf_add_char(b, '-');
    }
}

static void add_client(struct buf *b, const struct logline *l)
{
    buf_add_str(b, " client=");
    if (l->client_name.n > 0) {
        add_escaped(b, l->client_name, LOGLINE_ADDRESS, "[]");
    } else {
        buf_add_str(b, "unknown");
    }
    buf_printf(b, "[%s] helo=", l->client_address);
    add_escaped(b, l->helo, LOGLINE_ADDRESS, "");
}

static unsigned named_rcpts(const struct logline *l)
{
    unsigned n = l->has_addresses ? l->nrcpt : 0;
    return n < LOGLINE_RCPTS ? n : LOGLINE_RCPTS;
}

static void add_envelope(struct buf *b, const struct logline *l)
{
    unsigned n = named_rcpts(l);
    buf_add_str(b, " from=");
    add_escaped(b, l->has_addresses ? l->from : SLICE_NONE, LOGLINE_ADDRESS, "");
    buf_printf(b, " nrcpt=%u to=%s", l->nrcpt, n == 0 ? "-" : "");
    for (unsigned i = 0; i < n; i++) {
        buf_add_str(b, i > 0 ? "," : "");
        add_escaped(b, l->rcpt[i], LOGLINE_ADDRESS, ",");
    }
    buf_add_str(b, n > 0 && n < l->nrcpt ? ",..." : "");
    buf_add_str(b, " mid=");
    add_escaped(b, l->message_id, LOG_STR_MAX - 1, "");
}

static const char *fault_of(const struct logline *l)
{
    return l->verdict ? list_fault_name(l->verdict->fault) : NULL;
}

static bool has_case(const struct logline *l)
{
    return l->case_id && *l->case_id;
}

static void add_rare(struct buf *b, const struct logline *l)
{
    if (has_case(l)) {
        buf_printf(b, " case=%s", l->case_id);
    }
    if (l->reason) {
        buf_printf(b, " reason=%s", l->reason);
    }
    if (l->wanted != l->done) {
        buf_printf(b, " wanted=%s", action_name(l->wanted));
    }
    if (fault_of(l)) {
        buf_printf(b, " fault=%s", fault_of(l));
    }
    if (l->nstripped > 0) {
        buf_printf(b, " stripped=%zu", l->nstripped);
    }
    if (l->left_forged) {
        buf_add_str(b, " forged=left");
    }
}

char *logline_text(const struct logline *l)
{
    struct buf b;
    char required[REPLYTEXT_NUMBER];
    char limits[512] = "-";
    if (l->verdict) {
        replytext_limits(l->verdict->limits, limits, sizeof(limits));
    }
    buf_init(&b, LOG_LINE_MAX);
    add_escaped(&b, slice_str(l->queue_id), LOGLINE_ADDRESS, "");
    buf_printf(&b, ": action=%s score=%.1f required=%s symbols=", action_name(l->done),
               l->verdict ? l->verdict->score : 0.0,
               replytext_required(l->required, required));
    add_symbols(&b, l->verdict);
    add_client(&b, l);
    add_envelope(&b, l);
    buf_printf(&b, " size=%llu limits=%s config=%llu us=%llu",
               (unsigned long long)l->size, limits, (unsigned long long)l->generation,
               (unsigned long long)l->us);
    add_rare(&b, l);
    return b.p;
}

/* ---- JSON ---- */

static json_t *json_head_of(struct slice s, size_t max)
{
    return s.n > 0 ? json_text(slice_head(s, max)) : json_null();
}

/* max: bytes of each value; a small one also leaves out symbols, to make a long
 * line fit. *retn: the number of all symbols. */
static json_t *json_symbols(const struct verdict *v, size_t max, size_t *retn)
{
    const struct symbol *shown[VERDICT_SYMBOLS_MAX];
    size_t n = v ? verdict_shown(v, shown) : 0;
    json_t *all = json_array();
    *retn = n;
    for (size_t i = 0; i < n && i < max; i++) {
        const struct symbol *s = shown[i];
        (void)json_array_append_new(all, json_pack("{s:s, s:f, s:o}", "name", s->name,
                                                   "score", s->score, "detail",
                                                   json_head_of(s->detail, max)));
    }
    return all;
}

static json_t *json_to(const struct logline *l, size_t max)
{
    json_t *all = json_array();
    for (unsigned i = 0; i < named_rcpts(l); i++) {
        (void)json_array_append_new(all, json_head_of(l->rcpt[i], max));
    }
    return all;
}

static void set_rare(json_t *o, const struct logline *l)
{
    if (has_case(l)) {
        (void)json_object_set_new(o, "case", json_string(l->case_id));
    }
    if (l->reason) {
        (void)json_object_set_new(o, "reason", json_string(l->reason));
    }
    if (l->wanted != l->done) {
        (void)json_object_set_new(o, "wanted", json_string(action_name(l->wanted)));
    }
    if (fault_of(l)) {
        (void)json_object_set_new(o, "fault", json_string(fault_of(l)));
    }
    if (l->nstripped > 0) {
        (void)json_object_set_new(o, "stripped",
                                  json_integer((json_int_t)l->nstripped));
    }
    if (l->left_forged) {
        (void)json_object_set_new(o, "forged", json_string("left"));
    }
}

static json_t *json_object_of(const struct logline *l, size_t max)
{
    const struct verdict *v = l->verdict;
    json_t *required = isfinite(l->required) ? json_real(l->required) : json_null();
    size_t nsymbols = 0;
    json_t *symbols = json_symbols(v, max, &nsymbols);
    json_t *from = json_head_of(l->has_addresses ? l->from : SLICE_NONE, max);
    json_t *o = json_pack(
        "{s:s, s:s, s:s, s:s, s:f, s:o, s:I, s:o, s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:I, s:o, s:I, s:I}",
        "event", "message", "level", "info", "queue_id", "", "action",
        action_name(l->done), "score", v ? v->score : 0.0, "required", required,
        "nsymbols", (json_int_t)nsymbols, "symbols", symbols, "client",
        l->client_address, "client_name", json_head_of(l->client_name, max), "helo",
        json_head_of(l->helo, max), "from", from, "nrcpt", (json_int_t)l->nrcpt, "to",
        json_to(l, max), "mid", json_head_of(l->message_id, max), "size",
        (json_int_t)l->size, "limits", json_limits(v ? v->limits : 0), "config",
        (json_int_t)l->generation, "us", (json_int_t)l->us);
    if (o) {
        (void)json_object_set_new(o, "queue_id",
                                  json_head_of(slice_str(l->queue_id), max));
        set_rare(o, l);
    }
    return o;
}

char *logline_json(const struct logline *l)
{
    enum { VALUE_MAX = 256, VALUE_MIN = 8 };
    for (size_t max = VALUE_MAX; max >= VALUE_MIN; max /= 2) {
        json_t *o = json_object_of(l, max);
        char *text =
            o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6))
              : NULL;
        json_decref(o);
        if (!text || strlen(text) <= LOG_LINE_MAX) {
            return text;
        }
        free(text);
    }
    return NULL;
}
