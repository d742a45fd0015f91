/*
 * bench_rounds - rounds of learning and judging, as lines of standard input say, for figures.
 *
 *   P PATH[TAB FOLDER]  a message, numbered from 0 in this order; FOLDER: scored without its folder
 *   U URL         a message of nothing but a URL, numbered with the others
 *   R [PRIOR]     a fresh learner in a folder of its own
 *   T N spam|ham  puts a message into the store      A N spam|ham WEIGHT  learns it now
 *   B             rebuilds                           C  measures thresholds again
 *   W FILE        writes the model as a prior
 *   K             finds the PADDING words that the model holds most hamlike
 *   X N           as Q, for the message with these words added
 *   Q N           prints: N score margin threshold is_local is_vetoed odds kind share urls, and
 *                 score and margin of the first URL
 *   M SHARE       of ham URLs that may be malicious
 */
#include <stdio.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/learn/learner.h"
#include "core/learn/prior.h"
#include "core/learn/url_vector.h"

enum { MESSAGES_MAX = 40000, PADDING = 200 };

static struct buf vectors[MESSAGES_MAX];
static size_t nmessages;
static struct arena *arena;
static struct learner *learner;
static char folder[] = "/tmp/bench_rounds.XXXXXX";

static void read_message(char *path)
{
    char *group = strchr(path, '\t');
    struct extract_limits limits = {.mail = {.message_bytes = 16 << 20,
                                             .decoded_bytes = 32 << 20,
                                             .headers = 1000,
                                             .header_bytes = 256 << 10,
                                             .header_field = 64 << 10,
                                             .parts = 500,
                                             .depth = 32},
                                    .urls = 500,
                                    .recipients = 1000,
                                    .cpu_us = 250000};
    struct buf bytes;
    struct vector v;
    if (group != NULL) {
        *group++ = '\0';
    }
    buf_init(&bytes, 64 << 20);
    buf_init(&vectors[nmessages], VECTOR_BYTES);
    struct vector_reader *r = vector_reader_new(arena, &limits);
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    if (file_read(path, &bytes, NULL) == ERR_OK) {
        extract_raw(x, buf_slice(&bytes));
        struct featureset *set = extract_finish(x);
        if (vector_reader_finish(r, x, set, &v)) {
            if (group != NULL) {
                v.group = (uint16_t)vector_hash(VECTOR_FIELD, slice_str(group));
            }
            (void)vector_encode(&v, &vectors[nmessages]);
        }
    }
    nmessages++;
    extract_drop(x);
    buf_fini(&bytes);
    arena_reset(arena);
}

static void read_url(struct slice url)
{
    struct vector own;
    buf_init(&vectors[nmessages], VECTOR_BYTES);
    if (url_vector(arena, url, &own)) {
        bool is_known = url_vector_is_known(url_vector_host(url));
        const struct vector v = {
            .group = own.group, .term = own.term, .nurls = !is_known, .url = &own};
        (void)vector_encode(&v, &vectors[nmessages]);
    }
    nmessages++;
    arena_reset(arena);
}

static void start(const char *prior)
{
    struct learner_options options = {.prior = *prior != '\0' ? prior : NULL};
    struct errinfo why = {.code = ERR_OK};
    char text[1024];
    learner_close(&learner);
    (void)file_remove_tree(folder, NULL);
    (void)file_make_dir(folder, 0700, NULL);
    if (learner_open(folder, &options, &learner, &why) != ERR_OK) {
        fprintf(stderr, "%s\n", errinfo_format(&why, text, sizeof(text)));
        exit(2);
    }
}

static uint32_t padding[PADDING];
static size_t npadding;

static int by_weight(const void *a, const void *b)
{
    const struct model_data *m = learner_model(learner);
    int left = m->weight[*(const uint32_t *)a];
    int right = m->weight[*(const uint32_t *)b];
    return (left > right) - (left < right);
}

/* Words of any message, each once, the most hamlike first. */
static void find_padding(void)
{
    static uint32_t words[FTRL_WEIGHTS];
    static bool has[FTRL_WEIGHTS];
    size_t n = 0;
    memset(has, 0, sizeof(has));
    for (size_t i = 0; i < nmessages; i++) {
        struct vector v;
        if (vector_decode(arena, buf_slice(&vectors[i]), &v) == ERR_OK) {
            for (size_t j = 0; j < v.n; j++) {
                uint32_t hash = v.term[j] & VECTOR_HASH_MASK;
                if (v.term[j] >> VECTOR_HASH_BITS == VECTOR_TEXT && !has[hash]) {
                    has[hash] = true;
                    words[n++] = hash;
                }
            }
        }
        arena_reset(arena);
    }
    qsort(words, n, sizeof(*words), by_weight);
    npadding = n < PADDING ? n : PADDING;
    memcpy(padding, words, npadding * sizeof(*words));
}

static void pad(struct vector *v)
{
    uint32_t *term = arena_array(arena, v->n + npadding, sizeof(*term));
    size_t n = v->n;
    memcpy(term, v->term, n * sizeof(*term));
    for (size_t i = 0; i < npadding; i++) {
        uint32_t key = (uint32_t)VECTOR_TEXT << VECTOR_HASH_BITS | padding[i];
        bool is_there = false;
        for (size_t j = 0; j < v->n; j++) {
            is_there = is_there || v->term[j] == key;
        }
        if (!is_there) {
            term[n++] = key;
            v->count[VECTOR_TEXT]++;
        }
    }
    v->term = term;
    v->n = n;
}

static double url_share = 0.001;

static void judge(size_t i, bool is_padded)
{
    struct model_options options = {.false_positives = 0.001,
                                    .cap = {4.5, 4.5, 1, 2},
                                    .url_false_positives = url_share};
    struct model_answer a;
    struct vector v;
    if (vector_decode(arena, buf_slice(&vectors[i]), &v) == ERR_OK) {
        if (is_padded) {
            pad(&v);
        }
        learner_judge(learner, &options, &v, &a);
        const struct model_kind *k = &learner_model(learner)->head.kind[a.kind];
        printf("%zu %.2f %.4f %.6f %d %d %.4f %s %.6f %zu %.4f %.4f\n", i, a.score,
               a.margin, a.share, a.is_local,
               a.second<a.first, a.odds, vector_kind_name(a.kind),
                        model_share(&k->odds, a.odds), a.nurls, a.nurls> 0
                   ? a.url[0].score
                   : 0,
               a.nurls > 0 ? a.url[0].margin : 0);
    } else {
        printf("%zu 0 0 1 0 0 0 none 1 0 0 0\n", i);
    }
    arena_reset(arena);
}

static void learn(char what, size_t i, bool is_spam, float weight)
{
    struct learner_example e = {.is_spam = is_spam,
                                .weight = weight,
                                .source =
                                    what == 'T' ? LEARNER_TRAINED : LEARNER_REPORTED,
                                .vector = buf_slice(&vectors[i])};
    (void)(what == 'T' ? learner_put(learner, &e) : learner_add(learner, &e));
}

static void obey(char *line)
{
    size_t i = 0;
    char label[8] = "";
    float weight = 1;
    const struct model_data *m = learner != NULL ? learner_model(learner) : NULL;
    switch (line[0]) {
    case 'P':
        read_message(line + 2);
        break;
    case 'U':
        read_url(slice_str(line + 2));
        break;
    case 'R':
        start(line[1] != '\0' ? line + 2 : "");
        break;
    case 'T':
    case 'A':
        if (sscanf(line + 2, "%zu %7s %f", &i, label, &weight) >= 2 && i < nmessages) {
            learn(line[0], i, strcmp(label, "spam") == 0, weight);
        }
        break;
    case 'B':
    case 'C':
        (void)(line[0] == 'B' ? learner_rebuild(learner) : learner_calibrate(learner));
        break;
    case 'W':
        (void)prior_write(line + 2, m, NULL);
        break;
    case 'M':
        url_share = strtod(line + 2, NULL);
        break;
    case 'K':
        find_padding();
        break;
    case 'Q':
    case 'X':
        judge(strtoul(line + 2, NULL, 10), line[0] == 'X');
        break;
    default:
        break;
    }
}

int main(void)
{
    char line[4096];
    if (base_init() != ERR_OK || mkdtemp(folder) == NULL) {
        return 2;
    }
    arena = arena_new(256 << 20);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        obey(line);
    }
    learner_close(&learner);
    (void)file_remove_tree(folder, NULL);
    return 0;
}
