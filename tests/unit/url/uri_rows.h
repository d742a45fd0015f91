/*
 * uri_rows - rows of SpamAssassin's tables: patterns that a list of URIs must match, or must not.
 */
#ifndef TESTS_UNIT_TEXT_URI_ROWS_H
#define TESTS_UNIT_TEXT_URI_ROWS_H

#include <jansson.h>
#include <regex.h>

#include "core/base/buf.h"
#include "core/message/url/find.h"
#include "core/message/url/url.h"

#include "tests/unit/text/text_test.h"

enum { LIST_MAX = 1 << 20, PATTERN_MAX = 1024 };

static inline void uri_add_line(struct buf *list, struct slice a, const char *b,
                                struct slice c)
{
    buf_add(list, a);
    buf_add_str(list, b);
    buf_add(list, c);
    buf_add_str(list, "\n");
}

struct uri_listing {
    struct arena *arena;
    struct buf lines;
};

/* As that project lists a URI: as it stands, with the scheme it is opened with, canonical. */
static inline void uri_list_find(void *context, const struct find *find)
{
    struct uri_listing *l = context;
    struct url url;

    if (find->kind == FIND_BARE) {
        return; /* no URI to anybody */
    }
    buf_add(&l->lines, find->raw);
    buf_add_str(&l->lines, "\n");
    if (find->kind == FIND_ADDRESS) {
        uri_add_line(&l->lines, SLICE_LIT("mailto"), ":", find->text);
        return;
    }
    uri_add_line(&l->lines,
                 (find->flags & FIND_NO_SCHEME) != 0 ? find->scheme : SLICE_NONE,
                 (find->flags & FIND_NO_SCHEME) != 0 ? "://" : "", find->text);
    if (url_parse(l->arena, find->text, &url) == ERR_OK && url.port == 0) {
        uri_add_line(&l->lines, find->scheme, "://", url.host.text);
    }
}

/* One of the table's patterns (Perl's, of which only what POSIX has is used but for \S and
 * (?:) matches a line of the list. */
static inline bool uri_matches(const char *lines, const char *pattern)
{
    char posix[PATTERN_MAX];
    size_t n = 0;
    regex_t re;
    bool found = false;

    for (; *pattern != '\0' && n + 16 < sizeof(posix); pattern++) {
        if (strncmp(pattern, "\\S", 2) == 0) {
            memcpy(posix + n, "[^ \n]", 5);
            n += 5;
            pattern++;
        } else if (strncmp(pattern, "(?:", 3) == 0) {
            posix[n++] = '(';
            pattern += 2;
        } else if (strncmp(pattern, "\\@", 2) != 0) { /* POSIX: undefined */
            posix[n++] = *pattern;
        }
    }
    posix[n] = '\0';
    assert_int_equal(regcomp(&re, posix, REG_EXTENDED | REG_NOSUB | REG_NEWLINE), 0);
    found = regexec(&re, lines, 0, NULL, 0) == 0;
    regfree(&re);
    return found;
}

static inline bool uri_all_match(const char *lines, const json_t *patterns, bool wanted)
{
    size_t i = 0;

    for (i = 0; i < json_array_size(patterns); i++) {
        if (uri_matches(lines, json_string_value(json_array_get(patterns, i))) !=
            wanted) {
            return false;
        }
    }
    return true;
}

#endif
