#include "core/hub/status/status_board.h"

#include <pthread.h>

#include "core/base/clock.h"

enum { TASKS_MAX = 64, TASK_TEXT_MAX = 64, SHOW_PAUSE_US = 250000 };

struct board_task {
    struct status_board *board; /* NULL: free */
    char what[TASK_TEXT_MAX];
    char name[TASK_TEXT_MAX];
    char stage[TASK_TEXT_MAX];
    double share;
    uint64_t since_s;
    uint64_t shown_us;
};

struct status_board {
    pthread_mutex_t mutex; /* guards all below */
    char *text[STATUS_BOARD_SECTIONS];
    uint64_t version[STATUS_BOARD_SECTIONS];
    struct board_task task[TASKS_MAX];
};

static const char *empty_text(enum status_board_section s)
{
    return s == STATUS_BOARD_HUB || s == STATUS_BOARD_NOW      ? "{}"
           : s == STATUS_BOARD_RING || s == STATUS_BOARD_STORE ? "null"
                                                               : "[]";
}

struct status_board *status_board_new(void)
{
    struct status_board *b = calloc(1, sizeof(*b));
    bool ok = b != NULL && pthread_mutex_init(&b->mutex, NULL) == 0;

    if (!ok) {
        free(b);
        return NULL;
    }
    for (int i = 0; i < STATUS_BOARD_SECTIONS; i++) {
        b->text[i] = strdup(empty_text((enum status_board_section)i));
        ok = ok && b->text[i] != NULL;
    }
    if (!ok) {
        status_board_free(&b);
    }
    return b;
}

void status_board_free(struct status_board **b)
{
    if (*b == NULL) {
        return;
    }
    for (int i = 0; i < STATUS_BOARD_SECTIONS; i++) {
        free((*b)->text[i]);
    }
    (void)pthread_mutex_destroy(&(*b)->mutex);
    free(*b);
    *b = NULL;
}

void status_board_put(struct status_board *b, enum status_board_section s,
                      json_t *value)
{
    char *text =
        value != NULL ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

    json_decref(value);
    if (text == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&b->mutex);
    char *old = b->text[s];
    b->text[s] = text;
    b->version[s]++;
    (void)pthread_mutex_unlock(&b->mutex);
    free(old);
}

void status_board_add(struct status_board *b, enum status_board_section s,
                      struct buf *ret)
{
    (void)pthread_mutex_lock(&b->mutex);
    buf_add_str(ret, b->text[s]);
    (void)pthread_mutex_unlock(&b->mutex);
}

json_t *status_board_get(struct status_board *b, enum status_board_section s)
{
    (void)pthread_mutex_lock(&b->mutex);
    json_t *v = json_loads(b->text[s], JSON_DECODE_ANY, NULL);
    (void)pthread_mutex_unlock(&b->mutex);
    return v;
}

uint64_t status_board_version(struct status_board *b, enum status_board_section s)
{
    (void)pthread_mutex_lock(&b->mutex);
    uint64_t v = b->version[s];
    (void)pthread_mutex_unlock(&b->mutex);
    return v;
}

/* ---- tasks ---- */

/* Under the mutex. */
static json_t *task_rows(const struct status_board *b)
{
    json_t *rows = json_array();

    for (size_t i = 0; rows != NULL && i < TASKS_MAX; i++) {
        const struct board_task *t = &b->task[i];

        if (t->board != NULL) {
            json_t *share = t->share < 0 ? json_null() : json_real(t->share);

            (void)json_array_append_new(
                rows, json_pack("{s:s, s:s, s:s, s:o, s:I}", "what", t->what, "name",
                                t->name, "stage", t->stage, "share", share, "since_s",
                                (json_int_t)t->since_s));
        }
    }
    return rows;
}

static void show_tasks(struct status_board *b)
{
    (void)pthread_mutex_lock(&b->mutex);
    json_t *rows = task_rows(b);
    (void)pthread_mutex_unlock(&b->mutex);
    status_board_put(b, STATUS_BOARD_TASKS, rows);
}

struct board_task *status_board_task_begin(struct status_board *b, const char *what,
                                           const char *name)
{
    struct board_task *found = NULL;

    (void)pthread_mutex_lock(&b->mutex);
    for (size_t i = 0; i < TASKS_MAX && found == NULL; i++) {
        found = b->task[i].board == NULL ? &b->task[i] : NULL;
    }
    if (found != NULL) {
        *found = (struct board_task){
            .board = b, .share = -1, .since_s = clock_wall_us() / 1000000};
        (void)snprintf(found->what, sizeof(found->what), "%s", what);
        (void)snprintf(found->name, sizeof(found->name), "%s", name);
    }
    (void)pthread_mutex_unlock(&b->mutex);
    if (found != NULL) {
        show_tasks(b);
    }
    return found;
}

void status_board_task_show(struct board_task *t, const char *stage, double share)
{
    uint64_t now_us = clock_mono_us();
    bool is_due = false;

    if (t == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&t->board->mutex);
    (void)snprintf(t->stage, sizeof(t->stage), "%s", stage);
    t->share = share;
    is_due = now_us - t->shown_us >= SHOW_PAUSE_US;
    t->shown_us = is_due ? now_us : t->shown_us;
    (void)pthread_mutex_unlock(&t->board->mutex);
    if (is_due) {
        show_tasks(t->board);
    }
}

void status_board_task_end(struct board_task **t)
{
    struct status_board *b = NULL;

    if (*t == NULL) {
        return;
    }
    b = (*t)->board;
    (void)pthread_mutex_lock(&b->mutex);
    (*t)->board = NULL;
    (void)pthread_mutex_unlock(&b->mutex);
    *t = NULL;
    show_tasks(b);
}
