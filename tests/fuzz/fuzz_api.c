/* fuzz_api - a request to the HTTP API: head, query, fields, and the body of each route as JSON. */
#include "core/hub/api/api_body.h"
#include "core/hub/http/http_request.h"
#include "core/hub/http/http_syntax.h"

#include "tests/fuzz/fuzz.h"

enum { ARENA = 4 << 20, VALUES = 100 };

static const struct http_rules rules = {.unknown_method = 501, .transfer_coding = 411};

static bool lies_in(struct slice part, struct slice whole)
{
    return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void read_head(struct slice bytes)
{
    struct http_request r = {.method = HTTP_GET};
    const char *why = NULL;
    struct slice head = slice_head(bytes, http_head_length(bytes));
    unsigned status = http_request_parse(head, &rules, &r, &why);
    char value[64];
    struct slice name;
    bool is_bad = false;

    FUZZ_CHECK((status == 0) == (why == NULL));
    if (status != 0) {
        return;
    }
    FUZZ_CHECK(r.path.n > 0 && r.path.p[0] == '/');
    FUZZ_CHECK(lies_in(r.path, head) && lies_in(r.query, head) &&
               lies_in(r.host, head));
    FUZZ_CHECK(lies_in(r.type, head) && lies_in(r.authorization, head));
    FUZZ_CHECK(r.method == HTTP_POST || r.method == HTTP_OTHER || r.length == 0);
    while (http_query_next(&r.query, &name, value, sizeof(value), &is_bad)) {
        FUZZ_CHECK(strlen(value) < sizeof(value));
    }
    (void)http_accepts(r.accept, SLICE_LIT("application/json"));
    (void)http_type_is(r.type, "application/json");
}

static void read_body(struct arena *arena, struct slice body)
{
    struct api_strings urls = {.most = VALUES};
    struct api_strings values = {.most = VALUES};
    struct slice text[3] = {SLICE_NONE, SLICE_NONE, SLICE_NONE};
    bool counts = false;
    const struct api_member members[] = {{"urls", API_MEMBER_STRINGS, false, &urls},
                                         {"values", API_MEMBER_STRINGS, false, &values},
                                         {"list", API_MEMBER_STRING, false, &text[0]},
                                         {"kind", API_MEMBER_STRING, false, &text[1]},
                                         {"feed", API_MEMBER_STRING, false, &text[2]},
                                         {"counts", API_MEMBER_BOOL, false, &counts}};
    struct errinfo why = {.text = ""};
    enum err e = api_body_read(body, members, LENGTH(members), arena, &why);

    FUZZ_CHECK((e == ERR_OK) == (why.text[0] == '\0'));
    FUZZ_CHECK(urls.n <= VALUES && values.n <= VALUES);
    for (size_t i = 0; e == ERR_OK && i < urls.n; i++) {
        FUZZ_CHECK(urls.v[i].n <= body.n);
        FUZZ_CHECK(urls.v[i].n == 0 || memchr(urls.v[i].p, '\0', urls.v[i].n) == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(ARENA);
    struct slice bytes = slice_of((const char *)data, size);

    read_head(bytes);
    read_body(arena, bytes);
    read_body(arena, slice_from(bytes, http_head_length(bytes)));
    arena_free(&arena);
    return 0;
}
