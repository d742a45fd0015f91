/* doctor_state - the state folder, its rights, disk, keys and lists, and gillnetd. */
#include <sys/statvfs.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/statedir_try.h"
#include "core/base/user.h"
#include "core/cli/doctor.h"
#include "core/cli/open_lists.h"
#include "core/cli/services.h"
#include "core/list/list.h"

enum {
    NAMES_MEMORY = 16 << 20,
    DISK_LOW_MIB = 256,  /* below: warn */
    DISK_EMPTY_MIB = 16, /* below: fail */
    VERIFY_MIB_MAX = 256 /* larger lists are not read through here */
};

/* Reports a path that any user may write. is_secret: or read. */
static void check_rights(struct doctor *d, const char *path, bool is_secret)
{
    struct stat st;
    char owner[USER_NAME_BYTES];

    if (lstat(path, &st) != 0) {
        if (errno != ENOENT) {
            doctor_say(d, DOCTOR_WARN, "rights", "run as root or as gillnetd's user",
                       "%s: %s", path, strerrordesc_np(errno));
        }
        return;
    }
    user_name(st.st_uid, owner);
    if (S_ISLNK(st.st_mode)) {
        return; /* gillnet follows no link */
    }
    if ((st.st_mode & S_IWOTH) != 0) {
        doctor_say(d, DOCTOR_FAIL, "rights", "take the right away: chmod o-w",
                   "everybody may write to %s (mode %04o)", path,
                   (unsigned)st.st_mode & 07777);
    } else if (is_secret && (st.st_mode & S_IROTH) != 0) {
        doctor_say(d, DOCTOR_FAIL, "rights", "take the right away: chmod o-r",
                   "everybody may read the secret key %s (mode %04o)", path,
                   (unsigned)st.st_mode & 07777);
    } else if (st.st_uid != 0 && st.st_uid != geteuid() &&
               strncmp(owner, "_gillnet", 8) != 0 && strcmp(owner, "gillnet") != 0) {
        doctor_say(d, DOCTOR_WARN, "rights",
                   "if that is not the user gillnetd runs as, change it with chown",
                   "%s belongs to %s", path, owner);
    }
}

/* Reports keys that the group of the state folder may write: the MTA's user is in it, for the
 * socket. */
static void check_keys_group(struct doctor *d, const struct stat *folder,
                             const char *path)
{
    char advice[FILE_PATH_MAX + 128];
    struct stat st;

    if (lstat(path, &st) == 0 && st.st_gid == folder->st_gid &&
        (st.st_mode & S_IWGRP) != 0) {
        (void)snprintf(advice, sizeof(advice),
                       "give it to a group of gillnetd and gillnet-hub alone, as "
                       "gillnet.tmpfiles does: chgrp -R _gillnet-keys %s",
                       path);
        doctor_say(d, DOCTOR_WARN, "rights", advice,
                   "everyone in the group of the state folder may replace the keys in "
                   "%s",
                   path);
    }
}

static void on_trouble(void *context, const char *what, const char *mend)
{
    doctor_say(context, DOCTOR_FAIL, "rights", mend, "%s", what);
}

/* Tries as the user of each service whether it can use the state folder. */
static void check_services(struct doctor *d)
{
    const struct config *c = d->cli->config;
    struct daemon_view view;
    struct errinfo why = {.code = ERR_OK};
    const bool runs = daemon_look(c, &view, NULL) == ERR_OK && view.is_running;

    for (unsigned i = STATEDIR_GILLNETD; i <= STATEDIR_HUB; i++) {
        struct statedir_use use = {.dir = c->state_dir,
                                   .config_file = c->file,
                                   .service = (enum statedir_service)i};
        const uint64_t pid =
            runs && use.service == STATEDIR_GILLNETD ? view.stats.value[STAT_pid] : 0;

        if (statedir_user(use.dir, use.service, pid, &use.user) &&
            statedir_try(&use, on_trouble, d, &why) != ERR_OK &&
            why.code != ERR_DENIED) {
            doctor_say_why(d, DOCTOR_WARN, "rights", "", &why);
        }
    }
}

static void check_disk(struct doctor *d, const char *dir)
{
    struct statvfs fs;
    uint64_t mib = 0;
    enum doctor_level level = DOCTOR_OK;

    if (statvfs(dir, &fs) != 0) {
        return; /* the folder was looked at before */
    }
    mib = (uint64_t)fs.f_bavail * fs.f_frsize >> 20;
    if (mib < DISK_EMPTY_MIB || (fs.f_files > 0 && fs.f_favail < 16)) {
        level = DOCTOR_FAIL;
    } else if (mib < DISK_LOW_MIB) {
        level = DOCTOR_WARN;
    }
    doctor_say(d, level, "disk",
               level == DOCTOR_OK ? ""
                                  : "make room: imports need about twice a list's size",
               "%llu MiB and %llu files free for %s", (unsigned long long)mib,
               (unsigned long long)fs.f_favail, dir);
}

static void check_keys(struct doctor *d)
{
    struct cli *cli = d->cli;
    struct errinfo why = {0};

    if (keyring_load(cli->config->state_dir, &cli->keys, &why) == ERR_OK) {
        doctor_say(d, DOCTOR_OK, "keys", "", "%u digest key%s and the filter key",
                   cli->keys.n, cli->keys.n == 1 ? "" : "s");
    } else if (why.code == ERR_NOT_FOUND) {
        doctor_say(d, DOCTOR_WARN, "keys",
                   "the first `gillnet list import` or start of gillnetd makes them",
                   "there are none yet");
    } else {
        doctor_say_why(d, DOCTOR_FAIL, "keys",
                       "without its keys no list can be read; restore them from a copy",
                       &why);
    }
}

void doctor_state(struct doctor *d)
{
    static const struct {
        const char *name;
        bool is_secret;
    } inside[] = {{"keys", false},
                  {"keys/digest.key", true},
                  {"keys/filter.key", true},
                  {"lists", false},
                  {"lists/LOCK", false},
                  {"counts", false},
                  {"counts/runs", false},
                  {"counts/LOCK", false},
                  {"identity", false},
                  {"journal", false},
                  {"campaigns", false},
                  {"peers", false},
                  {"feeds", false},
                  {"reports", false},
                  {"users", false},
                  {STATE_STATS_FILE, false},
                  {STATE_LOOKUP_STATS_FILE, false}};
    const char *dir = d->cli->config->state_dir;
    unsigned before = d->nwarn + d->nfail;
    char path[FILE_PATH_MAX];
    struct stat st;

    if (*d->cli->config->file != '\0') {
        check_rights(d, d->cli->config->file, false);
    }
    errno = 0;
    if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode)) {
        const char *why = errno != 0 ? strerrordesc_np(errno) : "not a folder";
        char advice[FILE_PATH_MAX];

        (void)snprintf(advice, sizeof(advice),
                       "make it: install -d -o _gillnet -g _gillnet -m 2750 %s, or set "
                       "state_dir",
                       dir);
        doctor_say(d, DOCTOR_FAIL, "state folder", advice, "%s: %s", dir, why);
        return;
    }
    check_rights(d, dir, false);
    for (size_t i = 0; i < LENGTH(inside); i++) {
        if (path_make(path, NULL, "%s/%s", dir, inside[i].name) == ERR_OK) {
            check_rights(d, path, inside[i].is_secret);
            if (i == 0) {
                check_keys_group(d, &st, path);
            }
        }
    }
    check_services(d);
    if (d->nwarn + d->nfail == before) {
        doctor_say(d, DOCTOR_OK, "state folder", "", "%s", dir);
    }
    check_disk(d, dir);
    check_keys(d);
}

/* ---- lists ---- */

struct verify {
    struct doctor *d;
    const char *what;
};

static void on_finding(void *context, const struct errinfo *finding)
{
    struct verify *v = context;

    doctor_say_why(v->d, DOCTOR_FAIL, v->what, "", finding);
}

/* Other servers cannot find entries under a former key, and this one cannot after the next
 * rotation. */
static void check_key(struct doctor *d, const struct list_reader *reader,
                      struct slice name, const char *what)
{
    char advice[96];

    if (list_reader_key(reader)->id == d->cli->keys.ring[0].id) {
        return;
    }
    (void)snprintf(advice, sizeof(advice), "run gillnet list rekey %.*s",
                   SLICE_ARGS(slice_head(name, LIST_NAME_MAX)));
    doctor_say(
        d, DOCTOR_WARN, what, advice,
        "it is made with a former digest key: found here, but not by the servers "
        "of the ring that it is shared with");
}

/* Filters that err more than designed cost time, never an answer. */
static void check_filters(struct doctor *d, const struct list_reader *reader,
                          const char *what)
{
    struct hits_view *hits = state_hits(d->cli->config);
    struct list_numbers n;
    char advice[64 + LIST_NAME_MAX];
    const char *trouble = NULL;

    list_numbers_get(reader, d->cli->config, hits, &n);
    trouble = list_numbers_trouble(&n);
    if (trouble != NULL) {
        (void)snprintf(advice, sizeof(advice), "gillnet list rebuild %s",
                       list_reader_name(reader));
        doctor_say(d, DOCTOR_WARN, what, advice,
                   "%s (estimated %.4f %%, target %.4f %%)", trouble, n.error_now * 100,
                   n.target * 100);
    }
    lookup_stats_view_free(&hits);
}

static void check_open_list(struct doctor *d, const struct list_reader *reader,
                            struct slice name, const char *what)
{
    const struct config_list *config = config_list_find(d->cli->config, name);
    struct verify v = {d, what};
    struct list_stat s;
    uint64_t age_s = 0;
    bool is_large = false;

    list_reader_stat(reader, &s);
    is_large = (s.filter_bytes + s.index_bytes + s.log_bytes) >> 20 > VERIFY_MIB_MAX;
    if (clock_wall_us() / 1000000 > s.updated_s) {
        age_s = clock_wall_us() / 1000000 - s.updated_s;
    }
    if (list_reader_fault(reader) != NULL) {
        doctor_say(d, DOCTOR_WARN, what, "run gillnet list rebuild", "%s",
                   list_reader_fault(reader));
    }
    check_filters(d, reader, what);
    if (config->max_age_s > 0 && age_s > config->max_age_s) {
        doctor_say(d, DOCTOR_WARN, what,
                   "is its feed still fetched? import it again, or raise max_age",
                   "last changed %llu hours ago, max_age is %llu",
                   (unsigned long long)age_s / 3600,
                   (unsigned long long)config->max_age_s / 3600);
    }
    if (!is_large && list_verify(d->cli->config->state_dir, name, &d->cli->keys,
                                 on_finding, &v) != ERR_OK) {
        return;
    }
    doctor_say(d, DOCTOR_OK, what,
               is_large ? "large: run `gillnet list verify` to read it through" : "",
               "%llu entries, generation %llu%s%s", (unsigned long long)s.entries,
               (unsigned long long)s.generation, config->enabled ? "" : ", not enabled",
               is_large ? "" : ", every checksum holds");
}

static void check_list(struct doctor *d, struct slice name)
{
    struct list_reader *reader = NULL;
    struct errinfo why = {0};
    char what[LIST_NAME_MAX + 8];

    (void)snprintf(what, sizeof(what), "list %.*s",
                   SLICE_ARGS(slice_head(name, LIST_NAME_MAX)));
    if (list_reader_open(d->cli->config->state_dir, name, &d->cli->keys, &reader,
                         &why) != ERR_OK) {
        doctor_say_why(
            d, DOCTOR_FAIL, what,
            "gillnet list verify says more; gillnet list rebuild makes index and "
            "filter from the log",
            &why);
        return;
    }
    check_key(d, reader, name, what);
    check_open_list(d, reader, name, what);
    list_reader_close(&reader);
}

static bool has_list_name(const struct slice *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_eq(names[i], slice_str(name))) {
            return true;
        }
    }
    return false;
}

static void check_rules_lists(struct doctor *d, const struct slice *names, size_t n,
                              const struct config_rule *rule)
{
    const struct config_condition *v = NULL;

    for (size_t i = 0; (v = config_rule_condition(rule, i)) != NULL; i++) {
        if (v->kind == CONDITION_LIST && !has_list_name(names, n, v->word) &&
            !doctor_has_peers_list(d, v->word)) {
            doctor_say(d, DOCTOR_WARN, "lists", "import it, or mend the rule",
                       "%s:%u: rule %s names list %s, which does not exist",
                       config_file_name(d->cli->config, v->file), v->line, rule->name,
                       v->word);
        }
    }
}

static void check_named_lists(struct doctor *d, const struct slice *names, size_t n)
{
    const struct config *c = d->cli->config;

    for (size_t i = 0; i < c->nrules; i++) {
        if (c->rules[i].enabled) {
            check_rules_lists(d, names, n, &c->rules[i]);
        }
    }

    for (size_t i = 0; i < c->nlists; i++) {
        if (!has_list_name(names, n, c->lists[i].name) &&
            !doctor_has_peers_list(d, c->lists[i].name)) {
            doctor_say(d, DOCTOR_WARN, "lists",
                       "import it, or mend the name in the configuration",
                       "the configuration names list %s, which does not exist",
                       c->lists[i].name);
        }
    }
}

void doctor_lists(struct doctor *d)
{
    struct arena *arena = arena_new(NAMES_MEMORY);
    struct errinfo why = {0};
    struct slice *names = NULL;
    size_t n = 0;
    enum err e = ERR_NOMEM;

    if (arena != NULL) {
        e = list_names(d->cli->config->state_dir, arena, &names, &n, &why);
    }
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        doctor_say_why(d, DOCTOR_FAIL, "lists", "", &why);
    } else if (e != ERR_OK || n == 0) {
        n = 0;
        if (doctor_has_peers_list(d, "*")) {
            doctor_say(d, DOCTOR_OK, "lists", "", "none of its own; peers have some");
        } else {
            doctor_say(
                d, DOCTOR_WARN, "lists", "gillnet list import NAME FILE",
                "there are none: links, senders and attachments are looked up nowhere");
        }
    }
    if (e == ERR_OK && d->cli->keys.n > 0) {
        for (size_t i = 0; i < n; i++) {
            check_list(d, names[i]);
        }
    }
    check_named_lists(d, names, e == ERR_OK ? n : 0);
    arena_free(&arena);
}

/* ---- gillnetd ---- */

/* Compares the configuration of gillnetd and the hub with the file; also of a hub without
 * gillnetd. */
static void check_running(struct doctor *d, const struct daemon_view *view)
{
    struct running r;
    struct buf text;
    struct slice rest;

    running_look(d->cli->config, view, &r);
    buf_init(&text, RUNNING_TEXT_MAX);
    running_troubles(&r, &text);
    rest = buf_slice(&text);
    while (rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');

        doctor_say(d, DOCTOR_FAIL, "running configuration", "", "%.*s",
                   SLICE_ARGS(line));
    }
    if (text.n == 0 && (r.daemon != 0 || r.hub != 0)) {
        doctor_say(d, DOCTOR_OK, "running configuration", "",
                   "%08x, as the file has it, in %s%s%s", (unsigned)r.file,
                   r.daemon != 0 ? "gillnetd" : "",
                   r.daemon != 0 && r.hub != 0 ? " and " : "",
                   r.hub != 0 ? "gillnet-hub" : "");
    }
    buf_fini(&text);
}

void doctor_daemon(struct doctor *d)
{
    struct daemon_view view;
    struct errinfo why = {0};

    if (daemon_look(d->cli->config, &view, &why) != ERR_OK) {
        doctor_say_why(d, DOCTOR_FAIL, "gillnetd",
                       "restart gillnetd: it makes a new page", &why);
        return;
    }
    if (!view.is_running) {
        check_running(d, &view);
        doctor_say(
            d, DOCTOR_FAIL, "gillnetd",
            "start it: systemctl start gillnetd; gillnetd -t shows why it would not",
            view.has_page ? "does not run" : "has not run with this state folder");
        return;
    }
    doctor_say(d, DOCTOR_OK, "gillnetd", "",
               "runs as process %llu, %llu messages so far",
               (unsigned long long)view.stats.value[STAT_pid],
               (unsigned long long)view.stats.value[STAT_messages]);
    check_running(d, &view);
    for (unsigned i = 0; i < view.stats.nfaults; i++) {
        /* lists, keys and reader are looked at again; socket and page only at the start */
        struct slice fault = slice_str(view.stats.fault[i]);
        doctor_say(d, DOCTOR_WARN, "gillnetd",
                   slice_has_prefix(fault, SLICE_LIT("list")) ||
                           slice_has_prefix(fault, SLICE_LIT("lines:")) ||
                           slice_has_prefix(fault, SLICE_LIT("filter:")) ||
                           slice_has_prefix(fault, SLICE_LIT("reader:")) ||
                           slice_has_prefix(fault, SLICE_LIT("keys"))
                       ? "mail flows; mend it, gillnetd will see it"
                   : slice_has_prefix(fault, SLICE_LIT("restart:"))
                       ? "restart gillnetd, or give the keys their former values and "
                         "run gillnet reload"
                       : "mail flows; mend it, then restart gillnetd",
                   "fault: %s", view.stats.fault[i]);
    }
    if (view.stats.value[STAT_log_dropped] > 0) {
        doctor_say(d, DOCTOR_WARN, "gillnetd", "is the log's disk or the network slow?",
                   "%llu log lines were lost",
                   (unsigned long long)view.stats.value[STAT_log_dropped]);
    }
}
