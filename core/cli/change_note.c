#include "core/cli/change_note.h"

struct slice cli_author(char ret[CLI_AUTHOR_BYTES])
{
    char login[USER_NAME_BYTES];
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): a command has one thread */
    const char *caller = getuid() == 0 ? secure_getenv("SUDO_USER") : NULL;

    (void)snprintf(ret, CLI_AUTHOR_BYTES, "%s%s%.*s", user_name(getuid(), login),
                   caller != NULL && *caller != '\0' ? "/" : "", USER_NAME_BYTES,
                   caller != NULL ? caller : "");
    return slice_str(ret);
}

void cli_note(struct cli *cli, const struct change *c)
{
    struct errinfo why = {.code = ERR_OK};
    struct change note = *c;
    char who[CLI_AUTHOR_BYTES];

    note.who = cli_author(who);
    note.way = SLICE_LIT("command");
    note.undoes = slice_str(cli->undoes);
    if (changes_note(cli->config->state_dir, &note, &why) != ERR_OK) {
        (void)cli_fail(&why);
        cli_say("the change is made, but not in the log of changes");
    }
    cli->has_noted = true;
}

bool cli_is_administrator(const struct cli *cli)
{
    struct stat st;

    return geteuid() == 0 ||
           (stat(cli->config->state_dir, &st) == 0 && st.st_uid == geteuid());
}
