/*
 * milterload_corpus - the messages to send, read and cut up once before the clock runs.
 */
#ifndef TESTS_BENCH_MILTERLOAD_CORPUS_H
#define TESTS_BENCH_MILTERLOAD_CORPUS_H

#include <stddef.h>

struct header {
    const char *name, *value;
    size_t name_len, value_len;
};
struct message {
    char *path, *raw; /* raw: the file, cut up in place */
    struct header *headers;
    size_t nheaders, bytes;
    char *body; /* CRLF line ends */
    size_t body_len;
    char sender[256];
};

/* Every file below dir of at most max_size bytes (0: any), in an order that mixes the folders and
 * is the same on every run. At least one, or the program ends. */
void corpus_load(const char *dir, long max_size);

size_t corpus_count(void);

/* Message i of the endless repetition of the corpus; borrowed, lives as long as the program. */
const struct message *corpus_at(size_t i);

#endif
