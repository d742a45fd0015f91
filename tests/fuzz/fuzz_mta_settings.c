/* fuzz_mta_settings - any bytes as settings of an MTA and names of sockets: what is cut off gets shorter, and
 * a milter's socket that can be read is met by itself. */
#include <string.h>

#include "core/base/base.h"
#include "core/cli/milters.h"
#include "core/cli/postfix.h"

#include "milter/socket.h"

#include "tests/fuzz/fuzz.h"

static void check_settings(struct slice text)
{
    struct slice rest = text;
    struct slice name;
    struct slice value;
    size_t n = 0;

    while (postfix_next_setting(&rest, &name, &value)) {
        FUZZ_CHECK(++n <= text.n && name.n + value.n <= text.n);
    }
    struct buf all;
    buf_init(&all, POSTFIX_OUTPUT_MAX);
    buf_add(&all, text);
    (void)postfix_value(&all, "smtpd_milters");
    (void)sendmail_cf_value(text, "O InputMailFilters=");
    buf_fini(&all);
}

static void check_socket_name(struct slice text)
{
    struct socket_name s;

    if (socket_name_read(text, &s)) {
        FUZZ_CHECK(!s.is_unix || s.path[0] != '\0');
        FUZZ_CHECK(s.is_unix ? strlen(s.path) <= text.n
                             : strlen(s.host) + strlen(s.port) <= text.n);
        FUZZ_CHECK(!s.is_unix || s.path[0] != '/' || socket_name_meets(&s, &s, "/"));
        (void)milter_kind_at(&s, "/nonexistent", "/", false);
    }
}

static void check_milters(struct slice text)
{
    struct slice rest = text;
    struct slice one = postfix_next_milter(&rest);
    static struct milter_chain chain;
    struct buf printed;

    chain.n = 0;
    for (size_t n = 0; one.n > 0; n++) {
        FUZZ_CHECK(n <= text.n && one.p >= text.p && one.p + one.n <= text.p + text.n);
        check_socket_name(postfix_milter_socket(one));
        (void)milter_chain_add(&chain, one, milter_kind_named(one), false);
        one = postfix_next_milter(&rest);
    }
    (void)milter_chain_place(&chain, "unix:/run/gillnet/gillnetd.sock");
    FUZZ_CHECK(chain.n <= MILTERS_MAX);
    FUZZ_CHECK(!milter_chain_place(&chain, "unix:/run/gillnet/gillnetd.sock"));
    buf_init(&printed, 1 << 20);
    milter_chain_print(&chain, &printed);
    FUZZ_CHECK(!buf_failed(&printed) && printed.n > 0);
    buf_fini(&printed);
}

/* Both printed forms mean the same socket. */
static void check_socket(const char *text)
{
    struct milter_socket s;
    struct milter_socket again;
    struct errinfo why = {.text = ""};
    char form[SOCKET_TEXT_MAX];

    if (socket_parse(text, &s, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return;
    }
    FUZZ_CHECK(socket_parse(socket_postfix(&s, form), &again, &why) == ERR_OK);
    FUZZ_CHECK(again.is_unix == s.is_unix && again.port == s.port);
    FUZZ_CHECK(strcmp(again.is_unix ? again.path : again.host,
                      s.is_unix ? s.path : s.host) == 0);
    FUZZ_CHECK(socket_parse(socket_sendmail(&s, form), &again, &why) == ERR_OK);
    FUZZ_CHECK(again.is_unix == s.is_unix && again.port == s.port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    char *copy = malloc(size + 1);

    FUZZ_CHECK(copy != NULL && base_init() == ERR_OK);
    memcpy(copy, data, size);
    copy[size] = '\0';
    check_settings(text);
    check_socket_name(text);
    check_milters(text);
    check_socket(copy);
    free(copy);
    return 0;
}
