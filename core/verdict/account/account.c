#include "core/verdict/account/account.h"

#include <pthread.h>

#include "core/base/array.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/file.h"

enum {
    US_PER_S = 1000000,
    HOUR_S = 3600,
    DAY_S = 86400,
    FILE_MAX = 4 << 20,
    FILE_MODE = 0640,
    COLUMNS = 9,
    DECIMAL = 10
};
#define HEAD       "gillnet-accounts 1"
#define COMPLAINTS "complaints "

struct account {
    uint64_t hash; /* of the login, in this process */
    uint64_t from; /* of its last envelope sender; 0: unknown */
    uint64_t hour;
    uint64_t day;
    uint64_t last_us;
    uint64_t said; /* strangers when they were last too many */
    struct account_numbers n;
    size_t nstrangers;
    size_t room;
    uint64_t *stranger; /* hashes */
    char user[ACCOUNT_USER_MAX + 1];
};

struct accounts {
    char path[FILE_PATH_MAX];
    pthread_mutex_t lock; /* guards: all below */
    bool is_changed;
    size_t n;
    size_t room;
    struct account *v;
};

static uint64_t now_s(void)
{
    return clock_wall_us() / US_PER_S;
}

/* ---- one login ---- */

/* Printable, so that the file and the log have one line of it. */
static void set_user(struct account *a, struct slice user)
{
    user = slice_head(user, ACCOUNT_USER_MAX);
    for (size_t i = 0; i < user.n; i++) {
        const char c = user.p[i];
        a->user[i] = '?';
        if (c > ' ' && c < 0x7f) {
            a->user[i] = c;
        }
    }
    a->user[user.n] = '\0';
    a->hash = hash_local(slice_str(a->user));
}

/* Yesterday's numbers go. */
static void begin_day(struct account *a, uint64_t s)
{
    if (a->day != s / DAY_S) {
        a->n = (struct account_numbers){.messages = 0};
        a->said = 0;
        free(a->stranger);
        a->stranger = NULL;
        a->nstrangers = a->room = 0;
    }
    if (a->hour != s / HOUR_S) {
        a->n.messages_hour = 0;
    }
    a->day = s / DAY_S;
    a->hour = s / HOUR_S;
}

/* False: it was seen today. */
static bool is_new(struct account *a, struct slice address)
{
    const uint64_t hash = hash_local(address);

    for (size_t i = 0; i < a->nstrangers; i++) {
        if (a->stranger[i] == hash) {
            return false;
        }
    }
    if (array_room(&a->stranger, &a->room, a->nstrangers + 1, ACCOUNT_STRANGERS,
                   sizeof(*a->stranger))) {
        a->stranger[a->nstrangers++] = hash;
    }
    return true;
}

/* ---- all logins ---- */

static struct account *oldest(struct accounts *a)
{
    struct account *old = &a->v[0];

    for (size_t i = 1; i < a->n; i++) {
        old = a->v[i].last_us < old->last_us ? &a->v[i] : old;
    }
    return old;
}

/* The login's place; in place of the one that sent longest ago when there are too many. NULL: no
 * memory. */
static struct account *account_of(struct accounts *a, struct slice user)
{
    struct account fresh = {.hash = 0};
    struct account *place = NULL;

    set_user(&fresh, user);
    for (size_t i = 0; i < a->n; i++) {
        if (a->v[i].hash == fresh.hash && strcmp(a->v[i].user, fresh.user) == 0) {
            return &a->v[i];
        }
    }
    if (a->n == ACCOUNTS_MAX) {
        place = oldest(a);
        free(place->stranger);
    } else if (array_room(&a->v, &a->room, a->n + 1, ACCOUNTS_MAX, sizeof(*a->v))) {
        place = &a->v[a->n++];
    } else {
        return NULL;
    }
    *place = fresh;
    return place;
}

static bool add_mail(struct account *a, const struct account_mail *mail, uint64_t most)
{
    a->from = mail->from.n > 0 ? hash_local(mail->from) : a->from;
    a->last_us = clock_wall_us();
    a->n.messages_hour++;
    a->n.messages++;
    a->n.recipients += mail->nrecipients;
    a->n.firsts += mail->nfirsts;
    for (size_t i = 0; i < mail->nstrangers; i++) {
        a->n.strangers += is_new(a, mail->stranger[i]);
    }
    bool is_news = a->n.strangers > most && a->n.strangers >= 2 * a->said;
    a->said = is_news ? a->n.strangers : a->said;
    return is_news;
}

bool accounts_add(struct accounts *a, const struct account_mail *mail, uint64_t most,
                  struct account_numbers *ret)
{
    bool is_news = false;

    *ret = (struct account_numbers){.messages = 0};
    pthread_mutex_lock(&a->lock);
    struct account *one = account_of(a, mail->user);
    if (one != NULL) {
        begin_day(one, now_s());
        is_news = add_mail(one, mail, most);
        *ret = one->n;
        a->is_changed = true;
    }
    pthread_mutex_unlock(&a->lock);
    return is_news;
}

/* Adds to the numbers of those whose bounces go to address. */
static void add_for_address(struct accounts *a, struct slice address,
                            const struct account_numbers *more)
{
    const uint64_t hash = hash_local(address);

    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < a->n; i++) {
        if (a->v[i].from == hash) {
            begin_day(&a->v[i], now_s());
            a->v[i].n.bounces += more->bounces;
            a->v[i].n.complaints += more->complaints;
            a->is_changed = true;
        }
    }
    pthread_mutex_unlock(&a->lock);
}

void accounts_add_bounce(struct accounts *a, struct slice address)
{
    add_for_address(a, address, &(struct account_numbers){.bounces = 1});
}

void accounts_add_complaint(struct accounts *a, struct slice address)
{
    add_for_address(a, address, &(struct account_numbers){.complaints = 1});
}

size_t accounts_above(struct accounts *a, uint64_t most,
                      char retuser[ACCOUNT_USER_MAX + 1], struct account_numbers *ret)
{
    const uint64_t day = now_s() / DAY_S;
    size_t n = 0;

    *ret = (struct account_numbers){.messages = 0};
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < a->n; i++) {
        const struct account *one = &a->v[i];
        if (one->day != day || one->n.strangers <= most) {
            continue;
        }
        n++;
        if (one->n.strangers > ret->strangers) {
            *ret = one->n;
            memcpy(retuser, one->user, sizeof(one->user));
        }
    }
    pthread_mutex_unlock(&a->lock);
    return n;
}

/* ---- the file ---- */

static void print_line(const struct account *a, struct buf *ret)
{
    const struct account_numbers *n = &a->n;

    buf_printf(ret,
               "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
               " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
               a->hour, a->last_us, n->messages_hour, n->messages, n->recipients,
               n->strangers, n->firsts, n->bounces, a->said, a->user);
    if (n->complaints > 0) { /* gillnetd before 0.2 leaves such a line out */
        buf_printf(ret, COMPLAINTS "%" PRIu64 " %s\n", n->complaints, a->user);
    }
}

enum err accounts_save(struct accounts *a, struct errinfo *reterr)
{
    struct buf text;

    buf_init(&text, FILE_MAX);
    pthread_mutex_lock(&a->lock);
    bool is_changed = a->is_changed;
    a->is_changed = false;
    buf_add_str(&text, HEAD "\n");
    for (size_t i = 0; is_changed && i < a->n; i++) {
        print_line(&a->v[i], &text);
    }
    pthread_mutex_unlock(&a->lock);
    enum err e = buf_failed(&text) ? errinfo_nomem(reterr, a->path) : ERR_OK;
    if (e == ERR_OK && is_changed) {
        e = file_write_atomic(a->path, buf_slice(&text), FILE_MODE, reterr);
    }
    if (e != ERR_OK) {
        pthread_mutex_lock(&a->lock);
        a->is_changed = true;
        pthread_mutex_unlock(&a->lock);
    }
    buf_fini(&text);
    return e;
}

/* COUNT and the login, whose other numbers stand in the line before. */
static void read_complaints(struct accounts *a, struct slice line)
{
    uint64_t n = 0;

    if (slice_to_u64(slice_cut(&line, ' '), DECIMAL, UINT64_MAX, &n) && a->n > 0 &&
        slice_eq(line, slice_str(a->v[a->n - 1].user))) {
        a->v[a->n - 1].n.complaints = n;
    }
}

/* Leaves out a line that it cannot read; the numbers of its login start at 0. */
static void read_account(struct accounts *a, struct slice line)
{
    uint64_t column[COLUMNS];

    if (slice_has_prefix(line, SLICE_LIT(COMPLAINTS))) {
        read_complaints(a, slice_from(line, sizeof(COMPLAINTS) - 1));
        return;
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!slice_to_u64(slice_cut(&line, ' '), DECIMAL, UINT64_MAX, &column[i])) {
            return;
        }
    }
    struct account *one = line.n > 0 ? account_of(a, line) : NULL;
    if (one == NULL) {
        return;
    }
    one->hour = column[0];
    one->day = column[0] * HOUR_S / DAY_S;
    one->last_us = column[1];
    one->n = (struct account_numbers){.messages_hour = column[2],
                                      .messages = column[3],
                                      .recipients = column[4],
                                      .strangers = column[5],
                                      .firsts = column[6],
                                      .bounces = column[7]};
    one->said = column[COLUMNS - 1];
}

static enum err read_accounts(struct accounts *a, struct errinfo *reterr)
{
    struct buf text;

    buf_init(&text, FILE_MAX);
    enum err e = file_read(a->path, &text, reterr);
    struct slice rest = buf_slice(&text);
    struct slice head = slice_cut(&rest, '\n');
    if (e == ERR_OK && !slice_eq(head, SLICE_LIT(HEAD))) {
        e = errinfo_set(reterr, ERR_CORRUPT, a->path, 1,
                        "this is no file of accounts; remove it, and today's numbers "
                        "start at 0");
    }
    while (e == ERR_OK && rest.p != NULL) {
        read_account(a, slice_cut(&rest, '\n'));
    }
    buf_fini(&text);
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

enum err accounts_open(const char *path, struct accounts **ret, struct errinfo *reterr)
{
    struct accounts *a = calloc(1, sizeof(*a));

    if (a == NULL) {
        return errinfo_nomem(reterr, path);
    }
    (void)pthread_mutex_init(&a->lock, NULL);
    enum err e = path_make(a->path, reterr, "%s", path);
    THEN(e, read_accounts(a, reterr));
    if (e != ERR_OK) {
        accounts_close(&a);
    }
    *ret = a;
    return e;
}

void accounts_close(struct accounts **pa)
{
    struct accounts *a = *pa;

    *pa = NULL;
    if (a == NULL) {
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        free(a->v[i].stranger);
    }
    free(a->v);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
