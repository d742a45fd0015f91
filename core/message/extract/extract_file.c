
#include "core/base/utf8.h"
#include "core/message/archive/pdf.h"
#include "core/message/archive/shortcut.h"
#include "core/message/archive/tnef.h"
#include "core/message/archive/zip.h"
#include "core/message/extract/extract_internal.h"
#include "core/message/extract/read_file.h"

enum { SIGNED_HEAD = 1024 }; /* bytes of S/MIME within which its content begins */

/* Of a name that says what the file is. */
static enum file_kind kind_by_name(struct slice name)
{
    static const struct {
        const char *suffix;
        enum file_kind kind;
    } rows[] = {
        {".zip", FILE_ZIP},     {".docx", FILE_ZIP},     {".xlsx", FILE_ZIP},
        {".pptx", FILE_ZIP},    {".docm", FILE_ZIP},     {".xlsm", FILE_ZIP},
        {".ppsx", FILE_ZIP},    {".odt", FILE_ZIP},      {".ods", FILE_ZIP},
        {".odp", FILE_ZIP},     {".jar", FILE_ZIP},      {".pdf", FILE_PDF},
        {".eml", FILE_MESSAGE}, {".mht", FILE_MESSAGE},  {".mhtml", FILE_MESSAGE},
        {".p7m", FILE_SIGNED},  {".lnk", FILE_SHORTCUT}, {".iso", FILE_ARCHIVE},
        {".img", FILE_ARCHIVE}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (slice_has_suffix_nocase(name, slice_str(rows[i].suffix))) {
            return rows[i].kind;
        }
    }
    return FILE_NOT;
}

/* What is written here reads itself; the rest only the reader. */
static enum file_kind kind_by_magic(const struct magic *magic)
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
    case MAGIC_OLE:
    case MAGIC_ONENOTE:
        return FILE_DOCUMENT;
    case MAGIC_PICTURE:
        return FILE_PICTURE;
    case MAGIC_RTF:
        return FILE_RTF;
    case MAGIC_ARCHIVE:
        return FILE_ARCHIVE;
    case MAGIC_NONE:
    case MAGIC_HTML:
    case MAGIC_PROGRAM:
    case MAGIC_OTHER:
        break;
    }
    return FILE_NOT;
}

/* What the declared type or the name says. A person opens a file by its name. */
static enum file_kind declared_kind(const struct extract *x, const struct leaf *leaf)
{
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
    if (kind == FILE_ARCHIVE) { /* its mark stands behind what is looked at */
        return extract_may_read(x, kind) ? kind : FILE_NOT;
    }
    /* The parser of the message has read a declared message already. */
    bool is_message = slice_has_prefix(leaf->type, SLICE_LIT("message/"));
    return kind == FILE_MESSAGE && is_message ? FILE_NOT : kind;
}

enum file_kind extract_file_kind(const struct extract *x, const struct leaf *leaf,
                                 const struct magic *magic)
{
    const enum file_kind shown = kind_by_magic(magic);

    if (leaf->is_text) {
        return FILE_NOT;
    }
    if (shown != FILE_NOT && shown < FILE_ARCHIVE) {
        return shown;
    }
    const enum file_kind declared = declared_kind(x, leaf);
    /* an archive may begin like a picture */
    bool is_hidden = shown == FILE_PICTURE && declared != FILE_NOT;
    return extract_may_read(x, shown) && !is_hidden ? shown : declared;
}

void extract_file_store(struct extract *x, struct buf *held, struct slice bytes)
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
    extract_file_store(x, &x->held, bytes);
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

void extract_file_drop(struct extract *x, struct extract_file **file)
{
    if (*file != NULL) {
        fini_held(x, &(*file)->bytes);
        free(*file);
        *file = NULL;
    }
}

void extract_file_append(struct extract *x, struct extract_file *file)
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
    bool holds_files = x->holds != FILE_PDF && x->holds != FILE_PICTURE &&
                       x->holds != FILE_RTF; /* first of all it is text */
    if (holds_files && x->leaf.depth >= x->limits.archive_depth && x->held.n > 0) {
        featureset_set_limit(x->set, LIMIT_FLAG(archive_depth));
    } else if (x->held.n > 0 && !shares_all_is_over(&x->shares) &&
               (file = calloc(1, sizeof(*file))) != NULL) {
        file->kind = x->holds;
        file->depth = x->leaf.depth;
        file->part = arena_copy(x->arena, slice_of(x->place.path, x->place.npath));
        file->name = arena_copy(x->arena, x->leaf.name);
        file->label = x->within.n > 0 ? arena_copy(x->arena, x->within) : file->name;
        file->bytes = x->held; /* taken */
        buf_init(&x->held, (size_t)x->limits.attachment_bytes);
        extract_file_append(x, file);
    }
    fini_held(x, &x->held);
}

/* Entries of a zip file, and of all that the reader unpacks. */
void extract_entry_name(struct extract *x, struct slice name, struct slice charset)
{
    if (slice_has_suffix_nocase(name, SLICE_LIT("vbaProject.bin")) ||
        slice_has_prefix_nocase(name, SLICE_LIT("xl/macrosheets/"))) {
        extract_trait(x, TRAIT_attachment_macro);
    }
    /* Those that an office program gives are the same in every document. */
    if (office_role_of(x->office, name) == OFFICE_FILE) {
        extract_add_name(x, FEATURE_archive_entry, name, charset);
    }
}

static void on_entry_name(void *context, struct slice name, struct slice charset)
{
    extract_entry_name(context, name, charset);
}

/* The leaf stands within the file at hand. */
static void place_within(struct extract *x, struct slice name)
{
    char text[EXTRACT_LABEL_MAX];
    const struct slice around = x->files->label;
    const bool is_both = name.n > 0 && around.n > 0;
    const int n = snprintf(text, sizeof(text), "%.*s%s%.*s", SLICE_ARGS(name),
                           is_both ? " in " : "", SLICE_ARGS(around));

    if (n > 0) {
        x->within =
            arena_copy(x->arena, utf8_head(slice_str(text), EXTRACT_LABEL_MAX - 4));
        featureset_set_within(x->set, x->within);
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
    place_within(x, role == OFFICE_FILE ? file->name : SLICE_NONE);
    extract_leaf_begin(x, &leaf);
}

bool extract_entry_begin(struct extract *x, const struct archive_file *file)
{
    if (file->is_encrypted) {
        extract_trait(x, TRAIT_archive_encrypted);
        x->late.is_locked = true;
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

static bool on_entry_begin(void *context, const struct archive_file *file)
{
    return extract_entry_begin(context, file);
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
        place_within(x, leaf.name);
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

/* RTF that no reader has read: links and addresses stand in its source, too. */
static void read_source(struct extract *x, struct slice bytes)
{
    struct leaf leaf = {
        .type = SLICE_LIT("text/rtf"), .is_text = true, .depth = x->files->depth};
    extract_leaf_begin(x, &leaf);
    extract_leaf_data(x, bytes);
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
        x->within = file->label;
        featureset_set_within(x->set, x->within);
        extract_document_end(x, x->stopped);
        break;
    case FILE_PDF: /* here, if no reader does */
        if (extract_may_read(x, FILE_PDF) && extract_read(x, file)) {
            break;
        }
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
    case FILE_ARCHIVE:
    case FILE_DOCUMENT:
    case FILE_PICTURE:
        (void)extract_read(x, file);
        break;
    case FILE_DRAWN:
        if (extract_may_read(x, FILE_PICTURE) && extract_read(x, file) &&
            x->late.ncodes > 0) {
            extract_trait(x, TRAIT_code_drawn);
        }
        break;
    case FILE_RTF:
        if (!extract_read(x, file)) {
            read_source(x, bytes);
        }
        break;
    case FILE_LOCKED:
        extract_read_locked(x, file);
        break;
    case FILE_TOGETHER:
        extract_read_together(x, file);
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

/* Takes the first one, which has been read, off the queue. */
static void leave_first(struct extract *x, bool may_wait)
{
    struct extract_file *file = x->files;
    x->files = file->next;
    if (x->files == NULL) {
        x->last_file = NULL;
    }
    if (!may_wait || !extract_late_keep(x, file)) {
        extract_file_drop(x, &file);
    }
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
            x->office = OFFICE_NOT;
            x->within = x->files->label;
            featureset_set_within(x->set, x->within);
            x->late.is_locked = false;
            x->late.ncodes = 0;
            read_file(x, x->files);
        }
        leave_first(x, !x->stopped);
    }
    x->within = SLICE_NONE;
    featureset_set_within(x->set, SLICE_NONE);
    extract_spend_on(x, SHARE_STRUCTURE);
    add_archive_limits(x);
}

void extract_files_drop(struct extract *x)
{
    while (x->files != NULL) {
        leave_first(x, false);
    }
    extract_late_drop(x);
    extract_file_drop(x, &x->uu_file);
    extract_file_drop(x, &x->image);
    sha256_fini(&x->uu_sum);
    buf_fini(&x->held);
}
