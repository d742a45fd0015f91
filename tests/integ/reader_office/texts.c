/*
 * texts - the text of the documents that are attached to a message, as extraction sees it.
 *
 *   texts MESSAGE
 *
 * Exit status: 0, 1 the message cannot be read, 64 usage.
 */
#include "core/base/base.h"
#include "core/base/file.h"

#include "tests/unit/extract/limits.h"

enum { MESSAGE_MOST = 64 << 20, ARENA = 256 << 20 };

static void on_document(void *context, struct slice piece)
{
    (void)context;
    (void)fwrite(piece.p, 1, piece.n, stdout);
    (void)putchar('\n');
}

int main(int argc, char **argv)
{
    struct extract_limits limits = limits_default;
    struct errinfo why;
    struct buf file;

    if (argc != 2 || base_init() != ERR_OK) {
        return 64;
    }
    limits.on_document = on_document;
    buf_init(&file, MESSAGE_MOST);
    if (file_read(argv[1], &file, &why) != ERR_OK) {
        (void)fprintf(stderr, "texts: %s\n", why.text);
        return 1;
    }
    struct arena *arena = arena_new(ARENA);
    struct extract *x = arena != NULL ? extract_new(arena, &limits, NULL, 0) : NULL;
    if (x == NULL) {
        return 1;
    }
    extract_raw(x, buf_slice(&file));
    (void)extract_finish(x);
    extract_drop(x);
    arena_free(&arena);
    buf_fini(&file);
    return 0;
}
