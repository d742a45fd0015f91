#include "core/cli/milters.h"

#include <ctype.h>

#include "core/base/file.h"

enum { CONF_MAX = 1 << 20 };

static const struct milter_kind kinds[] = {
    {"OpenDKIM", "opendkim", "opendkim.conf", "8891", true, false},
    {"OpenDMARC", "opendmarc", "opendmarc.conf", "8893", true, false},
    {"dkimpy-milter", "dkimpy", "dkimpy-milter/dkimpy-milter.conf", "8892", true,
     false},
    {"OpenARC", "openarc", "openarc.conf", "8894", true, false},
    {"authentication_milter", "authentication_milter", NULL, "12345", true, false},
    {"rspamd", "rspamd", NULL, "11332", false, true},
    {"ClamAV", "clamav", NULL, "7357", false, false},
    {"SpamAssassin", "spamass", NULL, "783", false, false},
};
enum { NKINDS = LENGTH(kinds) };

/* The value of "Key value" in the configuration of OpenDKIM and its like; false: not there. */
static bool setting(const char *etc, const char *conf, const char *key,
                    char dst[MILTERS_NAME])
{
    char path[FILE_PATH_MAX];
    struct errinfo why = {0};
    struct buf text;
    struct slice rest;
    bool is_found = false;

    if (conf == NULL || path_make(path, NULL, "%s/%s", etc, conf) != ERR_OK) {
        return false;
    }
    buf_init(&text, CONF_MAX);
    (void)file_read(path, &text, &why); /* a file that cannot be read has no settings */
    rest = buf_slice(&text);
    while (rest.n > 0) {
        struct slice line = slice_trim(slice_cut(&rest, '\n'));
        size_t n = 0;

        while (n < line.n && !isspace((unsigned char)line.p[n])) {
            n++;
        }
        if (slice_eq_nocase(slice_head(line, n), slice_str(key))) {
            struct slice value = slice_trim(slice_from(line, n));

            value = slice_trim(slice_head(value, slice_find(value, '#')));
            (void)snprintf(dst, MILTERS_NAME, "%.*s",
                           SLICE_ARGS(slice_head(value, MILTERS_NAME - 1)));
            is_found = value.n > 0;
        }
    }
    buf_fini(&text);
    return is_found;
}

/* Whether the milter of that kind is configured to listen there. */
static bool listens_at(const struct milter_kind *k, const struct socket_name *theirs,
                       const char *etc, const char *folder, bool path_is_inside)
{
    struct socket_name own;
    struct socket_name seen = *theirs;
    char value[MILTERS_NAME];

    if (!setting(etc, k->conf, "Socket", value) ||
        !socket_name_read(slice_str(value), &own)) {
        return false;
    }
    if (seen.is_unix && path_is_inside && seen.path[0] == '/') {
        (void)snprintf(seen.path, sizeof(seen.path), "%s", theirs->path + 1);
    }
    return socket_name_meets(&own, &seen, folder);
}

const struct milter_kind *milter_kind_at(const struct socket_name *theirs,
                                         const char *etc, const char *folder,
                                         bool path_is_inside)
{
    for (size_t i = 0; i < NKINDS; i++) {
        if (listens_at(&kinds[i], theirs, etc, folder, path_is_inside)) {
            return &kinds[i];
        }
    }
    for (size_t i = 0; i < NKINDS; i++) {
        if (theirs->is_unix ? strstr(theirs->path, kinds[i].word) != NULL
                            : strcmp(theirs->port, kinds[i].port) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

const struct milter_kind *milter_kind_named(struct slice name)
{
    for (size_t i = 0; i < NKINDS; i++) {
        if (slice_find_slice(name, slice_str(kinds[i].word)) < name.n) {
            return &kinds[i];
        }
    }
    return NULL;
}

struct slice sendmail_cf_value(struct slice cf, const char *begin)
{
    while (cf.n > 0) {
        struct slice line = slice_cut(&cf, '\n');

        if (slice_has_prefix(line, slice_str(begin))) {
            return slice_trim(slice_from(line, strlen(begin)));
        }
    }
    return SLICE_NONE;
}

/* ---- chains ---- */

bool milter_chain_add(struct milter_chain *c, struct slice text,
                      const struct milter_kind *kind, bool is_ours)
{
    struct milter_chain_link *l = &c->v[c->n];

    if (c->n == MILTERS_MAX || text.n >= sizeof(l->text)) {
        return false;
    }
    *l = (struct milter_chain_link){.kind = kind, .is_ours = is_ours};
    memcpy(l->text, text.p, text.n);
    l->text[text.n] = '\0';
    c->n++;
    return true;
}

static void take_out(struct milter_chain *c, size_t at)
{
    c->n--;
    memmove(&c->v[at], &c->v[at + 1], (c->n - at) * sizeof(c->v[0]));
}

/* Ours may stand, in a chain without it, behind the last that proves (*retfirst) up to in front of
 * the next that reads (*retlast). The best place is returned: right behind proof, else the last. */
static size_t place_in_chain(const struct milter_chain *c, size_t *retfirst,
                             size_t *retlast)
{
    size_t first = c->n;
    size_t last = 0;

    while (first > 0 &&
           (c->v[first - 1].kind == NULL || !c->v[first - 1].kind->proves)) {
        first--;
    }
    last = first;
    while (last < c->n && (c->v[last].kind == NULL || !c->v[last].kind->reads)) {
        last++;
    }
    *retfirst = first;
    *retlast = last;
    return first > 0 ? first : last;
}

bool milter_chain_place(struct milter_chain *c, const char *text)
{
    struct milter_chain_link ours = {.is_ours = true};
    size_t was = 0;
    size_t found = 0;
    size_t first = 0;
    size_t last = 0;
    size_t place = 0;

    (void)snprintf(ours.text, sizeof(ours.text), "%s", text);
    for (size_t i = c->n; i > 0; i--) {
        if (c->v[i - 1].is_ours) {
            ours = c->v[i - 1];
            was = i - 1;
            found++;
            take_out(c, i - 1);
        }
    }
    if (c->n == MILTERS_MAX) {
        return false;
    }
    place = place_in_chain(c, &first, &last);
    if (found == 1 && was >= first && was <= last) {
        place = was;
    }
    memmove(&c->v[place + 1], &c->v[place], (c->n - place) * sizeof(c->v[0]));
    c->v[place] = ours;
    c->n++;
    return found != 1 || place != was;
}

void milter_chain_print(const struct milter_chain *c, struct buf *ret)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct milter_chain_link *l = &c->v[i];

        buf_printf(ret, "%s%s", i == 0 ? "" : ", ",
                   l->is_ours        ? "gillnetd"
                   : l->kind != NULL ? l->kind->name
                                     : l->text);
    }
    if (c->n == 0) {
        buf_add_str(ret, "none");
    }
}

size_t milter_chain_authservs(const struct milter_chain *c, const char *etc,
                              const char *mta_name, char (*ret)[MILTERS_NAME],
                              size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n && n < max; i++) {
        const struct milter_kind *kind = c->v[i].kind;
        size_t same = 0;

        if (kind == NULL || !kind->proves) {
            continue;
        }
        if (!setting(etc, kind->conf, "AuthservID", ret[n])) {
            (void)snprintf(ret[n], MILTERS_NAME, "%s", mta_name);
        } else if (strcmp(ret[n], "HOSTNAME") == 0) {
            ret[n][MILTERS_NAME - 1] = '\0';
            (void)gethostname(ret[n], MILTERS_NAME - 1);
        }
        while (strcmp(ret[same], ret[n]) != 0) {
            same++;
        }
        n += same == n;
    }
    return n;
}
