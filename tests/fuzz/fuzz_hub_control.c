/* fuzz_hub_control - any bytes from a client of the hub's control socket: at most one answer, and the socket is there
 * for the next client. */
#include "core/base/base.h"
#include "core/base/log.h"
#include "core/hub/main/hub_control.h"

#include "tests/fuzz/client.h"
#include "tests/fuzz/state.h"

enum { ANSWER_ROOM = 1 << 16, TURNS_MAX = 1000 };

static unsigned answers;

static void answer(void *context, struct buf *ret)
{
    (void)context;
    answers++;
    buf_add_str(ret, "ok\n");
}

static void answer_line(void *context, struct slice line, bool may_change,
                        struct buf *ret)
{
    (void)context, (void)may_change;
    FUZZ_CHECK(line.n <= CONTROL_LINE_MAX && slice_find(line, '\n') == line.n);
    answers++;
    buf_add_str(ret, "ok\n");
}

static void note(void *context)
{
    (void)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct control_hooks hooks = {.ping = answer,
                                               .stat = answer,
                                               .status = answer,
                                               .alerts = answer,
                                               .reload = answer,
                                               .feed = answer_line,
                                               .store = answer_line,
                                               .pause = note,
                                               .release = note};
    static struct event_base *base;
    static struct control *control;
    static char place[STATE_PATH];
    static char got[ANSWER_ROOM];
    struct errinfo why;

    if (base == NULL) {
        FUZZ_CHECK(base_init() == ERR_OK && (base = event_base_new()) != NULL);
        log_set_level(LOG_LEVEL_ERROR);
        (void)snprintf(place, sizeof(place), "%.90s/hub", state_folder());
        FUZZ_CHECK(control_new(base, place, &hooks, &control, &why) == ERR_OK);
    }
    answers = 0;
    int fd = client_connect(place);
    client_give(fd, data, size < CONTROL_INPUT_MAX ? size : CONTROL_INPUT_MAX);
    (void)shutdown(fd, SHUT_WR);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    size_t n = 0;
    ssize_t one = 1;
    for (unsigned i = 0; i < TURNS_MAX && one > 0; i++) {
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
        if (poll(&p, 1, 0) == 1) {
            one = recv(fd, got + n, sizeof(got) - n, 0);
            n += one > 0 ? (size_t)one : 0;
        }
    }
    (void)close(fd);
    for (unsigned i = 0; i < 4; i++) {
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
    }
    FUZZ_CHECK(answers <= 1);
    FUZZ_CHECK(n == 0 || got[n - 1] == '\n');
    return 0;
}
