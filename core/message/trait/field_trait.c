#include "core/message/trait/field_trait.h"

#include "core/message/text/ascii.h"
#include "core/message/trait/mail_date.h"

static bool has_blank(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (ASCII_IS(s.p[i], ASCII_SPACE)) {
            return true;
        }
    }
    return false;
}

/* "<left@right>"; programs write nothing else. */
void message_id_traits(struct slice value, struct traits *ret)
{
    value = slice_trim(value);
    bool has_angles = value.n > 2 && value.p[0] == '<' && value.p[value.n - 1] == '>';
    struct slice id = has_angles ? slice_of(value.p + 1, value.n - 2) : value;
    size_t at = slice_find(id, '@');
    struct slice host = slice_from(id, at + 1);
    bool is_odd = !has_angles || at == 0 || host.n == 0 || has_blank(id) ||
                  slice_find(host, '@') < host.n;
    traits_note(ret, TRAIT_message_id_odd, is_odd);
    traits_note(ret, TRAIT_message_id_local,
                !is_odd && slice_find(host, '.') == host.n &&
                    slice_find(host, ':') == host.n);
}

void date_traits(struct slice date, struct slice taken, struct traits *ret)
{
    struct mail_date sent;
    struct mail_date first;
    if (!mail_date_parse(date, &sent)) {
        traits_add(ret, TRAIT_date_odd);
        return;
    }
    traits_note(ret, TRAIT_date_odd, !sent.is_exact);
    if (mail_date_parse(taken, &first)) {
        int64_t behind = first.unix_time - sent.unix_time;
        traits_note(ret, TRAIT_date_behind, behind > DATE_BEHIND_SECONDS);
        traits_note(ret, TRAIT_date_ahead, -behind > DATE_AHEAD_SECONDS);
    }
}

void boundary_traits(struct slice boundary, struct traits *ret)
{
    size_t digits = 0;
    for (size_t i = 0; i < boundary.n; i++) {
        if (ASCII_IS(boundary.p[i], ASCII_DIGIT)) {
            digits++;
        } else if (boundary.p[i] != '-') {
            return;
        }
    }
    traits_note(ret, TRAIT_boundary_digits, digits >= BOUNDARY_DIGITS_MIN);
}
