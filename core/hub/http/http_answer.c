/* http_answer - the head of an answer. */
#include "core/hub/http/http_internal.h"

const char *http_reason(unsigned status)
{
    static const struct {
        unsigned status;
        const char *text;
    } reasons[] = {{200, "OK"},
                   {202, "Accepted"},
                   {204, "No Content"},
                   {303, "See Other"},
                   {304, "Not Modified"},
                   {400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {406, "Not Acceptable"},
                   {409, "Conflict"},
                   {410, "Gone"},
                   {411, "Length Required"},
                   {413, "Content Too Large"},
                   {415, "Unsupported Media Type"},
                   {417, "Expectation Failed"},
                   {422, "Unprocessable Content"},
                   {429, "Too Many Requests"},
                   {431, "Request Header Fields Too Large"},
                   {500, "Internal Server Error"},
                   {501, "Not Implemented"},
                   {503, "Service Unavailable"},
                   {504, "Gateway Timeout"},
                   {505, "HTTP Version Not Supported"}};

    for (size_t i = 0; i < LENGTH(reasons); i++) {
        if (reasons[i].status == status) {
            return reasons[i].text;
        }
    }
    return "Unknown";
}

void http_add_field(struct buf *b, const char *name, const char *value)
{
    if (value != NULL) {
        buf_add_str(b, name);
        buf_add(b, SLICE_LIT(": "));
        buf_add_str(b, value);
        buf_add(b, SLICE_LIT("\r\n"));
    }
}

void http_add_head(struct buf *b, const struct http_answer *a, size_t body_bytes,
                   bool closes)
{
    if (a->status == 200) {
        buf_add(b, SLICE_LIT("HTTP/1.1 200 OK\r\n"));
    } else {
        buf_printf(b, "HTTP/1.1 %u %s\r\n", a->status, http_reason(a->status));
    }
    if (a->status != 204 && a->status != 304) {
        char length[24];

        (void)snprintf(length, sizeof(length), "%zu", body_bytes);
        http_add_field(b, "Content-Type", a->type);
        http_add_field(b, "Content-Length",
                       body_bytes != HTTP_NO_LENGTH ? length : NULL);
    }
    buf_add(b, a->fields);
    buf_add_str(b, closes ? "Connection: close\r\n\r\n" : "\r\n");
}
