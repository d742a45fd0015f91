/*
 * replay_tally - the sum of a replay: how many messages would get which action instead, and how
 * scores and symbols are spread.
 *
 * `gillnet replay` and POST /v1/replay count with it, so both say the same about the same records.
 * Threads: one object, one thread.   Allocates: replay_tally_json alone.   ADR 0064, 0088.
 */
#ifndef CORE_VERDICT_JOURNAL_REPLAY_TALLY_H
#define CORE_VERDICT_JOURNAL_REPLAY_TALLY_H

#include <jansson.h>

#include "core/verdict/journal/journal_replay.h"

enum {
    REPLAY_BINS = 42, /* of one score each, the first from below */
    REPLAY_BIN_FIRST = -10,
    REPLAY_REASONS = 8,
    REPLAY_SYMBOLS = 2048 /* different ones that are counted; a power of two */
};

/* Messages with a symbol, as they were judged. */
struct replay_symbol_count {
    char name[RECORD_NAME_MAX + 1];
    uint64_t messages;
    double score; /* of all of them together */
};

struct replay_tally {
    struct replay settings;
    uint64_t moved[ACTION_COUNT][ACTION_COUNT]; /* from, to */
    uint64_t messages;
    uint64_t outgoing;  /* besides */
    uint64_t estimates; /* changed ones that the sketch's counts decide */
    uint64_t undecided;
    struct {
        const char *why;
        uint64_t n;
    } reason[REPLAY_REASONS];
    uint64_t bin_before[REPLAY_BINS];
    uint64_t bin_after[REPLAY_BINS];
    uint64_t first_us; /* time of the oldest message that was counted; 0: none */
    uint64_t last_us;
    bool has_symbols; /* set by the caller: symbols are counted */
    struct replay_symbol_count symbol[REPLAY_SYMBOLS];
    size_t nsymbols;
};

/* Judges a message by the settings and adds it. False: it is outgoing, or undecided. Records of
 * another kind are not for this. */
bool replay_tally_add(struct replay_tally *t, const struct record *r,
                      const struct journal_names *names, struct replay_result *ret);

/* The bin of a score. */
size_t replay_bin(double score);
/* Messages with this action, before or after the change. */
uint64_t replay_total(const struct replay_tally *t, enum action action, bool is_after);
/* Messages that would get another action. */
uint64_t replay_changed(const struct replay_tally *t);

/* {messages, outgoing, changed, estimates, undecided, undecided_by_reason, actions, moved, scores}.
 * moved: [{from, to, messages}], where messages is above 0. NULL: no memory. */
json_t *replay_tally_json(const struct replay_tally *t);
/* [{symbol, messages, score}], the most messages first; at most `most`. */
json_t *replay_symbols_json(const struct replay_tally *t, size_t most);

#endif
