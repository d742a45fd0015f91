/* fuzz_accounts - any text as the numbers of logins: what is read is saved and read to the same. */
#include <string.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/verdict/account/account.h"

#include "tests/fuzz/state.h"

enum { US_PER_S = 1000000 };

static size_t above(struct accounts *a, struct account_numbers *ret)
{
    char worst[ACCOUNT_USER_MAX + 1];

    memset(ret, 0, sizeof(*ret));
    return accounts_above(a, 0, worst, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct accounts *a = NULL;
    struct accounts *again = NULL;
    struct account_numbers first;
    struct account_numbers second;
    struct errinfo why = {.text = ""};
    const struct account_mail mail = {.user = SLICE_LIT("someone"),
                                      .from = SLICE_LIT("a@b.example"),
                                      .nrecipients = 1};

    FUZZ_CHECK(base_init() == ERR_OK);
    clock_set_for_test(UINT64_C(1700000000) * US_PER_S, US_PER_S);
    const char *path = state_file("accounts", slice_of((const char *)data, size));
    if (accounts_open(path, &a, &why) != ERR_OK) {
        FUZZ_CHECK(a == NULL && why.text[0] != '\0');
        return 0;
    }
    (void)accounts_add(a, &mail, 1, &first);
    size_t n = above(a, &first);
    FUZZ_CHECK(accounts_save(a, &why) == ERR_OK);
    FUZZ_CHECK(accounts_open(path, &again, &why) == ERR_OK);
    FUZZ_CHECK(above(again, &second) == n && first.strangers == second.strangers);
    accounts_close(&a);
    accounts_close(&again);
    return 0;
}
