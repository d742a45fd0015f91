/*
 * votes_internal - the tables of votes, for the files of votes.
 *
 * Files in reading order: votes (the tables, and entries of the log), votes_match (reports that
 * match a message), votes_read (answers about votes), votes_listed (lists that confirm reports).
 * All functions are called under the lock.   Depends: votes.
 */
#ifndef CORE_REPORT_VOTES_INTERNAL_H
#define CORE_REPORT_VOTES_INTERNAL_H

#include <pthread.h>

#include "core/report/votes.h"

enum {
    VOTES_ROW_BITS = 28,
    VOTES_ROW_MASK = (1 << VOTES_ROW_BITS) - 1,
    VOTES_PROOF_SHIFT = VOTES_ROW_BITS,
    VOTES_PROOF_MASK = 3,
    VOTES_HEAVY_SHIFT = 30, /* of an established voice */
    VOTES_HEADS_MIN = 1 << 10,
    VOTES_KEPT_OF = 8 /* an eighth goes at once */
};

struct one_vote {
    uint64_t digest;
    uint32_t row;  /* and its proof */
    uint32_t next; /* vote of the same bucket, plus one */
};

struct row {
    uint64_t id;
    uint64_t number;
    uint64_t reporter;
    uint64_t time_s;
    uint32_t first; /* vote */
    uint32_t mark;  /* of the look-up that matched it last */
    uint16_t nvotes;
    uint16_t nbands; /* that matched in that look-up */
    uint8_t proof;   /* the best that matched */
    uint8_t voice;   /* enum ballot_voice */
    bool is_spam;
    bool is_undone;
    bool is_counted;
    bool is_foreign;
    bool is_listed; /* a list has settled it, or can teach nothing about it */
};

struct votes {
    pthread_mutex_t lock;
    struct hashkey key;
    struct trust *trust;
    struct row *rows; /* by age */
    size_t nrows;
    size_t rows_room;
    struct one_vote *votes; /* in the order of the rows */
    size_t nvotes;
    size_t votes_room;
    uint32_t *heads[2]; /* votes plus one: of established voices, of others */
    size_t nheads;
    uint32_t mark;
    size_t nforeign; /* votes of foreign rows */
    size_t settled;  /* rows that stood for BALLOT_WAIT_S */
    uint32_t matches[VOTES_MATCHES_MAX];
    size_t nmatches;
    struct votes_listing *listings; /* by time */
    size_t nlistings;
    size_t listings_room;
};

/* The first of the votes with this digest: of established voices, or (is_light) of others. There is
 * at least one vote. */
uint32_t *votes_head(const struct votes *v, bool is_light, uint64_t digest);
/* NULL: there is none. */
struct row *votes_row(const struct votes *v, uint64_t id);
enum ballot_voice votes_voice(struct slice reporter);

/* Begins a look-up; votes_match adds the reports with this item to the matches. */
void votes_begin(struct votes *v);
void votes_match(struct votes *v, const struct votes_item *item);
/* Sorts the matches by time, the oldest first. */
void votes_sort(struct votes *v);
/* The ballot of all matches by at least this proof, the oldest first. */
void votes_ballot(struct votes *v, uint8_t least, struct ballot *ret);

/* An entry REPORT_LISTED. */
void votes_note_listed(struct votes *v, const struct report *r);
/* Forgets the n oldest listings. */
void votes_drop_listings(struct votes *v, size_t n);

#endif
