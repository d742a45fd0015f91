#include "milter/ham_record.h"

#include "core/base/clock.h"
#include "core/message/feature/ham_keys.h"

enum { US_PER_S = 1000000 };

/* Constant while messages are examined. */
static struct {
    struct journal *journal;
    const struct hashkey *key;
} witness;

void witness_use(struct journal *j, const struct hashkey *key)
{
    witness.journal = j;
    witness.key = key;
}

/* Nothing spoke against it. */
static bool is_good(const struct verdict *v)
{
    for (size_t i = 0; i < v->nsymbols; i++) {
        if (v->symbols[i].score > 0) {
            return false;
        }
    }
    return v->action == ACTION_ACCEPT;
}

void witness_message(const struct featureset *features, const struct verdict *v)
{
    if (!witness.journal || !journal_wants(witness.journal, clock_mono_us())) {
        return;
    }
    struct arena *scratch = arena_new(WITNESS_SCRATCH_BYTES);
    if (!scratch) {
        return;
    }
    struct journal_message m = {.time_s = (uint32_t)(clock_wall_us() / US_PER_S),
                                .is_good = is_good(v)};
    (void)witness_gather(features, 0, witness.key, scratch, &m);
    journal_add(witness.journal, &m);
    arena_free(&scratch);
}
