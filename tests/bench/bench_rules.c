/*
 * bench_rules - processor time a message with the shipped rules, and with 1,000 rules and 1,000
 * patterns besides.
 *
 * Each message of a folder is read and judged by both configurations in turn, in one run, so that
 * the ratio does not depend on what else the machine does. The patterns are made of words of the
 * same messages, a half of them for the text and the others for subjects, names and links: parts of
 * them are met all the time. No lists and no counts.
 *
 *     bench_rules FOLDER [rounds]
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
    WORD_LEAST = 5,
    WORD_MOST = 10,
    RULES = 1000,
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

/* A word now and then, in the order of the mail. */
static void take_words(struct slice s)
{
    for (size_t i = 0; i < s.n && nwords < WORDS_MAX; i++) {
        size_t n = 0;

        while (i + n < s.n && is_letter(s.p[i + n])) {
            n++;
        }
        if (n >= WORD_LEAST && n <= WORD_MOST) {
            memcpy(words[nwords], s.p + i, n);
            words[nwords++][n] = '\0';
            i += 400;
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
        if (e->d_name[0] != '.' && file_path(path, "%s/%s", folder, e->d_name) == ERR_OK &&
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

static const char *word(struct prng *r)
{
    return words[prng_below(r, nwords)];
}

static void add_pattern(struct prng *r, struct buf *b)
{
    switch (prng_below(r, 4)) {
    case 0:
        buf_printf(b, "\\\\b(%s|%s) %s\\\\b", word(r), word(r), word(r));
        break;
    case 1:
        buf_printf(b, "%s.{0,20}%s", word(r), word(r));
        break;
    default:
        buf_printf(b, "%s %s", word(r), word(r));
        break;
    }
}

/* n rules, each with one pattern and a condition beside it. */
static void write_rules(unsigned n, struct buf *b)
{
    static const char *const types[] = {"subject", "display_name", "url", "attachment_name"};
    struct prng r;

    prng_init(&r, 17, 0);
    buf_add_str(b, "rules = (\n");
    for (unsigned i = 0; i < n; i++) {
        buf_printf(b, "%s{ name = \"bench%u\"; score = 0.1; all = ( { ", i > 0 ? ",\n" : "",
                   i);
        if (i % 2 == 0) {
            buf_add_str(b, "text = \"");
        } else {
            buf_printf(b, "feature = \"%s\"; pattern = \"", types[i / 2 % LENGTH(types)]);
        }
        add_pattern(&r, b);
        buf_add_str(b, "\"; } ); none = ( { trait = \"html_form\"; }, { feature = "
                       "\"url_host\"; suffix = [ \".invalid\" ]; } ); }");
    }
    buf_add_str(b, ");\n");
}

static struct config *load(const char *dir, unsigned nrules)
{
    struct config *c = NULL;
    struct buf b;
    char path[FILE_PATH_MAX];
    FILE *f = NULL;

    buf_init(&b, TEXT_MAX);
    buf_printf(&b, "state_dir = \"%s\";\n", dir);
    if (nrules > 0) {
        write_rules(nrules, &b);
    }
    (void)file_path(path, "%s/conf%u", dir, nrules);
    f = fopen(path, "w");
    if (f == NULL || fwrite(b.p, 1, b.n, f) != b.n || fclose(f) != 0 ||
        !ruleset_load_or_print("bench_rules", path, &c)) {
        exit(1);
    }
    (void)unlink(path);
    buf_fini(&b);
    return c;
}

/* Processor time of one message in ns; *retscore: so that nothing is left out. */
static uint64_t judge(const struct config *c, const struct listset *lists,
                      struct arena *arena, struct slice mail, double *retscore)
{
    struct extract_limits limits;
    struct verdict_context context = {.auth = NULL};
    struct verdict v;
    struct list_hits hits;
    uint64_t begin_us = clock_cpu_us();

    arena_reset(arena);
    verdict_extract_limits(c, &limits);
    context.text = verdict_read_text(c, arena, &limits);
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    extract_raw(x, mail);
    struct featureset *features = extract_finish(x);
    context.auth = extract_auth(x);
    context.bytes = mail.n;
    verdict_evaluate(c, lists, features, &context, 0, arena, &v, &hits);
    *retscore += v.score;
    return clock_cpu_us() - begin_us;
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/gillnet-bench.XXXXXX";
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5;
    struct arena *arena = arena_new(64 << 20);
    uint64_t us[2] = {0, 0};
    uint64_t compile_us = 0;
    double score = 0;
    struct ruleset_stat stat;

    if (argc < 2 || mkdtemp(dir) == NULL || base_init() != ERR_OK) {
        (void)fprintf(stderr, "usage: bench_rules FOLDER [rounds]\n");
        return 64;
    }
    load_mails(argv[1]);
    if (nwords == 0) {
        (void)fprintf(stderr, "bench_rules: %s has no mail\n", argv[1]);
        return 66;
    }
    struct config *few = load(dir, 0);
    compile_us = clock_cpu_us();
    struct config *many = load(dir, RULES);
    compile_us = clock_cpu_us() - compile_us;
    struct list_manager *lists = list_manager_new(dir, NULL);
    const struct listset *set = list_manager_acquire(lists);
    for (unsigned r = 0; r <= rounds; r++) {
        for (size_t i = 0; i < nmails; i++) {
            struct slice mail = buf_slice(&mails[i]);
            uint64_t a = judge(few, set, arena, mail, &score);
            uint64_t b = judge(many, set, arena, mail, &score);

            us[0] += r > 0 ? a : 0; /* the first round warms up */
            us[1] += r > 0 ? b : 0;
        }
    }
    ruleset_stat(many->ruleset, &stat);
    double n = (double)nmails * rounds;
    (void)printf("{\"bench\": \"rules\", \"mails\": %zu, \"rules\": %zu, \"atoms\": %zu, "
                 "\"patterns\": %zu, \"slow_patterns\": %zu, \"compile_ms\": %.0f, "
                 "\"shipped_us\": %.1f, \"with_us\": %.1f, \"ratio\": %.3f, \"score\": %.1f}\n",
                 nmails, stat.rules, stat.atoms, stat.patterns, stat.slow_patterns,
                 (double)compile_us / 1000, (double)us[0] / n, (double)us[1] / n,
                 (double)us[1] / (double)us[0], score);
    list_manager_release(lists, &set);
    list_manager_free(&lists);
    config_release(&few);
    config_release(&many);
    arena_free(&arena);
    (void)rmdir(dir);
    return 0;
}
