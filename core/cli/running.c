/* running - which configuration gillnetd and the hub run. */
#include "core/cli/running.h"

#include "core/cli/daemon_control.h"

enum { HEX = 16, ID_TEXT_MAX = 16 };

/* "config=1a2b3c4d" among the words of a line. */
static uint32_t id_in(struct slice line)
{
    const struct slice name = SLICE_LIT("config=");
    char text[ID_TEXT_MAX];

    while (line.n > 0) {
        struct slice word = slice_cut(&line, ' ');

        if (slice_has_prefix(word, name)) {
            (void)snprintf(text, sizeof(text), "%.*s",
                           SLICE_ARGS(slice_from(word, name.n)));
            return (uint32_t)strtoul(text, NULL, HEX);
        }
    }
    return 0;
}

static void look_at_hub(const char *socket_path, struct running *ret)
{
    const struct slice restart = SLICE_LIT("restart ");
    struct buf answer;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    if (control_ask(socket_path, "ping", &answer, NULL) == ERR_OK) {
        struct slice rest = buf_slice(&answer);

        ret->has_hub = true;
        ret->hub = id_in(slice_cut(&rest, '\n'));
        if (slice_has_prefix(rest, restart)) {
            struct slice keys = slice_from(slice_cut(&rest, '\n'), restart.n);

            (void)snprintf(ret->hub_restart, sizeof(ret->hub_restart), "%.*s",
                           SLICE_ARGS(keys));
        }
    }
    buf_fini(&answer);
}

void running_look(const struct config *config, const struct daemon_view *d,
                  struct running *ret)
{
    *ret = (struct running){.file = config_id(config)};
    if (d->is_running) {
        ret->daemon = (uint32_t)d->stats.value[STAT_config_id];
    }
    look_at_hub(config->hub.control_socket, ret);
}

static void add_other(const struct running *r, const char *who, uint32_t id,
                      struct buf *ret)
{
    if (id != 0 && id != r->file) {
        buf_printf(ret,
                   "%s runs configuration %08x and the file is %08x: gillnet reload\n",
                   who, (unsigned)id, (unsigned)r->file);
    }
}

void running_troubles(const struct running *r, struct buf *ret)
{
    add_other(r, "gillnetd", r->daemon, ret);
    add_other(r, "gillnet-hub", r->hub, ret);
    if (r->hub_restart[0] != '\0') {
        buf_printf(ret,
                   "gillnet-hub runs with another value than the file until it is "
                   "restarted: %s\n",
                   r->hub_restart);
    }
}
