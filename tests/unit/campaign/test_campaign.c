/* test_campaign - the campaign that a message joins, and the campaigns that end for others. */
#include "core/base/file.h"
#include "core/campaign/campaign.h"
#include "core/campaign/campaign_page.h"
#include "core/campaign/campaign_read.h"

#include "tests/unit/tempdir.h"

enum { NOW = 1800000000, DAY = 86400, ARENA = 1 << 20, BANDS = 12 };

static const struct keyring keys = {.n = 1, .ring = {{1, "key of this test"}}};
static struct config config = {.journal = {.subjects = true, .addresses = true}};
static char folder[64];
static struct arena *arena;
static struct campaigns *campaigns;
static struct featureset *set;

static int begin(void **state)
{
    (void)state;
    assert_true(tempdir_make_fast(folder));
    arena = arena_new(ARENA);
    return arena == NULL || campaigns_open(folder, &keys, &campaigns, NULL) != ERR_OK;
}

static int end(void **state)
{
    (void)state;
    campaigns_close(&campaigns);
    arena_free(&arena);
    return tempdir_remove(folder);
}

/* ---- messages ---- */

static void fresh(void)
{
    arena_reset(arena);
    set = featureset_new(arena, 100);
}

/* A feature "BEFORE NUMBER AFTER", without the spaces. */
static void have(enum feature_type type, const char *before, unsigned n,
                 const char *after)
{
    char text[100];

    (void)snprintf(text, sizeof(text), "%s%u%s", before, n, after);
    assert_true(featureset_add(set, type, slice_str(text)));
}

/* The bands from..to of a text, of one epoch. */
static void have_bands(unsigned epoch, unsigned text, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        char band[64];
        (void)snprintf(band, sizeof(band), "%x.%02u.%016x", epoch, i, text);
        assert_true(featureset_add(set, FEATURE_text_band, slice_str(band)));
    }
}

static uint64_t add_at(uint64_t now_s)
{
    const struct campaign_message m = {.config = &config,
                                       .features = set,
                                       .action = ACTION_HEADER,
                                       .score = 6,
                                       .now_s = now_s};
    return campaigns_add(campaigns, &m);
}

static uint64_t add(void)
{
    return add_at(NOW);
}

/* A copy of the text, from a network and a domain. */
static uint64_t add_copy(unsigned text, unsigned from, uint64_t now_s)
{
    fresh();
    have_bands(9, text, 0, BANDS);
    have(FEATURE_client_net, "192.0.", from % 250, ".0/24");
    have(FEATURE_from, "a@s", from, ".example");
    have(FEATURE_from_domain, "s", from, ".example");
    have(FEATURE_subject, "subject ", from, "");
    return add_at(now_s);
}

static const struct campaign *look(struct campaign_list *list, uint64_t id)
{
    assert_int_equal(campaigns_read(folder, list, NULL), ERR_OK);
    return campaign_find(list, id);
}

static uint64_t messages_of(uint64_t id)
{
    struct campaign_list list;
    const struct campaign *c = look(&list, id);
    uint64_t n = c == NULL ? 0 : c->messages;
    campaign_list_fini(&list);
    return n;
}

/* ---- grouping ---- */

static void test_copies__of_one_text__are_one_campaign_with_a_sample(void **state)
{
    struct campaign_list list;
    uint64_t id = add_copy(1, 1, NOW);

    (void)state;
    assert_int_equal(campaigns_count(campaigns), 0);
    assert_int_equal(messages_of(id), 0); /* one message is none */
    for (unsigned i = 2; i <= 5; i++) {
        assert_int_equal(add_copy(1, i, NOW + i), id);
    }
    assert_int_not_equal(add_copy(2, 1, NOW), id);
    const struct campaign *c = look(&list, id);
    assert_non_null(c);
    assert_int_equal(list.n, 1);
    assert_int_equal(c->messages, 5);
    assert_int_equal(c->networks, 5);
    assert_int_equal(c->senders, 5);
    assert_int_equal(c->first_s, NOW);
    assert_int_equal(c->last_s, NOW + 5);
    assert_int_equal(c->done[CAMPAIGN_MARKED], 5);
    assert_true(c->score > 5.9 && c->score < 6.1);
    assert_int_equal(c->nitems, BANDS);
    assert_true(slice_eq(c->subject, SLICE_LIT("subject 1")));
    assert_true(slice_eq(c->sender, SLICE_LIT("a@s1.example")));
    campaign_list_fini(&list);
    assert_int_equal(campaigns_count(campaigns), 1);
}

static void test_bands__a_few_in_common__are_not_enough(void **state)
{
    (void)state;
    uint64_t id = add_copy(1, 1, NOW);
    fresh();
    have_bands(9, 1, 0, 3);
    have_bands(9, 2, 3, BANDS);
    assert_int_not_equal(add(), id);
    fresh();
    have_bands(9, 1, 3, 7);
    have_bands(9, 3, 7, BANDS);
    have_bands(9, 3, 0, 3);
    assert_int_equal(add(), id);
}

static void test_keys__that_products_share__join_nothing_alone(void **state)
{
    static const enum feature_type weak[] = {
        FEATURE_html_structure,  FEATURE_subject_skeleton, FEATURE_body,
        FEATURE_template_sender, FEATURE_link_set,         FEATURE_attachment};

    (void)state;
    for (size_t i = 0; i < LENGTH(weak); i++) {
        fresh();
        have(weak[i], "value", (unsigned)i, "");
        uint64_t id = add();
        fresh();
        have(weak[i], "value", (unsigned)i, "");
        assert_int_not_equal(add(), id);
    }
}

static void test_links__with_the_same_html_and_subject__are_one_campaign(void **state)
{
    uint64_t id = 0;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        fresh();
        have_bands(9, 100 + i, 0, BANDS); /* each has a text of its own */
        have(FEATURE_link_set, "links", 1, "");
        have(FEATURE_html_structure, "html", 1, "");
        have(FEATURE_subject_skeleton, "subject", 1, "");
        uint64_t of = add();
        assert_true(i == 0 || of == id);
        id = of;
    }
}

static void test_epochs__when_a_new_one_begins__the_campaign_goes_on(void **state)
{
    (void)state;
    fresh();
    have_bands(9, 1, 0, BANDS);
    have_bands(8, 1, 0, BANDS);
    uint64_t id = add();
    fresh();
    have_bands(10, 1, 0, BANDS);
    have_bands(9, 1, 0, BANDS);
    assert_int_equal(add(), id);
    fresh();
    have_bands(10, 1, 0, BANDS); /* known by now under the new epoch alone */
    assert_int_equal(add(), id);
}

static void test_days__without_a_message__end_a_campaign(void **state)
{
    (void)state;
    uint64_t id = add_copy(1, 1, NOW);
    assert_int_equal(add_copy(1, 2, NOW + 13 * DAY), id);
    assert_int_equal(add_copy(1, 3, NOW + 26 * DAY), id);
    uint64_t late = NOW + 41 * (uint64_t)DAY;
    assert_int_not_equal(add_copy(1, 4, late), id);
    for (unsigned i = 0; i < CAMPAIGN_BUCKETS / 8; i++) {
        campaigns_tick(campaigns, late);
    }
    assert_int_equal(campaigns_count(campaigns), 0);
    assert_int_equal(messages_of(id), 0);
}

/* ---- attacks ---- */

static void test_glue__keys_of_two_campaigns__joins_one_and_merges_none(void **state)
{
    uint64_t letter = 0;
    uint64_t spam = 0;

    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        letter = add_copy(1, 1, NOW);
        spam = add_copy(2, i, NOW);
    }
    for (unsigned i = 0; i < 3; i++) { /* five bands of the letter, seven of the spam */
        fresh();
        have_bands(9, 1, 0, 5);
        have_bands(9, 2, 5, BANDS);
        assert_int_equal(add(), spam);
    }
    assert_int_equal(add_copy(1, 1, NOW), letter);
    assert_int_equal(add_copy(2, 1, NOW), spam);
    assert_int_equal(messages_of(letter), 21);
    assert_int_equal(messages_of(spam), 24);
}

static void test_boilerplate__of_many_mailings__stops_counting(void **state)
{
    uint64_t last = 0;
    unsigned njoined = 0;

    (void)state;
    for (unsigned i = 0; i < 50;
         i++) { /* the same links and product, texts of their own */
        fresh();
        have(FEATURE_link_set, "giant", 1, "");
        have(FEATURE_html_structure, "product", 1, "");
        have_bands(9, 100 + i, 0, BANDS);
        uint64_t of = add();
        njoined += i > 0 && of == last;
        last = of;
    }
    assert_int_equal(njoined, 0);
    /* a new mailing with three bands and those links is not drawn to another one */
    fresh();
    have(FEATURE_link_set, "giant", 1, "");
    have_bands(9, 100, 0, 2);
    assert_int_not_equal(add(), last);
}

static void test_drift__one_odd_message__brings_no_others_in(void **state)
{
    uint64_t id = 0;

    (void)state;
    for (unsigned i = 0; i < 30; i++) {
        id = add_copy(1, i, NOW);
    }
    fresh();
    have_bands(9, 1, 0, 5);
    have_bands(9, 7, 5, BANDS); /* seven bands that nobody else has */
    assert_int_equal(add(), id);
    fresh();
    have_bands(9, 8, 0, 5);
    have_bands(9, 7, 5, 11); /* six of them: of one message in 31, they count half */
    have_bands(9, 8, 11, BANDS);
    assert_int_not_equal(add(), id);
}

/* ---- bounds ---- */

static void test_flood__of_single_messages__evicts_no_campaign(void **state)
{
    (void)state;
    uint64_t id = add_copy(1, 1, NOW);
    assert_int_equal(add_copy(1, 2, NOW), id);
    for (unsigned i = 0; i < 5 * CAMPAIGN_SLOTS; i++) {
        (void)add_copy(1000 + i, i, NOW + i / 100);
    }
    assert_int_equal(add_copy(1, 3, NOW + DAY), id);
    assert_int_equal(messages_of(id), 3);
}

static void test_flood__of_small_campaigns__evicts_the_small_ones(void **state)
{
    uint64_t id = 0;

    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        id = add_copy(1, i, NOW);
    }
    for (unsigned i = 0; i < 2 * CAMPAIGNS_MAX; i++) {
        (void)add_copy(1000 + i, 1, NOW + 3600);
        (void)add_copy(1000 + i, 2, NOW + 3600);
    }
    assert_int_equal(campaigns_count(campaigns), CAMPAIGNS_MAX);
    assert_int_equal(messages_of(id), 64);
}

static void test_file__when_opened_again__has_all_and_grows(void **state)
{
    char path[FILE_PATH_MAX];
    struct stat st;

    (void)state;
    uint64_t id = add_copy(1, 1, NOW);
    (void)add_copy(1, 2, NOW);
    campaigns_close(&campaigns);
    assert_int_equal(campaigns_open(folder, &keys, &campaigns, NULL), ERR_OK);
    assert_int_equal(add_copy(1, 3, NOW), id);
    assert_int_equal(messages_of(id), 3);
    assert_int_equal(file_path(path, "%s/campaigns/table", folder), ERR_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size <= 8 << 20);
}

static void test_file__that_makes_no_sense__is_begun_anew_or_mended(void **state)
{
    char path[FILE_PATH_MAX];
    struct campaign_list list;

    (void)state;
    uint64_t id = add_copy(1, 1, NOW);
    (void)add_copy(1, 2, NOW);
    campaigns_close(&campaigns);
    assert_int_equal(file_path(path, "%s/campaigns/table", folder), ERR_OK);
    struct buf bytes;
    buf_init(&bytes, 16 << 20);
    assert_int_equal(file_read(path, &bytes, NULL), ERR_OK);
    struct campaign_page *p = (struct campaign_page *)(void *)bytes.p;
    for (unsigned i = 0; i < CAMPAIGN_SLOTS;
         i++) { /* lengths and numbers of a vandal */
        p->slot[i].nsubject = 255;
        p->key[i][0].slot = UINT16_MAX;
        p->key[i][0].type = 61;
    }
    p->hand = p->weak = p->swept_slot = p->swept_bucket = UINT32_MAX;
    assert_int_equal(file_write_atomic(path, buf_slice(&bytes), 0640, NULL), ERR_OK);
    assert_null(look(&list, id));
    campaign_list_fini(&list);
    assert_int_equal(campaigns_open(folder, &keys, &campaigns, NULL), ERR_OK);
    assert_int_not_equal(add_copy(1, 3, NOW), id);
    campaigns_close(&campaigns);
    assert_int_equal(file_write_atomic(path, SLICE_LIT("short"), 0640, NULL), ERR_OK);
    assert_int_equal(campaigns_read(folder, &list, NULL), ERR_CORRUPT);
    assert_int_equal(campaigns_open(folder, &keys, &campaigns, NULL), ERR_OK);
    assert_int_equal(campaigns_count(campaigns), 0);
    buf_fini(&bytes);
}

/* ---- samples ---- */

static uint64_t forgotten(const char *address)
{
    uint64_t n = 77;

    assert_int_equal(campaigns_forget(folder, slice_str(address), &n, NULL), ERR_OK);
    return n;
}

static void test_forget__an_address__erases_the_samples_that_name_it(void **state)
{
    struct campaign_list list;
    uint64_t id = add_copy(1, 1, NOW);

    (void)state;
    for (unsigned i = 2; i <= 3; i++) {
        (void)add_copy(1, i, NOW);
    }
    assert_int_equal(forgotten("a@s2.example"), 0);
    assert_int_equal(forgotten("@s1.example"), 0); /* only a part of one */
    assert_int_equal(forgotten("a@s1.exampl"), 0);
    assert_int_equal(forgotten(""), 0);
    const struct campaign *c = look(&list, id);
    assert_true(slice_eq(c->sender, SLICE_LIT("a@s1.example")));
    campaign_list_fini(&list);
    assert_int_equal(forgotten("A@S1.Example"), 1);
    c = look(&list, id);
    assert_non_null(c);
    assert_int_equal(c->messages, 3);
    assert_int_equal(c->subject.n + c->sender.n, 0);
    campaign_list_fini(&list);
    assert_int_equal(forgotten("a@s1.example"), 0);
}

static void test_forget__without_a_table__nothing_to_do(void **state)
{
    uint64_t n = 77;

    (void)state;
    assert_int_equal(
        campaigns_forget("/nonexistent", SLICE_LIT("a@s1.example"), &n, NULL), ERR_OK);
    assert_int_equal(n, 0);
}

static void test_folder__that_another_process_has__is_locked(void **state)
{
    struct campaigns *second = NULL;

    (void)state;
    assert_int_equal(campaigns_open(folder, &keys, &second, NULL), ERR_LOCKED);
    fresh();
    have_bands(9, 1, 0, BANDS);
    const struct campaign_message m = {
        .config = &config, .features = set, .now_s = NOW};
    assert_int_equal(campaigns_add(second, &m), 0);
    campaigns_close(&second);
}

static void test_distinct__few_are_exact_and_many_about(void **state)
{
    struct distinct d = {{0}, 0};

    (void)state;
    for (unsigned i = 1; i <= 20000; i++) {
        uint64_t hash = i * UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
        distinct_add(&d, hash);
        distinct_add(&d, hash);
        double n = (double)distinct_count(&d);
        assert_true(i > DISTINCT_EXACT || n == i);
        assert_true(n > 0.55 * i && n < 1.5 * i);
    }
}

/* ---- the picture ---- */

static uint64_t sum_of(const struct picture *p)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < PICTURE_BARS; i++) {
        sum += picture_messages(p, i);
    }
    return sum;
}

static void test_picture__of_a_few__is_exact(void **state)
{
    struct picture p = {.scale = 0};

    (void)state;
    picture_add(&p, 0, 1);
    picture_add(&p, 599, 2);
    picture_add(&p, 600, 3);
    assert_int_equal(picture_step_s(&p), 600);
    assert_int_equal(picture_messages(&p, 0), 2);
    assert_int_equal(picture_messages(&p, 1), 1);
    picture_add(&p, 14 * 600, 4); /* behind the last bar */
    assert_int_equal(picture_step_s(&p), 1200);
    assert_int_equal(picture_messages(&p, 0), 3);
    assert_int_equal(picture_messages(&p, 7), 1);
    picture_add(&p, UINT64_C(10) * 365 * DAY, 5);
    assert_true(picture_step_s(&p) * PICTURE_BARS > UINT64_C(10) * 365 * DAY);
    assert_int_equal(picture_messages(&p, 0), 4);
    assert_int_equal(sum_of(&p), 5);
}

static void test_picture__of_a_million__is_about_right(void **state)
{
    struct picture p = {.scale = 0};

    (void)state;
    for (uint64_t n = 1; n <= 1000000; n++) { /* three of four in the first half */
        picture_add(
            &p, n <= 750000 ? n * 7000 / 750000 : 7000 + (n - 750000) * 7000 / 250000,
            n);
    }
    assert_true(sum_of(&p) > 990000 && sum_of(&p) < 1020000);
    uint64_t half = 0;
    for (unsigned i = 0; i < PICTURE_BARS; i++) {
        half += (i + 1) * picture_step_s(&p) <= 7200 ? picture_messages(&p, i) : 0;
    }
    assert_true(half > 720000 && half < 800000);
}

static void test_picture__of_any_bytes__has_bounds(void **state)
{
    struct picture p;

    (void)state;
    memset(&p, 0xff, sizeof(p));
    picture_add(&p, UINT64_MAX, UINT64_MAX);
    assert_true(picture_step_s(&p) == UINT64_C(600) << 32);
    assert_true(sum_of(&p) <= UINT64_C(14) * 255 << 32);
}

static void test_campaign__over_time__has_a_picture_and_a_new_one_begins_empty(
    void **state)
{
    struct campaign_list list;

    (void)state;
    uint64_t id = add_copy(1, 1, NOW);
    assert_int_equal(add_copy(1, 2, NOW + 1300), id);
    assert_int_equal(campaigns_read(folder, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.v[0].bar_s, 600);
    assert_int_equal(list.v[0].bar[0], 1);
    assert_int_equal(list.v[0].bar[2], 1);
    const struct campaign_item *items = list.v[0].items;
    assert_ptr_equal(campaign_of_keys(&list, items, list.v[0].nitems), &list.v[0]);
    assert_null(campaign_of_keys(&list, items, 1)); /* one band of twelve */
    campaign_list_fini(&list);
    uint64_t later = NOW + 100 * (uint64_t)DAY;
    campaigns_tick(campaigns, later);
    id = add_copy(1, 1, later);
    assert_int_equal(add_copy(1, 2, later + 1), id);
    assert_int_equal(campaigns_read(folder, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.v[0].bar[0], 2);
    assert_int_equal(list.v[0].bar[2], 0);
    campaign_list_fini(&list);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(test_copies__of_one_text__are_one_campaign_with_a_sample),
        TEST(test_bands__a_few_in_common__are_not_enough),
        TEST(test_keys__that_products_share__join_nothing_alone),
        TEST(test_links__with_the_same_html_and_subject__are_one_campaign),
        TEST(test_epochs__when_a_new_one_begins__the_campaign_goes_on),
        TEST(test_days__without_a_message__end_a_campaign),
        TEST(test_glue__keys_of_two_campaigns__joins_one_and_merges_none),
        TEST(test_boilerplate__of_many_mailings__stops_counting),
        TEST(test_drift__one_odd_message__brings_no_others_in),
        TEST(test_flood__of_single_messages__evicts_no_campaign),
        TEST(test_flood__of_small_campaigns__evicts_the_small_ones),
        TEST(test_file__when_opened_again__has_all_and_grows),
        TEST(test_file__that_makes_no_sense__is_begun_anew_or_mended),
        TEST(test_forget__an_address__erases_the_samples_that_name_it),
        TEST(test_forget__without_a_table__nothing_to_do),
        TEST(test_folder__that_another_process_has__is_locked),
        TEST(test_distinct__few_are_exact_and_many_about),
        TEST(test_picture__of_a_few__is_exact),
        TEST(test_picture__of_a_million__is_about_right),
        TEST(test_picture__of_any_bytes__has_bounds),
        TEST(test_campaign__over_time__has_a_picture_and_a_new_one_begins_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
