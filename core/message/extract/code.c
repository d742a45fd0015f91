#include "core/message/extract/code.h"

#include "core/message/extract/extract_internal.h"
#include "core/message/text/ascii.h"
#include "core/message/trait/text_trait.h"
#include "core/message/url/find.h"
#include "core/message/url/host.h"

enum {
    VALUE_MIN = 8, /* "http://a" */
    TRIMMED_MAX =
        4, /* bytes between the end of a find and of the literal it stands in */
    OPERATOR_MAX = 256, /* of blanks between a literal and an operator */
    LOCAL_SLASHES = 3   /* "file:///C:/x" is here, any other number leads to a host */
};

static bool has_suffix_of(struct slice name, const char *const *suffixes)
{
    for (; *suffixes != NULL; suffixes++) {
        if (slice_has_suffix_nocase(name, slice_str(*suffixes))) {
            return true;
        }
    }
    return false;
}

static const char *const javascript[] = {".js", ".jse", ".mjs", ".py", NULL};
static const char *const vbscript[] = {".vbs", ".vbe", ".vb", ".bas", NULL};
/* Their strings have quotes and no escapes; other unknown code is read like them. */
static const char *const shells[] = {".ps1", ".psm1", ".bat", ".cmd",     ".sh",
                                     ".url", ".lnk",  ".inf", ".desktop", NULL};

bool extract_is_script(struct slice type, struct slice name)
{
    return has_suffix_of(name, javascript) || has_suffix_of(name, vbscript) ||
           has_suffix_of(name, shells) ||
           slice_find_slice(type, SLICE_LIT("javascript")) < type.n ||
           slice_find_slice(type, SLICE_LIT("ecmascript")) < type.n ||
           slice_find_slice(type, SLICE_LIT("vbscript")) < type.n;
}

static enum script_dialect dialect_of(struct slice type, struct slice name)
{
    if (has_suffix_of(name, shells)) {
        return SCRIPT_POWERSHELL;
    }
    bool is_vb = has_suffix_of(name, vbscript) ||
                 slice_find_slice(type, SLICE_LIT("vbscript")) < type.n;
    return is_vb ? SCRIPT_VBSCRIPT : SCRIPT_JAVASCRIPT;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

/* Nothing stands between the find and the end of text that ends a URL. */
static bool reaches_end(struct slice text, struct slice raw)
{
    for (const char *p = raw.p + raw.n; p < text.p + text.n; p++) {
        if ((unsigned char)*p <= ' ' || is_quote(*p) || *p == '<' || *p == '>') {
            return false;
        }
    }
    return true;
}

/* A string that literals make. */
struct made {
    struct extract *x;
    const struct script_value *value;
};

static void on_made(void *context, const struct find *find)
{
    const struct made *made = context;
    const struct script_value *value = made->value;
    bool is_begun = value->is_cut_left && find->raw.p == value->text.p &&
                    (find->flags & FIND_NO_SCHEME) != 0;
    if (find->kind == FIND_OTHER || is_begun) {
        return;
    }
    if (!value->is_cut_right || !reaches_end(value->text, find->raw)) {
        extract_found(made->x, find);
    } else if (find->kind == FIND_URL) {
        extract_found_host(made->x, find->text);
    } else {
        /* half an address */
    }
}

static void on_value(void *context, const struct script_value *value)
{
    struct extract *x = context;
    struct made made = {x, value};
    extract_cpu_step(x, value->text.n);
    if (x->stopped || value->text.n < VALUE_MIN) {
        return;
    }
    size_t at = x->place.found_at;
    extract_tag_at(x, at);
    find_in_text(value->text, FIND_IN_CODE, on_made, &made);
    extract_unc(x, value->text);
    extract_tag_at(x, at);
}

/* Text as it stands, from `at` on; of it a find that a literal goes on behind is half a link. */
struct plain {
    struct extract *x;
    struct slice text;
    size_t at;
    bool is_whole; /* the text says where each find stands */
    enum script_dialect dialect;
};

static struct slice skip_blanks(struct slice s)
{
    size_t n = 0;
    while (n < s.n && n < OPERATOR_MAX && (unsigned char)s.p[n] <= ' ') {
        n++;
    }
    return slice_from(s, n);
}

/* Escapes of the literal that it stands in, or parts that are put in there. */
static bool is_written(const struct plain *plain, struct slice raw)
{
    return plain->dialect == SCRIPT_JAVASCRIPT
               ? slice_find(raw, '\\') < raw.n ||
                     slice_find_slice(raw, SLICE_LIT("${")) < raw.n
               : plain->dialect == SCRIPT_POWERSHELL && slice_find(raw, '$') < raw.n;
}

static bool goes_on(struct slice text, struct slice raw)
{
    struct slice rest = slice_from(text, (size_t)(raw.p - text.p) + raw.n);
    size_t n = 0;
    while (n < rest.n && n < TRIMMED_MAX && !is_quote(rest.p[n])) {
        n++;
    }
    if (n == rest.n || !is_quote(rest.p[n])) {
        return false;
    }
    rest = skip_blanks(slice_from(rest, n + 1));
    return rest.n > 0 &&
           (rest.p[0] == '+' || rest.p[0] == '&' ||
            (rest.p[0] == '.' && rest.n > 1 && ASCII_IS(rest.p[1], ASCII_ALPHA)));
}

static void on_plain(void *context, const struct find *find)
{
    const struct plain *plain = context;
    if (is_written(plain, find->raw) || goes_on(plain->text, find->raw)) {
        return;
    }
    if (plain->is_whole) {
        extract_tag_at(plain->x, plain->at + (size_t)(find->raw.p - plain->text.p));
    }
    extract_found(plain->x, find);
}

static void read_plain(struct extract *x, struct slice text, size_t at, bool is_whole)
{
    struct plain plain = {x, text, at, is_whole, x->code.dialect};
    find_in_text(text, FIND_IN_CODE, on_plain, &plain);
}

static bool open_script(struct extract *x, enum script_dialect dialect)
{
    if (x->code.script == NULL) {
        x->code.script = script_new(x->arena, on_value, x);
    }
    x->code.dialect = dialect;
    x->code.is_open = x->code.script != NULL;
    if (x->code.is_open) {
        script_begin(x->code.script, dialect);
    }
    return x->code.is_open; /* extract_finish says limit=memory */
}

void extract_code_begin(struct extract *x)
{
    (void)open_script(x, dialect_of(x->leaf.type, x->leaf.name));
}

static void note_script(struct extract *x, struct slice text)
{
    if (!traits_has(&x->traits, TRAIT_script_obfuscated) &&
        script_is_obfuscated(text)) {
        extract_trait(x, TRAIT_script_obfuscated);
    }
}

void extract_code_text(struct extract *x, struct slice text, size_t at)
{
    note_script(x, text);
    read_plain(x, text, at, true);
    extract_unc(x, text);
    if (x->code.is_open && !x->stopped) {
        extract_tag_at(x, at);
        script_feed(x->code.script, text);
    }
}

void extract_code_end(struct extract *x)
{
    if (x->code.is_open && !x->stopped) {
        script_end(x->code.script);
    }
    x->code.is_open = false;
}

void extract_code_piece(struct extract *x, struct slice text)
{
    note_script(x, text);
    if (x->code.is_open ||
        open_script(x, x->code.is_html ? x->code.dialect : SCRIPT_JAVASCRIPT)) {
        script_feed(x->code.script, text);
    }
    if (!x->stopped) {
        read_plain(x, text, x->place.found_at, false);
    }
}

static bool is_script(const struct html_token *token)
{
    return slice_eq(token->tag, SLICE_LIT("script"));
}

void extract_code_token(struct extract *x, const struct html_token *token)
{
    if (token->kind == HTML_RAW_TEXT || token->kind == HTML_TEXT || !is_script(token)) {
        return;
    }
    if (token->kind == HTML_ATTRIBUTE &&
        (slice_eq(token->name, SLICE_LIT("language")) ||
         slice_eq(token->name, SLICE_LIT("type")))) {
        x->code.is_html = true;
        x->code.dialect =
            slice_has_prefix_nocase(token->value, SLICE_LIT("vb")) ||
                    slice_eq_nocase(token->value, SLICE_LIT("text/vbscript"))
                ? SCRIPT_VBSCRIPT
                : SCRIPT_JAVASCRIPT;
    } else if (token->kind == HTML_START_TAG || token->kind == HTML_END_TAG) {
        extract_code_end(x);
        x->code.is_html = false;
    } else {
        /* other attributes */
    }
}

void extract_code_value(struct extract *x, struct slice text,
                        enum script_dialect dialect)
{
    bool has_literal =
        slice_find(text, '\'') < text.n || slice_find(text, '"') < text.n;
    x->code.dialect = dialect;
    read_plain(x, text, x->place.found_at, false);
    if (has_literal && !x->stopped && open_script(x, dialect)) {
        script_feed(x->code.script, text);
        extract_code_end(x);
    }
}

void extract_code_url(struct extract *x, struct slice url)
{
    bool is_code = slice_has_prefix_nocase(url, SLICE_LIT("javascript:")) ||
                   slice_has_prefix_nocase(url, SLICE_LIT("vbscript:"));
    bool is_vb = is_code && ASCII_LOWER(url.p[0]) == 'v';
    /* Not in scratch: that is reset for each URL. */
    char *code = is_code ? arena_bytes(x->text, url.n) : NULL;
    if (code != NULL) {
        size_t n = 0;
        for (size_t i = 0; i < url.n; i++) {
            bool is_escape = url.p[i] == '%' && i + 2 < url.n &&
                             ASCII_IS(url.p[i + 1], ASCII_HEX) &&
                             ASCII_IS(url.p[i + 2], ASCII_HEX);
            unsigned high = is_escape ? ascii_hex[(unsigned char)url.p[i + 1]] : 0;
            unsigned low = is_escape ? ascii_hex[(unsigned char)url.p[i + 2]] : 0;
            code[n] = url.p[i];
            if (is_escape) {
                code[n] = (char)(unsigned char)(high * 16 + low);
                i += 2;
            }
            n++;
        }
        url = slice_of(code, n);
    }
    extract_code_value(x, url, is_vb ? SCRIPT_VBSCRIPT : SCRIPT_JAVASCRIPT);
}

static bool is_host_char(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || c == '.' || c == '-' || c == '_';
}

static bool is_path_end(char c)
{
    return (unsigned char)c <= ' ' || is_quote(c) || c == '<' || c == '>' || c == '|' ||
           c == '*';
}

/* A name that somebody outside may own: no "\\server\share". */
static bool is_outside(struct extract *x, struct slice name)
{
    struct host host;
    bool is_it = host_parse(x->scratch, name, &host) == ERR_OK &&
                 slice_find(name, '.') < name.n &&
                 (host.kind != HOST_NAME || host_has_listed_suffix(host.text));
    arena_reset(x->scratch);
    return is_it;
}

/* text: behind the backslashes. Returns how much of it was read. */
static size_t read_unc(struct extract *x, struct slice text)
{
    char url[EXTRACT_UNC_MAX];
    size_t n = 0;
    text = slice_head(text, sizeof(url));
    while (n < text.n && is_host_char(text.p[n])) {
        n++;
    }
    struct slice name = slice_head(text, n);
    size_t to = n;
    while (n < text.n && text.p[n] != '\\' && text.p[n] != '/' &&
           !is_path_end(text.p[n])) {
        n++; /* "@SSL", "@8080" */
    }
    if (n == text.n || is_path_end(text.p[n]) || (n > to && text.p[to] != '@') ||
        !is_outside(x, name)) {
        return to;
    }
    memcpy(url, name.p, name.n);
    for (; n < text.n && !is_path_end(text.p[n]); n++) {
        char c = text.p[n];
        if (c == '\\') {
            c = '/';
        }
        if (c != '/' || url[to - 1] != '/') {
            url[to++] = c;
        }
    }
    extract_link(x, slice_of(url, to));
    return n;
}

void extract_unc(struct extract *x, struct slice text)
{
    for (;;) {
        text = slice_from(text, slice_find_slice(text, SLICE_LIT("\\\\")));
        if (text.n == 0 || x->stopped) {
            return;
        }
        while (text.n > 0 && text.p[0] == '\\') {
            text = slice_from(text, 1);
        }
        text = slice_from(text, read_unc(x, text));
    }
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

void extract_target(struct extract *x, struct slice target)
{
    target = slice_trim(target);
    if (slice_has_prefix_nocase(target, SLICE_LIT("file:"))) {
        target = slice_from(target, sizeof "file:" - 1);
        size_t n = 0;
        while (n < target.n && is_slash(target.p[n])) {
            n++;
        }
        if (n > 1 && n != LOCAL_SLASHES) {
            (void)read_unc(x, slice_from(target, n));
        }
        return;
    }
    if (!slice_has_prefix_nocase(target, SLICE_LIT("http")) ||
        !extract_try_link(x, target)) {
        x->code.dialect = SCRIPT_VBSCRIPT; /* nothing is escaped */
        read_plain(x, target, x->place.found_at, false);
    }
    extract_unc(x, target);
}
