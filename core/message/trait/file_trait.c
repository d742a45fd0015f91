#include "core/message/trait/file_trait.h"

/* By the end of the name, without its dot. */
static const char *const run_ends[] = {"exe",        "scr",       "com",
                                       "pif",        "bat",       "cmd",
                                       "vbs",        "vbe",       "js",
                                       "jse",        "wsf",       "wsh",
                                       "hta",        "lnk",       "iso",
                                       "img",        "vhd",       "vhdx",
                                       "jar",        "ps1",       "psm1",
                                       "msi",        "msp",       "mst",
                                       "cpl",        "reg",       "chm",
                                       "one",        "xll",       "appx",
                                       "msix",       "inf",       "scf",
                                       "sct",        "dll",       "gadget",
                                       "apk",        "ade",       "adp",
                                       "mde",        "iqy",       "slk",
                                       "url",        "udl",       "jnlp",
                                       "diagcab",    "desktop",   "application",
                                       "library-ms", "search-ms", "settingcontent-ms",
                                       "appref-ms",  "msc",       "rdp"};
static const char *const macro_ends[] = {"docm", "dotm", "xlsm", "xltm", "xlam",
                                         "pptm", "potm", "ppam", "ppsm", "sldm"};
static const char *const page_ends[] = {"htm", "html", "shtml", "xhtml",
                                        "xht", "mht",  "mhtml", "svg"};
/* Files that people send and expect. */
static const char *const document_ends[] = {
    "pdf", "doc", "docx", "xls",  "xlsx", "ppt", "pptx", "odt", "ods",  "rtf",
    "txt", "csv", "jpg",  "jpeg", "png",  "gif", "bmp",  "tif", "tiff", "mp3",
    "mp4", "wav", "avi",  "mov",  "zip",  "eml", "htm",  "html"};

#define IS_ONE(end, table) (name_index((end), (table), LENGTH(table)) >= 0)

/* The text behind the last dot; *retrest: the name before it. */
static struct slice end_of(struct slice name, struct slice *retrest)
{
    size_t i = name.n;
    while (i > 0 && name.p[i - 1] != '.') {
        i--;
    }
    *retrest = slice_head(name, i > 0 ? i - 1 : 0);
    return i > 0 ? slice_trim(slice_from(name, i)) : SLICE_NONE;
}

bool file_is_run(struct slice name)
{
    struct slice rest;
    return IS_ONE(end_of(name, &rest), run_ends);
}

bool file_is_page(struct slice name)
{
    struct slice rest;
    return IS_ONE(end_of(name, &rest), page_ends);
}

/* "invoice.pdf.exe", "photo.jpg     .scr"; or an override that shows the end elsewhere. */
static bool hides_its_end(struct slice name)
{
    struct slice rest;
    struct slice end = end_of(name, &rest);
    struct slice before = end_of(slice_trim(rest), &rest);
    bool is_active = IS_ONE(end, run_ends) || IS_ONE(end, page_ends);
    return (is_active && rest.n > 0 && !slice_eq(end, before) &&
            IS_ONE(before, document_ends)) ||
           slice_find_slice(name, SLICE_LIT("\xe2\x80\xae")) < name.n;
}

void file_traits(struct slice name, bool in_archive, struct traits *ret)
{
    struct slice rest;
    traits_note(ret, in_archive ? TRAIT_archive_runs : TRAIT_attachment_runs,
                file_is_run(name));
    traits_note(ret, TRAIT_attachment_double_ext, hides_its_end(name));
    traits_note(ret, TRAIT_attachment_macro, IS_ONE(end_of(name, &rest), macro_ends));
}
