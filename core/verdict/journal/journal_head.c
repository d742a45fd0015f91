#include "core/verdict/journal/journal_head.h"

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/list/listset.h"
#include "core/message/feature/feature.h"
#include "core/verdict/identity/identity.h"

#define HEAD_MAGIC UINT64_C(0x314e52554f4a4e47) /* "GNJOURN1" */
enum { HEAD_VERSION = 1, SUM = 8 };

static const char *const identity_names[IDENTITY_WORDS] = {
#define IDENTITY(name, help) #name,
#include "core/verdict/identity/identity.def"
#undef IDENTITY
};

/* NULL past the last. */
static const char *name_of(enum journal_name kind, size_t i)
{
    switch (kind) {
    case JOURNAL_TRAIT:
        return i < TRAIT_COUNT ? trait_name((enum trait)i) : NULL;
    case JOURNAL_IDENTITY:
        return i < IDENTITY_WORDS ? identity_names[i] : NULL;
    case JOURNAL_LIMIT:
        return i < LIMIT_FLAG_COUNT ? limit_name((unsigned)i) : NULL;
    case JOURNAL_ANSWER:
        return i <= LIST_UNVERIFIED ? list_answer_name((enum list_answer)i) : NULL;
    case JOURNAL_SILENCE:
        return i <= LIST_SUPPRESSED_ELSEWHERE
                   ? list_suppression_name((enum list_suppression)i)
                   : NULL;
    case JOURNAL_NAME_KINDS:
        break;
    }
    return NULL;
}

static void print_copy(uint32_t key_id, struct buf *ret)
{
    static const char zeros[JOURNAL_HEAD_COPY];
    size_t begin = ret->n;
    const char *name = NULL;

    buf_add_u64(ret, HEAD_MAGIC);
    buf_add_u32(ret, HEAD_VERSION);
    buf_add_u32(ret, key_id);
    for (unsigned kind = 0; kind < JOURNAL_NAME_KINDS; kind++) {
        for (size_t i = 0; (name = name_of((enum journal_name)kind, i)) != NULL; i++) {
            buf_printf(ret, "%s\n", name);
        }
        buf_add_char(ret, '\0');
    }
    size_t used = ret->n - begin + SUM;
    if (used > JOURNAL_HEAD_COPY) {
        ret->failed = true;
        return;
    }
    buf_add(ret, slice_of(zeros, JOURNAL_HEAD_COPY - used));
    buf_add_u64(ret, checksum64(slice_from(buf_slice(ret), begin)));
}

void journal_head_print(uint32_t key_id, struct buf *ret)
{
    print_copy(key_id, ret);
    print_copy(key_id, ret);
}

static void parse_names(struct slice bytes, struct journal_names *ret)
{
    for (unsigned kind = 0; kind < JOURNAL_NAME_KINDS; kind++) {
        struct slice names = slice_cut(&bytes, '\0');
        ret->n[kind] = 0;
        while (names.n > 0 && ret->n[kind] < JOURNAL_NAMES_MAX) {
            ret->v[kind][ret->n[kind]++] = slice_cut(&names, '\n');
        }
    }
}

static enum err parse_copy(struct slice copy, const char *path,
                           struct journal_names *ret, struct errinfo *reterr)
{
    struct slice summed = slice_head(copy, JOURNAL_HEAD_COPY - SUM);
    struct cursor c = cursor_of(copy);
    struct cursor end = cursor_of(slice_from(copy, summed.n));

    if (cursor_u64(&c) != HEAD_MAGIC || cursor_u64(&end) != checksum64(summed)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the head of this file of the journal is damaged, so its "
                           "records cannot be read; remove it, or restore it from a "
                           "backup");
    }
    uint32_t version = cursor_u32(&c);
    if (version != HEAD_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "a journal of version %" PRIu32 " of its format, which this "
                           "gillnet cannot read; read it with the one that wrote it",
                           version);
    }
    ret->key_id = cursor_u32(&c);
    parse_names(slice_head(c.rest, c.rest.n - SUM), ret);
    return ERR_OK;
}

enum err journal_head_parse(struct slice bytes, const char *path,
                            struct journal_names *ret, struct errinfo *reterr)
{
    if (bytes.n < JOURNAL_HEAD) {
        return errinfo_set(
            reterr, ERR_CORRUPT, path, 0,
            "this file of the journal is cut off in its head; remove it");
    }
    enum err e = parse_copy(slice_head(bytes, JOURNAL_HEAD_COPY), path, ret, reterr);
    if (e == ERR_CORRUPT) {
        e = parse_copy(slice_of(bytes.p + JOURNAL_HEAD_COPY, JOURNAL_HEAD_COPY), path,
                       ret, reterr);
    }
    return e;
}

struct slice journal_name(const struct journal_names *names, enum journal_name kind,
                          size_t number)
{
    return number < names->n[kind] ? names->v[kind][number] : SLICE_LIT("unknown");
}

int journal_number(const struct journal_names *names, enum journal_name kind,
                   struct slice name)
{
    for (size_t i = 0; i < names->n[kind]; i++) {
        if (slice_eq(names->v[kind][i], name)) {
            return (int)i;
        }
    }
    return -1;
}
