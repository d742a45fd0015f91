/*
 * fuzz_milter - libmilter's callbacks in any order with any values: no answer that was not
 * negotiated, forged fields gone, only printable values written, and nothing held at the end.
 *
 * Input: lines, one a callback. The first letter says which, the rest is its value: N negotiate
 * (actions and steps, hexadecimal), C connect (an address), H helo, M mail, R rcpt, T data, L header
 * ("Name: value"), E end of headers, B body (a LF follows), U unknown command, D end of message, A
 * abort, Q close; I sets a macro ("name=value"), X makes functions of libmilter fail (a digit).
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "core/base/base.h"
#include "core/base/log.h"
#include "core/base/random.h"

#include "milter/callbacks.h"
#include "milter/negotiate.h"
#include "milter/service.h"

#include "tests/fuzz/state.h"
#include "tests/unit/milter/fake_smfi.h"

enum {
    STEPS_MAX = 400,
    SESSIONS = 10,
    HEX = 16,
    TEXT_MAX = 4096,
    MACROS_USED = 4,
    MACRO_ROOM = 256
};

static struct smfiDesc call;
static struct fake_ctx fake;
static unsigned long noreply; /* stages that have no answer, as negotiated */
static bool may_change;
static bool has_message;
static unsigned forged; /* X-Gillnet-Status fields of the message */
static char macro_text[MACROS_USED][MACRO_ROOM];

static void begin_process(void)
{
    static const char text[] =
        "shipped_rules = false; trusted_networks = [\"192.0.2.0/24\"];\n"
        "limits: { urls = 20; headers = 50; message_bytes = \"64K\"; };\n";
    static bool is_begun;
    struct keyring keys = {.n = 1};
    struct config *config = NULL;
    struct config_errors errors = {.n = 0};
    char whole[TEXT_MAX];
    struct errinfo why;

    if (is_begun) {
        return;
    }
    is_begun = true;
    FUZZ_CHECK(base_init() == ERR_OK);
    log_set_level(LOG_LEVEL_ERROR);
    (void)snprintf(whole, sizeof(whole), "state_dir = \"%s\";\n%s", state_folder(),
                   text);
    const char *path = state_file("gillnet.conf", slice_str(whole));
    FUZZ_CHECK(config_load(path, NULL, &config, &errors) == ERR_OK);
    struct list_manager *lists = list_manager_new(state_folder(), &keys);
    FUZZ_CHECK(lists != NULL && list_manager_refresh(lists, config, &why) == ERR_OK);
    service_init(config, lists, false, SESSIONS);
    callbacks_describe(&call);
}

/* ---- callbacks ---- */

static sfsistat negotiate_as(const char *value)
{
    char *end = NULL;
    unsigned long actions = strtoul(value, &end, HEX) & 0x1ff;
    unsigned long steps = strtoul(end, NULL, HEX) & 0x1fffff;
    unsigned long got_actions = 0;
    unsigned long got_steps = 0;
    unsigned long unused[2] = {0, 0};

    sfsistat answer =
        call.xxfi_negotiate(fake_smfi(&fake), actions, steps, 0, 0, &got_actions,
                            &got_steps, &unused[0], &unused[1]);
    FUZZ_CHECK((got_actions & ~actions) == 0 && (got_steps & ~steps) == 0);
    if (answer == SMFIS_CONTINUE) {
        struct session_options options;
        service_get_options(&options);
        noreply = options.noreply;
        may_change = (options.actions & SMFIF_CHGHDRS) != 0;
        FUZZ_CHECK((noreply & ~got_steps) == 0 &&
                   (options.actions & ~got_actions) == 0);
    }
    return answer;
}

static sfsistat connect_from(char *value)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    struct sockaddr *to = NULL;

    if (inet_pton(AF_INET, value, &in.sin_addr) == 1) {
        to = (struct sockaddr *)(void *)&in;
    } else if (inet_pton(AF_INET6, value, &in6.sin6_addr) == 1) {
        to = (struct sockaddr *)(void *)&in6;
    }
    return call.xxfi_connect(fake_smfi(&fake), value, to);
}

static sfsistat give_header(char *value)
{
    char *colon = strchr(value, ':');

    if (colon == NULL) {
        return SMFIS_CONTINUE;
    }
    *colon = '\0';
    if (has_message &&
        slice_eq_nocase(slice_str(value), SLICE_LIT("X-Gillnet-Status"))) {
        forged++;
    }
    return call.xxfi_header(fake_smfi(&fake), value, colon + 1);
}

static sfsistat give_address(char letter, char *value)
{
    char *argv[] = {value, NULL};

    if (letter == 'R') {
        return call.xxfi_envrcpt(fake_smfi(&fake), argv);
    }
    has_message = true;
    forged = 0;
    return call.xxfi_envfrom(fake_smfi(&fake), argv);
}

static void set_macro(const char *value)
{
    static size_t turn;
    char *text = macro_text[turn];

    (void)snprintf(text, MACRO_ROOM, "%s", value);
    char *equals = strchr(text, '=');
    if (equals != NULL) {
        *equals = '\0';
        fake.macros[turn].name = text;
        fake.macros[turn].value = equals + 1;
        turn = (turn + 1) % MACROS_USED;
    }
}

static void set_failures(const char *value)
{
    unsigned digit = (unsigned)*value;
    fake.fails_insert = (digit & 1) != 0;
    fake.fails_change = (digit & 2) != 0;
    fake.fails_quarantine = (digit & 4) != 0;
}

/* ---- what must hold at the end of a message ---- */

static void check_log(void)
{
    unsigned gone = 0;
    struct slice log = slice_of(fake.log, fake.n);

    while (log.n > 0) {
        struct slice line = slice_cut(&log, '\n');
        bool is_removal =
            slice_has_prefix(line, SLICE_LIT("chg ")); /* by the mail's own name */
        for (size_t i = 0; i < line.n && !is_removal; i++) {
            FUZZ_CHECK((line.p[i] >= ' ' && line.p[i] <= '~') || line.p[i] == '\t');
        }
    }
    for (const char *p = fake.log; (p = strstr(p, "chg X-Gillnet-Status ")) != NULL;
         p++) {
        gone++;
    }
    if (has_message && may_change && !fake.fails_change && fake.n < FAKE_LOG_MAX / 2) {
        FUZZ_CHECK(gone == forged);
    }
}

static sfsistat end_message(void)
{
    fake_clear_log(&fake);
    sfsistat answer = call.xxfi_eom(fake_smfi(&fake));
    FUZZ_CHECK(answer == SMFIS_CONTINUE || answer == SMFIS_TEMPFAIL ||
               answer == SMFIS_REJECT || answer == SMFIS_DISCARD ||
               answer == SMFIS_ACCEPT);
    check_log();
    has_message = false;
    FUZZ_CHECK(service_messages() == 0);
    return answer;
}

static sfsistat close_session(void)
{
    sfsistat answer = call.xxfi_close(fake_smfi(&fake));
    has_message = false;
    FUZZ_CHECK(fake.priv == NULL && service_sessions() == 0 && service_messages() == 0);
    return answer;
}

static sfsistat abort_message(void)
{
    sfsistat answer = call.xxfi_abort(fake_smfi(&fake));
    has_message = false;
    FUZZ_CHECK(service_messages() == 0);
    return answer;
}

/* ---- the lines ---- */

static sfsistat step(char letter, char *value, size_t n)
{
    SMFICTX *ctx = fake_smfi(&fake);

    switch (letter) {
    case 'N':
        return negotiate_as(value);
    case 'C':
        return connect_from(value);
    case 'H':
        return call.xxfi_helo(ctx, value);
    case 'M':
    case 'R':
        return give_address(letter, value);
    case 'T':
        return call.xxfi_data(ctx);
    case 'L':
        return give_header(value);
    case 'E':
        return call.xxfi_eoh(ctx);
    case 'B':
        value[n] = '\n';
        return call.xxfi_body(ctx, (unsigned char *)value, n + 1);
    case 'D':
        return end_message();
    case 'A':
        return abort_message();
    case 'Q':
        return close_session();
    case 'I':
        set_macro(value);
        return SMFIS_CONTINUE;
    case 'X':
        set_failures(value);
        return SMFIS_CONTINUE;
    default:
        return SMFIS_CONTINUE;
    }
}

/* The bit of the stages that may have no answer. */
static unsigned long noreply_bit(char letter)
{
    static const struct {
        char letter;
        unsigned long bit;
    } rows[] = {{'C', SMFIP_NR_CONN}, {'H', SMFIP_NR_HELO}, {'M', SMFIP_NR_MAIL},
                {'R', SMFIP_NR_RCPT}, {'T', SMFIP_NR_DATA}, {'L', SMFIP_NR_HDR},
                {'E', SMFIP_NR_EOH},  {'B', SMFIP_NR_BODY}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (rows[i].letter == letter) {
            return rows[i].bit;
        }
    }
    return 0;
}

static void take_line(struct slice line)
{
    char letter = *line.p;
    size_t n = line.n - 1;
    char *value = malloc(n + 1); /* as exact as libmilter's */

    FUZZ_CHECK(value != NULL);
    memcpy(value, line.p + 1, n);
    value[n] = '\0';
    sfsistat answer = step(letter, value, n);
    if (answer == SMFIS_NOREPLY) {
        FUZZ_CHECK((noreply & noreply_bit(letter)) != 0);
    } else if (strchr("CHMRTLEB", letter) != NULL && letter != 'L') {
        FUZZ_CHECK(answer == SMFIS_CONTINUE || answer == SMFIS_ACCEPT ||
                   (answer == SMFIS_SKIP && letter == 'B'));
    }
    free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = slice_of((const char *)data, size);

    begin_process();
    fake = (struct fake_ctx){.priv = NULL};
    service_set_options(&(struct session_options){.actions = 0});
    noreply = 0;
    may_change = false;
    has_message = false;
    for (unsigned i = 0; i < STEPS_MAX && rest.n > 0; i++) {
        struct slice line = slice_cut(&rest, '\n');
        if (line.n > 0 && memchr(line.p, '\0', line.n) == NULL) {
            take_line(line);
        }
    }
    (void)close_session();
    return 0;
}
