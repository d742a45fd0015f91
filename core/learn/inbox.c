#include "core/learn/inbox.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/learn/vector_store.h"

enum { INBOX_MAX = 64 << 20, FOLDER_MODE = 02750, FILE_MODE = 0640 };

void inbox_init(struct buf *b)
{
    buf_init(b, INBOX_MAX);
    buf_add(b, slice_of(store_magic, sizeof(store_magic)));
}

void inbox_add(struct buf *b, const struct learner_example *e)
{
    store_add_example(b, e);
}

void inbox_forget(struct buf *b, enum learner_source source)
{
    store_add_number(b, RECORD_OUT, source);
}

enum err inbox_put(const char *state_dir, const struct buf *b, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    if (buf_failed(b)) {
        return errinfo_nomem(reterr, state_dir);
    }
    enum err e = path_make(path, reterr, "%s/%s", state_dir, STATE_MODEL_DIR);
    THEN(e, file_make_dir(path, FOLDER_MODE, reterr));
    THEN(e, path_make(path, reterr, "%s/%s/inbox.%" PRIu64 ".%ld", state_dir,
                      STATE_MODEL_DIR, clock_wall_us(), (long)getpid()));
    THEN(e, file_write_atomic(path, buf_slice(b), FILE_MODE, reterr));
    return e;
}
