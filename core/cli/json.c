#include "core/cli/json.h"

#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"

bool json_line(json_t *object)
{
    bool ok = object != NULL && json_dumpf(object, stdout, JSON_COMPACT) == 0;

    json_decref(object);
    if (!ok) {
        if (!ferror(stdout)) {
            fputs("gillnet: out of memory\n", stderr);
        }
        return false;
    }
    putchar('\n');
    return true;
}

/* Length of the UTF-8 character at p, 0 when it is none. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    size_t need = 1;

    if (*p >= 0x80) {
        need = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    }
    if (need == 0 || need > n || *p == 0) {
        return 0;
    }
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
        (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f)) {
        return 0; /* overlong, surrogate, past U+10FFFF */
    }
    return need;
}

json_t *json_text(struct slice bytes)
{
    json_t *whole = json_stringn(bytes.n > 0 ? bytes.p : "", bytes.n);
    struct buf b;

    if (whole != NULL && (bytes.n == 0 || memchr(bytes.p, '\0', bytes.n) == NULL)) {
        return whole;
    }
    json_decref(whole);
    whole = NULL;
    buf_init(&b, bytes.n * 3 + 1);
    for (size_t i = 0; i < bytes.n;) {
        size_t n = utf8_length((const unsigned char *)bytes.p + i, bytes.n - i);

        buf_add(&b, n > 0 ? slice_of(bytes.p + i, n) : SLICE_LIT("\xef\xbf\xbd"));
        i += n > 0 ? n : 1;
    }
    if (!buf_failed(&b)) {
        whole = json_stringn(b.n > 0 ? b.p : "", b.n);
    }
    buf_fini(&b);
    return whole;
}
