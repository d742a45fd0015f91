#include "core/hub/api/api_auth.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <strings.h>

#include "core/base/buf.h"
#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/hub/http/http_syntax.h"

struct row {
    struct api_who who;
    char hash[SHA256_HEX + 1];
};

struct api_tokens {
    pthread_mutex_t reading; /* the file; before mutex */
    pthread_mutex_t mutex;   /* the table */
    struct stat sign;        /* of the file that was read last; st_ino 0: none */
    struct row *v;
    size_t n;
};

struct api_tokens *api_tokens_new(void)
{
    struct api_tokens *t = calloc(1, sizeof(*t));

    if (t != NULL && pthread_mutex_init(&t->reading, NULL) != 0) {
        free(t);
        return NULL;
    }
    if (t != NULL && pthread_mutex_init(&t->mutex, NULL) != 0) {
        (void)pthread_mutex_destroy(&t->reading);
        free(t);
        return NULL;
    }
    return t;
}

void api_tokens_free(struct api_tokens **t)
{
    if (*t != NULL) {
        free((*t)->v);
        (void)pthread_mutex_destroy(&(*t)->mutex);
        (void)pthread_mutex_destroy(&(*t)->reading);
        free(*t);
        *t = NULL;
    }
}

/* ---- the file ---- */

bool api_token_name_is_valid(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!http_is_token(slice_of(s.p + i, 1))) {
            return false;
        }
    }
    return s.n > 0 && s.n <= API_NAME_MAX;
}

static bool is_hash(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (strchr("0123456789abcdef", s.p[i]) == NULL) {
            return false;
        }
    }
    return s.n == SHA256_HEX;
}

struct slice api_token_word(struct slice *line)
{
    *line = slice_trim(*line);
    size_t n = 0;

    while (n < line->n && line->p[n] != ' ' && line->p[n] != '\t') {
        n++;
    }
    struct slice word = slice_head(*line, n);

    *line = slice_from(*line, n);
    return word;
}

static bool read_row(struct slice line, struct row *ret)
{
    struct slice name = api_token_word(&line);
    struct slice role = api_token_word(&line);
    struct slice hash = api_token_word(&line);

    *ret = (struct row){.hash = ""};
    if (!api_token_name_is_valid(name) || !is_hash(hash) || slice_trim(line).n > 0 ||
        !api_role_by_name(role, &ret->who.role)) {
        return false;
    }
    memcpy(ret->who.name, name.p, name.n);
    memcpy(ret->hash, hash.p, hash.n);
    ret->who.proof = API_BY_TOKEN;
    return true;
}

static void read_rows(const char *path, struct slice text, struct row **retv,
                      size_t *retn)
{
    unsigned number = 0;

    *retn = 0;
    *retv = calloc(API_TOKENS_MAX, sizeof(**retv));
    while (text.n > 0 && *retv != NULL) {
        struct slice line = slice_trim(slice_cut(&text, '\n'));

        number++;
        if (line.n == 0 || line.p[0] == '#') {
            continue;
        }
        if (*retn == API_TOKENS_MAX || !read_row(line, &(*retv)[*retn])) {
            log_error(
                "event=tokens error=\"%s:%u: not of the form NAME ROLE SHA256, or "
                "one too many: this line is left out\"",
                path, number);
            continue;
        }
        ++*retn;
    }
}

/* NULL: the file may be used. */
static const char *unsafe(const struct stat *st)
{
    if (!S_ISREG(st->st_mode)) {
        return "it is no file";
    }
    if ((st->st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        return "others may read or change it: chmod 0640";
    }
    return st->st_uid != 0 && st->st_uid != geteuid() ? "its owner is neither root nor "
                                                        "this service's user"
                                                      : NULL;
}

/* The text of an open file, at most API_TOKENS_BYTES. */
static bool read_text(int fd, struct buf *ret)
{
    ssize_t got = 1;

    buf_init(ret, API_TOKENS_BYTES);
    while (got > 0) {
        char part[4096];

        got = read(fd, part, sizeof(part));
        buf_add(ret, slice_of(part, got > 0 ? (size_t)got : 0));
    }
    return got == 0 && !buf_failed(ret);
}

/* True for a shortage that may end soon without a change of the file. */
static bool is_passing(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM;
}

/* False: the file must be read again even if it does not change. */
static bool read_token_file(const char *path, struct row **retv, size_t *retn)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    struct buf text;
    const char *why = NULL;
    bool is_final = fd >= 0 || !is_passing(errno);

    *retv = NULL;
    *retn = 0;
    if (!is_final) {
        why = "files or memory run short, it will be read again";
    } else if (fd < 0) {
        why = errno == ENOENT ? NULL : "it cannot be read by this service's user";
    } else if (fstat(fd, &st) != 0) {
        why = "it cannot be read";
    } else if ((why = unsafe(&st)) == NULL) {
        if (read_text(fd, &text)) {
            read_rows(path, buf_slice(&text), retv, retn);
            is_final = *retv != NULL;
        } else {
            why = "it cannot be read, or is too long";
        }
        buf_fini(&text);
    }
    fd_close(&fd);
    if (why != NULL) {
        log_error("event=tokens error=\"%s: %s; no token of it is accepted\"", path,
                  why);
    }
    return is_final;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
           a->st_size == b->st_size && a->st_mode == b->st_mode &&
           a->st_uid == b->st_uid && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static void look_at_file(struct api_tokens *t, const char *path)
{
    struct stat st = {.st_ino = 0};
    struct row *v = NULL;
    size_t n = 0;

    if (stat(path, &st) != 0) {
        st = (struct stat){.st_ino = 0};
    }
    if (is_same_file(&st, &t->sign)) {
        return;
    }
    if (!read_token_file(path, &v, &n)) {
        st = (struct stat){.st_ino = 0};
    }
    t->sign = st;
    (void)pthread_mutex_lock(&t->mutex);
    struct row *old = t->v;
    t->v = v;
    t->n = n;
    (void)pthread_mutex_unlock(&t->mutex);
    free(old);
}

void api_tokens_look(struct api_tokens *t, const char *path)
{
    (void)pthread_mutex_lock(&t->reading);
    look_at_file(t, path);
    (void)pthread_mutex_unlock(&t->reading);
}

/* ---- who ---- */

/* Host without its port, and without the brackets of IPv6. */
static struct slice host_name(struct slice host)
{
    if (host.n > 0 && host.p[0] == '[') {
        return slice_from(slice_head(host, slice_find(host, ']')), 1);
    }
    return slice_head(host, slice_find(host, ':'));
}

/* True for an address: it has a colon or ends in a digit. Host names end in a letter. */
static bool is_address(struct slice name)
{
    struct slice last = slice_from(name, name.n > 0 ? name.n - 1 : 0);

    return slice_find(name, ':') < name.n ||
           (last.n > 0 && last.p[0] >= '0' && last.p[0] <= '9');
}

static bool find_token(struct api_tokens *t, struct slice token, struct api_who *ret)
{
    struct sha256 sum;
    char hash[SHA256_HEX + 1];
    bool found = false;

    if (sha256_init(&sum) != ERR_OK) {
        return false;
    }
    sha256_add(&sum, token);
    sha256_final_hex(&sum, hash);
    (void)pthread_mutex_lock(&t->mutex);
    for (size_t i = 0; i < t->n;
         i++) { /* always all, so that the time does not depend on the token */
        if (CRYPTO_memcmp(hash, t->v[i].hash, SHA256_HEX) == 0) {
            *ret = t->v[i].who;
            found = true;
        }
    }
    (void)pthread_mutex_unlock(&t->mutex);
    return found;
}

bool api_tokens_have(struct api_tokens *t, const struct api_who *who)
{
    bool has = false;

    (void)pthread_mutex_lock(&t->mutex);
    for (size_t i = 0; !has && i < t->n; i++) {
        has = t->v[i].who.role == who->role && strcmp(t->v[i].who.name, who->name) == 0;
    }
    (void)pthread_mutex_unlock(&t->mutex);
    return has;
}

enum api_role api_proxy_role(const struct config *config, struct slice name)
{
    const struct config_strings *users = &config->api.proxy_users;
    enum api_role role = API_NONE;

    for (size_t i = 0; i < users->n; i++) {
        struct slice rest = slice_str(users->v[i]);

        if (slice_eq(slice_cut(&rest, '='), name) && api_role_by_name(rest, &role)) {
            return role;
        }
    }
    return API_NONE;
}

/* Whether the host is a name of this machine. A local client that uses another name was redirected
 * by the owner of that name, or by a page of that site. */
static bool is_here(struct slice host)
{
    struct slice name = host_name(host);

    return name.n == 0 || slice_eq_nocase(name, SLICE_LIT("localhost")) ||
           slice_eq(name, SLICE_LIT("::1")) ||
           (slice_has_prefix(name, SLICE_LIT("127.")) && is_address(name));
}

/* The host of a URL. */
static struct slice url_host(struct slice url)
{
    struct slice rest = slice_from(url, slice_find_slice(url, SLICE_LIT("://")));

    rest = slice_from(rest, rest.n < 3 ? rest.n : 3);
    return slice_head(rest, slice_find(rest, '/'));
}

static bool is_near(const struct http_request *r, bool is_unix)
{
    /* a client of the socket file may use any name without a dot */
    bool is_free = is_unix && slice_find(r->host, '.') == r->host.n;

    return !r->is_passed_on && (is_free || is_here(r->host)) &&
           is_here(url_host(r->referer));
}

bool api_who(struct api_tokens *t, const struct config *config,
             const struct http_request *request, bool is_local, bool is_unix,
             struct api_who *ret)
{
    static const struct slice scheme = {"Bearer ", 7};

    *ret = (struct api_who){.role = API_NONE, .name = "anonymous"};
    if (is_local && is_near(request, is_unix)) {
        *ret = (struct api_who){.role = config->api.local_role, .name = "local"};
    }
    if (request->authorization.n == 0) {
        return true;
    }
    return slice_has_prefix_nocase(request->authorization, scheme) &&
           find_token(t, slice_trim(slice_from(request->authorization, scheme.n)), ret);
}

/* ---- browsers ---- */

static bool is_our_name(const struct config *config, struct slice name)
{
    if (slice_eq_nocase(name, SLICE_LIT("localhost")) || is_address(name)) {
        return true;
    }
    for (size_t i = 0; i < config->api.names.n; i++) {
        if (slice_eq_nocase(name, slice_str(config->api.names.v[i]))) {
            return true;
        }
    }
    return false;
}

const char *api_foreign(const struct config *config, const struct http_request *request,
                        bool is_unix)
{
    struct slice origin = request->origin;
    size_t at = slice_find_slice(origin, SLICE_LIT("://"));

    if (!is_unix && request->host.n > 0 &&
        !is_our_name(config, host_name(request->host))) {
        return "the Host field names neither an address nor localhost, and is not in "
               "api.names";
    }
    if (origin.n > 0 && (at == origin.n ||
                         !slice_eq_nocase(slice_from(origin, at + 3), request->host))) {
        return "the request was made by a page of another site";
    }
    return slice_eq_nocase(request->site, SLICE_LIT("cross-site"))
               ? "the request was made by a page of another site"
               : NULL;
}
