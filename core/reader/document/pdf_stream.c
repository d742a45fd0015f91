#define ZLIB_CONST /* bytes that go in are not written to */
#include <zlib.h>

#include "core/reader/document/pdf_parts.h"

enum {
    PIECE = 64 * 1024,
    FILTERS_MAX = 8,
    /* Most bytes that come of one byte, by filter. */
    RATIO_DEFLATE = 1032,
    RATIO_LZW = 2731, /* 4096 bytes for a code of 12 bits */
    RATIO_RUN_LENGTH = 64,
    /* Bytes that a chain of filters may make at once, in memory. */
    CHAIN_MAX = 128 << 20
};

/* Filters of a stream, read before it is decoded. */
struct plan {
    unsigned nfilters;
    uint64_t ratio;  /* most bytes out for one in */
    bool is_deflate; /* one filter, without a predictor */
};

static void plan_filter(struct pdf *p, qpdf_oh filter, struct plan *plan)
{
    static const struct {
        const char *name;
        uint64_t ratio;
    } known[] = {
        {"/FlateDecode", RATIO_DEFLATE},
        {"/Fl", RATIO_DEFLATE},
        {"/LZWDecode", RATIO_LZW},
        {"/LZW", RATIO_LZW},
        {"/RunLengthDecode", RATIO_RUN_LENGTH},
        {"/RL", RATIO_RUN_LENGTH},
    };
    const char *name =
        qpdf_oh_is_name(p->objects, filter) ? qpdf_oh_get_name(p->objects, filter) : "";

    plan->nfilters++;
    plan->is_deflate = false;
    for (size_t i = 0; i < LENGTH(known); i++) {
        if (strcmp(name, known[i].name) == 0) {
            plan->ratio *= known[i].ratio;
            plan->is_deflate = plan->nfilters == 1 && known[i].ratio == RATIO_DEFLATE;
        }
    }
}

static bool has_predictor(struct pdf *p, qpdf_oh dictionary)
{
    static const char *const keys[] = {"/DecodeParms", "/DP"};

    for (size_t i = 0; i < LENGTH(keys); i++) {
        if (qpdf_oh_has_key(p->objects, dictionary, keys[i])) {
            return true;
        }
    }
    return false;
}

/* False: more filters than an honest stream has. */
static bool plan_stream(struct pdf *p, qpdf_oh stream, struct plan *plan)
{
    const qpdf_oh dictionary = qpdf_oh_get_dict(p->objects, stream);
    const qpdf_oh filter = qpdf_oh_get_key(p->objects, dictionary, "/Filter");

    *plan = (struct plan){.ratio = 1};
    if (!qpdf_oh_is_array(p->objects, filter)) {
        if (!qpdf_oh_is_null(p->objects, filter)) {
            plan_filter(p, filter, plan);
        }
    } else {
        const int n = qpdf_oh_get_array_n_items(p->objects, filter);
        if (n > FILTERS_MAX) {
            return false;
        }
        for (int i = 0; i < n; i++) {
            plan_filter(p, qpdf_oh_get_array_item(p->objects, filter, i), plan);
        }
    }
    plan->is_deflate = plan->is_deflate && !has_predictor(p, dictionary);
    return true;
}

static bool inflate_pieces(struct pdf *p, struct slice in, pdf_data_fn *data,
                           void *context)
{
    static Bytef piece[PIECE]; /* one file, one process */
    z_stream z = {.next_in = (const Bytef *)in.p, .avail_in = (uInt)in.n};
    int code = Z_OK;
    bool is_more = true;

    if (inflateInit(&z) != Z_OK) {
        return false;
    }
    while (code == Z_OK && is_more) {
        z.next_out = piece;
        z.avail_out = PIECE;
        code = inflate(&z, Z_NO_FLUSH);
        const size_t n = PIECE - z.avail_out;
        is_more = (n == 0 || data(context, slice_of(piece, n))) &&
                  found_ratio(p->found, z.total_in, z.total_out);
        if (n == 0 && code == Z_OK && z.avail_in == 0) {
            code = Z_BUF_ERROR; /* it is cut short */
        }
    }
    (void)inflateEnd(&z);
    return code == Z_STREAM_END && is_more;
}

/* Bytes of a stream at the level of decoding. They are freed by the caller. */
static bool take_stream(struct pdf *p, qpdf_oh stream,
                        enum qpdf_stream_decode_level_e level, unsigned char **ret,
                        size_t *retn)
{
    QPDF_BOOL is_filtered = QPDF_FALSE;

    *ret = NULL;
    *retn = 0;
    const QPDF_ERROR_CODE code =
        qpdf_oh_get_stream_data(p->objects, stream, level, &is_filtered, ret, retn);
    return (code & QPDF_ERRORS) == 0 && *ret != NULL;
}

bool pdf_stream(struct pdf *p, qpdf_oh stream, pdf_data_fn *data, void *context)
{
    struct plan plan;
    unsigned char *bytes = NULL;
    size_t n = 0;
    bool is_whole = false;

    if (!plan_stream(p, stream, &plan) ||
        !take_stream(p, stream, qpdf_dl_none, &bytes, &n)) {
        free(bytes);
        return false;
    }
    if (plan.is_deflate) {
        is_whole = inflate_pieces(p, slice_of(bytes, n), data, context);
    } else if (plan.nfilters == 0) {
        is_whole = data(context, slice_of(bytes, n));
    } else if (n <= CHAIN_MAX / plan.ratio) {
        free(bytes);
        if (take_stream(p, stream, qpdf_dl_specialized, &bytes, &n)) {
            is_whole = data(context, slice_of(bytes, n));
        }
    } else {
        (void)found_fact(p->found, RECORD_RATIO);
    }
    free(bytes);
    return is_whole;
}

static bool append_bytes(void *context, struct slice bytes)
{
    struct buf *b = context;

    buf_add(b, slice_head(bytes, b->max - b->n));
    return b->n < b->max && !buf_failed(b);
}

void pdf_string(struct pdf *p, qpdf_oh object, struct buf *b)
{
    size_t n = 0;

    if (qpdf_oh_is_stream(p->objects, object)) {
        (void)pdf_stream(p, object, append_bytes, b);
        return;
    }
    if (!qpdf_oh_is_string(p->objects, object)) {
        return;
    }
    struct slice s = slice_of(NULL, 0);
    s.p = qpdf_oh_get_binary_string_value(p->objects, object, &n);
    s.n = n;
    if (slice_has_prefix(s, SLICE_LIT("\xfe\xff")) ||
        slice_has_prefix(s, SLICE_LIT("\xff\xfe")) ||
        slice_has_prefix(s, SLICE_LIT("\xef\xbb\xbf"))) {
        s.p = qpdf_oh_get_binary_utf8_value(p->objects, object, &n);
        s.n = n;
    }
    buf_add(b, slice_head(s, b->max - b->n)); /* the end of a long one is cut */
}

static bool give_data(void *context, struct slice bytes)
{
    return found_file_data(context, bytes);
}

/* The name of a file specification, which may be a string itself. */
static void add_file_name(struct pdf *p, qpdf_oh specification, struct buf *b)
{
    static const char *const keys[] = {"/UF", "/F", "/Unix", "/DOS", "/Mac"};

    for (size_t i = 0; i < LENGTH(keys) && b->n == 0; i++) {
        const qpdf_oh name =
            qpdf_oh_get_key_if_dict(p->objects, specification, keys[i]);
        if (qpdf_oh_is_string(p->objects, name)) {
            size_t n = 0;
            const char *bytes = qpdf_oh_get_binary_utf8_value(p->objects, name, &n);
            char *text = g_utf8_make_valid(
                bytes, (gssize)(n < FOUND_NAME_MAX ? n : FOUND_NAME_MAX));
            buf_add(b, slice_head(slice_str(text), b->max));
            g_free(text);
        }
    }
}

/* The media type of a stream, as its dictionary tells. */
static void add_type(struct pdf *p, qpdf_oh stream, struct buf *b)
{
    const qpdf_oh dictionary = qpdf_oh_get_dict(p->objects, stream);
    const qpdf_oh type = qpdf_oh_get_key(p->objects, dictionary, "/Subtype");

    if (qpdf_oh_is_name(p->objects, type)) { /* it begins with a slash */
        buf_add(b, slice_from(slice_str(qpdf_oh_get_name(p->objects, type)), 1));
    }
}

static bool give_attached(struct pdf *p, const struct pdf_file *file, size_t number)
{
    struct buf name;
    struct buf type;

    buf_init(&name, FOUND_NAME_MAX);
    buf_init(&type, FOUND_NAME_MAX);
    add_file_name(p, file->specification, &name);
    add_type(p, file->stream, &type);
    found_at(p->found, "attachment %zu", number);
    bool is_more = found_file_begin(p->found, buf_slice(&name), buf_slice(&type));
    if (is_more) {
        const bool is_whole = pdf_stream(p, file->stream, give_data, p->found);
        is_more = found_file_end(p->found, is_whole);
    }
    buf_fini(&type);
    buf_fini(&name);
    return is_more;
}

bool pdf_files(struct pdf *p)
{
    bool is_more = true;

    for (size_t i = 0; i < p->nfiles && is_more; i++) {
        is_more = give_attached(p, &p->file[i], i + 1);
    }
    return is_more;
}
