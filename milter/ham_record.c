#include "core/base/clock.h"
#include "core/message/feature/ham_keys.h"

#include "milter/message_log.h"
#include "milter/service.h"

enum { US_PER_S = 1000000 };

/* Constant while messages are examined. */
static struct {
    struct ham_log *ham_log;
    const struct hashkey *key;
} witness;

void ham_record_use(struct ham_log *j, const struct hashkey *key)
{
    witness.ham_log = j;
    witness.key = key;
}

/* No symbol of it scores. */
static bool is_good(const struct verdict *v)
{
    for (size_t i = 0; i < v->nsymbols; i++) {
        if (v->symbols[i].score > 0) {
            return false;
        }
    }
    return v->action == ACTION_ACCEPT;
}

void ham_record_message(const struct featureset *features, const struct verdict *v)
{
    if (!witness.ham_log || !ham_log_wants(witness.ham_log, clock_mono_us())) {
        return;
    }
    if (emergency_sheds(service_emergency())) {
        return;
    }
    struct arena *scratch = arena_new(HAM_KEYS_SCRATCH_BYTES);
    if (!scratch) {
        return;
    }
    struct ham_log_message m = {.time_s = (uint32_t)(clock_wall_us() / US_PER_S),
                                .is_good = is_good(v)};
    (void)ham_keys_gather(features, 0, witness.key, scratch, &m);
    ham_log_add(witness.ham_log, &m);
    arena_free(&scratch);
}
