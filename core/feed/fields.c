/*
 * fields - the fields of a record, and the times in them.
 */

#include "core/feed/parser_internal.h"

static struct slice json_field(struct feed_fields *r, const char *name)
{
    const json_t *value = json_object_get(r->object, name);

    if (json_is_string(value)) {
        return slice_trim(
            slice_of(json_string_value(value), json_string_length(value)));
    }
    if (json_is_boolean(value)) {
        return json_is_true(value) ? SLICE_LIT("true") : SLICE_LIT("false");
    }
    if (!json_is_integer(value)) {
        return SLICE_NONE;
    }
    char *number = r->number[r->numbers++ % FEED_NUMBERS_MAX];
    (void)snprintf(number, sizeof(r->number[0]), "%lld",
                   (long long)json_integer_value(value));
    return slice_str(number);
}

struct slice feed_field(struct feed_fields *r, const char *name)
{
    if (r->object != NULL) {
        return json_field(r, name);
    }
    for (size_t i = 0; i < r->n; i++) {
        if (slice_eq(r->name[i], slice_str(name))) {
            return r->value[i];
        }
    }
    return SLICE_NONE;
}

/* ---- times ---- */

enum { DAY_S = 86400, HOUR_S = 3600, MINUTE_S = 60, YEAR_MIN = 1971, YEAR_MAX = 2105 };

/* Cuts up to max digits from *s; -1 when there is none. */
static int64_t cut_number(struct slice *s, size_t max)
{
    int64_t v = 0;
    size_t i = 0;
    while (i < s->n && i < max && s->p[i] >= '0' && s->p[i] <= '9') {
        v = v * 10 + (s->p[i++] - '0');
    }
    *s = slice_from(*s, i);
    return i == 0 ? -1 : v;
}

static bool cut_char(struct slice *s, char c)
{
    if (s->n == 0 || s->p[0] != c) {
        return false;
    }
    *s = slice_from(*s, 1);
    return true;
}

/* Days from 1970-01-01 on, of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    static const int16_t before[] = {0,   31,  59,  90,  120, 151,
                                     181, 212, 243, 273, 304, 334};
    int64_t y = year - (month <= 2);
    return (year - 1970) * 365 + (y / 4 - y / 100 + y / 400) -
           (1969 / 4 - 1969 / 100 + 1969 / 400) + before[month - 1] + day - 1;
}

/* Seconds east of UTC behind a time of day; 0: not given. */
static int64_t cut_zone(struct slice s)
{
    int64_t sign = 1;

    if (cut_char(&s, '.')) {
        (void)cut_number(&s, s.n); /* parts of a second */
    }
    s = slice_trim(s);
    if (cut_char(&s, '-')) {
        sign = -1;
    } else if (!cut_char(&s, '+')) {
        return 0;
    }
    int64_t hours = cut_number(&s, 2);
    (void)cut_char(&s, ':');
    int64_t minutes = cut_number(&s, 2);
    return hours < 0 ? 0
                     : sign * (hours * HOUR_S + (minutes < 0 ? 0 : minutes * MINUTE_S));
}

/* Behind a date: "T03:04:05Z", " 03:04:05 UTC", or nothing. */
static int64_t seconds_of_day(struct slice s)
{
    if (!cut_char(&s, 'T') && !cut_char(&s, 't') && !cut_char(&s, ' ')) {
        return 0;
    }
    int64_t hour = cut_number(&s, 2);
    if (hour < 0 || hour > 23 || !cut_char(&s, ':')) {
        return 0;
    }
    int64_t minute = cut_number(&s, 2);
    int64_t second = cut_char(&s, ':') ? cut_number(&s, 2) : 0;
    if (minute < 0 || minute > 59 || second < 0 || second > 60) {
        return 0;
    }
    return hour * HOUR_S + minute * MINUTE_S + second - cut_zone(s);
}

static uint32_t time_of(int64_t year, int64_t month, int64_t day, struct slice rest)
{
    if (year < YEAR_MIN || year > YEAR_MAX || month < 1 || month > 12 || day < 1 ||
        day > 31) {
        return 0;
    }
    return (uint32_t)(days_of(year, month, day) * DAY_S + seconds_of_day(rest));
}

/* "Jan" -> 1; 0: no month. */
static int64_t cut_month(struct slice *s)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (size_t i = 0; i < 12; i++) {
        if (slice_has_prefix_nocase(*s, slice_of(months + 3 * i, 3))) {
            *s = slice_from(*s, 3);
            return (int64_t)i + 1;
        }
    }
    return 0;
}

uint32_t feed_time(struct slice text)
{
    struct slice s = slice_trim(text);
    size_t comma = slice_find(s, ',');

    if (comma == 3) { /* the day of the week */
        s = slice_trim(slice_from(s, comma + 1));
    }
    struct slice rest = s;
    int64_t number = cut_number(&rest, 13);
    if (number < 0) {
        return 0;
    }
    if (rest.n == 0) {
        number = s.n == 13 ? number / 1000 : number;
        return number > UINT32_MAX || number < DAY_S * INT64_C(365) ? 0
                                                                    : (uint32_t)number;
    }
    if (cut_char(&rest, '-') || cut_char(&rest, '/')) {
        int64_t month = cut_number(&rest, 2);
        rest = slice_from(rest, 1);
        int64_t day = cut_number(&rest, 2);
        return time_of(number, month, day, rest);
    }
    if (cut_char(&rest, ' ')) {
        int64_t month = cut_month(&rest);
        rest = slice_trim(rest);
        int64_t year = cut_number(&rest, 4);
        return time_of(year, month, number, rest);
    }
    return 0;
}

void feed_note_made(struct feed *f, struct slice comment)
{
    static const char *const words[] = {"updated:", "modified:"};
    enum { LONGEST = 200 };
    struct slice s = slice_head(comment, LONGEST);

    for (size_t i = 0; i < s.n; i++) {
        for (size_t k = 0; k < LENGTH(words); k++) {
            struct slice at = slice_from(s, i);
            if (slice_has_prefix_nocase(at, slice_str(words[k]))) {
                f->counts.made_s = feed_time(slice_from(at, strlen(words[k])));
                return;
            }
        }
    }
}
