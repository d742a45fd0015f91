/* test_tuning - settings of the state folder: their file, each form of it, and their place above
 * the configuration files. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/config/advice.h"
#include "core/config/tuning_file.h"

#include "tests/unit/config/confdir.h"

#define HEAD \
    "gillnet-tuning 1\nversion 7\nformer 6\nat 1764349200\nwho anna\nwhy too much\n"
#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define CONF                                                                  \
    "shipped_rules = false; lists = ( { name = \"phish\"; weight = 8.0; } );" \
    "list_defaults = { weight = 3.5; };"                                      \
    "rules = ( { name = \"replica\"; type = \"text_band\"; count = 30; score = 2.0; } );"

/* ---- text ---- */

struct finding {
    unsigned n;
    unsigned line;
    char text[ERRINFO_TEXT_MAX];
};

static void on_finding(void *context, unsigned line, enum err code, const char *text)
{
    struct finding *f = context;

    assert_int_not_equal(code, ERR_OK);
    if (f->n++ == 0) {
        f->line = line;
        snprintf(f->text, sizeof(f->text), "%s", text);
    }
}

static struct tuning *parsed(struct slice text, struct finding *ret)
{
    struct tuning *t = tuning_new();

    *ret = (struct finding){.n = 0};
    assert_non_null(t);
    if (!tuning_parse(text, on_finding, ret, t)) {
        assert_true(ret->n > 0);
        tuning_free(&t);
    } else {
        assert_int_equal(ret->n, 0);
    }
    return t;
}

static void test_parse__when_whole__then_each_form(void **state)
{
    struct finding f;
    struct tuning *t = parsed(
        SLICE_LIT(
            "# a comment\n\n" HEAD "thresholds.header=4.5\nthresholds.reject=off\r\n"
            "lists.phish.weight=-6\nlists.a-b_c.shadow=true\n"
            "rules.replica.score=0\nrules.replica.shadow=false\nend\n\n# behind\n"),
        &f);
    struct slice value;

    (void)state;
    assert_non_null(t);
    assert_int_equal(t->version, 7);
    assert_int_equal(t->former, 6);
    assert_int_equal(t->at_s, 1764349200);
    assert_string_equal(t->who, "anna");
    assert_string_equal(t->why, "too much");
    assert_int_equal(t->n, 6);
    assert_true(t->v[0].set.number == 4.5 && t->v[0].line == 9);
    assert_int_equal(t->v[0].set.action, ACTION_HEADER);
    assert_true(isinf(t->v[1].set.number));
    assert_true(slice_eq(t->v[2].set.name, SLICE_LIT("phish")));
    assert_true(t->v[2].set.is_list && t->v[2].set.number == -6);
    assert_true(t->v[3].set.flag && slice_eq(t->v[3].set.name, SLICE_LIT("a-b_c")));
    assert_true(
        slice_eq(tuning_key(&t->v[5], &value), SLICE_LIT("rules.replica.shadow")));
    assert_true(slice_eq(value, SLICE_LIT("false")));
    tuning_free(&t);
}

static void test_parse__when_something_is_wrong__then_its_line(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *why;
    } rows[] = {
        {"", 0, "ends before"},
        {"# x\n", 1, "ends before"},
        {"end\n", 1, "does not begin"},
        {"gillnet-tuning 2\n", 1, "newer"},
        {"state_dir = \"/x\";\n", 1, "does not begin"},
        {HEAD, 6, "ends before"},
        {HEAD "thresholds.reject=8\n", 7, "ends before"},
        {HEAD "end\nthresholds.reject=8\n", 8, "behind the last line"},
        {"gillnet-tuning 1\nend\n", 2, "version"},
        {"gillnet-tuning 1\nversion 0\nend\n", 3, "version"},
        {"gillnet-tuning 1\nversion -1\nend\n", 2, "number"},
        {"gillnet-tuning 1\nversion 99999999999999999999\nend\n", 2, "number"},
        {HEAD "state_dir=/x\nend\n", 7, "gillnet.conf"},
        {HEAD "sensitivity=low\nend\n", 7, "gillnet.conf"},
        {HEAD "allow.domains=x.example\nend\n", 7, "gillnet.conf"},
        {HEAD "rules.x.enabled=true\nend\n", 7, "gillnet.conf"},
        {HEAD "lists.x.category=allow\nend\n", 7, "gillnet.conf"},
        {HEAD "thresholds.embargo=4\nend\n", 7, "gillnet.conf"},
        {HEAD "lists.-x.weight=1\nend\n", 7, "gillnet.conf"},
        {HEAD "lists..weight=1\nend\n", 7, "gillnet.conf"},
        {HEAD "rules.RULE_A.score=1\nend\n", 7, "without RULE_"},
        {HEAD "rules.x.score=nan\nend\n", 7, "number"},
        {HEAD "rules.x.score=inf\nend\n", 7, "number"},
        {HEAD "rules.x.score=0x10\nend\n", 7, "number"},
        {HEAD "rules.x.score=1e9\nend\n", 7, "number"},
        {HEAD "rules.x.score=1;\nend\n", 7, "number"},
        {HEAD "rules.x.score=\nend\n", 7, "number"},
        {HEAD "rules.x.shadow=yes\nend\n", 7, "true or false"},
        {HEAD "thresholds.reject=0\nend\n", 7, "number"},
        {HEAD "\nlists.x.weight=1\nlists.x.weight=2\nend\n", 9, "twice"},
        {HEAD "@include \"/etc/passwd\"\nend\n", 7, "not understood"},
        {HEAD "nonsense\nend\n", 7, "not understood"},
        {"gillnet-tuning 1\nwhy a\tb\nversion 1\nend\n", 2, "control"},
        {"gillnet-tuning 1\nwho a\xff\nversion 1\nend\n", 2, "UTF-8"},
        {"gillnet-tuning 1\nwhy a\xe2\x80\xae z\nversion 1\nend\n", 2, "invisible"},
        {"gillnet-tuning 1\nwho " X64 X64 "\nend\n", 2, "too long"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct finding f;
        struct tuning *t = parsed(slice_str(rows[i].text), &f);

        if (t != NULL || f.line != rows[i].line ||
            strstr(f.text, rows[i].why) == NULL) {
            fail_msg("%s: line %u: %s", rows[i].text, f.line, f.text);
        }
    }
}

static void test_parse__when_cut_anywhere__then_refused(void **state)
{
    static const char whole[] = HEAD "thresholds.reject=8\nlists.phish.weight=6\nend\n";

    (void)state;
    for (size_t n = 0; n + 1 < sizeof(whole) - 1; n++) { /* the last break may lack */
        struct finding f;

        assert_null(parsed(slice_of(whole, n), &f));
    }
}

static void test_parse__when_hostile__then_bounded(void **state)
{
    struct finding f;
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_add(&text, SLICE_LIT(HEAD "thresholds.reject=8\0\nend\n"));
    assert_null(parsed(buf_slice(&text), &f));
    assert_non_null(strstr(f.text, "0"));
    for (unsigned n = TUNING_SETTINGS_MAX; n <= TUNING_SETTINGS_MAX + 1; n++) {
        buf_clear(&text);
        buf_add_str(&text, HEAD);
        for (unsigned i = 0; i < n; i++) {
            buf_printf(&text, "rules.r%u.score=1\n", i);
        }
        buf_add_str(&text, "end\n");
        struct tuning *t = parsed(buf_slice(&text), &f);
        assert_true((t != NULL) == (n == TUNING_SETTINGS_MAX));
        if (t != NULL) { /* names moved with the array */
            assert_true(slice_eq(t->v[999].set.name, SLICE_LIT("r999")));
            assert_true(slice_eq(t->v[0].set.name, SLICE_LIT("r0")));
        }
        tuning_free(&t);
    }
    buf_clear(&text); /* of many errors a few are reported */
    buf_add_str(&text, HEAD);
    for (unsigned i = 0; i < 10000; i++) {
        buf_add_str(&text, "x\n");
    }
    assert_null(parsed(buf_slice(&text), &f));
    assert_in_range(f.n, 1, 20);
    buf_fini(&text);
}

static void test_print__when_read_again__then_alike(void **state)
{
    struct tuning *t = tuning_new();
    struct finding f;
    struct errinfo why;
    struct buf text;
    struct buf again;

    (void)state;
    t->version = 3;
    t->at_s = 5;
    snprintf(t->who, sizeof(t->who), "end");
    snprintf(t->why, sizeof(t->why), "a=b \"\\ # \xc3\xbc");
    assert_int_equal(tuning_change(t, SLICE_LIT("lists.x.weight=2.25"), &why), ERR_OK);
    assert_int_equal(tuning_change(t, SLICE_LIT("thresholds.header=off"), &why),
                     ERR_OK);
    buf_init(&text, 1 << 16);
    buf_init(&again, 1 << 16);
    tuning_print(t, &text);
    struct tuning *u = parsed(buf_slice(&text), &f);
    assert_non_null(u);
    assert_string_equal(u->why, t->why);
    tuning_print(u, &again);
    assert_true(slice_eq(buf_slice(&text), buf_slice(&again)));
    tuning_free(&t);
    tuning_free(&u);
    buf_fini(&text);
    buf_fini(&again);
}

static void test_change__then_added_replaced_taken_out(void **state)
{
    struct tuning *t = tuning_new();
    struct errinfo why;
    struct buf lines;

    (void)state;
    buf_init(&lines, 4096);
    assert_int_equal(tuning_change(t, SLICE_LIT("rules.a.score=1"), &why), ERR_OK);
    assert_int_equal(tuning_change(t, SLICE_LIT("rules.b.score=2"), &why), ERR_OK);
    assert_int_equal(tuning_change(t, SLICE_LIT("rules.a.shadow=true"), &why), ERR_OK);
    assert_int_equal(tuning_change(t, SLICE_LIT("rules.b.score=-7.5"), &why), ERR_OK);
    assert_int_equal(tuning_change(t, SLICE_LIT("thresholds.reject=100000"), &why),
                     ERR_OK);
    assert_int_equal(t->n, 4);
    tuning_conf_lines(t, &lines);
    assert_true(slice_eq(buf_slice(&lines),
                         SLICE_LIT("thresholds = { reject = 100000.0; };\nrules = (\n"
                                   "  { name = \"a\"; score = 1.0; shadow = true; },\n"
                                   "  { name = \"b\"; score = -7.5; }\n);\n")));
    assert_int_equal(tuning_change(t, SLICE_LIT("rules.a.score="), &why), ERR_OK);
    assert_int_equal(tuning_change(t, SLICE_LIT("rules.a.score="), &why),
                     ERR_NOT_FOUND);
    assert_int_equal(t->n, 3);
    assert_true(slice_eq(t->v[0].set.name, SLICE_LIT("b")));
    assert_int_equal(tuning_change(t, SLICE_LIT("rules.a.enabled=true"), &why),
                     ERR_UNSUPPORTED);
    assert_int_equal(tuning_change(t, SLICE_LIT("state_dir="), &why), ERR_NOT_FOUND);
    assert_int_not_equal(tuning_change(t, SLICE_LIT(""), &why), ERR_OK);
    assert_int_not_equal(tuning_change(t, SLICE_LIT("="), &why), ERR_OK);
    assert_int_not_equal(tuning_change(t, SLICE_LIT("rules.a.score=1\nend"), &why),
                         ERR_OK);
    assert_int_not_equal(tuning_change(t, SLICE_LIT("rules.a.score=1\0"), &why),
                         ERR_OK);
    assert_int_equal(t->n, 3);
    tuning_free(&t);
    buf_fini(&lines);
}

/* ---- above the configuration ---- */

static const char *put_conf(const char *more)
{
    char text[2048];

    snprintf(text, sizeof(text), "state_dir = \"%s\"; " CONF " %s", confdir, more);
    return confdir_put("gillnet.conf", text);
}

static void put_tuning(const char *settings)
{
    char text[2048];
    char path[512];

    snprintf(path, sizeof(path), "%s", confdir_path("tuning"));
    assert_true(mkdir(path, 0750) == 0 || errno == EEXIST);
    snprintf(text, sizeof(text), HEAD "%send\n", settings);
    confdir_put("tuning/current", text);
    assert_int_equal(chmod(confdir_path("tuning/current"), 0640), 0);
}

static bool dump_has(const struct config *c, const char *line)
{
    struct buf text;
    bool has = false;

    buf_init(&text, 1 << 20);
    config_dump(c, false, &text);
    has = slice_find_slice(buf_slice(&text), slice_str(line)) < text.n;
    buf_fini(&text);
    return has;
}

static void test_load__then_settings_stand_above_all_files(void **state)
{
    char file[512];
    char line[1024];
    char was[TUNING_VALUE_MAX];

    (void)state;
    assert_int_equal(mkdir(confdir_path("conf.d"), 0755), 0);
    confdir_put("conf.d/a.conf", "thresholds = { header = 4.0; };");
    snprintf(file, sizeof(file), "%s", put_conf("thresholds = { header = 3.0; };"));
    struct config *c = confdir_load(file);
    uint32_t id = config_id(c);
    assert_null(c->tuning);
    config_release(&c);

    put_tuning("thresholds.header=6\nlists.phish.weight=5\nlists.disk.shadow=true\n"
               "lists.disk.weight=1\nrules.replica.score=9\n");
    c = confdir_load(file);
    assert_non_null(c->tuning);
    assert_null(c->tuning_fault);
    assert_true(c->threshold[ACTION_HEADER] == 6 && c->lists[0].weight == 5);
    assert_true(c->rules[0].score == 9);
    const struct config_list *disk = config_list_find(c, SLICE_LIT("disk"));
    assert_true(disk->shadow && disk->weight == 1 && disk->keep_text);
    assert_string_equal(tuning_configured(&c->tuning->v[0], was), "4");
    assert_string_equal(tuning_configured(&c->tuning->v[1], was), "8");
    assert_string_equal(tuning_configured(&c->tuning->v[2], was), "false");
    assert_string_equal(tuning_configured(&c->tuning->v[3], was), "3.5");
    assert_string_equal(tuning_configured(&c->tuning->v[4], was), "2");
    assert_int_not_equal(config_id(c), id);
    snprintf(line, sizeof(line), "thresholds.header = 6.0  # %s/tuning/current:7\n",
             confdir);
    assert_true(dump_has(c, line));
    snprintf(line, sizeof(line), "rules.replica.score = 9.0  # %s/tuning/current:11\n",
             confdir);
    assert_true(dump_has(c, line));
    config_release(&c);
}

static void test_load__when_a_rule_is_gone__then_advice_alone(void **state)
{
    struct config_advice a;
    char file[512];

    (void)state;
    snprintf(file, sizeof(file), "%s", put_conf(""));
    put_tuning("rules.gone.score=9\nrules.replica.score=1\n");
    struct config *c = confdir_load(file);
    assert_true(c->tuning->v[0].is_gone && !c->tuning->v[1].is_gone);
    assert_int_equal(c->nrules, 1);
    assert_true(config_advice(c, 0, &a));
    assert_string_equal(a.name, "rules.gone.score=9");
    config_release(&c);
}

static void test_load__when_refused__then_only_a_start_goes_on(void **state)
{
    static const struct {
        const char *settings;
        const char *why;
    } rows[] = {
        {"state_dir=/x\n", "tuning/current:7: state_dir=/x"},
        {"thresholds.header=9\nthresholds.reject=8\n",
         "tuning/current:8: thresholds.reject"},
    };
    char file[512];
    char line[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX];

    (void)state;
    snprintf(file, sizeof(file), "%s", put_conf(""));
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct config_errors errors = {0, NULL};
        struct config *c = NULL;

        put_tuning(rows[i].settings);
        assert_int_not_equal(config_load(file, NULL, &c, &errors), ERR_OK);
        assert_non_null(
            strstr(errinfo_format(&errors.v[0], line, sizeof(line)), rows[i].why));
        config_errors_free(&errors);
        assert_int_equal(config_load_start(file, NULL, &c, &errors), ERR_OK);
        assert_null(c->tuning);
        assert_non_null(strstr(c->tuning_fault, rows[i].why));
        assert_true(c->threshold[ACTION_HEADER] == 5);
        config_release(&c);
    }
    /* an error of the configuration itself ends a start, too */
    struct config_errors errors = {0, NULL};
    struct config *c = NULL;
    assert_int_not_equal(
        config_load_start(put_conf("nonsense = 1;"), NULL, &c, &errors), ERR_OK);
    config_errors_free(&errors);
}

static void test_load__when_the_rights_are_wrong__then_refused(void **state)
{
    char file[512];
    char path[512];
    struct errinfo why;
    struct tuning *t = NULL;

    (void)state;
    snprintf(file, sizeof(file), "%s", put_conf(""));
    put_tuning("thresholds.header=6\n");
    snprintf(path, sizeof(path), "%s", confdir_path("tuning/current"));
    assert_int_equal(tuning_file_load(path, &t, &why), ERR_OK);
    tuning_free(&t);
    static const mode_t modes[] = {0660, 0646, 0622};
    for (size_t i = 0; i < LENGTH(modes); i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(tuning_file_load(path, &t, &why), ERR_DENIED);
    }
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(chmod(confdir_path("tuning"), 0770), 0);
    assert_int_equal(tuning_file_load(path, &t, &why), ERR_DENIED);
    assert_int_equal(chmod(confdir_path("tuning"), 0750), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
        assert_int_equal(tuning_file_load(path, &t, &why), ERR_DENIED);
        assert_int_equal(chown(confdir_path("tuning"), 12345, (gid_t)-1), 0);
        assert_int_equal(tuning_file_load(path, &t, &why), ERR_OK);
        tuning_free(&t);
        assert_int_equal(chown(confdir_path("tuning"), 0, (gid_t)-1), 0);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(file, path), 0);
    assert_int_not_equal(tuning_file_load(path, &t, &why), ERR_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* which nobody writes to */
    assert_int_equal(tuning_file_load(path, &t, &why), ERR_DENIED);
}

/* ---- changes ---- */

struct world {
    char file[512];
    enum tuning_reload reload;
    unsigned nreloads;
    double header; /* as the reload found it */
};

static enum tuning_reload on_reload(void *context, struct buf *ret)
{
    struct world *w = context;
    struct config *c = confdir_load(w->file);

    w->nreloads++;
    w->header = c->threshold[ACTION_HEADER];
    buf_add_str(ret, "words\n");
    config_release(&c);
    return w->reload;
}

static enum err change(struct world *w, const char *setting, long version,
                       struct tuning_result *ret)
{
    const struct slice settings[] = {slice_str(setting)};
    const struct tuning_request r = {.config_file = w->file,
                                     .state_dir = confdir,
                                     .has_version = version >= 0,
                                     .version = (uint64_t)version,
                                     .who = "anna",
                                     .why = "because",
                                     .is_undo = setting == NULL,
                                     .settings = settings,
                                     .nsettings = setting == NULL ? 0 : 1,
                                     .reload = on_reload,
                                     .context = w};
    struct config_errors errors;
    struct buf words;

    buf_init(&words, 4096);
    enum err e = tuning_apply(&r, ret, &words, &errors);
    assert_true((e == ERR_OK) == (errors.n == 0));
    config_errors_free(&errors);
    buf_fini(&words);
    return e;
}

static double header_now(const struct world *w)
{
    struct config *c = confdir_load(w->file);
    double v = c->threshold[ACTION_HEADER];

    config_release(&c);
    return v;
}

static void test_apply__then_versions_rise_and_undo_walks_back(void **state)
{
    struct world w = {.reload = TUNING_RELOADED};
    struct tuning_result r;

    (void)state;
    snprintf(w.file, sizeof(w.file), "%s", put_conf(""));
    assert_int_equal(change(&w, NULL, -1, &r), ERR_NOT_FOUND);
    for (unsigned i = 1; i <= 3; i++) {
        char text[64];
        snprintf(text, sizeof(text), "thresholds.header=%u", 10 + i);
        assert_int_equal(change(&w, text, i - 1, &r), ERR_OK);
        assert_int_equal(r.version, i);
        assert_true(w.header == 10 + i && w.nreloads == i);
    }
    assert_int_equal(change(&w, "thresholds.header=1", 2, &r), ERR_EXISTS);
    assert_int_equal(change(&w, NULL, 2, &r), ERR_EXISTS);
    for (unsigned i = 2; i > 0; i--) {
        assert_int_equal(change(&w, NULL, -1, &r), ERR_OK);
        assert_int_equal(r.of_version, i);
        assert_true(header_now(&w) == 10 + i);
    }
    assert_int_equal(change(&w, NULL, -1, &r), ERR_OK);
    assert_int_equal(r.of_version, 0);
    assert_true(header_now(&w) == 5);
    assert_int_equal(change(&w, NULL, -1, &r), ERR_NOT_FOUND);
    assert_int_equal(change(&w, "thresholds.header=2", 6, &r), ERR_OK);
    assert_int_equal(r.version, 7);
    assert_int_equal(change(&w, NULL, 7, &r), ERR_OK);
    assert_true(header_now(&w) == 5);
}

static void test_apply__when_refused__then_all_is_as_before(void **state)
{
    struct world w = {.reload = TUNING_RELOADED};
    struct tuning_result r;
    struct stat st;

    (void)state;
    snprintf(w.file, sizeof(w.file), "%s",
             put_conf("thresholds = { reject = 12.0; };"));
    w.reload = TUNING_REFUSED;
    assert_int_equal(change(&w, "thresholds.header=7", 0, &r), ERR_KEY);
    assert_int_not_equal(stat(confdir_path("tuning/current"), &st), 0);
    w.reload = TUNING_NOT_RUNNING;
    assert_int_equal(change(&w, "thresholds.header=7", 0, &r), ERR_OK);
    w.reload = TUNING_REFUSED;
    assert_int_equal(change(&w, "thresholds.header=8", 1, &r), ERR_KEY);
    assert_true(header_now(&w) == 7);
    assert_int_not_equal(stat(confdir_path("tuning/version-2"), &st), 0);
    w.reload = TUNING_RELOADED;
    w.nreloads = 0;
    assert_int_not_equal(change(&w, "thresholds.header=13", 1, &r),
                         ERR_OK); /* above reject */
    assert_int_not_equal(change(&w, "state_dir=/x", 1, &r), ERR_OK);
    assert_int_equal(change(&w, "rules.nosuch.score=1", 1, &r), ERR_UNSUPPORTED);
    assert_int_equal(w.nreloads, 0);
    assert_true(header_now(&w) == 7);
    assert_int_equal(change(&w, "thresholds.header=9", 1, &r), ERR_OK);
    assert_int_equal(r.version, 2);
}

static void test_undo__when_the_file_is_damaged__then_the_last_whole_version(
    void **state)
{
    struct world w = {.reload = TUNING_RELOADED};
    struct tuning_result r;

    (void)state;
    snprintf(w.file, sizeof(w.file), "%s", put_conf(""));
    assert_int_equal(change(&w, "thresholds.header=7", 0, &r), ERR_OK);
    assert_int_equal(change(&w, "thresholds.header=8", 1, &r), ERR_OK);
    confdir_put("tuning/current", "gillnet-tuning 1\nvers");
    assert_int_not_equal(change(&w, "thresholds.header=9", -1, &r), ERR_OK);
    assert_int_equal(change(&w, NULL, 2, &r), ERR_OK);
    assert_int_equal(r.of_version, 2);
    assert_int_equal(r.version, 3);
    assert_true(header_now(&w) == 8);
    assert_int_equal(change(&w, NULL, 3, &r), ERR_OK);
    assert_true(header_now(&w) == 7);
}

static void test_apply__when_the_lock_is_held__then_it_waits_and_gives_up(void **state)
{
    struct world w = {.reload = TUNING_RELOADED};
    struct filelock lock;
    struct tuning_result r;
    struct errinfo why;

    (void)state;
    snprintf(w.file, sizeof(w.file), "%s", put_conf(""));
    assert_int_equal(mkdir(confdir_path("tuning"), 0750), 0);
    assert_int_equal(filelock_take(&lock, confdir_path("tuning/LOCK"), &why), ERR_OK);
    assert_int_equal(change(&w, "thresholds.header=7", 0, &r), ERR_LOCKED);
    filelock_drop(&lock);
    assert_int_equal(change(&w, "thresholds.header=7", 0, &r), ERR_OK);
}

#define EACH(test) \
    cmocka_unit_test_setup_teardown(test, confdir_setup, confdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__when_whole__then_each_form),
        cmocka_unit_test(test_parse__when_something_is_wrong__then_its_line),
        cmocka_unit_test(test_parse__when_cut_anywhere__then_refused),
        cmocka_unit_test(test_parse__when_hostile__then_bounded),
        cmocka_unit_test(test_print__when_read_again__then_alike),
        cmocka_unit_test(test_change__then_added_replaced_taken_out),
        EACH(test_load__then_settings_stand_above_all_files),
        EACH(test_load__when_a_rule_is_gone__then_advice_alone),
        EACH(test_load__when_refused__then_only_a_start_goes_on),
        EACH(test_load__when_the_rights_are_wrong__then_refused),
        EACH(test_apply__then_versions_rise_and_undo_walks_back),
        EACH(test_apply__when_refused__then_all_is_as_before),
        EACH(test_undo__when_the_file_is_damaged__then_the_last_whole_version),
        EACH(test_apply__when_the_lock_is_held__then_it_waits_and_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
