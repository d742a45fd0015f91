
#include "core/message/extract/extract_internal.h"
#include "core/message/extract/xml.h"
#include "core/message/feature/normalize.h"

static bool has_any_suffix(struct slice name, const char *const *suffixes)
{
    for (; *suffixes != NULL; suffixes++) {
        if (slice_has_suffix_nocase(name, slice_str(*suffixes))) {
            return true;
        }
    }
    return false;
}

enum text_kind extract_text_kind(struct slice type, struct slice name)
{
    static const char *const html_suffixes[] = {".htm",    ".html", ".shtml", ".xhtml",
                                                ".svg",    ".hta",  ".xht",   ".wsf",
                                                ".webloc", ".sct",  NULL};
    static const char *const text_suffixes[] = {".txt", ".ics", ".vcf",
                                                ".csv", ".rtf", NULL};
    if (slice_eq(type, SLICE_LIT("text/html")) ||
        slice_eq(type, SLICE_LIT("application/xhtml+xml")) ||
        slice_eq(type, SLICE_LIT("image/svg+xml")) ||
        has_any_suffix(name, html_suffixes)) {
        return TEXT_HTML;
    }
    if (extract_is_xml(name)) {
        return TEXT_XML;
    }
    if (extract_is_script(type, name)) {
        return TEXT_SCRIPT;
    }
    if (slice_has_prefix(type, SLICE_LIT("text/")) ||
        slice_has_prefix(type, SLICE_LIT("message/")) ||
        slice_has_prefix(type, SLICE_LIT("multipart/")) ||
        slice_eq(type, SLICE_LIT("application/ics")) ||
        slice_eq(type, SLICE_LIT("application/rtf")) ||
        has_any_suffix(name, text_suffixes)) {
        return TEXT_PLAIN;
    }
    return TEXT_NOT;
}

void extract_add_name(struct extract *x, enum feature_type type, struct slice name,
                      struct slice charset)
{
    if (name.n > 0) {
        struct slice text = charset_to_utf8(x->scratch, charset, name, NULL);
        featureset_add(x->set, type, feature_normal_file_name(x->scratch, text));
        arena_reset(x->scratch);
    }
}

/* A picture may be of any kind: what it is shows in its beginning. */
static enum text_kind office_text_kind(enum office_role role)
{
    return role == OFFICE_MEDIA ? TEXT_NOT : TEXT_XML;
}

void extract_leaf_begin(struct extract *x, const struct leaf *leaf)
{
    x->leaf = *leaf;
    x->kind = leaf->role == OFFICE_FILE ? extract_text_kind(leaf->type, leaf->name)
                                        : office_text_kind(leaf->role);
    x->holds = FILE_NOT;
    x->has_data = false;
    x->is_decided = false;
    x->nhead = 0;
    x->finds_files = false;
    x->is_attachment = leaf->is_attachment && sha256_init(&x->part_sum) == ERR_OK;
    buf_init(&x->held, (size_t)x->limits.attachment_bytes);
    extract_spend_on(x,
                     leaf->depth > 0 || leaf->is_attachment ? SHARE_FILES : SHARE_TEXT);
}

static void add_types(struct extract *x, const struct magic *magic)
{
    const struct leaf *leaf = &x->leaf;
    if (!leaf->is_attachment) {
        return;
    }
    featureset_add(x->set, FEATURE_attachment_type, leaf->type);
    if (magic->kind != MAGIC_NONE && leaf->type.n > 0) {
        featureset_add(x->set, FEATURE_attachment_type, magic->type);
        if (magic_contradicts(magic, leaf->type)) {
            extract_trait(x, TRAIT_attachment_type_lies);
        }
    }
}

/* The leaf's bytes go to each reader that can make something of them. */
static void give_to_reader(struct extract *x, struct slice bytes)
{
    if (x->holds != FILE_NOT) {
        extract_file_hold(x, bytes);
    }
    if (x->finds_files) {
        uuencode_feed(&x->uuencode, bytes);
    }
    if (x->kind != TEXT_NOT) {
        extract_text_data(x, bytes);
    }
}

/* Chooses the reader by the first bytes. */
static void decide(struct extract *x)
{
    struct slice head = slice_of(x->head, x->nhead);
    struct magic magic = magic_of(head);
    size_t mark = 0;
    x->is_decided = true;
    add_types(x, &magic);
    x->holds = extract_file_kind(&x->leaf, &magic);
    if (x->holds != FILE_NOT && x->holds != FILE_MESSAGE) {
        x->kind = TEXT_NOT;
    } else if (magic.kind == MAGIC_HTML && (x->kind == TEXT_NOT || x->leaf.may_sniff)) {
        x->kind = TEXT_HTML;
    }
    if (x->kind == TEXT_PLAIN || x->leaf.is_uuencoded) {
        extract_uuencode_begin(x);
    }
    if (x->kind != TEXT_NOT && !extract_text_begin(x, head, &mark)) {
        x->kind = TEXT_NOT; /* extract_finish says limit=memory */
    }
    if (x->kind == TEXT_NOT && !x->finds_files && x->leaf.depth == 0) {
        extract_spend_on(x, SHARE_STRUCTURE); /* only its checksum is made */
    }
    if (head.n > mark) {
        give_to_reader(x, slice_from(head, mark));
    }
}

void extract_leaf_data(struct extract *x, struct slice bytes)
{
    x->has_data = true;
    if (x->is_over) {
        return;
    }
    if (x->is_attachment) {
        sha256_add(&x->part_sum, bytes);
        extract_cpu_step(x, bytes.n);
    }
    if (!x->is_decided) {
        struct slice part = slice_head(bytes, sizeof(x->head) - x->nhead);
        memcpy(x->head + x->nhead, part.p, part.n);
        x->nhead += part.n;
        bytes = slice_from(bytes, part.n);
        if (x->nhead < sizeof(x->head)) {
            return;
        }
        decide(x);
    }
    if (bytes.n > 0) {
        give_to_reader(x, bytes);
    }
}

static void end_attachment(struct extract *x, bool whole)
{
    char hex[SHA256_HEX + 1];
    sha256_final_hex(&x->part_sum, hex);
    featureset_set_offset(x->set, 0);
    /* An empty attachment, one that a limit cut, and a sheet without text (the same in many
     * documents) have a sum that identifies nothing. */
    bool is_empty = x->leaf.role == OFFICE_DOCUMENT && !extract_xml_has_text(x);
    if (x->has_data && whole && !is_empty && !x->is_over) {
        featureset_add(x->set, FEATURE_attachment, slice_str(hex));
    }
}

void extract_leaf_end(struct extract *x, bool whole)
{
    if (!x->is_over && !x->is_decided) {
        decide(x);
    }
    if (!x->is_over && x->finds_files) {
        uuencode_end(&x->uuencode);
    }
    if (x->kind != TEXT_NOT) {
        extract_text_end(x);
    }
    if (x->is_attachment) {
        end_attachment(x, whole);
    }
    extract_file_ready(x);
    x->kind = TEXT_NOT;
    x->holds = FILE_NOT;
    x->is_attachment = false;
    x->finds_files = false;
    x->is_decided = true;
    extract_spend_on(x, x->leaf.depth > 0 ? SHARE_FILES : SHARE_STRUCTURE);
}
