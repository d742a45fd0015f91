/*
 * redis_talk - calls of the client, one a line of standard input; answers to standard output.
 *
 * Usage: redis_talk KEY=VALUE... SERVER...     keys: kind master user password sentinel_password
 *                                              ca name cert key connect answer deadline
 * A line is "ID repeat|once KEY COMMAND ARGUMENT...". KEY "-" is none. An answer is "ID ok SHAPE" (resp_shape.h) or
 * "ID fault NAME done|undone TEXT"; "done" means that it may be. KEY "@ADDRESS" is a call for that server alone. The
 * line "ID servers" is answered by "ID ok" and "ADDRESS=sentinel|master|other=FAULT" for each server that is known. The
 * line "free" frees the client. At the end of the input it waits for the answers. All lines that are there at once are
 * called at once.
 */
#include <event2/event.h>

#include "core/base/base.h"
#include "core/hub/redis/redis.h"

#include "tests/unit/redis/resp_shape.h"

enum { ARGS_MAX = 64, READ_BYTES = 1 << 20, DECIMAL = 10 };

struct talk {
    struct event_base *base;
    struct event *input;
    struct redis *redis;
    struct buf in;
    size_t nopen;
    bool is_over;
};

struct asked {
    struct talk *talk;
    char id[32];
};

static void end_when_done(struct talk *t)
{
    if (t->is_over && t->nopen == 0) {
        (void)event_base_loopbreak(t->base);
    }
}

static void take_answer(void *context, const struct redis_answer *a)
{
    struct asked *asked = context;
    struct talk *t = asked->talk;
    struct buf shape;

    buf_init(&shape, READ_BYTES);
    if (a->fault == REDIS_FAULT_NONE) {
        resp_shape(&shape, a->reply);
        (void)printf("%s ok %s\n", asked->id, shape.p);
    } else {
        (void)printf("%s fault %s %s %s\n", asked->id, redis_fault_name(a->fault),
                     a->may_be_done ? "done" : "undone", a->why);
    }
    (void)fflush(stdout);
    buf_fini(&shape);
    free(asked);
    t->nopen--;
    end_when_done(t);
}

static void say_servers(const struct talk *t, struct slice id)
{
    struct redis_server s;

    (void)printf("%.*s ok", SLICE_ARGS(id));
    for (size_t k = 0; redis_server(t->redis, k, &s); k++) {
        (void)printf(" %s=%s=%s", s.address,
                     s.is_sentinel ? "sentinel"
                     : s.is_master ? "master"
                                   : "other",
                     redis_fault_name(s.fault));
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

/* SIZE_MAX: there is none of this address. */
static size_t server_at(const struct talk *t, struct slice address)
{
    struct redis_server s;

    for (size_t k = 0; redis_server(t->redis, k, &s); k++) {
        if (slice_eq(address, slice_str(s.address))) {
            return k;
        }
    }
    return SIZE_MAX;
}

static void call_line(struct talk *t, struct slice line)
{
    struct slice args[ARGS_MAX];
    struct redis_call call = {.answer = take_answer};
    struct asked *asked = NULL;
    enum err e = ERR_OK;

    if (slice_eq(line, SLICE_LIT("free"))) {
        redis_free(&t->redis);
        return;
    }
    while (line.p != NULL && call.nargs < ARGS_MAX) {
        args[call.nargs++] = slice_cut(&line, ' ');
    }
    if (call.nargs == 2) {
        say_servers(t, args[0]);
        return;
    }
    asked = calloc(1, sizeof(*asked));
    if (asked == NULL || call.nargs < 4) {
        abort();
    }
    asked->talk = t;
    (void)snprintf(asked->id, sizeof(asked->id), "%.*s", SLICE_ARGS(args[0]));
    call.may_repeat = slice_eq(args[1], SLICE_LIT("repeat"));
    call.key = slice_eq(args[2], SLICE_LIT("-")) ? SLICE_NONE : args[2];
    call.args = args + 3;
    call.nargs -= 3;
    call.context = asked;
    t->nopen++;
    e = slice_has_prefix(args[2], SLICE_LIT("@"))
            ? redis_call_server(t->redis, server_at(t, slice_from(args[2], 1)), &call)
            : redis_call(t->redis, &call);
    if (e != ERR_OK) {
        (void)printf("%s refused %s\n", asked->id, err_text(e));
        (void)fflush(stdout);
        free(asked);
        t->nopen--;
    }
}

static void on_input(evutil_socket_t fd, short what, void *context)
{
    struct talk *t = context;
    char *to = buf_extend(&t->in, READ_BYTES);
    ssize_t n = to != NULL ? read(fd, to, READ_BYTES) : -1;

    (void)what;
    t->in.n -= (size_t)(READ_BYTES - (n > 0 ? n : 0));
    if (n <= 0) {
        t->is_over = true;
        (void)event_del(t->input);
    }
    struct slice rest = buf_slice(&t->in);
    while (slice_find(rest, '\n') < rest.n) {
        call_line(t, slice_cut(&rest, '\n'));
    }
    memmove(t->in.p, t->in.p + (t->in.n - rest.n), rest.n);
    t->in.n = rest.n;
    end_when_done(t);
}

/* "KEY=VALUE"; false: it is a server. */
static bool take_option(struct redis_options *o, char *arg)
{
    const struct {
        const char *key;
        const char **text;
        unsigned *number;
    } keys[] = {
        {"master", &o->master, NULL},
        {"user", &o->login.user, NULL},
        {"password", &o->login.password_file, NULL},
        {"sentinel_password", &o->sentinel_login.password_file, NULL},
        {"ca", &o->ca_file, NULL},
        {"name", &o->name, NULL},
        {"cert", &o->cert_file, NULL},
        {"key", &o->key_file, NULL},
        {"connect", NULL, &o->connect_ms},
        {"answer", NULL, &o->answer_ms},
        {"deadline", NULL, &o->deadline_ms},
    };
    char *value = strchr(arg, '=');

    if (value == NULL) {
        return false;
    }
    *value++ = '\0';
    for (size_t i = 0; i < LENGTH(keys); i++) {
        if (strcmp(keys[i].key, arg) == 0 && keys[i].text != NULL) {
            *keys[i].text = value;
        } else if (strcmp(keys[i].key, arg) == 0) {
            *keys[i].number = (unsigned)strtoul(value, NULL, DECIMAL);
        }
    }
    if (strcmp(arg, "kind") == 0) {
        o->kind = strcmp(value, "cluster") == 0    ? REDIS_CLUSTER
                  : strcmp(value, "sentinel") == 0 ? REDIS_SENTINEL
                                                   : REDIS_SINGLE;
    }
    o->has_tls = o->ca_file != NULL;
    return true;
}

int main(int argc, char **argv)
{
    const char *servers[REDIS_SERVERS_MAX + 1] = {NULL};
    struct redis_options o = {.servers = servers};
    struct talk t = {.base = event_base_new()};
    struct errinfo info = {.text = ""};

    for (int i = 1; i < argc && o.nservers < LENGTH(servers); i++) {
        if (!take_option(&o, argv[i])) {
            servers[o.nservers++] = argv[i];
        }
    }
    if (base_init() != ERR_OK || redis_new(t.base, &o, &t.redis, &info) != ERR_OK) {
        (void)printf("refused %s: %s\n", info.source, info.text);
        event_base_free(t.base);
        return 1;
    }
    buf_init(&t.in, 2 * READ_BYTES);
    t.input = event_new(t.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, &t);
    if (t.input == NULL || event_add(t.input, NULL) != 0) {
        abort();
    }
    (void)event_base_dispatch(t.base);
    redis_free(&t.redis);
    event_free(t.input);
    event_base_free(t.base);
    buf_fini(&t.in);
    return 0;
}
