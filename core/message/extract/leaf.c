
#include "core/message/extract/extract_internal.h"
#include "core/message/extract/xml.h"
#include "core/message/feature/normalize.h"
#include "core/message/trait/file_trait.h"
#include "core/message/trait/text_trait.h"

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
        struct slice normal = feature_normal_file_name(x->scratch, text);
        struct traits found = {0};
        featureset_add(x->set, type, normal);
        file_traits(normal, type == FEATURE_archive_entry, &found);
        extract_traits(x, &found);
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
    x->watch = (struct leaf_watch){.is_ascii = true};
    x->watch.asks_ascii = leaf->depth == 0 && x->kind != TEXT_NOT &&
                          !leaf->is_attachment &&
                          text_needs_ascii(leaf->charset, leaf->is_base64);
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
    x->facts.nattachments += leaf->depth == 0;
    if (magic_is_program(magic)) {
        extract_trait(x, leaf->depth > 0 ? TRAIT_archive_runs : TRAIT_attachment_runs);
    }
    featureset_add(x->set, FEATURE_attachment_type, leaf->type);
    if (magic->kind != MAGIC_NONE && leaf->type.n > 0) {
        featureset_add(x->set, FEATURE_attachment_type, magic->type);
        if (magic_contradicts(magic, leaf->type)) {
            extract_trait(x, TRAIT_attachment_type_lies);
        }
    }
}

/* The storage of a program in Visual Basic is an entry of the directory of an old document, in
 * UTF-16: anywhere in the file. */
static void look_for_macro(struct extract *x, struct slice bytes)
{
    static const char storage[LEAF_MACRO_BYTES + 1] =
        "_\0V\0B\0A\0_\0P\0R\0O\0J\0E\0C\0T\0";
    const struct slice name = slice_of(storage, LEAF_MACRO_BYTES);
    struct slice joint = slice_head(bytes, LEAF_MACRO_BYTES - 1);
    memcpy(x->watch.last + x->watch.nlast, joint.p, joint.n);
    size_t n = x->watch.nlast + joint.n;
    if (slice_find_slice(slice_of(x->watch.last, n), name) < n ||
        slice_find_slice(bytes, name) < bytes.n) {
        extract_trait(x, TRAIT_attachment_macro);
    }
    struct slice all = bytes.n > joint.n ? bytes : slice_of(x->watch.last, n);
    x->watch.nlast = all.n < LEAF_MACRO_BYTES ? all.n : LEAF_MACRO_BYTES - 1;
    memmove(x->watch.last, all.p + all.n - x->watch.nlast, x->watch.nlast);
}

/* The leaf's bytes go to each reader that can make something of them. */
static void give_to_reader(struct extract *x, struct slice bytes)
{
    if (x->holds != FILE_NOT) {
        extract_file_hold(x, bytes);
    }
    if (x->watch.may_have_macro) {
        look_for_macro(x, bytes);
    }
    if (x->finds_files) {
        uuencode_feed(&x->uuencode, bytes);
    }
    if (x->kind != TEXT_NOT) {
        extract_text_data(x, bytes);
    }
}

/* A page that a browser opens, and not the mail program. */
static bool is_page(const struct leaf *leaf)
{
    return leaf->is_attachment && (leaf->depth > 0 || file_is_page(leaf->name));
}

/* Chooses the reader by the first bytes. */
static void decide(struct extract *x)
{
    struct slice head = slice_of(x->head, x->nhead);
    struct magic magic = magic_of(head);
    size_t mark = 0;
    x->is_decided = true;
    x->watch.may_have_macro = magic.kind == MAGIC_OLE;
    add_types(x, &magic);
    x->holds = extract_file_kind(x, &x->leaf, &magic);
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
    if (x->kind == TEXT_HTML && is_page(&x->leaf)) {
        extract_trait(x, TRAIT_attachment_page);
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
    if (x->watch.asks_ascii) {
        x->watch.is_ascii = x->watch.is_ascii && charset_is_ascii(bytes);
        x->watch.nbytes += bytes.n;
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

static void add_byte_traits(struct extract *x)
{
    if (x->watch.asks_ascii && !x->is_over) {
        const struct text_bytes text = {.charset = x->leaf.charset,
                                        .is_base64 = x->leaf.is_base64,
                                        .is_ascii = x->watch.is_ascii,
                                        .n = x->watch.nbytes};
        struct traits found = {0};
        text_bytes_traits(&text, &found);
        extract_traits(x, &found);
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
        add_byte_traits(x);
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
