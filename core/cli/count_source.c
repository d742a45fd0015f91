/* count_source - where a subcommand gets its counts. */
#include "core/cli/count_source.h"

#include <sysexits.h>

#include "core/base/buf.h"
#include "core/cli/services.h"
#include "core/count/count_protocol.h"
#include "core/telemetry/stats.h"

enum { PPB = 1000000000 };

/* ---- gillnetd ---- */

/* Sends a request; true when retanswer begins with ok. The first failure is kept and ends all later
 * requests, so that a silent gillnetd costs one deadline, not one a request. */
static bool ask_gillnetd(struct count_publisher *c, const struct buf *request,
                         struct buf *retanswer)
{
    const char *path = c->cli->config->control_socket;

    if (c->failed.code != ERR_OK) {
        return false;
    }
    if (buf_failed(request)) {
        (void)errinfo_nomem(&c->failed, path);
        return false;
    }
    if (control_ask(path, request->p, retanswer, &c->failed) != ERR_OK) {
        return false;
    }
    struct slice rest = buf_slice(retanswer);
    struct slice first = slice_cut(&rest, '\n');
    if (slice_has_prefix(first, SLICE_LIT("error "))) {
        first = slice_head(slice_from(first, 6), ERRINFO_TEXT_MAX / 2);
        errinfo_set(&c->failed, ERR_UNSUPPORTED, path, 0, "%.*s", SLICE_ARGS(first));
    }
    return c->failed.code == ERR_OK;
}

/* Asks; false (kept as a failure): no answer that read understands. */
static bool ask_for(struct count_publisher *c, struct buf *request,
                    bool (*read)(struct slice answer, void *context), void *context)
{
    struct buf answer;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    bool is_read =
        ask_gillnetd(c, request, &answer) && read(buf_slice(&answer), context);
    if (!is_read && c->failed.code == ERR_OK) {
        errinfo_set(&c->failed, ERR_SYNTAX, c->cli->config->control_socket, 0,
                    "no answer about counts; are gillnet and gillnetd of one version?");
    }
    buf_fini(request);
    buf_fini(&answer);
    return is_read;
}

struct batch {
    struct count_item *items;
    size_t n;
};

static bool read_values(struct slice answer, void *context)
{
    struct batch *b = context;

    return count_wire_values(answer, b->items, b->n);
}

static void ask_batch(void *context, struct count_item *items, size_t n)
{
    struct count_publisher *c = context;

    for (size_t from = 0; from < n; from += COUNT_WIRE_ITEMS) {
        struct batch b = {items + from,
                          n - from < COUNT_WIRE_ITEMS ? n - from : COUNT_WIRE_ITEMS};
        struct buf request;

        buf_init(&request, COUNT_WIRE_REQUEST_MAX);
        count_wire_batch(&c->cli->keys, b.items, b.n, &request);
        if (!ask_for(c, &request, read_values, &b)) {
            for (size_t i = 0; i < b.n; i++) {
                b.items[i].value = (struct count_value){.w = {0}};
            }
        }
    }
}

static bool read_history(struct slice answer, void *context)
{
    return count_wire_history(answer, context);
}

static void ask_exact(void *context, const struct digest digest[KEYRING_MAX],
                      struct count_history *ret)
{
    struct count_publisher *c = context;
    struct buf request;

    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    count_wire_exact(&c->cli->keys, digest, &request);
    if (!ask_for(c, &request, read_history, ret)) {
        memset(ret, 0, sizeof(*ret));
    }
}

static bool read_shares(struct slice answer, void *context)
{
    return count_wire_read_shares(answer, context);
}

static void ask_shares(void *context, const struct digest digest[KEYRING_MAX],
                       struct count_breakdown *ret)
{
    struct count_publisher *c = context;
    struct buf request;

    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    count_wire_shares(&c->cli->keys, digest, &request);
    if (!ask_for(c, &request, read_shares, ret)) {
        *ret = (struct count_breakdown){.n = 0};
    }
}

static bool is_sound(void *context, enum count_window w, double bound)
{
    const struct count_publisher *c = context;
    return c->noise[w] <= bound;
}

/* The number behind the name in the answer to stat; 0: it is missing. */
static uint64_t stat_in_answer(struct slice answer, enum stat_id id)
{
    while (answer.n > 0) {
        struct slice line = slice_cut(&answer, '\n');
        uint64_t v = 0;

        if (!slice_eq(slice_cut(&line, ' '), slice_str(stats_name(id)))) {
            continue;
        }
        (void)slice_to_u64(line, 10, UINT64_MAX, &v);
        return v;
    }
    return 0;
}

/* Finds out whether gillnetd runs and counts. ERR_NOT_FOUND: it does not run. */
static enum err look_for_gillnetd(struct count_publisher *c, bool *retcounts,
                                  struct errinfo *reterr)
{
    static const enum stat_id noise[COUNT_WINDOWS] = {
        STAT_count_noise_10m_ppb, STAT_count_noise_1h_ppb, STAT_count_noise_1d_ppb,
        STAT_count_noise_14d_ppb};
    struct buf answer;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    enum err e = control_ask(c->cli->config->control_socket, "stat", &answer, reterr);
    if (e == ERR_OK) {
        struct slice text = buf_slice(&answer);

        *retcounts = stat_in_answer(text, STAT_count_messages_per_day) > 0;
        for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
            c->noise[w] = (double)stat_in_answer(text, noise[w]) / PPB;
        }
    }
    buf_fini(&answer);
    return e;
}

static void use_gillnetd(struct count_publisher *c)
{
    c->source = COUNTS_GILLNETD;
    c->port = (struct count_port){.context = c,
                                  .batch = ask_batch,
                                  .exact = ask_exact,
                                  .is_sound = is_sound,
                                  .shares = ask_shares};
}

/* ---- the disk ---- */

static void view_exact(void *context, const struct digest digest[KEYRING_MAX],
                       struct count_history *ret)
{
    const struct count_publisher *c = context;
    count_view_exact(c->view, digest, ret);
}

static void view_shares(void *context, const struct digest digest[KEYRING_MAX],
                        struct count_breakdown *ret)
{
    const struct count_publisher *c = context;
    count_view_shares(c->view, digest, ret);
}

static void view_batch(void *context, struct count_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct count_breakdown shares;
        view_shares(context, items[i].digest, &shares);
        for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
            items[i].value.w[w] = count_breakdown_sum(&shares, w);
        }
        count_breakdown_fini(&shares);
    }
}

static bool view_is_sound(void *context, enum count_window w, double bound)
{
    (void)context; /* exact counts have no noise */
    (void)w;
    (void)bound;
    return true;
}

static int use_disk(struct count_publisher *c)
{
    struct errinfo why = {.code = ERR_OK};
    enum err e =
        count_view_open(c->cli->config->state_dir, &c->cli->keys,
                        c->cli->config->store.kind != STORE_OFF, &c->view, &why);

    if (e == ERR_NOT_FOUND) {
        return 0;
    }
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    c->source = COUNTS_DISK;
    c->port = (struct count_port){.context = c,
                                  .batch = view_batch,
                                  .exact = view_exact,
                                  .is_sound = view_is_sound,
                                  .shares = view_shares};
    return 0;
}

/* ---- counting here ---- */

static int use_own(struct count_publisher *c)
{
    const struct config *config = c->cli->config;
    struct errinfo why = {.code = ERR_OK};
    struct count_options options = {.state_dir = config->state_dir,
                                    .keys = &c->cli->keys,
                                    .messages_per_day = config->count.messages_per_day,
                                    .has_store = config->store.kind != STORE_OFF,
                                    .has_thread = true,
                                    .is_brief = true};

    if (count_open(&options, &c->own, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    c->source = COUNTS_OWN;
    c->port = count_port_of(c->own);
    return 0;
}

/* ---- opening ---- */

static int read_keys(struct count_publisher *c, bool is_counting)
{
    struct errinfo why = {.code = ERR_OK};

    if (is_counting || c->cli->keys.n > 0) {
        return cli_keys(c->cli, is_counting);
    }
    enum err e = keyring_load(c->cli->config->state_dir, &c->cli->keys, &why);
    return e == ERR_OK || e == ERR_NOT_FOUND ? 0 : cli_fail(&why);
}

static int open_to_count(struct count_publisher *c)
{
    struct errinfo why = {.code = ERR_OK};
    bool is_daemon_counting = false;

    if (c->cli->config->count.messages_per_day == 0) {
        errinfo_set(&why, ERR_UNSUPPORTED, c->cli->config->file, 0,
                    "count.messages_per_day is 0, so nothing is counted; set it to the "
                    "messages of a day");
        return cli_fail(&why);
    }
    enum err e = look_for_gillnetd(c, &is_daemon_counting, &why);
    if (e == ERR_NOT_FOUND) {
        return use_own(c);
    }
    if (e == ERR_OK && !is_daemon_counting) {
        e = errinfo_set(&why, ERR_UNSUPPORTED, c->cli->config->control_socket, 0,
                        "gillnetd runs but does not count; its log says why");
    }
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    use_gillnetd(c);
    return 0;
}

static int open_to_read(struct count_publisher *c)
{
    struct errinfo why = {.code = ERR_OK};
    bool is_daemon_counting = false;

    if (look_for_gillnetd(c, &is_daemon_counting, &why) == ERR_OK &&
        is_daemon_counting) {
        use_gillnetd(c);
        return 0;
    }
    return use_disk(c); /* a user who may not connect can perhaps read the files */
}

/* What people reported: every source of counts reads it from the log. */
static int open_votes(struct count_publisher *c)
{
    struct errinfo why = {.code = ERR_OK};
    const struct reports_options options = {.state_dir = c->cli->config->state_dir,
                                            .keys = &c->cli->keys,
                                            .config = c->cli->config};
    enum err e = reports_view(&options, &c->votes, &why);

    c->port.called = c->votes != NULL ? reports_called : NULL;
    c->port.called_context = c->votes;
    if (e == ERR_DENIED) {
        (void)cli_fail(&why);
        cli_say("what people reported is not known to this command");
        e = ERR_OK;
    }
    return cli_status(e, &why);
}

int counts_open(struct cli *cli, bool is_counting, struct count_publisher *ret)
{
    int status = cli_config(cli);

    *ret = (struct count_publisher){.source = COUNTS_NONE, .cli = cli};
    THEN(status, read_keys(ret, is_counting));
    if (status != 0) {
        return status;
    }
    if (is_counting) {
        status = open_to_count(ret);
    } else if (cli->keys.n > 0) {
        status = open_to_read(ret);
    }
    return status == 0 && cli->keys.n > 0 ? open_votes(ret) : status;
}

const struct count_port *counts_port(const struct count_publisher *c)
{
    return c->source == COUNTS_NONE ? NULL : &c->port;
}

bool counts_are_exact(const struct count_publisher *c)
{
    return c->source == COUNTS_DISK;
}

int counts_close(struct count_publisher *c)
{
    int status = c->failed.code == ERR_OK ? 0 : cli_fail(&c->failed);

    if (c->view != NULL) {
        count_view_close(&c->view);
    }
    if (c->own != NULL) {
        count_close(&c->own);
    }
    votes_free(&c->votes);
    c->source = COUNTS_NONE;
    return status;
}
