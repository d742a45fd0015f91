/*
 * fuzz_control - any bytes from a client of gillnetd's control socket, in two pieces: one answer, which
 * begins with ok or error and ends with its line, and then the end.
 */
#include "core/base/base.h"
#include "core/base/log.h"

#include "milter/control.h"
#include "milter/scan.h"
#include "milter/service.h"

#include "tests/fuzz/client.h"
#include "tests/fuzz/state.h"

enum { ANSWER_ROOM = 1 << 20, INPUT_MAX = 40000 };

static char place[STATE_PATH];

static void begin_process(void)
{
    static bool is_begun;
    struct keyring keys = {.n = 1};
    struct config *config = NULL;
    struct config_errors errors = {.n = 0};
    struct errinfo why;
    char text[STATE_PATH + 64];

    if (is_begun) {
        return;
    }
    is_begun = true;
    FUZZ_CHECK(base_init() == ERR_OK);
    log_set_level(LOG_LEVEL_ERROR);
    (void)snprintf(text, sizeof(text), "state_dir = \"%s\"; shipped_rules = false;\n",
                   state_folder());
    const char *path = state_file("gillnet.conf", slice_str(text));
    FUZZ_CHECK(config_load(path, NULL, &config, &errors) == ERR_OK);
    struct list_manager *lists = list_manager_new(state_folder(), &keys);
    FUZZ_CHECK(lists != NULL && list_manager_refresh(lists, config, &why) == ERR_OK);
    service_init(config, lists, false, 10);
    (void)snprintf(place, sizeof(place), "%.90s/ctl", state_folder());
    FUZZ_CHECK(control_open(place, &why) == ERR_OK && control_start());
    FUZZ_CHECK(scan_start());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char answer[ANSWER_ROOM];

    if (size == 0 || size > INPUT_MAX) {
        return 0;
    }
    begin_process();
    size_t cut = data[0] < size ? data[0] : size;
    int fd = client_connect(place);
    if (cut > 1) {
        client_give(fd, data + 1, cut - 1);
        client_give(fd, data + cut, size - cut);
    } else {
        client_give(fd, data + 1, size - 1);
    }
    (void)shutdown(fd, SHUT_WR);
    struct slice got = client_take(fd, answer, sizeof(answer));
    (void)close(fd);
    FUZZ_CHECK(got.n == 0 || slice_has_prefix(got, SLICE_LIT("ok")) ||
               slice_has_prefix(got, SLICE_LIT("error ")));
    FUZZ_CHECK(got.n == 0 || got.p[got.n - 1] == '\n');
    FUZZ_CHECK(service_messages() == 0 && service_sessions() == 0);
    return 0;
}
