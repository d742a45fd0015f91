/*
 * sniff - which format a file is in, by what its first lines look like.
 */

#include "core/feed/parser_internal.h"
#include "core/message/url/host.h"

/* Lines that say something; more do not make the guess better. */
enum { SNIFF_LINES = 400 };

/* How many of the first lines look like each format. */
struct score {
    size_t lines; /* without comments and blank ones */
    size_t plain;
    size_t hosts;
    size_t dnsmasq;
    size_t unbound;
    size_t adblock; /* only what no other format has */
    size_t rpz;     /* zone records and directives */
    size_t rpz_rules;
    size_t drop;    /* "CIDR ;" */
    size_t rbldnsd; /* directives and values that only it has */
    size_t csv;     /* lines with as many separators as the first */
    bool has_csv_header;
    enum feed_format native; /* by the header; FEED_AUTO: no known header */
    bool has_adblock_comment;
    char separator;
    size_t nseparators;
};

static bool is_web_page(struct slice s)
{
    static const char *const tags[] = {"<!doctype", "<html", "<head",  "<body",
                                       "<?xml",     "<!--",  "<script"};
    s = slice_trim(s);
    for (size_t i = 0; i < LENGTH(tags); i++) {
        if (slice_has_prefix_nocase(s, slice_str(tags[i]))) {
            return true;
        }
    }
    return false;
}

const char *feed_refusal(struct slice beginning)
{
    struct slice s = beginning;

    if (slice_has_prefix(s, SLICE_LIT("\xff\xfe")) ||
        slice_has_prefix(s, SLICE_LIT("\xfe\xff"))) {
        return "this is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8";
    }
    if (slice_has_prefix(s, SLICE_LIT("\x1f\x8b")) ||
        slice_has_prefix(s, SLICE_LIT("\xfd"
                                      "7zXZ")) ||
        slice_has_prefix(s, SLICE_LIT("BZh9")) ||
        slice_has_prefix(s, SLICE_LIT("PK\x03\x04")) ||
        slice_has_prefix(s, SLICE_LIT("\x28\xb5\x2f\xfd"))) {
        return "the file is compressed; unpack it first";
    }
    if (is_web_page(s)) {
        return "this looks like a web page, not a list; was the address right?";
    }
    struct slice head = slice_head(s, 4096);
    if (head.n > 0 && memchr(head.p, '\0', head.n) != NULL) {
        return "this is a binary file, not a list";
    }
    return NULL;
}

static bool starts_with_any(struct slice s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_has_prefix_nocase(s, slice_str(words[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_adblock_rule(struct slice text)
{
    return slice_has_prefix(text, SLICE_LIT("||")) ||
           slice_has_prefix(text, SLICE_LIT("@@")) ||
           slice_find_slice(text, SLICE_LIT("##")) < text.n ||
           slice_find_slice(text, SLICE_LIT("#@#")) < text.n;
}

static bool is_dnsmasq_option(struct slice text)
{
    static const char *const options[] = {"address=/", "server=/",
                                          "local=/",   "ipset=/",
                                          "nftset=/",  "rebind-domain-ok=/"};
    return starts_with_any(text, options, LENGTH(options));
}

static bool is_unbound_option(struct slice text)
{
    static const char *const options[] = {
        "local-zone:", "local-data:", "server:", "local-data-ptr:", "local-zone-tag:"};
    return starts_with_any(text, options, LENGTH(options));
}

static bool is_hosts_line(struct slice text)
{
    struct slice rest = feed_without_comment(text);
    uint8_t addr[16];
    return host_ip_parse(feed_word(&rest), addr) && feed_word(&rest).n > 0;
}

/* Counts a zone record or directive. */
static void score_rpz(struct slice text, struct score *s)
{
    static const char *const types[] = {"SOA", "NS", "CNAME", "A", "AAAA", "TXT", "MX"};

    if (slice_has_prefix_nocase(text, SLICE_LIT("$TTL")) ||
        slice_has_prefix_nocase(text, SLICE_LIT("$ORIGIN"))) {
        s->rpz++;
        return;
    }
    struct slice rest = slice_head(text, slice_find(text, ';'));
    struct slice word = feed_word(&rest);
    bool is_ip_trigger = slice_find_slice(word, SLICE_LIT(".rpz-")) < word.n;
    for (size_t i = 0; i < 4 && word.n > 0; i++) {
        for (size_t k = 0; k < LENGTH(types); k++) {
            if (!slice_eq_nocase(word, slice_str(types[k])) ||
                slice_trim(rest).n == 0) {
                continue;
            }
            struct slice target = feed_word(&rest);
            s->rpz++;
            s->rpz_rules += is_ip_trigger || slice_eq(target, SLICE_LIT(".")) ||
                            slice_eq(target, SLICE_LIT("*.")) ||
                            slice_has_prefix_nocase(target, SLICE_LIT("rpz-"));
            return;
        }
        word = feed_word(&rest);
    }
}

static struct slice without_quotes(struct slice field)
{
    field = slice_trim(field);
    bool is_quoted = field.n >= 2 && field.p[0] == '"';
    return is_quoted ? slice_of(field.p + 1, field.n - 2) : field;
}

/* Separators of a line that has an entry in some field; 0: it has none. */
static size_t count_separators(struct slice line, char separator)
{
    size_t n = 0;
    bool has_entry = false;
    struct slice field;

    while (feed_csv_field(&line, separator, &field)) {
        n++;
        has_entry = has_entry || feed_looks_like_entry(without_quotes(field));
    }
    return has_entry ? n - 1 : 0;
}

static bool is_csv_header(struct slice text)
{
    char separator = feed_csv_separator(text);
    bool has_known = false;
    struct slice field;

    if (separator == '\0') {
        return false;
    }
    while (feed_csv_field(&text, separator, &field)) {
        uint16_t hint;
        field = without_quotes(field);
        if (feed_looks_like_entry(field)) {
            return false;
        }
        has_known = has_known || feed_column_rank(field, &hint) != 0;
    }
    return has_known;
}

static void score_header(struct slice text, struct score *s)
{
    enum feed_format native = feed_sniff_columns(text, feed_csv_separator(text));

    if (native != FEED_CSV || is_csv_header(text)) {
        s->has_csv_header = true;
        s->native = native;
    }
}

static void score_csv(struct slice text, struct score *s)
{
    if (s->lines == 1) {
        if (!s->has_csv_header) {
            score_header(text, s);
        }
        s->separator = feed_csv_separator(text);
        s->nseparators =
            s->separator == '\0' ? 0 : count_separators(text, s->separator);
    }
    if (s->nseparators > 0 && count_separators(text, s->separator) == s->nseparators) {
        s->csv++;
    }
}

static void score_comment(struct slice text, struct score *s)
{
    s->has_adblock_comment = s->has_adblock_comment || text.p[0] == '!' ||
                             slice_has_prefix_nocase(text, SLICE_LIT("[adblock"));
    while (text.n > 0 && (text.p[0] == '#' || text.p[0] == ' ')) {
        text = slice_from(text, 1);
    }
    if (!s->has_csv_header && s->lines == 0 &&
        feed_csv_is_word_row(text, feed_csv_separator(text))) {
        score_header(text, s);
    }
}

/* "192.0.2.0/24 ; SBL1" */
static bool is_drop_line(struct slice text)
{
    size_t semicolon = slice_find(text, ';');
    struct slice cidr = slice_trim(slice_head(text, semicolon));
    uint8_t addr[16];
    return semicolon < text.n && slice_find(cidr, '/') < cidr.n &&
           host_ip_parse(slice_head(cidr, slice_find(cidr, '/')), addr);
}

static bool is_rbldnsd_line(struct slice text)
{
    static const char *const starts[] = {"$SOA ", "$NS ", "$DATASET ", "$TIMESTAMP ",
                                         ":127."};
    return starts_with_any(text, starts, LENGTH(starts));
}

static void score_line(struct slice line, struct score *s)
{
    struct slice text = slice_trim(line);

    if (text.n == 0) {
        return;
    }
    if (text.p[0] != '#' && is_adblock_rule(text)) {
        s->lines++;
        s->adblock++;
        return;
    }
    if (text.p[0] == '#' || text.p[0] == '!' || text.p[0] == ';' ||
        slice_has_prefix_nocase(text, SLICE_LIT("[adblock"))) {
        score_comment(text, s);
        return;
    }
    s->lines++;
    s->rbldnsd += is_rbldnsd_line(text);
    s->drop += is_drop_line(text);
    s->dnsmasq += is_dnsmasq_option(text);
    s->unbound += is_unbound_option(text);
    s->hosts += is_hosts_line(text);
    s->plain += feed_looks_like_entry(feed_without_comment(text));
    score_rpz(text, s);
    score_csv(text, s);
}

static enum feed_format choose_format(const struct score *s)
{
    size_t half = (s->lines + 1) / 2;

    if (s->lines == 0) {
        return FEED_PLAIN; /* nothing in it, in any format */
    }
    if (s->rbldnsd > 0) {
        return FEED_RBLDNSD;
    }
    if (s->drop >= half) {
        return FEED_DROP;
    }
    if (s->rpz_rules > 0 && s->rpz >= half) {
        return FEED_RPZ;
    }
    if ((s->adblock > 0 || s->has_adblock_comment) && s->adblock + s->plain >= half) {
        return FEED_ADBLOCK;
    }
    if (s->has_csv_header) {
        return s->native;
    }
    if (s->dnsmasq >= half) {
        return FEED_DNSMASQ;
    }
    if (s->unbound >= half) {
        return FEED_UNBOUND;
    }
    if (s->hosts >= half) {
        return FEED_HOSTS;
    }
    /* a URL may hold a comma; that all of them hold as many means a table */
    bool is_table = s->nseparators > 0 && s->lines > 1 && s->csv == s->lines;
    if (is_table || (s->plain < half && s->nseparators > 0 && s->csv >= half)) {
        return FEED_CSV;
    }
    return s->plain >= half ? FEED_PLAIN : FEED_AUTO;
}

enum feed_format feed_sniff(struct slice beginning)
{
    struct score score = {.lines = 0};
    struct slice rest = beginning;

    if (feed_refusal(beginning) != NULL) {
        return FEED_AUTO;
    }
    if (feed_looks_like_json(beginning)) {
        return feed_sniff_json(beginning);
    }
    while (rest.p != NULL && score.lines < SNIFF_LINES) {
        struct slice line = slice_cut(&rest, '\n');
        bool is_cut = rest.p == NULL && beginning.n >= FEED_SNIFF_BYTES;
        if (!is_cut || score.lines == 0) {
            score_line(line, &score);
        }
    }
    return choose_format(&score);
}
