#include "core/hub/http/http_syntax.h"

size_t http_head_length(struct slice bytes)
{
    size_t at = slice_find_slice(bytes, SLICE_LIT("\r\n\r\n"));

    return at < bytes.n ? at + 4 : 0;
}

bool http_take_number(struct slice s, uint64_t *ret)
{
    return (s.n == 1 || (s.n > 1 && s.p[0] != '0')) &&
           slice_to_u64(s, 10, UINT64_MAX, ret);
}

bool http_is_token(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c) != NULL) {
            return false;
        }
    }
    return s.n > 0;
}

bool http_is_value(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return true;
}

bool http_take_line(struct slice *rest, struct slice *ret)
{
    size_t at = slice_find_slice(*rest, SLICE_LIT("\r\n"));

    if (at == rest->n) {
        return false;
    }
    *ret = slice_head(*rest, at);
    *rest = slice_from(*rest, at + 2);
    return true;
}

static bool is_host(struct slice s, bool is_v6)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool is_hex =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!(is_hex || c == '.' || (is_v6 ? c == ':' : is_letter || c == '-'))) {
            return false;
        }
    }
    return s.n > 0 && s.n < 256;
}

bool http_address_split(struct slice address, char host[HTTP_ADDRESS_MAX],
                        unsigned *retport)
{
    bool is_v6 = address.n > 0 && address.p[0] == '[';
    size_t end = slice_find(address, is_v6 ? ']' : ':');
    struct slice name = slice_head(slice_from(address, is_v6 ? 1 : 0),
                                   end < address.n ? end - (is_v6 ? 1 : 0) : 0);
    struct slice port = slice_from(address, end + (is_v6 ? 1 : 0));
    uint64_t number = 0;

    if (!is_host(name, is_v6) || port.n < 2 || port.p[0] != ':' ||
        !http_take_number(slice_from(port, 1), &number) || number == 0 ||
        number > UINT16_MAX) {
        return false;
    }
    memcpy(host, name.p, name.n);
    host[name.n] = '\0';
    *retport = (unsigned)number;
    return true;
}
