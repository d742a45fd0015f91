/* fuzz_users - any bytes as the file of settings of users: each line that is taken has a tidy name
 * and settings that are read again alike, and a change of one name leaves lines that are taken. */
#include <math.h>
#include <string.h>

#include "core/verdict/user/user_file.h"

#include "tests/fuzz/fuzz.h"

static char rule_name[] = "known";
static struct config_rule rules[] = {{.name = rule_name}};
static const struct config config = {.rules = rules, .nrules = 1};

static void check_setting(struct slice word)
{
    struct user_setting s;

    FUZZ_CHECK(user_setting_parse(word, &s, NULL) == ERR_OK);
    FUZZ_CHECK(!isnan(s.number) && s.name.n <= word.n && s.values.n <= word.n);
    FUZZ_CHECK(s.key != USER_SENSITIVITY || (s.number >= USER_SENSITIVITY_LEAST &&
                                             s.number <= USER_SENSITIVITY_MOST));
}

static void check_line(const struct users_line *line)
{
    char again[USER_NAME_MAX + 1];
    struct slice words = slice_str(line->words);

    FUZZ_CHECK(user_name_tidy(slice_str(line->name), again) == NULL);
    FUZZ_CHECK(strcmp(again, line->name) == 0);
    FUZZ_CHECK(words.n > 0 && words.n < USERS_LINE_MAX);
    while (words.p != NULL) {
        check_setting(slice_cut(&words, ' '));
    }
}

/* How many lines are taken; *name: that of the last one. */
static unsigned read_lines(struct slice text, char name[USER_NAME_MAX + 1])
{
    static struct users_line line;
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;
    unsigned at = 0;
    unsigned n = 0;

    while (users_file_next(&config, &text, &at, &line, &e, &why)) {
        FUZZ_CHECK(e == ERR_OK || why.text[0] != '\0');
        if (e == ERR_OK) {
            check_line(&line);
            memcpy(name, line.name, sizeof(line.name));
            n++;
        }
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct slice words[] = {{"sensitivity=low", 15}};
    char name[USER_NAME_MAX + 1];
    struct slice text = slice_of((const char *)data, size);
    struct buf changed;

    if (read_lines(text, name) == 0) {
        return 0;
    }
    buf_init(&changed, 2 * size + USERS_LINE_MAX);
    users_file_change(text, name, true, words, LENGTH(words), &changed);
    FUZZ_CHECK(!buf_failed(&changed));
    FUZZ_CHECK(read_lines(buf_slice(&changed), name) > 0);
    buf_fini(&changed);
    return 0;
}
