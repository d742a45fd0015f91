#include "core/report/report_read.h"

#include "core/base/case_id.h"
#include "core/learn/vector.h"

enum { PIECE = 64 * 1024, NAME_ROOM = 4096 };

static struct slice value_of(const struct featureset *set, enum feature_type type)
{
    const struct feature *f = featureset_first(set, type);

    return f != NULL ? f->text : SLICE_NONE;
}

/* Copies of one mailing differ in their fields: a reporter's copy is known by what it shows. */
static uint64_t name_message(const struct report_naming *how,
                             const struct featureset *set)
{
    const enum feature_type types[] = {FEATURE_body, FEATURE_subject, FEATURE_from};
    char bytes[NAME_ROOM];
    struct digest digest;
    size_t n = 0;

    for (size_t i = 0; i < LENGTH(types); i++) {
        struct slice text =
            slice_head(value_of(set, types[i]), NAME_ROOM / LENGTH(types) - 1);
        if (text.n > 0) {
            memcpy(bytes + n, text.p, text.n);
        }
        n += text.n;
        bytes[n++] = '\0';
    }
    digest_make(&how->keys->ring[0], FEATURE_NONE, slice_of(bytes, n), &digest);
    return report_digest(&digest);
}

/* Without memory, or longer than a report may have it, the message teaches nothing. */
static void encode(struct vector_reader *reader, const struct extract *x,
                   const struct featureset *set, struct arena *arena,
                   struct report *ret)
{
    struct vector v;
    struct buf bytes;

    buf_init(&bytes, REPORT_VECTOR_MAX);
    if (vector_reader_finish(reader, x, set, &v) && vector_encode(&v, &bytes)) {
        ret->vector = arena_copy(arena, buf_slice(&bytes));
    }
    buf_fini(&bytes);
}

enum err report_read(const struct report_naming *how, struct arena *arena,
                     struct extract_limits *limits, struct slice bytes,
                     struct report *ret, struct featureset **retfeatures)
{
    struct vector_reader *reader = vector_reader_new(arena, limits);
    struct extract *x = extract_new(arena, limits, how->config->trusted_authserv.v,
                                    how->config->trusted_authserv.n);

    if (x == NULL) {
        return ERR_NOMEM;
    }
    for (struct slice rest = bytes; rest.n > 0; rest = slice_from(rest, PIECE)) {
        extract_raw(x, slice_head(rest, PIECE));
    }
    struct featureset *set = extract_finish(x);

    if (set != NULL && reader != NULL) {
        encode(reader, x, set, arena, ret);
    }
    extract_drop(x);
    if (set == NULL) {
        return ERR_NOMEM;
    }
    report_add_features(how, set, ret);
    ret->message = name_message(how, set);
    *retfeatures = set;
    return ERR_OK;
}

struct slice report_case_of(struct slice message)
{
    const struct slice name = SLICE_LIT("X-Gillnet-Status:");
    const struct slice key = SLICE_LIT("case=");

    while (message.p != NULL) {
        struct slice line = slice_cut(&message, '\n');
        if (slice_trim(line).n == 0) {
            break;
        }
        if (slice_has_prefix_nocase(line, name)) {
            struct slice id = slice_from(line, slice_find_slice(line, key) + key.n);
            return slice_head(id, CASE_ID_CHARS);
        }
    }
    return SLICE_NONE;
}
