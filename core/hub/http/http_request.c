#include "core/hub/http/http_request.h"

#include "core/hub/http/http_syntax.h"

static unsigned refuse(unsigned status, const char *why, const char **retwhy)
{
    *retwhy = why;
    return status;
}

static bool is_target(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] <= ' ' || s.p[i] >= 0x7f || s.p[i] == '#') {
            return false;
        }
    }
    return s.n > 0 && s.p[0] == '/';
}

/* Methods of RFC 9110 and 5789 that no path here has. */
static bool is_other_method(struct slice name)
{
    return slice_eq(name, SLICE_LIT("PUT")) || slice_eq(name, SLICE_LIT("DELETE")) ||
           slice_eq(name, SLICE_LIT("PATCH")) || slice_eq(name, SLICE_LIT("TRACE")) ||
           slice_eq(name, SLICE_LIT("CONNECT"));
}

static bool take_method(struct slice name, struct http_request *ret)
{
    ret->is_head = slice_eq(name, SLICE_LIT("HEAD"));
    if (ret->is_head || slice_eq(name, SLICE_LIT("GET"))) {
        ret->method = HTTP_GET;
    } else if (slice_eq(name, SLICE_LIT("POST"))) {
        ret->method = HTTP_POST;
    } else if (slice_eq(name, SLICE_LIT("OPTIONS"))) {
        ret->method = HTTP_OPTIONS;
    } else if (is_other_method(name)) {
        ret->method = HTTP_OTHER;
    } else {
        return false;
    }
    return true;
}

static unsigned parse_line(struct slice line, const struct http_rules *rules,
                           struct http_request *ret, const char **retwhy)
{
    struct slice method = slice_cut(&line, ' ');
    struct slice target = slice_cut(&line, ' ');

    if (slice_eq(line, SLICE_LIT("HTTP/1.1"))) {
        ret->is_1_1 = true;
        ret->keeps_alive = true;
    } else if (!slice_eq(line, SLICE_LIT("HTTP/1.0"))) {
        return line.n == 8 && slice_has_prefix(line, SLICE_LIT("HTTP/"))
                   ? refuse(505, "HTTP/1.1 and 1.0 are understood", retwhy)
                   : refuse(400, "the first line is no request", retwhy);
    }
    if (!is_target(target)) {
        return refuse(400, "the target is no absolute path", retwhy);
    }
    if (!take_method(method, ret)) {
        return http_is_token(method)
                   ? refuse(rules->unknown_method,
                            "GET, HEAD, POST and OPTIONS are understood", retwhy)
                   : refuse(400, "the first line is no request", retwhy);
    }
    ret->target = target;
    ret->path = slice_cut(&target, '?');
    ret->query = target;
    return 0;
}

/* ---- fields ---- */

enum field {
    FIELD_HOST,
    FIELD_LENGTH,
    FIELD_CODING,
    FIELD_ENCODING,
    FIELD_TYPE,
    FIELD_AUTHORIZATION,
    FIELD_ORIGIN,
    FIELD_ACCEPT,
    FIELD_SITE,
    FIELD_MATCH,
    FIELD_CONNECTION,
    FIELD_EXPECT,
    FIELD_REFERER,
    FIELD_CALLERS, /* the one of the rules */
    FIELD_OTHER
};

static const struct {
    struct slice name;
    bool is_single; /* said twice, two readers might take either */
} fields[FIELD_OTHER] = {
    [FIELD_HOST] = {{"host", 4}, true},
    [FIELD_LENGTH] = {{"content-length", 14}, true},
    [FIELD_CODING] = {{"transfer-encoding", 17}, true},
    [FIELD_ENCODING] = {{"content-encoding", 16}, false},
    [FIELD_TYPE] = {{"content-type", 12}, true},
    [FIELD_AUTHORIZATION] = {{"authorization", 13}, true},
    [FIELD_ORIGIN] = {{"origin", 6}, true},
    [FIELD_ACCEPT] = {{"accept", 6}, false},
    [FIELD_SITE] = {{"sec-fetch-site", 14}, true},
    [FIELD_MATCH] = {{"if-none-match", 13}, false},
    [FIELD_CONNECTION] = {{"connection", 10}, false},
    [FIELD_EXPECT] = {{"expect", 6}, true},
    [FIELD_REFERER] = {{"referer", 7}, true},
    [FIELD_CALLERS] = {{NULL, 0}, true},
};

/* Parts of the names of fields in which proxies say whom they speak for. No client says such things of itself; a name that
 * is met by chance costs a client its local role and nothing else. */
static const struct slice proxy_marks[] = {
    {"forward", 7},  {"-ip", 3},           {"client", 6},    {"remote", 6},
    {"original", 8}, {"proxy", 5},         {"x-real", 6},    {"x-scheme", 8},
    {"x-host", 6},   {"x-url-scheme", 12}, {"cdn-", 4},      {"cf-", 3},
    {"x-amz", 5},    {"x-envoy", 7},       {"x-varnish", 9}, {"front-end", 9},
    {"ssl", 3},      {"x-cluster", 9}};

static bool is_proxys(struct slice name)
{
    static const struct slice via = {"via", 3};

    if (slice_eq_nocase(name, via)) {
        return true;
    }
    for (size_t i = 0; i < LENGTH(proxy_marks); i++) {
        struct slice mark = proxy_marks[i];

        for (size_t at = 0; at + mark.n <= name.n; at++) {
            if (slice_eq_nocase(slice_of(name.p + at, mark.n), mark)) {
                return true;
            }
        }
    }
    return false;
}

static enum field field_of(struct slice name, struct slice callers)
{
    unsigned i = 0;

    while (i < FIELD_OTHER &&
           !slice_eq_nocase(name, i == FIELD_CALLERS ? callers : fields[i].name)) {
        i++;
    }
    return (enum field)i;
}

/* Whether a list of words has this one. */
static bool has_word(struct slice list, struct slice word)
{
    while (list.n > 0) {
        if (slice_eq_nocase(slice_trim(slice_cut(&list, ',')), word)) {
            return true;
        }
    }
    return false;
}

static unsigned take_field(enum field f, struct slice value,
                           const struct http_rules *rules, struct http_request *ret,
                           const char **retwhy)
{
    switch (f) {
    case FIELD_HOST:
        ret->host = value;
        break;
    case FIELD_LENGTH:
        ret->has_length = true;
        return http_take_number(value, &ret->length)
                   ? 0
                   : refuse(400, "Content-Length is no number", retwhy);
    case FIELD_CODING:
        return refuse(rules->transfer_coding,
                      "transfer codings are not understood: send Content-Length",
                      retwhy);
    case FIELD_ENCODING:
        return slice_eq_nocase(value, SLICE_LIT("identity"))
                   ? 0
                   : refuse(415,
                            "bodies are read as they are: send no Content-Encoding",
                            retwhy);
    case FIELD_TYPE:
        ret->type = value;
        break;
    case FIELD_AUTHORIZATION:
        ret->authorization = value;
        break;
    case FIELD_ORIGIN:
        ret->origin = value;
        break;
    case FIELD_ACCEPT:
        ret->accept = value;
        break;
    case FIELD_SITE:
        ret->site = value;
        break;
    case FIELD_MATCH:
        ret->match = value;
        break;
    case FIELD_CONNECTION:
        ret->keeps_alive = ret->keeps_alive && !has_word(value, SLICE_LIT("close"));
        break;
    case FIELD_EXPECT:
        ret->expects = slice_eq_nocase(value, SLICE_LIT("100-continue"));
        return ret->expects ? 0 : refuse(417, "Expect: 100-continue alone", retwhy);
    case FIELD_REFERER:
        ret->referer = value;
        break;
    case FIELD_CALLERS:
        ret->field = value;
        break;
    case FIELD_OTHER:
        break;
    }
    return 0;
}

static unsigned parse_field(struct slice line, const struct http_rules *rules,
                            uint32_t *seen, struct http_request *ret,
                            const char **retwhy)
{
    struct slice name = slice_cut(&line, ':');
    enum field f;

    if (line.p == NULL || !http_is_token(name) || !http_is_value(line)) {
        return refuse(400, "a header field is malformed", retwhy);
    }
    f = field_of(name, rules->field);
    if (f < FIELD_OTHER && fields[f].is_single && (*seen >> f & 1) != 0) {
        return refuse(400, "a header field stands there twice", retwhy);
    }
    *seen |= 1U << f;
    ret->is_passed_on = ret->is_passed_on || (f == FIELD_OTHER && is_proxys(name));
    return take_field(f, slice_trim(line), rules, ret, retwhy);
}

/* What must be said for the method and version. */
static unsigned check(const struct http_request *r, uint32_t seen, const char **retwhy)
{
    bool has_host = (seen >> FIELD_HOST & 1) != 0;

    if (r->host.n == 0 && (has_host || r->is_1_1)) {
        return refuse(400, "Host is missing", retwhy);
    }
    if (r->method != HTTP_POST && r->method != HTTP_OTHER && r->length > 0) {
        return refuse(400, "only POST has a body", retwhy);
    }
    return r->method == HTTP_POST && !r->has_length
               ? refuse(411, "send Content-Length", retwhy)
               : 0;
}

unsigned http_request_parse(struct slice head, const struct http_rules *rules,
                            struct http_request *ret, const char **retwhy)
{
    struct slice line;
    uint32_t seen = 0;
    unsigned n = 0;
    unsigned status;

    *ret = (struct http_request){.method = HTTP_GET};
    if (head.n > HTTP_HEAD_MAX) {
        return refuse(431, "the head of the request is too long", retwhy);
    }
    if (!http_take_line(&head, &line) || !http_is_value(line)) {
        return refuse(400, "the first line is no request", retwhy);
    }
    status = parse_line(line, rules, ret, retwhy);
    while (status == 0 && http_take_line(&head, &line) && line.n > 0) {
        status = ++n > HTTP_FIELDS_MAX
                     ? refuse(431, "there are too many header fields", retwhy)
                     : parse_field(line, rules, &seen, ret, retwhy);
    }
    if (status == 0) {
        status = check(ret, seen, retwhy);
    }
    /* HTTP/1.0 is spoken by proxies, and by no browser */
    ret->is_passed_on = ret->is_passed_on || !ret->is_1_1;
    return status;
}

/* ---- values of fields ---- */

bool http_type_is(struct slice field, const char *type)
{
    return slice_eq_nocase(slice_trim(slice_head(field, slice_find(field, ';'))),
                           slice_str(type));
}

/* "q=0", "q=0.000" among the parameters. */
static bool is_unwanted(struct slice parameters)
{
    while (parameters.n > 0) {
        struct slice p = slice_trim(slice_cut(&parameters, ';'));

        if (p.n >= 3 && slice_has_prefix_nocase(p, SLICE_LIT("q=0"))) {
            size_t i = 3;

            while (i < p.n && (p.p[i] == '0' || p.p[i] == '.')) {
                i++;
            }
            return i == p.n;
        }
    }
    return false;
}

bool http_accepts(struct slice accept, struct slice type)
{
    struct slice group = slice_head(type, slice_find(type, '/'));
    struct slice plain = slice_trim(slice_head(type, slice_find(type, ';')));

    if (accept.n == 0) {
        return true;
    }
    while (accept.n > 0) {
        struct slice one = slice_cut(&accept, ',');
        struct slice range = slice_trim(slice_cut(&one, ';'));
        bool is_group = range.n == group.n + 2 &&
                        slice_has_prefix_nocase(range, group) &&
                        range.p[group.n] == '/' && range.p[group.n + 1] == '*';

        if ((is_group || slice_eq(range, SLICE_LIT("*/*")) ||
             slice_eq_nocase(range, plain)) &&
            !is_unwanted(one)) {
            return true;
        }
    }
    return false;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool http_query_next(struct slice *rest, struct slice *retname, char *ret, size_t size,
                     bool *retbad)
{
    struct slice pair = slice_cut(rest, '&');
    size_t n = 0;

    *retbad = false;
    if (pair.n == 0) {
        *retbad = rest->n > 0;
        return false;
    }
    *retname = slice_cut(&pair, '=');
    for (size_t i = 0; i < pair.n; i++, n++) {
        bool is_escape = pair.p[i] == '%';
        int high = is_escape && i + 2 < pair.n ? hex_digit(pair.p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(pair.p[i + 2]) : -1;
        int c = is_escape ? high * 16 + low : pair.p[i] == '+' ? ' ' : pair.p[i];

        if (n + 1 >= size || (is_escape && low < 0) || (unsigned char)c < ' ' ||
            c == 0x7f) {
            *retbad = true;
            return false;
        }
        ret[n] = (char)c;
        i += is_escape ? 2 : 0;
    }
    ret[n] = '\0';
    return true;
}
