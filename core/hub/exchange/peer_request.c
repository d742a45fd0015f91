#include "core/hub/exchange/peer_request.h"

#include "core/base/hash256.h"
#include "core/hub/http/http_syntax.h"

static bool take_stream(struct slice *rest, struct peer_request *ret)
{
    struct slice name = slice_cut(rest, '/');

    return rest->p != NULL && hex_parse(name, ret->stream.b, OBJECT_ID_BYTES);
}

static unsigned parse_chain(struct slice rest, struct peer_request *ret)
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

static unsigned parse_snap(struct slice rest, struct peer_request *ret)
{
    if (!take_stream(&rest, ret)) {
        return 404;
    }
    return http_take_number(rest, &ret->from) && ret->from >= 1 ? 0 : 400;
}

static unsigned parse_get(struct slice target, struct peer_request *ret)
{
    static const struct {
        struct slice prefix;
        enum peer_route route;
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

/* The method and the path: these are judged before the fields. */
static unsigned parse_route(const struct http_request *http, struct peer_request *ret)
{
    if (http->method == HTTP_GET && !http->is_head) {
        return parse_get(http->target, ret);
    }
    if (http->method != HTTP_POST) {
        return 405;
    }
    ret->route = ROUTE_JOIN;
    return slice_eq(http->target, SLICE_LIT("/v1/join")) ? 0 : 404;
}

unsigned peer_request_parse(struct slice head, struct http_request *rethttp,
                            struct peer_request *ret)
{
    static const struct http_rules rules = {
        .unknown_method = 405,
        .transfer_coding = 501,
        .field = {PEER_CLIENT_FIELD, sizeof(PEER_CLIENT_FIELD) - 1}};
    const char *why = NULL;
    unsigned status = http_request_parse(head, &rules, rethttp, &why);
    unsigned route = 0;

    *ret = (struct peer_request){.route = ROUTE_HEADS};
    route = rethttp->target.n > 0 ? parse_route(rethttp, ret) : 0;
    if (route != 0) {
        return route;
    }
    return status == 0 && rethttp->length > PEER_BODY_MAX ? 413 : status;
}
