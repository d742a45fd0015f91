#include "core/hub/token.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/base/random.h"
#include "core/hub/api_auth.h"

#define TOKEN_PREFIX \
    "gnt-" /* so that people, and searches for lost secrets, know one */
#define SERVICE_GROUP "_gillnet-hub"

enum {
    SECRET_BYTES = 32,
    LINE_MAX_BYTES = 160,
    FILE_MODE = 0640,
    GROUP_RECORD_MAX = 65536
};

static int fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "gillnet-hub: %s: %s\n", what, why);
    return EX_CANTCREAT;
}

/* Whether the file has a line of this name. */
static bool has_name(const char *path, struct slice name)
{
    struct buf text;
    bool found = false;

    buf_init(&text, API_TOKENS_BYTES);
    (void)file_read(path, &text, NULL);
    struct slice rest = buf_slice(&text);

    while (rest.n > 0 && !found) {
        struct slice line = slice_trim(slice_cut(&rest, '\n'));

        found = slice_eq(slice_cut(&line, ' '), name);
    }
    buf_fini(&text);
    return found;
}

/* Who makes it is root, who reads it the service. */
static void give_to_service(int fd)
{
    struct group *found = NULL;
    struct group g;
    char record[GROUP_RECORD_MAX];

    if (geteuid() == 0 &&
        getgrnam_r(SERVICE_GROUP, &g, record, sizeof record, &found) == 0 &&
        found != NULL && fchown(fd, (uid_t)-1, g.gr_gid) != 0) {
        (void)fail(SERVICE_GROUP, "the file cannot be given to this group");
    }
}

static int append(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = (ssize_t)strlen(line);
    int status = EX_OK;

    if (fd < 0 && errno == ENOENT) {
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
        if (fd >= 0) {
            give_to_service(fd);
        }
    }
    if (fd < 0) {
        return fail(path, strerror(errno)); /* NOLINT(concurrency-mt-unsafe) */
    }
    if (write(fd, line, (size_t)n) != n || fsync(fd) != 0) {
        status = fail(path, "the token could not be written");
    }
    (void)close(fd);
    return status;
}

int token_make(const struct config *config, const char *name, const char *role)
{
    const char *path = config->api.tokens_file;
    uint8_t secret[SECRET_BYTES];
    char token[sizeof TOKEN_PREFIX + 2UL * SECRET_BYTES] = TOKEN_PREFIX;
    char hex[SHA256_HEX + 1];
    char line[LINE_MAX_BYTES];
    struct sha256 sum;
    enum api_role r = API_NONE;

    if (!api_token_name_is_valid(slice_str(name)) ||
        !api_role_by_name(slice_str(role), &r) || r == API_NONE) {
        (void)fputs("usage: gillnet hub token NAME read|report|admin\n"
                    "  NAME: 1 to 32 letters, digits and signs, no space\n",
                    stderr);
        return EX_USAGE;
    }
    if (has_name(path, slice_str(name))) {
        return fail(path, "there is a token of this name; remove its line first");
    }
    random_bytes(secret, sizeof secret);
    hex_print(secret, sizeof secret, token + sizeof TOKEN_PREFIX - 1);
    explicit_bzero(secret, sizeof secret);
    if (sha256_init(&sum) != ERR_OK) {
        return EX_OSERR;
    }
    sha256_add(&sum, slice_str(token));
    sha256_final_hex(&sum, hex);
    (void)snprintf(line, sizeof line, "%s %s %s\n", name, api_role_name(r), hex);
    int status = append(path, line);

    if (status == EX_OK) {
        printf("%s\n", token);
    }
    explicit_bzero(token, sizeof token);
    return status;
}
