/* api_answer - answers in writing: fields of the head, problems, JSON texts. */
#include <stdarg.h>

#include "core/base/clock.h"
#include "core/hub/api/api_body.h"
#include "core/hub/api/api_internal.h"
#include "core/message/feature/feature_json.h"

enum { DETAIL_MAX = 512 };

/* ---- JSON ---- */

static void add_control(struct buf *b, unsigned char c)
{
    switch (c) {
    case '"':
        buf_add_str(b, "\\\"");
        break;
    case '\\':
        buf_add_str(b, "\\\\");
        break;
    case '\n':
        buf_add_str(b, "\\n");
        break;
    default:
        buf_printf(b, "\\u%04x", c);
        break;
    }
}

void api_add_text(struct buf *b, struct slice s)
{
    size_t from = 0;

    buf_add_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c < ' ' || c == '"' || c == '\\' || c == 0x7f) {
            buf_add(b, slice_of(s.p + from, i - from));
            add_control(b, c);
            from = i + 1;
        }
    }
    buf_add(b, slice_from(s, from));
    buf_add_char(b, '"');
}

void api_add_ms(struct buf *b, uint64_t begun_us)
{
    uint64_t us = clock_mono_us() - begun_us;

    buf_printf(b, "%" PRIu64 ".%03u", us / 1000, (unsigned)(us % 1000));
}

void api_answer_json(struct api_call *call, json_t *value)
{
    char *text = value != NULL ? json_dumps(value, JSON_LINE) : NULL;

    json_decref(value);
    if (text == NULL) {
        api_refuse(call, 500, "out of memory");
        return;
    }
    call->answer.status = 200;
    buf_add_str(&call->answer.body, text);
    buf_add_char(&call->answer.body, '\n');
    free(text);
}

/* ---- what is wrong ---- */

void api_refuse(struct api_call *call, unsigned status, const char *format, ...)
{
    struct api_answer *a = &call->answer;
    char detail[DETAIL_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    buf_clear(&a->body);
    a->fixed = SLICE_NONE;
    a->status = status;
    a->type = "application/problem+json";
    a->etag = NULL;
    a->policy = NULL;
    buf_printf(&a->body,
               "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%u,\"detail\":",
               http_reason(status), status);
    api_add_text(&a->body, slice_str(detail));
    buf_add_str(&a->body, "}\n");
}

bool api_read_body(struct api_call *call, const struct api_member *members, size_t n)
{
    struct errinfo why = {.text = ""};

    switch (api_body_read(call->body, members, n, call->arena, &why)) {
    case ERR_OK:
        return true;
    case ERR_SYNTAX:
        api_refuse(call, 400, "%s", why.text);
        break;
    case ERR_LIMIT:
        api_refuse(call, 413, "%s", why.text);
        break;
    case ERR_NOMEM:
        api_refuse(call, 503, "%s", why.text);
        break;
    default:
        api_refuse(call, 422, "%s", why.text);
        break;
    }
    return false;
}

void api_print_fields(const struct api_call *call, struct buf *ret)
{
    const struct api_answer *a = &call->answer;

    http_add_field(ret, "ETag", a->etag);
    http_add_field(ret, "Cache-Control", a->etag != NULL ? "no-cache" : "no-store");
    http_add_field(ret, "X-Content-Type-Options", "nosniff");
    if (a->policy != NULL) {
        http_add_field(ret, "Content-Security-Policy", a->policy);
        http_add_field(ret, "Referrer-Policy",
                       a->referrer != NULL ? a->referrer : "no-referrer");
    }
    http_add_field(ret, "Allow", a->allow);
    http_add_field(ret, "Set-Cookie", a->cookie[0] != '\0' ? a->cookie : NULL);
    http_add_field(ret, "Location", a->location[0] != '\0' ? a->location : NULL);
    if (a->status == 401) {
        http_add_field(ret, "WWW-Authenticate", "Bearer realm=\"gillnet\"");
    }
    if (a->retry_s > 0) {
        buf_printf(ret, "Retry-After: %u\r\n", a->retry_s);
    }
}
