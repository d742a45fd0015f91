/* fuzz_backup - any bytes as a table of contents, or as a whole backup: what is accepted prints back to itself, and names
 * nothing outside a state folder.
 *
 * Input: a byte that chooses, the rest is the text or the archive (a plain tar will do). */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/backup/bundle.h"

#include "tests/fuzz/fuzz.h"

static void check_contents(const struct contents *c)
{
    struct contents back;
    struct buf text;

    for (size_t i = 0; i < c->n; i++) {
        const char *path = c->v[i].path;
        FUZZ_CHECK(contents_takes(slice_str(path), true));
        FUZZ_CHECK(path[0] != '/' && strstr(path, "..") != path && strchr(path, '/'));
        FUZZ_CHECK(strstr(path, "/.") == NULL && strlen(path) <= CONTENTS_PATH_MAX);
    }
    buf_init(&text, CONTENTS_TEXT_MAX);
    contents_print(c, &text);
    contents_init(&back);
    FUZZ_CHECK(contents_parse(buf_slice(&text), &back, NULL) == ERR_OK);
    FUZZ_CHECK(back.n == c->n && back.bytes == c->bytes);
    contents_fini(&back);
    buf_fini(&text);
}

struct taken {
    uint64_t left; /* of the file that is open */
    size_t nfiles;
};

static enum err on_open(void *context, const struct contents_file *f,
                        struct errinfo *reterr)
{
    struct taken *t = context;

    (void)reterr;
    t->left = f->size;
    t->nfiles++;
    return ERR_OK;
}

static enum err on_bytes(void *context, struct slice bytes, struct errinfo *reterr)
{
    struct taken *t = context;

    (void)reterr;
    FUZZ_CHECK(bytes.n <= t->left);
    t->left -= bytes.n;
    return ERR_OK;
}

static void check_archive(struct slice bytes)
{
    struct taken t = {.left = 0};
    const struct bundle_taker taker = {
        .open = on_open, .bytes = on_bytes, .context = &t};
    struct contents c;
    struct errinfo why;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);

    FUZZ_CHECK(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n &&
               lseek(fd, 0, SEEK_SET) == 0);
    contents_init(&c);
    if (bundle_read(fd, "fuzz", &taker, &c, &why) == ERR_OK) {
        FUZZ_CHECK(t.nfiles == c.n && t.left == 0);
        check_contents(&c);
    }
    contents_fini(&c);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice rest = slice_of((const char *)data + 1, size > 0 ? size - 1 : 0);
    struct contents c;
    struct errinfo why;

    if (size > 0 && data[0] % 2 == 0) {
        contents_init(&c);
        if (contents_parse(rest, &c, &why) == ERR_OK) {
            check_contents(&c);
        }
        contents_fini(&c);
    } else if (size > 0) {
        check_archive(rest);
    }
    return 0;
}
