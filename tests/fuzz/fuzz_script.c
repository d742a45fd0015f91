/* fuzz_script - any bytes as a script: the same strings however it is cut, and a bounded sum of them. */
#include "core/message/text/script.h"

#include "tests/fuzz/fuzz.h"

struct sum {
    uint64_t value;
    uint64_t bytes;
};

static void on_value(void *context, const struct script_value *value)
{
    struct sum *sum = context;
    FUZZ_CHECK(value->text.n > 0 && value->text.n <= SCRIPT_VALUE_MAX);
    for (size_t i = 0; i < value->text.n; i++) {
        sum->value = sum->value * 31 + (unsigned char)value->text.p[i];
    }
    sum->value = sum->value * 31 + (value->is_cut_left ? 2U : 0U) + value->is_cut_right;
    sum->bytes += value->text.n;
}

static struct sum run(enum script_dialect dialect, struct slice in, size_t step)
{
    struct sum sum = {0};
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct script *s = arena != NULL ? script_new(arena, on_value, &sum) : NULL;
    FUZZ_CHECK(s != NULL);
    script_begin(s, dialect);
    for (size_t i = 0; i < in.n; i += step) {
        script_feed(s, slice_head(slice_from(in, i), step));
    }
    script_end(s);
    arena_free(&arena);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of((const char *)data, size);
    for (int d = SCRIPT_JAVASCRIPT; d <= SCRIPT_POWERSHELL; d++) {
        struct sum whole = run((enum script_dialect)d, in, size > 0 ? size : 1);
        FUZZ_CHECK(run((enum script_dialect)d, in, 1).value == whole.value);
        /* what is told twice is what was kept, and what stood in front of a frame */
        FUZZ_CHECK(whole.bytes <=
                   4 * (SCRIPT_GROWTH_FREE + (SCRIPT_GROWTH + 1) * size));
    }
    return 0;
}
