#include "core/cli/socket_name.h"

static bool copy_part(struct slice s, char *dst, size_t size)
{
    if (s.n == 0 || s.n >= size || memchr(s.p, '\0', s.n) != NULL) {
        return false;
    }
    memcpy(dst, s.p, s.n);
    dst[s.n] = '\0';
    return true;
}

/* "PORT@HOST", "HOST:PORT", "[V6]:PORT" or "PORT". */
static bool read_inet(struct slice s, struct socket_name *ret)
{
    size_t at = slice_find(s, '@');
    size_t colon = s.n;
    struct slice host = SLICE_NONE;

    if (at < s.n) {
        host = slice_from(s, at + 1);
        s = slice_head(s, at);
    } else {
        while (colon > 0 && s.p[colon - 1] != ':') {
            colon--;
        }
        if (colon > 0) {
            host = slice_head(s, colon - 1);
            s = slice_from(s, colon);
        }
    }
    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']') {
        host = slice_of(host.p + 1, host.n - 2);
    }
    return copy_part(s, ret->port, sizeof(ret->port)) &&
           (host.n == 0 || copy_part(host, ret->host, sizeof(ret->host)));
}

bool socket_name_read(struct slice text, struct socket_name *ret)
{
    size_t colon = slice_find(text, ':');
    struct slice scheme = slice_head(text, colon);
    struct slice rest = slice_from(text, colon + 1);

    memset(ret, 0, sizeof(*ret));
    if (text.n > 0 && text.p[0] == '/') {
        ret->is_unix = true;
        return copy_part(text, ret->path, sizeof(ret->path));
    }
    if (slice_eq_nocase(scheme, SLICE_LIT("unix")) ||
        slice_eq_nocase(scheme, SLICE_LIT("local"))) {
        ret->is_unix = true;
        return copy_part(rest, ret->path, sizeof(ret->path));
    }
    if (slice_eq_nocase(scheme, SLICE_LIT("inet")) ||
        slice_eq_nocase(scheme, SLICE_LIT("inet6"))) {
        return read_inet(rest, ret);
    }
    return false;
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "::1") == 0;
}

bool socket_name_meets(const struct socket_name *ours, const struct socket_name *theirs,
                       const char *folder)
{
    char path[SOCKET_NAME_PATH * 2];

    if (ours->is_unix != theirs->is_unix) {
        return false;
    }
    if (ours->is_unix) {
        if (theirs->path[0] == '/') {
            return strcmp(ours->path, theirs->path) == 0;
        }
        (void)snprintf(path, sizeof(path), "%.500s/%s", folder, theirs->path);
        return strcmp(ours->path, path) == 0;
    }
    if (strcmp(ours->port, theirs->port) != 0) {
        return false;
    }
    return *ours->host == '\0' || strcmp(ours->host, "0.0.0.0") == 0 ||
           strcmp(ours->host, "::") == 0 || strcmp(ours->host, theirs->host) == 0 ||
           (is_loopback(ours->host) && is_loopback(theirs->host));
}

struct wiring socket_name_wiring(const struct socket_name *s)
{
    return (struct wiring){
        .path = s->is_unix ? s->path : NULL, .host = s->host, .port = s->port};
}
