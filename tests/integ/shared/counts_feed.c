/*
 * counts_feed - counts keys as gillnetd does, in a state folder, as standard input says.
 *
 * Usage: counts_feed STATE. Lines: "add KEY AMOUNT" (decimal), "flush". A flush makes durable what was added and
 * prints "START", the bucket that it was counted in. When another bucket begins, the former becomes a run.
 */
#include <inttypes.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/count/count.h"
#include "core/count/live.h"

enum { SLOTS = 1 << 16, LINE_BYTES = 256, BUCKET_S = 600 };

struct feed {
    char dir[FILE_PATH_MAX];
    char runs[FILE_PATH_MAX];
    struct run_id id;
    struct live *live;
};

static void check(enum err e, const struct errinfo *why)
{
    if (e != ERR_OK) {
        (void)fprintf(stderr, "%s: %s\n", why->source, why->text);
        exit(1);
    }
}

static uint64_t bucket_now(void)
{
    const uint64_t now_s = clock_wall_us() / 1000000;

    return now_s - now_s % BUCKET_S;
}

/* Counting goes on in the bucket of now. */
static void turn(struct feed *f)
{
    struct errinfo why = {.text = ""};
    const uint64_t start_s = bucket_now();

    if (f->live != NULL && f->id.start_s == start_s) {
        return;
    }
    if (f->live != NULL) {
        const enum err e = live_seal(f->live, f->runs, &why);

        check(e == ERR_NOT_FOUND ? ERR_OK : e, &why);
        live_free(&f->live, true);
    }
    f->id.start_s = start_s;
    check(live_new(f->dir, &f->id, 1, SLOTS, &f->live, &why), &why);
}

static void make_room(struct feed *f)
{
    struct errinfo why = {.text = ""};

    if (live_wants_room(f->live)) {
        check(live_grow_begin(f->live, &why), &why);
        live_grow_shard(f->live, 0);
        live_grow_end(f->live);
    }
}

static void take_line(struct feed *f, const char *line)
{
    struct errinfo why = {.text = ""};
    uint64_t key = 0;
    uint64_t amount = 0;
    uint64_t count = 0;

    if (sscanf(line, "add %" SCNu64 " %" SCNu64, &key, &amount) == 2) {
        make_room(f);
        if (!live_add(f->live, 0, key, amount, &count)) {
            check(ERR_LIMIT, &why);
        }
    } else if (strncmp(line, "flush", 5) == 0) {
        live_flush_shard(f->live, 0);
        check(live_flush(f->live, &why), &why);
        (void)printf("%" PRIu64 "\n", f->id.start_s);
        (void)fflush(stdout);
        turn(f);
    }
}

int main(int argc, char **argv)
{
    struct feed f = {.live = NULL};
    struct keyring keys;
    struct errinfo why = {.text = ""};
    uint8_t derived[KEYRING_DERIVED_BYTES];
    char line[LINE_BYTES];

    if (argc != 2 || base_init() != ERR_OK) {
        return 1;
    }
    check(keyring_load_or_create(argv[1], &keys, &why), &why);
    check(path_make(f.dir, &why, "%s/counts", argv[1]), &why);
    check(path_make(f.runs, &why, "%s/counts/runs", argv[1]), &why);
    check(file_make_dir(f.dir, 0750, &why), &why);
    check(file_make_dir(f.runs, 0750, &why), &why);
    keyring_derive(&keys.node, COUNT_ORIGIN_PURPOSE, 0, derived);
    memcpy(f.id.origin, derived, sizeof(f.id.origin));
    f.id.inc = clock_wall_us();
    f.id.len_s = BUCKET_S;
    f.id.key_id = keys.ring[0].id;
    turn(&f);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        take_line(&f, line);
    }
    live_free(&f.live, false);
    return 0;
}
