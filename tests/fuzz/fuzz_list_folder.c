/*
 * fuzz_list_folder - a list whose files have changes (CURRENT, index, filter, log): it is refused with a
 * text, or its answers about listed and other names are never the wrong ones.
 *
 * Input: a byte that chooses the file, then changes (patched.h).
 */
#include <dirent.h>

#include "core/base/base.h"
#include "core/base/log.h"
#include "core/list/list.h"
#include "core/message/feature/feature.h"

#include "tests/fuzz/patched.h"
#include "tests/fuzz/state.h"
#include "tests/unit/list/list_change.h"

enum { ENTRIES = 30, FILES_MAX = 16, NAME_MAX_BYTES = 64, NOW_S = 1700000000 };

static const struct keyring keys = {.n = 1,
                                    .ring = {{.id = 5, .bytes = "0123456789abcde"}},
                                    .node = {.id = 6, .bytes = "abc"}};

static struct sound_file {
    char name[NAME_MAX_BYTES];
    uint8_t *bytes;
    size_t n;
} file[FILES_MAX];
static size_t nfiles;

static struct feature_entry entry_of(struct arena *arena, unsigned i)
{
    struct feature_entry e;
    char text[32];
    struct errinfo why;

    (void)snprintf(text, sizeof(text), "name%u.example", i);
    FUZZ_CHECK(feature_entry_parse(slice_str(text), FEATURE_url_domain, arena, &e,
                                   &why) == ERR_OK);
    return e;
}

/* The first half by import, so that there is a level, the rest in the log; one is revoked. */
static void make_list(struct arena *arena)
{
    struct list_writer *w = NULL;
    struct list_import *im = NULL;
    struct list_import_result result;
    struct slice source = SLICE_LIT("test");
    struct errinfo why;

    FUZZ_CHECK(list_writer_open(state_folder(), SLICE_LIT("phish"), &keys, true, &w,
                                &why) == ERR_OK);
    FUZZ_CHECK(list_import_begin(w, source, &im, &why) == ERR_OK);
    for (unsigned i = 0; i < ENTRIES / 2; i++) {
        struct feature_entry e = entry_of(arena, i);
        FUZZ_CHECK(list_import_add(im, &e, 0, &why) == ERR_OK);
    }
    FUZZ_CHECK(list_import_commit(&im, NULL, NULL, &result, &why) == ERR_OK);
    for (unsigned i = ENTRIES / 2; i < ENTRIES; i++) {
        struct feature_entry e = entry_of(arena, i);
        FUZZ_CHECK(list_add(w, &e, source, 0, &why) == ERR_OK);
    }
    struct feature_entry gone = entry_of(arena, 1);
    FUZZ_CHECK(list_revoke(w, &gone, source, &why) == ERR_OK);
    list_writer_close(&w);
}

static void keep_files(void)
{
    DIR *dir = opendir(state_path("lists/phish"));
    const struct dirent *d = NULL;

    FUZZ_CHECK(dir != NULL);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    while ((d = readdir(dir)) != NULL && nfiles < FILES_MAX) {
        char path[STATE_PATH];
        struct stat st;
        (void)snprintf(path, sizeof(path), "lists/phish/%.60s", d->d_name);
        int fd = open(state_path(path), O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
            struct sound_file *f = &file[nfiles++];
            (void)snprintf(f->name, sizeof(f->name), "%.60s", d->d_name);
            f->n = (size_t)st.st_size;
            f->bytes = malloc(f->n);
            FUZZ_CHECK(f->bytes != NULL && read(fd, f->bytes, f->n) == (ssize_t)f->n);
        }
        (void)close(fd);
    }
    (void)closedir(dir);
}

static int by_name(const void *a, const void *b)
{
    const struct sound_file *x = a;
    const struct sound_file *y = b;
    return strcmp(x->name, y->name);
}

static void begin_process(struct arena *arena)
{
    if (nfiles == 0) {
        FUZZ_CHECK(base_init() == ERR_OK);
        log_set_level(LOG_LEVEL_ERROR);
        make_list(arena);
        keep_files();
        qsort(file, nfiles, sizeof(file[0]), by_name);
        FUZZ_CHECK(nfiles > 3);
    }
}

static void check_answers(const struct list_reader *r, struct arena *arena)
{
    for (unsigned i = 0; i < 2 * ENTRIES; i++) {
        struct feature_entry e = entry_of(arena, i);
        struct digest d;
        uint8_t hit = 0;

        digest_make(list_reader_key(r), e.class_type, e.text, &d);
        list_reader_test(r, &d, 1, &hit);
        enum list_answer a = list_reader_confirm(r, &d, NOW_S);
        if (i >= ENTRIES) {
            FUZZ_CHECK(a != LIST_CONFIRMED && a != LIST_REVOKED);
        } else if (i != 1) {
            FUZZ_CHECK(a != LIST_REVOKED);
        }
        if (list_reader_fault(r) == NULL) {
            FUZZ_CHECK(i >= ENTRIES || hit == 1);
            FUZZ_CHECK(i >= ENTRIES || a == (i == 1 ? LIST_REVOKED : LIST_CONFIRMED) ||
                       a == LIST_POSSIBLE);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = slice_of((const char *)data, size);
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct list_reader *r = NULL;
    struct errinfo why = {.text = ""};
    char path[STATE_PATH];

    FUZZ_CHECK(arena != NULL);
    begin_process(arena);
    const struct sound_file *f = &file[patched_number(&input, 1) % nfiles];
    uint8_t *bytes = malloc(f->n);
    FUZZ_CHECK(bytes != NULL);
    memcpy(bytes, f->bytes, f->n);
    size_t n = patched_apply(bytes, f->n, &input);
    (void)snprintf(path, sizeof(path), "lists/phish/%s", f->name);
    (void)unlink(state_path(path)); /* another file each time, as a rename makes it */
    (void)state_file(path, slice_of((const char *)bytes, n));
    if (list_reader_open(state_folder(), SLICE_LIT("phish"), &keys, &r, &why) ==
        ERR_OK) {
        check_answers(r, arena);
        list_reader_close(&r);
    } else {
        FUZZ_CHECK(why.text[0] != '\0');
    }
    (void)state_file(path, slice_of((const char *)f->bytes, f->n));
    free(bytes);
    arena_free(&arena);
    return 0;
}
