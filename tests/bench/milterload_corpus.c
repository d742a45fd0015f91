/*
 * milterload_corpus - reads a folder of messages into memory as the protocol sends them.
 */
#include "tests/bench/milterload_corpus.h"

#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/bench/milterload.h"

static struct message *corpus;
static size_t ncorpus, corpus_cap;

/* the end of the header at p, with its folded lines */
static char *header_end(char *p, char *end)
{
    for (;;) {
        char *nl = memchr(p, '\n', (size_t)(end - p));
        p = nl ? nl + 1 : end;
        if (p >= end || (*p != ' ' && *p != '\t')) {
            return p;
        }
    }
}

/* the value between v and end, its folds as LF and space, as the protocol has them */
static size_t unfold(char *v, const char *end)
{
    char *w = v;
    while (end > v && (end[-1] == '\n' || end[-1] == '\r')) {
        end--;
    }
    for (char *r = v; r < end; r++) {
        if (*r != '\r' && *r != '\0') {
            *w++ = *r;
        }
    }
    return (size_t)(w - v);
}

static void take_sender(struct message *m, const struct header *h)
{
    const char *close = memchr(h->value, '>', h->value_len);
    if (h->name_len == 11 && !strncasecmp(h->name, "Return-Path", 11) &&
        h->value_len < sizeof(m->sender) && close != NULL && h->value[0] == '<') {
        (void)snprintf(m->sender, sizeof(m->sender), "%.*s",
                       (int)(close - h->value + 1), h->value);
    }
}

/* Returns where the body starts. */
static char *parse_headers(struct message *m, char *p, char *end)
{
    size_t cap = 0;

    while (p < end && *p != '\n' && !(*p == '\r' && p + 1 < end && p[1] == '\n')) {
        char *q = header_end(p, end);
        char *colon = memchr(p, ':', (size_t)(q - p));
        if (colon == NULL || colon == p) {
            return p; /* not a header: the body starts here */
        }
        if (m->nheaders == cap) {
            cap = cap ? cap * 2 : 32;
            m->headers = grow(m->headers, cap * sizeof(*m->headers));
        }
        struct header *h = &m->headers[m->nheaders++];
        char *v = colon + 1;
        if (v < q && *v == ' ') {
            v++;
        }
        *h = (struct header){p, v, (size_t)(colon - p), unfold(v, q)};
        take_sender(m, h);
        p = q;
    }
    return p;
}

static void take_body(struct message *m, const char *p, const char *end)
{
    size_t lf = 0;
    for (const char *r = p; r < end; r++) {
        lf += *r == '\n' && (r == p || r[-1] != '\r');
    }
    m->body = grow(NULL, (size_t)(end - p) + lf);
    char *o = m->body;
    for (const char *r = p; r < end; r++) {
        if (*r == '\n' && (r == p || r[-1] != '\r')) {
            *o++ = '\r';
        }
        *o++ = *r;
    }
    m->body_len = (size_t)(o - m->body);
}

static void parse_message(struct message *m, size_t len)
{
    char *p = m->raw;
    char *end = m->raw + len;

    if (len > 5 && !memcmp(p, "From ", 5)) { /* mbox separator */
        char *nl = memchr(p, '\n', len);
        p = nl ? nl + 1 : end;
    }
    (void)snprintf(m->sender, sizeof(m->sender), "<sender@example.com>");
    p = parse_headers(m, p, end);
    if (p < end && *p == '\r') {
        p++;
    }
    if (p < end && *p == '\n') {
        p++;
    }
    take_body(m, p, end);
    m->bytes = len;
}

/* nftw passes no context */
static long largest;

static int load_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F || st->st_size == 0 || (largest && st->st_size > largest)) {
        return 0;
    }
    FILE *f = fopen(path, "rb");
    if (!f) {
        return 0;
    }
    struct message m = {.path = strdup(path), .raw = grow(NULL, (size_t)st->st_size)};
    size_t n = fread(m.raw, 1, (size_t)st->st_size, f);
    fclose(f);
    parse_message(&m, n);
    if (ncorpus == corpus_cap) {
        corpus = grow(corpus, (corpus_cap = corpus_cap ? corpus_cap * 2 : 1024) *
                                  sizeof(*corpus));
    }
    corpus[ncorpus++] = m;
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct message *)a)->path, ((const struct message *)b)->path);
}

/* a fixed order that mixes the folders: the same on every run */
static void shuffle(void)
{
    uint64_t x = 88172645463325252ull;
    qsort(corpus, ncorpus, sizeof(*corpus), by_path);
    for (size_t i = ncorpus - 1; i > 0; i--) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        size_t j = x % (i + 1);
        struct message t = corpus[i];
        corpus[i] = corpus[j];
        corpus[j] = t;
    }
}

void corpus_load(const char *dir, long max_size)
{
    largest = max_size;
    if (nftw(dir, load_file, 16, FTW_PHYS)) {
        die("%s: %s", dir, strerror(errno));
    }
    if (ncorpus == 0) {
        die("no messages in %s", dir);
    }
    shuffle();
}

size_t corpus_count(void)
{
    return ncorpus;
}

const struct message *corpus_at(size_t i)
{
    return &corpus[i % ncorpus];
}
