#include "core/cli/postfix.h"

#include "core/quarantine/queue/run_program.h"

enum { KEY_MAX = 1024 };

static const char blanks[] = " \t,";

void postfix_init(struct postfix *p, const char *postconf, const char *dir)
{
    *p = (struct postfix){.postconf = postconf != NULL ? postconf : POSTCONF_DEFAULT,
                          .dir = dir};
    buf_init(&p->main, POSTFIX_OUTPUT_MAX);
    buf_init(&p->services, POSTFIX_OUTPUT_MAX);
    buf_init(&p->options, POSTFIX_OUTPUT_MAX);
    buf_init(&p->expanded, POSTFIX_OUTPUT_MAX);
}

void postfix_fini(struct postfix *p)
{
    buf_fini(&p->main);
    buf_fini(&p->services);
    buf_fini(&p->options);
    buf_fini(&p->expanded);
}

enum err postfix_ask(const struct postfix *p, const char *const args[], struct buf *ret,
                     struct errinfo *reterr)
{
    const char *argv[POSTFIX_ARGS_MAX + 4] = {p->postconf};
    size_t n = 1;

    if (p->dir != NULL) {
        argv[n++] = "-c";
        argv[n++] = p->dir;
    }
    for (size_t i = 0; i < POSTFIX_ARGS_MAX && args[i] != NULL; i++) {
        argv[n++] = args[i];
    }
    return run_output(argv, ret, reterr);
}

bool postfix_next_setting(struct slice *rest, struct slice *retname,
                          struct slice *retvalue)
{
    if (rest->n == 0) {
        return false;
    }
    *retvalue = slice_cut(rest, '\n');
    *retname = slice_trim(slice_cut(retvalue, '='));
    return true;
}

struct slice postfix_value(const struct buf *text, const char *name)
{
    struct slice rest = buf_slice(text);
    struct slice key;
    struct slice value;

    while (postfix_next_setting(&rest, &key, &value)) {
        if (value.p != NULL && slice_eq(key, slice_str(name))) {
            return slice_trim(value);
        }
    }
    return SLICE_NONE;
}

/* "SERVICE/TYPE/chroot = y" for a service whose command is smtpd and that listens. */
static bool smtpd_is_chrooted(const struct postfix *p)
{
    struct slice rest = buf_slice(&p->services);
    struct slice key;
    struct slice value;

    while (postfix_next_setting(&rest, &key, &value)) {
        struct slice service;
        char chroot[KEY_MAX];

        if (!slice_has_suffix_nocase(key, SLICE_LIT("/command")) ||
            !slice_has_prefix(slice_trim(value), SLICE_LIT("smtpd"))) {
            continue;
        }
        service = slice_head(key, key.n - (sizeof("/command") - 1));
        (void)snprintf(chroot, sizeof(chroot), "%.*s/chroot",
                       SLICE_ARGS(slice_head(service, KEY_MAX - 16)));
        if (slice_eq(postfix_value(&p->services, chroot), SLICE_LIT("y"))) {
            return true;
        }
    }
    return false;
}

enum err postfix_read(struct postfix *p, struct errinfo *reterr)
{
    static const char *const names[] = {"-x",
                                        "smtpd_milters",
                                        "non_smtpd_milters",
                                        "milter_default_action",
                                        "milter_protocol",
                                        "queue_directory",
                                        "smtpd_forbid_bare_newline",
                                        "mail_owner",
                                        "myhostname",
                                        "command_directory",
                                        "config_directory",
                                        "inet_interfaces",
                                        NULL};
    static const char *const services[] = {"-F", "*/*/chroot", "*/*/command", NULL};
    static const char *const options[] = {"-P", NULL};
    static const char *const expanded[] = {"-x", "-P", NULL};
    enum err e = postfix_ask(p, names, &p->main, reterr);

    THEN(e, postfix_ask(p, services, &p->services, reterr));
    THEN(e, postfix_ask(p, options, &p->options, reterr));
    THEN(e, postfix_ask(p, expanded, &p->expanded, reterr));
    p->queue_directory = postfix_value(&p->main, "queue_directory");
    p->is_chrooted = smtpd_is_chrooted(p);
    return e;
}

/* ---- lists of milters ---- */

struct slice postfix_next_milter(struct slice *list)
{
    struct slice milter;
    size_t start = 0;
    size_t end = 0;

    while (start < list->n && strchr(blanks, list->p[start]) != NULL) {
        start++;
    }
    *list = slice_from(*list, start);
    if (list->n > 0 && list->p[0] == '{') {
        *list = slice_from(*list, 1);
        return slice_trim(slice_cut(list, '}'));
    }
    while (end < list->n && strchr(blanks, list->p[end]) == NULL) {
        end++;
    }
    milter = slice_head(*list, end);
    *list = slice_from(*list, end);
    return milter;
}

struct slice postfix_milter_socket(struct slice milter)
{
    size_t n = 0;

    while (n < milter.n && strchr(blanks, milter.p[n]) == NULL) {
        n++;
    }
    return slice_head(milter, n);
}

bool postfix_is_at(const struct postfix *p, const struct socket_name *ours,
                   struct slice milter, bool is_chrooted)
{
    struct socket_name theirs;
    char whole[SOCKET_NAME_PATH];
    char folder[SOCKET_NAME_PATH];

    if (!socket_name_read(postfix_milter_socket(milter), &theirs)) {
        return false;
    }
    (void)snprintf(folder, sizeof(folder), "%.*s",
                   SLICE_ARGS(slice_head(p->queue_directory, SOCKET_NAME_PATH - 1)));
    if (theirs.is_unix && is_chrooted && theirs.path[0] == '/') {
        if (snprintf(whole, sizeof(whole), "%s%s", folder, theirs.path) >=
            (int)sizeof(whole)) {
            return false;
        }
        memcpy(theirs.path, whole, sizeof(whole));
    }
    return socket_name_meets(ours, &theirs, folder);
}
