/* text_file - files that stand in text: pages and pictures of data: links, drawn codes, uuencode */
#include "core/message/extract/extract_internal.h"
#include "core/message/extract/read_file.h"
#include "core/message/text/transfer.h"

enum {
    PAGE_STEP = 1024, /* bytes of base64 decoded at a time */
    IMAGE_LEAST = 128 /* bytes of base64: no picture of a code is shorter */
};

/* A file one layer deeper than the leaf. NULL: a limit is met. */
static struct extract_file *new_file(struct extract *x)
{
    struct extract_file *file = NULL;
    if (x->leaf.depth >= x->limits.archive_depth) {
        featureset_set_limit(x->set, LIMIT_FLAG(archive_depth));
        return NULL;
    }
    if (!archive_budget_entry(&x->archive) ||
        (file = calloc(1, sizeof(*file))) == NULL) {
        return NULL;
    }
    file->kind = FILE_PLAIN;
    file->depth = x->leaf.depth + 1;
    buf_init(&file->bytes, (size_t)x->limits.attachment_bytes);
    return file;
}

static void store_base64(struct extract *x, struct extract_file *file,
                         struct transfer *t, struct slice base64)
{
    char step[PAGE_STEP + sizeof(t->held) + 4];
    while (base64.n > 0) {
        struct slice part = slice_head(base64, PAGE_STEP);
        extract_file_store(x, &file->bytes,
                           slice_of(step, transfer_feed(t, part, step)));
        base64 = slice_from(base64, part.n);
    }
}

static void end_base64(struct extract *x, struct extract_file *file, struct transfer *t)
{
    char step[sizeof(t->held) + 4];
    extract_file_store(x, &file->bytes, slice_of(step, transfer_end(t, step)));
    extract_file_append(x, file);
}

void extract_file_page(struct extract *x, struct slice base64)
{
    struct extract_file *file = new_file(x);
    struct transfer t;
    if (file != NULL) {
        file->name = SLICE_LIT(".html");
        transfer_init(&t, TRANSFER_BASE64);
        store_base64(x, file, &t, base64);
        end_base64(x, file, &t);
    }
}

/* What follows "data:image/png;base64," is cut off *value. A page in SVG is read as a link. */
static bool is_image(struct slice *value)
{
    const struct slice kind = SLICE_LIT("data:image/");
    *value = slice_trim(*value);
    const struct slice head = slice_head(*value, slice_find(*value, ','));
    const bool is_it =
        slice_has_prefix_nocase(head, kind) &&
        !slice_has_prefix_nocase(slice_from(head, kind.n), SLICE_LIT("svg")) &&
        slice_has_suffix_nocase(slice_trim(head), SLICE_LIT(";base64"));
    *value = slice_from(*value, head.n + 1);
    return is_it;
}

void extract_image_token(struct extract *x, const struct html_token *token)
{
    struct slice value = token->value;
    if (token->kind == HTML_START_TAG) {
        extract_file_drop(x, &x->image); /* of a tag that had no end */
    }
    if (token->kind != HTML_ATTRIBUTE) {
        return;
    }
    if (x->image == NULL && extract_may_read(x, FILE_PICTURE) && is_image(&value) &&
        (token->is_cut || value.n >= IMAGE_LEAST) && (x->image = new_file(x)) != NULL) {
        x->image->label = SLICE_LIT("a picture in HTML");
        transfer_init(&x->image_code, TRANSFER_BASE64);
    }
    if (x->image == NULL) {
        return;
    }
    extract_cpu_step(x, value.n);
    store_base64(x, x->image, &x->image_code, value);
    if (!token->is_cut) {
        end_base64(x, x->image, &x->image_code);
        x->image = NULL;
    }
}

void extract_file_picture(struct extract *x, struct slice pgm)
{
    struct extract_file *file = NULL;
    if (!extract_may_read(x, FILE_PICTURE) || !archive_budget_entry(&x->archive) ||
        (file = calloc(1, sizeof(*file))) == NULL) {
        return;
    }
    file->kind = FILE_DRAWN;
    file->depth = x->leaf.depth + 1;
    file->part = arena_copy(x->arena, slice_of(x->place.path, x->place.npath));
    file->label = SLICE_LIT("drawn characters or boxes");
    buf_init(&file->bytes, (size_t)x->limits.attachment_bytes);
    extract_file_store(x, &file->bytes, pgm);
    extract_file_append(x, file);
}

/* Files in text. */
static void on_uu_name(void *context, struct slice name, struct slice charset)
{
    (void)context, (void)name, (void)charset;
}

static bool on_uu_begin(void *context, const struct archive_file *file)
{
    struct extract *x = context;
    extract_add_name(x, FEATURE_attachment_name, file->name, SLICE_NONE);
    x->uu_file = calloc(1, sizeof(*x->uu_file));
    if (x->is_over || x->uu_file == NULL || sha256_init(&x->uu_sum) != ERR_OK) {
        extract_file_drop(x, &x->uu_file);
        return false;
    }
    x->uu_file->kind = FILE_PLAIN;
    x->uu_file->depth = x->leaf.depth;
    /* the part's type says what it is where the encoding is the part's own */
    bool is_page = x->leaf.is_uuencoded &&
                   extract_text_kind(x->leaf.type, SLICE_NONE) == TEXT_HTML;
    x->uu_file->name = is_page ? SLICE_LIT(".html") : arena_copy(x->arena, file->name);
    buf_init(&x->uu_file->bytes, (size_t)x->limits.attachment_bytes);
    return true;
}

static bool on_uu_data(void *context, struct slice bytes)
{
    struct extract *x = context;
    sha256_add(&x->uu_sum, bytes);
    extract_cpu_step(x, bytes.n);
    extract_file_store(x, &x->uu_file->bytes, bytes);
    return !x->is_over;
}

static void on_uu_end(void *context, bool whole)
{
    struct extract *x = context;
    char hex[SHA256_HEX + 1];
    sha256_final_hex(&x->uu_sum, hex);
    if (!whole || x->uu_file->bytes.n == 0) {
        extract_file_drop(x, &x->uu_file);
        return;
    }
    featureset_add(x->set, FEATURE_attachment, slice_str(hex));
    extract_file_append(x, x->uu_file);
    x->uu_file = NULL;
}

void extract_uuencode_begin(struct extract *x)
{
    static const struct archive_events events = {on_uu_name, on_uu_begin, on_uu_data,
                                                 on_uu_end};
    uuencode_init(&x->uuencode, &x->archive, &events, x);
    x->finds_files = true;
}
