/* feed_try - a state folder of links, in which a feed is tried. */
#include <sysexits.h>

#include "core/base/dir_walk.h"
#include "core/cli/feed_commands.h"
#include "core/list/list.h"

enum { DIR_MODE = 0700 };

static int fail_folder(const char *path)
{
    struct errinfo why = {.code = ERR_OK};

    (void)errinfo_errno(&why, path, "a folder to try the feed in cannot be made");
    return cli_fail(&why);
}

static bool link_to(const struct feed_try *t, const char *state, const char *name)
{
    char from[FILE_PATH_MAX];
    char to[FILE_PATH_MAX];

    return path_make(from, NULL, "%s/%s", state, name) == ERR_OK &&
           path_make(to, NULL, "%s/%s", t->dir, name) == ERR_OK &&
           (access(from, F_OK) != 0 || symlink(from, to) == 0);
}

/* The lists except the feed's. */
static bool link_lists(const struct feed_try *t, const char *state)
{
    char path[FILE_PATH_MAX];
    char name[FILE_PATH_MAX];
    bool ok = path_make(path, NULL, "%s/lists", t->dir) == ERR_OK &&
              mkdir(path, DIR_MODE) == 0 &&
              path_make(path, NULL, "%s/lists", state) == ERR_OK;
    struct dir_walk w = dir_walk_begin(path, DIR_OPTIONAL);

    while (ok && dir_walk_next(&w)) {
        if (list_name_is_valid(slice_str(w.name)) &&
            strcmp(w.name, t->feed.list) != 0) {
            ok = path_make(name, NULL, "lists/%s", w.name) == ERR_OK &&
                 link_to(t, state, name);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return ok;
}

static int make_dir(struct feed_try *t)
{
    const char *place = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe) */

    if (path_make(t->dir, NULL, "%s/gillnet-feed-XXXXXX",
                  place != NULL && *place != '\0' ? place : "/tmp") != ERR_OK ||
        mkdtemp(t->dir) == NULL) {
        t->dir[0] = '\0';
        return fail_folder("TMPDIR");
    }
    return 0;
}

int feed_try_begin(struct cli *cli, const struct config_feed *feed, const char *file,
                   struct feed_try *ret)
{
    static char name[] = "test";
    char state[PATH_MAX];
    char body[PATH_MAX];

    ret->dir[0] = '\0';
    if (realpath(file, body) == NULL ||
        path_make(ret->url, NULL, "file://%s", body) != ERR_OK) {
        return cli_error(EX_NOINPUT, "%s: cannot be read: %s", file,
                         err_text(err_of_errno(errno)));
    }
    ret->config = *cli->config;
    ret->feed = feed != NULL ? *feed : cli->config->feed_default;
    ret->feed.name = feed != NULL ? feed->name : name;
    ret->feed.list = feed != NULL ? feed->list : name;
    ret->feed.url = ret->url;
    int status = make_dir(ret);
    if (status != 0) {
        return status;
    }
    ret->config.state_dir = ret->dir;
    ret->cli = *cli;
    ret->cli.config = &ret->config;
    if (realpath(cli->config->state_dir, state) != NULL &&
        !(link_to(ret, state, "keys") && link_to(ret, state, "counts") &&
          link_lists(ret, state))) {
        status = fail_folder(ret->dir);
        feed_try_end(ret);
    }
    return status;
}

void feed_try_end(struct feed_try *t)
{
    if (t->dir[0] != '\0') {
        (void)file_remove_tree(t->dir, NULL);
    }
    t->dir[0] = '\0';
}
