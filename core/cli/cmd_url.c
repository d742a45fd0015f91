/* cmd_url - `gillnet url`: the parts, forms and targets of URLs. */
#include <sysexits.h>

#include "core/base/arena.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/message/url/safebrowsing.h"
#include "core/message/url/unwrap.h"
#include "core/message/url/url.h"
#include "core/message/url/url_normal.h"
#include "core/message/url/urlkey.h"
#include "core/message/url/weburl.h"

enum { URL_ARENA = 16 * 1024 * 1024 };

/* The parts and forms of one URL. */
struct reading {
    struct slice text;
    bool has_web; /* browsers open it */
    struct weburl web;
    struct url url;
    struct slice registrable;
    struct slice normal;
    struct slice folded;
    struct slice template;
    struct slice expressions[SAFEBROWSING_EXPRESSIONS_MAX];
    size_t nexpressions;
    struct unwrap_target targets[UNWRAP_TARGETS_MAX];
    size_t ntargets;
    bool is_cut;
};

struct reader {
    struct cli *cli;
    struct arena *arena;
    uint64_t bad;
    bool is_output_bad;
};

static const char *kind_name(enum host_kind kind)
{
    static const char *const names[] = {
        [HOST_NAME] = "name", [HOST_IPV4] = "ipv4", [HOST_IPV6] = "ipv6"};

    return names[kind];
}

static struct slice registrable_of(const struct host *host)
{
    return host->kind == HOST_NAME ? host_registrable(host->text) : SLICE_NONE;
}

static enum err read_url(struct arena *arena, struct slice text, struct reading *ret)
{
    struct safebrowsing form;
    enum err e = url_parse(arena, text, &ret->url);

    THEN(e, safebrowsing_of_url(arena, &ret->url, &form));
    if (e != ERR_OK) {
        return e;
    }
    ret->text = text;
    ret->has_web = weburl_parse(arena, text, NULL, &ret->web) == ERR_OK;
    ret->registrable = registrable_of(&ret->url.host);
    ret->normal = url_normal(arena, &ret->url);
    ret->folded = ret->normal.n > 0 ? urlkey_folded(arena, ret->normal) : ret->normal;
    ret->template = urlkey_template(arena, &ret->url, ret->registrable);
    ret->nexpressions = safebrowsing_expressions(arena, &form, ret->expressions);
    ret->ntargets = unwrap_url(arena, text, ret->targets, &ret->is_cut);
    return arena_is_full(arena) ? ERR_NOMEM : ERR_OK;
}

/* ---- for programs ---- */

/* A text, or null if there is none. */
static json_t *maybe(struct slice text)
{
    return text.p == NULL ? json_null() : json_text(text);
}

static json_t *targets_json(struct reader *r, const struct reading *u)
{
    json_t *all = json_array();

    for (size_t i = 0; i < u->ntargets; i++) {
        const struct unwrap_target *t = &u->targets[i];
        struct url url;
        if (url_parse(r->arena, t->url, &url) != ERR_OK) {
            continue;
        }
        if (json_array_append_new(
                all,
                json_pack("{s:o, s:i, s:s, s:o, s:o, s:o}", "url", json_text(t->url),
                          "depth", (int)t->depth, "wrapper", unwrap_kind_name(t->kind),
                          "canonical", json_text(url.canonical), "host",
                          json_text(url.host.text), "registrable",
                          maybe(registrable_of(&url.host)))) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static json_t *expressions_json(const struct reading *u)
{
    json_t *all = json_array();

    for (size_t i = 0; i < u->nexpressions; i++) {
        if (json_array_append_new(all, json_text(u->expressions[i])) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static bool print_url_json(struct reader *r, const struct reading *u)
{
    struct slice none = SLICE_NONE;
    const struct weburl *web = &u->web;
    json_t *object = json_pack(
        "{s:o, s:o, s:s, s:o, s:s, s:i, s:o, s:o, s:o, s:o, s:b}", "url",
        json_text(u->text), "href", maybe(u->has_web ? web->href : none), "scheme",
        u->url.scheme.p, "host", json_text(u->url.host.text), "host_kind",
        kind_name(u->url.host.kind), "port", (int)u->url.port, "path",
        json_text(u->url.path), "query", maybe(u->url.query), "canonical",
        json_text(u->url.canonical), "registrable", maybe(u->registrable), "shortener",
        (int)unwrap_is_shortener(u->url.host.text));
    json_t *rest = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "username",
        maybe(u->has_web && web->username.n > 0 ? web->username : none), "password",
        maybe(u->has_web && web->password.n > 0 ? web->password : none), "fragment",
        maybe(u->has_web ? web->fragment : none), "normal", json_text(u->normal),
        "folded", json_text(u->folded), "template", json_text(u->template),
        "expressions", expressions_json(u), "targets", targets_json(r, u),
        "targets_cut", (int)u->is_cut);

    return json_line(json_with(object, rest));
}

/* ---- for people ---- */

static void print_part(const char *name, struct slice value)
{
    if (value.p != NULL) {
        printf("  %-12s ", name);
        text_print(stdout, value, value.n);
        (void)putchar('\n');
    }
}

static void print_key(const char *name, const struct reading *u, struct slice key)
{
    if (!slice_eq(key, u->url.canonical)) {
        print_part(name, key);
    }
}

static void print_web(const struct reading *u)
{
    if (!u->has_web) {
        (void)puts("  href         (browsers need a scheme, or open no such host)");
        return;
    }
    print_part("href", u->web.href);
    if (u->web.username.n > 0) {
        print_part("username", u->web.username);
    }
    if (u->web.password.n > 0) {
        print_part("password", u->web.password);
    }
}

static void print_url_text(struct reader *r, const struct reading *u)
{
    text_print(stdout, u->text, u->text.n);
    (void)puts(":");
    print_web(u);
    print_part("scheme", u->url.scheme);
    print_part("host", u->url.host.text);
    if (u->url.host.kind != HOST_NAME) {
        printf("  %-12s %s\n", "address", kind_name(u->url.host.kind));
    }
    if (u->url.port != 0) {
        printf("  %-12s %u\n", "port", u->url.port);
    }
    print_part("path", u->url.path);
    print_part("query", u->url.query);
    print_part("fragment", u->has_web ? u->web.fragment : SLICE_NONE);
    print_part("canonical", u->url.canonical);
    print_key("normal", u, u->normal);
    print_key("folded", u, u->folded);
    print_key("template", u, u->template);
    print_part("registrable", u->registrable);
    if (unwrap_is_shortener(u->url.host.text)) {
        (void)puts("  shortener    yes");
    }
    for (size_t i = 0; i < u->nexpressions; i++) {
        print_part("expression", u->expressions[i]);
    }
    for (size_t i = 0; i < u->ntargets; i++) {
        const struct unwrap_target *t = &u->targets[i];
        struct url url;
        printf("  %-12s %u %s ", "target", t->depth, unwrap_kind_name(t->kind));
        text_print(stdout, t->url, t->url.n);
        (void)putchar('\n');
        if (url_parse(r->arena, t->url, &url) == ERR_OK) {
            print_part("  canonical", url.canonical);
            print_part("  registrable", registrable_of(&url.host));
        }
    }
    if (u->is_cut) {
        (void)puts("  target       (more of them, or deeper, than are read)");
    }
}

static const char *why(enum err e)
{
    switch ((int)e) {
    case ERR_LIMIT:
        return "longer than any URL that is looked up";
    case ERR_UNSUPPORTED:
        return "a URL of a scheme that is not looked up (http, https, ftp are)";
    case ERR_SYNTAX:
        return "not a URL";
    default:
        return err_text(e);
    }
}

/* A URL of the command line (line 0) or of standard input. False stops. */
static bool show_url(void *context, struct slice text, unsigned line)
{
    struct reader *r = context;
    struct reading u = {.has_web = false};
    enum err e = ERR_OK;

    arena_reset(r->arena);
    e = read_url(r->arena, text, &u);
    if (e != ERR_OK) {
        r->bad++;
        (void)fputs("gillnet: ", stderr);
        if (line != 0) {
            (void)fprintf(stderr, "-:%u: ", line);
        }
        text_print(stderr, text, TEXT_LINE_MAX);
        (void)fprintf(stderr, ": %s\n", why(e));
        return true;
    }
    if (r->cli->json) {
        r->is_output_bad = !print_url_json(r, &u);
    } else {
        print_url_text(r, &u);
    }
    return !r->is_output_bad && !ferror(stdout);
}

int cmd_url(struct cli *cli, int argc, char **argv)
{
    struct reader r = {.cli = cli};
    int status =
        cli_arguments(CLI_WORDS("url", 1, CLI_MANY,
                                "give URLs, or - for one a line from standard input"),
                      &argc, argv);

    if (status != 0) {
        return status;
    }
    r.arena = arena_new(URL_ARENA);
    if (r.arena == NULL) {
        return cli_nomem();
    }
    if (argc == 2 && strcmp(argv[1], "-") == 0) {
        status = text_each_line("-", show_url, &r, &r.bad);
    }
    for (int i = 1; i < argc && strcmp(argv[1], "-") != 0; i++) {
        if (!show_url(&r, slice_str(argv[i]), 0)) {
            break;
        }
    }
    arena_free(&r.arena);
    if (r.is_output_bad) {
        return EX_OSERR;
    }
    return status == CLI_CLEAN && r.bad > 0 ? EX_DATAERR : status;
}
