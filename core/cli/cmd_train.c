/* cmd_train - `gillnet train`: learns from folders of labelled mail, or makes a prior of them. */
#include <sysexits.h>

#include "core/base/statedir.h"
#include "core/cli/change_note.h"
#include "core/cli/print.h"
#include "core/cli/training.h"
#include "core/learn/inbox.h"
#include "core/learn/prior.h"

static struct learner_example example_of(const struct sample *s)
{
    return (struct learner_example){.is_spam = s->is_spam,
                                    .weight = s->weight,
                                    .source = LEARNER_TRAINED,
                                    .vector = buf_slice(&s->vector)};
}

static int make_prior(const struct samples *samples, const char *path)
{
    struct errinfo info = {.code = ERR_OK};
    struct trial_learner t;
    int status = trial_learner_open(&t);
    enum err e = ERR_OK;
    for (size_t i = 0; status == 0 && e == ERR_OK && i < samples->n; i++) {
        struct learner_example example = example_of(&samples->v[i]);
        e = learner_put(t.learner, &example);
    }
    if (status == 0) {
        THEN(e, learner_rebuild(t.learner));
        if (e != ERR_OK) {
            (void)errinfo_set(&info, e, path, 0, "cannot be made: %s", err_text(e));
        }
        THEN(e, prior_write(path, learner_model(t.learner), &info));
        status = cli_status(e, &info);
    }
    trial_learner_close(&t);
    return status;
}

/* Hands the examples over; without gillnetd this command learns them itself. */
static int give_examples(struct cli *cli, const struct samples *samples, bool *retwaits)
{
    struct errinfo info = {.code = ERR_OK};
    const struct config *config = cli->config;
    const struct learner_options options = {.prior = config->model.prior};
    struct learner *l = NULL;
    struct buf inbox;
    inbox_init(&inbox);
    for (size_t i = 0; i < samples->n; i++) {
        struct learner_example example = example_of(&samples->v[i]);
        inbox_add(&inbox, &example);
    }
    enum err e = statedir_make(config->state_dir, &info);
    THEN(e, inbox_put(config->state_dir, &inbox, &info));
    buf_fini(&inbox);
    THEN(e, learner_open(config->state_dir, &options, &l, &info));
    *retwaits = e == ERR_LOCKED;
    if (*retwaits) {
        return 0;
    }
    if (e == ERR_OK && learner_prior(l, &info) != ERR_OK) {
        (void)cli_fail(&info); /* what was learnt counts without it */
    }
    THEN(e, learner_tick(l, &info));
    learner_close(&l);
    return cli_status(e, &info);
}

static int say_learnt(const struct cli *cli, const struct samples *samples, bool waits)
{
    size_t nspam = 0;
    for (size_t i = 0; i < samples->n; i++) {
        nspam += samples->v[i].is_spam;
    }
    if (cli->json) {
        return json_status(json_pack("{s:I, s:I, s:b}", "spam", (json_int_t)nspam,
                                     "ham", (json_int_t)(samples->n - nspam), "waits",
                                     waits));
    }
    printf("%zu spam and %zu ham %s\n", nspam, samples->n - nspam,
           waits ? "are learnt by gillnetd within seconds" : "learnt");
    return 0;
}

int cmd_train(struct cli *cli, int argc, char **argv)
{
    struct training words = {.prior = NULL};
    struct samples samples = {.n = 0};
    bool waits = false;
    int status = training_words("train", argc, argv, &words);

    if (status == 0) {
        status = cli_config(cli);
    }
    if (status == 0) {
        status = samples_read(cli, &words, NULL, NULL, &samples);
    }
    if (status == 0 && words.prior != NULL) {
        status = make_prior(&samples, words.prior);
    } else if (status == 0) {
        status = give_examples(cli, &samples, &waits);
        if (status == 0) {
            cli_note(cli,
                     &(struct change){.kind = CHANGE_model_train, .count = samples.n});
        }
    } else {
        /* a message said why */
    }
    if (status == 0) {
        status = say_learnt(cli, &samples, waits);
    }
    samples_free(&samples);
    return status;
}
