/* queue_serve - requests of gillnet-queue. */
#include "core/quarantine/queue/queue.h"

static enum err do_request(const struct queue *q, struct slice line, struct buf *ret,
                           struct errinfo *reterr)
{
    struct slice word = slice_cut(&line, ' ');

    if (slice_eq(word, SLICE_LIT("list")) && line.p == NULL) {
        return queue_list(q, ret, reterr);
    }
    if (slice_eq(word, SLICE_LIT("show"))) {
        return queue_show(q, line, ret, reterr);
    }
    if (slice_eq(word, SLICE_LIT("release"))) {
        return queue_release(q, line, reterr);
    }
    if (slice_eq(word, SLICE_LIT("delete"))) {
        return queue_delete(q, line, reterr);
    }
    return errinfo_set(reterr, ERR_SYNTAX, NULL, 0,
                       "the requests are list, show ID, release ID and delete ID");
}

enum err queue_serve(const struct queue *q, struct slice line, struct buf *ret)
{
    struct errinfo why = {.text = ""};

    buf_clear(ret);
    buf_add_str(ret, "ok\n");
    enum err e = do_request(q, line, ret, &why);
    if (e != ERR_OK) {
        buf_clear(ret);
        buf_printf(ret, "error %s%s\n",
                   e == ERR_NOT_FOUND ? ""
                   : e == ERR_SYNTAX  ? "request: "
                                      : "queue: ",
                   why.text[0] != '\0' ? why.text : err_text(e));
    }
    return e;
}
