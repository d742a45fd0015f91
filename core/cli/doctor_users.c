/* doctor_users - the settings of users are compiled, and can be read. */
#include "core/cli/doctor.h"
#include "core/verdict/user/user_file.h"
#include "core/verdict/user/user_table.h"

/* Entries of the table in force. */
static enum err count_users(const struct config *c, size_t *ret, struct errinfo *reterr)
{
    struct users *users = users_new(c->state_dir);
    enum err e = users == NULL ? errinfo_nomem(reterr, c->state_dir)
                               : users_refresh(users, reterr);
    struct users_view *view = e == ERR_OK ? users_acquire(users) : NULL;

    *ret = view == NULL ? 0 : users_count(view);
    users_release(users, &view);
    users_free(&users);
    return e;
}

static void say_users(struct doctor *d, const char *path, struct slice text)
{
    const struct config *c = d->cli->config;
    struct errinfo why = {.text = ""};
    bool is_compiled = false;
    size_t n = 0;
    enum err e = users_file_is_compiled(c, text, &is_compiled, &why);

    if (e == ERR_NOT_FOUND && text.n == 0) {
        return; /* no user has settings */
    }
    if (e == ERR_OK && is_compiled) {
        e = count_users(c, &n, &why);
    }
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        doctor_say_why(d, DOCTOR_FAIL, "users",
                       "make the table again: gillnet user compile", &why);
    } else if (!is_compiled) {
        doctor_say(d, DOCTOR_WARN, "users", "run: gillnet user compile",
                   "%s is newer than the settings in force", path);
    } else {
        doctor_say(d, DOCTOR_OK, "users", "", "%zu users and domains with settings", n);
    }
}

void doctor_users(struct doctor *d)
{
    char path[FILE_PATH_MAX];
    struct errinfo why = {.text = ""};
    struct buf text;

    buf_init(&text, USERS_FILE_BYTES);
    enum err e = users_file_path(d->cli->config, path, &why);
    THEN(e, users_file_read(path, &text, &why));
    if (e != ERR_OK) {
        doctor_say_why(d, DOCTOR_WARN, "users", "run as root or as gillnetd's user",
                       &why);
    } else {
        say_users(d, path, buf_slice(&text));
    }
    buf_fini(&text);
}
