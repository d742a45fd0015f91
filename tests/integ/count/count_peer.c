/*
 * count_peer - plays the hub in STATE/peers: members, their counts, and their end.
 *
 * Usage: count_peer STATE join NAME...             members, this server beside them
 *        count_peer STATE told NAME TYPE VALUE N   adds N in the running bucket of NAME's open
 *                                                  stream
 *        count_peer STATE closed NAME              its streams become runs
 *        count_peer STATE drop NAME                NAME is no longer a member, and its files are
 *                                                  removed
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/base/keyring.h"
#include "core/count/count.h"
#include "core/count/stream.h"
#include "core/filter/tally.h"
#include "core/message/feature/feature.h"
#include "core/store/origins.h"

struct world {
    const char *state;
    char counts[FILE_PATH_MAX];
    char runs[FILE_PATH_MAX];
};

static void must(enum err e, const struct errinfo *why)
{
    if (e != ERR_OK) {
        (void)fprintf(stderr, "%s: %s\n", why->source, why->text);
        exit(1);
    }
}

static void origin_of(const char *name, uint8_t ret[ORIGIN_BYTES])
{
    struct hash256 h;
    hash256_of(slice_str(name), &h);
    memcpy(ret, h.b, ORIGIN_BYTES);
}

static void join(const struct world *w, char **names)
{
    static struct origin_row rows[ORIGINS_MAX];
    struct origins o = {.quorum = 1, .v = rows};
    struct errinfo why = {.code = ERR_OK};
    char peers[FILE_PATH_MAX];

    must(file_path(peers, "%s/peers", w->state), &why);
    must(file_make_dir(peers, 0755, &why), &why);
    must(file_make_dir(w->counts, 0755, &why), &why);
    must(file_make_dir(w->runs, 0755, &why), &why);
    origin_of("self", o.self);
    for (; names[o.n] != NULL; o.n++) {
        rows[o.n] = (struct origin_row){.cap = 10, .state = ORIGIN_ACTIVE};
        origin_of(names[o.n], rows[o.n].origin);
        (void)snprintf(rows[o.n].name, sizeof(rows[o.n].name), "%s", names[o.n]);
    }
    must(origins_write(w->state, &o, &why), &why);
}

static void told(const struct world *w, char **args)
{
    struct keyring keys;
    struct errinfo why = {.code = ERR_OK};
    struct digest digest;
    struct stream_writer *out = NULL;
    uint64_t seq = 0;
    const struct feature_info *info = feature_info_by_name(slice_str(args[1]));

    must(keyring_load(w->state, &keys, &why), &why);
    if (info == NULL) {
        exit(2);
    }
    char value[1024]; /* with count.prefix, as it is by default */
    int n = snprintf(value, sizeof(value), "in%c%s", 0, args[2]);
    digest_make(&keys.ring[0], (uint16_t)info->type, slice_of(value, (size_t)n),
                &digest);
    struct run_record v = {.count = strtoull(args[3], NULL, 10)};
    for (unsigned i = 0; i < 8; i++) {
        v.key = v.key << 8 | digest.b[i];
    }
    uint64_t now_s = (uint64_t)time(NULL);
    struct run_id id = {.inc = 1,
                        .start_s = now_s - now_s % COUNT_BUCKET_S,
                        .len_s = COUNT_BUCKET_S,
                        .key_id = keys.ring[0].id};
    origin_of(args[0], id.origin);
    must(stream_writer_open(w->counts, &id, &out, &seq, &why), &why);
    must(stream_writer_add(out, seq + 1, &v, 1, &why), &why);
    stream_writer_close(&out);
}

/* ---- each stream of a member ---- */

static void add(void *context, const struct run_record *record)
{
    if (!tally_add(context, record->key, record->count)) {
        exit(3);
    }
}

static int by_key(const void *a, const void *b)
{
    const struct run_record *x = a;
    const struct run_record *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void close_one(const struct world *w, const char *path)
{
    struct pair_log_place r;
    struct tally sums;
    struct errinfo why = {.code = ERR_OK};
    struct run_writer *out = NULL;
    char name[FILE_PATH_MAX];
    char run[FILE_PATH_MAX];
    size_t n = 0;

    tally_init(&sums);
    must(stream_reader_open(path, &r, &why), &why);
    must(stream_reader_next(&r, path, add, &sums, &why), &why);
    must(runset_name(&r.id, name), &why);
    must(file_path(run, "%s/%s", w->runs, name), &why);
    must(run_writer_new(run, &r.id, &out, &why), &why);
    for (size_t i = 0; i < sums.nslots; i++) {
        if (sums.slots[i].key != 0) {
            sums.slots[n++] = sums.slots[i];
        }
    }
    qsort(sums.slots, n, sizeof(sums.slots[0]), by_key);
    for (size_t i = 0; i < n; i++) {
        struct run_record record = {sums.slots[i].key, sums.slots[i].count};
        run_writer_add(out, &record);
    }
    must(run_writer_commit(&out, &why), &why);
    tally_fini(&sums);
}

/* Streams become runs first, when they are to be kept. */
static void end_streams(const struct world *w, const char *member, bool is_kept)
{
    uint8_t origin[ORIGIN_BYTES];
    char hex[2 * ORIGIN_BYTES + 1];
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    struct errinfo why = {.code = ERR_OK};
    const struct dirent *entry;

    origin_of(member, origin);
    hex_print(origin, ORIGIN_BYTES, hex);
    must(file_path(dir, "%s/%s", w->counts, hex), &why);
    DIR *d = opendir(dir);
    while (d != NULL && (entry = readdir(d)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        must(file_path(path, "%s/%s", dir, entry->d_name), &why);
        if (is_kept) {
            close_one(w, path);
        }
        (void)unlink(path);
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    d = is_kept ? NULL : opendir(w->runs);
    while (d != NULL && (entry = readdir(d)) != NULL) {
        if (strstr(entry->d_name, hex) != NULL) {
            must(file_path(path, "%s/%s", w->runs, entry->d_name), &why);
            (void)unlink(path);
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
}

static void drop(const struct world *w, const char *member)
{
    struct origins o;
    struct errinfo why = {.code = ERR_OK};

    must(origins_read(w->state, &o, &why), &why);
    for (unsigned i = 0; i < o.n; i++) {
        if (strcmp(o.v[i].name, member) == 0) {
            o.v[i].state = ORIGIN_DROPPED;
        }
    }
    must(origins_write(w->state, &o, &why), &why);
    origins_fini(&o);
    end_streams(w, member, false);
}

int main(int argc, char **argv)
{
    struct world w = {.state = argc > 1 ? argv[1] : ""};

    if (argc < 4 || file_path(w.counts, "%s/peers/counts", w.state) != ERR_OK ||
        file_path(w.runs, "%s/runs", w.counts) != ERR_OK) {
        return 2;
    }
    if (strcmp(argv[2], "join") == 0) {
        join(&w, argv + 3);
    } else if (strcmp(argv[2], "told") == 0 && argc == 7) {
        told(&w, argv + 3);
    } else if (strcmp(argv[2], "closed") == 0) {
        end_streams(&w, argv[3], true);
    } else if (strcmp(argv[2], "drop") == 0) {
        drop(&w, argv[3]);
    } else {
        return 2;
    }
    return 0;
}
