/* count_replay - passes a stream of messages through gillnetd's extraction, counts and bulk rules.
 *
 * Usage: count_replay CONF RING_KEY FOLDER (32 hex digits; counts go into the folder). Lines of
 * standard input: "R" forgets every count, "D" is a day later, "M PATH" is the next message, "P
 * PATH" one whose From replay.example authenticated, "L PATH" the same, but it only teaches the
 * common text.
 * For each M and P a line: PATH, then SYMBOL=DETAIL, tabs between. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/count/message.h"
#include "core/verdict/rule/rule.h"
#include "core/verdict/verdict.h"

enum { LINE = 1 << 16, FILE_CAP = 64 << 20, ARENA = 64 << 20 };

struct replay {
    struct config *config;
    struct list_manager *lists;
    struct keyring keys;
    struct arena *arena;
    const char *folder;
    struct count *count;
    struct count_port port;
    struct boilerplate *guard;
};

static size_t name_length(struct slice s)
{
    size_t n = 0;
    while (n < s.n &&
           (s.p[n] == '.' || s.p[n] == '-' || (s.p[n] >= '0' && s.p[n] <= '9') ||
            (s.p[n] >= 'a' && s.p[n] <= 'z') || (s.p[n] >= 'A' && s.p[n] <= 'Z'))) {
        n++;
    }
    return n;
}

/* Adds the Authentication-Results field of the local server. */
static void add_proof(struct extract *x, struct slice bytes)
{
    struct slice from = SLICE_NONE;
    char text[LINE];

    for (struct slice rest = bytes; rest.n > 0;) {
        struct slice line = slice_trim(slice_cut(&rest, '\n'));
        if (line.n == 0) {
            break;
        }
        if (slice_has_prefix_nocase(line, SLICE_LIT("from:"))) {
            size_t at = slice_find(line, '@');
            from = slice_from(line, at < line.n ? at + 1 : at);
        }
    }
    from = slice_head(from, name_length(from));
    (void)snprintf(
        text, sizeof(text),
        "Authentication-Results: replay.example; dmarc=pass header.from=%.*s\n",
        SLICE_ARGS(from));
    extract_raw(x, slice_str(text));
}

static void print(const char *path, const struct verdict *v)
{
    printf("%s", path);
    for (size_t i = 0; i < v->nsymbols; i++) {
        printf("\t%s=%.*s", v->symbols[i].name, SLICE_ARGS(v->symbols[i].detail));
    }
    printf("\n");
}

static bool replay_message(struct replay *r, char how, const char *path)
{
    struct extract_limits limits;
    struct message_counts counts;
    struct message_facts facts = {.nrcpt = 0};
    struct verdict_context context = {.counts = &counts};
    struct verdict verdict;
    struct buf bytes;

    buf_init(&bytes, FILE_CAP);
    if (file_read(path, &bytes, NULL) != ERR_OK) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return false;
    }
    arena_reset(r->arena);
    verdict_extract_limits(r->config, &limits);
    limits.cpu_us = 0; /* the same keys on a busy machine */
    shingle_keys_make(&r->keys.ring[0], clock_wall_us() / 1000000,
                      &limits.imprint.keys);
    limits.imprint.guard = limits.imprint.learner = r->guard;
    struct extract *x = extract_new(r->arena, &limits, r->config->trusted_authserv.v,
                                    r->config->trusted_authserv.n);
    if (how != 'M') {
        add_proof(x, buf_slice(&bytes));
    }
    extract_raw(x, buf_slice(&bytes));
    struct featureset *set = extract_finish(x);
    context.auth = extract_auth(x);
    if (how != 'L') {
        count_message(&r->port, &r->keys, r->config, set, &facts, false, r->arena,
                      &counts);
        struct list_hits hits;
        const struct listset *lists = list_manager_acquire(r->lists);
        verdict_evaluate(r->config, lists, set, &context, 0, r->arena, &verdict, &hits);
        list_manager_release(r->lists, &lists);
        print(path, &verdict);
    }
    buf_fini(&bytes);
    return true;
}

/* Counts in a folder of their own, empty. */
static bool forget(struct replay *r)
{
    static unsigned serial;
    char folder[512];
    struct errinfo why;
    struct count_options options = {
        .state_dir = folder,
        .keys = &r->keys,
        .messages_per_day = r->config->count.messages_per_day,
    };

    count_close(&r->count);
    (void)snprintf(folder, sizeof(folder), "%s/%u", r->folder, serial++);
    if (file_make_dir(folder, 0700, &why) != ERR_OK ||
        count_open(&options, &r->count, &why) != ERR_OK) {
        fprintf(stderr, "%s\n", why.text);
        return false;
    }
    r->port = count_port_of(r->count);
    return true;
}

static bool set_up(struct replay *r, const char *conf, const char *hex)
{
    struct config_errors errors = {.n = 0};

    if (ruleset_load(conf, &r->config, &errors) != ERR_OK) {
        for (size_t i = 0; i < errors.n; i++) {
            fprintf(stderr, "%u: %s\n", errors.v[i].line, errors.v[i].text);
        }
        return false;
    }
    r->keys.n = 1;
    r->keys.ring[0].id = 1;
    for (size_t i = 0; i < HASHKEY_BYTES; i++) {
        char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        r->keys.ring[0].bytes[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
    r->arena = arena_new(ARENA);
    r->guard = boilerplate_new(boilerplate_size(r->config->count.messages_per_day));
    r->lists = list_manager_new(r->config->state_dir, &r->keys);
    return r->arena != NULL && r->guard != NULL && r->lists != NULL && forget(r);
}

int main(int argc, char **argv)
{
    static struct replay r;
    static char line[LINE];

    if (argc != 4 || strlen(argv[2]) != 2 * (size_t)HASHKEY_BYTES ||
        base_init() != ERR_OK) {
        return 64;
    }
    clock_set_for_test((uint64_t)1000 * SHINGLE_EPOCH_S * 1000000, 1);
    r.folder = argv[3];
    if (!set_up(&r, argv[1], argv[2])) {
        return 70;
    }
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == 'R') {
            if (!forget(&r)) {
                return 73;
            }
        } else if (line[0] == 'D') {
            clock_advance_us(UINT64_C(86400) * 1000000);
        } else if (!replay_message(&r, line[0], line + 2)) {
            return 66;
        }
    }
    list_manager_free(&r.lists);
    boilerplate_free(&r.guard);
    arena_free(&r.arena);
    config_release(&r.config);
    count_close(&r.count);
    return 0;
}
