/*
 * test_browse - the entries of a list page by page, against a model, while the list changes.
 */
#include "core/base/clock.h"
#include "core/list/browse.h"
#include "core/list/browse_json.h"
#include "core/list/entry_source.h"
#include "core/list/rekey.h"

#include "tests/unit/list/list_fixture.h"

enum { NOW = 1700000000, ENTRIES = 900, ROUNDS = 40, PAGE = 23, NEVER = -1 };

static uint64_t draw(uint64_t *x, uint64_t n)
{
    *x = *x * 6364136223846793005 + 1442695040888963407;
    return (*x >> 33) % n;
}

/* What is known of each entry. */
struct model {
    bool is_there[ENTRIES];
    bool is_revoked[ENTRIES];
    bool is_explicit[ENTRIES];
    int turn[ENTRIES]; /* of its last change; NEVER */
    int turns;
    uint64_t random;
};

static void model_init(struct model *m, uint64_t seed)
{
    memset(m, 0, sizeof(*m));
    m->random = seed;
    for (size_t i = 0; i < ENTRIES; i++) {
        m->turn[i] = NEVER;
    }
}

static void note_change(struct model *m, size_t i, bool is_revoked, bool is_explicit)
{
    m->is_there[i] = true;
    m->is_revoked[i] = is_revoked;
    m->is_explicit[i] = is_explicit;
    m->turn[i] = m->turns++;
}

/* One change of the list and of the model. */
static void change(struct fixture *f, struct list_writer *w, struct model *m)
{
    const size_t i = draw(&m->random, ENTRIES);

    clock_advance_us(1000000);
    if (draw(&m->random, 30) == 0) {
        const size_t to = i + draw(&m->random, 200);
        (void)import_range(f, w, i, to < ENTRIES ? to : ENTRIES, 0);
        for (size_t k = i; k < to && k < ENTRIES; k++) {
            if (!m->is_there[k]) {
                note_change(m, k, false, false);
            }
        }
    } else if (draw(&m->random, 3) == 0) {
        if (!m->is_there[i] || !m->is_explicit[i] || !m->is_revoked[i]) {
            revoke_number(f, w, i);
            note_change(m, i, true, true);
        }
    } else if (!m->is_there[i] || !m->is_explicit[i] || m->is_revoked[i]) {
        add_number(f, w, i);
        note_change(m, i, false, true);
    }
}

/* The pages of one walk. */
struct seen {
    unsigned n[ENTRIES];
    bool is_revoked[ENTRIES];
    size_t rows; /* of the page */
    size_t most;
    uint64_t last_s; /* changed_s */
};

static bool on_entry(void *context, const struct browse_entry *e)
{
    struct seen *s = context;
    const struct slice text = e->from->text;
    uint64_t i = 0;

    assert_true(slice_has_prefix(text, SLICE_LIT("host-")));
    const struct slice number = slice_head(slice_from(text, 5), text.n - 5 - 8);
    assert_true(slice_to_u64(number, 10, UINT32_MAX, &i));
    if (i < ENTRIES) {
        s->n[i]++;
        s->is_revoked[i] = e->from->status == ENTRY_REVOKED;
    }
    assert_true(e->changed_s <= s->last_s);
    assert_true(e->from->source[0] != '\0');
    s->last_s = e->changed_s;
    s->rows++;
    return s->rows < s->most;
}

static struct browsed walk_page(const struct list_reader *r, const char *text,
                                const struct browse_place *from, uint64_t records,
                                struct seen *s)
{
    const struct browse b = {.text = slice_str(text),
                             .now_s = clock_wall_us() / 1000000,
                             .records = records,
                             .fn = on_entry,
                             .context = s};
    struct browsed found;
    struct errinfo why;

    s->rows = 0;
    if (list_browse(r, &b, from, &found, &why) != ERR_OK) {
        fail_msg("%s", why.text);
    }
    assert_true(found.share >= 0 && found.share <= 1);
    return found;
}

/* Walks all pages; between them the list changes, if w is not NULL. */
static void walk_all(struct fixture *f, struct list_writer *w, struct model *m,
                     const char *text, uint64_t records, struct seen *s)
{
    struct browsed found = {.has_more = true};
    struct list_reader *r = open_reader(f);
    double share = 0;

    memset(s, 0, sizeof(*s));
    s->most = PAGE;
    s->last_s = UINT64_MAX;
    while (found.has_more) {
        const struct browse_place from = found.next;
        found = walk_page(r, text, &from, records, s);
        assert_true(records == 0 || found.records <= records);
        assert_true(w != NULL || found.share >= share);
        share = found.share;
        for (unsigned i = 0; w != NULL && i < 3; i++) {
            change(f, w, m);
        }
        list_reader_close(&r);
        r = open_reader(f);
    }
    assert_true(w != NULL || share == 1);
    list_reader_close(&r);
}

static void test_pages__when_the_list_stays__then_each_entry_once(void **state)
{
    struct fixture *f = *state;
    static struct model m;
    static struct seen s;

    clock_set_for_test((uint64_t)NOW * 1000000, 5000000);
    model_init(&m, 7);
    struct list_writer *w = open_writer(f);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < 40; i++) {
            change(f, w, &m);
        }
        walk_all(f, NULL, &m, "", round % 2 == 0 ? 0 : 17, &s);
        for (size_t i = 0; i < ENTRIES; i++) {
            assert_int_equal(s.n[i], m.is_there[i]);
            assert_true(s.n[i] == 0 || s.is_revoked[i] == m.is_revoked[i]);
        }
    }
    list_writer_close(&w);
    clock_unset_for_test();
}

static void test_pages__when_the_list_changes__then_others_once_and_none_twice(
    void **state)
{
    struct fixture *f = *state;
    static struct model m;
    static struct seen s;

    clock_set_for_test((uint64_t)NOW * 1000000, 5000000);
    model_init(&m, 11);
    struct list_writer *w = open_writer(f);
    for (unsigned i = 0; i < 600; i++) {
        change(f, w, &m);
    }
    for (unsigned round = 0; round < 10; round++) {
        const struct model before = m;
        walk_all(f, w, &m, "", 0, &s);
        for (size_t i = 0; i < ENTRIES; i++) {
            assert_true(s.n[i] <= 1);
            if (m.turn[i] == before.turn[i]) {
                assert_int_equal(s.n[i], before.is_there[i]);
            }
        }
    }
    list_writer_close(&w);
    clock_unset_for_test();
}

static void test_pages__when_entries_were_merged__then_each_entry_once(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    static struct model m;
    static struct seen s;

    /* more than the table of recent entries holds, so that the log has several segments */
    (void)import_range(f, w, 0, ENTRIES / 2, 0);
    for (uint64_t i = ENTRIES; i < ENTRIES + 20000; i++) {
        char text[64];
        const struct list_change c = {.entry = entry_number(i, text)};
        MUST(f, list_stage(w, &c, SLICE_LIT("many"), &f->info));
    }
    MUST(f, list_flush(w, &f->info));
    (void)import_range(f, w, ENTRIES / 4, ENTRIES, 0);
    walk_all(f, NULL, &m, "", 0, &s);
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(s.n[i], 1);
    }
    list_writer_close(&w);
    assert_verified(f);
}

static void test_search__finds_the_part_of_a_text_in_any_case(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    static struct seen s;
    static struct model m;

    (void)import_range(f, w, 0, ENTRIES, 0);
    revoke_number(f, w, 77);
    walk_all(f, NULL, &m, "OST-7", 100, &s);
    for (size_t i = 0; i < ENTRIES; i++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "%zu", i);
        assert_int_equal(s.n[i], text[0] == '7');
    }
    assert_true(s.is_revoked[77]);
    walk_all(f, NULL, &m, "no such text", 0, &s);
    assert_int_equal(s.rows, 0);
    list_writer_close(&w);
}

static void test_place__when_the_list_is_another__then_it_is_refused(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    static struct seen s = {.last_s = UINT64_MAX, .most = 1};
    struct browsed found;
    struct errinfo why;
    const struct browse b = {.fn = on_entry, .context = &s};

    (void)import_range(f, w, 0, 10, 0);
    list_writer_close(&w);
    struct list_reader *r = open_reader(f);
    found = walk_page(r, "", &(struct browse_place){0}, 0, &s);
    assert_true(found.has_more);
    struct browse_place from = found.next;
    from.created_s++;
    assert_int_equal(list_browse(r, &b, &from, &found, &why), ERR_NOT_FOUND);
    from.created_s--;
    from.segment = 99;
    assert_int_equal(list_browse(r, &b, &from, &found, &why), ERR_NOT_FOUND);
    /* anywhere in the log: no crash, and only whole records */
    for (uint32_t at = 0; at < 2000; at++) {
        from.segment = at % 3;
        from.offset = at;
        (void)list_browse(r, &b, &from, &found, &why);
        s.last_s = UINT64_MAX;
        s.rows = 0;
    }
    list_reader_close(&r);
}

static void test_log__when_it_is_damaged__then_the_other_entries_are_shown(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    static struct seen s;
    static struct model m;
    size_t n = 0;

    (void)import_range(f, w, 0, ENTRIES, 0);
    list_writer_close(&w);
    flip_byte(f, "log.00000002", 5000);
    walk_all(f, NULL, &m, "", 0, &s);
    for (size_t i = 0; i < ENTRIES; i++) {
        n += s.n[i];
    }
    assert_int_equal(n, ENTRIES - 1);
    remove_file(f, "log.00000002");
    walk_all(f, NULL, &m, "", 0, &s);
    assert_int_equal(s.rows, 0);
}

/* ---- one entry ---- */

struct one {
    struct list_provenance from;
    uint64_t changed_s;
    unsigned n;
    size_t text;
};

static bool on_one(void *context, const struct browse_entry *e)
{
    struct one *o = context;

    o->from = *e->from;
    o->text = e->from->text.n;
    o->changed_s = e->changed_s;
    o->n++;
    return true;
}

static void test_value__is_found_with_who_when_and_why(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    struct browse_found got;
    char source[LIST_SOURCE_MAX];
    char text[64];
    struct feature_entry e = entry_number(5, text);
    struct slice who;
    struct slice reason;

    clock_set_for_test((uint64_t)NOW * 1000000, 5000000);
    entry_source_make("api:anna", SLICE_LIT("asked: by \xe2\x80\xae joe"), source);
    MUST(f, list_add(w, &e, slice_str(source), NOW + 100, &f->info));
    list_writer_close(&w);
    struct list_reader *r = open_reader(f);
    MUST(f, list_browse_value(r, SLICE_LIT("HOST-5.example"), NOW + 1, f->arena, &got,
                              &f->info));
    assert_int_equal(got.changed_s, NOW);
    assert_int_equal(got.from.expiry_s, NOW + 100);
    entry_source_split(slice_str(got.from.source), &who, &reason);
    assert_true(slice_eq(who, SLICE_LIT("api:anna")));
    assert_true(slice_eq(reason, SLICE_LIT("asked: by \xe2\x80\xae joe")));
    const struct browse_entry shown = {&got.from, got.changed_s};
    json_t *row = browse_entry_json(&shown);
    assert_string_equal(json_string_value(json_object_get(row, "who")), "api:anna");
    assert_int_equal(json_integer_value(json_object_get(row, "expires_s")), NOW + 100);
    json_decref(row);
    assert_int_equal(list_browse_value(r, SLICE_LIT("host-5.example"), NOW + 100,
                                       f->arena, &got, &f->info),
                     ERR_NOT_FOUND); /* expired */
    assert_int_equal(
        list_browse_value(r, SLICE_LIT("a b"), NOW, f->arena, &got, &f->info),
        ERR_SYNTAX);
    list_reader_close(&r);
    clock_unset_for_test();
}

static void test_texts__when_long_or_missing__then_they_are_shown_as_they_are(
    void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    static char text[LIST_TEXT_MAX];
    struct one o = {.n = 0};
    const struct browse all = {.fn = on_one, .context = &o};
    const struct browse part = {
        .text = SLICE_LIT("<script>"), .fn = on_one, .context = &o};
    struct feature_entry e = {.class_type = FEATURE_subject,
                              .text = slice_of(text, sizeof(text))};
    char other[64];
    struct browsed found;

    memset(text, 'x', sizeof(text));
    memcpy(text + 4096, "<SCRIPT>", 8);
    MUST(f, list_add(w, &e, SLICE_LIT("cli"), 0, &f->info));
    list_writer_set_keep_text(w, false);
    e = entry_number(1, other);
    MUST(f, list_add(w, &e, SLICE_LIT("cli"), 0, &f->info));
    list_writer_close(&w);
    struct list_reader *r = open_reader(f);
    MUST(f, list_browse(r, &part, &(struct browse_place){0}, &found, &f->info));
    assert_int_equal(o.n, 1);
    assert_int_equal(o.text, LIST_TEXT_MAX);
    assert_int_equal(found.without_text, 1);
    MUST(f, list_browse(r, &all, &(struct browse_place){0}, &found, &f->info));
    assert_int_equal(o.n, 3);
    list_reader_close(&r);
}

static void test_reason__is_one_line_of_text(void **state)
{
    static char text[LIST_REASON_MAX + 1];
    char source[LIST_SOURCE_MAX];
    static char who[2 * LIST_SOURCE_MAX];
    struct slice name;
    struct slice reason;

    (void)state;
    memset(text, 'r', sizeof(text));
    memset(who, 'w', sizeof(who) - 1);
    assert_int_equal(entry_reason_check(SLICE_NONE, NULL), ERR_OK);
    assert_int_equal(entry_reason_check(slice_of(text, LIST_REASON_MAX), NULL), ERR_OK);
    assert_int_equal(entry_reason_check(slice_of(text, sizeof(text)), NULL),
                     ERR_SYNTAX);
    assert_int_equal(entry_reason_check(SLICE_LIT("a\nb"), NULL), ERR_SYNTAX);
    assert_int_equal(entry_reason_check(SLICE_LIT("a\x7f"), NULL), ERR_SYNTAX);
    assert_int_equal(entry_reason_check(SLICE_LIT("a\xff"), NULL), ERR_SYNTAX);
    assert_int_equal(entry_reason_check(SLICE_LIT("a\xc3"), NULL), ERR_SYNTAX);
    entry_source_make(who, slice_of(text, LIST_REASON_MAX), source);
    entry_source_split(slice_str(source), &name, &reason);
    assert_int_equal(reason.n, LIST_REASON_MAX);
    assert_int_equal(strlen(source), LIST_SOURCE_MAX - 1);
    entry_source_make("cli", SLICE_NONE, source);
    assert_string_equal(source, "cli");
    entry_source_split(slice_str(source), &name, &reason);
    assert_true(slice_eq(name, SLICE_LIT("cli")));
    assert_int_equal(reason.n, 0);
}

int main(void)
{
#define WITH_LIST(test) \
    cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        WITH_LIST(test_pages__when_the_list_stays__then_each_entry_once),
        WITH_LIST(test_pages__when_the_list_changes__then_others_once_and_none_twice),
        WITH_LIST(test_pages__when_entries_were_merged__then_each_entry_once),
        WITH_LIST(test_search__finds_the_part_of_a_text_in_any_case),
        WITH_LIST(test_place__when_the_list_is_another__then_it_is_refused),
        WITH_LIST(test_log__when_it_is_damaged__then_the_other_entries_are_shown),
        WITH_LIST(test_value__is_found_with_who_when_and_why),
        WITH_LIST(test_texts__when_long_or_missing__then_they_are_shown_as_they_are),
        cmocka_unit_test(test_reason__is_one_line_of_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
