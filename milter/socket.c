#include "milter/socket.h"

#include <arpa/inet.h>
#include <strings.h>

#include "core/base/slice.h"

static const char spellings[] =
    "write unix:/PATH (for example unix:/run/gillnet/gillnetd.sock), inet:HOST:PORT or "
    "inet:PORT@HOST";

static enum err bad(const char *text, struct errinfo *reterr, const char *why)
{
    return errinfo_set(reterr, ERR_SYNTAX, text, 0, "%s; %s", why, spellings);
}

static enum err parse_unix(const char *text, const char *path,
                           struct milter_socket *ret, struct errinfo *reterr)
{
    size_t n = strlen(path);
    if (path[0] != '/') {
        return bad(text, reterr, "the path of a Unix socket must begin with /");
    }
    if (n > SOCKET_PATH_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, text, 0,
                           "the path of a Unix socket may have at most %d bytes, this "
                           "one has %zu; choose a shorter one",
                           SOCKET_PATH_MAX, n);
    }
    if (path[n - 1] == '/') {
        return bad(text, reterr, "the path of a Unix socket must name a file");
    }
    *ret = (struct milter_socket){.is_unix = true};
    memcpy(ret->path, path, n + 1);
    return ERR_OK;
}

static bool parse_port(struct slice s, unsigned *ret)
{
    uint64_t port = 0;
    if (s.n > 5 || !slice_to_u64(s, 10, UINT16_MAX, &port) || port == 0) {
        return false;
    }
    *ret = (unsigned)port;
    return true;
}

static bool is_host_name(struct slice host)
{
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '.' || c == '-';
        if (!ok) {
            return false;
        }
    }
    return host.n > 0 && host.n <= SOCKET_HOST_MAX;
}

static enum err set_host(const char *text, struct slice host, bool wants_v6,
                         struct milter_socket *ret, struct errinfo *reterr)
{
    struct in6_addr in6;
    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']') {
        host = slice_of(host.p + 1, host.n - 2);
    }
    if (host.n == 0) {
        return errinfo_set(reterr, ERR_SYNTAX, text, 0,
                           "a port without a host would listen on every address of the "
                           "machine; name the address, such as inet:127.0.0.1:8895");
    }
    if (host.n > SOCKET_HOST_MAX) {
        return bad(text, reterr, "the host is too long");
    }
    memcpy(ret->host, host.p, host.n);
    ret->host[host.n] = '\0';
    ret->is_v6 = inet_pton(AF_INET6, ret->host, &in6) == 1;
    if (!ret->is_v6 && !is_host_name(host)) {
        return bad(text, reterr, "this is no address or host name");
    }
    if (wants_v6 && !ret->is_v6) {
        return bad(text, reterr, "inet6 needs an IPv6 address");
    }
    return ERR_OK;
}

static enum err parse_inet(const char *text, const char *rest, bool wants_v6,
                           struct milter_socket *ret, struct errinfo *reterr)
{
    struct slice s = slice_str(rest);
    struct slice host = SLICE_NONE;
    struct slice port = s;
    size_t at = slice_find(s, '@');
    const char *colon = strrchr(rest, ':');
    if (at < s.n) {
        port = slice_head(s, at);
        host = slice_from(s, at + 1);
    } else if (colon) {
        host = slice_head(s, (size_t)(colon - rest));
        port = slice_str(colon + 1);
        if (slice_find(host, ':') < host.n && (host.n < 2 || host.p[0] != '[')) {
            return bad(text, reterr, "put an IPv6 address in brackets");
        }
    }
    *ret = (struct milter_socket){.is_unix = false};
    if (!parse_port(port, &ret->port)) {
        return bad(text, reterr, "the port must be a number from 1 to 65535");
    }
    return set_host(text, host, wants_v6, ret, reterr);
}

enum err socket_parse(const char *text, struct milter_socket *ret,
                      struct errinfo *reterr)
{
    static const struct {
        const char *prefix;
        bool is_unix;
        bool is_v6;
    } kinds[] = {
        {"unix:", true, false},
        {"local:", true, false},
        {"inet:", false, false},
        {"inet6:", false, true},
    };
    struct milter_socket parsed = {.is_unix = false};
    enum err e = ERR_SYNTAX;
    size_t i = 0;
    size_t nkinds = LENGTH(kinds);
    while (i < nkinds &&
           strncasecmp(text, kinds[i].prefix, strlen(kinds[i].prefix)) != 0) {
        i++;
    }
    if (i < nkinds) {
        const char *rest = text + strlen(kinds[i].prefix);
        e = kinds[i].is_unix ? parse_unix(text, rest, &parsed, reterr)
                             : parse_inet(text, rest, kinds[i].is_v6, &parsed, reterr);
    } else if (text[0] == '/') {
        e = parse_unix(text, text, &parsed, reterr);
    } else {
        e = bad(text, reterr, "this is no socket that gillnetd understands");
    }
    if (e == ERR_OK) {
        *ret = parsed;
    }
    return e;
}

const char *socket_postfix(const struct milter_socket *s, char ret[SOCKET_TEXT_MAX])
{
    if (s->is_unix) {
        snprintf(ret, SOCKET_TEXT_MAX, "unix:%s", s->path);
    } else {
        snprintf(ret, SOCKET_TEXT_MAX, s->is_v6 ? "inet:[%s]:%u" : "inet:%s:%u",
                 s->host, s->port);
    }
    return ret;
}

const char *socket_sendmail(const struct milter_socket *s, char ret[SOCKET_TEXT_MAX])
{
    if (s->is_unix) {
        snprintf(ret, SOCKET_TEXT_MAX, "local:%s", s->path);
    } else {
        snprintf(ret, SOCKET_TEXT_MAX, s->is_v6 ? "inet6:%u@[%s]" : "inet:%u@%s",
                 s->port, s->host);
    }
    return ret;
}
