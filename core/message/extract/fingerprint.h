/*
 * fingerprint - the fingerprints of one message: of its text as shown, its HTML and its links.
 *
 * Takes text in runs, part by part. Text that a reader does not see must not change a fingerprint,
 * so of a multipart/alternative the HTML counts, or the plain text where the HTML is nearly empty.
 * Near-duplicate keys (text_band) leave out quotes, signatures, disclaimers and the footers of
 * mailing lists (closing.h), as long as these are at most half of the words and the rest has keys.
 * The other fingerprints are of the whole text.
 * Threads: one at a time.   Allocates: itself from the arena; running checksums are on the heap
 * until fingerprint_finish or fingerprint_drop.   Depends: base, text, feature.
 */
#ifndef CORE_MESSAGE_EXTRACT_FINGERPRINT_H
#define CORE_MESSAGE_EXTRACT_FINGERPRINT_H

#include "core/base/arena.h"
#include "core/message/extract/shingle.h"
#include "core/message/feature/feature.h"

enum {
    FINGERPRINT_WORDS_MIN = 10, /* of a text with a checksum; of HTML that is taken */
    FINGERPRINT_PAIR_WORDS_MIN =
        3,                     /* of a text that counts together with who sent it */
    FINGERPRINT_BOTH_MIN = 12, /* different words of alternatives that are compared */
    FINGERPRINT_BOTH_SHARE =
        5, /* they differ when fewer than one in so many is in both */
    FINGERPRINT_TAGS_MIN = 12,     /* of a structure, repeated rows taken once */
    FINGERPRINT_LINKS_MIN = 2,     /* of a set */
    FINGERPRINT_LEARNT_MAX = 2048, /* shingles of a message that teach */
    FINGERPRINT_LEET_MIN =
        3 /* words with digits or signs for letters that set the trait */
};

/* Called for each shingle, common or not. */
typedef void shingle_fn(void *context, uint64_t shingle);

enum fingerprint_group {
    FINGERPRINT_OTHER, /* text that stands alone */
    FINGERPRINT_PLAIN, /* in a multipart/alternative */
    FINGERPRINT_HTML,  /* likewise */
    FINGERPRINT_GROUPS
};

/* Another reader of the folded words. line follows the words of each line of plain text, or of each
 * run of HTML, with the text that they stand in. */
struct word_reader {
    void (*word)(void *context, enum fingerprint_group group,
                 const struct fold_word *word);
    void (*line)(void *context, enum fingerprint_group group, struct slice text);
    void *context;
};

/* Key, epoch and learner of fingerprints. */
struct fingerprint_options {
    struct shingle_keys keys;
    const struct boilerplate *guard; /* NULL: no text is common */
    struct boilerplate
        *learner;           /* NULL, or taught what proved senders write (extract.h) */
    shingle_fn *on_shingle; /* NULL, or told of each shingle */
    void *context;          /* of on_shingle */
    const struct word_reader *reader; /* NULL: there is none */
};

struct fingerprint;

/* options is borrowed for the life of the result. NULL when the arena is full. */
struct fingerprint *fingerprint_new(struct arena *arena,
                                    const struct fingerprint_options *options);
/* A text part begins; the text up to the next one belongs to this group. */
void fingerprint_part(struct fingerprint *p, enum fingerprint_group group);
/* One line, or one block of HTML. It ends a word. */
void imprint_line(struct fingerprint *p, struct slice line);
/* Lines of plain text. The end of a call ends one. */
void fingerprint_text(struct fingerprint *p, struct slice text);
/* A start tag of HTML. */
void fingerprint_tag(struct fingerprint *p, struct slice name);
/* Words of the text that counts; call it before fingerprint_finish. */
size_t fingerprint_words(const struct fingerprint *p);
/* The plain text of a multipart/alternative has hardly a word of its HTML, and both have
 * FINGERPRINT_BOTH_MIN different ones. */
bool fingerprint_texts_differ(const struct fingerprint *p);
/* Adds the features to set, which has the others by now. list: hash of the mailing list and of
 * where its mail comes from, 0: none. is_cut: the text is not whole, nothing exact can be said of
 * it. scratch is for the moment. */
void fingerprint_finish(struct fingerprint *p, struct featureset *set,
                        struct arena *scratch, uint64_t list, bool is_cut);
/* Instead of fingerprint_finish, for the text of a document in the message: its checksum and its
 * near-duplicate keys alone. */
void fingerprint_document(struct fingerprint *p, struct featureset *set, bool is_cut);
/* After fingerprint_finish: teaches options->learner on that day (unix time / 86400) the footer of
 * a mailing list, and the text as this sender's; 0: the sender is not proved. */
void fingerprint_teach(const struct fingerprint *p, uint64_t sender, uint64_t day);
/* Frees what is not in the arena; accepts NULL. */
void fingerprint_drop(struct fingerprint *p);

#endif
