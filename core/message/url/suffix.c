/* suffix - one atomic word holds a hash of the name and the answer: no lock, no torn answer. */
#include "core/message/url/suffix.h"

#include <libpsl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/digest.h"
#include "core/base/uninitialized.h"

enum {
    MEMO_SLOTS = 1 << 13,
    ANSWER_MASK = 0xff /* the low bits of a word; those of the hash are in the index */
};

enum question {
    QUESTION_REGISTRABLE,
    QUESTION_REGISTERED,
    QUESTION_PUBLIC, /* 1: yes */
    QUESTION_TOP     /* likewise */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const psl_ctx_t *psl;
static psl_ctx_t *psl_of_file; /* psl, or NULL when that is built in */
static _Atomic uint64_t memo[MEMO_SLOTS];

static void open_list(void)
{
    psl_of_file = psl_latest(NULL); /* lives as long as we do */
    psl = psl_of_file != NULL ? psl_of_file : psl_builtin();
}

bool suffix_load(const char *path)
{
    psl_ctx_t *list = psl_load_file(path);
    size_t i = 0;

    if (list == NULL) {
        return false;
    }
    (void)pthread_once(&once, open_list);
    psl_free(psl_of_file);
    psl_of_file = list;
    psl = list;
    for (i = 0; i < MEMO_SLOTS; i++) {
        atomic_store_explicit(&memo[i], 0, memory_order_relaxed);
    }
    return true;
}

/* Copies the name, with a NUL, for libpsl; false: libpsl has no answer for it. */
static bool ask_about(struct slice name, char dst[SUFFIX_NAME_MAX + 1])
{
    (void)pthread_once(&once, open_list);
    if (psl == NULL || name.n == 0 || name.n > SUFFIX_NAME_MAX ||
        memchr(name.p, '\0', name.n) != NULL) {
        return false;
    }
    memcpy(dst, name.p, name.n);
    dst[name.n] = '\0';
    return true;
}

/* The list has "*.NAME". A name below stands for any, as none of one hyphen is named. */
static bool has_wildcard(const char *name)
{
    char below[SUFFIX_NAME_MAX + 3] UNINITIALIZED;

    below[0] = '-';
    below[1] = '.';
    memcpy(below + 2, name, strlen(name) + 1);
    return psl_is_public_suffix(psl, below) == 1;
}

/* The list has only "*.NAME": by its algorithm NAME itself is no suffix, though libpsl says so;
 * but it is where the wildcard above it stands for it. */
static bool is_only_wildcard(const char *name)
{
    const char *dot = strchr(name, '.');

    return dot != NULL && has_wildcard(name) && !has_wildcard(dot + 1);
}

static size_t registrable(const char *name, size_t n)
{
    const char *answer = psl_registrable_domain(psl, name);

    if (answer == NULL && is_only_wildcard(name)) {
        const char *parent = strchr(name, '.') + 1;

        answer = psl_is_public_suffix(psl, parent) == 1
                     ? name
                     : psl_registrable_domain(psl, parent);
    }
    return answer != NULL && answer >= name && answer < name + n
               ? n - (size_t)(answer - name)
               : 0;
}

/* The last count labels of a name; all of it when it has not more. */
static const char *last_labels(const char *name, unsigned count)
{
    const char *p = name + strlen(name);

    while (p > name && (p[-1] != '.' || --count > 0)) {
        p--;
    }
    return p;
}

/* The registries' section has a rule for this suffix. */
static bool is_listed(const char *suffix)
{
    return psl_is_public_suffix2(psl, suffix, PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) ==
           1;
}

static size_t registered(const char *name, size_t n)
{
    const char *suffix = last_labels(name, 1);

    if (!is_listed(suffix)) {
        suffix = last_labels(name, 2); /* some top levels register only below "co" */
        if (!is_listed(suffix)) {
            return 0;
        }
    }
    do { /* the suffix may be longer: co.uk */
        if (suffix == name) {
            return is_only_wildcard(name) ? n : 0;
        }
        suffix--;
        while (suffix > name && suffix[-1] != '.') {
            suffix--;
        }
    } while (is_listed(suffix));
    return suffix[0] == '.' ? 0 : n - (size_t)(suffix - name);
}

static size_t answer_of(struct slice name, enum question question)
{
    char text[SUFFIX_NAME_MAX + 1] UNINITIALIZED;

    if (!ask_about(name, text)) {
        return 0;
    }
    switch (question) {
    case QUESTION_REGISTRABLE:
        return registrable(text, name.n);
    case QUESTION_REGISTERED:
        return registered(text, name.n);
    case QUESTION_PUBLIC:
        return psl_is_public_suffix(psl, text) == 1;
    case QUESTION_TOP:
        return is_listed(text);
    }
    return 0;
}

static size_t remember(struct slice name, enum question question)
{
    uint64_t hash = hash_local(name) + ((uint64_t)question << 8);
    _Atomic uint64_t *slot = &memo[hash % MEMO_SLOTS];
    uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);
    size_t answer = 0;

    if (word != 0 && ((word ^ hash) & ~(uint64_t)ANSWER_MASK) == 0) {
        return (size_t)(word & ANSWER_MASK);
    }
    answer = answer_of(name, question);
    atomic_store_explicit(slot, (hash & ~(uint64_t)ANSWER_MASK) | answer,
                          memory_order_relaxed);
    return answer;
}

size_t suffix_registrable(struct slice name)
{
    return remember(name, QUESTION_REGISTRABLE);
}

size_t suffix_registered(struct slice name)
{
    return remember(name, QUESTION_REGISTERED);
}

bool suffix_is_public(struct slice name)
{
    return remember(name, QUESTION_PUBLIC) == 1;
}

bool suffix_is_top(struct slice label)
{
    return remember(label, QUESTION_TOP) == 1;
}
