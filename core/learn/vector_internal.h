/*
 * vector_internal - declarations that the readers of a vector share.
 */
#ifndef CORE_LEARN_VECTOR_INTERNAL_H
#define CORE_LEARN_VECTOR_INTERNAL_H

#include "core/learn/vector.h"

enum {
    VECTOR_SLOTS = 4096, /* of the table of terms, twice VECTOR_TERMS */
    VECTOR_LINE = 128,   /* words of a line that wait for its end */
    VECTOR_TAIL =
        192, /* words behind a delimiter that may be a signature or a footer */
    VECTOR_TAIL_BYTES = 900,
    VECTOR_NAMES = 64, /* names of recipients and lists, which give no terms */
    VECTOR_NAME_MIN = 3,
    VECTOR_TAGS = 64,    /* different ones that are counted */
    VECTOR_SHAPE = 24,   /* bytes of the form of a boundary or a Message-ID */
    VECTOR_LINKS = 100,  /* that are read */
    VECTOR_ENGLISH = 400 /* words in which English ones are counted */
};

struct vector_term {
    uint32_t key;   /* as in struct vector */
    uint8_t groups; /* 1 << enum fingerprint_group: parts that have it */
};

struct vector_tag {
    uint32_t hash; /* 0: free */
    uint32_t count;
    struct slice name; /* if names are kept */
};

/* Text of one group of parts. */
struct vector_look {
    uint32_t nwords;
    uint32_t nenglish;
    uint32_t bytes;
    uint32_t capitals;
    uint32_t exclamations;
    uint32_t money;
    uint32_t scripts; /* bit per script, vector_text.c */
};

struct vector_reader {
    struct arena *arena;
    struct extract_watch watch;
    struct word_reader words;

    struct vector_term term[VECTOR_TERMS];
    size_t n;
    size_t nwords;               /* of block VECTOR_TEXT */
    uint16_t slot[VECTOR_SLOTS]; /* 0: free; else index of a term, plus one */

    /* words of the open line, and those that may be a signature */
    uint32_t line[VECTOR_LINE];
    size_t nline;
    uint32_t last_alone; /* hash of the character before, in a script without spaces */
    enum fingerprint_group tail_group;
    bool is_tail;
    uint32_t tail[VECTOR_TAIL];
    size_t ntail;
    size_t tail_bytes;

    struct vector_look look[FINGERPRINT_GROUPS];

    uint64_t name[VECTOR_NAMES];
    size_t nnames;
    uint64_t name_bits; /* bit per 6 bits of each name: most words meet none */

    struct vector_tag tag[2 * VECTOR_TAGS];
    size_t ntags;
    size_t nparts;
    bool has_mailer;
    bool has_answer; /* In-Reply-To or References */
    bool has_html;
    struct vector_name *names; /* NULL: they are not kept */
    size_t nnamed;
};

/* vector.c */
uint64_t vector_mix(uint64_t seed, struct slice bytes);
void vector_add_hash(struct vector_reader *r, enum vector_block block, uint32_t hash,
                     enum fingerprint_group group);
void vector_add(struct vector_reader *r, enum vector_block block, struct slice term);
/* A term of a fixed word and a value: "ext=" "pdf". */
void vector_add_pair(struct vector_reader *r, enum vector_block block, const char *word,
                     struct slice value);
void vector_add_number(struct vector_reader *r, enum vector_block block,
                       const char *word, uint64_t value);
/* Keeps the name of a term, if names are kept: prefix and text, or prefix and value. */
void vector_note_name(struct vector_reader *r, enum vector_block block, uint32_t hash,
                      const char *prefix, struct slice text);
/* 0 of 0, 1 of 1, 2 of 2 and 3, 3 of 4 to 7, ... */
unsigned vector_log2(uint64_t n);

/* vector_text.c */
void vector_on_word(void *context, enum fingerprint_group group,
                    const struct fold_word *word);
void vector_on_line(void *context, enum fingerprint_group group, struct slice text);
void vector_text_end(struct vector_reader *r);
/* The words of a text in a block of its own. */
void vector_words(struct vector_reader *r, enum vector_block block, struct slice text);
void vector_subject(struct vector_reader *r, struct slice subject);
void vector_add_look(struct vector_reader *r, const struct vector_look *look);

/* vector_part.c */
void vector_on_field(void *context, struct slice name, struct slice value);
void vector_on_part(void *context, const struct mail_part *part);
void vector_on_tag(void *context, struct slice name);
void vector_on_attribute(void *context, struct slice name);
void vector_add_tags(struct vector_reader *r, uint32_t nwords);
/* Whether the word is a name of a recipient or a list. */
bool vector_is_name(const struct vector_reader *r, struct slice word);

/* vector_link.c */
void vector_add_links(struct vector_reader *r, const struct featureset *set);
void vector_add_sender(struct vector_reader *r, const struct featureset *set);
void vector_add_signs(struct vector_reader *r, const struct featureset *set);

/* vector_kind.c */
uint16_t vector_group_of(const struct featureset *set, const struct vector *v);
enum vector_kind vector_kind_of(const struct extract_conversation *c,
                                const struct vector_look *look, bool is_page);

#endif
