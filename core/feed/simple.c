/*
 * simple - the formats that say one thing a line: plain, openphish, hosts, dnsmasq,
 * unbound.
 */
#include "core/feed/parser_internal.h"
#include "core/message/url/host.h"

/* "*.name" and ".name" mean what a domain entry means. */
static struct slice without_wildcard(struct slice text, uint16_t *hint)
{
    size_t cut = 0;
    if (slice_has_prefix(text, SLICE_LIT("*."))) {
        cut = 2;
    } else if (text.n > 1 && text.p[0] == '.') {
        cut = 1;
    }
    if (cut > 0 && slice_find(text, '/') == text.n) {
        *hint = *hint == FEATURE_NONE ? FEATURE_domain : *hint;
        return slice_from(text, cut);
    }
    return text;
}

/* "192.0.2.1:8080", "[2001:db8::1]:8080" and "evil.example:8080" name a server's port: a URL, not
 * the host. */
static bool is_host_and_port(struct slice text)
{
    bool is_v6 = text.n > 0 && text.p[0] == '[';
    size_t colon = is_v6 ? slice_find(text, ']') + 1 : slice_find(text, ':');
    if (colon == 0 || colon + 1 >= text.n || text.n - colon > 6 ||
        text.p[colon] != ':') {
        return false;
    }
    for (size_t i = colon + 1; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return false;
        }
    }
    return is_v6 || feed_looks_like_name(slice_head(text, colon));
}

/* Subjects and names of files take the whole line: a '#' is part of them. */
static bool is_free_text(struct slice line)
{
    return slice_has_prefix(line, SLICE_LIT("subject:")) ||
           slice_has_prefix(line, SLICE_LIT("attachment_name:")) ||
           slice_has_prefix(line, SLICE_LIT("archive_entry:"));
}

void feed_line_plain(struct feed *f, struct slice line)
{
    struct slice text =
        is_free_text(line) ? slice_trim(line) : feed_without_comment(line);
    uint16_t hint = f->options.entry_type;

    if (text.n == 0 || text.p[0] == ';') {
        feed_ignored(f);
        return;
    }
    text = without_wildcard(text, &hint);
    if (hint == FEATURE_NONE && is_host_and_port(text)) {
        hint = FEATURE_url;
    }
    feed_emit(f, text, hint);
}

/* The feed of OpenPhish: whole URLs and nothing else, so a page of words is no entry. */
void feed_line_openphish(struct feed *f, struct slice line)
{
    struct slice text = slice_trim(line);

    if (text.n == 0 || text.p[0] == '#') {
        feed_ignored(f);
    } else if (slice_find_slice(text, SLICE_LIT("://")) == text.n) {
        feed_bad(f, "this is no URL", text);
    } else {
        feed_emit(f, text, FEATURE_url);
    }
}

/* Names that a hosts file gives to this machine itself. */
static bool is_local_name(struct slice name)
{
    static const char *const names[] = {
        "localhost",
        "localhost.localdomain",
        "localhost4",
        "localhost6",
        "local",
        "broadcasthost",
        "ip6-localhost",
        "ip6-loopback",
        "ip6-localnet",
        "ip6-mcastprefix",
        "ip6-allnodes",
        "ip6-allrouters",
        "ip6-allhosts",
        "0.0.0.0",
        "localhost.localdomain4",
        "localhost6.localdomain6",
    };
    for (size_t i = 0; i < LENGTH(names); i++) {
        if (slice_eq_nocase(name, slice_str(names[i]))) {
            return true;
        }
    }
    return false;
}

void feed_line_hosts(struct feed *f, struct slice line)
{
    struct slice rest = feed_without_comment(line);
    struct slice addr = feed_word(&rest);
    uint8_t bytes[16];

    if (addr.n == 0) {
        feed_ignored(f);
        return;
    }
    if (!host_ip_parse(addr, bytes)) {
        feed_bad(f, "a line of a hosts file begins with an IP address", line);
        return;
    }
    struct slice name = feed_word(&rest);
    if (name.n == 0) {
        feed_bad(f, "there is no name after the address", line);
        return;
    }
    if (!feed_is_sink(addr)) { /* tells where a name is, not that it is blocked */
        feed_ignored(f);
        return;
    }
    while (name.n > 0 && f->failed == ERR_OK) {
        if (is_local_name(name)) {
            feed_ignored(f);
        } else {
            feed_emit(f, name, FEATURE_host);
        }
        name = feed_word(&rest);
    }
}

/* "keyword" or "keyword=..." of lower-case letters, digits and '-', as options are written. */
static bool is_option(struct slice s, char end)
{
    size_t i = 0;
    while (i < s.n && ((s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '-' ||
                       (i > 0 && s.p[i] >= '0' && s.p[i] <= '9'))) {
        i++;
    }
    return i > 0 && (i == s.n ? end == '=' : s.p[i] == end);
}

/* address=/a/b/TARGET: the names lie between the slashes. */
void feed_line_dnsmasq(struct feed *f, struct slice line)
{
    struct slice text = slice_trim(line);

    if (text.n > 0 && text.p[0] != '#' && !is_option(text, '=')) {
        feed_bad(f, "this is no dnsmasq option", line);
        return;
    }
    struct slice rest = text;
    struct slice key = slice_trim(slice_cut(&rest, '='));
    bool is_address = slice_eq(key, SLICE_LIT("address"));
    rest = slice_trim(rest);
    if ((!is_address && !slice_eq(key, SLICE_LIT("server")) &&
         !slice_eq(key, SLICE_LIT("local"))) ||
        rest.n == 0 || rest.p[0] != '/') {
        feed_ignored(f);
        return;
    }
    size_t last = rest.n;
    while (rest.p[last - 1] != '/') {
        last--;
    }
    struct slice after = slice_from(rest, last);
    struct slice target = feed_word(&after);
    bool is_null = target.n == 0 || (is_address && slice_eq(target, SLICE_LIT("#")));
    struct slice names = last > 2 ? slice_of(rest.p + 1, last - 2) : SLICE_NONE;
    if (!is_null && !(is_address && feed_is_sink(target))) {
        feed_ignored(f); /* says where to ask or where the name is */
        return;
    }
    if (names.n == 0) {
        feed_bad(f, "there is no name between the slashes", line);
    }
    while (names.n > 0 && f->failed == ERR_OK) {
        uint16_t hint = FEATURE_domain;
        feed_emit(f, without_wildcard(slice_cut(&names, '/'), &hint), hint);
    }
}

static struct slice without_quotes(struct slice s)
{
    if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0]) {
        return slice_trim(slice_of(s.p + 1, s.n - 2));
    }
    return s;
}

static void unbound_zone(struct feed *f, struct slice rest)
{
    static const char *const blocking[] = {
        "always_null",   "always_nxdomain", "always_nodata",
        "always_refuse", "always_deny",     "refuse",
        "deny",          "static",          "redirect",
        "inform_deny",   "inform_redirect",
    };
    struct slice name = without_quotes(feed_word(&rest));
    struct slice type = feed_word(&rest);
    if (!feed_is_word_of(type, blocking, LENGTH(blocking))) {
        feed_ignored(f);
        return;
    }
    feed_emit(f, name, FEATURE_domain);
}

/* local-data: "name [ttl] [IN] A 0.0.0.0" */
static void unbound_data(struct feed *f, struct slice rest)
{
    struct slice record = without_quotes(slice_trim(rest));
    struct slice name = feed_word(&record);
    struct slice word = feed_word(&record);

    while (word.n > 0 && !slice_eq_nocase(word, SLICE_LIT("A")) &&
           !slice_eq_nocase(word, SLICE_LIT("AAAA"))) {
        word = feed_word(&record);
    }
    if (word.n == 0 || !feed_is_sink(feed_word(&record))) {
        feed_ignored(f);
        return;
    }
    feed_emit(f, name, FEATURE_host);
}

void feed_line_unbound(struct feed *f, struct slice line)
{
    struct slice rest = feed_without_comment(line);
    struct slice key;

    if (rest.n == 0) {
        feed_ignored(f);
        return;
    }
    if (!is_option(rest, ':')) {
        feed_bad(f, "this is no unbound option", line);
        return;
    }
    key = slice_cut(&rest, ':');
    rest = slice_trim(rest);
    if (slice_eq(key, SLICE_LIT("local-zone"))) {
        unbound_zone(f, rest);
    } else if (slice_eq(key, SLICE_LIT("local-data"))) {
        unbound_data(f, rest);
    } else {
        feed_ignored(f);
    }
}
