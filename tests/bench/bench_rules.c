/*
 * bench_rules - processor time a message: without rules, with the shipped set, and with 1,000 rules
 * of 1,000 patterns besides.
 *
 * Each message of a folder is read, judged and forgotten, as gillnetd does without an MTA, lists
 * and counts. The configurations take turns with the whole folder, in another order each round, and
 * the least of the rounds counts: neither what else the machine does nor who comes first matters.
 * Two figures are of interest: `ratio` is of all work on a message, `rules_ratio` of what rules
 * alone cost (the text scan, and all of judging): less what a message costs without rules.
 * The patterns are made like those that administrators write: phrases and words of the text,
 * subjects, names, addresses, header values, and forms of URLs; 30 need PCRE2. Words are taken from
 * the same mail, a third of the phrases as they stand there, so that parts are met all the time.
 *
 *     bench_rules FOLDER [rounds]
 *     bench_rules -p FOLDER           prints the 1,000 rules
 */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/verdict/rule/rule.h"
#include "core/verdict/verdict.h"

enum {
    MAILS_MAX = 2000,
    MAIL_BYTES_MAX = 4 << 20,
    WORDS_MAX = 20000,
    WORD_LEAST = 4,
    WORD_MOST = 12,
    WORD_STEP = 400, /* bytes of mail between words that are taken */
    WORD_NEAR = 3,   /* they come in runs of so many */
    RULES = 1000,
    SUBJECTS = 3,
    TEXT_MAX = 4 << 20
};

static struct buf mails[MAILS_MAX];
static size_t nmails;
static char words[WORDS_MAX][WORD_MOST + 1];
static size_t nwords;

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Some neighbours now and then. */
static void take_words(struct slice s)
{
    size_t run = 0;

    for (size_t i = 0; i < s.n && nwords < WORDS_MAX; i++) {
        size_t n = 0;

        while (i + n < s.n && is_letter(s.p[i + n])) {
            n++;
        }
        if (n >= WORD_LEAST && n <= WORD_MOST) {
            memcpy(words[nwords], s.p + i, n);
            words[nwords++][n] = '\0';
            i += ++run % WORD_NEAR == 0 ? WORD_STEP : 0;
        }
        i += n;
    }
}

static void load_mails(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *e = NULL;

    while (d != NULL && (e = readdir(d)) != NULL && nmails < MAILS_MAX) {
        char path[FILE_PATH_MAX];
        struct buf *b = &mails[nmails];

        buf_init(b, MAIL_BYTES_MAX);
        if (e->d_name[0] != '.' &&
            file_path(path, "%s/%s", folder, e->d_name) == ERR_OK &&
            file_read(path, b, NULL) == ERR_OK && b->n > 0) {
            take_words(buf_slice(b));
            nmails++;
        } else {
            buf_fini(b);
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
}

/* ---- patterns ---- */

/* What a pattern is about, and how often of 100. $ is a word, & the one behind it in the mail. */
static const struct form {
    unsigned share;
    const char *feature; /* NULL: the text */
    const char *pattern;
} forms[] = {
    {12, NULL, "\\b$ &\\b"},
    {6, NULL, "$ $"},
    {6, NULL, "\\b($|$|$) (your|my|the|this|our) $\\b"},
    {5, NULL, "$.{0,20}$"},
    {4, NULL, "\\b$[ -]?$\\b"},
    {3, NULL, "(usd|eur|gbp|\\$) ?[0-9]{1,3}([.,][0-9]{3})+ $"},
    {2, NULL, "\\b$ [0-9]{2,4} $s?\\b"},
    {1, NULL, "$[^a-z0-9]{1,5}$"},
    {1, NULL, "\\b$ (für|über|été) $"},
    {9, "subject", "\\b$ &\\b"},
    {4, "subject", "^(re|fwd?|aw): .*$"},
    {4, "subject", "$.*$"},
    {2, "subject", "\\b$[!?]{2,}"},
    {6, "display_name", "^$ ($|$)"},
    {2, "display_name", "\\b$ (support|service|team|security|billing)$"},
    {8, "url", "/$/[^?]*\\.(php|html?)"},
    {5, "url", "[?&]$=[a-z0-9]{12,}"},
    {4, "url", "^[^/]*$[^/]*\\.(top|xyz|click|info|biz)/"},
    {3, "url", "/(wp-content|wp-includes|~$)/$"},
    {4, "url_host", "^($|$)[0-9]{0,3}[.-]"},
    {2, "from", "^$[._-]?$[0-9]*@"},
    {2, "message_id_domain", "^$[0-9]*\\.(localdomain|lan|local)"},
    {2, "mailer", "^$( |/)[0-9]+\\.[0-9]"},
    {1, "subject", "^(?!re: ).*$"},
    {1, "url_host", "([a-z]{3,})[.-]\\1\\.$"},
    {1, "display_name", "(?<!$ )$(?= $)"},
};

static const struct form *any_form(struct prng *r)
{
    uint64_t at = prng_below(r, 100);
    size_t i = 0;

    for (; i + 1 < LENGTH(forms) && at >= forms[i].share; i++) {
        at -= forms[i].share;
    }
    return &forms[i];
}

static void write_pattern(struct prng *r, const char *form, struct buf *b)
{
    size_t at = 0;

    for (const char *p = form; *p != '\0'; p++) {
        if (*p == '\\') {
            buf_printf(b, "\\\\%c", *++p);
        } else if (*p == '$') {
            at = prng_below(r, nwords - 1);
            buf_add_str(b, words[at]);
        } else if (*p == '&') {
            buf_add_str(b, words[at + 1]);
        } else {
            buf_add(b, slice_of(p, 1));
        }
    }
}

/* n rules, each with one pattern and a condition beside it. */
static void write_rules(unsigned n, struct buf *b)
{
    struct prng r;

    prng_init(&r, 17, 0);
    buf_add_str(b, "rules = (\n");
    for (unsigned i = 0; i < n; i++) {
        const struct form *f = any_form(&r);

        buf_printf(b, "%s{ name = \"bench%u\"; score = 0.1; all = ( { ",
                   i > 0 ? ",\n" : "", i);
        if (f->feature != NULL) {
            buf_printf(b, "feature = \"%s\"; ", f->feature);
        }
        buf_add_str(b, f->feature != NULL ? "pattern = \"" : "text = \"");
        write_pattern(&r, f->pattern, b);
        buf_add_str(b, "\"; } ); none = ( { trait = \"html_form\"; }, { feature = "
                       "\"url_host\"; suffix = [ \".invalid\" ]; } ); }");
    }
    buf_add_str(b, ");\n");
}

/* ---- subjects ---- */

/* A configuration, and what messages cost with it. */
struct subject {
    const char *rules;
    unsigned more; /* rules besides */
    struct config *config;
    uint64_t compile_us;
    uint64_t least_us; /* of a round: all messages */
    uint64_t least_judge_us;
};

static void load(const char *dir, struct subject *s)
{
    struct buf b;
    char path[FILE_PATH_MAX];
    FILE *f = NULL;

    buf_init(&b, TEXT_MAX);
    buf_printf(&b, "state_dir = \"%s\";\n%s", dir, s->rules);
    if (s->more > 0) {
        write_rules(s->more, &b);
    }
    (void)file_path(path, "%s/conf", dir);
    f = fopen(path, "w");
    s->compile_us = clock_cpu_us();
    if (f == NULL || fwrite(b.p, 1, b.n, f) != b.n || fclose(f) != 0 ||
        !ruleset_load_or_print("bench_rules", path, &s->config)) {
        exit(1);
    }
    s->compile_us = clock_cpu_us() - s->compile_us;
    s->least_us = UINT64_MAX;
    s->least_judge_us = UINT64_MAX;
    (void)unlink(path);
    buf_fini(&b);
}

/* Returns the processor time of judging; reading comes first. */
static uint64_t judge(const struct config *c, const struct listset *lists,
                      struct arena *arena, struct slice mail, double *retscore)
{
    struct extract_limits limits;
    struct verdict_context context = {.auth = NULL};
    struct verdict v;
    struct list_hits hits;
    uint64_t begin_us = 0;

    arena_reset(arena);
    verdict_extract_limits(c, &limits);
    context.text = verdict_read_text(c, arena, &limits);
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    extract_raw(x, mail);
    struct featureset *features = extract_finish(x);
    context.auth = extract_auth(x);
    context.bytes = mail.n;
    begin_us = clock_cpu_us();
    verdict_evaluate(c, lists, features, &context, 0, arena, &v, &hits);
    *retscore += v.score;
    return clock_cpu_us() - begin_us;
}

static double play(struct subject *s, const struct listset *lists, struct arena *arena)
{
    double score = 0;
    uint64_t judge_us = 0;
    uint64_t us = clock_cpu_us();

    for (size_t i = 0; i < nmails; i++) {
        judge_us += judge(s->config, lists, arena, buf_slice(&mails[i]), &score);
    }
    us = clock_cpu_us() - us;
    s->least_us = us < s->least_us ? us : s->least_us;
    s->least_judge_us = judge_us < s->least_judge_us ? judge_us : s->least_judge_us;
    return score;
}

static void report(const struct subject *s, double score)
{
    struct ruleset_stat shipped;
    struct ruleset_stat stat;
    double n = (double)nmails;
    double bare = (double)s[0].least_us / n;
    double few = (double)s[1].least_us / n;
    double many = (double)s[2].least_us / n;

    ruleset_stat(s[1].config->ruleset, &shipped);
    ruleset_stat(s[2].config->ruleset, &stat);
    (void)printf(
        "{\"bench\": \"rules\", \"mails\": %zu, \"shipped_rules\": %zu, \"rules\": %zu, "
        "\"patterns\": %zu, \"slow_patterns\": %zu, \"compile_ms\": %.0f, "
        "\"no_rules_us\": %.1f, \"shipped_us\": %.1f, \"with_us\": %.1f, "
        "\"ratio\": %.3f, \"rules_ratio\": %.2f, \"judge_shipped_us\": %.1f, "
        "\"judge_with_us\": %.1f, \"score\": %.1f}\n",
        nmails, shipped.rules, stat.rules, stat.patterns, stat.slow_patterns,
        (double)s[2].compile_us / 1000, bare, few, many, many / few,
        (many - bare) / (few - bare), (double)s[1].least_judge_us / n,
        (double)s[2].least_judge_us / n, score);
}

static int print_rules(const char *folder)
{
    struct buf b;

    load_mails(folder);
    buf_init(&b, TEXT_MAX);
    if (nwords >= WORD_NEAR) {
        write_rules(RULES, &b);
    }
    bool ok = b.n > 0 && fwrite(b.p, 1, b.n, stdout) == b.n && fflush(stdout) == 0;
    buf_fini(&b);
    return ok ? 0 : 66;
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/gillnet-bench.XXXXXX";
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5;
    struct arena *arena = arena_new(64 << 20);
    struct subject subjects[SUBJECTS] = {
        {.rules = "rules = ();\n"}, {.rules = ""}, {.rules = "", .more = RULES}};
    double score = 0;

    if (argc == 3 && strcmp(argv[1], "-p") == 0) {
        return print_rules(argv[2]);
    }
    if (argc < 2 || mkdtemp(dir) == NULL || base_init() != ERR_OK) {
        (void)fprintf(stderr, "usage: bench_rules FOLDER [rounds]\n");
        return 64;
    }
    load_mails(argv[1]);
    if (nwords < WORD_NEAR) {
        (void)fprintf(stderr, "bench_rules: %s has no mail\n", argv[1]);
        return 66;
    }
    struct list_manager *lists = list_manager_new(dir, NULL);
    const struct listset *set = list_manager_acquire(lists);
    for (size_t i = 0; i < SUBJECTS; i++) {
        load(dir, &subjects[i]);
    }
    for (unsigned r = 0; r < rounds * SUBJECTS; r++) {
        double sum = play(&subjects[(r + r / SUBJECTS) % SUBJECTS], set, arena);

        score = sum > score ? sum : score;
    }
    report(subjects, score);
    list_manager_release(lists, &set);
    list_manager_free(&lists);
    for (size_t i = 0; i < SUBJECTS; i++) {
        config_release(&subjects[i].config);
    }
    arena_free(&arena);
    (void)rmdir(dir);
    return 0;
}
