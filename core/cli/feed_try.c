/* feed_try - a folder of links to what is there. */
#include "core/cli/feed_try.h"

#include <dirent.h>
#include <sysexits.h>

#include "core/list/list.h"

enum { DIR_MODE = 0700 };

static int failed(const char *path)
{
    struct errinfo why = {.code = ERR_OK};

    (void)errinfo_errno(&why, path, "a folder to try the feed in cannot be made");
    return cli_fail(&why);
}

static bool link_to(const struct feed_try *t, const char *state, const char *name)
{
    char from[FILE_PATH_MAX];
    char to[FILE_PATH_MAX];

    return file_path(from, "%s/%s", state, name) == ERR_OK &&
           file_path(to, "%s/%s", t->dir, name) == ERR_OK &&
           (access(from, F_OK) != 0 || symlink(from, to) == 0);
}

/* The lists but the feed's. */
static bool link_lists(const struct feed_try *t, const char *state)
{
    char path[FILE_PATH_MAX];
    bool ok = file_path(path, "%s/lists", t->dir) == ERR_OK &&
              mkdir(path, DIR_MODE) == 0 &&
              file_path(path, "%s/lists", state) == ERR_OK;
    DIR *d = ok ? opendir(path) : NULL;

    while (d != NULL && ok) {
        /* cppcheck-suppress readdirCalled ; the stream is ours alone */
        const struct dirent *e = readdir(d); /* NOLINT(concurrency-mt-unsafe) */

        if (e == NULL) {
            break;
        }
        if (list_name_is_valid(slice_str(e->d_name)) &&
            strcmp(e->d_name, t->feed.list) != 0) {
            ok = file_path(path, "lists/%s", e->d_name) == ERR_OK &&
                 link_to(t, state, path);
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    return ok;
}

static int make_dir(struct feed_try *t)
{
    const char *place = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe) */

    if (file_path(t->dir, "%s/gillnet-feed-XXXXXX",
                  place != NULL && *place != '\0' ? place : "/tmp") != ERR_OK ||
        mkdtemp(t->dir) == NULL) {
        t->dir[0] = '\0';
        return failed("TMPDIR");
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
        file_path(ret->url, "file://%s", body) != ERR_OK) {
        (void)fprintf(stderr, "gillnet: %s: cannot be read: %s\n", file,
                      err_text(err_of_errno(errno)));
        return EX_NOINPUT;
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
        status = failed(ret->dir);
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
