#include "core/cli/daemon_process.h"

#include <signal.h>

#include "core/base/file.h"

/* Numbers of processes are used again, so the name is looked at too. */
static bool is_gillnetd(uint64_t pid)
{
    char path[64];
    char name[32] = "";
    FILE *f = NULL;

    if (pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno == ESRCH)) {
        return false;
    }
    (void)snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)pid);
    f = fopen(path, "re");
    if (f == NULL) {
        return errno != ENOENT; /* /proc may be hidden from us */
    }
    if (fgets(name, sizeof(name), f) == NULL) {
        name[0] = '\0';
    }
    (void)fclose(f);
    return strcmp(name, "gillnetd\n") == 0;
}

enum err daemon_look(const struct config *config, struct daemon_view *ret,
                     struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct errinfo why = {0};
    enum err e = file_path(path, "%s/%s", config->state_dir, STATE_STATS_FILE);

    memset(ret, 0, sizeof(*ret));
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, config->state_dir, 0, "the path is too long");
    }
    e = stats_read(path, &ret->stats, &why);
    if (e == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, why.source, why.line, "%s", why.text);
    }
    ret->has_page = true;
    ret->is_running = is_gillnetd(ret->stats.value[STAT_pid]);
    return ERR_OK;
}
