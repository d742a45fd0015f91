#include "core/hub/http/http_request.h"

#include "core/hub/http/http_syntax.h"

static unsigned refuse_head(unsigned status, const char *why, const char **retwhy)
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

static bool take_method(struct slice name, struct http_request *ret)
{
    static const struct {
        struct slice name;
        enum http_method method;
    } methods[] = {{{"GET", 3}, HTTP_GET},      {{"POST", 4}, HTTP_POST},
                   {{"HEAD", 4}, HTTP_GET},     {{"OPTIONS", 7}, HTTP_OPTIONS},
                   {{"PUT", 3}, HTTP_OTHER},    {{"DELETE", 6}, HTTP_OTHER},
                   {{"PATCH", 5}, HTTP_OTHER},  {{"TRACE", 5}, HTTP_OTHER},
                   {{"CONNECT", 7}, HTTP_OTHER}};
    size_t i = 0;

    while (i < LENGTH(methods) && !slice_eq(name, methods[i].name)) {
        i++;
    }
    if (i == LENGTH(methods)) {
        return false;
    }
    ret->method = methods[i].method;
    ret->is_head = slice_eq(name, SLICE_LIT("HEAD"));
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
                   ? refuse_head(505, "HTTP/1.1 and 1.0 are understood", retwhy)
                   : refuse_head(400, "the first line is no request", retwhy);
    }
    if (!is_target(target)) {
        return refuse_head(400, "the target is no absolute path", retwhy);
    }
    if (!take_method(method, ret)) {
        return http_is_token(method)
                   ? refuse_head(rules->unknown_method,
                                 "GET, HEAD, POST and OPTIONS are understood", retwhy)
                   : refuse_head(400, "the first line is no request", retwhy);
    }
    ret->target = target;
    ret->path = slice_cut(&target, '?');
    ret->query = target;
    return 0;
}

/* ---- fields ---- */

/* Fields that are judged here; the other rows of the table are only stored. */
enum field {
    FIELD_HOST,
    FIELD_LENGTH,
    FIELD_CODING,
    FIELD_ENCODING,
    FIELD_CONNECTION,
    FIELD_EXPECT,
    FIELD_OWNERS /* the one of the rules */
};

#define STORED(member) offsetof(struct http_request, member)
static const struct {
    struct slice name;
    bool is_single; /* if it comes twice, two readers could take different ones */
    size_t at;      /* of the slice in struct http_request; 0: not stored */
} fields[] = {
    [FIELD_HOST] = {{"host", 4}, true, STORED(host)},
    [FIELD_LENGTH] = {{"content-length", 14}, true, 0},
    [FIELD_CODING] = {{"transfer-encoding", 17}, true, 0},
    [FIELD_ENCODING] = {{"content-encoding", 16}, false, 0},
    [FIELD_CONNECTION] = {{"connection", 10}, false, 0},
    [FIELD_EXPECT] = {{"expect", 6}, true, 0},
    [FIELD_OWNERS] = {{NULL, 0}, true, STORED(field)},
    {{"content-type", 12}, true, STORED(type)},
    {{"authorization", 13}, true, STORED(authorization)},
    {{"origin", 6}, true, STORED(origin)},
    {{"accept", 6}, false, STORED(accept)},
    {{"sec-fetch-site", 14}, true, STORED(site)},
    {{"if-none-match", 13}, false, STORED(match)},
    {{"referer", 7}, true, STORED(referer)},
    {{"cookie", 6}, true, STORED(cookies)},
    {{"accept-language", 15}, false, STORED(languages)},
};
#undef STORED

/* Parts of the names of fields in which proxies name their client. No client sends such a field
 * itself; one whose field matches by chance loses its local role and nothing else. */
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

/* The row of a field; LENGTH(fields): unknown. */
static unsigned find_field_row(struct slice name, struct slice owners)
{
    unsigned i = 0;

    while (i < LENGTH(fields) &&
           !slice_eq_nocase(name, i == FIELD_OWNERS ? owners : fields[i].name)) {
        i++;
    }
    return i;
}

/* True if a list with commas has this word. */
static bool has_word(struct slice list, struct slice word)
{
    while (list.n > 0) {
        if (slice_eq_nocase(slice_trim(slice_cut(&list, ',')), word)) {
            return true;
        }
    }
    return false;
}

static unsigned judge_field(unsigned f, struct slice value,
                            const struct http_rules *rules, struct http_request *ret,
                            const char **retwhy)
{
    switch (f) {
    case FIELD_LENGTH:
        ret->has_length = true;
        return http_take_number(value, &ret->length)
                   ? 0
                   : refuse_head(400, "Content-Length is no number", retwhy);
    case FIELD_CODING:
        return refuse_head(rules->transfer_coding,
                           "transfer codings are not understood: send Content-Length",
                           retwhy);
    case FIELD_ENCODING:
        return slice_eq_nocase(value, SLICE_LIT("identity"))
                   ? 0
                   : refuse_head(
                         415, "bodies are read as they are: send no Content-Encoding",
                         retwhy);
    case FIELD_EXPECT:
        ret->expects = slice_eq_nocase(value, SLICE_LIT("100-continue"));
        return ret->expects ? 0
                            : refuse_head(417, "Expect: 100-continue alone", retwhy);
    default: /* Connection */
        ret->keeps_alive = ret->keeps_alive && !has_word(value, SLICE_LIT("close"));
        return 0;
    }
}

static unsigned parse_field(struct slice line, const struct http_rules *rules,
                            uint32_t *seen, struct http_request *ret,
                            const char **retwhy)
{
    struct slice name = slice_cut(&line, ':');
    struct slice value = slice_trim(line);
    unsigned f;

    if (line.p == NULL || !http_is_token(name) || !http_is_value(line)) {
        return refuse_head(400, "a header field is malformed", retwhy);
    }
    f = find_field_row(name, rules->field);
    if (f == LENGTH(fields)) {
        ret->is_passed_on = ret->is_passed_on || is_proxys(name);
        return 0;
    }
    if (fields[f].is_single && (*seen >> f & 1) != 0) {
        return refuse_head(400, "a header field stands there twice", retwhy);
    }
    *seen |= 1U << f;
    if (fields[f].at == 0) {
        return judge_field(f, value, rules, ret, retwhy);
    }
    memcpy((char *)ret + fields[f].at, &value, sizeof(value));
    return 0;
}

/* The fields that the method and the version need. */
static unsigned check_needed_fields(const struct http_request *r, uint32_t seen,
                                    const char **retwhy)
{
    bool has_host = (seen >> FIELD_HOST & 1) != 0;

    if (r->host.n == 0 && (has_host || r->is_1_1)) {
        return refuse_head(400, "Host is missing", retwhy);
    }
    if (r->method != HTTP_POST && r->method != HTTP_OTHER && r->length > 0) {
        return refuse_head(400, "only POST has a body", retwhy);
    }
    return r->method == HTTP_POST && !r->has_length
               ? refuse_head(411, "send Content-Length", retwhy)
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
        return refuse_head(431, "the head of the request is too long", retwhy);
    }
    if (!http_take_line(&head, &line) || !http_is_value(line)) {
        return refuse_head(400, "the first line is no request", retwhy);
    }
    status = parse_line(line, rules, ret, retwhy);
    while (status == 0 && http_take_line(&head, &line) && line.n > 0) {
        status = ++n > HTTP_FIELDS_MAX
                     ? refuse_head(431, "there are too many header fields", retwhy)
                     : parse_field(line, rules, &seen, ret, retwhy);
    }
    if (status == 0) {
        status = check_needed_fields(ret, seen, retwhy);
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

/* True if the parameters have "q=0" or "q=0.000". */
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
        int high = is_escape && i + 2 < pair.n ? hex_digit_value(pair.p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit_value(pair.p[i + 2]) : -1;
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
