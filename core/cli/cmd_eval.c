/* cmd_eval - `gillnet eval`: how well rules and model tell labelled mail apart. */
#include "core/cli/eval_report.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/learn/learner.h"
#include "core/verdict/verdict.h"

struct eval {
    struct cli *cli;
    struct model *model;           /* NULL: nothing was learnt */
    struct list_manager *no_lists; /* lists of today say nothing about mail of then */
};

/* The score of the rules, and the answer of the model in force. */
static int judge(void *context, struct arena *arena, const struct message *m,
                 struct sample *s)
{
    const struct eval *e = context;
    struct verdict verdict;
    struct list_hits hits = {.n = 0};
    struct model_options options;
    const struct verdict_context facts = {
        .auth = m->auth, .text = m->text, .bytes = m->bytes};
    const struct listset *lists = list_manager_acquire(e->no_lists);
    verdict_evaluate(e->cli->config, lists, m->features, &facts, 0, arena, &verdict,
                     &hits);
    list_manager_release(e->no_lists, &lists);
    s->others = verdict.score;
    verdict_model_options(e->cli->config, &options);
    if (e->model != NULL) {
        model_judge(model_data(e->model), &options, m->vector, s->answer);
    }
    s->score = s->others + s->answer->score;
    return CLI_CLEAN;
}

static int judge_again(const struct eval *e, struct learner *l, struct sample *s,
                       struct arena *arena)
{
    struct model_options options;
    struct vector v;
    if (vector_decode(arena, buf_slice(&s->vector), &v) != ERR_OK) {
        return cli_nomem();
    }
    verdict_model_options(e->cli->config, &options);
    learner_judge(l, &options, &v, s->answer);
    arena_reset(arena);
    s->score = s->others + s->answer->score;
    return 0;
}

/* Judges the messages of a source by a model that learnt all others. */
static int leave_out(const struct eval *e, struct samples *s, const char *source,
                     struct arena *arena)
{
    struct trial_learner t;
    int status = trial_learner_open(&t);
    for (size_t i = 0; status == 0 && i < s->n; i++) {
        const struct learner_example example = {.is_spam = s->v[i].is_spam,
                                                .weight = s->v[i].weight,
                                                .source = LEARNER_TRAINED,
                                                .vector = buf_slice(&s->v[i].vector)};
        if (strcmp(s->v[i].source, source) != 0 &&
            learner_put(t.learner, &example) != ERR_OK) {
            status = cli_nomem();
        }
    }
    if (status == 0 && learner_rebuild(t.learner) != ERR_OK) {
        status = cli_nomem();
    }
    for (size_t i = 0; status == 0 && i < s->n; i++) {
        if (strcmp(s->v[i].source, source) == 0) {
            status = judge_again(e, t.learner, &s->v[i], arena);
        }
    }
    trial_learner_close(&t);
    return status;
}

static int leave_each_out(const struct eval *e, struct samples *s)
{
    struct arena *arena = arena_new(1 << 20);
    struct progress progress;
    int status = arena != NULL ? 0 : cli_nomem();
    progress_init(&progress);
    for (size_t i = 0; status == 0 && i < s->n; i++) {
        if (i == 0 || strcmp(s->v[i].source, s->v[i - 1].source) != 0) {
            progress_show(&progress, "sources", (double)i / (double)s->n);
            status = leave_out(e, s, s->v[i].source, arena);
        }
    }
    progress_clear(&progress);
    arena_free(&arena);
    return status;
}

static int open_eval(struct eval *e)
{
    const struct config *config = e->cli->config;
    char path[FILE_PATH_MAX];
    struct errinfo info = {.code = ERR_OK};
    bool has_keys = false;
    int status = state_read_keys(e->cli, &has_keys);
    if (status != 0) {
        return status;
    }
    e->no_lists = list_manager_new(config->state_dir, &e->cli->keys);
    if (e->no_lists == NULL) {
        return cli_nomem();
    }
    enum err err = path_make(path, &info, "%s/%s", config->state_dir, STATE_MODEL_FILE);
    THEN(err, model_open(path, config->model.prior, &e->model, &info));
    return cli_status(err, &info);
}

static int print_report(const struct eval *e, const struct training *words,
                        struct samples *s)
{
    struct errinfo info = {.code = ERR_OK};
    int status = eval_print(e->cli, s);
    if (status == 0 && words->plot != NULL) {
        status = cli_status(eval_plot(s, words->plot, &info), &info);
    }
    return status;
}

int cmd_eval(struct cli *cli, int argc, char **argv)
{
    struct eval e = {.cli = cli};
    struct training words = {.plot = NULL};
    struct samples samples = {.n = 0};
    int status = training_words("eval", argc, argv, &words);

    if (status == 0) {
        status = cli_rules(cli);
    }
    if (status == 0) {
        status = open_eval(&e);
    }
    if (status == 0) {
        status = samples_read(cli, &words, judge, &e, &samples);
    }
    if (status == 0 && words.by_source) {
        status = leave_each_out(&e, &samples);
    }
    if (status == 0) {
        status = print_report(&e, &words, &samples);
    }
    samples_free(&samples);
    list_manager_free(&e.no_lists);
    model_close(&e.model);
    return status;
}
