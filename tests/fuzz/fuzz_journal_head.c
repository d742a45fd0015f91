/* fuzz_journal_head - the head of a journal's file with changes in both copies, their sums made right or not: refused
 * with a text, or its names lie in it and are found by their numbers. */
#include "core/base/checksum.h"
#include "core/verdict/journal/journal_head.h"

#include "tests/fuzz/patched.h"

enum { SUM = 8 };

static void mend(char *copy)
{
    uint64_t sum = checksum64(slice_of(copy, JOURNAL_HEAD_COPY - SUM));
    memcpy(copy + JOURNAL_HEAD_COPY - SUM, &sum, sizeof(sum));
}

static void check_head(struct slice head)
{
    static struct journal_names names;
    struct errinfo why = {.text = ""};

    if (journal_head_parse(head, "fuzz", &names, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return;
    }
    for (unsigned kind = 0; kind < JOURNAL_NAME_KINDS; kind++) {
        FUZZ_CHECK(names.n[kind] <= JOURNAL_NAMES_MAX);
        for (size_t i = 0; i < names.n[kind]; i++) {
            struct slice name = journal_name(&names, (enum journal_name)kind, i);
            FUZZ_CHECK(name.p >= head.p && name.p + name.n <= head.p + head.n);
            int number = journal_number(&names, (enum journal_name)kind, name);
            FUZZ_CHECK(name.n == 0 || (number >= 0 && (size_t)number <= i));
        }
        struct slice none =
            journal_name(&names, (enum journal_name)kind, names.n[kind]);
        FUZZ_CHECK(slice_eq(none, SLICE_LIT("unknown")));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = slice_of((const char *)data, size);
    size_t mends = patched_number(&input, 1);
    struct buf head;

    buf_init(&head, JOURNAL_HEAD);
    journal_head_print(9, &head);
    FUZZ_CHECK(!buf_failed(&head) && head.n == JOURNAL_HEAD);
    size_t n = patched_apply((uint8_t *)head.p, head.n, &input);
    if ((mends & 1) != 0) {
        mend(head.p);
    }
    if ((mends & 2) != 0) {
        mend(head.p + JOURNAL_HEAD_COPY);
    }
    check_head(slice_of(head.p, n));
    buf_fini(&head);
    return 0;
}
