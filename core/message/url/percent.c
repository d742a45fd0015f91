#include "core/message/url/percent.h"

bool percent_has(enum percent_set set, char c)
{
    static const struct slice members[] = {
        [PERCENT_FRAGMENT] = {" \"<>`", 5},
        [PERCENT_SPECIAL_QUERY] = {" \"#<>'", 6},
        [PERCENT_PATH] = {" \"#<>?^`{}", 10},
        [PERCENT_USERINFO] = {" \"#<>?^`{}/:;=@[\\]|", 19},
    };
    unsigned char u = (unsigned char)c;

    return u < 0x20 || u >= 0x7f || memchr(members[set].p, c, members[set].n) != NULL;
}

size_t percent_encode(enum percent_set set, struct slice text, char *dst)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (percent_has(set, text.p[i])) {
            dst[n++] = '%';
            dst[n++] = digits[c >> 4];
            dst[n++] = digits[c & 15];
        } else {
            dst[n++] = text.p[i];
        }
    }
    return n;
}
