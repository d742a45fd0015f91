/*
 * fuzz_feedback - any bytes as a mail that reports others: the messages lie within what was given.
 */
#include "core/report/feedback.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct feedback f;
    size_t total = 0;

    FUZZ_CHECK(arena != NULL);
    feedback_read(arena, slice_of(data, size), &f);
    FUZZ_CHECK(f.nmessages <= FEEDBACK_MESSAGES);
    FUZZ_CHECK(f.kind != FEEDBACK_NONE || f.nmessages == 0);
    FUZZ_CHECK(f.kind == FEEDBACK_ABUSE || f.opinion == FEEDBACK_SILENT ||
               f.kind == FEEDBACK_BOUNCE);
    for (size_t i = 0; i < f.nmessages; i++) {
        const struct feedback_message *one = &f.message[i];
        total += one->bytes.n;
        FUZZ_CHECK(one->bytes.n > 0 && one->message_id.n < one->bytes.n);
    }
    FUZZ_CHECK(total <= 2 * size);
    arena_free(&arena);
    return 0;
}
