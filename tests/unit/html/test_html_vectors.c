/*
 * test_html_vectors - the tokenizer against the rows of html5lib's tokenizer tests.
 *
 * The files are html/NAME.test in the data folder of tests/unit/text/vectors.h, and our own in
 * tests/data/html, which alone run where there is no data folder. Each row runs whole, byte by byte, and
 * cut at every place. Parse errors are not compared: mail needs the tokens.
 */
#include "core/message/html/html.h"
#include "core/message/text/ascii.h"

#include "tests/unit/text/vectors.h"

enum { PATH_SIZE = 4096, TEXT_SIZE = 4096, OWN_ROWS = 18 };

/* The tokens of one run in the form of the files. */
struct run {
    json_t *tokens;
    json_t *tag; /* open; browsers drop it when the input ends */
    char text[TEXT_SIZE];
    size_t ntext;
};

static json_t *json_text(struct slice s)
{
    json_t *text = s.p == NULL ? json_null() : json_stringn_nocheck(s.p, s.n);

    assert_non_null(text);
    return text;
}

static void append(json_t *array, json_t *value)
{
    assert_int_equal(json_array_append_new(array, value), 0);
}

static json_t *new_token(struct run *run, const char *kind)
{
    json_t *token = json_array();

    if (run->ntext > 0) {
        json_t *text = json_array();

        append(text, json_string("Character"));
        append(text, json_text(slice_of(run->text, run->ntext)));
        append(run->tokens, text);
        run->ntext = 0;
    }
    append(token, json_string(kind));
    return token;
}

static void on_tag(struct run *run, const struct html_token *t)
{
    bool is_end = t->kind == HTML_END_TAG;

    assert_null(run->tag);
    run->tag = new_token(run, is_end ? "EndTag" : "StartTag");
    append(run->tag, json_text(t->tag));
    if (!is_end) {
        append(run->tag, json_object());
    }
}

static void on_attribute(const struct run *run, const struct html_token *t)
{
    json_t *attributes = json_array_get(run->tag, 2);

    assert_true((json_object_getn(attributes, t->name.p, t->name.n) != NULL) ==
                t->is_duplicate);
    if (!t->is_duplicate) {
        assert_int_equal(json_object_setn_new_nocheck(attributes, t->name.p, t->name.n,
                                                      json_text(t->value)),
                         0);
    }
}

static void on_tag_end(struct run *run, const struct html_token *t)
{
    if (t->is_self_closing && json_array_size(run->tag) == 3) {
        append(run->tag, json_true());
    }
    append(run->tokens, run->tag);
    run->tag = NULL;
}

static void on_token(void *context, const struct html_token *t)
{
    struct run *run = context;
    json_t *comment = NULL;

    switch (t->kind) {
    case HTML_TEXT:
    case HTML_RAW_TEXT:
    case HTML_NUL:
        assert_true(t->value.n <= sizeof(run->text) - run->ntext);
        put_at(run->text, run->ntext, t->value);
        run->ntext += t->value.n;
        break;
    case HTML_START_TAG:
    case HTML_END_TAG:
        on_tag(run, t);
        break;
    case HTML_ATTRIBUTE:
        on_attribute(run, t);
        break;
    case HTML_TAG_END:
        on_tag_end(run, t);
        break;
    case HTML_COMMENT:
        comment = new_token(run, "Comment");
        append(comment, json_text(t->value));
        append(run->tokens, comment);
        break;
    case HTML_DOCTYPE:
        append(run->tokens, new_token(run, "DOCTYPE"));
        break;
    }
}

struct row {
    struct slice input;
    enum html_content content;
    struct slice tag;
    json_t *output;
    const char *description;
};

/* first: the bytes of the first chunk; step: those of the others. */
static bool passes(struct arena *arena, const struct row *row, size_t first,
                   size_t step, bool tell)
{
    struct run run = {.tokens = json_array()};
    struct html *h = html_new(arena, on_token, &run);
    struct slice rest = row->input;
    bool same = false;

    assert_non_null(h);
    html_set_content(h, row->content, row->tag);
    html_feed(h, slice_head(rest, first));
    rest = slice_from(rest, first);
    while (rest.n > 0) {
        html_feed(h, slice_head(rest, step));
        rest = slice_from(rest, step);
    }
    html_end(h);
    json_decref(new_token(&run, "")); /* for the text before it */
    json_decref(run.tag);
    same = json_equal(run.tokens, row->output) == 1;
    if (!same && tell) {
        char *got = json_dumps(run.tokens, JSON_COMPACT);
        char *want = json_dumps(row->output, JSON_COMPACT);

        print_error("%s: content %d, first chunk %zu, then %zu: got %s, want %s\n",
                    row->description, (int)row->content, first, step, got, want);
        free(got);
        free(want);
    }
    json_decref(run.tokens);
    arena_reset(arena);
    return same;
}

static bool row_passes(struct arena *arena, const struct row *row)
{
    bool same =
        passes(arena, row, row->input.n, 1, true) && passes(arena, row, 1, 1, true);
    size_t first = 0;

    for (first = 1; same && first < row->input.n; first++) {
        same = passes(arena, row, first, row->input.n, true);
    }
    return same;
}

static enum html_content content_of(const char *state)
{
    static const char *const names[] = {
        [HTML_CONTENT_DATA] = "Data state",
        [HTML_CONTENT_RCDATA] = "RCDATA state",
        [HTML_CONTENT_RAWTEXT] = "RAWTEXT state",
        [HTML_CONTENT_SCRIPT] = "Script data state",
        [HTML_CONTENT_PLAINTEXT] = "PLAINTEXT state",
        [HTML_CONTENT_CDATA] = "CDATA section state",
    };
    size_t i = 0;

    while (i < COUNT_OF(names) && strcmp(names[i], state) != 0) {
        i++;
    }
    assert_true(i < COUNT_OF(names));
    return (enum html_content)i;
}

static size_t put_utf8(uint32_t c, char *dst)
{
    size_t n = 0;

    if (c < 0x80) {
        dst[n++] = (char)c;
    } else if (c < 0x800) {
        dst[n++] = (char)(unsigned char)(0xc0 | (c >> 6));
        dst[n++] = (char)(unsigned char)(0x80 | (c & 0x3f));
    } else {
        dst[n++] = (char)(unsigned char)(0xe0 | (c >> 12));
        dst[n++] = (char)(unsigned char)(0x80 | ((c >> 6) & 0x3f));
        dst[n++] = (char)(unsigned char)(0x80 | (c & 0x3f));
    }
    return n;
}

/* Each \uHHHH becomes its code point, where the row says that they stand for these. */
static struct slice unescape(struct slice s, bool is_escaped, char dst[TEXT_SIZE])
{
    size_t n = 0;
    size_t i = 0;

    assert_true(s.n <= TEXT_SIZE);
    while (i < s.n) {
        if (is_escaped && s.n - i >= 6 && s.p[i] == '\\' && s.p[i + 1] == 'u') {
            uint32_t c = 0;
            size_t k = 0;

            for (k = 2; k < 6; k++) {
                c = c * 16 + ascii_hex[(unsigned char)s.p[i + k]];
            }
            n += put_utf8(c, dst + n);
            i += 6;
        } else {
            dst[n++] = s.p[i++];
        }
    }
    return slice_of(dst, n);
}

static bool is_named(json_t *token, const char *kind)
{
    return json_is_string(token) && strcmp(json_string_value(token), kind) == 0;
}

/* A new value: that one with every string and name unescaped; of a doctype the kind alone. */
static json_t *unescaped(json_t *value, bool is_escaped)
{
    char text[TEXT_SIZE];
    json_t *ret = NULL;
    json_t *one = NULL;
    const char *name = NULL;
    size_t i = 0;

    if (json_is_string(value)) {
        return json_text(unescape(json_slice(value), is_escaped, text));
    }
    if (json_is_array(value)) {
        ret = json_array();
        json_array_foreach(value, i, one)
        {
            if (!is_named(one, "ParseError")) {
                append(ret, unescaped(one, is_escaped));
            }
            if (is_named(one, "DOCTYPE")) {
                break;
            }
        }
        return ret;
    }
    if (json_is_object(value)) {
        ret = json_object();
        json_object_foreach(value, name, one)
        {
            struct slice s = unescape(slice_str(name), is_escaped, text);

            assert_int_equal(
                json_object_setn_new_nocheck(ret, s.p, s.n, unescaped(one, is_escaped)),
                0);
        }
        return ret;
    }
    return json_incref(value);
}

struct tally {
    size_t rows; /* a row counts once for each state that it begins in */
    size_t passed;
};

static void run_row(struct arena *arena, const json_t *test, struct tally *tally)
{
    char text[TEXT_SIZE];
    bool is_escaped = json_is_true(json_object_get(test, "doubleEscaped"));
    json_t *states = json_object_get(test, "initialStates");
    size_t nstates = states == NULL ? 1 : json_array_size(states);
    struct row row = {
        .input = unescape(json_slice(json_object_get(test, "input")), is_escaped, text),
        .tag = json_slice(json_object_get(test, "lastStartTag")),
        .output = unescaped(json_object_get(test, "output"), is_escaped),
        .description = json_string_value(json_object_get(test, "description")),
    };
    size_t i = 0;

    for (i = 0; i < nstates; i++) {
        if (states != NULL) {
            row.content = content_of(json_string_value(json_array_get(states, i)));
        }
        tally->rows++;
        tally->passed += row_passes(arena, &row) ? 1 : 0;
    }
    json_decref(row.output);
}

static struct tally run_rows(struct arena *arena, const char *what, json_t *root)
{
    struct tally tally = {0};
    json_t *test = NULL;
    size_t i = 0;

    json_array_foreach(json_object_get(root, "tests"), i, test)
    {
        run_row(arena, test, &tally);
    }
    print_message("%s: %zu rows, %zu passed\n", what, tally.rows, tally.passed);
    return tally;
}

static void run_file(struct arena *arena, const char *folder, const char *name,
                     struct tally *all)
{
    char path[PATH_SIZE];
    json_error_t error;
    json_t *root = NULL;
    struct tally tally = {0};

    (void)snprintf(path, sizeof(path), "%s/html/%s.test", folder, name);
    root = json_load_file(path, JSON_ALLOW_NUL, &error);
    if (root == NULL) {
        fail_msg("%s:%d: %s", path, error.line, error.text);
    }
    tally = run_rows(arena, name, root);
    json_decref(root);
    all->rows += tally.rows;
    all->passed += tally.passed;
}

static void test_tokens__own_rows__same(void **state)
{
    struct tally all = {0};

    run_file(*state, GILLNET_SOURCE_DIR "/tests/data", "tokens", &all);
    assert_true(all.rows >= OWN_ROWS);
    assert_int_equal(all.passed, all.rows);
}

static void test_tokens__html5lib__same(void **state)
{
    static const char *const names[] = {"contentModelFlags",
                                        "domjs",
                                        "entities",
                                        "escapeFlag",
                                        "namedEntities",
                                        "numericEntities",
                                        "test1",
                                        "test2",
                                        "test3",
                                        "test4",
                                        "unicodeChars",
                                        "pendingSpecChanges",
                                        "unicodeCharsProblematic"};
    struct tally all = {0};
    size_t i = 0;

    if (vectors_are_own()) {
        print_message("no data folder: the rows of our own are another test\n");
        return;
    }
    for (i = 0; i < COUNT_OF(names); i++) {
        run_file(*state, vectors_folder(), names[i], &all);
    }
    print_message("html5lib: %zu rows, %zu passed\n", all.rows, all.passed);
    assert_true(all.rows > 0);
    assert_int_equal(all.passed, all.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_tokens__own_rows__same),
        ARENA_TEST(test_tokens__html5lib__same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
