/* cmd_messages - `gillnet messages`: judged messages that match a query, newest first or as they
 * come. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/cli/journal_commands.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/verdict/journal/journal_file.h"
#include "core/verdict/journal/message_query.h"

enum {
    US_PER_S = 1000000,
    NS_PER_MS = 1000000,
    DEFAULT_N = 50,
    N_MAX = 1000000000,
    DECIMAL = 10,
    WORDS_MAX = 1 << 20,
    SYMBOLS_SHOWN = 3,
    POLL_MS = 300
};

struct finding {
    const struct message_query *query;
    bool is_json;
    bool is_bad;       /* standard output failed */
    uint64_t left;     /* messages to print */
    uint64_t after;    /* highest number of a record that was read, */
    uint64_t last_us;  /* and the latest time of one */
    struct statx ring; /* of the journal that was read; stx_mask 0: none yet */
};

/* ---- a row ---- */

static void print_recipients(const struct message_row *row)
{
    if (row->nto > 0) {
        text_print(stdout, row->to[0], EVIDENCE_SHOWN);
    } else {
        (void)putchar('-');
    }
    if (row->nrcpt > 1) {
        printf(" + %u more", (unsigned)row->nrcpt - 1);
    }
}

static void print_symbols(const struct message_row *row)
{
    for (size_t i = 0; i < SYMBOLS_SHOWN; i++) {
        const struct record_symbol *s =
            message_row_symbol(row->symbol, row->nsymbols, i);
        if (s == NULL) {
            break;
        }
        (void)fputs(i == 0 ? "  " : ", ", stdout);
        text_print(stdout, s->name, EVIDENCE_SHOWN);
        printf(" %.1f", s->score);
    }
}

static void print_message_row(const struct message_row *row)
{
    char id[CASE_ID_SIZE];
    char when[TEXT_TIME_MAX];

    printf("%s %s %-10s ", text_time(row->time_us / US_PER_S, when),
           case_id_print(row->case_id, id), action_name(row->action));
    if (row->unjudged.n > 0) {
        printf("%6s ", row->is_outgoing ? "out" : "-");
    } else {
        printf("%6.1f ", row->score);
    }
    text_print(stdout, row->from.n > 0 ? row->from : SLICE_LIT("<>"), EVIDENCE_SHOWN);
    (void)fputs(" -> ", stdout);
    print_recipients(row);
    print_symbols(row);
    (void)putchar('\n');
}

static void note_record(struct finding *f, const struct record *r)
{
    f->after = r->number > f->after ? r->number : f->after;
    f->last_us = r->time_us > f->last_us ? r->time_us : f->last_us;
}

/* A record of the journal; false: enough, or standard output failed. */
static bool show_record(void *context, const struct record *r,
                        const struct journal_names *names)
{
    struct finding *f = context;
    struct message_row row;

    (void)names;
    note_record(f, r);
    if (r->kind != RECORD_MESSAGE) {
        return true;
    }
    message_row_of(r, &row);
    if (!message_query_matches(f->query, &row)) {
        return true;
    }
    if (f->is_json) {
        f->is_bad = !json_line(message_row_json(&row));
    } else {
        print_message_row(&row);
        f->is_bad = ferror(stdout) != 0;
    }
    f->left--;
    return !f->is_bad && f->left > 0;
}

/* ---- messages that the journal has ---- */

static int show_newest(const struct cli *cli, struct finding *f)
{
    struct errinfo why = {.code = ERR_OK};
    struct journal_numbers numbers;
    struct journal_query q = {.state_dir = cli->config->state_dir,
                              .newest_first = true,
                              .fn = show_record,
                              .context = f};

    message_query_period(f->query, &q.since_us, &q.until_us);
    if (journal_read(&q, &numbers, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    journal_say_damage(&numbers);
    return f->is_bad ? EX_OSERR : CLI_CLEAN;
}

/* ---- messages that come ---- */

static bool note_newest(void *context, const struct record *r,
                        const struct journal_names *names)
{
    struct finding *f = context;

    (void)names;
    note_record(f, r);
    return false;
}

/* True if the journal is not the one of the last look: it was removed, and its numbers begin
 * again. */
static bool is_another_journal(const char *state_dir, struct finding *f)
{
    char path[FILE_PATH_MAX];
    const struct statx before = f->ring;
    struct statx now;

    if (path_make(path, NULL, "%s/" STATE_JOURNAL_DIR "/" JOURNAL_PENDING, state_dir) !=
            ERR_OK ||
        statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &now) != 0) {
        return false;
    }
    f->ring = now;
    return before.stx_mask != 0 && (before.stx_ino != now.stx_ino ||
                                    before.stx_btime.tv_sec != now.stx_btime.tv_sec ||
                                    before.stx_btime.tv_nsec != now.stx_btime.tv_nsec);
}

/* One reading of the journal. One that gillnetd has not made yet has no messages. */
static int read_once(struct journal_query *q, struct finding *f)
{
    struct errinfo why = {.code = ERR_OK};
    struct journal_numbers numbers;

    if (is_another_journal(q->state_dir, f)) {
        f->after = 0;
        q->since_us = f->last_us + 1;
    }
    if (!q->newest_first) {
        q->after = f->after;
    }
    enum err e = journal_read(q, &numbers, &why);
    return e == ERR_OK || e == ERR_NOT_FOUND ? 0 : cli_fail(&why);
}

static bool has_reader(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};

    return poll(&out, 1, 0) <= 0 || (out.revents & (POLLERR | POLLHUP)) == 0;
}

/* Waits for the next reading. False: a signal ends the command, or nobody reads its output. */
static bool wait_for_next(const sigset_t *ending)
{
    const struct timespec pause = {.tv_nsec = (long)POLL_MS * NS_PER_MS};

    return sigtimedwait(ending, NULL, &pause) < 0 && has_reader();
}

static int show_coming(const struct cli *cli, struct finding *f)
{
    struct journal_query newest = {.state_dir = cli->config->state_dir,
                                   .newest_first = true,
                                   .fn = note_newest,
                                   .context = f};
    struct journal_query q = {
        .state_dir = cli->config->state_dir, .fn = show_record, .context = f};
    sigset_t ending;

    (void)sigemptyset(&ending);
    (void)sigaddset(&ending, SIGINT);
    (void)sigaddset(&ending, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ending, NULL);
    int status = read_once(&newest, f);
    while (status == 0 && !f->is_bad && f->left > 0 && wait_for_next(&ending)) {
        status = read_once(&q, f);
        f->is_bad = fflush(stdout) != 0 || f->is_bad;
    }
    return status == 0 && f->is_bad ? EX_OSERR : status;
}

/* ---- the command ---- */

/* The arguments with a blank between them, as one query. */
static int read_query(int argc, char **argv, struct message_query **ret)
{
    struct errinfo why = {.code = ERR_OK};
    struct buf words;

    buf_init(&words, WORDS_MAX);
    for (int i = 1; i < argc; i++) {
        buf_add_str(&words, argv[i]);
        buf_add_char(&words, ' ');
    }
    enum err e = message_query_parse(buf_slice(&words), clock_wall_us(), ret, &why);
    buf_fini(&words);
    return e == ERR_OK ? 0 : cli_error(EX_USAGE, "%s", why.text);
}

static int read_n(const char *text, bool is_following, uint64_t *ret)
{
    *ret = is_following ? UINT64_MAX : DEFAULT_N;
    if (text != NULL &&
        (!slice_to_u64(slice_str(text), DECIMAL, N_MAX, ret) || *ret == 0)) {
        return cli_error(EX_USAGE, "-n takes a number of messages, such as -n 200");
    }
    return 0;
}

int cmd_messages(struct cli *cli, int argc, char **argv)
{
    const char *most = NULL;
    bool is_following = false;
    bool has_keys = false;
    struct message_query *query = NULL;
    const struct cli_option table[] = {{"-n", &most, NULL, NULL},
                                       {"--follow", NULL, &is_following, NULL}};
    struct finding f = {.is_json = cli->json};
    int status =
        cli_arguments(CLI_FORM("messages", table, 0, CLI_MANY, ""), &argc, argv);

    THEN(status, read_n(most, is_following, &f.left));
    THEN(status, read_query(argc, argv, &query));
    THEN(status, cli_config(cli));
    THEN(status, state_read_keys(cli, &has_keys));
    if (status == 0) {
        if (has_keys) {
            message_query_set_keys(query, &cli->keys);
        }
        f.query = query;
        status = is_following ? show_coming(cli, &f) : show_newest(cli, &f);
    }
    message_query_free(&query);
    return status;
}
