/* check_from_digits - senders with names that a program numbered: "mary4713x@". People write a
 * year, and programs of honest senders put a separator before a number. */
#include "core/message/extract/check.h"
#include "core/message/text/ascii.h"

enum { DIGITS_MIN = 4, YEAR_DIGITS = 4 };

/* Whether the digits, which end a name, are a year of birth or of now. */
static bool is_year(struct slice digits)
{
    return digits.n == YEAR_DIGITS && (slice_has_prefix(digits, SLICE_LIT("19")) ||
                                       slice_has_prefix(digits, SLICE_LIT("20")));
}

/* Whether name has many digits directly behind a letter. */
static bool is_numbered(struct slice name)
{
    size_t end = 0;

    for (size_t i = 0; i < name.n; i = end + 1) {
        end = i;
        while (end < name.n && ASCII_IS(name.p[end], ASCII_DIGIT)) {
            end++;
        }
        const struct slice digits = slice_of(name.p + i, end - i);
        const bool is_behind = i > 0 && ASCII_IS(name.p[i - 1], ASCII_ALPHA);
        if (is_behind && digits.n >= DIGITS_MIN && (end < name.n || !is_year(digits))) {
            return true;
        }
    }
    return false;
}

bool check_from_digits(const struct facts *facts)
{
    const struct feature *from = facts_first(facts, FEATURE_from);

    if (from == NULL) {
        return false;
    }
    const struct slice local = slice_head(from->text, slice_find(from->text, '@'));
    return is_numbered(slice_head(local, slice_find(local, '+')));
}
