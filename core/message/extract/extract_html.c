/* extract_html - text, links and resources of an HTML part. */
#include "core/base/base64.h"
#include "core/message/extract/extract_internal.h"
#include "core/message/text/ascii.h"
#include "core/message/url/find.h"
#include "core/message/url/unwrap.h"
#include "core/message/url/unwrap_decode.h"
#include "core/message/url/url.h"

enum { LINK_MIN = 4 }; /* bytes of a value that a host may stand in: "a.co" */

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* "scheme:" at the beginning, control bytes inside do not count. */
static bool has_scheme(struct slice value)
{
    size_t i = 0;
    while (i < value.n && value.p[i] != ':') {
        char c = value.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && c != '\t' && c != '\r' && c != '\n') {
            return false;
        }
        i++;
    }
    return i > 0 && i < value.n;
}

static bool is_host_relative(struct slice value)
{
    return value.n > 2 && is_slash(value.p[0]) && is_slash(value.p[1]);
}

static struct slice trimmed(struct slice value)
{
    while (value.n > 0 && (unsigned char)value.p[0] <= ' ') {
        value = slice_from(value, 1);
    }
    return slice_trim(value);
}

static void resolve(struct extract *x, struct slice value)
{
    struct weburl url;
    /* A short link costs as much as the base is long. */
    extract_cpu_step(x, x->base.url.href.n + EXTRACT_CPU_FIND);
    if (!x->stopped && weburl_parse(x->scratch, value, &x->base.url, &url) == ERR_OK) {
        extract_link(x, url.href);
    }
    arena_reset(x->scratch);
}

/* A <base> says where the links before it lead, too. */
static void keep_early(struct extract *x, struct slice value)
{
    if (x->base.early_text == NULL) {
        x->base.early_text = arena_bytes(x->arena, EXTRACT_EARLY_BYTES);
    }
    if (x->base.early_text == NULL || x->base.nearly == EXTRACT_EARLY_MAX ||
        value.n > EXTRACT_EARLY_BYTES - x->base.nearly_text) {
        x->base.is_early_cut = true;
        return;
    }
    memcpy(x->base.early_text + x->base.nearly_text, value.p, value.n);
    x->base.early[x->base.nearly].n = (uint32_t)value.n;
    x->base.early[x->base.nearly].at = (uint32_t)x->place.found_at;
    x->base.nearly++;
    x->base.nearly_text += value.n;
}

static void relative_link(struct extract *x, struct slice value)
{
    if (value.n == 0 || value.p[0] == '#' || x->base.is_read) {
        return;
    }
    if (x->base.is_known) {
        resolve(x, value);
    } else {
        keep_early(x, value);
    }
}

static void resolve_early(struct extract *x)
{
    size_t at = x->place.found_at;
    struct slice text = slice_of(x->base.early_text, x->base.nearly_text);
    if (x->base.is_early_cut) {
        featureset_set_limit(x->set, LIMIT_FLAG(html_base));
    }
    for (size_t i = 0; i < x->base.nearly && !x->stopped; i++) {
        extract_tag_at(x, x->base.early[i].at);
        resolve(x, slice_head(text, x->base.early[i].n));
        text = slice_from(text, x->base.early[i].n);
    }
    x->base.nearly = 0;
    extract_tag_at(x, at);
}

/* Browsers go by the first one. */
static void base(struct extract *x, struct slice value)
{
    extract_trait(x, TRAIT_html_base);
    value = trimmed(value);
    if (x->base.is_known || !has_scheme(value)) {
        return;
    }
    if (value.n > EXTRACT_BASE_BYTES || x->base.count == EXTRACT_BASES_MAX) {
        featureset_set_limit(x->set, LIMIT_FLAG(html_base));
        return;
    }
    x->base.count++;
    x->base.is_known = weburl_parse(x->arena, value, NULL, &x->base.url) == ERR_OK;
    if (x->base.is_known) {
        resolve_early(x);
    }
}

/* "https:x" is a path for a browser when the base is https. */
static bool has_no_slash(struct slice value)
{
    struct slice rest = slice_from(value, slice_find(value, ':') + 1);
    return rest.n > 0 && !is_slash(rest.p[0]);
}

/* "data:text/html;base64,...": a page of its own. */
static void page_in_link(struct extract *x, struct slice value)
{
    static const char *const kinds[] = {"data:text/html", "data:image/svg",
                                        "data:application/xhtml"};
    struct slice head = slice_head(value, slice_find(value, ','));
    bool is_page = false;
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        is_page = is_page || slice_has_prefix_nocase(head, slice_str(kinds[i]));
    }
    if (is_page && slice_has_suffix_nocase(slice_trim(head), SLICE_LIT(";base64"))) {
        struct slice base64 = slice_from(value, head.n + 1);
        /* only its padding has reason to be escaped */
        extract_file_page(x, slice_head(base64, slice_find(base64, '%')));
    }
}

/* Links that are no address: a click opens what they hold. */
static void add_scheme_traits(struct extract *x, enum shown_value_kind kind,
                              struct slice value)
{
    bool is_followed = kind == SHOWN_VALUE_LINK || kind == SHOWN_VALUE_FORM ||
                       kind == SHOWN_VALUE_REFRESH;
    if (is_followed && slice_has_prefix_nocase(value, SLICE_LIT("data:"))) {
        extract_trait(x, TRAIT_link_data);
    } else if (is_followed &&
               slice_has_prefix_nocase(value, SLICE_LIT("javascript:"))) {
        extract_trait(x, TRAIT_link_script);
    } else {
        /* as most are */
    }
}

/* The value of an attribute that holds a URL. A link without a scheme that begins as a name does
 * is opened as one by some mail programs. */
static void html_link(struct extract *x, enum shown_value_kind kind, struct slice value)
{
    value = trimmed(value);
    if (has_scheme(value)) {
        add_scheme_traits(x, kind, value);
        if (!extract_try_link(x, value)) {
            /* javascript: and data: with links in them; tel:, bitcoin: */
            extract_code_url(x, value);
            extract_numbers_in(x, value);
            page_in_link(x, value);
        } else if (x->base.is_known && has_no_slash(value)) {
            resolve(x, value);
        } else {
            /* one reading */
        }
    } else if (is_host_relative(value)) {
        while (value.n > 0 && is_slash(value.p[0])) {
            value = slice_from(value, 1);
        }
        extract_link(x, value);
    } else {
        if (kind == SHOWN_VALUE_LINK && value.n >= LINK_MIN && !x->base.is_known) {
            extract_links_of_tag(x, value);
        } else if (value.n >= LINK_MIN) {
            extract_links_in_code(x, value);
        }
        relative_link(x, value);
    }
}

/* The URL of a value, by the base known at this point; in scratch. */
static bool read_target(struct extract *x, struct slice value, struct url *ret)
{
    struct weburl web;
    value = trimmed(value);
    if (!has_scheme(value) && !is_host_relative(value)) {
        if (!x->base.is_known ||
            weburl_parse(x->scratch, value, &x->base.url, &web) != ERR_OK) {
            return false;
        }
        value = web.href;
    }
    while (value.n > 0 && is_slash(value.p[0])) {
        value = slice_from(value, 1);
    }
    return url_parse(x->scratch, value, ret) == ERR_OK;
}

static void form(struct extract *x, struct slice value)
{
    struct url url;
    extract_trait(x, TRAIT_html_form);
    if (x->leaf.is_attachment) {
        extract_trait(x, TRAIT_attachment_page_form);
    }
    if (read_target(x, value, &url)) {
        if (slice_has_prefix_nocase(trimmed(value), SLICE_LIT("http:"))) {
            extract_trait(x, TRAIT_form_http);
        }
        featureset_add(x->set, FEATURE_form_host, url.host.text);
    }
    arena_reset(x->scratch);
}

/* A text like "sale!" or "www.file" is no name that somebody could own. */
static bool is_owned(const struct host *host)
{
    return host->kind != HOST_NAME || host_has_listed_suffix(host->text);
}

/* The first URL in the text of a link. */
struct shown_url {
    struct extract *x;
    bool is_found;
    struct url url;
};

static void on_shown_url(void *context, const struct find *find)
{
    struct shown_url *shown = context;
    if (find->kind == FIND_URL && !shown->is_found) {
        struct slice text = arena_copy(shown->x->scratch, find->text);
        shown->is_found = text.p != NULL &&
                          url_parse(shown->x->scratch, text, &shown->url) == ERR_OK &&
                          is_owned(&shown->url.host);
    }
}

/* Servers on the way wrap links, and the text still shows the true target. A redirector is the
 * sender's own choice. */
static bool is_put_on_the_way(enum unwrap_kind kind)
{
    return kind == UNWRAP_SAFELINKS || kind == UNWRAP_URLDEFENSE || kind == UNWRAP_NATE;
}

/* The domain that target leads to when it is not shown; empty when it is. */
static struct slice other_domain(struct extract *x, const struct shown_link *link,
                                 const struct url *target, struct slice shown)
{
    struct unwrap_target targets[UNWRAP_TARGETS_MAX];
    bool is_cut = false;
    struct slice domain = extract_domain_of(&target->host);
    if (slice_eq(domain, shown) || !unwrap_may_carry(link->target, target->host.text)) {
        return slice_eq(domain, shown) ? SLICE_NONE : domain;
    }
    size_t n = unwrap_url(x->scratch, trimmed(link->target), targets, &is_cut);
    for (size_t i = 0; i < n; i++) {
        struct url url;
        if (!is_put_on_the_way(targets[i].kind) ||
            url_parse(x->scratch, targets[i].url, &url) != ERR_OK) {
            continue;
        }
        domain = extract_domain_of(&url.host);
        if (slice_eq(domain, shown)) {
            return SLICE_NONE;
        }
    }
    return domain;
}

static void add_mismatch(struct extract *x, struct slice shown, struct slice target)
{
    char *p = arena_bytes(x->scratch, shown.n + 1 + target.n);
    if (p == NULL || target.n == 0) {
        return;
    }
    memcpy(p, shown.p, shown.n);
    p[shown.n] = '>';
    memcpy(p + shown.n + 1, target.p, target.n);
    featureset_add(x->set, FEATURE_link_mismatch, slice_of(p, shown.n + 1 + target.n));
}

/* A link that nobody sees costs its sender nothing, so it does not count. */
static void note_own_link(struct extract *x, struct slice value)
{
    struct url target;
    if (!x->facts.has_own_link_in_html && read_target(x, value, &target)) {
        extract_note_own_link(x, &target);
    }
}

static void on_link(void *context, const struct shown_link *link)
{
    struct extract *x = context;
    struct shown_url shown = {.x = x};
    struct url target;
    extract_cpu_step(x, link->text.n + link->target.n);
    if (!x->stopped && x->is_shown && slice_trim(link->text).n > 0) {
        note_own_link(x, link->target);
    }
    if (x->stopped || slice_find(link->text, '.') == link->text.n ||
        slice_eq(link->text, link->target)) {
        return;
    }
    find_in_text(link->text, FIND_IN_PROSE, on_shown_url, &shown);
    if (shown.is_found && read_target(x, link->target, &target)) {
        struct slice domain = extract_domain_of(&shown.url.host);
        extract_tag_at(x, link->at);
        add_mismatch(x, domain, other_domain(x, link, &target, domain));
    }
    arena_reset(x->scratch);
}

static void add_text_traits(struct extract *x, const struct shown_text *text)
{
    const unsigned hidden = SHOWN_NONE | SHOWN_INVISIBLE | SHOWN_TINY;
    if (text->where == SHOWN_SCRIPT) {
        extract_trait(x, TRAIT_html_script);
        if (x->leaf.is_attachment) {
            extract_trait(x, TRAIT_attachment_page_script);
        }
    } else if (text->where == SHOWN_BODY && (text->flags & hidden) != 0 &&
               slice_trim(text->text).n >= EXTRACT_HIDDEN_MIN) {
        extract_trait(x, TRAIT_text_hidden);
    } else {
        /* as a reader expects it */
    }
}

/* Without the blanks before it. */
static size_t seen_bytes(struct slice text)
{
    size_t n = 0;
    while (n < text.n && (unsigned char)text.p[n] <= ' ') {
        n++;
    }
    return text.n - n;
}

/* How much is shown, hidden and left out. */
static void note_text(struct extract *x, const struct shown_text *text)
{
    const unsigned hidden = SHOWN_NONE | SHOWN_INVISIBLE | SHOWN_TINY;
    size_t n = x->is_shown ? seen_bytes(text->text) : 0;
    if (text->where == SHOWN_COMMENT) {
        x->facts.comments += n;
    } else if (text->where == SHOWN_BODY) {
        *((text->flags & hidden) != 0 ? &x->facts.hidden : &x->facts.shown) += n;
    } else {
        /* for programs */
    }
}

static bool is_letter(char c)
{
    return ASCII_IS(c, ASCII_ALPHA);
}

/* "v<!-- x -->iagra": a reader sees one word. */
static void note_split(struct extract *x, const struct html_token *token)
{
    struct facts *f = &x->facts;
    if (token->kind == HTML_COMMENT) {
        f->is_split = is_letter(f->text_end);
        return;
    }
    char end = '\0';
    if (token->kind == HTML_TEXT && token->value.n > 0) {
        if (f->is_split && is_letter(token->value.p[0]) &&
            ++f->nsplit == EXTRACT_SPLIT_MIN) {
            extract_trait(x, TRAIT_text_split);
        }
        end = token->value.p[token->value.n - 1];
    }
    f->text_end = end;
    f->is_split = false;
}

/* Pictures, and fields that hide what is typed. */
static void note_token(struct extract *x, const struct html_token *token)
{
    if (token->kind == HTML_ATTRIBUTE && x->is_shown && x->limits.watch != NULL) {
        x->limits.watch->attribute(x->limits.watch->context, token->name);
    }
    if (token->kind == HTML_START_TAG) {
        x->facts.npictures += x->is_shown && slice_eq(token->tag, SLICE_LIT("img"));
    } else if (token->name.n == sizeof "type" - 1 &&
               slice_eq(token->tag, SLICE_LIT("input")) &&
               slice_eq(token->name, SLICE_LIT("type")) &&
               slice_eq_nocase(slice_trim(token->value), SLICE_LIT("password"))) {
        extract_trait(x, TRAIT_html_password);
    } else {
        /* nothing to note */
    }
}

/* Links that scripts give to atob: "http" in base64, and the text behind it. */
static void links_in_base64(struct extract *x, struct slice code)
{
    char plain[EXTRACT_BASE_BYTES];
    for (;;) {
        size_t n = 0;
        code = slice_from(code, slice_find_slice(code, SLICE_LIT("aHR0c")));
        if (code.n == 0 || x->stopped) {
            return;
        }
        while (n < code.n && base64_digit(code.p[n]) != BASE64_NONE) {
            n++;
        }
        if (n > sizeof(plain)) {
            featureset_set_limit(x->set, LIMIT_FLAG(url_bytes));
        }
        struct slice base64 = slice_head(code, n < sizeof(plain) ? n : sizeof(plain));
        extract_links_in_code(x, slice_of(plain, unwrap_base64(base64, plain)));
        code = slice_from(code, n);
    }
}

static void on_text(void *context, const struct shown_text *text)
{
    struct extract *x = context;
    extract_cpu_step(x, text->text.n);
    if (x->stopped) {
        return;
    }
    extract_tag_at(x, text->at);
    add_text_traits(x, text);
    note_text(x, text);
    if (text->where == SHOWN_SCRIPT || text->where == SHOWN_STYLE ||
        text->where == SHOWN_COMMENT) {
        if (text->where == SHOWN_SCRIPT) {
            extract_code_piece(x, text->text);
            links_in_base64(x, text->text);
        } else {
            extract_links_in_code(x, text->text);
        }
    } else {
        /* seen or not: another reader may show it */
        x->is_seen = x->is_shown && text->where == SHOWN_BODY && text->flags == 0;
        extract_links_of_tag(x, text->text);
        x->is_seen = false;
    }
    if (text->where == SHOWN_BODY && text->flags == 0) {
        extract_shown_text(x, text->text);
        extract_drawn_run(x, text->text);
    }
}

static void on_value(void *context, enum shown_value_kind kind, struct slice value)
{
    struct extract *x = context;
    extract_cpu_step(x, value.n);
    if (x->stopped) {
        return;
    }
    if (kind == SHOWN_VALUE_TEXT) {
        if (value.n >= LINK_MIN) {
            extract_code_value(x, value, SCRIPT_JAVASCRIPT);
        }
        return;
    }
    x->base.is_read = kind == SHOWN_VALUE_BASE;
    if (kind == SHOWN_VALUE_BASE) {
        base(x, value);
    } else if (kind == SHOWN_VALUE_FORM) {
        form(x, value);
    } else if (kind == SHOWN_VALUE_REFRESH) {
        extract_trait(x, TRAIT_html_refresh);
    } else {
        /* a link like any other */
    }
    html_link(x, kind, value);
}

static void on_html(void *context, const struct html_token *token)
{
    struct extract *x = context;
    extract_cpu_step(x, token->value.n + 16);
    if (!x->stopped) {
        extract_tag_at(x, token->at);
        if (token->kind == HTML_START_TAG) {
            extract_shown_tag(x, token->tag);
        }
        if (token->kind == HTML_ATTRIBUTE || token->kind == HTML_START_TAG) {
            note_token(x, token);
        }
        if (token->kind != HTML_ATTRIBUTE && token->kind != HTML_TAG_END) {
            note_split(x, token);
        }
        shown_take(x->shown, token);
        extract_drawn_token(x, token);
        extract_image_token(x, token);
        extract_code_token(x, token);
    }
}

bool extract_html_begin(struct extract *x)
{
    static const struct shown_events events = {
        .text = on_text, .value = on_value, .link = on_link};
    x->base.is_known = false;
    x->base.nearly = 0;
    x->base.nearly_text = 0;
    x->base.is_early_cut = false;
    if (x->shown == NULL) {
        x->shown = shown_new(x->arena, &events, x);
    }
    if (x->html == NULL) {
        x->html = html_new(x->arena, on_html, x);
    }
    return x->shown != NULL && x->html != NULL;
}
