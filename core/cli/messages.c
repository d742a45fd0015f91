/* messages - the messages of files, folders and standard input, with their features. */
#include "core/cli/messages.h"

#include <fts.h>
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/mbox.h"
#include "core/cli/own_reader.h"
#include "core/cli/print.h"
#include "core/list/listed.h"
#include "core/message/url/host.h"
#include "core/verdict/verdict.h"

enum { NUMBER_MAX = 24, US_PER_SECOND = 1000000 };

struct run {
    struct cli *cli;
    const struct messages_envelope *envelope;
    struct extract_limits limits;
    struct arena *arena;
    message_fn *on_message; /* or on_raw */
    message_raw_fn *on_raw;
    void *context;
    int status;
    size_t nread;       /* messages */
    size_t npassed;     /* links to folders, sockets and the like */
    struct mailbox box; /* the file at hand */
};

static void worsen(struct run *r, int status)
{
    r->status = status > r->status ? status : r->status;
}

static void unreadable(struct run *r, const char *path, int errnum)
{
    struct errinfo info = {.code = ERR_OK};
    (void)errinfo_set(&info, err_of_errno(errnum), path, 0, "cannot be read: %s",
                      err_text(err_of_errno(errnum)));
    (void)cli_fail(&info);
    worsen(r, EX_NOINPUT);
}

static void give_envelope(const struct run *r, struct extract *x)
{
    const struct messages_envelope *e = r->envelope;
    if (e->client != NULL) {
        extract_client(x, e->addr, SLICE_NONE);
    }
    if (e->helo != NULL) {
        extract_helo(x, slice_str(e->helo));
    }
    if (e->from != NULL) {
        extract_mail_from(x, slice_str(e->from));
    }
    for (size_t i = 0; i < e->rcpt.n; i++) {
        extract_rcpt_to(x, slice_str(e->rcpt.v[i]));
    }
}

static void on_bytes(void *context, struct slice bytes)
{
    extract_raw(context, bytes);
}

/* "path", or "path:N" where the file has several. */
static struct slice name_message(struct run *r, const char *path, bool has_more,
                                 char ret[FILE_PATH_MAX + NUMBER_MAX])
{
    bool is_alone = !has_more && r->box.messages == 1;

    r->nread++;
    (void)snprintf(ret, FILE_PATH_MAX + NUMBER_MAX, is_alone ? "%s" : "%s:%zu", path,
                   r->box.messages);
    return slice_str(ret);
}

/* The next message of the mailbox, named path, or path:N where it has several. False: it was the
 * last. */
static bool take_message(struct run *r, const char *path)
{
    const struct config *config = r->cli->config;
    uint64_t start = clock_mono_us();
    struct listed listed;
    bool has_more = false;

    arena_reset(r->arena);
    listed_init(&listed, r->envelope->lists);
    r->limits.listed = listed_find;
    r->limits.listed_context = &listed;
    const struct rule_text *text = verdict_read_text(config, r->arena, &r->limits);
    struct vector_reader *reader = vector_reader_new(r->arena, &r->limits);
    if (reader != NULL && r->envelope->keeps_names) {
        vector_reader_keep_names(reader);
    }
    struct extract *x = extract_new(r->arena, &r->limits, config->trusted_authserv.v,
                                    config->trusted_authserv.n);
    if (x == NULL) {
        unreadable(r, path, ENOMEM);
        return false;
    }
    give_envelope(r, x);
    int errnum = mailbox_next(&r->box, on_bytes, x, &has_more);
    if (errnum != 0) {
        unreadable(r, path, errnum);
        extract_drop(x);
        listed_fini(&listed);
        return false;
    }
    char name[FILE_PATH_MAX + NUMBER_MAX];
    struct message m = {.file = name_message(r, path, has_more, name),
                        .features = extract_finish(x),
                        .start_mono_us = start};
    listed_fini(&listed);
    m.auth = extract_auth(x);
    m.conversation = extract_conversation(x);
    m.nrcpt = extract_recipients(x, &m.rcpt);
    m.text = text;
    struct vector vector;
    if (reader != NULL && vector_reader_finish(reader, x, m.features, &vector)) {
        m.vector = &vector;
        m.reader = reader;
    }
    m.bytes = extract_message_bytes(x);
    worsen(r, r->on_message(r->context, r->arena, &m));
    return has_more;
}

static void on_raw_bytes(void *context, struct slice bytes)
{
    buf_add(context, bytes);
}

/* As take_message, with bytes alone. */
static bool take_raw(struct run *r, const char *path)
{
    char name[FILE_PATH_MAX + NUMBER_MAX];
    struct buf bytes;
    bool has_more = false;

    buf_init(&bytes, MESSAGES_RAW_MAX);
    int errnum = mailbox_next(&r->box, on_raw_bytes, &bytes, &has_more);
    if (errnum == 0 && buf_failed(&bytes)) {
        errnum = EFBIG;
    }
    if (errnum != 0) {
        unreadable(r, path, errnum);
    } else {
        struct slice file = name_message(r, path, has_more, name);
        worsen(r, r->on_raw(r->context, file, buf_slice(&bytes)));
    }
    buf_fini(&bytes);
    return has_more && (errnum == 0 || errnum == EFBIG);
}

static void take_messages(struct run *r, int fd, const char *path, bool may_be_mbox)
{
    mailbox_init(&r->box, fd, may_be_mbox);
    while (r->on_raw != NULL ? take_raw(r, path) : take_message(r, path)) {
    }
}

static void take_file(struct run *r, const char *path, bool may_be_mbox)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        unreadable(r, path, errno);
        return;
    }
    take_messages(r, fd, path, may_be_mbox);
    (void)close(fd);
}

/* ---- folders ---- */

/* The kind of a folder; kept in fts_number. */
enum folder { FOLDER_PLAIN, FOLDER_MAILDIR, FOLDER_OF_MESSAGES /* new or cur */ };

static bool has_folder(const char *path, const char *name)
{
    char sub[FILE_PATH_MAX];
    struct stat st;
    return path_make(sub, NULL, "%s/%s", path, name) == ERR_OK && stat(sub, &st) == 0 &&
           S_ISDIR(st.st_mode);
}

static bool is_maildir(const char *path)
{
    return has_folder(path, "cur") && has_folder(path, "new");
}

/* False: the folder holds no mail. Of a Maildir only new, cur and the Maildirs within it are read:
 * tmp holds incomplete messages. */
static bool enter_folder(FTSENT *entry)
{
    long parent = entry->fts_parent != NULL ? entry->fts_parent->fts_number : 0;
    bool is_messages =
        strcmp(entry->fts_name, "new") == 0 || strcmp(entry->fts_name, "cur") == 0;

    if (parent == FOLDER_MAILDIR && is_messages) {
        entry->fts_number = FOLDER_OF_MESSAGES;
    } else if (is_maildir(entry->fts_path)) {
        entry->fts_number = FOLDER_MAILDIR;
    } else {
        return parent == FOLDER_PLAIN;
    }
    return true;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A file in a folder, or a link to one; of a Maildir only those in new and cur are messages. */
static void take_entry(struct run *r, const FTSENT *entry)
{
    long parent = entry->fts_parent->fts_number;
    if (parent != FOLDER_MAILDIR) {
        take_file(r, entry->fts_path, parent == FOLDER_PLAIN);
    }
}

/* A link to a folder is passed over, so no walk runs in a circle or leaves the tree; one to a file
 * is read. */
static void take_link(struct run *r, const FTSENT *entry)
{
    struct stat st;
    if (stat(entry->fts_path, &st) != 0) {
        unreadable(r, entry->fts_path, errno);
    } else if (S_ISREG(st.st_mode)) {
        take_entry(r, entry);
    } else {
        r->npassed++;
    }
}

/* Every regular file below path, and links to such files, in order of names; of a Maildir, its
 * messages. */
static void take_folder(struct run *r, char *path)
{
    char *const roots[] = {path, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    FTSENT *entry = NULL;

    if (walk == NULL) {
        unreadable(r, path, errno);
        return;
    }
    for (;;) {
        errno = 0;
        entry = fts_read(walk);
        if (entry == NULL) {
            break;
        }
        switch (entry->fts_info) {
        case FTS_D:
            if (!enter_folder(entry)) {
                (void)fts_set(walk, entry, FTS_SKIP);
            }
            break;
        case FTS_F:
            take_entry(r, entry);
            break;
        case FTS_SL:
        case FTS_SLNONE:
            take_link(r, entry);
            break;
        case FTS_DEFAULT: /* a socket, a pipe or a device */
            r->npassed++;
            break;
        case FTS_DNR:
        case FTS_ERR:
        case FTS_NS:
            unreadable(r, entry->fts_path, entry->fts_errno);
            break;
        default: /* folders that were left */
            break;
        }
    }
    if (errno != 0) {
        unreadable(r, path, errno);
    }
    (void)fts_close(walk);
}

static void take_path(struct run *r, char *path)
{
    struct stat st;

    if (strcmp(path, "-") == 0) {
        take_messages(r, STDIN_FILENO, path, true);
    } else if (stat(path, &st) != 0) {
        unreadable(r, path, errno);
    } else if (S_ISDIR(st.st_mode)) {
        size_t n = strlen(path);
        while (n > 1 && path[n - 1] == '/') { /* fts would show two */
            path[--n] = '\0';
        }
        take_folder(r, path);
    } else {
        take_file(r, path, true);
    }
}

/* Says what was passed over. That is an error only if nothing else was there. */
static int tell_passed(struct run *r)
{
    if (r->npassed > 0) {
        cli_say("%zu links to folders, sockets, pipes and devices are passed over",
                r->npassed);
        if (r->nread == 0) {
            worsen(r, EX_NOINPUT);
        }
    }
    return r->status;
}

/* Fingerprints need the digest key; an installation that has none yet has none of them. */
static void make_shingle_keys(const struct cli *cli, struct shingle_keys *ret)
{
    struct errinfo why = {.code = ERR_OK};
    struct keyring keys;
    enum err e = keyring_load(cli->config->state_dir, &keys, &why);
    if (e == ERR_OK) {
        shingle_keys_make(&keys.ring[0], clock_wall_us() / US_PER_SECOND, ret);
    } else if (e != ERR_NOT_FOUND) {
        (void)cli_fail(&why);
        cli_say(
            "without the digest key text_band, template_sender and template_network are "
            "left out");
    }
}

void messages_limits(const struct cli *cli, struct extract_limits *ret)
{
    verdict_extract_limits(cli->config, ret);
    own_reader_offer(ret);
    make_shingle_keys(cli, &ret->imprint.keys);
}

int messages_each_raw(struct cli *cli, char **paths, message_raw_fn *on_message,
                      void *context)
{
    struct run r = {
        .cli = cli, .on_raw = on_message, .context = context, .status = CLI_CLEAN};

    for (size_t i = 0; paths[i] != NULL; i++) {
        take_path(&r, paths[i]);
    }
    return tell_passed(&r);
}

int messages_each(struct cli *cli, struct messages_envelope *envelope, char **paths,
                  message_fn *on_message, void *context)
{
    struct run r = {.cli = cli,
                    .envelope = envelope,
                    .on_message = on_message,
                    .context = context,
                    .status = CLI_CLEAN};

    if (envelope->client != NULL &&
        !host_ip_parse(slice_str(envelope->client), envelope->addr)) {
        return cli_error(EX_USAGE, "--client: this is no IP address");
    }
    r.arena = arena_new(cli->config->limits.memory);
    if (r.arena == NULL) {
        return cli_nomem();
    }
    messages_limits(cli, &r.limits);
    for (size_t i = 0; paths[i] != NULL; i++) {
        take_path(&r, paths[i]);
    }
    arena_free(&r.arena);
    return tell_passed(&r);
}
