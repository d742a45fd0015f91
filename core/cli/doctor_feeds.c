/* doctor_feeds - whether feeds come in, and whether who fetches them may change the lists. */
#include <pwd.h>

#include "core/base/file.h"
#include "core/cli/doctor.h"
#include "core/cli/feed_commands.h"

enum { NAME_MAX_BYTES = 64, USER_BUFFER = 4096, TROUBLE_SHOWN = 400 };

static const char *user_of(uid_t uid, char dst[NAME_MAX_BYTES])
{
    char buffer[USER_BUFFER];
    struct passwd pw;
    struct passwd *found = NULL;

    if (getpwuid_r(uid, &pw, buffer, sizeof(buffer), &found) == 0 && found != NULL) {
        (void)snprintf(dst, NAME_MAX_BYTES, "%s", pw.pw_name);
    } else {
        (void)snprintf(dst, NAME_MAX_BYTES, "%lu", (unsigned long)uid);
    }
    return dst;
}

/* The hub's user is the one that owns peers/; lists/ was gillnetd's before there were feeds. */
static void check_owner(struct doctor *d, uid_t hub, const char *name)
{
    const char *state = d->cli->config->state_dir;
    char path[FILE_PATH_MAX];
    char owner[NAME_MAX_BYTES];
    char user[NAME_MAX_BYTES];
    char advice[FILE_PATH_MAX];
    struct stat st;

    if (file_path(path, "%s/%s", state, name) != ERR_OK || stat(path, &st) != 0 ||
        st.st_uid == hub) {
        return;
    }
    (void)snprintf(advice, sizeof(advice), "chown -R %s %.3000s", user_of(hub, user),
                   path);
    doctor_say(d, DOCTOR_FAIL, "rights", advice,
               "%s belongs to %s, so the hub (%s) cannot bring feeds, or what the API "
               "lists, into the lists",
               path, user_of(st.st_uid, owner), user);
}

static void check_rights(struct doctor *d)
{
    static const char *const names[] = {"lists", "lists/LOCK", "feeds"};
    char path[FILE_PATH_MAX];
    struct stat st;

    if (file_path(path, "%s/peers", d->cli->config->state_dir) != ERR_OK ||
        stat(path, &st) != 0 || st.st_uid == 0) {
        return; /* no hub, or one that runs as root */
    }
    for (size_t i = 0; i < LENGTH(names); i++) {
        check_owner(d, st.st_uid, names[i]);
    }
}

void doctor_feeds(struct doctor *d)
{
    char what[NAME_MAX_BYTES];
    json_t *rows = NULL;
    json_t *row = NULL;
    size_t i = 0;
    bool runs = false;
    int status = 0;

    check_rights(d);
    rows = d->cli->config->nfeeds > 0 ? feed_rows(d->cli, &runs, &status) : NULL;
    if (rows != NULL && !runs) {
        doctor_say(d, DOCTOR_WARN, "feeds",
                   "systemctl enable --now gillnet-hub, or gillnet hub --once from a "
                   "timer",
                   "the hub, which fetches the feeds, does not run");
    }
    json_array_foreach(rows, i, row)
    {
        const char *trouble = feed_row_trouble(row);

        (void)snprintf(what, sizeof(what), "feed %.32s", feed_row_name(row));
        if (*trouble != '\0') {
            bool serves = json_integer_value(json_object_get(row, "entries")) > 0;

            doctor_say(d, DOCTOR_WARN, what,
                       serves ? "the last good version serves; gillnet feed test NAME "
                                "shows what comes now"
                              : "nothing of it serves yet; gillnet feed test NAME "
                                "shows what comes now",
                       "%.*s", (int)TROUBLE_SHOWN, trouble);
        } else {
            doctor_say(d, DOCTOR_OK, what, "", "%" JSON_INTEGER_FORMAT " entries",
                       json_integer_value(json_object_get(row, "entries")));
        }
    }
    json_decref(rows);
}
