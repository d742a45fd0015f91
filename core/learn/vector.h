/*
 * vector - a message as hashed terms in blocks, for the model to learn and to score.
 *
 * A term is a word, a tag, a kind of part, a property of a link and so on. A vector holds the hash
 * of each, never its text. Only fields that the sender wrote give terms. Left out is everything
 * that tells one collection of mail from another: traces, filters' fields, names of recipients
 * and lists, tags in subjects, footers, signatures, attribution lines and quote marks.
 * Files in reading order: vector.c (the terms, bytes), vector_text.c (words), vector_part.c
 * (fields, parts, tags), vector_link.c (links, sender, signs), vector_kind.c; url_vector.c (the
 * URLs, each for the model of URLs).
 * To add a term: a call of vector_add in the reader that sees the property. Raise VECTOR_VERSION
 * if an existing term changes its hash or meaning: the model then starts again from its prior.
 * Threads: one at a time.   Allocates: from the arena given.   Depends: base, text, url,
 * feature, extract.
 */
#ifndef CORE_LEARN_VECTOR_H
#define CORE_LEARN_VECTOR_H

#include "core/base/buf.h"
#include "core/message/extract/extract.h"

enum {
    VECTOR_VERSION = 2,
    VECTOR_HASH_BITS = 20,
    VECTOR_HASH_MASK = (1 << VECTOR_HASH_BITS) - 1,
    VECTOR_WORDS = 700,  /* different words of the text that are kept */
    VECTOR_TERMS = 2048, /* in all */
    VECTOR_URLS = 4,     /* of a message that have a vector of their own */
    VECTOR_BYTES = 8192  /* of an encoded vector, at most */
};

enum vector_block {
    VECTOR_SUBJECT,   /* words */
    VECTOR_TEXT,      /* words of the text as shown */
    VECTOR_NAME,      /* words of the name in From */
    VECTOR_FIELD,     /* form of the header */
    VECTOR_PART,      /* MIME: types, encodings, charsets, names of files */
    VECTOR_HTML,      /* tags and attributes */
    VECTOR_LOOK,      /* length, capitals, signs, scripts of the text */
    VECTOR_LINK,      /* form of links */
    VECTOR_LINK_WORD, /* words in links */
    VECTOR_SIGN,      /* traits (core/message/feature/trait.def) */
    VECTOR_SENDER,    /* domain of the sender, proved or not */
    VECTOR_RELATION,  /* whether links and answers lead to that domain */
    VECTOR_BLOCKS
};
/* A word for people: "text". */
const char *vector_block_name(enum vector_block block);

/* Sort of mail, as far as the message itself shows. Each has counts and a threshold of its own. */
enum vector_kind {
    VECTOR_PERSON,
    VECTOR_LIST,     /* of a mailing list to which readers write */
    VECTOR_NOTICE,   /* newsletter, notice, automatic mail */
    VECTOR_LANGUAGE, /* in another language than English, the prior's */
    VECTOR_KINDS
};
const char *vector_kind_name(enum vector_kind kind);

struct vector {
    enum vector_kind kind;
    uint16_t
        group; /* hash of the mailing list or the sender's domain: mail that is alike */
    size_t n;
    const uint32_t *term;          /* block << VECTOR_HASH_BITS | hash; none twice */
    uint16_t count[VECTOR_BLOCKS]; /* terms of each block */
    size_t nurls;
    const struct vector
        *url;          /* of a message: its URLs (url_vector.h), which have none */
    struct slice text; /* of a URL that was not decoded: the URL */
};

struct vector_reader;
/* Makes a reader and sets limits->watch and limits->imprint.reader, so that the extraction with
 * these limits feeds it. NULL when the arena is full; then limits are as they were. */
struct vector_reader *vector_reader_new(struct arena *arena,
                                        struct extract_limits *limits);
/* After extract_finish. Terms are in the arena of the reader. False: no memory. */
bool vector_reader_finish(struct vector_reader *r, const struct extract *x,
                          const struct featureset *set, struct vector *ret);

/* Terms with their texts, for people; a message's only. */
struct vector_name {
    uint32_t key; /* as in struct vector */
    struct slice text;
};
/* From now on the reader keeps the text of each term, at most VECTOR_TERMS of them, in its arena;
 * some may stand in no vector. */
void vector_reader_keep_names(struct vector_reader *r);
/* The text of a term, or an empty one. */
struct slice vector_reader_name(const struct vector_reader *r, uint32_t key);

/* The one hash of a term. */
uint32_t vector_hash(enum vector_block block, struct slice term);

/* Appends the vector as bytes; they hold the version and the kind. False: no memory. */
bool vector_encode(const struct vector *v, struct buf *to);
/* The vector of these bytes, terms in the arena. ERR_SYNTAX: they are damaged. ERR_VERSION: of
 * another version. */
enum err vector_decode(struct arena *arena, struct slice bytes, struct vector *ret);

#endif
