#include "core/reader/wire/request.h"

#include "core/base/cursor.h"
#include "core/base/le.h"

static const char mark[4] = {'G', 'N', 'R', '1'};

enum { FLAG_OCR = 1, FLAG_LOCKED_ONLY = 2, PLACE_OF_REST = 4 };

static void add_field(struct buf *b, struct slice s)
{
    s = slice_head(s, REQUEST_TEXT_MAX);
    buf_add_u64(b, s.n);
    buf_add(b, s);
}

enum err request_make(const struct reader_job *job, uint32_t cpu_s, struct request *ret)
{
    const struct reader_limits *l = &job->limits;
    struct buf *b = &ret->head;
    size_t at[REQUEST_NEXT_MAX + 1]; /* where the piece of a file's length ends */
    uint64_t rest = 0;

    ret->npieces = 0;
    buf_init(b, (size_t)(REQUEST_PASSWORDS_MAX + 4) * REQUEST_TEXT_MAX);
    if (job->npasswords > REQUEST_PASSWORDS_MAX || job->nnext > REQUEST_NEXT_MAX) {
        return ERR_LIMIT;
    }
    buf_add(b, slice_of(mark, sizeof(mark)));
    buf_add_u64(b, 0);
    buf_add_u32(b, l->entries);
    buf_add_u64(b, l->bytes);
    buf_add_u32(b, l->ratio);
    buf_add_u32(b, l->pages);
    buf_add_u64(b, l->pixels);
    buf_add_u32(b, (l->with_ocr ? FLAG_OCR : 0U) |
                       (job->locked_only ? FLAG_LOCKED_ONLY : 0U));
    buf_add_u32(b, cpu_s);
    buf_add_u16(b, (uint16_t)job->npasswords);
    buf_add_u16(b, (uint16_t)job->nnext);
    add_field(b, job->name);
    add_field(b, job->type);
    for (size_t i = 0; i < job->npasswords; i++) {
        add_field(b, job->password[i]);
    }
    for (size_t i = 0; i <= job->nnext; i++) {
        const struct slice file = i < job->nnext ? job->next[i] : job->bytes;
        buf_add_u64(b, file.n);
        at[i] = b->n;
        rest += file.n;
    }
    if (buf_failed(b)) {
        return ERR_NOMEM;
    }
    rest += b->n - REQUEST_HEAD_BYTES;
    if (rest > REQUEST_BYTES_MAX) {
        return ERR_LIMIT;
    }
    le_put(b->p + PLACE_OF_REST, rest, sizeof(rest));
    for (size_t i = 0; i <= job->nnext; i++) {
        const size_t from = i == 0 ? 0 : at[i - 1];
        ret->piece[ret->npieces++] = slice_of(b->p + from, at[i] - from);
        ret->piece[ret->npieces++] = i < job->nnext ? job->next[i] : job->bytes;
    }
    return ERR_OK;
}

void request_fini(struct request *r)
{
    buf_fini(&r->head);
}

uint64_t request_rest(const char head[REQUEST_HEAD_BYTES])
{
    const uint64_t rest = le_get(head + PLACE_OF_REST, sizeof(rest));

    return memcmp(head, mark, sizeof(mark)) == 0 && rest <= REQUEST_BYTES_MAX ? rest
                                                                              : 0;
}

static struct slice next_bytes(struct cursor *c)
{
    const uint64_t n = cursor_u64(c);

    if (n > c->rest.n) {
        c->failed = true;
        return SLICE_NONE;
    }
    return cursor_bytes(c, (size_t)n);
}

bool request_parse(struct slice rest, struct request_read *ret)
{
    struct cursor c = cursor_of(rest);
    struct reader_job *job = &ret->job;
    struct reader_limits *l = &job->limits;

    *ret = (struct request_read){.job.password = ret->password, .job.next = ret->next};
    l->entries = cursor_u32(&c);
    l->bytes = cursor_u64(&c);
    l->ratio = cursor_u32(&c);
    l->pages = cursor_u32(&c);
    l->pixels = cursor_u64(&c);
    const uint32_t flags = cursor_u32(&c);
    l->with_ocr = (flags & FLAG_OCR) != 0;
    job->locked_only = (flags & FLAG_LOCKED_ONLY) != 0;
    ret->cpu_s = cursor_u32(&c);
    job->npasswords = cursor_u16(&c);
    job->nnext = cursor_u16(&c);
    if (!cursor_ok(&c) || job->npasswords > REQUEST_PASSWORDS_MAX ||
        job->nnext > REQUEST_NEXT_MAX || l->ratio == 0) {
        return false;
    }
    job->name = next_bytes(&c);
    job->type = next_bytes(&c);
    for (size_t i = 0; i < job->npasswords; i++) {
        ret->password[i] = next_bytes(&c);
    }
    for (size_t i = 0; i < job->nnext; i++) {
        ret->next[i] = next_bytes(&c);
    }
    job->bytes = next_bytes(&c);
    return cursor_done(&c);
}
