#include "core/hub/exchange/peer_request.h"

#include "core/base/hash256.h"

static bool take_stream(struct slice *rest, struct http_request *ret)
{
    struct slice name = slice_cut(rest, '/');

    return rest->p != NULL && hex_parse(name, ret->stream.b, OBJECT_ID_BYTES);
}

static unsigned parse_chain(struct slice rest, struct http_request *ret)
{
    struct slice from;

    if (!take_stream(&rest, ret)) {
        return 404;
    }
    from = slice_cut(&rest, '-');
    return rest.p != NULL && http_take_number(from, &ret->from) &&
                   http_take_number(rest, &ret->to) && ret->from >= 1 &&
                   ret->from <= ret->to
               ? 0
               : 400;
}

static unsigned parse_snap(struct slice rest, struct http_request *ret)
{
    if (!take_stream(&rest, ret)) {
        return 404;
    }
    return http_take_number(rest, &ret->from) && ret->from >= 1 ? 0 : 400;
}

static unsigned parse_get(struct slice target, struct http_request *ret)
{
    static const struct {
        struct slice prefix;
        enum http_route route;
    } routes[] = {
        {{"/v1/heads?after=", 16}, ROUTE_HEADS}, {{"/v1/chain/", 10}, ROUTE_CHAIN},
        {{"/v1/snap/", 9}, ROUTE_SNAP},          {{"/v1/ringkey/", 12}, ROUTE_RING_KEY},
        {{"/v1/manifest", 12}, ROUTE_MANIFEST},  {{"/v1/member", 10}, ROUTE_MEMBER},
    };
    size_t i = 0;

    while (i < LENGTH(routes) && !slice_has_prefix(target, routes[i].prefix)) {
        i++;
    }
    if (i == LENGTH(routes)) {
        return 404;
    }
    ret->route = routes[i].route;
    target = slice_from(target, routes[i].prefix.n);
    switch (ret->route) {
    case ROUTE_CHAIN:
        return parse_chain(target, ret);
    case ROUTE_SNAP:
        return parse_snap(target, ret);
    case ROUTE_HEADS:
        return http_take_number(target, &ret->from) ? 0 : 400;
    case ROUTE_RING_KEY:
        return http_take_number(target, &ret->from) && ret->from <= UINT32_MAX ? 0
                                                                               : 400;
    case ROUTE_MANIFEST:
    case ROUTE_MEMBER:
    case ROUTE_JOIN:
        break;
    }
    return target.n == 0 ? 0 : 404;
}

static unsigned parse_line(struct slice line, struct http_request *ret, bool *retis_get)
{
    struct slice method = slice_cut(&line, ' ');
    struct slice target = slice_cut(&line, ' ');

    if (slice_eq(line, SLICE_LIT("HTTP/1.1"))) {
        ret->keeps_alive = true;
    } else if (!slice_eq(line, SLICE_LIT("HTTP/1.0"))) {
        return slice_has_prefix(line, SLICE_LIT("HTTP/")) ? 505 : 400;
    }
    *retis_get = slice_eq(method, SLICE_LIT("GET"));
    if (*retis_get) {
        return parse_get(target, ret);
    }
    if (!slice_eq(method, SLICE_LIT("POST"))) {
        return 405;
    }
    ret->route = ROUTE_JOIN;
    return slice_eq(target, SLICE_LIT("/v1/join")) ? 0 : 404;
}

struct fields {
    unsigned n;
    unsigned hosts;
    unsigned lengths;
    unsigned clients;
};

static unsigned parse_field(struct slice line, struct fields *f,
                            struct http_request *ret)
{
    struct slice name = slice_cut(&line, ':');
    struct slice value = slice_trim(line);
    uint64_t length = 0;

    if (line.p == NULL || !http_is_token(name) || !http_is_value(line)) {
        return 400;
    }
    if (++f->n > HTTP_FIELDS_MAX) {
        return 431;
    }
    if (slice_eq_nocase(name, SLICE_LIT("host"))) {
        f->hosts++;
    } else if (slice_eq_nocase(name, SLICE_LIT("transfer-encoding"))) {
        return 501;
    } else if (slice_eq_nocase(name, SLICE_LIT("content-length"))) {
        if (++f->lengths > 1 || !http_take_number(value, &length)) {
            return 400;
        }
        if (length > HTTP_BODY_MAX) {
            return 413;
        }
        ret->body = (size_t)length;
    } else if (slice_eq_nocase(name, SLICE_LIT(HTTP_CLIENT_FIELD))) {
        if (++f->clients > 1) {
            return 400;
        }
        ret->client = value;
    } else if (slice_eq_nocase(name, SLICE_LIT("connection"))) {
        ret->keeps_alive =
            ret->keeps_alive && !slice_eq_nocase(value, SLICE_LIT("close"));
    }
    return 0;
}

unsigned http_parse(struct slice head, struct http_request *ret)
{
    struct http_request r = {.route = ROUTE_HEADS};
    struct fields f = {0};
    struct slice line;
    bool is_get = false;
    unsigned status;

    if (head.n > HTTP_HEAD_MAX) {
        return 431;
    }
    if (!http_take_line(&head, &line) || !http_is_value(line)) {
        return 400;
    }
    status = parse_line(line, &r, &is_get);
    while (status == 0 && http_take_line(&head, &line) && line.n > 0) {
        status = parse_field(line, &f, &r);
    }
    if (status != 0) {
        return status;
    }
    if (f.hosts > 1 || (f.hosts == 0 && r.keeps_alive)) {
        return 400;
    }
    if (is_get ? r.body > 0 : f.lengths == 0) {
        return is_get ? 400 : 411;
    }
    *ret = r;
    return 0;
}

static const char *reason(unsigned status)
{
    switch (status) {
    case 200:
        return "OK";
    case 304:
        return "Not Modified";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 429:
        return "Too Many Requests";
    case 503:
        return "Service Unavailable";
    default:
        return status < 500 ? "Bad Request" : "Server Error";
    }
}

void http_print_head(unsigned status, size_t body_bytes, const char *fields,
                     bool keeps_alive, struct buf *ret)
{
    buf_printf(ret, "HTTP/1.1 %u %s\r\n", status, reason(status));
    if (status != 304) {
        buf_printf(ret,
                   "Content-Length: %zu\r\nContent-Type: application/octet-stream\r\n",
                   body_bytes);
    }
    buf_printf(ret, "%sConnection: %s\r\n\r\n", fields,
               keeps_alive ? "keep-alive" : "close");
}
