#include "core/config/config_internal.h"
#include "core/config/config_value.h"
#include "core/config/unit.h"

enum {
    ADDRESS_MAX = 320,
    DOMAIN_MAX = 253,
    LABEL_MAX = 63,
    TOKEN_MAX = 255,
    WEIGHT_NAME_MAX = 32,
    URL_MAX = 512
};

struct elements_networks elements_networks_of(const struct schema_row *row,
                                              struct config *c)
{
    if (row->offset == offsetof(struct config, ntrusted_networks)) {
        return (struct elements_networks){&c->ntrusted_networks, &c->trusted_networks};
    }
    return (struct elements_networks){&c->nallow_networks, &c->allow_networks};
}

const struct ipnet *elements_networks_at(const struct schema_row *row,
                                         const struct config *c, size_t *retcount)
{
    if (row->offset == offsetof(struct config, ntrusted_networks)) {
        *retcount = c->ntrusted_networks;
        return c->trusted_networks;
    }
    *retcount = c->nallow_networks;
    return c->allow_networks;
}

void elements_strings_free(struct config_strings *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i]);
    }
    free(s->v);
    s->v = NULL;
    s->n = 0;
}

bool elements_strings_copy(struct config_strings *to, const struct config_strings *from)
{
    if (from->n == 0) {
        return true;
    }
    to->v = calloc(from->n, sizeof(*to->v));
    if (to->v == NULL) {
        return false;
    }
    for (; to->n < from->n; to->n++) {
        to->v[to->n] = strdup(from->v[to->n]);
        if (to->v[to->n] == NULL) {
            elements_strings_free(to);
            return false;
        }
    }
    return true;
}

static void lower_text(char *s)
{
    for (; *s != '\0'; s++) {
        if (*s >= 'A' && *s <= 'Z') {
            *s = (char)(*s + ('a' - 'A'));
        }
    }
}

/* Checks a domain in place: lower case, without the final dot. NULL when it is one, else what
 * is wrong. */
static const char *tidy_domain(char *s)
{
    size_t n = strlen(s);
    size_t label = 0;

    if (n > 0 && s[n - 1] == '.') {
        s[--n] = '\0';
    }
    lower_text(s);
    if (strncmp(s, "*.", 2) == 0 || *s == '.') {
        return "write the domain alone, such as \"example.org\"; its subdomains are "
               "included";
    }
    if (n == 0 || n > DOMAIN_MAX) {
        return "write a domain such as \"example.org\"";
    }
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] >= 0x80) {
            return "write an international domain in its ASCII form (xn--...)";
        }
        label = s[i] == '.' ? 0 : label + 1;
        if (label > LABEL_MAX || (s[i] == '.' && s[i + 1] == '.') ||
            strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.", s[i]) == NULL) {
            return "this is not a domain; write one such as \"example.org\"";
        }
    }
    return NULL;
}

static const char *tidy_address(char *s)
{
    char *at = strrchr(s, '@');

    if (at == NULL || at == s || strlen(s) > ADDRESS_MAX ||
        strpbrk(s, " <>,") != NULL) {
        return "write an address such as \"name@example.org\", without a display name";
    }
    return tidy_domain(at + 1);
}

/* An address, or "@" and a domain: all of its addresses. */
static const char *tidy_recipient(char *s)
{
    return *s == '@' ? tidy_domain(s + 1) : tidy_address(s);
}

static const char *tidy_token(char *s)
{
    size_t n = strlen(s);

    lower_text(s);
    if (n == 0 || n > TOKEN_MAX) {
        return "write words of 1 to 255 characters";
    }
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] <= ' ' || (unsigned char)s[i] >= 0x7f) {
            return "write words without spaces, of ASCII characters";
        }
    }
    return NULL;
}

/* NAME=NUMBER: a member of the ring and the factor of its weight here, from 0 to 10. */
static const char *tidy_weight(char *s)
{
    static const char form[] = "write a peer's name and a number from 0 to 10, such as "
                               "\"alpha=0.5\"";
    char *equals = strchr(s, '=');
    char *end = NULL;
    double v = 0;

    lower_text(s);
    if (equals == NULL || equals == s || equals - s > WEIGHT_NAME_MAX ||
        strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") != (size_t)(equals - s) ||
        strspn(equals + 1, "0123456789.") != strlen(equals + 1)) {
        return form;
    }
    v = strtod(equals + 1, &end);
    return end == equals + 1 || *end != '\0' || v > 10 ? form : NULL;
}

/* A folder on the web, without what a path is put behind. */
static const char *tidy_url(char *s)
{
    static const char form[] =
        "write an address such as \"https://lists.example/gillnet\"";
    size_t n = strlen(s);
    bool is_web = strncmp(s, "https://", 8) == 0 || strncmp(s, "http://", 7) == 0;

    if (!is_web || n > URL_MAX || strpbrk(s, "?#\"\\<>") != NULL) {
        return form;
    }
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] <= ' ' || (unsigned char)s[i] >= 0x7f) {
            return form;
        }
    }
    while (n > 0 && s[n - 1] == '/') {
        s[--n] = '\0';
    }
    return n > 8 ? NULL : form;
}

static const char *tidy_text(char *s)
{
    for (const char *p = s; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f) {
            return "the text has a control character; write printable ones only";
        }
    }
    return *s == '\0' || strlen(s) > VALUE_TEXT_MAX ? "write 1 to 1024 characters"
                                                    : NULL;
}

/* unix:/PATH, HOST:PORT or [IPV6]:PORT. */
static const char *tidy_listen(char *s)
{
    static const char form[] = "write HOST:PORT, [IPV6]:PORT or unix:/PATH, such as "
                               "\"127.0.0.1:8896\"";
    const char *colon = strrchr(s, ':');
    unsigned long port = 0;

    if (strncmp(s, "unix:", 5) == 0) {
        return s[5] == '/' && s[6] != '\0' && strlen(s + 5) <= VALUE_SOCKET_PATH_MAX
                   ? NULL
                   : "write unix: and an absolute path of at most 107 bytes";
    }
    if (colon == NULL || colon == s || strpbrk(s, " /@") != NULL ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        (*s != '[' && colon != strchr(s, ':'))) {
        return form;
    }
    port = strtoul(colon + 1, NULL, 10); /* too many digits: ULONG_MAX */
    return port == 0 || port > UINT16_MAX ? form : NULL;
}

static void refuse_element(const struct value_place *place,
                           const config_setting_t *element, enum err code,
                           const char *why)
{
    const char *text = config_setting_type(element) == CONFIG_TYPE_STRING
                           ? config_setting_get_string(element)
                           : NULL;

    if (text == NULL) {
        config_errors_add(place->errors, code, place->file, element->line, "%s: %s",
                          place->label, why);
    } else {
        config_errors_add(place->errors, code, place->file, element->line,
                          "%s: \"%.80s\": %s", place->label, text, why);
    }
}

/* Checks a text and tidies it in place; the error in it, or NULL. */
typedef const char *tidy_fn(char *s);
static tidy_fn *const tidy[] = {
    [SCHEMA_DOMAINS] = tidy_domain,
    [SCHEMA_ADDRESSES] = tidy_address,
    [SCHEMA_RECIPIENTS] = tidy_recipient,
    [SCHEMA_WEIGHTS] = tidy_weight,
    [SCHEMA_URLS] = tidy_url,
    [SCHEMA_TEXTS] = tidy_text,
    [SCHEMA_LISTENS] = tidy_listen,
    [SCHEMA_TOKENS] = tidy_token,
};

const char *value_tidy(enum schema_kind kind, char *s)
{
    return tidy[kind](s);
}

/* The element as a text of its own, checked and tidied; NULL after an error. */
static char *take_string(const struct value_place *place,
                         const config_setting_t *element)
{
    const char *text = config_setting_get_string(element);
    char *copy = strdup(text);
    const char *why = NULL;

    if (copy == NULL) {
        refuse_element(place, element, ERR_NOMEM, "out of memory");
        return NULL;
    }
    why = tidy[place->row->kind](copy);
    if (why != NULL) {
        refuse_element(place, element, ERR_SYNTAX, why);
        free(copy);
        return NULL;
    }
    return copy;
}

/* Which of the names of weights stands there twice; NULL: none. Names are lower case by now. */
static const char *weighed_before(const struct config_strings *made, const char *one)
{
    size_t n = strcspn(one, "=") + 1;

    for (size_t i = 0; i < made->n; i++) {
        if (strncmp(made->v[i], one, n) == 0) {
            return made->v[i];
        }
    }
    return NULL;
}

/* A peer has one weight. */
static bool check_weight(const struct value_place *place,
                         const config_setting_t *element,
                         const struct config_strings *made, const char *one)
{
    const char *before =
        place->row->kind == SCHEMA_WEIGHTS ? weighed_before(made, one) : NULL;
    char why[2 * WEIGHT_NAME_MAX + 160];

    if (before != NULL) {
        (void)snprintf(
            why, sizeof(why),
            "this name has the weight \"%.80s\" already; keep one of the two", before);
        refuse_element(place, element, ERR_SYNTAX, why);
    }
    return before == NULL;
}

static bool set_strings(const struct value_place *place,
                        const config_setting_t *setting, unsigned n)
{
    struct config_strings *field =
        (struct config_strings *)(void *)((char *)place->base + place->row->offset);
    struct config_strings made = {0, calloc(n + 1U, sizeof(char *))};
    bool ok = made.v != NULL;

    if (!ok) {
        refuse_element(place, setting, ERR_NOMEM, "out of memory");
    }
    for (unsigned i = 0; made.v != NULL && i < n; i++) {
        const config_setting_t *element = config_setting_get_elem(setting, i);
        char *s = take_string(place, element);

        if (s == NULL) {
            ok = false;
        } else if (!check_weight(place, element, &made, s)) {
            free(s);
            ok = false;
        } else {
            made.v[made.n++] = s;
        }
    }
    if (ok) {
        struct config_strings old = *field;

        *field = made;
        made = old;
    }
    elements_strings_free(&made);
    return ok;
}

static bool set_networks(const struct value_place *place,
                         const config_setting_t *setting, unsigned n)
{
    struct elements_networks field = elements_networks_of(place->row, place->base);
    struct ipnet *made = calloc(n + 1U, sizeof(*made));
    bool ok = made != NULL;

    if (!ok) {
        refuse_element(place, setting, ERR_NOMEM, "out of memory");
    }
    for (unsigned i = 0; made != NULL && i < n; i++) {
        const config_setting_t *element = config_setting_get_elem(setting, i);
        const char *why = NULL;

        if (!unit_network(config_setting_get_string(element), &made[i], &why)) {
            refuse_element(place, element, ERR_SYNTAX, why);
            ok = false;
        }
    }
    if (!ok) {
        free(made);
        return false;
    }
    free(*field.v);
    *field.v = made;
    *field.n = n;
    return true;
}

static bool are_texts(const struct value_place *place, const config_setting_t *setting,
                      unsigned n)
{
    bool ok = true;

    for (unsigned i = 0; i < n; i++) {
        const config_setting_t *element = config_setting_get_elem(setting, i);

        if (config_setting_type(element) != CONFIG_TYPE_STRING) {
            refuse_element(place, element, ERR_SYNTAX,
                           "write each element as text in quotes");
            ok = false;
        }
    }
    return ok;
}

bool elements_set(const struct value_place *place, const config_setting_t *setting)
{
    int type = config_setting_type(setting);
    unsigned n = 0;

    if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) {
        return value_refuse(
            place, setting, ERR_SYNTAX,
            "write an array of texts, such as [ \"one\", \"two\" ], or [ ] for none");
    }
    n = (unsigned)config_setting_length(setting);
    if (n > VALUE_ELEMENTS_MAX) {
        refuse_element(
            place, setting, ERR_LIMIT,
            "more than 10000 elements; use a list (gillnet list import) instead");
        return false;
    }
    if (!are_texts(place, setting, n)) {
        return false;
    }
    if (place->row->kind == SCHEMA_NETWORKS) {
        return set_networks(place, setting, n);
    }
    return set_strings(place, setting, n);
}
