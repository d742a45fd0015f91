#include "core/message/feature/list_keys.h"
#include "core/message/feature/network.h"
#include "core/message/feature/normalize.h"
#include "core/message/text/fold.h"
#include "core/message/url/address.h"
#include "core/message/url/find_number.h"
#include "core/message/url/host.h"
#include "core/message/url/mailbox.h"
#include "core/message/url/safebrowsing.h"
#include "core/message/url/url.h"
#include "core/message/url/url_normal.h"
#include "core/message/url/urlkey.h"

static enum err refuse(struct errinfo *reterr, enum err code, const char *why)
{
    return errinfo_set(reterr, code, "", 0, "%s", why);
}

static enum err refuse_nomem(struct errinfo *reterr)
{
    return refuse(reterr, ERR_NOMEM, "out of memory while reading an entry");
}

static bool is_local_name(struct slice name)
{
    return slice_eq(name, SLICE_LIT("localhost")) ||
           slice_eq(name, SLICE_LIT("localhost.localdomain")) ||
           slice_has_suffix_nocase(name, SLICE_LIT(".localhost")) ||
           slice_has_suffix_nocase(name, SLICE_LIT(".local"));
}

static enum err check_name(struct slice name, struct errinfo *reterr)
{
    if (is_local_name(name)) {
        return refuse(reterr, ERR_RANGE,
                      "this name means the local machine or network");
    }
    if (slice_find(name, '.') == name.n) {
        return refuse(reterr, ERR_RANGE,
                      "a single label is no domain of the Internet; give a full name");
    }
    return ERR_OK;
}

static enum err parse_network(struct slice text, struct arena *arena,
                              struct feature_entry *ret, struct errinfo *reterr)
{
    struct slice network;
    enum err e = feature_network_parse(arena, text, &network, reterr);
    if (e == ERR_OK) {
        *ret = (struct feature_entry){.class_type = FEATURE_network, .text = network};
    }
    return e;
}

/* "*.evil.example", ".evil.example" and "@evil.example" are the domain; so is a final dot. */
static struct slice without_wildcard(struct slice text)
{
    if (slice_has_prefix(text, SLICE_LIT("*."))) {
        text = slice_from(text, 2);
    } else if (text.n > 0 && (text.p[0] == '.' || text.p[0] == '@')) {
        text = slice_from(text, 1);
    }
    return text;
}

static enum err parse_name(struct slice text, enum feature_type class_type,
                           struct arena *arena, struct feature_entry *ret,
                           struct errinfo *reterr)
{
    if (class_type == FEATURE_domain) {
        text = without_wildcard(text);
    }
    if (slice_find_slice(text, SLICE_LIT("..")) < text.n) {
        return refuse(reterr, ERR_SYNTAX, "a domain name with an empty label");
    }
    uint8_t addr[16];
    if (host_ip_parse(text, addr)) {
        return parse_network(text, arena, ret, reterr);
    }
    struct host host;
    enum err e = host_parse(arena, text, &host);
    if (e == ERR_NOMEM) {
        return refuse_nomem(reterr);
    }
    if (e != ERR_OK) {
        return refuse(reterr, ERR_SYNTAX, "not a domain name");
    }
    if (host.kind != HOST_NAME) {
        /* 2130706433 is an address to a browser; in a list it is a mistake. */
        return refuse(reterr, ERR_SYNTAX,
                      "not a domain name; write an IP address as a dotted quad");
    }
    e = check_name(host.text, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (class_type == FEATURE_domain && host_is_public_suffix(host.text)) {
        return refuse(reterr, ERR_RANGE,
                      "a public suffix, under which anybody can register; list the "
                      "domains below it, or host:NAME for exactly this host");
    }
    *ret =
        (struct feature_entry){.class_type = (uint16_t)class_type, .text = host.text};
    return ERR_OK;
}

/* The log of a list keeps the address so, and the list is rebuilt from it. */
static bool is_read_again(struct arena *arena, struct slice text)
{
    struct address again;

    return address_parse(arena, text, &again) == ERR_OK && slice_eq(again.text, text);
}

static enum err parse_address(struct slice text, struct arena *arena,
                              struct feature_entry *ret, struct errinfo *reterr)
{
    struct address address;
    enum err e = address_parse(arena, text, &address);
    if (e == ERR_NOMEM) {
        return refuse_nomem(reterr);
    }
    if (e != ERR_OK) {
        return refuse(reterr, ERR_SYNTAX, "not an e-mail address");
    }
    if (!is_read_again(arena, address.text)) {
        return refuse(reterr, ERR_SYNTAX,
                      "an e-mail address of a form that no mail has");
    }
    struct slice mailbox = mailbox_of(arena, address.text);
    if (mailbox.p == NULL) {
        return refuse_nomem(reterr);
    }
    *ret = (struct feature_entry){
        .class_type = FEATURE_address, .text = mailbox, .written = address.text};
    return ERR_OK;
}

/* The text of an entry of this type; {NULL, 0} without memory. */
static struct slice url_value(struct arena *arena, enum feature_type type,
                              const struct url *url)
{
    struct slice registrable;
    struct slice normal;
    struct safebrowsing form;
    switch ((int)type) {
    case FEATURE_url_exact:
        return url->canonical;
    case FEATURE_url_folded:
        normal = url_normal(arena, url);
        return normal.p == NULL ? normal : urlkey_folded(arena, normal);
    case FEATURE_url_template:
        registrable =
            url->host.kind == HOST_NAME ? host_registrable(url->host.text) : SLICE_NONE;
        return urlkey_template(arena, url, registrable);
    case FEATURE_url_expression:
        if (safebrowsing_of_url(arena, url, &form) != ERR_OK) {
            return SLICE_NONE;
        }
        return slice_from(form.canonical, form.scheme.n + sizeof "://" - 1);
    default:
        return url_normal(arena, url);
    }
}

static enum feature_type url_class(enum feature_type type)
{
    switch ((int)type) {
    case FEATURE_url_exact:
    case FEATURE_url_folded:
    case FEATURE_url_template:
    case FEATURE_url_expression:
        return type;
    default:
        return FEATURE_url;
    }
}

/* returl, if it is wanted, is the URL as it was read. */
static enum err parse_url(struct slice text, enum feature_type type,
                          struct arena *arena, struct feature_entry *ret,
                          struct url *returl, struct errinfo *reterr)
{
    struct url url;
    if (text.n > URL_BYTES_MAX) { /* its beginning would be other pages, too */
        return refuse(reterr, ERR_LIMIT, "a URL longer than any that is looked up");
    }
    enum err e = url_parse(arena, text, &url);
    switch ((int)e) {
    case ERR_OK:
        break;
    case ERR_NOMEM:
        return refuse_nomem(reterr);
    case ERR_UNSUPPORTED:
        return refuse(reterr, ERR_UNSUPPORTED,
                      "a URL of a scheme that is not looked up (http, https, ftp are)");
    default:
        return refuse(reterr, ERR_SYNTAX, "not a URL");
    }
    if (url.host.kind == HOST_NAME) {
        e = check_name(url.host.text, reterr);
        if (e != ERR_OK) {
            return e;
        }
    }
    struct slice value = url_value(arena, type, &url);
    if (value.p == NULL) {
        return refuse_nomem(reterr);
    }
    if (returl != NULL) {
        *returl = url;
    }
    enum feature_type class_type = url_class(type);
    /* a blank at the end, as before a fragment, would go when a rebuild reads it again */
    bool has_more = (class_type == FEATURE_url || class_type == FEATURE_url_folded) &&
                    (unsigned char)url.canonical.p[url.canonical.n - 1] > ' ';
    *ret = (struct feature_entry){.class_type = (uint16_t)class_type,
                                  .text = value,
                                  .written = has_more ? url.canonical : value};
    return ERR_OK;
}

struct feature_entry feature_entry_matched(const struct feature_entry *e,
                                           enum url_match match, struct arena *arena)
{
    struct feature_entry own = *e;
    if (e->class_type != FEATURE_url || e->written.p == NULL ||
        match == URL_MATCH_NORMAL) {
        return own;
    }
    if (match == URL_MATCH_EXACT) {
        own.class_type = FEATURE_url_exact;
        own.text = e->written;
    } else {
        own.class_type = FEATURE_url_folded;
        own.text = urlkey_folded(arena, e->text);
    }
    return own;
}

struct number_value {
    struct arena *arena;
    enum find_number_kind kind;
    struct slice text; /* the whole value: a number is it, or lies in it */
    struct slice normal;
};

static void on_number(void *context, const struct find_number *number)
{
    struct number_value *v = context;
    if (number->kind == v->kind && number->raw.n == v->text.n) {
        v->normal = arena_copy(v->arena, number->text);
    }
}

static enum err parse_number(struct slice text, enum feature_type type,
                             struct arena *arena, struct feature_entry *ret,
                             struct errinfo *reterr)
{
    struct number_value v = {
        .arena = arena,
        .kind = type == FEATURE_phone ? FIND_PHONE : FIND_WALLET,
        .text = text,
    };
    find_numbers_in_text(text, on_number, &v);
    if (v.normal.n > 0) {
        *ret = (struct feature_entry){.class_type = (uint16_t)type, .text = v.normal};
        return ERR_OK;
    }
    if (arena_is_full(arena)) {
        return refuse_nomem(reterr);
    }
    return refuse(reterr, ERR_SYNTAX,
                  type == FEATURE_phone
                      ? "not a phone number; write + and the country's code before it"
                      : "not a wallet whose checksum is right");
}

static enum err parse_value(struct slice text, enum feature_type type,
                            struct arena *arena, struct feature_entry *ret,
                            struct errinfo *reterr)
{
    struct slice value;
    bool is_sum = type == FEATURE_attachment || type == FEATURE_body ||
                  type == FEATURE_text || type == FEATURE_html_structure ||
                  type == FEATURE_link_set || type == FEATURE_url_hash;
    if (type == FEATURE_trait && !trait_is_known(text)) {
        return refuse(reterr, ERR_SYNTAX,
                      "no such trait; `gillnet extract --types` shows them");
    }
    if (type == FEATURE_phone || type == FEATURE_wallet) {
        return parse_number(text, type, arena, ret, reterr);
    }
    if (type == FEATURE_text_address) {
        enum err e = parse_address(text, arena, ret, reterr);
        ret->class_type = e == ERR_OK ? FEATURE_text_address : ret->class_type;
        return e;
    }
    if (is_sum) {
        value = feature_normal_sha256(arena, text);
    } else if (type == FEATURE_list_id || type == FEATURE_message_id_domain) {
        value = feature_normal_list_id(arena, text);
    } else if (type == FEATURE_attachment_type) {
        value = feature_normal_media_type(arena, text);
    } else if (type == FEATURE_attachment_name || type == FEATURE_archive_entry) {
        value = feature_normal_file_name(arena, text);
    } else if (type == FEATURE_subject_skeleton) {
        value = fold_subject(arena, text);
    } else {
        value = feature_normal_subject(arena, text);
    }
    if (value.n == 0) {
        if (arena_is_full(arena)) {
            return refuse_nomem(reterr);
        }
        return refuse(reterr, ERR_SYNTAX,
                      is_sum ? "not a SHA-256 checksum (64 hexadecimal digits)"
                             : "nothing is left of this value");
    }
    *ret = (struct feature_entry){.class_type = (uint16_t)type, .text = value};
    return ERR_OK;
}

/* "TYPE:VALUE": the type, and *text becomes the value. */
static enum feature_type forced_type(struct slice *text)
{
    struct slice rest = *text;
    struct slice name = slice_cut(&rest, ':');
    if (rest.p == NULL) {
        return FEATURE_NONE;
    }
    const struct feature_info *info = feature_info_by_name(name);
    if (info == NULL) {
        return FEATURE_NONE;
    }
    *text = slice_trim(rest);
    return info->type;
}

static bool is_network_look(struct slice text)
{
    struct slice rest = text;
    struct slice ip = slice_cut(&rest, '/');
    uint8_t addr[16];
    if (!host_ip_parse(ip, addr)) {
        return false;
    }
    bool digits = rest.n > 0 || rest.p == NULL;
    for (size_t i = 0; i < rest.n && digits; i++) {
        digits = rest.p[i] >= '0' && rest.p[i] <= '9';
    }
    return digits;
}

static enum feature_type type_by_look(struct slice text, struct arena *arena)
{
    if (is_network_look(text)) {
        return FEATURE_network;
    }
    if (slice_find(text, '/') < text.n || slice_find(text, '?') < text.n) {
        return FEATURE_url;
    }
    if (slice_find(text, '@') < text.n && text.p[0] != '@') {
        return FEATURE_address;
    }
    if (feature_normal_sha256(arena, text).n > 0) {
        return FEATURE_attachment;
    }
    return FEATURE_domain;
}

static enum err parse_class(struct slice text, enum feature_type type,
                            struct arena *arena, struct feature_entry *ret,
                            struct errinfo *reterr)
{
    switch ((int)type) {
    case FEATURE_address:
        return parse_address(text, arena, ret, reterr);
    case FEATURE_network:
    case FEATURE_client_net:
        return parse_network(text, arena, ret, reterr);
    case FEATURE_host:
    case FEATURE_url_redirector:
    case FEATURE_form_host:
        return parse_name(text, FEATURE_host, arena, ret, reterr);
    case FEATURE_url_target:
    case FEATURE_url_folded:
    case FEATURE_url_expression:
        return parse_url(text, type, arena, ret, NULL, reterr);
    case FEATURE_url_hash:
        return parse_value(text, type, arena, ret, reterr);
    default: /* domain, and the registrable domains of features */
        return parse_name(text, FEATURE_domain, arena, ret, reterr);
    }
}

static enum err parse(struct slice text, enum feature_type hint, struct arena *arena,
                      struct feature_entry *ret, struct url *returl,
                      struct errinfo *reterr)
{
    text = slice_trim(text);
    enum feature_type type = hint;
    if (type == FEATURE_NONE) {
        type = forced_type(&text);
    }
    if (text.n == 0) {
        return refuse(reterr, ERR_SYNTAX, "an empty entry");
    }
    if (type == FEATURE_NONE) {
        type = type_by_look(text, arena);
    }
    const struct feature_info *info = feature_info(type);
    if (info == NULL) {
        return refuse(reterr, ERR_UNSUPPORTED, "a feature type that does not exist");
    }
    if (type == FEATURE_url_exact || type == FEATURE_url_template) {
        return parse_url(text, type, arena, ret, returl, reterr);
    }
    switch (info->lookup) {
    case FEATURE_LOOKUP_VALUE:
        return parse_value(text, type, arena, ret, reterr);
    case FEATURE_LOOKUP_URL:
        return parse_url(text, type, arena, ret, returl, reterr);
    case FEATURE_LOOKUP_ADDRESS:
        return parse_address(text, arena, ret, reterr);
    case FEATURE_LOOKUP_HOST:
        return parse_name(text, FEATURE_host, arena, ret, reterr);
    case FEATURE_LOOKUP_IP:
        return parse_network(text, arena, ret, reterr);
    case FEATURE_LOOKUP_NONE:
    case FEATURE_LOOKUP_CLASS:
        return parse_class(text, type, arena, ret, reterr);
    }
    return refuse(reterr, ERR_UNSUPPORTED, "a feature type that does not exist");
}

enum err feature_entry_parse_url(struct slice text, enum feature_type hint,
                                 struct arena *arena, struct feature_entry *ret,
                                 struct url *returl, struct errinfo *reterr)
{
    *ret = (struct feature_entry){.class_type = FEATURE_NONE};
    enum err e = parse(text, hint, arena, ret, returl, reterr);
    if (e == ERR_OK && ret->written.p == NULL) {
        ret->written = ret->text;
    }
    return e;
}

enum err feature_entry_parse(struct slice text, enum feature_type hint,
                             struct arena *arena, struct feature_entry *ret,
                             struct errinfo *reterr)
{
    return feature_entry_parse_url(text, hint, arena, ret, NULL, reterr);
}

struct slice feature_entry_key(uint16_t class_type, struct slice written,
                               struct arena *arena)
{
    struct feature_entry e;
    switch (class_type) {
    case FEATURE_url:
    case FEATURE_url_folded:
    case FEATURE_address:
    case FEATURE_text_address:
        return feature_entry_parse(written, (enum feature_type)class_type, arena, &e,
                                   NULL) == ERR_OK
                   ? e.text
                   : SLICE_NONE;
    default:
        return written; /* there is one way to write it */
    }
}
