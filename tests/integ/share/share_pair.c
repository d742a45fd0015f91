/*
 * share_pair - two servers in one process: one changes and shares a list, the other takes it in.
 *
 * Usage: share_pair FOLDER. Goes through a fixed script whose changes can be repeated, so that it
 * may be killed anywhere and run again. Before each exchange it writes the published state to
 * FOLDER/ledger. At the start the second server must hold a state from there, or nothing; at the
 * end it must hold the list of the first one. Exit 0, or 1 with the fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/list/list.h"
#include "core/ring/sync/list_publisher.h"
#include "core/ring/sync/peerlist.h"

#include "tests/unit/list/list_change.h"
#include "tests/unit/sync/peerlist_whole.h"
#include "tests/unit/sync/syncring.h"

enum { LEDGER_MAX = 1 << 20, STEPS = 9, IMPORT = 9000, TICKS = 3, SNAP_MAX = 1 << 24 };

struct pair {
    char dir[200];
    struct manifest m;
    struct syncnode node[2];
    struct list_publisher *share;
    struct config *config;
    struct errinfo why;
};

static int failed(const struct pair *p, const char *what)
{
    (void)fprintf(stderr, "share_pair: %s: %s: %s\n", what, p->why.source, p->why.text);
    return 1;
}

/* ---- what is held ---- */

/* The hash of all that `at` holds of the first server's list; of no bytes when that is nothing. */
static enum err held(struct pair *p, unsigned at, char ret[HASH256_HEX + 1])
{
    struct stream_key k;
    struct buf payload;
    struct hash256 hash;
    uint64_t n = 0;
    enum err e = ERR_OK;
    buf_init(&payload, SNAP_MAX);
    if (sync_own_stream(p->node[0].sync, OBJECT_LIST, "bad", &k)) {
        e = peerlist_snap(sync_lists(p->node[at].sync), &k, &payload, &n, &p->why);
        e = e == ERR_NOT_FOUND ? ERR_OK : e;
    }
    hash256_of(buf_slice(&payload), &hash);
    hex_print(hash.b, HASH256_BYTES, ret);
    buf_fini(&payload);
    return e;
}

static bool ledger_has(const struct pair *p, const char *hex)
{
    char path[256];
    struct buf text;
    struct hash256 nothing;
    char none[HASH256_HEX + 1];
    hash256_of(SLICE_NONE, &nothing);
    hex_print(nothing.b, HASH256_BYTES, none);
    (void)snprintf(path, sizeof(path), "%s/ledger", p->dir);
    buf_init(&text, LEDGER_MAX);
    (void)file_read(path, &text, NULL);
    buf_add_u8(&text, 0);
    bool has = strcmp(hex, none) == 0 || (text.p && strstr(text.p, hex));
    buf_fini(&text);
    return has;
}

/* Appended without the calls that a kill is aimed at. */
static bool ledger_note(struct pair *p)
{
    char path[256];
    char hex[HASH256_HEX + 1];
    (void)snprintf(path, sizeof(path), "%s/ledger", p->dir);
    FILE *f = held(p, 0, hex) == ERR_OK ? fopen(path, "ae") : NULL;
    bool is_good = f && fprintf(f, "%s\n", hex) > 0;
    return f && fclose(f) == 0 && is_good;
}

/* ---- script ---- */

static struct feature_entry entry(unsigned n, char text[64])
{
    int length = snprintf(text, 64, "host-%u.example", n);
    return (struct feature_entry){.class_type = FEATURE_domain,
                                  .text = slice_of(text, (size_t)length)};
}

static enum err import(struct pair *p, struct list_writer *w)
{
    struct list_import *im = NULL;
    struct list_import_result result;
    char text[64];
    enum err e = list_import_begin(w, SLICE_LIT("feed"), &im, &p->why);
    for (unsigned n = 0; e == ERR_OK && n < IMPORT; n++) {
        struct feature_entry x = entry(n, text);
        e = list_import_add(im, &x, 0, &p->why);
    }
    if (e == ERR_OK) {
        e = list_import_commit(&im, NULL, NULL, &result, &p->why);
    }
    list_import_abort(&im);
    return e;
}

/* A later run repeats the changes of an earlier one; they change nothing, or only for a moment. */
static enum err change(struct pair *p, unsigned step)
{
    char text[64];
    struct list_writer *w = NULL;
    struct feature_entry x = entry(step < 4 ? step : 20000 + step, text);
    enum err e = list_writer_open(p->node[0].dir, SLICE_LIT("bad"), &p->node[0].keys,
                                  true, &w, &p->why);
    if (e == ERR_OK && step == 4) {
        e = import(p, w);
    } else if (e == ERR_OK && step == 6) {
        x = entry(1, text);
        e = list_revoke(w, &x, SLICE_LIT("cli"), &p->why);
    } else if (e == ERR_OK) {
        e = list_add(w, &x, SLICE_LIT("cli"), 0, &p->why);
    }
    list_writer_close(&w);
    return e;
}

static enum err exchange(struct pair *p)
{
    struct syncpull pull = {.after = 0};
    enum err e = ERR_OK;
    for (unsigned i = 0; e == ERR_OK && i < TICKS; i++) {
        e = list_publisher_tick(p->share, p->config, &p->why);
        if (e == ERR_OK && !ledger_note(p)) {
            e = errinfo_set(&p->why, ERR_IO, p->dir, 0, "no ledger");
        }
    }
    for (unsigned i = 0; e == ERR_OK && i < TICKS; i++) {
        pull.after = 0;
        if (!syncring_pull(&p->node[1], &p->node[0], NULL, &pull)) {
            e = errinfo_set(&p->why, ERR_IO, p->dir, 0, "the exchange failed");
        }
    }
    return e;
}

/* ---- begin and end ---- */

static enum err configure(struct pair *p)
{
    char path[256];
    struct config_errors errors = {0};
    (void)snprintf(path, sizeof(path), "%s/gillnet.conf", p->dir);
    FILE *f = fopen(path, "we");
    if (f) {
        (void)fprintf(f, "lists = ( { name = \"bad\"; share = true; } );\n");
        (void)fclose(f);
    }
    return config_load(path, NULL, &p->config, &errors) == ERR_OK
               ? ERR_OK
               : errinfo_set(&p->why, ERR_SYNTAX, path, 0, "no configuration");
}

static enum err begin(struct pair *p, const char *dir)
{
    (void)snprintf(p->dir, sizeof(p->dir), "%s", dir);
    clock_set_for_test(SYNCRING_NOW_S * 1000000, 1000000000);
    enum err e = configure(p);
    if (!syncring_manifest(2, &p->m)) {
        return errinfo_set(&p->why, ERR_NOMEM, dir, 0, "no memory");
    }
    for (unsigned i = 0; e == ERR_OK && i < 2; i++) {
        char name[256];
        (void)snprintf(name, sizeof(name), "%s/%u", dir, i);
        syncnode_init(&p->node[i], name, i);
        e = syncnode_open(&p->node[i], &p->m, &p->why);
    }
    return e == ERR_OK
               ? list_publisher_new(p->node[0].sync, p->node[0].dir, &p->node[0].keys,
                                    &p->node[0].self.origin, &p->share, &p->why)
               : e;
}

static int run(struct pair *p)
{
    char hex[2][HASH256_HEX + 1];
    if (held(p, 1, hex[1]) != ERR_OK || !ledger_has(p, hex[1])) {
        return failed(p, "after the restart the second server holds what was never "
                         "published");
    }
    for (unsigned step = 0; step < STEPS; step++) {
        if (change(p, step) != ERR_OK || exchange(p) != ERR_OK) {
            return failed(p, "a step failed");
        }
    }
    if (held(p, 0, hex[0]) != ERR_OK || held(p, 1, hex[1]) != ERR_OK ||
        strcmp(hex[0], hex[1]) != 0) {
        return failed(p, "at the end the two do not hold the same");
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct pair p;
    if (argc != 2) {
        (void)fputs("usage: share_pair FOLDER\n", stderr);
        return 2;
    }
    int status = begin(&p, argv[1]) == ERR_OK ? run(&p) : failed(&p, "cannot begin");
    list_publisher_free(&p.share);
    syncnode_close(&p.node[0]);
    syncnode_close(&p.node[1]);
    config_release(&p.config);
    manifest_fini(&p.m);
    return status;
}
