#include "core/cli/synopsis.h"

bool synopsis_alternative(struct slice *rest, struct slice *ret)
{
    if (rest->n == 0) {
        return false;
    }
    *ret = slice_cut(rest, '|');
    while (ret->n > 3 && slice_eq(slice_from(*ret, ret->n - 3), SLICE_LIT("..."))) {
        ret->n -= 3;
    }
    return true;
}

bool synopsis_is_literal(struct slice alternative)
{
    for (size_t i = 0; i < alternative.n; i++) {
        if (alternative.p[i] >= 'A' && alternative.p[i] <= 'Z') {
            return false;
        }
    }
    return alternative.n > 0;
}

static bool is_option_name(struct slice s)
{
    return s.n >= 2 && s.p[0] == '-';
}

static bool has_option(struct slice text)
{
    struct slice one;

    while (synopsis_alternative(&text, &one)) {
        if (is_option_name(one)) {
            return true;
        }
    }
    return false;
}

/* Without the brackets around it; true when a bracket closed behind the word. */
static bool strip_brackets(struct slice *word, bool *repeats)
{
    bool is_closed = false;

    *repeats = false;
    while (word->n > 0 && *word->p == '[') {
        *word = slice_from(*word, 1);
    }
    while (word->n > 0) {
        if (word->p[word->n - 1] == ']') {
            is_closed = true;
            word->n--;
        } else if (word->n > 3 &&
                   slice_eq(slice_from(*word, word->n - 3), SLICE_LIT("..."))) {
            *repeats = true;
            word->n -= 3;
        } else {
            break;
        }
    }
    return is_closed;
}

bool synopsis_next(struct slice *rest, struct synopsis_line *ret)
{
    struct synopsis_item *open = NULL; /* an option that may take the next word */
    struct slice line;

    if (rest->n == 0) {
        return false;
    }
    line = slice_cut(rest, '\n');
    slice_cut(&line, ' '); /* the command */
    *ret = (struct synopsis_line){.n = 0};
    while (line.n > 0) {
        struct slice word = slice_cut(&line, ' ');
        bool repeats = false;
        bool is_closed = strip_brackets(&word, &repeats);

        if (word.n == 0) {
            continue;
        }
        if (open != NULL && !has_option(word)) {
            open->value = word;
            open = NULL;
            continue;
        }
        if (ret->n == SYNOPSIS_ITEMS_MAX) {
            break;
        }
        struct synopsis_item *item = &ret->items[ret->n++];

        *item = (struct synopsis_item){.text = word, .is_option = has_option(word)};
        open = item->is_option && !is_closed ? item : NULL;
        ret->repeats = item->is_option ? ret->repeats : repeats;
    }
    return true;
}

bool synopsis_takes(const struct synopsis_item *item, struct slice word)
{
    struct slice rest = item->text;
    struct slice one;

    while (synopsis_alternative(&rest, &one)) {
        if (!synopsis_is_literal(one) || slice_eq(one, word)) {
            return true;
        }
    }
    return false;
}

const struct synopsis_item *synopsis_option(const struct synopsis_line *line,
                                            struct slice name)
{
    for (size_t i = 0; i < line->n; i++) {
        struct slice rest = line->items[i].text;
        struct slice one;

        while (line->items[i].is_option && synopsis_alternative(&rest, &one)) {
            if (slice_eq(one, name)) {
                return &line->items[i];
            }
        }
    }
    return NULL;
}

bool synopsis_matches(const struct synopsis_line *line, const struct slice *words,
                      size_t n, const struct synopsis_item **retnext)
{
    const struct synopsis_item *last = NULL;
    size_t taken = 0;

    *retnext = NULL;
    for (size_t i = 0; i < line->n; i++) {
        const struct synopsis_item *item = &line->items[i];

        if (item->is_option) {
            continue;
        }
        last = item;
        if (taken == n) {
            *retnext = item;
            return true;
        }
        if (!synopsis_takes(item, words[taken++])) {
            return false;
        }
    }
    if (last == NULL || !line->repeats) {
        return taken == n;
    }
    *retnext = last;
    return true;
}
