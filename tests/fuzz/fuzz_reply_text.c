/* fuzz_reply_text - symbols of any detail and a reply template of any bytes: header values and SMTP replies are
 * printable, bounded and folded. */
#include <string.h>

#include "milter/replytext.h"

#include "tests/fuzz/fuzz.h"

enum { LINE_MOST = 998 };

static void check_value(const char *value, size_t room)
{
    size_t n = strnlen(value, room);
    size_t column = 0;

    FUZZ_CHECK(n < room);
    for (size_t i = 0; i < n; i++) {
        bool is_fold = value[i] == '\n';
        FUZZ_CHECK((value[i] >= ' ' && value[i] <= '~') || is_fold || value[i] == '\t');
        FUZZ_CHECK(!is_fold || value[i + 1] == '\t');
        column = is_fold ? 0 : column + 1;
        FUZZ_CHECK(column <= LINE_MOST);
    }
}

/* Each '%' is doubled, and no control character is there. */
static void check_reply(const char *reply)
{
    size_t n = strnlen(reply, REPLYTEXT_REPLY_SIZE);

    FUZZ_CHECK(n < REPLYTEXT_REPLY_SIZE);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(reply[i] >= ' ' && reply[i] <= '~');
        if (reply[i] == '%') {
            FUZZ_CHECK(reply[i + 1] == '%');
            i++;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct verdict v;
    struct slice rest = slice_of((const char *)data, size);
    char value[REPLYTEXT_HEADER_SIZE];
    char reply[REPLYTEXT_REPLY_SIZE];
    const struct replytext_names names = {"4XyZ", "d3k7p0vq9x2m"};
    char *template = malloc(size + 1);

    FUZZ_CHECK(template != NULL);
    memset(&v, 0, sizeof(v));
    v.limits = size > 0 ? data[0] : 0;
    v.score = size > 1 ? data[1] - 100.0 : 0;
    struct slice first = slice_cut(&rest, '\n');
    first = slice_head(first, slice_find_slice(first, slice_of("\0", 1)));
    memcpy(template, first.p != NULL ? first.p : "", first.n);
    template[first.n] = '\0';
    while (rest.n > 0 && v.nsymbols < VERDICT_SYMBOLS_MAX) {
        verdict_add_symbol(&v, "LIST_", "X", 1, slice_cut(&rest, '\n'));
    }
    replytext_symbols(&v, value);
    check_value(value, sizeof(value));
    replytext_symbol_names(&v, value, REPLYTEXT_REPLY_MAX);
    check_value(value, sizeof(value));
    replytext_status(&v, ACTION_HEADER, 5, names.case_id, value);
    check_value(value, sizeof(value));
    replytext_score(&v, value);
    check_value(value, sizeof(value));
    replytext_reply(template, &names, &v, reply);
    check_reply(reply);
    free(template);
    return 0;
}
