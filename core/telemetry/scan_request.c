#include "core/telemetry/scan_request.h"

static const char source[] = "scan";

/* ---- printing ---- */

static bool is_plain(unsigned char c)
{
    return c > ' ' && c < 0x7f && c != '%';
}

static void print_value(struct buf *ret, const char *name, struct slice value)
{
    if (value.n == 0) {
        return;
    }
    buf_printf(ret, " %s=", name);
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if (is_plain(c)) {
            buf_add_char(ret, (char)c);
        } else {
            buf_printf(ret, "%%%02X", c);
        }
    }
}

void scan_request_print(const struct scan_request *s, struct buf *ret)
{
    buf_printf(ret, "%s %llu", s->say.n > 0 ? "report" : "scan",
               (unsigned long long)s->bytes);
    print_value(ret, "client", s->client);
    print_value(ret, "helo", s->helo);
    print_value(ret, "from", s->from);
    for (size_t i = 0; i < s->nrcpt; i++) {
        print_value(ret, "rcpt", s->rcpt[i]);
    }
    buf_add_str(ret, s->is_authenticated ? " auth=1" : "");
    buf_add_str(ret, s->is_counting ? " count=1" : "");
    print_value(ret, "say", s->say);
    print_value(ret, "reporter", s->reporter);
    print_value(ret, "way", s->way);
    for (size_t i = 0; i < s->nids; i++) {
        print_value(ret, "id", s->id[i]);
    }
    print_value(ret, "campaign", s->campaign);
    buf_add_str(ret, s->is_values ? " values=1" : "");
    print_value(ret, "seal", s->seal);
    buf_add_char(ret, '\n');
}

/* ---- reading ---- */

static enum err refuse_line(struct errinfo *reterr, const char *what)
{
    return errinfo_set(reterr, ERR_SYNTAX, source, 0, "%s", what);
}

/* Decodes text to *at, which moves on. */
static enum err decode(struct slice text, char **at, struct slice *ret,
                       struct errinfo *reterr)
{
    char *to = *at;

    for (size_t i = 0; i < text.n; i++) {
        int high = 0;
        int low = 0;
        if (is_plain((unsigned char)text.p[i])) {
            *to++ = text.p[i];
            continue;
        }
        high = i + 2 < text.n && text.p[i] == '%' ? hex_digit_value(text.p[i + 1]) : -1;
        low = high >= 0 ? hex_digit_value(text.p[i + 2]) : -1;
        if (low < 0 || high + low == 0) {
            return refuse_line(reterr,
                               "a value has a byte that must be written as %XX, "
                               "which is not 00");
        }
        *to++ = (char)(high * 16 + low);
        i += 2;
    }
    *ret = slice_of(*at, (size_t)(to - *at));
    *at = to;
    if (ret->n == 0 || ret->n > SCAN_REQUEST_VALUE_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, source, 0,
                           "a value must have 1 to %d bytes", SCAN_REQUEST_VALUE_MAX);
    }
    return ERR_OK;
}

static enum err read_number(struct slice text, struct scan_request *ret,
                            struct errinfo *reterr)
{
    if (text.n == 0 || (text.n > 1 && text.p[0] == '0')) {
        return refuse_line(reterr, "the number of the message's bytes must follow");
    }
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return refuse_line(reterr, "the number of the message's bytes must follow");
        }
        ret->bytes = ret->bytes * 10 + (uint64_t)(text.p[i] - '0');
        if (ret->bytes > SCAN_REQUEST_BYTES_MAX) {
            return errinfo_set(reterr, ERR_LIMIT, source, 0,
                               "a message of more than %d bytes is not taken",
                               SCAN_REQUEST_BYTES_MAX);
        }
    }
    return ERR_OK;
}

static enum err read_flag(struct slice value, bool *ret, struct errinfo *reterr)
{
    if (*ret || !slice_eq(value, SLICE_LIT("1"))) {
        return refuse_line(
            reterr, "auth, count and values are given once, as 1, or not at all");
    }
    *ret = true;
    return ERR_OK;
}

static enum err read_pair(struct slice pair, char **at, struct scan_request *ret,
                          struct errinfo *reterr)
{
    const struct {
        struct slice name;
        struct slice *value;
    } once[] = {
        {SLICE_LIT("client"), &ret->client},     {SLICE_LIT("helo"), &ret->helo},
        {SLICE_LIT("from"), &ret->from},         {SLICE_LIT("say"), &ret->say},
        {SLICE_LIT("reporter"), &ret->reporter}, {SLICE_LIT("way"), &ret->way},
        {SLICE_LIT("campaign"), &ret->campaign}, {SLICE_LIT("seal"), &ret->seal}};
    struct slice name = slice_cut(&pair, '=');

    for (size_t i = 0; i < LENGTH(once); i++) {
        if (slice_eq(name, once[i].name)) {
            return once[i].value->n > 0
                       ? refuse_line(reterr,
                                     "client, helo, from, say, reporter, way, campaign "
                                     "and seal are given once")
                       : decode(pair, at, once[i].value, reterr);
        }
    }
    if (slice_eq(name, SLICE_LIT("rcpt"))) {
        return ret->nrcpt == SCAN_REQUEST_RCPTS
                   ? errinfo_set(reterr, ERR_LIMIT, source, 0,
                                 "at most %d recipients are taken", SCAN_REQUEST_RCPTS)
                   : decode(pair, at, &ret->rcpt[ret->nrcpt++], reterr);
    }
    if (slice_eq(name, SLICE_LIT("id"))) {
        return ret->nids == SCAN_REQUEST_IDS
                   ? errinfo_set(reterr, ERR_LIMIT, source, 0,
                                 "at most %d ids are taken", SCAN_REQUEST_IDS)
                   : decode(pair, at, &ret->id[ret->nids++], reterr);
    }
    if (slice_eq(name, SLICE_LIT("values"))) {
        return read_flag(pair, &ret->is_values, reterr);
    }
    if (slice_eq(name, SLICE_LIT("auth"))) {
        return read_flag(pair, &ret->is_authenticated, reterr);
    }
    if (slice_eq(name, SLICE_LIT("count"))) {
        return read_flag(pair, &ret->is_counting, reterr);
    }
    return refuse_line(reterr, "understood are client=, helo=, from=, rcpt=, auth=, "
                               "count=, and of a report say=, reporter=, way=, id=, "
                               "campaign=, values= and seal=");
}

enum err scan_request_parse(struct slice rest, char room[SCAN_REQUEST_MAX],
                            struct scan_request *ret, struct errinfo *reterr)
{
    char *at = room;

    memset(ret, 0, sizeof(*ret));
    if (rest.n > SCAN_REQUEST_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, source, 0,
                           "the request line is longer than %d bytes",
                           SCAN_REQUEST_MAX);
    }
    enum err e = read_number(slice_cut(&rest, ' '), ret, reterr);
    while (e == ERR_OK && rest.p != NULL) {
        e = read_pair(slice_cut(&rest, ' '), &at, ret, reterr);
    }
    return e;
}
