#include "core/message/trait/mail_date.h"

#include "core/message/text/ascii.h"

enum {
    DAY_SECONDS = 86400,
    YEAR_MAX = 9999,
    ZONE_MAX = 1400,  /* the date line: +1400 */
    CENTURY_TURN = 50 /* RFC 5322, 4.3: years 00 to 49 are of this century */
};

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                     "jul", "aug", "sep", "oct", "nov", "dec"};
/* 1 January 1970 was a Thursday. */
static const char *const weekdays[] = {"thu", "fri", "sat", "sun", "mon", "tue", "wed"};

static struct slice after_blanks(struct slice s)
{
    while (s.n > 0 && ASCII_IS(s.p[0], ASCII_SPACE)) {
        s = slice_from(s, 1);
    }
    return s;
}

/* Index of the name that *s begins with, or -1; takes all letters. */
static int take_date_name(struct slice *s, const char *const *names, size_t n)
{
    *s = after_blanks(*s);
    size_t letters = 0;
    while (letters < s->n && ASCII_IS(s->p[letters], ASCII_ALPHA)) {
        letters++;
    }
    int found = -1;
    for (size_t i = 0; letters >= 3 && i < n; i++) {
        if (slice_eq_nocase(slice_head(*s, 3), slice_str(names[i]))) {
            found = (int)i;
        }
    }
    *s = slice_from(*s, letters);
    return found;
}

/* Returns how many digits there were, at most max of them are taken. */
static size_t take_number(struct slice *s, size_t max, unsigned *ret)
{
    *s = after_blanks(*s);
    size_t n = 0;
    *ret = 0;
    while (n < max && n < s->n && ASCII_IS(s->p[n], ASCII_DIGIT)) {
        *ret = *ret * 10 + (unsigned)(s->p[n] - '0');
        n++;
    }
    *s = slice_from(*s, n);
    return n;
}

static bool take_sign(struct slice *s, char sign)
{
    struct slice rest = after_blanks(*s);
    if (rest.n == 0 || rest.p[0] != sign) {
        return false;
    }
    *s = slice_from(rest, 1);
    return true;
}

/* Days since 1970 of a day of the Gregorian calendar; month from 0. */
static int64_t days_of(unsigned year, unsigned month, unsigned day)
{
    int64_t y = (int64_t)year - (month < 2);
    int64_t era_year = y % 400;
    int64_t from_march = (month + 10) % 12;
    int64_t in_year = (153 * from_march + 2) / 5 + day - 1;
    return y / 400 * 146097 + era_year * 365 + era_year / 4 - era_year / 100 + in_year -
           719468;
}

static bool take_time(struct slice *s, int64_t *ret)
{
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
    if (take_number(s, 2, &hour) == 0 || !take_sign(s, ':') ||
        take_number(s, 2, &minute) != 2) {
        return false;
    }
    if (take_sign(s, ':') && take_number(s, 2, &second) != 2) {
        return false;
    }
    *ret = (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
    return hour <= 23 && minute <= 59 && second <= 60;
}

/* "+0200", "GMT", "EST" (read as universal time), nothing. True: RFC 5322 has it. */
static bool take_zone(struct slice *s, int64_t *retoffset)
{
    unsigned zone = 0;
    *retoffset = 0;
    bool is_minus = take_sign(s, '-');
    if (is_minus || take_sign(s, '+')) {
        size_t digits = take_number(s, 4, &zone);
        int64_t offset = (int64_t)(zone / 100) * 3600 + (int64_t)(zone % 100) * 60;
        *retoffset = is_minus ? -offset : offset;
        return digits == 4 && zone <= ZONE_MAX && zone % 100 < 60;
    }
    *s = after_blanks(*s);
    size_t letters = 0;
    while (letters < s->n && ASCII_IS(s->p[letters], ASCII_ALPHA)) {
        letters++;
    }
    *s = slice_from(*s, letters);
    return letters > 0;
}

static unsigned full_year(unsigned year, size_t digits)
{
    if (digits == 2) {
        return year + (year < CENTURY_TURN ? 2000 : 1900);
    }
    return digits == 3 ? year + 1900 : year;
}

bool mail_date_parse(struct slice text, struct mail_date *ret)
{
    unsigned day = 0;
    unsigned year = 0;
    int64_t seconds = 0;
    int64_t offset = 0;
    text = after_blanks(text);
    bool has_weekday = text.n > 0 && ASCII_IS(text.p[0], ASCII_ALPHA);
    int weekday = has_weekday ? take_date_name(&text, weekdays, LENGTH(weekdays)) : -1;
    bool has_comma = take_sign(&text, ',');
    size_t day_digits = take_number(&text, 2, &day);
    int month = take_date_name(&text, months, LENGTH(months));
    size_t year_digits = take_number(&text, 4, &year);
    if (day_digits == 0 || day < 1 || day > 31 || month < 0 || year_digits < 2 ||
        !take_time(&text, &seconds)) {
        return false;
    }
    bool has_zone = take_zone(&text, &offset);
    year = full_year(year, year_digits);
    int64_t days = days_of(year, (unsigned)month, day);
    ret->unix_time = days * DAY_SECONDS + seconds - offset;
    text = after_blanks(text);
    bool is_day =
        !has_weekday || (weekday >= 0 && days >= 0 && days % 7 == (int64_t)weekday);
    ret->is_exact = has_zone && is_day && has_weekday == has_comma &&
                    (text.n == 0 || text.p[0] == '(');
    return year >= 1900 && year <= YEAR_MAX;
}

struct slice mail_date_of_received(struct slice value)
{
    size_t i = value.n;
    while (i > 0 && value.p[i - 1] != ';') {
        i--;
    }
    return i > 0 ? slice_from(value, i) : SLICE_NONE;
}
