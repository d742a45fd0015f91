#include "core/message/archive/magic.h"

enum { TYPES_MAX = 8 };

struct magic_row {
    struct slice bytes;
    struct magic magic;
    /* Beginnings of other media types that such a file may go by. */
    const char *also[TYPES_MAX];
};

#define BYTES(s)         \
    {                    \
        s, sizeof(s) - 1 \
    }
#define IS(kind, type)    \
    {                     \
        kind, BYTES(type) \
    }

static const struct magic_row rows[] = {
    {BYTES("%PDF-"), IS(MAGIC_PDF, "application/pdf"), {"application/x-pdf"}},
    {BYTES("PK\3\4"),
     IS(MAGIC_ZIP, "application/zip"),
     {"application/vnd.", "application/x-zip", "application/java-archive",
      "application/epub", "application/x-java", "application/msword"}},
    {BYTES("PK\5\6"), IS(MAGIC_ZIP, "application/zip"), {"application/x-zip"}},
    {BYTES("\x78\x9f\x3e\x22"),
     IS(MAGIC_TNEF, "application/ms-tnef"),
     {"application/vnd.ms-tnef"}},
    {BYTES("MZ"),
     IS(MAGIC_PROGRAM, "application/x-msdownload"),
     {"application/x-ms", "application/x-dos", "application/exe", "application/x-exe",
      "application/vnd.microsoft.portable-executable"}},
    {BYTES("\x7f"
           "ELF"),
     IS(MAGIC_PROGRAM, "application/x-executable"),
     {"application/x-elf", "application/x-sharedlib"}},
    {BYTES("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
     IS(MAGIC_OLE, "application/x-ole-storage"),
     {"application/ms", "application/vnd.", "application/x-ms", "application/excel",
      "application/powerpoint"}},
    {BYTES("Rar!\x1a\x07"),
     IS(MAGIC_ARCHIVE, "application/vnd.rar"),
     {"application/x-rar", "application/rar"}},
    {BYTES("7z\xbc\xaf\x27\x1c"),
     IS(MAGIC_ARCHIVE, "application/x-7z-compressed"),
     {0}},
    {BYTES("\x1f\x8b\x08"),
     IS(MAGIC_ARCHIVE, "application/gzip"),
     {"application/x-gzip", "application/x-tar", "application/x-tgz",
      "application/x-compressed", "application/x-gtar", "image/svg"}},
    {BYTES("MSCF\0\0\0\0"),
     IS(MAGIC_ARCHIVE, "application/vnd.ms-cab-compressed"),
     {"application/x-cab"}},
    {BYTES("L\0\0\0\x01\x14\x02\0"),
     IS(MAGIC_SHORTCUT, "application/x-ms-shortcut"),
     {0}},
    {BYTES("\x89PNG\r\n\x1a\n"), IS(MAGIC_PICTURE, "image/png"), {"image/"}},
    {BYTES("\xff\xd8\xff"), IS(MAGIC_PICTURE, "image/jpeg"), {"image/"}},
    {BYTES("BZh91AY&SY"),
     IS(MAGIC_ARCHIVE, "application/x-bzip2"),
     {"application/bzip2", "application/x-bzip", "application/x-tar"}},
    {BYTES("\xfd"
           "7zXZ\0"),
     IS(MAGIC_ARCHIVE, "application/x-xz"),
     {"application/xz", "application/x-tar"}},
    {BYTES("\x28\xb5\x2f\xfd"),
     IS(MAGIC_ARCHIVE, "application/zstd"),
     {"application/x-zstd", "application/x-tar"}},
    {BYTES("\x1f\x9d"), IS(MAGIC_ARCHIVE, "application/x-compress"), {0}},
    {BYTES("\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3"),
     IS(MAGIC_ONENOTE, "application/onenote"),
     {"application/msonenote", "application/x-onenote"}},
    {BYTES("xar!"), IS(MAGIC_ARCHIVE, "application/x-xar"), {0}},
    {BYTES("!<arch>\n"),
     IS(MAGIC_ARCHIVE, "application/x-archive"),
     {"application/vnd.debian", "application/x-deb"}},
    {BYTES("GIF87a"), IS(MAGIC_PICTURE, "image/gif"), {"image/"}},
    {BYTES("GIF89a"), IS(MAGIC_PICTURE, "image/gif"), {"image/"}},
    {BYTES("{\\rt"), /* programs take it without its "f1" */
     IS(MAGIC_RTF, "text/rtf"),
     {"application/rtf", "application/msword", "application/x-rtf", "text/richtext"}},
};

/* Marks that do not stand at the beginning. */
static const struct {
    size_t at;
    struct slice bytes;
    struct slice before; /* and at the beginning */
    struct magic_row row;
} deep_rows[] = {
    {8,
     BYTES("WEBP"),
     BYTES("RIFF"),
     {BYTES(""), IS(MAGIC_PICTURE, "image/webp"), {"image/"}}},
    {4,
     BYTES("ftyphei"),
     BYTES(""),
     {BYTES(""), IS(MAGIC_PICTURE, "image/heif"), {"image/"}}},
    {4,
     BYTES("ftyphev"),
     BYTES(""),
     {BYTES(""), IS(MAGIC_PICTURE, "image/heif"), {"image/"}}},
    {4,
     BYTES("ftypmsf1"),
     BYTES(""),
     {BYTES(""), IS(MAGIC_PICTURE, "image/heif"), {"image/"}}},
    {4,
     BYTES("ftypmif1"),
     BYTES(""),
     {BYTES(""), IS(MAGIC_PICTURE, "image/heif"), {"image/"}}},
    {4,
     BYTES("ftypavif"),
     BYTES(""),
     {BYTES(""), IS(MAGIC_PICTURE, "image/avif"), {"image/"}}},
    {6,
     BYTES("\0\0\0\0"),
     BYTES("BM"),
     {BYTES(""), IS(MAGIC_PICTURE, "image/bmp"), {"image/"}}},
    {257,
     BYTES("ustar"),
     BYTES(""),
     {BYTES(""), IS(MAGIC_ARCHIVE, "application/x-tar"), {"application/tar"}}},
    {2,
     BYTES("-lh"),
     BYTES(""),
     {BYTES(""),
      IS(MAGIC_ARCHIVE, "application/x-lzh-compressed"),
      {"application/x-l"}}},
};

/* Types that any file may be declared with. */
static const char *const silent[] = {"application/octet-stream",
                                     "application/binary",
                                     "application/force-download",
                                     "application/x-download",
                                     "application/unknown",
                                     "binary/",
                                     "message/",
                                     "multipart/"};

static bool is_html(struct slice head)
{
    static const char *const begins[] = {"<!doctype html", "<html",   "<head", "<body",
                                         "<script",        "<iframe", "<meta "};
    if (slice_has_prefix(head, SLICE_LIT("\xef\xbb\xbf"))) {
        head = slice_from(head, 3);
    }
    head = slice_trim(head);
    for (size_t i = 0; i < LENGTH(begins); i++) {
        if (slice_has_prefix_nocase(head, slice_str(begins[i]))) {
            return true;
        }
    }
    return false;
}

/* Readers of PDF take its mark within the first kilobyte. Almost no text has a '%' there. */
static bool has_pdf_mark(struct slice head)
{
    struct slice rest = slice_from(head, slice_find(head, '%'));
    return slice_find_slice(rest, SLICE_LIT("%PDF-")) < rest.n;
}

struct magic magic_of(struct slice head)
{
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (slice_has_prefix(head, rows[i].bytes)) {
            return rows[i].magic;
        }
    }
    for (size_t i = 0; i < LENGTH(deep_rows); i++) {
        if (slice_has_prefix(head, deep_rows[i].before) &&
            slice_has_prefix(slice_from(head, deep_rows[i].at), deep_rows[i].bytes)) {
            return deep_rows[i].row.magic;
        }
    }
    if (is_html(head)) {
        return (struct magic)IS(MAGIC_HTML, "text/html");
    }
    return has_pdf_mark(head) ? (struct magic)IS(MAGIC_PDF, "application/pdf")
                              : (struct magic){0};
}

static bool is_silent(struct slice type)
{
    for (size_t i = 0; i < LENGTH(silent); i++) {
        if (slice_has_prefix(type, slice_str(silent[i]))) {
            return true;
        }
    }
    return type.n == 0;
}

static bool may_go_by(const struct magic_row *row, struct slice type)
{
    for (size_t i = 0; i < TYPES_MAX && row->also[i] != NULL; i++) {
        if (slice_has_prefix(type, slice_str(row->also[i]))) {
            return true;
        }
    }
    return false;
}

bool magic_contradicts(const struct magic *found, struct slice declared)
{
    if (found->kind == MAGIC_NONE || is_silent(declared) ||
        slice_eq(found->type, declared)) {
        return false;
    }
    if (found->kind ==
        MAGIC_HTML) { /* any text may hold it; a browser that gets it as such */
        return !slice_has_prefix(declared, SLICE_LIT("text/")) &&
               !slice_has_prefix(declared, SLICE_LIT("application/xhtml"));
    }
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (slice_eq(rows[i].magic.type, found->type) &&
            may_go_by(&rows[i], declared)) {
            return false;
        }
    }
    for (size_t i = 0; i < LENGTH(deep_rows); i++) {
        if (slice_eq(deep_rows[i].row.magic.type, found->type) &&
            may_go_by(&deep_rows[i].row, declared)) {
            return false;
        }
    }
    return true;
}

bool magic_is_program(const struct magic *found)
{
    return found->kind == MAGIC_PROGRAM || found->kind == MAGIC_SHORTCUT;
}
