/* token - `gillnet hub token`. */
#include <grp.h>
#include <strings.h>
#include <sysexits.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/base/random.h"
#include "core/base/uninitialized.h"
#include "core/base/user.h"
#include "core/hub/api/api_auth.h"
#include "core/telemetry/changes.h"

#define TOKEN_PREFIX  "gnt-" /* so that people and secret scanners recognise a token */
#define SERVICE_GROUP "_gillnet-keys"

enum {
    SECRET_BYTES = 32,
    LINE_MAX_BYTES = 160,
    FILE_MODE = 0640,
    GROUP_RECORD_MAX = 65536
};

static int print_failure(const char *what, const char *why)
{
    (void)fprintf(stderr, "gillnet-hub: %s: %s\n", what, why);
    return EX_CANTCREAT;
}

static void complain(const struct errinfo *why)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];

    (void)fprintf(stderr, "gillnet-hub: %s\n", errinfo_format(why, text, sizeof(text)));
}

static void note_token(const struct config *config, enum change_kind kind,
                       const char *name, const char *role)
{
    char login[USER_NAME_BYTES];
    struct errinfo why = {.text = ""};
    const struct change c = {.kind = kind,
                             .who = slice_str(user_name(getuid(), login)),
                             .way = SLICE_LIT("command"),
                             .object = slice_str(name),
                             .after = slice_str(role)};

    if (changes_note(config->state_dir, &c, &why) != ERR_OK) {
        complain(&why);
    }
}

/* ERR_OK when there is no file, too. */
static enum err read_tokens(const char *path, struct buf *ret)
{
    struct errinfo why;
    enum err e = ERR_OK;

    buf_init(ret, API_TOKENS_BYTES);
    if (access(path, F_OK) == 0 || errno != ENOENT) {
        e = file_read(path, ret, &why);
    }
    if (e != ERR_OK) {
        complain(&why);
    }
    return e;
}

/* Cuts the next line off *rest. Name and role are empty for a comment. */
static struct slice cut_line(struct slice *rest, struct slice *retname,
                             struct slice *retrole)
{
    struct slice whole = slice_cut(rest, '\n');
    struct slice line = slice_trim(whole);

    if (slice_has_prefix(line, SLICE_LIT("#"))) {
        line = SLICE_NONE;
    }
    *retname = api_token_word(&line);
    *retrole = api_token_word(&line);
    return whole;
}

static bool has_name(struct slice text, struct slice name)
{
    struct slice is = SLICE_NONE;
    struct slice role;

    while (text.n > 0 && !slice_eq(is, name)) {
        (void)cut_line(&text, &is, &role);
    }
    return slice_eq(is, name);
}

/* The group of the digest key, which the service must be able to read, or SERVICE_GROUP. Group= of
 * the unit does not help: the MTA's user is in that group too. False: no group is known. */
static bool service_group(const struct config *config, gid_t *ret)
{
    char keys[FILE_PATH_MAX];
    char record[GROUP_RECORD_MAX];
    struct stat st;
    struct group *found = NULL;
    struct group g;

    if (file_path(keys, "%s/keys", config->state_dir) == ERR_OK &&
        stat(keys, &st) == 0 && st.st_gid != 0) {
        *ret = st.st_gid;
        return true;
    }
    if (getgrnam_r(SERVICE_GROUP, &g, record, sizeof(record), &found) != 0 ||
        found == NULL) {
        return false;
    }
    *ret = g.gr_gid;
    return true;
}

/* root writes the file, the service reads it. */
static void give_to_service(const struct config *config, int fd)
{
    gid_t group = 0;

    if (geteuid() == 0 && service_group(config, &group) &&
        fchown(fd, (uid_t)-1, group) != 0) {
        (void)print_failure(config->api.tokens_file,
                            "the file cannot be given to the group "
                            "of the service");
    }
}

static int append_token(const struct config *config, const char *line)
{
    const char *path = config->api.tokens_file;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = (ssize_t)strlen(line);
    int status = EX_OK;

    if (fd < 0 && errno == ENOENT) {
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    }
    if (fd < 0) {
        return print_failure(path, strerror(errno)); /* NOLINT(concurrency-mt-unsafe) */
    }
    give_to_service(config, fd);
    if (write(fd, line, (size_t)n) != n || fsync(fd) != 0) {
        status = print_failure(path, "the token could not be written");
    }
    (void)close(fd);
    return status;
}

int token_make(const struct config *config, const char *name, const char *role)
{
    const char *path = config->api.tokens_file;
    uint8_t secret[SECRET_BYTES];
    char token[sizeof(TOKEN_PREFIX) + 2UL * SECRET_BYTES] = TOKEN_PREFIX;
    char hex[SHA256_HEX + 1];
    char line[LINE_MAX_BYTES];
    struct sha256 sum;
    enum api_role r = API_NONE;
    struct buf text;

    if (!api_token_name_is_valid(slice_str(name)) ||
        !api_role_by_name(slice_str(role), &r) || r == API_NONE) {
        (void)fputs("usage: gillnet hub token NAME read|report|messages|admin\n"
                    "       gillnet hub token --list\n"
                    "       gillnet hub token --revoke NAME\n"
                    "  NAME: 1 to 32 letters, digits and signs, no space\n",
                    stderr);
        return EX_USAGE;
    }
    enum err e = read_tokens(path, &text);
    bool is_taken = e == ERR_OK && has_name(buf_slice(&text), slice_str(name));

    buf_fini(&text);
    if (e != ERR_OK) {
        return EX_CANTCREAT;
    }
    if (is_taken) {
        return print_failure(
            path, "there is a token of this name; `gillnet hub token --revoke "
                  "NAME` revokes it");
    }
    random_bytes(secret, sizeof(secret));
    hex_print(secret, sizeof(secret), token + sizeof(TOKEN_PREFIX) - 1);
    explicit_bzero(secret, sizeof(secret));
    if (sha256_init(&sum) != ERR_OK) {
        return EX_OSERR;
    }
    sha256_add(&sum, slice_str(token));
    sha256_final_hex(&sum, hex);
    (void)snprintf(line, sizeof(line), "%s %s %s\n", name, api_role_name(r), hex);
    int status = append_token(config, line);

    if (status == EX_OK) {
        printf("%s\n", token);
        note_token(config, CHANGE_token_make, name, api_role_name(r));
    }
    explicit_bzero(token, sizeof(token));
    return status;
}

int token_list(const struct config *config)
{
    struct buf text;
    struct slice name;
    struct slice role;
    enum err e = read_tokens(config->api.tokens_file, &text);
    struct slice rest = buf_slice(&text);

    while (e == ERR_OK && rest.n > 0) {
        enum api_role known = API_NONE;

        (void)cut_line(&rest, &name, &role);
        if (api_token_name_is_valid(name) && api_role_by_name(role, &known)) {
            (void)printf("%-32.*s %s\n", SLICE_ARGS(name), api_role_name(known));
        }
    }
    buf_fini(&text);
    return e == ERR_OK ? EX_OK : EX_NOINPUT;
}

/* Replaces the text of the file. Owner, group and mode stay. */
static int replace(const struct config *config, struct slice text)
{
    const char *path = config->api.tokens_file;
    struct errinfo why = {.code = ERR_OK};
    struct file_out out UNINITIALIZED;
    struct stat st = {.st_uid = 0};
    enum err e = ERR_OK;

    out.fd = -1;
    if (stat(path, &st) != 0) {
        e = errinfo_errno(&why, path, "the file cannot be examined");
    } else {
        e = file_out_open(&out, path, st.st_mode & 07777, &why);
    }

    if (e == ERR_OK) {
        if (geteuid() == 0 && fchown(out.fd, st.st_uid, st.st_gid) != 0) {
            e = errinfo_errno(&why, path, "the file cannot be given to its owner");
            file_out_abort(&out);
        } else {
            give_to_service(config, out.fd);
            file_out_add(&out, text);
            e = file_out_commit(&out, &why);
        }
    }
    if (e != ERR_OK) {
        complain(&why);
    }
    return e == ERR_OK ? EX_OK : EX_CANTCREAT;
}

int token_revoke(const struct config *config, const char *name)
{
    struct buf text;
    struct buf left;
    bool is_found = false;
    int status = EX_CANTCREAT;

    if (read_tokens(config->api.tokens_file, &text) != ERR_OK) {
        buf_fini(&text);
        return EX_NOINPUT;
    }
    buf_init(&left, API_TOKENS_BYTES + 1);
    struct slice rest = buf_slice(&text);
    while (rest.n > 0) {
        struct slice is;
        struct slice role;
        struct slice line = cut_line(&rest, &is, &role);

        if (is.n > 0 && slice_eq(is, slice_str(name))) {
            is_found = true;
            continue;
        }
        buf_add(&left, line);
        buf_add_char(&left, '\n');
    }
    if (!is_found) {
        (void)print_failure(config->api.tokens_file,
                            "there is no token of this name; "
                            "`gillnet hub token --list` shows them");
        status = EX_NOINPUT;
    } else if (!buf_failed(&left)) {
        status = replace(config, buf_slice(&left));
    }
    if (status == EX_OK) {
        note_token(config, CHANGE_token_revoke, name, NULL);
    }
    buf_fini(&left);
    buf_fini(&text);
    return status;
}
