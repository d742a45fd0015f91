/*
 * test_auth - Authentication-Results: only of trusted servers, only of the message itself.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/message/extract/extract.h"

#include "tests/unit/unit.h"

enum { ARENA = 1 << 22 };

static const struct extract_limits limits = {
    .mail = {.message_bytes = 1 << 20,
             .decoded_bytes = 1 << 20,
             .headers = 100,
             .header_bytes = 256 << 10,
             .header_field = 64 << 10,
             .parts = 10,
             .depth = 5},
    .urls = 10,
    .recipients = 10,
};

static char trusted_one[] = "mx.our.example";
static char trusted_two[] = "second.example";
static char *const trusted[] = {trusted_one, trusted_two};

/* "spf=DOMAIN dkim=DOMAIN dmarc=DOMAIN", "-" if it did not pass. */
static const char *auth_of(const char *text, size_t ntrusted, char line[256])
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits, trusted, ntrusted);
    extract_raw(x, slice_str(text));
    (void)extract_finish(x);
    const struct extract_auth *a = extract_auth(x);
    snprintf(line, 256, "spf%c%.*s dkim%c%.*s dmarc%c%.*s", a->spf_pass ? '=' : '-',
             SLICE_ARGS(a->spf_domain), a->dkim_pass ? '=' : '-',
             SLICE_ARGS(a->dkim_domain), a->dmarc_pass ? '=' : '-',
             SLICE_ARGS(a->dmarc_domain));
    arena_free(&arena);
    return line;
}

/* "spf dkim dmarc arc, signers", each the name of its result. */
static const char *results_of(const char *text, char line[256])
{
    static const char *const names[] = {"absent", "none",      "pass",
                                        "fail",   "softfail",  "neutral",
                                        "policy", "temperror", "permerror"};
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits, trusted, 2);
    extract_raw(x, slice_str(text));
    (void)extract_finish(x);
    const struct extract_auth *a = extract_auth(x);
    size_t n = (size_t)snprintf(line, 256, "%s %s %s %s%s", names[a->spf],
                                names[a->dkim], names[a->dmarc], names[a->arc],
                                a->has_results ? "" : " no results");
    for (unsigned i = 0; i < a->nsigners; i++) {
        n += (size_t)snprintf(line + n, 256 - n, " %.*s", SLICE_ARGS(a->signer[i]));
    }
    arena_free(&arena);
    return line;
}

#define AR "Authentication-Results: "

static void test_auth__each_field__is_read_as_rfc_8601_says(void **state)
{
    static const struct {
        const char *text;
        const char *auth;
    } rows[] = {
        {AR "mx.our.example;\n spf=pass smtp.mailfrom=joe@B.example;\n"
            " dkim=pass (2048-bit) header.d=C.example header.i=@c.example;\n"
            " dmarc=pass (p=none; dis=none) header.from=d.example\n\n",
         "spf=b.example dkim=c.example dmarc=d.example"},
        {AR "MX.our.Example 1; spf=pass smtp.mailfrom=b.example\n\n",
         "spf=b.example dkim- dmarc-"},
        {AR "second.example; dkim = pass header.i=joe@c.example\n\n",
         "spf- dkim=c.example dmarc-"},
        {AR
         "mx.our.example; dkim=pass header.d=a.example; dkim=fail header.d=x.example;"
         " dkim=pass header.d=b.example\n\n",
         "spf- dkim=b.example dmarc-"},
        {AR
         "mx.our.example; spf=fail smtp.mailfrom=b.example; dkim=none; dmarc=fail\n\n",
         "spf- dkim- dmarc-"},
        {AR "mx.our.example; SPF/1=PASS smtp.mailfrom=\"a;b=c\"@b.example\n\n",
         "spf=b.example dkim- dmarc-"},
        {AR "mx.our.example; spf=pass\n\n", "spf= dkim- dmarc-"},
        {AR "mx.our.example; none\n\n", "spf- dkim- dmarc-"},
        {AR "mx.our.example; none\n" AR
            "mx.our.example; dkim=pass header.d=c.example\n\n",
         "spf- dkim- dmarc-"},
        {AR "mx.our.example\n\n", "spf- dkim- dmarc-"},
        {AR "\n\n", "spf- dkim- dmarc-"},
        {AR "mx.our.example; x=y (spf=pass smtp.mailfrom=b.example\n\n",
         "spf- dkim- dmarc-"},
        {AR "mx.our.example; x=\"; spf=pass smtp.mailfrom=b.example\"\n\n",
         "spf- dkim- dmarc-"},
        /* others, and names that only look alike */
        {AR "evil.example; spf=pass smtp.mailfrom=b.example\n\n", "spf- dkim- dmarc-"},
        {AR "mx.our.example.evil.example; spf=pass\n\n", "spf- dkim- dmarc-"},
        {AR "mx.our.example/evil; spf=pass\n\n", "spf- dkim- dmarc-"},
        {AR "evil.example mx.our.example; spf=pass\n\n", "spf- dkim- dmarc-"},
        /* the topmost field with a method decides, with any result */
        {AR "mx.our.example; dmarc=fail header.from=b.example\n" AR
            "mx.our.example; dmarc=pass header.from=b.example;"
            " spf=pass smtp.mailfrom=b.example\n\n",
         "spf=b.example dkim- dmarc-"},
        /* a part's fields are the sender's */
        {"Content-Type: message/rfc822\n\n" AR
         "mx.our.example; spf=pass smtp.mailfrom=b.example\n\nx\n",
         "spf- dkim- dmarc-"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[256];
        if (strcmp(auth_of(rows[i].text, 2, line), rows[i].auth) != 0) {
            fail_msg("%s gave %s", rows[i].text, line);
        }
    }
}

static void test_auth__every_result__is_kept(void **state)
{
    static const struct {
        const char *text;
        const char *results;
    } rows[] = {
        {AR "mx.our.example; spf=softfail smtp.mailfrom=a.example; dkim=neutral;"
            " dmarc=temperror; arc=pass (i=1)\n\n",
         "softfail neutral temperror pass"},
        {AR "mx.our.example; spf=hardfail; dkim=policy; dmarc=permerror; arc=fail\n\n",
         "fail policy permerror fail"},
        {AR "mx.our.example; spf=none; dkim=odd\n\n", "none none absent absent"},
        {AR "mx.our.example; none\n\n", "absent absent absent absent"},
        {AR "evil.example; spf=pass; dkim=pass header.d=a.example; arc=pass\n\n",
         "absent absent absent absent no results"},
        {AR
         "mx.our.example; dkim=fail header.d=a.example; dkim=pass header.d=b.example;"
         " dkim=pass header.d=c.example; dkim=pass header.d=b.example\n\n",
         "absent pass absent absent b.example c.example"},
        /* a HELO name proves nothing about the sender, wherever it stands */
        {AR
         "mx.our.example; spf=pass smtp.helo=a.example; spf=fail smtp.mailfrom=b.example\n\n",
         "fail absent absent absent"},
        {AR
         "mx.our.example; spf=fail smtp.mailfrom=b.example; spf=pass smtp.helo=a.example\n\n",
         "fail absent absent absent"},
        {AR "mx.our.example; spf=pass smtp.helo=a.example\n\n",
         "pass absent absent absent"},
        /* a field below adds nothing to one above */
        {AR "mx.our.example; dkim=none; arc=none\n" AR
            "mx.our.example; dkim=pass header.d=b.example; arc=pass; dmarc=pass\n\n",
         "absent none pass none"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[256];
        if (strcmp(results_of(rows[i].text, line), rows[i].results) != 0) {
            fail_msg("%s gave %s", rows[i].text, line);
        }
    }
}

static void test_auth__nobody_trusted__says_nothing(void **state)
{
    (void)state;
    char line[256];
    assert_string_equal(
        auth_of(AR "mx.our.example; spf=pass smtp.mailfrom=b.example\n\n", 0, line),
        "spf- dkim- dmarc-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auth__each_field__is_read_as_rfc_8601_says),
        cmocka_unit_test(test_auth__every_result__is_kept),
        cmocka_unit_test(test_auth__nobody_trusted__says_nothing),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
