/*
 * record - one message in the journal: the struct and its bytes.
 *
 * A frame is {magic u32, n u16, ntexts u16, number u64, kind u32, n bytes of evidence, sum u64,
 * ntexts bytes of texts, sum u32}, little-endian. The evidence is a row of sections {tag u8, length
 * u16, bytes}; a reader skips tags that it does not know, and fields that a newer version put at
 * the end of a section. The texts have a sum of their own, because `gillnet journal forget`
 * overwrites them in place: bytes of 0 are an erased text. A record that would be longer than
 * RECORD_MAX loses sections, the last ones first, and says so (is_cut).
 * Numbers of traits, identity, limits, answers and silences have the names that the head of the
 * file gives them (journal_head.h).
 * Threads: pure.   Allocates: nothing; a decoded record points into its bytes.   ADR 0064.
 */
#ifndef CORE_VERDICT_JOURNAL_RECORD_H
#define CORE_VERDICT_JOURNAL_RECORD_H

#include "core/base/buf.h"
#include "core/base/slice.h"

enum {
    RECORD_MAX = 3072,   /* bytes of a frame */
    RECORD_ROOM = 16384, /* of a buffer in which one is made */
    RECORD_HEAD = 20,
    RECORD_SUM = 8,
    RECORD_TEXTS_SUM = 4,
    RECORD_TEXTS_MAX = 1200, /* bytes of all texts of a message */
    RECORD_TEXT_MAX = 200,   /* of one */
    RECORD_NAME_MAX = 48,
    RECORD_TRAITS = 64,
    RECORD_SYMBOLS = 64,
    RECORD_HITS = 32,
    RECORD_TYPES = 64,
    RECORD_COUNTS = 96,
    RECORD_WINDOWS = 4,    /* as enum count_window */
    RECORD_DISTINCTS = 3,  /* as enum count_distinct */
    RECORD_THRESHOLDS = 6, /* as enum action */
    RECORD_HASHES = 256,
    RECORD_HASH_BITS = 20,
    RECORD_RCPTS = 8,
    RECORD_ITEMS = 24
};
#define RECORD_MAGIC UINT32_C(0x314e4a47) /* "GJN1" */

enum record_kind { RECORD_MESSAGE = 1 }; /* 2 was another */

/* The part of the score that a symbol is in; enum symbol_kind. */
struct record_symbol {
    struct slice name;
    double score;
    uint8_t part;
    struct slice detail;
};

struct record_hit {
    struct slice list;
    struct slice origin; /* server that owns the list; empty: local */
    struct slice category;
    struct slice value;
    double weight;   /* of a confirmed hit */
    double factor;   /* of its server, times the weight; 1: local */
    uint16_t type;   /* enum feature_type */
    uint8_t answer;  /* enum list_answer */
    uint8_t silence; /* enum list_suppression */
};

/* How many features of a counted type the message had, and how many of them are in counts. */
struct record_type {
    uint16_t type;
    uint32_t features;
    uint32_t kept;
};

struct record_count {
    uint16_t type;
    uint32_t digest; /* its first 32 bits */
    uint64_t w[RECORD_WINDOWS];
    bool has_distinct;
    uint64_t distinct[RECORD_DISTINCTS];
};

/* What a report votes on (journal_items.h). */
struct record_item {
    uint64_t digest; /* its first 64 bits */
    uint16_t type;
    uint8_t proof; /* enum report_proof */
};

struct record {
    uint64_t number; /* rises from frame to frame */
    uint32_t kind;   /* enum record_kind */
    uint64_t time_us;
    uint64_t case_id;
    /* of a message */
    bool is_cut;
    bool is_outgoing;
    bool is_authenticated;
    bool is_of_users; /* settings of its recipients decided it */
    bool has_addr;
    uint8_t addr[16];
    struct slice
        unjudged; /* why there was no verdict, as in the log; empty: there was */
    struct slice queue_id;
    uint64_t message_id; /* keyed digest; 0: none */
    uint64_t bytes;
    uint64_t us; /* from the end of the message to the answer */
    uint32_t config_id;
    uint32_t nrcpt;
    uint32_t fault;
    uint8_t wanted; /* action of the verdict */
    uint8_t done;
    uint8_t bulk_alone;
    double score;
    double sure; /* score without values that lack a quorum of peers */
    double firm; /* the same without bulk */
    double threshold[RECORD_THRESHOLDS]; /* HUGE_VAL: off */
    struct slice allow;
    uint64_t identity;
    uint64_t limits;
    size_t ntraits;
    uint16_t trait[RECORD_TRAITS];
    size_t nsymbols;
    struct record_symbol symbol[RECORD_SYMBOLS];
    size_t nhits;
    struct record_hit hit[RECORD_HITS];
    size_t ntypes;
    struct record_type type[RECORD_TYPES];
    size_t ncounts;
    struct record_count count[RECORD_COUNTS];
    size_t nhashes;
    uint32_t hash
        [RECORD_HASHES]; /* RECORD_HASH_BITS of the keyed digests of counted features */
    size_t nitems;
    struct record_item item[RECORD_ITEMS];
    /* readable texts; empty: not kept, or erased */
    struct slice from;
    struct slice header_from;
    struct slice subject;
    size_t ntexts_rcpt;
    struct slice rcpt[RECORD_RCPTS];
    bool has_texts; /* the texts are whole */
    bool is_erased; /* a person was forgotten in it */
};

/* An empty record; elements of its arrays are not set. */
void record_init(struct record *r, enum record_kind kind);

/* The frame without its number. Begins ret, which the caller frees. Long texts are cut. */
void record_print(const struct record *r, struct buf *ret);
/* Sets the number and the sum over it. */
void record_number(char *frame, uint64_t number);

/* How a frame at the beginning of bytes is. */
enum record_state {
    RECORD_WHOLE,
    RECORD_CUT_OFF, /* the bytes end within it */
    RECORD_DAMAGED  /* no frame, or its sum is wrong */
};
/* *retn: its bytes, of a whole one. */
enum record_state record_look(struct slice bytes, size_t *retn);
uint64_t record_number_of(const char *frame);
/* frame: whole. False: its sections make no sense. */
bool record_parse(struct slice frame, struct record *ret);

/* Overwrites each text of a whole frame of n bytes in which the address stands as a word of its own
 * (ASCII case ignored). Returns how many. *retpart: the part of the frame that changed. */
unsigned record_erase(char *frame, size_t n, struct slice person,
                      struct slice *retpart);

#endif
