#include "core/cli/training.h"

#include <math.h>
#include <sysexits.h>
#include <unistd.h>

#include "core/cli/print.h"
#include "core/learn/learner.h"

enum {
    SOURCE_MANY = 8, /* sources; then mail of one is scored without having learnt it */
    SOURCE_SHARE = 20,    /* of all messages, one in so many makes a large source */
    SAMPLES_FIRST = 1024, /* room to begin with */
    GROUP_AT = 2          /* place of the group in an encoded vector */
};

static int take_folder_word(const char *command, struct training *t, int class,
                            char *word)
{
    if (class < 0) {
        return cli_usage(command, "name folders behind --spam and --ham");
    }
    if (t->n[class] == TRAINING_PATHS) {
        return cli_error(EX_USAGE, "more than %d folders", TRAINING_PATHS);
    }
    t->path[class][t->n[class]++] = word;
    return 0;
}

int training_words(const char *command, int argc, char **argv, struct training *ret)
{
    bool is_train = strcmp(command, "train") == 0;
    int status = 0;
    int class = -1;
    for (int i = 1; i < argc && status == 0; i++) {
        const char *word = argv[i];
        bool has_value = strcmp(word, is_train ? "--prior" : "--plot") == 0;
        if (strcmp(word, "--spam") == 0 || strcmp(word, "--ham") == 0) {
            class = word[2] == 's';
        } else if (has_value && i + 1 < argc) {
            *(is_train ? &ret->prior : &ret->plot) = argv[++i];
        } else if (has_value) {
            status = cli_error(EX_USAGE, "%s needs a value", word);
        } else if (!is_train && strcmp(word, "--by-source") == 0) {
            ret->by_source = true;
        } else if (word[0] == '-' && word[1] == '-') {
            status = cli_unknown(word);
        } else {
            status = take_folder_word(command, ret, class, argv[i]);
        }
    }
    if (status == 0 && (ret->n[0] == 0 || ret->n[1] == 0)) {
        status = cli_usage(command, "name at least one folder of spam and one of ham");
    }
    return status;
}

/* ---- messages ---- */

struct reading {
    struct samples *samples;
    bool is_spam;
    int (*judge)(void *context, struct arena *arena, const struct message *m,
                 struct sample *s);
    void *context;
};

/* The folder of "a/b/c.eml"; of a Maildir that with "cur" and "new". */
static char *folder_of(struct slice file)
{
    size_t at = file.n;
    while (at > 0 && file.p[at - 1] != '/') {
        at--;
    }
    at -= at > 0;
    struct slice dir = slice_head(file, at);
    if (slice_has_suffix_nocase(dir, SLICE_LIT("/cur")) ||
        slice_has_suffix_nocase(dir, SLICE_LIT("/new"))) {
        dir = slice_head(dir, dir.n - 4);
    }
    return strndup(dir.n > 0 ? dir.p : ".", dir.n > 0 ? dir.n : 1);
}

static struct sample *add_sample(struct samples *s)
{
    if (s->n == s->room) {
        size_t room = s->room > 0 ? 2 * s->room : SAMPLES_FIRST;
        struct sample *v = reallocarray(s->v, room, sizeof(*v));
        if (v == NULL) {
            return NULL;
        }
        s->v = v;
        s->room = room;
    }
    return &s->v[s->n++];
}

/* The three lowest hashes of the words, as one number: equal for texts that hardly differ. */
static uint64_t replica_of(const struct vector *v)
{
    uint32_t low[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (size_t i = 0; i < v->n; i++) {
        uint32_t hash = v->term[i] * UINT32_C(0x9e3779b1);
        bool is_word = v->term[i] >> VECTOR_HASH_BITS <= VECTOR_TEXT;
        for (unsigned j = 0; j < 3 && is_word; j++) {
            if (hash < low[j]) {
                uint32_t t = low[j];
                low[j] = hash;
                hash = t;
            }
        }
    }
    return ((uint64_t)low[0] << 32 | low[1]) ^ (uint64_t)low[2] << 16;
}

static int by_replica(const void *a, const void *b)
{
    const struct sample *left = *(struct sample *const *)a;
    const struct sample *right = *(struct sample *const *)b;
    return (left->replica > right->replica) - (left->replica < right->replica);
}

/* A campaign of a thousand copies must not decide alone. False: no memory. */
static bool weigh_replicas(struct samples *s)
{
    struct sample **order = calloc(s->n + 1, sizeof(struct sample *));
    for (size_t i = 0; order != NULL && i < s->n; i++) {
        order[i] = &s->v[i];
    }
    if (order == NULL) {
        return false;
    }
    qsort(order, s->n, sizeof(struct sample *), by_replica);
    for (size_t i = 0; i < s->n;) {
        size_t end = i;
        while (end < s->n && order[end]->replica == order[i]->replica) {
            end++;
        }
        for (size_t j = i; j < end; j++) {
            order[j]->weight = 1.0F / sqrtf((float)(end - i));
        }
        i = end;
    }
    free(order);
    return true;
}

static int on_message(void *context, struct arena *arena, const struct message *m)
{
    struct reading *r = context;
    struct sample *s = m->vector != NULL ? add_sample(r->samples) : NULL;
    if (s == NULL) {
        return cli_nomem();
    }
    *s = (struct sample){.file = strndup(m->file.p, m->file.n),
                         .source = folder_of(m->file),
                         .is_spam = r->is_spam,
                         .replica = replica_of(m->vector),
                         .answer = calloc(1, sizeof(*s->answer))};
    buf_init(&s->vector, VECTOR_BYTES);
    if (!vector_encode(m->vector, &s->vector) || s->file == NULL || s->source == NULL ||
        s->answer == NULL) {
        return cli_nomem();
    }
    return r->judge != NULL ? r->judge(r->context, arena, m, s) : CLI_CLEAN;
}

static size_t count_source(const struct samples *s, const char *source)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        n += strcmp(s->v[i].source, source) == 0;
    }
    return n;
}

/* Where there are many sources, mail of a small one is alike: it becomes a group, so that it is
 * scored by a model that knows none of it (core/learn/build.h). */
static void group_by_source(struct samples *s)
{
    size_t nsources = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < s->n; i++) {
            bool is_first = i == 0 || strcmp(s->v[i].source, s->v[i - 1].source) != 0;
            if (pass == 0) {
                nsources += is_first;
                continue;
            }
            size_t n = is_first ? count_source(s, s->v[i].source) : 0;
            bool is_small = n > 0 && n * SOURCE_SHARE < s->n;
            for (size_t j = i;
                 is_small && j < s->n && strcmp(s->v[j].source, s->v[i].source) == 0;
                 j++) {
                uint32_t hash = vector_hash(VECTOR_FIELD, slice_str(s->v[i].source));
                memcpy(s->v[j].vector.p + GROUP_AT, &hash, sizeof(uint16_t));
            }
        }
        if (nsources < SOURCE_MANY) {
            return;
        }
    }
}

int samples_read(struct cli *cli, struct training *t,
                 int (*judge)(void *context, struct arena *arena,
                              const struct message *m, struct sample *s),
                 void *context, struct samples *ret)
{
    struct messages_envelope envelope = {.client = NULL};
    struct reading r = {.samples = ret, .judge = judge, .context = context};
    int status = CLI_CLEAN;
    for (int class = 0; class < 2 && status == CLI_CLEAN; class ++) {
        r.is_spam = class == 1;
        status = messages_each(cli, &envelope, t->path[class], on_message, &r);
    }
    if (status == CLI_CLEAN && ret->n == 0) {
        return cli_error(EX_NOINPUT, "no message is in these files and folders");
    }
    group_by_source(ret);
    return weigh_replicas(ret) ? status : cli_nomem();
}

void samples_free(struct samples *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].file);
        free(s->v[i].source);
        free(s->v[i].answer);
        buf_fini(&s->v[i].vector);
    }
    free(s->v);
    *s = (struct samples){.n = 0};
}

/* ---- a learner on trial ---- */

int trial_learner_open(struct trial_learner *t)
{
    struct errinfo info = {.code = ERR_OK};
    const struct learner_options options = {.prior = NULL};
    const char *base = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe) */
    t->learner = NULL;
    enum err e = path_make(t->dir, &info, "%s/gillnet-learn.XXXXXX",
                           base != NULL ? base : "/tmp");
    if (e == ERR_OK && mkdtemp(t->dir) == NULL) {
        e = errinfo_errno(&info, t->dir, "cannot be made");
        t->dir[0] = '\0';
    }
    THEN(e, learner_open(t->dir, &options, &t->learner, &info));
    return cli_status(e, &info);
}

void trial_learner_close(struct trial_learner *t)
{
    learner_close(&t->learner);
    if (t->dir[0] != '\0') {
        (void)file_remove_tree(t->dir, NULL);
    }
}
