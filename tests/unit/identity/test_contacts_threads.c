/*
 * test_contacts_threads - messages learn and look up in several threads while the store folds.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/thread.h"
#include "core/verdict/identity/contacts.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { THREADS = 4, ROUNDS = 400, FOLD_EACH = 50, LOOKS_MOST = 10000, TEXT_BYTES = 64 };

static struct contacts *store;
static _Atomic unsigned wrong;

static void expect(bool is_so)
{
    wrong += is_so ? 0 : 1;
}

/* Whether all of address n of a thread is known; it was learnt. */
static bool is_known(unsigned thread, unsigned n)
{
    char to[TEXT_BYTES];
    char id[TEXT_BYTES];

    (void)snprintf(to, sizeof(to), "p%u@t%u.example", n, thread);
    (void)snprintf(id, sizeof(id), "%u.%u@our.example", n, thread);
    return contacts_wrote(store, SLICE_LIT("ann@our.example"), slice_str(to)) &&
           contacts_sent_id(store, slice_str(id), slice_str(to));
}

static void learn(unsigned thread, unsigned n)
{
    char to[TEXT_BYTES];
    char id[TEXT_BYTES];

    (void)snprintf(to, sizeof(to), "p%u@t%u.example", n, thread);
    (void)snprintf(id, sizeof(id), "%u.%u@our.example", n, thread);
    const struct slice rcpt = slice_str(to);
    const struct contacts_sent sent = {.from = SLICE_LIT("ann@our.example"),
                                       .rcpt = &rcpt,
                                       .nrcpt = 1,
                                       .message_id = slice_str(id)};
    expect(contacts_learn_sent(store, &sent) == ERR_OK);
}

static void *run(void *context)
{
    const unsigned thread = *(const unsigned *)context;
    struct contacts_numbers numbers;
    char domain[TEXT_BYTES];

    for (unsigned n = 0; n < ROUNDS; n++) {
        learn(thread, n);
        expect(is_known(thread, n));
        expect(is_known(thread, n / 2)); /* by now perhaps in the file */
        expect(!is_known(THREADS, n));
        (void)snprintf(domain, sizeof(domain), "d%u.example", n);
        expect(contacts_learn_domain(store, slice_str(domain)) == ERR_OK);
        expect(contacts_has_domain(store, slice_str(domain)));
        if (n % FOLD_EACH == FOLD_EACH - 1) {
            expect(contacts_fold(store, NULL) == ERR_OK);
            contacts_numbers(store, &numbers);
            expect(numbers.dropped == 0);
        }
    }
    return NULL;
}

static void on_fault(const char *text)
{
    expect(text == NULL);
}

static void test_contacts__threads_learn_while_it_folds__nothing_is_missed(void **state)
{
    char dir[64];
    struct keyring keys;
    struct errinfo why;
    pthread_t thread[THREADS];
    unsigned number[THREADS];
    struct contacts_numbers numbers;
    const struct contacts_hooks hooks = {.on_fault = on_fault};

    (void)state;
    assert_true(tempdir_make_fast(dir));
    assert_int_equal(keyring_load_or_create(dir, &keys, &why), ERR_OK);
    assert_int_equal(contacts_open(dir, &keys, &store, &why), ERR_OK);
    assert_int_equal(contacts_start(store, &hooks, &why), ERR_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(thread_start(&thread[i], run, &number[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    assert_int_equal(contacts_fold(store, NULL), ERR_OK);
    const struct timespec pause = {.tv_nsec =
                                       5000000}; /* the fold takes the processor */
    unsigned looks = 0;
    do { /* a fold of the store's own thread may put a file in use that nobody has opened yet */
        assert_true(is_known(0, 0));
        contacts_numbers(store, &numbers);
        (void)nanosleep(&pause, NULL);
    } while (numbers.folded == 0 && ++looks < LOOKS_MOST);
    assert_true(numbers.folded > 0);
    contacts_close(&store);
    assert_int_equal(contacts_open(dir, &keys, &store, &why), ERR_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned n = 0; n < ROUNDS; n++) {
            expect(is_known(i, n));
        }
    }
    contacts_close(&store);
    assert_int_equal(wrong, 0);
    assert_int_equal(file_remove_tree(dir, NULL), ERR_OK);
}

/* ---- faults ---- */

static _Atomic unsigned nfaults;
static _Atomic unsigned nover;

static void count_fault(const char *text)
{
    nfaults += text != NULL && text[0] != '\0';
    nover += text == NULL;
}

/* Asks for a fold, and waits until it has told how it went. */
static void fold_until(const _Atomic unsigned *number, unsigned wanted)
{
    const struct timespec pause = {.tv_nsec = 5000000};

    assert_int_equal(contacts_fold(store, NULL), ERR_OK);
    for (unsigned looks = 0; *number < wanted && looks < LOOKS_MOST; looks++) {
        (void)nanosleep(&pause, NULL);
    }
    assert_int_equal(*number, wanted);
}

static void test_contacts__disk_is_full_for_a_while__fault_is_told_and_its_end(
    void **state)
{
    char dir[64];
    struct keyring keys;
    struct errinfo why;
    struct rlimit was;
    const struct contacts_hooks hooks = {.on_fault = count_fault};

    (void)state;
    assert_true(tempdir_make_fast(dir));
    assert_int_equal(keyring_load_or_create(dir, &keys, &why), ERR_OK);
    assert_int_equal(contacts_open(dir, &keys, &store, &why), ERR_OK);
    assert_int_equal(contacts_start(store, &hooks, &why), ERR_OK);
    learn(0, 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct rlimit none = {.rlim_cur = 16, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    fold_until(&nfaults, 1);
    assert_int_equal(nover, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    fold_until(&nover, 1);
    assert_int_equal(nfaults, 1);
    assert_true(is_known(0, 0));
    contacts_close(&store);
    assert_int_equal(file_remove_tree(dir, NULL), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_contacts__threads_learn_while_it_folds__nothing_is_missed),
        cmocka_unit_test(
            test_contacts__disk_is_full_for_a_while__fault_is_told_and_its_end),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
