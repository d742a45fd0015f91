#include "core/message/trait/link_trait.h"

#include "core/message/text/ascii.h"
#include "core/message/trait/look.h"
#include "core/message/url/suffix.h"

static bool is_punycode(struct slice label)
{
    return slice_has_prefix(label, SLICE_LIT("xn--"));
}

static size_t count_byte(struct slice s, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        n += s.p[i] == c;
    }
    return n;
}

void link_host_traits(struct slice host, struct slice registrable, struct traits *ret)
{
    struct slice rest = host;
    size_t before = registrable.n > 0 && registrable.n < host.n
                        ? count_byte(slice_head(host, host.n - registrable.n), '.')
                        : 0;
    bool has_idn = false;
    while (rest.p != NULL) {
        struct slice label = slice_cut(&rest, '.');
        if (is_punycode(label)) {
            has_idn = true;
            continue;
        }
        traits_note(ret, TRAIT_url_host_long, label.n >= LINK_LABEL_LONG);
        traits_note(ret, TRAIT_url_host_hyphens,
                    count_byte(label, '-') >= LINK_HYPHENS_MIN);
        traits_note(ret, TRAIT_url_host_random, look_is_random(label));
    }
    size_t registered = suffix_registered(host);
    struct slice owner = slice_from(host, host.n - registered);
    traits_note(ret, TRAIT_url_domain_random,
                registered > 0 && look_is_random(look_owner_label(owner)));
    traits_note(ret, TRAIT_url_host_labels, before >= LINK_LABELS_MIN);
    traits_note(ret, TRAIT_url_host_idn, has_idn);
    traits_note(ret, TRAIT_url_host_lookalike, has_idn && look_is_lookalike_host(host));
}

static struct slice last_component(struct slice path)
{
    size_t i = path.n;
    while (i > 0 && path.p[i - 1] != '/') {
        i--;
    }
    return slice_from(path, i);
}

static bool has_end(struct slice name, const char *const *ends, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_has_suffix_nocase(name, slice_str(ends[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_resource(struct slice name)
{
    static const char *const ends[] = {".png",   ".jpg", ".jpeg", ".gif", ".webp",
                                       ".svg",   ".css", ".ico",  ".pdf", ".woff",
                                       ".woff2", ".ttf", ".bmp",  ".mp4"};
    return has_end(name, ends, LENGTH(ends));
}

/* Folders of a site's own programs: pages for visitors lie elsewhere. */
static bool is_in_site_folder(struct slice path)
{
    static const char *const folders[] = {"/wp-content/", "/wp-includes/",
                                          "/wp-admin/",   "/.well-known/",
                                          "/cgi-sys/",    "/tmp/"};
    for (size_t i = 0; i < LENGTH(folders); i++) {
        if (slice_find_slice(path, slice_str(folders[i])) < path.n) {
            return !is_resource(path);
        }
    }
    return false;
}

/* A script that is called without a question. */
static bool is_bare_script(struct slice name, struct slice query)
{
    static const char *const ends[] = {".php", ".cgi", ".pl", ".jsp", ".asp", ".aspx"};
    return query.n == 0 && has_end(name, ends, LENGTH(ends));
}

/* What a browser saves and a system runs; scripts of pages are none. */
static bool is_program(struct slice name)
{
    static const char *const ends[] = {".exe",  ".scr",  ".pif", ".bat", ".cmd", ".vbs",
                                       ".vbe",  ".jse",  ".wsf", ".hta", ".lnk", ".iso",
                                       ".vhd",  ".vhdx", ".jar", ".ps1", ".msi", ".apk",
                                       ".appx", ".msix", ".xll", ".iqy"};
    return has_end(name, ends, LENGTH(ends));
}

/* "http://" behind the beginning, escaped or not. */
static bool has_url_inside(struct slice rest)
{
    if (slice_find_slice(rest, SLICE_LIT("http")) == rest.n) {
        return false;
    }
    return slice_find_slice(rest, SLICE_LIT("://")) < rest.n ||
           slice_find_slice(rest, SLICE_LIT("http:/")) < rest.n ||
           slice_find_slice(rest, SLICE_LIT("https:/")) < rest.n ||
           slice_find_slice(rest, SLICE_LIT("%3A%2F")) < rest.n ||
           slice_find_slice(rest, SLICE_LIT("%3a%2f")) < rest.n;
}

/* Letters and digits written as %XX, which nothing makes necessary. */
static bool is_escaped_needlessly(struct slice text)
{
    size_t found = 0;
    for (;;) {
        text = slice_from(text, slice_find(text, '%'));
        if (text.n < 3) {
            return false;
        }
        int high = hex_digit_value(text.p[1]);
        int low = hex_digit_value(text.p[2]);
        if (high >= 0 && low >= 0 &&
            ASCII_IS((char)(high * 16 + low), ASCII_ALPHA | ASCII_DIGIT)) {
            found++;
        }
        if (found >= LINK_ESCAPES_MIN) {
            return true;
        }
        text = slice_from(text, 1);
    }
}

void link_path_traits(struct slice text, const struct url *url, struct traits *ret)
{
    struct slice name = last_component(url->path);
    size_t scheme = slice_find_slice(text, SLICE_LIT("//"));
    struct slice rest = slice_from(text, scheme < text.n ? scheme + 2 : 0);
    traits_note(ret, TRAIT_url_port, url->port != 0);
    traits_note(ret, TRAIT_url_site_folder, is_in_site_folder(url->path));
    traits_note(ret, TRAIT_url_bare_script, is_bare_script(name, url->query));
    traits_note(ret, TRAIT_url_runs, is_program(name));
    traits_note(ret, TRAIT_url_nested, has_url_inside(rest));
    traits_note(ret, TRAIT_url_escaped, is_escaped_needlessly(text));
}
