/*
 * test_damage - flipped bits, cut, missing and foreign files: faults are named, nothing listed
 * is denied, nothing crashes, and a rebuild heals.
 */
#include "core/base/checksum.h"
#include "core/list/files.h"
#include "core/list/reader.h"
#include "core/list/segment.h"

#include "tests/unit/list/list_fixture.h"

enum { LISTED = 300, NOW = 1000 };

/* Generation 3: entries 0..199 from two imports, 200..249 and the revocation of 7 in between
 * (log.00000003), 250..299 and the revocation of 9 in the tail (log.00000005). */
static void make_list(struct fixture *f)
{
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 100, 0);
    for (uint64_t n = 200; n < 250; n++) {
        add_number(f, w, n);
    }
    revoke_number(f, w, 7);
    import_range(f, w, 100, 200, 0);
    for (uint64_t n = 250; n < 300; n++) {
        add_number(f, w, n);
    }
    revoke_number(f, w, 9);
    assert_int_equal(w->current.generation, 3);
    assert_int_equal(w->current.tail, 5);
    list_writer_close(&w);
    assert_verified(f);
}

enum expect {
    EXACT,    /* every answer as without damage */
    POSSIBLE, /* what is listed may be only possible; nothing listed is denied */
    REFUSED   /* the list does not open */
};

/* Every entry is answered as expected. */
static void check_answers(const struct fixture *f, const struct list_reader *r,
                          enum expect expect, const char *what)
{
    (void)f;
    for (uint64_t n = 0; n < LISTED; n++) {
        enum list_answer a = ask_number(r, n, NOW);
        enum list_answer want = n == 7 || n == 9 ? LIST_REVOKED : LIST_CONFIRMED;
        if (a != want && !(expect == POSSIBLE && a == LIST_POSSIBLE)) {
            fail_msg("%s: entry %llu is %s", what, (unsigned long long)n,
                     list_answer_name(a));
        }
    }
    for (uint64_t n = 1000; n < 1200; n++) {
        enum list_answer a = ask_number(r, n, NOW);
        if (!is_absent(a) && !(expect == POSSIBLE && a == LIST_POSSIBLE)) {
            fail_msg("%s: absent entry is %s", what, list_answer_name(a));
        }
    }
}

/* A rebuild makes everything whole again; recent single changes included. */
static void check_rebuild(struct fixture *f, const char *what)
{
    struct list_writer *w = open_writer(f);
    enum err e = list_rebuild(w, NULL, NULL, &f->info);
    if (e != ERR_OK) {
        fail_msg("%s: rebuild: %s: %s", what, f->info.source, f->info.text);
    }
    list_writer_close(&w);
    struct list_reader *r = open_reader(f);
    assert_null(list_reader_fault(r));
    check_answers(f, r, EXACT, what);
    list_reader_close(&r);
    assert_verified(f);
}

static const char current[] = "CURRENT";
static const char index_file[] = "index.00000003";
static const char index_sum[] = "index.00000003.sum";
static const char base_file[] = "base.00000003";
static const char recent_file[] = "memtable.00000003";

static void test_list__derived_file_damaged__fault_named_answers_right_rebuild_heals(
    void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *file;
        int how; /* f flip at, c cut to, r remove */
        long at;
        enum expect expect;
        bool has_fault;
    } rows[] = {
        {base_file, 'f', 9, EXACT, true},        {base_file, 'f', 4300, EXACT, true},
        {base_file, 'f', -1, EXACT, true},       {base_file, 'c', 0, EXACT, true},
        {base_file, 'c', 100, EXACT, true},      {base_file, 'c', 4500, EXACT, true},
        {base_file, 'r', 0, EXACT, true},        {index_file, 'f', 5, POSSIBLE, true},
        {index_file, 'f', 5000, POSSIBLE, true}, {index_file, 'f', -9, POSSIBLE, true},
        {index_file, 'c', 4096, POSSIBLE, true}, {index_file, 'c', 0, POSSIBLE, true},
        {index_file, 'r', 0, POSSIBLE, true},    {index_sum, 'f', 3, POSSIBLE, true},
        {index_sum, 'c', 3, POSSIBLE, true},     {index_sum, 'r', 0, POSSIBLE, true},
        {recent_file, 'f', 3, EXACT, false},     {recent_file, 'f', 30, EXACT, false},
        {recent_file, 'c', 5000, EXACT, false},  {recent_file, 'c', 0, EXACT, false},
        {recent_file, 'r', 0, EXACT, false},     {current, 'f', 3, EXACT, true},
        {current, 'f', 20, EXACT, true},         {current, 'f', -1, EXACT, true},
        {current, 'c', 0, EXACT, true},          {current, 'c', 30, EXACT, true},
        {current, 'r', 0, EXACT, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char what[64];
        snprintf(what, sizeof(what), "row %zu %s %c %ld", i, rows[i].file, rows[i].how,
                 rows[i].at);
        make_list(f);
        if (rows[i].how == 'f') {
            flip_byte(f, rows[i].file, rows[i].at);
        } else if (rows[i].how == 'c') {
            cut_file(f, rows[i].file, rows[i].at);
        } else {
            remove_file(f, rows[i].file);
        }
        struct list_reader *r = open_reader(f);
        const char *fault = list_reader_fault(r);
        if ((fault != NULL) != rows[i].has_fault ||
            (fault && !strstr(fault, "gillnet list rebuild test"))) {
            fail_msg("%s: fault: %s", what, fault ? fault : "none");
        }
        check_answers(f, r, rows[i].expect, what);
        list_reader_close(&r);
        struct findings x = {0};
        assert_int_not_equal(list_verify(f->state, NAME, &f->keys, count_finding, &x),
                             ERR_OK);
        assert_true(x.n > 0);
        check_rebuild(f, what);
        (void)tempdir_remove(f->dir);
    }
}

static void test_list__index_damaged__former_generation_confirms_what_it_knows(
    void **state)
{
    struct fixture *f = *state;
    make_list(f);
    flip_byte(f, index_file, 4200);
    struct list_reader *r = open_reader(f);
    static const struct {
        uint64_t entry;
        enum list_answer answer;
    } rows[] = {
        {1, LIST_CONFIRMED},   /* import in the former generation */
        {7, LIST_REVOKED},     /* single change after the former generation's base */
        {220, LIST_CONFIRMED}, /* the same */
        {9, LIST_REVOKED},     /* in the tail */
        {260, LIST_CONFIRMED}, /* the same */
        {150, LIST_POSSIBLE},  /* import since: only the filter knows it */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(ask_number(r, rows[i].entry, NOW), rows[i].answer);
    }
    list_reader_close(&r);
    /* without the former generation, a filter hit is possible */
    remove_file(f, "CURRENT.prev");
    r = open_reader(f);
    assert_int_equal(ask_number(r, 1, NOW), LIST_POSSIBLE);
    assert_int_equal(ask_number(r, 9, NOW), LIST_REVOKED);
    list_reader_close(&r);
}

static void test_list__index_and_filter_damaged__refused_and_rebuilt(void **state)
{
    struct fixture *f = *state;
    make_list(f);
    flip_byte(f, index_file, 4200);
    flip_byte(f, base_file, 4200);
    struct list_reader *r = NULL;
    assert_int_equal(list_reader_open(f->state, NAME, &f->keys, &r, &f->info),
                     ERR_CORRUPT);
    assert_non_null(strstr(f->info.text, "gillnet list rebuild test"));
    check_rebuild(f, "index and filter");
}

static void test_list__all_but_the_log_removed__rebuilt(void **state)
{
    struct fixture *f = *state;
    make_list(f);
    static const char *const files[] = {
        current,         "CURRENT.prev",     index_file,       index_sum,
        base_file,       recent_file,        "index.00000002", "index.00000002.sum",
        "base.00000002", "memtable.00000002"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        remove_file(f, files[i]);
    }
    struct list_writer *w = open_writer(f);
    char text[64];
    struct feature_entry e = entry_number(1, text);
    assert_int_not_equal(list_add(w, &e, SLICE_LIT("test"), 0, &f->info), ERR_OK);
    assert_non_null(strstr(f->info.text, "gillnet list rebuild test"));
    list_writer_close(&w);
    check_rebuild(f, "only the log");
}

static void test_list__record_of_the_log_damaged__found_and_the_rest_rebuilt(
    void **state)
{
    struct fixture *f = *state;
    static const long at[] = {60, 3000, -20};
    for (size_t i = 0; i < 3; i++) {
        make_list(f);
        flip_byte(f, "log.00000002", at[i]);
        /* the index still answers */
        struct list_reader *r = open_reader(f);
        check_answers(f, r, EXACT, "log");
        list_reader_close(&r);
        struct findings x = {0};
        assert_int_not_equal(list_verify(f->state, NAME, &f->keys, count_finding, &x),
                             ERR_OK);
        assert_non_null(strstr(x.first.source, "log.00000002"));
        assert_non_null(strstr(x.first.text, "damaged"));
        /* while the index is whole a rebuild would only lose */
        struct list_writer *w = open_writer(f);
        assert_int_equal(list_rebuild(w, NULL, NULL, &f->info), ERR_CORRUPT);
        assert_non_null(strstr(f->info.text, "nothing was changed"));
        list_writer_close(&w);
        r = open_reader(f);
        check_answers(f, r, EXACT, "log, rebuild refused");
        list_reader_close(&r);
        /* the rebuild says what it could not bring over, and brings over the rest */
        remove_file(f, "CURRENT");
        w = open_writer(f);
        assert_int_equal(list_rebuild(w, NULL, NULL, &f->info), ERR_CORRUPT);
        assert_non_null(strstr(f->info.text, "the list was rebuilt"));
        list_writer_close(&w);
        r = open_reader(f);
        struct list_stat s;
        list_reader_stat(r, &s);
        /* the first row damages the name of the source only */
        assert_int_equal(s.entries + s.revoked, i == 0 ? LISTED : LISTED - 1);
        list_reader_close(&r);
        (void)tempdir_remove(f->dir);
    }
}

static void test_list__first_current_missing__being_made_or_damaged(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    struct list_reader *r = NULL;
    add_number(f, w, 5);
    assert_int_equal(w->current.generation, 1);
    remove_file(f, "CURRENT"); /* as before it is there for the first time */
    assert_int_equal(list_reader_open(f->state, NAME, &f->keys, &r, &f->info),
                     ERR_NOT_FOUND);
    list_writer_close(&w);
    r = open_reader(f);
    assert_non_null(strstr(list_reader_fault(r), "CURRENT is damaged"));
    assert_int_equal(ask_number(r, 5, NOW), LIST_CONFIRMED);
    list_reader_close(&r);
}

static void test_list__segment_missing__named_by_verify_and_rebuild(void **state)
{
    struct fixture *f = *state;
    make_list(f);
    remove_file(f, "log.00000002");
    struct findings x = {0};
    assert_int_not_equal(list_verify(f->state, NAME, &f->keys, count_finding, &x),
                         ERR_OK);
    assert_non_null(strstr(x.first.source, "log.00000002"));
    struct list_writer *w = open_writer(f);
    assert_int_equal(list_rebuild(w, NULL, NULL, &f->info), ERR_CORRUPT);
    list_writer_close(&w);
    struct list_reader *r = open_reader(f);
    check_answers(f, r, EXACT, "segment missing, rebuild refused");
    list_reader_close(&r);
    remove_file(f, "CURRENT");
    w = open_writer(f);
    assert_int_equal(list_rebuild(w, NULL, NULL, &f->info), ERR_CORRUPT);
    list_writer_close(&w);
    r = open_reader(f);
    assert_int_equal(ask_number(r, 150, NOW), LIST_CONFIRMED);
    assert_true(is_absent(ask_number(r, 50, NOW)));
    list_reader_close(&r);
}

/* The n-th of a fixed stream of numbers (SplitMix64). */
static uint64_t number_at(uint64_t n)
{
    uint64_t x = (n + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static void flip_bit(const struct fixture *f, const char *file, uint64_t number)
{
    char path[256];
    unsigned char c = 0;
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", f->dir, file);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0);
    off_t at = (off_t)(number % (uint64_t)st.st_size);
    assert_int_equal(pread(fd, &c, 1, at), 1);
    c ^= (unsigned char)(1u << (number >> 61));
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
}

static void test_list__twenty_bits_flipped_in_each_file__nothing_listed_is_denied(
    void **state)
{
    struct fixture *f = *state;
    static const char *const files[] = {current,        index_file,    index_sum,
                                        base_file,      recent_file,   "log.00000002",
                                        "log.00000003", "log.00000005"};
    enum { FLIPS = 20 };
    for (uint64_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        make_list(f);
        for (uint64_t n = 0; n <= FLIPS; n++) {
            /* one by one, then all at once */
            uint64_t from = n < FLIPS ? n : 0;
            uint64_t to = n < FLIPS ? n + 1 : FLIPS;
            for (uint64_t k = from; k < to; k++) {
                flip_bit(f, files[i], number_at(i * FLIPS + k));
            }
            struct list_reader *r = NULL;
            if (list_reader_open(f->state, NAME, &f->keys, &r, &f->info) == ERR_OK) {
                check_answers(f, r, POSSIBLE, files[i]);
                list_reader_close(&r);
            } else {
                assert_int_not_equal(f->info.text[0], '\0');
            }
            struct findings x = {0};
            (void)list_verify(f->state, NAME, &f->keys, count_finding, &x);
            for (uint64_t k = from; k < to && n < FLIPS; k++) {
                flip_bit(f, files[i], number_at(i * FLIPS + k));
            }
        }
        struct list_writer *w = open_writer(f);
        enum err e = list_rebuild(w, NULL, NULL, &f->info);
        assert_true(e == ERR_OK || e == ERR_CORRUPT);
        list_writer_close(&w);
        (void)tempdir_remove(f->dir);
    }
}

/* ---- what crashes leave ---- */

static void append(const struct fixture *f, const char *file, const void *bytes,
                   size_t n)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", f->dir, file);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    close(fd);
}

static void test_list_writer_open__torn_record_at_the_end__cut_off(void **state)
{
    struct fixture *f = *state;
    make_list(f);
    char path[256];
    snprintf(path, sizeof(path), "%s/log.00000005", f->dir);
    struct stat whole;
    struct stat now;
    assert_int_equal(stat(path, &whole), 0);
    struct buf b;
    buf_init(&b, RECORD_BYTES_MAX);
    struct log_record record = {.kind = RECORD_ADD, .text = SLICE_LIT("torn.example")};
    segment_record_print(&record, &b);
    for (size_t n = 1; n < b.n; n++) {
        append(f, "log.00000005", b.p, n);
        /* a reader does without it */
        struct list_reader *r = open_reader(f);
        assert_null(list_reader_fault(r));
        check_answers(f, r, EXACT, "torn");
        list_reader_close(&r);
        assert_verified(f);
        struct list_writer *w = open_writer(f);
        assert_int_equal(stat(path, &now), 0);
        assert_int_equal(now.st_size, whole.st_size);
        list_writer_close(&w);
        if (n % 16 != 0) {
            n += 2; /* every third length, and each around the parts' borders */
        }
    }
    buf_fini(&b);
    struct list_writer *w = open_writer(f);
    add_number(f, w, 500);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_writer_open__record_synced_but_not_entered__taken_over(
    void **state)
{
    struct fixture *f = *state;
    make_list(f);
    struct buf b;
    char text[64];
    struct feature_entry e = entry_number(777, text);
    struct log_record record = {
        .kind = RECORD_ADD, .class_type = e.class_type, .time_s = 5, .text = e.text};
    digest_make(&f->keys.ring[0], e.class_type, e.text, &record.digest);
    buf_init(&b, RECORD_BYTES_MAX);
    segment_record_print(&record, &b);
    append(f, "log.00000005", b.p, b.n);
    buf_fini(&b);
    struct list_reader *r = open_reader(f);
    assert_int_equal(ask_number(r, 777, NOW), LIST_CONFIRMED);
    assert_true(r->is_private);
    assert_false(list_reader_is_stale(r));
    struct list_writer *w = open_writer(f);
    assert_true(list_reader_is_stale(r));
    list_reader_close(&r);
    r = open_reader(f);
    assert_false(r->is_private);
    add_number(f, w, 778);
    assert_int_equal(ask_number(r, 777, NOW), LIST_CONFIRMED);
    assert_int_equal(ask_number(r, 778, NOW), LIST_CONFIRMED);
    list_reader_close(&r);
    list_writer_close(&w);
    assert_verified(f);
}

/* A writer was killed after its sync, inside a slot of the recent table. */
static void test_list__killed_while_entering__no_damage_and_found_in_the_log(
    void **state)
{
    struct fixture *f = *state;
    make_list(f);
    struct list_writer *w = open_writer(f);
    struct list_reader *r = open_reader(f);
    struct digest d = digest_of(r, 260);
    long at = -1;
    for (uint64_t i = 0; i < w->recent.slots && at < 0; i++) {
        struct digest other;
        struct exact_value v;
        if (exact_at(&w->recent.table, i, &other, &v) == ERR_OK &&
            digest_cmp(&other, &d) == 0) {
            const unsigned char *table = (const void *)w->recent.table.words;
            at = (long)(table - w->recent.map.p) + (long)i * EXACT_SLOT_BYTES;
        }
    }
    assert_true(at > 0);
    list_reader_close(&r);
    list_writer_close(&w);
    flip_byte(f, recent_file, at + DIGEST_BYTES);
    struct findings x = {0};
    assert_int_not_equal(list_verify(f->state, NAME, &f->keys, count_finding, &x),
                         ERR_OK);      /* nothing in the log explains it */
    append(f, "log.00000005", "x", 1); /* an unfinished record does */
    assert_verified(f);
    r = open_reader(f);
    assert_null(list_reader_fault(r));
    assert_int_equal(ask_number(r, 260, NOW), LIST_CONFIRMED);
    list_reader_close(&r);
    w = open_writer(f);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_writer_open__orphans_of_an_import__removed(void **state)
{
    struct fixture *f = *state;
    make_list(f);
    static const char *const orphans[] = {
        "log.00000006",       "log.00000007",  "index.00000004",
        "index.00000004.sum", "base.00000004", "memtable.00000004",
        "index.00000001",     "base.00000001", "x.0123456789abcdef.tmp"};
    for (size_t i = 0; i < sizeof(orphans) / sizeof(orphans[0]); i++) {
        append(f, orphans[i], "rubbish", 7);
    }
    /* segments of an import are whole when they appear */
    struct segment_header h = {.number = 6,
                               .key_id = f->keys.ring[0].id,
                               .kind = SEGMENT_BULK,
                               .created_s = 1};
    MUST(f, segment_create(f->dir, &h, &f->info));
    h.number = 7;
    h.kind = SEGMENT_TAIL;
    MUST(f, segment_create(f->dir, &h, &f->info));
    struct list_writer *w = open_writer(f);
    for (size_t i = 0; i < sizeof(orphans) / sizeof(orphans[0]); i++) {
        if (has_file(f, orphans[i])) {
            fail_msg("%s is still there", orphans[i]);
        }
    }
    import_range(f, w, 400, 410, 0);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_writer_open__creation_broke_off__made_anew(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    list_writer_close(&w);
    remove_file(f, current);
    struct list_reader *r = NULL;
    remove_file(f, "memtable.00000001");
    assert_int_equal(list_reader_open(f->state, NAME, &f->keys, &r, &f->info),
                     ERR_NOT_FOUND);
    w = open_writer(f);
    add_number(f, w, 1);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_reader_open__recent_of_another_boot__rebuilt_from_the_log(
    void **state)
{
    struct fixture *f = *state;
    make_list(f);
    /* the boot's name stands at 40; the head's checksum after it at 56 is made right again */
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", f->dir, recent_file);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char head[64];
    assert_int_equal(pread(fd, head, sizeof(head), 0), (ssize_t)sizeof(head));
    head[40] = (char)(head[40] ^ 1);
    uint64_t sum = checksum64(slice_of(head, 56));
    memcpy(head + 56, &sum, sizeof(sum));
    assert_int_equal(pwrite(fd, head, sizeof(head), 0), (ssize_t)sizeof(head));
    close(fd);
    struct list_reader *r = open_reader(f);
    assert_true(r->is_private);
    assert_null(list_reader_fault(r));
    check_answers(f, r, EXACT, "boot");
    assert_verified(f);
    struct list_writer *w = open_writer(f);
    assert_true(list_reader_is_stale(r));
    list_writer_close(&w);
    list_reader_close(&r);
    r = open_reader(f);
    assert_false(r->is_private);
    check_answers(f, r, EXACT, "boot");
    list_reader_close(&r);
}

static void test_list__fifo_in_place_of_a_file__served_and_rebuilt(void **state)
{
    static const char *const files[] = {"CURRENT", "base.00000003", "index.00000003"};
    struct fixture *f = *state;
    make_list(f);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[256];
        char away[256];
        snprintf(path, sizeof(path), "%s/%s", f->dir, files[i]);
        snprintf(away, sizeof(away), "%s/away", f->state);
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(mkfifo(path, 0600), 0);
        struct list_reader *r = NULL;
        MUST(f, list_reader_open(f->state, NAME, &f->keys, &r, &f->info));
        assert_non_null(list_reader_fault(r));
        check_answers(f, r, POSSIBLE, files[i]);
        list_reader_close(&r);
        assert_int_equal(rename(away, path), 0);
    }
    char path[256];
    snprintf(path, sizeof(path), "%s/CURRENT", f->dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct list_writer *w = open_writer(f);
    MUST(f, list_rebuild(w, NULL, NULL, &f->info));
    list_writer_close(&w);
    assert_verified(f);
}

#define LIST_TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIST_TEST(
            test_list__derived_file_damaged__fault_named_answers_right_rebuild_heals),
        LIST_TEST(test_list__index_damaged__former_generation_confirms_what_it_knows),
        LIST_TEST(test_list__index_and_filter_damaged__refused_and_rebuilt),
        LIST_TEST(test_list__all_but_the_log_removed__rebuilt),
        LIST_TEST(test_list__fifo_in_place_of_a_file__served_and_rebuilt),
        LIST_TEST(test_list__record_of_the_log_damaged__found_and_the_rest_rebuilt),
        LIST_TEST(test_list__first_current_missing__being_made_or_damaged),
        LIST_TEST(test_list__segment_missing__named_by_verify_and_rebuild),
        LIST_TEST(
            test_list__twenty_bits_flipped_in_each_file__nothing_listed_is_denied),
        LIST_TEST(test_list_writer_open__torn_record_at_the_end__cut_off),
        LIST_TEST(test_list_writer_open__record_synced_but_not_entered__taken_over),
        LIST_TEST(test_list__killed_while_entering__no_damage_and_found_in_the_log),
        LIST_TEST(test_list_writer_open__orphans_of_an_import__removed),
        LIST_TEST(test_list_writer_open__creation_broke_off__made_anew),
        LIST_TEST(test_list_reader_open__recent_of_another_boot__rebuilt_from_the_log),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
