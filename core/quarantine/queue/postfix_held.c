#include "core/quarantine/queue/postfix_held.h"

/* A copy of a member that is text, else empty. */
static struct slice copy_member(const json_t *object, const char *name,
                                struct arena *arena)
{
    const json_t *value = json_object_get(object, name);

    return json_is_string(value)
               ? arena_copy(arena, slice_of(json_string_value(value),
                                            json_string_length(value)))
               : SLICE_NONE;
}

static void read_recipients(const json_t *list, struct held *ret, struct arena *arena)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct slice address =
            i < HELD_RECIPIENTS_MAX
                ? copy_member(json_array_get(list, i), "address", arena)
                : SLICE_NONE;

        held_add_recipient(ret, address);
    }
}

bool postfix_held_read(struct slice line, struct held *ret, struct arena *arena)
{
    json_t *row = json_loadb(line.p, line.n, JSON_REJECT_DUPLICATES, NULL);
    bool is_held =
        json_is_object(row) && strcmp(held_text(row, "queue_name"), "hold") == 0;

    if (is_held) {
        *ret = (struct held){.id = copy_member(row, "queue_id", arena),
                             .time_s = held_number(row, "arrival_time"),
                             .bytes = held_number(row, "message_size"),
                             .sender = copy_member(row, "sender", arena)};
        read_recipients(json_object_get(row, "recipients"), ret, arena);
        is_held = quarantine_is_id(ret->id);
    }
    json_decref(row);
    return is_held;
}

/* ---- postcat ---- */

/* The place in "*** WORDS QUEUE/ID ***"; empty for any other line. A line of a header never
 * is, because postcat's words have blanks and no colon behind them. */
static struct slice place_of(struct slice line, struct slice words)
{
    struct slice end = SLICE_LIT(" ***");

    if (!slice_has_prefix(line, words) || line.n < words.n + end.n ||
        !slice_has_suffix_nocase(line, end)) {
        return SLICE_NONE;
    }
    return slice_head(slice_from(line, words.n), line.n - words.n - end.n);
}

bool postfix_next_header(struct slice *output, struct slice *retid,
                         struct slice *retheader)
{
    struct slice place = SLICE_NONE;
    const char *begin = NULL;

    while (output->n > 0) {
        struct slice line = slice_cut(output, '\n');

        if (begin == NULL) {
            place = place_of(line, SLICE_LIT("*** MESSAGE CONTENTS "));
            begin = place.n > 0 ? line.p + line.n : NULL;
        } else if (slice_eq(place_of(line, SLICE_LIT("*** HEADER EXTRACTED ")),
                            place)) {
            *retid = slice_has_prefix(place, SLICE_LIT("hold/")) ? slice_from(place, 5)
                                                                 : SLICE_NONE;
            *retheader = slice_from(slice_of(begin, (size_t)(line.p - begin)), 1);
            return true;
        }
    }
    return false;
}
