/* doctor_users - the settings of users are compiled, and can be read. */
#include "core/cli/doctor.h"
#include "core/verdict/user/user_file.h"
#include "core/verdict/user/user_table.h"

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
    THEN(e, users_count_in_force(c->state_dir, &n, &why));
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        doctor_say_why(d, DOCTOR_FAIL, "users",
                       "make the table again: gillnet user compile", &why);
    } else if (!is_compiled && text.n == 0 && n > 0) {
        doctor_say(
            d, DOCTOR_WARN, "users",
            "put it back from a backup, or accept the loss: gillnet user compile",
            "%s is missing or empty, and %zu users and domains have settings", path, n);
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
