/*
 * fuzz_api_server - any bytes from a client of the API and the page, as an administrator: each answer begins as HTTP
 * does, no request ends the server, and a sound request is answered afterwards.
 *
 * Input: the bytes of a connection. A body's length is made right first: Content-Length of the first request is the
 * number of bytes behind its head.
 */
#include "core/base/base.h"
#include "core/base/log.h"
#include "core/hub/api/api.h"

#include "tests/fuzz/client.h"
#include "tests/fuzz/state.h"

enum { ANSWER_ROOM = 8 << 20, SOUND_EVERY = 64, HEAD_ROOM = 4096 };

/* The token "one", by its SHA-256. */
static const char tokens[] =
    "a admin 7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed\n";
static char place[STATE_PATH];

static void begin_process(void)
{
    static bool is_begun;
    struct config *config = NULL;
    struct config_errors errors = {.n = 0};
    struct list_watcher *lists = NULL;
    struct api *api = NULL;
    struct errinfo why;
    char text[4 * STATE_PATH];

    if (is_begun) {
        return;
    }
    is_begun = true;
    FUZZ_CHECK(base_init() == ERR_OK);
    log_set_level(LOG_LEVEL_ERROR);
    (void)snprintf(place, sizeof(place), "%.90s/api", state_folder());
    (void)snprintf(
        text, sizeof(text),
        "state_dir = \"%s\"; shipped_rules = false; lists = ({ name = \"phish\"; });\n"
        "api: { listen = [\"unix:%s\"]; local_role = \"admin\"; tokens_file = "
        "\"%s/tokens\"; requests_per_second = 1000000; };\n",
        state_folder(), place, state_folder());
    (void)state_file("tokens", slice_str(tokens));
    if (config_load(state_file("gillnet.conf", slice_str(text)), NULL, &config,
                    &errors) != ERR_OK) {
        (void)fprintf(stderr, "%s\n", errors.v[0].text);
        abort();
    }
    FUZZ_CHECK(list_watcher_new(config, &lists, &why) == ERR_OK);
    const struct api_options options = {
        .config = config, .board = status_board_new(), .lists = lists};
    FUZZ_CHECK(options.board != NULL && api_new(&options, &api, &why) == ERR_OK);
}

static struct slice ask(const uint8_t *data, size_t size)
{
    static char answer[ANSWER_ROOM];
    int fd = client_connect(place);

    client_give(fd, data, size);
    (void)shutdown(fd, SHUT_WR);
    struct slice got = client_take(fd, answer, sizeof(answer));
    (void)close(fd);
    return got;
}

/* The head with a Content-Length of what follows it; the bytes as they are when there is none. */
static void ask_with_length(struct slice bytes)
{
    static const char fields[] = "Host: localhost\r\nAuthorization: Bearer one\r\n"
                                 "Content-Type: application/json\r\n";
    char head[HEAD_ROOM];
    struct slice rest = bytes;
    struct slice line = slice_trim(slice_cut(&rest, '\n'));
    struct buf request;

    if (line.n > HEAD_ROOM / 2 || slice_find(line, '\0') < line.n) {
        return;
    }
    (void)snprintf(head, sizeof(head), "%.*s HTTP/1.1\r\n%sContent-Length: %zu\r\n\r\n",
                   (int)line.n, line.n > 0 ? line.p : "", fields, rest.n);
    buf_init(&request, 1 << 20);
    buf_add_str(&request, head);
    buf_add(&request, rest);
    struct slice got = ask((const uint8_t *)request.p, request.n);
    FUZZ_CHECK(got.n == 0 || slice_has_prefix(got, SLICE_LIT("HTTP/1.1 ")));
    buf_fini(&request);
}

static void ask_sound(void)
{
    static const char sound[] = "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct slice got = ask((const uint8_t *)sound, sizeof(sound) - 1);

    FUZZ_CHECK(slice_has_prefix(got, SLICE_LIT("HTTP/1.1 ")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned turn;
    struct slice bytes = slice_of((const char *)data, size);

    begin_process();
    if (slice_find_slice(bytes, SLICE_LIT("/live")) < bytes.n) {
        return 0; /* such an answer has no end */
    }
    struct slice got = ask(data, size);
    FUZZ_CHECK(got.n == 0 || slice_has_prefix(got, SLICE_LIT("HTTP/1.")));
    ask_with_length(bytes);
    if (turn++ % SOUND_EVERY == 0) {
        ask_sound();
    }
    return 0;
}
