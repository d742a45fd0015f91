/*
 * engine - gillnet's list "bench" in the state folder DIR; DIR/../gillnet.conf must be there.
 *
 * Read as gillnetd does, through a snapshot. Digests only: no text is kept, like in the others.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/list/listset.h"

#include "engine.h"

enum { BATCH = 512, PATH_BYTES = 300 };

static struct keyring keys;
static struct hashkey key;
static struct list_writer *writer;
static struct list_manager *hold;
static struct config *config;

static void must(enum err e, const struct errinfo *why)
{
    if (e != ERR_OK) {
        engine_refuse(why->source, why->text);
    }
}

static void open_writer(const char *dir)
{
    struct errinfo why = {0};
    must(base_init(), &why);
    must(keyring_load_or_create(dir, &keys, &why), &why);
    must(list_writer_open(dir, SLICE_LIT("bench"), &keys, true, &writer, &why), &why);
    list_writer_set_keep_text(writer, false);
}

static void gillnet_load(const char *dir, uint64_t n)
{
    struct errinfo why = {0};
    struct list_import *im = NULL;
    struct list_import_result result;
    open_writer(dir);
    must(list_import_begin(writer, SLICE_LIT("bench"), &im, &why), &why);
    for (uint64_t i = 0; i < n; i++) {
        struct engine_entry e;
        engine_text(i, &e);
        struct feature_entry f = {.class_type = FEATURE_domain,
                                  .text = slice_of(e.text, e.length)};
        must(list_import_add(im, &f, 0, &why), &why);
    }
    must(list_import_commit(&im, NULL, NULL, &result, &why), &why);
    list_writer_close(&writer);
}

static const struct list_reader *reader_of(const struct listset *s)
{
    if (listset_count(s) == 0) {
        engine_refuse("lists", "none could be opened");
    }
    return listset_reader(s, 0);
}

static void gillnet_open(const char *dir, enum engine_mode mode)
{
    char conf[PATH_BYTES];
    struct errinfo why = {0};
    struct config_errors errors = {0};
    if (mode == ENGINE_WRITE) {
        open_writer(dir);
        return;
    }
    (void)snprintf(conf, sizeof(conf), "%s/../gillnet.conf", dir);
    must(base_init(), &why);
    must(keyring_load_or_create(dir, &keys, &why), &why);
    if (config_load(conf, NULL, &config, &errors) != ERR_OK) {
        engine_refuse(conf, errors.n > 0 ? errors.v[0].text : "");
    }
    hold = list_manager_new(dir, &keys);
    must(list_manager_refresh(hold, config, &why), &why);
    const struct listset *s = list_manager_acquire(hold);
    key = *list_reader_key(reader_of(s));
    list_manager_release(hold, &s);
}

static void gillnet_close(void)
{
    list_writer_close(&writer);
    list_manager_free(&hold);
    config_release(&config);
}

static void gillnet_digest(struct engine_entry *e)
{
    struct digest d;
    digest_make(&key, FEATURE_domain, slice_of(e->text, e->length), &d);
    memcpy(e->digest, &d, sizeof(e->digest));
}

static void gillnet_put(const struct engine_entry *e, size_t n, bool is_synced)
{
    struct errinfo why = {0};
    (void)is_synced; /* always */
    for (size_t i = 0; i < n; i++) {
        struct list_change c = {.entry = {.class_type = FEATURE_domain,
                                          .text = slice_of(e[i].text, e[i].length)}};
        must(list_stage(writer, &c, SLICE_LIT("bench"), &why), &why);
    }
    must(list_flush(writer, &why), &why);
}

static void gillnet_get(const struct engine_entry *e, size_t n, enum engine_answer *ret)
{
    static const enum engine_answer means[] = {[LIST_NO] = ENGINE_NO,
                                               [LIST_FALSE_POSITIVE] = ENGINE_NO,
                                               [LIST_CONFIRMED] = ENGINE_YES,
                                               [LIST_REVOKED] = ENGINE_WRONG,
                                               [LIST_POSSIBLE] = ENGINE_ERROR};
    struct digest d[BATCH];
    uint8_t hit[BATCH];
    for (size_t i = 0; i < n; i++) {
        memcpy(&d[i], e[i].digest, sizeof(d[i]));
    }
    const struct listset *s = list_manager_acquire(hold);
    const struct list_reader *r = reader_of(s);
    list_reader_test(r, d, n, hit);
    for (size_t i = 0; i < n; i++) {
        ret[i] = hit[i] ? means[list_reader_confirm(r, &d[i], (uint64_t)time(NULL))]
                        : ENGINE_NO;
    }
    list_manager_release(hold, &s);
}

static void gillnet_refresh(void)
{
    struct errinfo why = {0};
    if (list_manager_refresh(hold, config, &why) != ERR_OK) {
        (void)fprintf(stderr, "%s: %s\n", why.source, why.text);
    }
    list_manager_free_retired(hold);
}

static bool gillnet_has_fault(void)
{
    const struct listset *s = list_manager_acquire(hold);
    bool is_degraded = listset_is_degraded(s);
    list_manager_release(hold, &s);
    return is_degraded;
}

const struct engine engine_built = {.name = "gillnet",
                                    .load = gillnet_load,
                                    .open = gillnet_open,
                                    .digest = gillnet_digest,
                                    .put = gillnet_put,
                                    .get = gillnet_get,
                                    .refresh = gillnet_refresh,
                                    .has_fault = gillnet_has_fault,
                                    .close = gillnet_close};
