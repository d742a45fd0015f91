
#include "core/message/archive/pdf.h"
#include "core/message/archive/shortcut.h"
#include "core/message/archive/tnef.h"
#include "core/message/archive/zip.h"
#include "core/message/extract/extract_internal.h"
#include "core/message/text/transfer.h"

enum {
    SIGNED_HEAD = 1024, /* bytes of S/MIME within which its content begins */
    PAGE_STEP = 1024    /* bytes of base64 decoded at a time */
};

/* A file that waits to be looked into. */
struct extract_file {
    struct extract_file *next;
    enum file_kind kind;
    unsigned depth;
    struct buf bytes;
    struct slice name; /* UTF-8; of FILE_PLAIN */
};

/* Of a name that says what the file is. */
static enum file_kind kind_by_name(struct slice name)
{
    static const struct {
        const char *suffix;
        enum file_kind kind;
    } rows[] = {
        {".zip", FILE_ZIP},     {".docx", FILE_ZIP},    {".xlsx", FILE_ZIP},
        {".pptx", FILE_ZIP},    {".docm", FILE_ZIP},    {".xlsm", FILE_ZIP},
        {".ppsx", FILE_ZIP},    {".odt", FILE_ZIP},     {".ods", FILE_ZIP},
        {".odp", FILE_ZIP},     {".jar", FILE_ZIP},     {".pdf", FILE_PDF},
        {".eml", FILE_MESSAGE}, {".mht", FILE_MESSAGE}, {".mhtml", FILE_MESSAGE},
        {".p7m", FILE_SIGNED},  {".lnk", FILE_SHORTCUT}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (slice_has_suffix_nocase(name, slice_str(rows[i].suffix))) {
            return rows[i].kind;
        }
    }
    return FILE_NOT;
}

enum file_kind extract_file_kind(const struct leaf *leaf, const struct magic *magic)
{
    switch (magic->kind) {
    case MAGIC_ZIP:
        return FILE_ZIP;
    case MAGIC_PDF:
        return FILE_PDF;
    case MAGIC_TNEF:
        return FILE_TNEF;
    case MAGIC_SHORTCUT:
        return FILE_SHORTCUT;
    case MAGIC_NONE:
    case MAGIC_HTML:
    case MAGIC_PROGRAM:
    case MAGIC_OLE:
    case MAGIC_OTHER:
        break;
    }
    if (slice_eq(leaf->type, SLICE_LIT("application/pdf"))) {
        return FILE_PDF;
    }
    if (slice_has_prefix(leaf->type, SLICE_LIT("application/zip")) ||
        slice_has_prefix(leaf->type, SLICE_LIT("application/x-zip"))) {
        return FILE_ZIP;
    }
    if (slice_eq(leaf->type, SLICE_LIT("application/pkcs7-mime")) ||
        slice_eq(leaf->type, SLICE_LIT("application/x-pkcs7-mime"))) {
        return FILE_SIGNED;
    }
    enum file_kind kind = kind_by_name(leaf->name);
    /* The parser of the message has read a declared message already. */
    bool is_message = slice_has_prefix(leaf->type, SLICE_LIT("message/"));
    return kind == FILE_MESSAGE && is_message ? FILE_NOT : kind;
}

static void hold_in(struct extract *x, struct buf *held, struct slice bytes)
{
    size_t room = (size_t)x->limits.attachment_bytes - x->held_bytes;
    if (bytes.n > room) {
        featureset_set_limit(x->set, LIMIT_FLAG(attachment_bytes));
        bytes = slice_head(bytes, room);
    }
    x->held_bytes += bytes.n;
    buf_add(held, bytes);
    if (buf_failed(held)) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
    }
}

void extract_file_hold(struct extract *x, struct slice bytes)
{
    size_t kept = x->held.n;
    hold_in(x, &x->held, bytes);
    struct slice rest = slice_from(bytes, x->held.n - kept);
    if (x->holds == FILE_PDF && rest.n > 0) { /* its links may stand as they are */
        extract_skim(x, rest);
    }
}

/* Memory that held a file is there for the next one. */
static void fini_held(struct extract *x, struct buf *held)
{
    x->held_bytes -= held->n < x->held_bytes ? held->n : x->held_bytes;
    buf_fini(held);
}

static void free_file(struct extract_file **file)
{
    if (*file != NULL) {
        buf_fini(&(*file)->bytes);
        free(*file);
        *file = NULL;
    }
}

static void append(struct extract *x, struct extract_file *file)
{
    if (x->last_file != NULL) {
        x->last_file->next = file;
    } else {
        x->files = file;
    }
    x->last_file = file;
}

void extract_file_ready(struct extract *x)
{
    struct extract_file *file = NULL;
    if (x->holds != FILE_PDF && x->leaf.depth >= x->limits.archive_depth &&
        x->held.n > 0) {
        featureset_set_limit(x->set, LIMIT_FLAG(archive_depth));
    } else if (x->held.n > 0 && !shares_all_is_over(&x->shares) &&
               (file = calloc(1, sizeof(*file))) != NULL) {
        file->kind = x->holds;
        file->depth = x->leaf.depth;
        file->bytes = x->held; /* taken */
        buf_init(&x->held, (size_t)x->limits.attachment_bytes);
        append(x, file);
    }
    fini_held(x, &x->held);
}

/* Entries of a zip file. */
static void on_entry_name(void *context, struct slice name, struct slice charset)
{
    struct extract *x = context;
    if (slice_has_suffix_nocase(name, SLICE_LIT("vbaProject.bin"))) {
        extract_trait(x, TRAIT_attachment_macro);
    }
    /* Those that an office program gives are the same in every document. */
    if (office_role_of(x->office, name) == OFFICE_FILE) {
        extract_add_name(context, FEATURE_archive_entry, name, charset);
    }
}

static void begin_inner(struct extract *x, const struct archive_file *file,
                        enum office_role role, bool is_attachment)
{
    struct leaf leaf = {.type = file->type,
                        .name = file->name,
                        .charset = file->type.n > 0 ? file->charset : SLICE_NONE,
                        .may_sniff = true,
                        .is_attachment = is_attachment,
                        .depth = x->files->depth + 1,
                        .role = role};
    extract_leaf_begin(x, &leaf);
}

static bool on_entry_begin(void *context, const struct archive_file *file)
{
    struct extract *x = context;
    if (file->is_encrypted) {
        extract_trait(x, TRAIT_archive_encrypted);
        return false;
    }
    if (x->stopped || (file->name.n > 0 && file->name.p[file->name.n - 1] == '/')) {
        return false;
    }
    enum office_role role = office_role_of(x->office, file->name);
    if (role == OFFICE_OWN) {
        return false;
    }
    begin_inner(x, file, role,
                role == OFFICE_FILE || role == OFFICE_MEDIA || role == OFFICE_DOCUMENT);
    return true;
}

static bool on_inner_data(void *context, struct slice bytes)
{
    struct extract *x = context;
    extract_leaf_data(x, bytes);
    return !x->stopped;
}

static void on_inner_end(void *context, bool whole)
{
    extract_leaf_end(context, whole);
}

/* Entries of a winmail.dat: texts without a name, and attachments. */
static void on_attached_name(void *context, struct slice name, struct slice charset)
{
    extract_add_name(context, FEATURE_attachment_name, name, charset);
}

static bool on_attached_begin(void *context, const struct archive_file *file)
{
    struct extract *x = context;
    if (x->stopped) {
        return false;
    }
    struct archive_file readable = *file;
    if (file->name.n > 0) { /* its end tells what the file is: in ASCII */
        readable.name = arena_copy(
            x->arena, charset_to_utf8(x->scratch, file->charset, file->name, NULL));
        arena_reset(x->scratch);
    }
    begin_inner(x, &readable, OFFICE_FILE, file->type.n == 0);
    return true;
}

/* Links of a PDF file. */
static void on_pdf_link(void *context, struct slice text, bool is_wide)
{
    struct extract *x = context;
    extract_cpu_step(x, text.n);
    if (x->stopped) {
        return;
    }
    struct slice charset = is_wide ? SLICE_LIT("utf-16be") : SLICE_NONE;
    struct slice link = charset_to_utf8(x->text, charset, text, NULL);
    if (!extract_try_link(x, link)) {
        extract_links_in_code(x, link); /* "www.", mailto: */
    }
    arena_reset(x->text);
}

/* A string of a shortcut: a command for a shell, or a path. */
static void on_string(void *context, struct slice text)
{
    struct extract *x = context;
    extract_cpu_step(x, text.n);
    if (!x->stopped) {
        extract_code_value(x, text, SCRIPT_POWERSHELL);
        extract_unc(x, text);
    }
}

/* A message in a file: its parts are read like ours, its fields like those of an embedded
 * message. */
static void on_inner_header(void *context, const struct mail_part *part,
                            struct slice name, struct slice value)
{
    struct extract *x = context;
    (void)part;
    extract_cpu_step(x, value.n);
    if (!x->stopped) {
        extract_links_of_field(x, name, value);
    }
}

static void on_inner_part_begin(void *context, const struct mail_part *part)
{
    struct extract *x = context;
    extract_add_part_names(x, part);
    if (!part->is_container) {
        struct leaf leaf = extract_leaf_of(part);
        leaf.depth = x->files->depth + 1;
        extract_leaf_begin(x, &leaf);
    }
}

static void on_inner_part_data(void *context, const struct mail_part *part,
                               struct slice bytes)
{
    (void)part;
    extract_leaf_data(context, bytes);
}

static void on_inner_part_end(void *context, const struct mail_part *part)
{
    if (!part->is_container) {
        extract_leaf_end(context, !part->is_cut);
    }
}

static void on_inner_body(void *context, struct slice bytes)
{
    (void)context, (void)bytes;
}

static void read_message(struct extract *x, struct slice bytes)
{
    static const struct mail_events events = {.header = on_inner_header,
                                              .part_begin = on_inner_part_begin,
                                              .part_data = on_inner_part_data,
                                              .part_end = on_inner_part_end,
                                              .is_text = extract_is_text,
                                              .body = on_inner_body};
    struct arena *arena = arena_new(EXTRACT_SCRATCH);
    struct mail *m =
        arena != NULL ? mail_new(arena, &x->limits.mail, &events, x) : NULL;
    if (m == NULL) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
    } else {
        mail_raw(m, bytes);
        mail_end(m);
        extract_add_mail_limits(x, mail_limits_met(m));
    }
    arena_free(&arena);
}

/* An entity that S/MIME signs without encryption: mail programs show it. The bytes between its
 * blocks are no letters of base64. */
static void read_signed(struct extract *x, struct slice bytes)
{
    struct slice field = SLICE_LIT("Content-Type:");
    struct slice head = slice_head(bytes, SIGNED_HEAD);
    while (head.n >= field.n && !slice_has_prefix_nocase(head, field)) {
        head = slice_from(head, 1);
    }
    if (head.n >= field.n) {
        read_message(x, slice_from(bytes, (size_t)(head.p - bytes.p)));
    }
}

/* A file that was found in text: everything but its checksum, which was taken as it passed. */
static void read_plain(struct extract *x, const struct extract_file *file)
{
    struct leaf leaf = {.name = file->name, .may_sniff = true, .depth = file->depth};
    extract_leaf_begin(x, &leaf);
    extract_leaf_data(x, buf_slice(&file->bytes));
    extract_leaf_end(x, true);
}

static void read_file(struct extract *x, const struct extract_file *file)
{
    static const struct archive_events zip_events = {on_entry_name, on_entry_begin,
                                                     on_inner_data, on_inner_end};
    static const struct archive_events tnef_events = {
        on_attached_name, on_attached_begin, on_inner_data, on_inner_end};
    struct slice bytes = buf_slice(&file->bytes);
    switch (file->kind) {
    case FILE_ZIP:
        x->office = office_kind_of(bytes);
        zip_read(bytes, &x->archive, &zip_events, x);
        break;
    case FILE_PDF:
        if (pdf_read(bytes, &x->archive, on_pdf_link, x)) {
            extract_trait(x, TRAIT_pdf_encrypted);
        }
        extract_cpu_step(x, bytes.n);
        break;
    case FILE_SHORTCUT:
        shortcut_read(bytes, on_string, x);
        break;
    case FILE_TNEF:
        tnef_read(bytes, &x->archive, &tnef_events, x);
        break;
    case FILE_MESSAGE:
        read_message(x, bytes);
        break;
    case FILE_SIGNED:
        read_signed(x, bytes);
        break;
    case FILE_PLAIN:
        read_plain(x, file);
        break;
    case FILE_NOT:
        break;
    }
}

static void add_archive_limits(struct extract *x)
{
    static const struct {
        unsigned archive;
        unsigned flag;
    } rows[] = {{ARCHIVE_LIMIT_ENTRIES, LIMIT_FLAG(archive_entries)},
                {ARCHIVE_LIMIT_RATIO, LIMIT_FLAG(archive_ratio)},
                {ARCHIVE_LIMIT_INFLATED, LIMIT_FLAG(archive_bytes)}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if ((x->archive.limits_met & rows[i].archive) != 0) {
            featureset_set_limit(x->set, rows[i].flag);
        }
    }
}

static void drop_first(struct extract *x)
{
    struct extract_file *file = x->files;
    x->files = file->next;
    if (x->files == NULL) {
        x->last_file = NULL;
    }
    fini_held(x, &file->bytes);
    free_file(&file);
}

/* The files of a file are appended while it is read; depth and budgets end this. */
void extract_files_run(struct extract *x)
{
    if (x->files == NULL) {
        add_archive_limits(x); /* of files in text, none of which was whole */
        return;
    }
    featureset_set_offset(x->set, 0);
    while (x->files != NULL) {
        extract_spend_on(x, SHARE_FILES);
        if (!x->stopped) {
            read_file(x, x->files);
        }
        drop_first(x);
    }
    extract_spend_on(x, SHARE_STRUCTURE);
    add_archive_limits(x);
}

void extract_files_drop(struct extract *x)
{
    while (x->files != NULL) {
        drop_first(x);
    }
    free_file(&x->uu_file);
    sha256_fini(&x->uu_sum);
    buf_fini(&x->held);
}

void extract_file_page(struct extract *x, struct slice base64)
{
    struct extract_file *file = NULL;
    struct transfer t;
    char step[PAGE_STEP + sizeof(t.held) + 4];
    if (x->leaf.depth >= x->limits.archive_depth) {
        featureset_set_limit(x->set, LIMIT_FLAG(archive_depth));
        return;
    }
    if (!archive_budget_entry(&x->archive) ||
        (file = calloc(1, sizeof(*file))) == NULL) {
        return;
    }
    file->kind = FILE_PLAIN;
    file->depth = x->leaf.depth + 1;
    file->name = SLICE_LIT(".html");
    buf_init(&file->bytes, (size_t)x->limits.attachment_bytes);
    transfer_init(&t, TRANSFER_BASE64);
    while (base64.n > 0) {
        struct slice part = slice_head(base64, PAGE_STEP);
        hold_in(x, &file->bytes, slice_of(step, transfer_feed(&t, part, step)));
        base64 = slice_from(base64, part.n);
    }
    hold_in(x, &file->bytes, slice_of(step, transfer_end(&t, step)));
    append(x, file);
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
        free_file(&x->uu_file);
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
    hold_in(x, &x->uu_file->bytes, bytes);
    return !x->is_over;
}

static void on_uu_end(void *context, bool whole)
{
    struct extract *x = context;
    char hex[SHA256_HEX + 1];
    sha256_final_hex(&x->uu_sum, hex);
    if (!whole || x->uu_file->bytes.n == 0) {
        fini_held(x, &x->uu_file->bytes);
        free_file(&x->uu_file);
        return;
    }
    featureset_add(x->set, FEATURE_attachment, slice_str(hex));
    append(x, x->uu_file);
    x->uu_file = NULL;
}

void extract_uuencode_begin(struct extract *x)
{
    static const struct archive_events events = {on_uu_name, on_uu_begin, on_uu_data,
                                                 on_uu_end};
    uuencode_init(&x->uuencode, &x->archive, &events, x);
    x->finds_files = true;
}
