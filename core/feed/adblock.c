/*
 * adblock - the rules of browser block lists that name a host or a page.
 *
 * Entries are ||host^, ||host/path^ (also without a final ^ after a path) and lines with only a
 * name or an address, without options that narrow the rule. Everything else (exceptions, element
 * hiding, patterns) does not apply to mail and is ignored.
 */
#include "core/feed/parser_internal.h"

/* Options that leave a rule as wide as it was. */
static bool is_plain_option(struct slice option)
{
    static const char *const plain[] = {"all", "document", "doc", "popup", "important"};
    for (size_t i = 0; i < LENGTH(plain); i++) {
        if (slice_eq(option, slice_str(plain[i]))) {
            return true;
        }
    }
    return false;
}

static bool has_only_plain_options(struct slice options)
{
    while (options.p != NULL) {
        if (!is_plain_option(slice_trim(slice_cut(&options, ',')))) {
            return false;
        }
    }
    return true;
}

/* The options follow the last '$'; a '$' in a path is not followed by option names alone. */
static bool split_options(struct slice rule, struct slice *retpattern)
{
    size_t i = rule.n;
    while (i > 0 && rule.p[i - 1] != '$') {
        i--;
    }
    *retpattern = rule;
    if (i == 0) {
        return true;
    }
    bool is_after_end = i >= 2 && rule.p[i - 2] == '^';
    bool is_plain = i < rule.n && has_only_plain_options(slice_from(rule, i));
    if (is_plain) {
        *retpattern = slice_head(rule, i - 1);
    }
    return is_plain || !is_after_end;
}

static bool has_any(struct slice s, const char *bytes)
{
    for (; *bytes != '\0'; bytes++) {
        if (slice_find(s, *bytes) < s.n) {
            return true;
        }
    }
    return false;
}

/* rule: the text behind "||". */
static void host_rule(struct feed *f, struct slice rule)
{
    struct slice pattern;
    bool is_ended = false;

    if (!split_options(rule, &pattern)) {
        feed_ignored(f);
        return;
    }
    if (pattern.n > 0 &&
        (pattern.p[pattern.n - 1] == '^' || pattern.p[pattern.n - 1] == '|')) {
        is_ended = true;
        pattern.n--;
    }
    if (slice_has_prefix(pattern, SLICE_LIT("*."))) {
        pattern = slice_from(pattern, 2);
    }
    bool has_path = slice_find(pattern, '/') < pattern.n;
    bool has_port = slice_find(pattern, ':') < pattern.n;
    /* without an end "||evil.co" also means evil.com: no name */
    if (pattern.n == 0 || has_any(pattern, "*^| \t") || (!is_ended && !has_path) ||
        (!has_path && has_any(pattern, "$"))) {
        feed_ignored(f);
        return;
    }
    if (has_path || has_port) {
        feed_emit(f, pattern, FEATURE_url);
        return;
    }
    struct slice last = pattern;
    while (slice_find(last, '.') < last.n) {
        (void)slice_cut(&last, '.');
    }
    bool is_address = last.n > 0 && last.p[0] >= '0' && last.p[0] <= '9';
    feed_emit(f, pattern, is_address ? FEATURE_NONE : FEATURE_domain);
}

void feed_line_adblock(struct feed *f, struct slice line)
{
    struct slice text = slice_trim(line);

    if (slice_has_prefix(text, SLICE_LIT("||")) &&
        slice_find_slice(text, SLICE_LIT("##")) == text.n) {
        host_rule(f, slice_from(text, 2));
        return;
    }
    struct slice rest = feed_without_comment(text);
    struct slice word = feed_word(&rest);
    if (rest.n > 0 && feed_is_sink(word)) { /* hosts lines are allowed among rules */
        feed_line_hosts(f, text);
        return;
    }
    if (rest.n > 0 || !feed_looks_like_name(word)) {
        feed_ignored(f);
        return;
    }
    struct slice name = word;
    if (slice_has_prefix(name, SLICE_LIT("*."))) {
        name = slice_from(name, 2);
    }
    feed_emit(f, name, FEATURE_NONE);
}
