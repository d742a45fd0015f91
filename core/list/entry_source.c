#include "core/list/entry_source.h"

#include "core/base/utf8.h"

#define SEPARATOR ": "

enum { SEPARATOR_BYTES = sizeof(SEPARATOR) - 1 };

/* One line of whole characters. */
static bool is_line(struct slice s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t at = 0;

    while (at < s.n && p[at] >= ' ' && p[at] != 0x7f) {
        const size_t n = utf8_length(p + at, s.n - at);
        if (n == 0) {
            return false;
        }
        at += n;
    }
    return at == s.n;
}

enum err entry_reason_check(struct slice reason, struct errinfo *reterr)
{
    if (reason.n > LIST_REASON_MAX) {
        return errinfo_set(reterr, ERR_SYNTAX, "", 0,
                           "the reason is longer than %d bytes", LIST_REASON_MAX);
    }
    return is_line(reason) ? ERR_OK
                           : errinfo_set(reterr, ERR_SYNTAX, "", 0,
                                         "the reason is not one line of text");
}

void entry_source_make(const char *who, struct slice reason, char ret[LIST_SOURCE_MAX])
{
    const size_t room = LIST_SOURCE_MAX - 1 - SEPARATOR_BYTES - reason.n;
    const struct slice name = slice_head(slice_str(who), room);

    (void)snprintf(ret, LIST_SOURCE_MAX, "%.*s%s%.*s", SLICE_ARGS(name),
                   reason.n > 0 ? SEPARATOR : "", SLICE_ARGS(reason));
}

void entry_source_split(struct slice source, struct slice *retwho,
                        struct slice *retreason)
{
    const size_t at = slice_find_slice(source, SLICE_LIT(SEPARATOR));

    *retwho = slice_head(source, at);
    *retreason = slice_from(source, at < source.n ? at + SEPARATOR_BYTES : source.n);
}
